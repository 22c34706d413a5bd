"""Small dense linear algebra against numpy."""

from typing import Any

import numpy as np
import pytest

from surefoot.core.linear import (
    STRETCH,
    add_information,
    cholesky,
    fill_diagonal,
    forward_solve,
    has_full_rank,
    multiply_arms,
    multiply_arms_twice,
    stretches,
    transposed_solve,
)


def positive(seed: int, d: int):  # type: ignore[no-untyped-def]
    root = np.random.default_rng(seed).standard_normal((d, d))
    return root @ root.T + np.eye(d)


@pytest.mark.parametrize("d", [1, 2, 5, 9])
def test_cholesky_factors_a_positive_matrix(d: int) -> None:
    A = positive(d, d)
    factor = A.copy()
    assert cholesky(factor, 0.0)
    np.testing.assert_allclose(np.tril(factor), np.linalg.cholesky(A), rtol=1e-12)


@pytest.mark.parametrize(
    "A", [[[0.0]], [[-1.0]], [[np.nan]], [[1.0, 1.0], [1.0, 1.0]], [[1.0, 2.0], [2.0, 1.0]], [[1.0, 0.0], [0.0, 0.0]]]
)
def test_cholesky_refuses_what_is_not_positive(A: list[list[float]]) -> None:
    assert not cholesky(np.array(A), 0.0)


def test_cholesky_refuses_a_squared_pivot_that_is_not_above_the_least() -> None:
    """The pivots of this matrix are 4 and 9 - 2 * 2 / 4 = 8."""
    A = np.array([[4.0, 2.0], [2.0, 9.0]])
    assert cholesky(A.copy(), 3.999)
    assert not cholesky(A.copy(), 4.0)
    A[0, 0], A[1, 1] = 9.0, 4.0  # now 9 and 4 - 4 / 9
    assert cholesky(A.copy(), 3.55)
    assert not cholesky(A.copy(), 3.56)


@pytest.mark.parametrize("d", [1, 2, 5, 9])
def test_the_two_solves_invert_the_factor_and_its_transpose(d: int) -> None:
    """What lies above the diagonal of the factor is not read."""
    C = np.linalg.cholesky(positive(d, d))
    x, out = np.random.default_rng(d).standard_normal(d), np.zeros(d)
    with_rubbish = C + np.triu(np.full((d, d), 7.0), 1)
    forward_solve(with_rubbish, x, out)
    np.testing.assert_allclose(out, np.linalg.solve(C, x), rtol=1e-11)
    transposed_solve(with_rubbish, x, out)
    np.testing.assert_allclose(out, np.linalg.solve(C.T, x), rtol=1e-11)


def test_information_is_added_to_what_is_there() -> None:
    rng = np.random.default_rng(3)
    X, N = rng.standard_normal((5, 3)), np.zeros(5)
    start = rng.standard_normal((3, 3))
    by_hand = start.copy()
    for _ in range(20):
        k, gamma = int(rng.integers(5)), float(rng.uniform(0, 1))
        N[k] += gamma**2
        by_hand += gamma**2 * np.outer(X[k], X[k])
    A = start.copy()
    add_information(X, N, A)
    np.testing.assert_allclose(A, by_hand, rtol=1e-12)


def test_a_diagonal_is_filled_in_over_whatever_was_there() -> None:
    A = np.full((3, 3), np.nan)
    fill_diagonal(A, 0.7)
    np.testing.assert_array_equal(A, 0.7 * np.eye(3))


@pytest.mark.parametrize("d", [1, 4, 7, 8, 13, 16])
def test_products_of_many_arms_are_the_same_alone_and_two_at_a_time(form: Any, d: int) -> None:
    """Features are taken by eights, fours and ones: to the last digit as by fours and ones."""
    rng = np.random.default_rng(d)
    X, (w, w2) = np.asfortranarray(rng.standard_normal((STRETCH + 9, d))), rng.standard_normal((2, d))
    found, found2, once, by_fours = np.full((4, len(X)), np.nan)
    for n in range(stretches(X)):
        form(multiply_arms_twice)(X, w, w2, found, found2, n)
        form(multiply_arms)(X, w, once, n)
    np.testing.assert_allclose(found, X @ w, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found2, X @ w2, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(once, found)
    terms, by_fours[:] = X * w, 0.0
    for a in range(0, d - d % 4, 4):
        by_fours += (terms[:, a] + terms[:, a + 1]) + (terms[:, a + 2] + terms[:, a + 3])
    for a in range(d - d % 4, d):
        by_fours += terms[:, a]
    np.testing.assert_array_equal(found, by_fours)


def test_rank_is_decided_by_the_largest_pivots() -> None:
    """Four pulls of five directions whose Gram matrix has small leading pivots: what is left of the fifth is rounding,
    which they would blow up."""
    rng, missed = np.random.default_rng(120), 0
    for _ in range(300):
        rows = rng.standard_normal((4, 5)) * 10.0 ** rng.uniform(-2.0, 0.0, (4, 1))
        V = rows.T @ rows
        assert not has_full_rank(V.copy(), 1e-12 * np.trace(V))
        missed += cholesky(V.copy(), 1e-12 * np.trace(V))
        more = V + 1e-9 * np.trace(V) * np.eye(5)
        assert has_full_rank(more.copy(), 1e-12 * np.trace(V))
    assert missed  # without the choice of pivots some would pass
