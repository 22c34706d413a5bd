"""Gram matrices: one for each different regularisation, be it a multiple of the identity or any matrix."""

from typing import Any

import numpy as np
import pytest

from surefoot.core.estimate import column
from surefoot.core.grams import multiples_of_identity, regularized_by
from surefoot.core.layout import leaves
from surefoot.core.learn import refresh
from workbench import bench


def positive(rng: np.random.Generator, d: int) -> Any:
    """A random symmetric matrix that is positive definite."""
    root = rng.standard_normal((d, d))
    return root @ root.T + 0.2 * np.eye(d)


def learned(here: Any, rng: np.random.Generator, rounds: int) -> tuple[Any, Any, Any, Any, Any]:
    """The state after pulls at random, V = A without its regularisation, and sum gamma * observation * x by signal."""
    (K, d), n = here.inst.X.shape, len(here.inst.R)
    state, work = here.fresh()
    V, b = np.zeros((d, d)), np.zeros((n, d))
    for _ in range(rounds):
        k, gamma, seen = int(rng.integers(K)), float(rng.uniform(0.1, 1.0)), rng.standard_normal(n)
        assert here.absorb(state, work, k, gamma, seen)
        V += gamma**2 * np.outer(here.inst.X[k], here.inst.X[k])
        b += gamma * np.outer(seen, here.inst.X[k])
    return state, work, V, b, here.inst.X


def check(state: Any, here: Any, matrices: Any, V: Any, b: Any, X: Any) -> None:
    """Estimates, widths and log det are those of numpy, for every signal with its own matrix."""
    for s, matrix in enumerate(matrices):
        g, A = here.inst.gram_of[s], matrix + V
        inverse = np.linalg.inv(A)
        of = here.plain(column)
        found = np.array([of(here.inst, state.estimate, g, k).copy() for k in range(len(X))])
        np.testing.assert_allclose(found, X @ inverse @ X.T, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(state.estimate.est[s], X @ inverse @ b[s], rtol=1e-10, atol=1e-11)
        grown = np.linalg.slogdet(A)[1] - np.linalg.slogdet(matrix)[1]
        assert state.estimate.log_det[g] == pytest.approx(grown, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("few", [False, True], ids=["all columns", "few columns"])
@pytest.mark.parametrize("rounds", [0, 1, 13, 300])
def test_a_regularisation_may_be_any_positive_matrix(rounds: int, few: bool) -> None:
    rng = np.random.default_rng(rounds)
    matrices = np.array([positive(rng, 4), positive(rng, 4), positive(rng, 4)])
    arms = rng.standard_normal((12 if few else 6, 4))
    here = bench(arms, eta0=[-0.5, -0.4], grams=regularized_by(matrices), few_columns=few)
    state, work, *known = learned(here, rng, rounds)
    check(state, here, matrices, *known)
    assert here.plain(refresh)(here.inst, state, work)
    check(state, here, matrices, *known)


def test_signals_with_the_same_matrix_share_a_gram_matrix() -> None:
    rng = np.random.default_rng(5)
    one, other = positive(rng, 3), positive(rng, 3)
    grams = regularized_by(np.array([one, other, one]))
    assert len(grams.matrix) == len(grams.log_det) == 2
    assert grams.of[0] == grams.of[2] != grams.of[1]
    for s, matrix in enumerate((one, other, one)):
        assert (grams.matrix[grams.of[s]] == matrix).all()
        assert grams.least[grams.of[s]] == pytest.approx(np.linalg.eigvalsh(matrix)[0])
        assert grams.most[grams.of[s]] == pytest.approx(np.linalg.eigvalsh(matrix)[-1])
        assert grams.log_det[grams.of[s]] == pytest.approx(np.linalg.slogdet(matrix)[1])


def test_multiples_of_the_identity_are_the_same_through_either_door() -> None:
    rng = np.random.default_rng(6)
    per_signal, X = np.array([2.0, 0.5, 2.0]), rng.standard_normal((5, 3))
    doors = multiples_of_identity(per_signal, 3), regularized_by(per_signal[:, None, None] * np.eye(3))
    assert doors[0].features is doors[1].features is None
    for plain, general in zip(doors[0][:-1], doors[1][:-1], strict=True):
        np.testing.assert_allclose(plain, general, rtol=1e-15)
    states = []
    for grams in doors:
        here = bench(X, eta0=[-0.5, -0.4], grams=grams)
        state, *_ = learned(here, np.random.default_rng(7), 60)
        states.append(leaves(state.estimate))
    for plain, general in zip(*states, strict=True):
        np.testing.assert_allclose(plain, general, rtol=1e-13, atol=1e-14)


def test_a_matrix_pays_for_its_largest_eigenvalue_and_grows_by_its_smallest() -> None:
    """The bias of a set is at most sqrt(largest) D, and (E3) grows by L^2 / smallest."""
    matrix = np.diag([0.25, 1.0, 9.0])
    ball = bench(np.eye(3), D=2.0, grams=regularized_by(np.array([matrix, matrix]))).sets.params
    np.testing.assert_allclose(ball.bias, [3.0 * 2.0] * 2)
    np.testing.assert_allclose(ball.rate, [1.0 / 0.25])
