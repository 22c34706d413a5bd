"""Estimation in arm space: against d-space algebra, and against extended precision over a million rounds."""

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from lab import absorb_all, absorbed, callable_form, fresh, instance
from surefoot.core.estimate import refresh
from surefoot.core.types import ROUND, SINCE_REFRESH, Instance, State


def reference(X: NDArray, lam: float, pulls: list[tuple[int, float, list[float]]]) -> dict[str, NDArray]:
    """The same numbers by inverting A."""
    d = X.shape[1]
    A, b = lam * np.eye(d), np.zeros((len(pulls[0][2]), d))
    for k, gamma, seen in pulls:
        A += gamma**2 * np.outer(X[k], X[k])
        b += gamma * np.outer(seen, X[k])
    inverse = np.linalg.inv(A)
    return {"G": X @ inverse @ X.T, "est": b @ inverse @ X.T, "log_det": np.linalg.slogdet(A)[1] - d * np.log(lam)}


def drawn_pulls(rng: np.random.Generator, K: int, n: int, count: int) -> list[tuple[int, float, list[float]]]:
    return [(int(rng.integers(K)), float(rng.uniform(0, 1)), rng.standard_normal(n).tolist()) for _ in range(count)]


@pytest.mark.parametrize("count", [1, 3, 50, 700])
def test_the_state_is_what_inverting_a_gives(count: int) -> None:
    rng = np.random.default_rng(count)
    X = rng.standard_normal((7, 3))
    inst = instance(X, eta0=[-0.5, -0.3], lam=[0.7])
    state, work = fresh(inst)
    pulls = drawn_pulls(rng, 7, 3, count)
    assert all(absorbed(inst, state, work, *pull) for pull in pulls)
    found = reference(X, 0.7, pulls)
    np.testing.assert_allclose(state.G[0], found["G"], rtol=0, atol=1e-12)
    np.testing.assert_allclose(state.v[0], np.diag(found["G"]), rtol=0, atol=1e-12)
    np.testing.assert_allclose(state.est, found["est"], rtol=0, atol=1e-12)
    assert state.log_det[0] == pytest.approx(found["log_det"], abs=1e-11)


def test_before_the_first_pull_nothing_is_known() -> None:
    X = np.array([[1.0, 0.0], [0.6, 0.8]])
    inst = instance(X, lam=[4.0], gamma0=[0.3, 0.1])
    state, _ = fresh(inst)
    np.testing.assert_allclose(state.G[0], X @ X.T / 4.0)
    assert state.log_det[0] == pytest.approx(0.0, abs=1e-15)
    assert not state.est.any()
    assert state.low.tolist() == state.last.tolist() == [0.3, 0.1]


def test_a_signal_with_a_regularisation_of_its_own_has_its_own_gram_matrix() -> None:
    rng = np.random.default_rng(4)
    X = rng.standard_normal((5, 3))
    inst = instance(X, lam=[1.0, 9.0], gram_of=[0, 1])
    state, work = fresh(inst)
    pulls = drawn_pulls(rng, 5, 2, 40)
    for pull in pulls:
        absorbed(inst, state, work, *pull)
    for g, lam in enumerate((1.0, 9.0)):
        found = reference(X, lam, pulls)
        np.testing.assert_allclose(state.G[g], found["G"], atol=1e-12)
        np.testing.assert_allclose(state.est[g], found["est"][g], atol=1e-12)


def test_a_pull_at_level_zero_teaches_nothing() -> None:
    inst = instance(np.eye(2))
    state, work = fresh(inst)
    before = state.G.copy()
    assert absorbed(inst, state, work, 0, 0.0, [5.0, 5.0])
    assert (before == state.G).all()
    assert not state.est.any()
    assert state.pulls.tolist() == [1, 0]


def test_a_refresh_changes_nothing_but_the_last_digits() -> None:
    rng = np.random.default_rng(8)
    inst = instance(rng.standard_normal((6, 4)))
    state, work = fresh(inst)
    for pull in drawn_pulls(rng, 6, 2, 777):
        absorbed(inst, state, work, *pull)
    assert state.clock[SINCE_REFRESH] == 777 - 512  # the last refresh was at a power of two
    before = [array.copy() for array in (state.G, state.v, state.est, state.log_det)]
    assert callable_form(refresh)(inst, state, work)
    for old, new in zip(before, (state.G, state.v, state.est, state.log_det), strict=True):
        np.testing.assert_allclose(new, old, rtol=1e-11, atol=1e-13)
    assert state.clock[SINCE_REFRESH] == 0
    assert state.clock[ROUND] == 777


def test_observations_beyond_all_numbers_are_called_unsound() -> None:
    inst = instance(np.eye(2))
    state, work = fresh(inst)
    assert not absorbed(inst, state, work, 0, 1.0, [np.inf, 0.0])
    state, work = fresh(inst)
    assert not absorbed(inst, state, work, 0, 1.0, [0.0, np.nan])


def test_equal_arms_stay_equal_to_the_last_bit() -> None:
    rng = np.random.default_rng(2)
    X = rng.standard_normal((5, 3))
    X[4] = X[1]
    inst = instance(X)
    state, work = fresh(inst)
    for pull in drawn_pulls(rng, 5, 2, 3000):
        absorbed(inst, state, work, *pull)
        assert state.est[0, 1] == state.est[0, 4]
        assert state.G[0, 1, 4] == state.G[0, 4, 1] == state.v[0, 1] == state.v[0, 4]


# -- a million rounds -------------------------------------------------------------------------------------------------


def ill_conditioned(K: int, d: int, condition: float, largest: float, rng: np.random.Generator) -> NDArray:
    """Arms with singular values from largest/condition to largest."""
    left, _ = np.linalg.qr(rng.standard_normal((K, d)))
    right, _ = np.linalg.qr(rng.standard_normal((d, d)))
    return (left * np.geomspace(1.0, 1.0 / condition, d)) @ right * largest


def exact(inst: Instance, arms: NDArray, gammas: NDArray, seen: NDArray) -> dict[str, NDArray]:
    """G, estimates and log det from exact sums and 60 digits."""
    mpmath.mp.dps = 60
    K, d = inst.X.shape
    squares = [mpmath.mpf(0)] * K
    sums = [[mpmath.mpf(0)] * K for _ in inst.R]
    for k in range(K):
        chosen = arms == k
        values, counts = np.unique(gammas[chosen], return_counts=True)
        squares[k] = mpmath.fsum(int(c) * mpmath.mpf(float(v)) ** 2 for v, c in zip(values, counts, strict=True))
        for s in range(len(inst.R)):
            high = gammas[chosen].astype(np.longdouble) * seen[chosen, s].astype(np.longdouble)
            sums[s][k] = mpmath.mpf(float(high.sum())) + mpmath.mpf(
                float(high.sum() - np.longdouble(float(high.sum())))
            )
    X = mpmath.matrix(inst.X.tolist())
    A = mpmath.eye(d) * mpmath.mpf(float(inst.lam[0]))
    for k in range(K):
        A += squares[k] * (X[k, :].T * X[k, :])
    G = X * A**-1 * X.T
    numbers = {"G": np.array(G.tolist(), dtype=float), "log_det": float(mpmath.log(mpmath.det(A)))}
    numbers["est"] = np.array([(G * mpmath.matrix(row)).T.tolist()[0] for row in sums], dtype=float)
    return numbers


def after_a_million_rounds(
    largest: float, condition: float = 1e6, rounds: int = 10**6
) -> tuple[State, dict[str, NDArray]]:
    rng = np.random.default_rng(6)
    X = ill_conditioned(8, 5, condition, largest, rng)
    inst = instance(X)
    state, work = fresh(inst)
    arms = rng.integers(0, 8, rounds)
    gammas = rng.choice([0.2, 0.37, 0.5, 1.0], rounds)
    theta = rng.standard_normal(5) / largest
    seen = (gammas * (X @ theta)[arms])[:, None] + rng.standard_normal((rounds, 2))
    assert callable_form(absorb_all)(inst, state, work, arms, gammas, seen)
    return state, exact(inst, arms, gammas, seen)


def relative_errors(state: State, found: dict[str, NDArray]) -> dict[str, float]:
    """Of G, of every squared width, of the estimates and of log det; estimates relative to the largest."""
    return {
        "G": float(np.abs(state.G[0] - found["G"]).max() / np.abs(found["G"]).max()),
        "v": float(np.abs(state.v[0] / np.diag(found["G"]) - 1.0).max()),
        "est": float(np.abs(state.est - found["est"]).max() / np.abs(found["est"]).max()),
        "log_det": float(abs(state.log_det[0] / found["log_det"] - 1.0)),
    }


@pytest.mark.parametrize("largest", [1.0, 30.0])
def test_a_million_rounds_with_condition_1e6_keep_nine_digits(largest: float) -> None:
    assert max(relative_errors(*after_a_million_rounds(largest)).values()) <= 1e-9


def test_the_least_regularisation_that_a_problem_may_have_keeps_four_digits() -> None:
    """lambda = 1e-9 L^2: A itself then has a condition of 1e15, and its factor knows no better."""
    assert max(relative_errors(*after_a_million_rounds(3e4, rounds=10**5)).values()) <= 1e-4
