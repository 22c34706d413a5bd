"""Estimation in arm space: against d-space algebra, and against extended precision over a million rounds.

Once with the columns of all arms, and once with those of a few.
"""

from typing import Any

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from surefoot.core.estimate import CANCELLED, Estimate, arm_width, column, diagonal, difference_width, squared_norm
from surefoot.core.layout import leaves
from surefoot.core.learn import refresh
from surefoot.core.types import ROUND, SINCE_REFRESH, Ball, Instance
from workbench import Bench, absorb_all, bench

FORMS = {"all columns": False, "few columns": True}
both_forms = pytest.mark.parametrize("few", FORMS.values(), ids=FORMS)


def reference(X: NDArray, lam: float, pulls: list[tuple[int, float, list[float]]]) -> dict[str, NDArray]:
    """The same numbers by inverting A."""
    d = X.shape[1]
    A, b = lam * np.eye(d), np.zeros((len(pulls[0][2]), d))
    for k, gamma, seen in pulls:
        A += gamma**2 * np.outer(X[k], X[k])
        b += gamma * np.outer(seen, X[k])
    inverse = np.linalg.inv(A)
    return {"G": X @ inverse @ X.T, "est": b @ inverse @ X.T, "log_det": np.linalg.slogdet(A)[1] - d * np.log(lam)}


def gram(here: Bench, estimate: Estimate, g: int = 0) -> NDArray:
    """G as others read it: column by column."""
    return np.array([here.plain(column)(here.inst, estimate, g, k).copy() for k in range(len(estimate.N))])


def drawn_pulls(rng: np.random.Generator, K: int, n: int, count: int) -> list[tuple[int, float, list[float]]]:
    return [(int(rng.integers(K)), float(rng.uniform(0, 1)), rng.standard_normal(n).tolist()) for _ in range(count)]


@both_forms
@pytest.mark.parametrize("count", [1, 3, 50, 700])
def test_the_state_is_what_inverting_a_gives(count: int, few: bool) -> None:
    """Of eleven arms a few columns are not all: each that is asked for drives another out."""
    rng = np.random.default_rng(count)
    X = rng.standard_normal((11, 3))
    here = bench(X, eta0=[-0.5, -0.3], lam=0.7, few_columns=few)
    state, work = here.fresh()
    pulls = drawn_pulls(rng, 11, 3, count)
    assert all(here.absorb(state, work, *pull) for pull in pulls)
    found = reference(X, 0.7, pulls)
    np.testing.assert_allclose(gram(here, state.estimate), found["G"], rtol=0, atol=1e-12)
    np.testing.assert_allclose(diagonal(state.estimate, 0), np.diag(found["G"]), rtol=0, atol=1e-12)
    np.testing.assert_allclose(state.estimate.est, found["est"], rtol=0, atol=1e-12)
    assert state.estimate.log_det[0] == pytest.approx(found["log_det"], abs=1e-11)


@both_forms
def test_before_the_first_pull_nothing_is_known(few: bool) -> None:
    X = np.array([[1.0, 0.0], [0.6, 0.8]])
    here = bench(X, lam=4.0, gamma0=[0.3, 0.1], few_columns=few)
    state, _ = here.fresh()
    np.testing.assert_allclose(gram(here, state.estimate), X @ X.T / 4.0)
    assert state.estimate.log_det[0] == pytest.approx(0.0, abs=1e-15)
    assert not state.estimate.est.any()
    assert state.levels.low.tolist() == state.levels.last.tolist() == [0.3, 0.1]


@both_forms
def test_a_signal_with_a_regularisation_of_its_own_has_its_own_gram_matrix(few: bool) -> None:
    rng = np.random.default_rng(4)
    X = rng.standard_normal((10, 3))
    here = bench(X, lam=[9.0, 1.0], few_columns=few)
    state, work = here.fresh()
    pulls = drawn_pulls(rng, 10, 2, 40)
    for pull in pulls:
        here.absorb(state, work, *pull)
    for s, lam in enumerate((9.0, 1.0)):
        found = reference(X, lam, pulls)
        np.testing.assert_allclose(gram(here, state.estimate, here.inst.gram_of[s]), found["G"], atol=1e-12)
        np.testing.assert_allclose(state.estimate.est[s], found["est"][s], atol=1e-12)


@both_forms
def test_a_pull_at_level_zero_teaches_nothing(few: bool) -> None:
    here = bench(np.eye(2), few_columns=few)
    state, work = here.fresh()
    before = gram(here, state.estimate)
    assert here.absorb(state, work, 0, 0.0, [5.0, 5.0])
    assert (before == gram(here, state.estimate)).all()
    assert not state.estimate.est.any()
    assert state.estimate.pulls.tolist() == [1, 0]


def test_a_refresh_changes_nothing_but_the_last_digits() -> None:
    rng = np.random.default_rng(8)
    here = bench(rng.standard_normal((6, 4)))
    state, work = here.fresh()
    for pull in drawn_pulls(rng, 6, 2, 777):
        here.absorb(state, work, *pull)
    assert state.clock[SINCE_REFRESH] == 777 - 512  # the last refresh was at a power of two
    before = [array.copy() for array in leaves(state.estimate)]
    assert here.plain(refresh)(here.inst, state, work)
    for old, new in zip(before, leaves(state.estimate), strict=True):
        np.testing.assert_allclose(new, old, rtol=1e-11, atol=1e-13)
    assert state.clock[SINCE_REFRESH] == 0
    assert state.clock[ROUND] == 777


def test_of_many_arms_all_is_computed_anew_when_digits_are_gone_and_not_by_the_clock() -> None:
    """The first pull at a high level takes most of an arm's width; later ones take little, and no clock asks."""
    rng = np.random.default_rng(8)
    here = bench(rng.standard_normal((12, 4)), few_columns=True)
    state, work = here.fresh()
    refreshed = []
    for t, pull in enumerate(drawn_pulls(rng, 12, 2, 3000)):
        digits = state.estimate.fresh[0].copy()
        here.absorb(state, work, *pull)
        if state.clock[SINCE_REFRESH] == 0:
            refreshed.append(t)
            assert state.estimate.v[0, pull[0]] < 1.01 * CANCELLED * digits[pull[0]]
            assert (state.estimate.fresh[0] == state.estimate.v[0]).all()
    assert 1 <= len(refreshed) <= 12
    assert {t + 1 for t in refreshed} != {2**n for n in range(12)}
    before = {name: getattr(state.estimate, name).copy() for name in ("v", "est", "log_det")} | {
        "G": gram(here, state.estimate)
    }
    assert here.plain(refresh)(here.inst, state, work)
    for name, old in before.items():
        new = gram(here, state.estimate) if name == "G" else getattr(state.estimate, name)
        np.testing.assert_allclose(new, old, rtol=1e-9, atol=1e-12)


def test_observations_beyond_all_numbers_are_called_unsound() -> None:
    here = bench(np.eye(2))
    for seen in ([np.inf, 0.0], [0.0, np.nan]):
        with np.errstate(invalid="ignore"):
            assert not here.absorb(*here.fresh(), 0, 1.0, seen)


def columns(pulls: list[tuple[int, float, list[float]]]) -> tuple[NDArray, NDArray, NDArray]:
    arms, gammas, seen = zip(*pulls, strict=True)
    return np.array(arms), np.array(gammas), np.array(seen)


@both_forms
@pytest.mark.parametrize("compiled", [False, True], ids=["plain", "compiled"])
def test_equal_arms_stay_equal_to_the_last_bit(compiled: bool, few: bool) -> None:
    rng = np.random.default_rng(2)
    X = rng.standard_normal((12, 3))
    X[4] = X[1]
    here = bench(X, few_columns=few)
    state, work = here.fresh()
    take = here.compiled(absorb_all) if compiled else here.plain(absorb_all)
    of = here.plain(column)
    for pull in drawn_pulls(rng, 12, 2, 3000 if compiled else 1000):
        take(here.inst, state, work, *columns([pull]))
        one, other, v = of(here.inst, state.estimate, 0, 1), of(here.inst, state.estimate, 0, 4), state.estimate.v[0]
        assert state.estimate.est[0, 1] == state.estimate.est[0, 4]
        assert one[4] == other[1] == v[1] == v[4]


@both_forms
def test_compiled_and_plain_form_learn_the_same_bits(few: bool) -> None:
    rng = np.random.default_rng(3)
    here = bench(rng.standard_normal((12, 4)), lam=[0.3, 2.0], few_columns=few)
    pulls = drawn_pulls(rng, 12, 2, 1500)
    states = []
    for take in (here.compiled(absorb_all), here.plain(absorb_all)):
        state, work = here.fresh()
        assert take(here.inst, state, work, *columns(pulls))
        states.append(state.whole.tobytes())
    assert states[0] == states[1]


@both_forms
@pytest.mark.parametrize("lam", [1.0, [0.5, 4.0]], ids=["one Gram matrix", "two"])
def test_widths_are_radius_times_the_norm_in_the_inverse(lam: Any, few: bool) -> None:
    rng = np.random.default_rng(5)
    X = np.array([[1.0, 0.0], [0.0, 2.0], [0.6, 0.8]])
    here = bench(X, lam=lam, few_columns=few)
    state, work = here.fresh()
    for pull in drawn_pulls(rng, 3, 2, 25):
        here.absorb(state, work, *pull)
    for s, own in enumerate(np.broadcast_to(lam, 2)):
        inverse = np.linalg.inv(own * np.eye(2) + (X.T * state.estimate.N) @ X)
        ball = Ball(s, int(here.inst.gram_of[s]), 1.7, 1.0, 0.0)
        for k, x in enumerate(X):
            assert arm_width(state.estimate, ball, k) == pytest.approx(1.7 * np.sqrt(x @ inverse @ x), rel=1e-12)
            for i, level_k, level_i in [(0, 0.3, 0.9), (2, 1.0, 0.0), (1, 0.5, 0.5)]:
                y = level_k * x - level_i * X[i]
                square = here.plain(squared_norm)(here.inst, state.estimate, ball.g, k, level_k, i, level_i)
                assert square == pytest.approx(y @ inverse @ y, rel=1e-9, abs=1e-14)
                width = here.plain(difference_width)(here.inst, state.estimate, ball, k, level_k, i, level_i)
                assert width == pytest.approx(1.7 * np.sqrt(y @ inverse @ y), rel=1e-9, abs=1e-12)


@both_forms
def test_two_equal_pulls_differ_by_nothing(few: bool) -> None:
    """Exactly: a last digit under the root would come out as a width of 1e-9."""
    here = bench([[0.6, 0.8], [0.6, 0.8], [1.0, 0.3]], few_columns=few)
    state, work = here.fresh()
    for pull in drawn_pulls(np.random.default_rng(6), 3, 2, 25):
        here.absorb(state, work, *pull)
    for level in np.linspace(0.1, 1.0, 91):
        assert here.plain(squared_norm)(here.inst, state.estimate, 0, 0, level, 1, level) == 0.0
        ball = Ball(0, 0, 1.7, 1.0, 0.0)
        assert here.plain(difference_width)(here.inst, state.estimate, ball, 0, level, 1, level) == 0.0


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
    A = mpmath.eye(d) * mpmath.mpf(float(inst.regularization[0, 0, 0]))
    for k in range(K):
        A += squares[k] * (X[k, :].T * X[k, :])
    G = X * A**-1 * X.T
    numbers = {"G": np.array(G.tolist(), dtype=float), "log_det": float(mpmath.log(mpmath.det(A)))}
    numbers["est"] = np.array([(G * mpmath.matrix(row)).T.tolist()[0] for row in sums], dtype=float)
    return numbers


def after_a_million_rounds(
    largest: float, few: bool, condition: float = 1e6, rounds: int = 10**6
) -> tuple[Bench, Estimate, dict[str, NDArray]]:
    rng = np.random.default_rng(6)
    K = 12 if few else 8
    X = ill_conditioned(K, 5, condition, largest, rng)
    here = bench(X, few_columns=few)
    state, work = here.fresh()
    arms = rng.integers(0, K, rounds)
    gammas = rng.choice([0.2, 0.37, 0.5, 1.0], rounds)
    theta = rng.standard_normal(5) / largest
    seen = (gammas * (X @ theta)[arms])[:, None] + rng.standard_normal((rounds, 2))
    assert here.compiled(absorb_all)(here.inst, state, work, arms, gammas, seen)
    return here, state.estimate, exact(here.inst, arms, gammas, seen)


def relative_errors(here: Bench, estimate: Estimate, found: dict[str, NDArray]) -> dict[str, float]:
    """Of G, of every squared width, of the estimates and of log det; estimates relative to the largest."""
    return {
        "G": float(np.abs(gram(here, estimate) - found["G"]).max() / np.abs(found["G"]).max()),
        "v": float(np.abs(diagonal(estimate, 0) / np.diag(found["G"]) - 1.0).max()),
        "est": float(np.abs(estimate.est - found["est"]).max() / np.abs(found["est"]).max()),
        "log_det": float(abs(estimate.log_det[0] / found["log_det"] - 1.0)),
    }


@both_forms
@pytest.mark.parametrize("largest", [1.0, 30.0])
def test_a_million_rounds_with_condition_1e6_keep_nine_digits(largest: float, few: bool) -> None:
    """Columns that are computed from A^-1, whose own condition is 1e9 here, keep seven."""
    errors = relative_errors(*after_a_million_rounds(largest, few))
    assert errors.pop("G") <= (1e-7 if few else 1e-9)
    assert max(errors.values()) <= 1e-9


@both_forms
def test_the_least_regularisation_that_a_problem_may_have_keeps_four_digits(few: bool) -> None:
    """lambda = 1e-9 L^2: A itself then has a condition of 1e15, and its factor knows no better. Columns that are
    computed from A^-1 keep three."""
    errors = relative_errors(*after_a_million_rounds(3e4, few, rounds=10**5))
    assert errors.pop("G") <= (1e-3 if few else 1e-4)
    assert max(errors.values()) <= 1e-4
