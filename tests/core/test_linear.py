"""Small dense linear algebra against numpy."""

import numpy as np
import pytest

from lab import absorbed, callable_form, fresh, instance
from surefoot.core.linear import cholesky, forward_solve, gram_matrix, transposed_solve


def positive(seed: int, d: int):  # type: ignore[no-untyped-def]
    root = np.random.default_rng(seed).standard_normal((d, d))
    return root @ root.T + np.eye(d)


@pytest.mark.parametrize("d", [1, 2, 5, 9])
def test_cholesky_factors_a_positive_matrix(d: int) -> None:
    A = positive(d, d)
    factor = A.copy()
    assert callable_form(cholesky)(factor, 0.0)
    np.testing.assert_allclose(np.tril(factor), np.linalg.cholesky(A), rtol=1e-12)


@pytest.mark.parametrize(
    "A", [[[0.0]], [[-1.0]], [[np.nan]], [[1.0, 1.0], [1.0, 1.0]], [[1.0, 2.0], [2.0, 1.0]], [[1.0, 0.0], [0.0, 0.0]]]
)
def test_cholesky_refuses_what_is_not_positive(A: list[list[float]]) -> None:
    assert not callable_form(cholesky)(np.array(A), 0.0)


def test_cholesky_refuses_a_squared_pivot_that_is_not_above_the_least() -> None:
    """The pivots of this matrix are 4 and 9 - 2 * 2 / 4 = 8."""
    A = np.array([[4.0, 2.0], [2.0, 9.0]])
    assert callable_form(cholesky)(A.copy(), 3.999)
    assert not callable_form(cholesky)(A.copy(), 4.0)
    A[0, 0], A[1, 1] = 9.0, 4.0  # now 9 and 4 - 4 / 9
    assert callable_form(cholesky)(A.copy(), 3.55)
    assert not callable_form(cholesky)(A.copy(), 3.56)


@pytest.mark.parametrize("d", [1, 2, 5, 9])
def test_the_two_solves_invert_the_factor_and_its_transpose(d: int) -> None:
    """What lies above the diagonal of the factor is not read."""
    C = np.linalg.cholesky(positive(d, d))
    x, out = np.random.default_rng(d).standard_normal(d), np.zeros(d)
    with_rubbish = C + np.triu(np.full((d, d), 7.0), 1)
    callable_form(forward_solve)(with_rubbish, x, out)
    np.testing.assert_allclose(out, np.linalg.solve(C, x), rtol=1e-11)
    callable_form(transposed_solve)(with_rubbish, x, out)
    np.testing.assert_allclose(out, np.linalg.solve(C.T, x), rtol=1e-11)


def test_the_gram_matrix_is_the_sum_over_pulls() -> None:
    rng = np.random.default_rng(3)
    inst = instance(rng.standard_normal((5, 3)))
    state, work = fresh(inst)
    by_hand = 0.7 * np.eye(3)
    for _ in range(20):
        k, gamma = int(rng.integers(5)), float(rng.uniform(0, 1))
        absorbed(inst, state, work, k, gamma, [0.0, 0.0])
        by_hand += gamma**2 * np.outer(inst.X[k], inst.X[k])
    A = np.full((3, 3), np.nan)
    callable_form(gram_matrix)(inst, state, 0.7, A)
    np.testing.assert_allclose(A, by_hand, rtol=1e-13)
