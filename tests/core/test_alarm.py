"""The kernels of the alarm: what they sum, what they bet, and that both forms and any portions give the same."""

from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.core import alarm_bets
from surefoot.core.alarm import Results, watch_all, weigh_all
from surefoot.core.alarm_bets import LOOSE, PRIORS, fit, joined, weighed
from surefoot.core.alarm_memory import LEAST, NORM, A, C, new_memory, with_room
from surefoot.core.alarm_norm import weigh_norm
from surefoot.core.alarm_solving import spanned
from surefoot.core.compiler import compiled
from surefoot.live.model_checks import watched

ARMS = [[1.0, 0.2], [0.1, 1.0], [0.6, -0.4]]
PROBLEM = sf.Problem(
    arms=ARMS, reward=sf.Reward(noise=0.5, norm=1.0), safety=[sf.Limit("heat", at_least=-1.0, noise=0.2, norm=2.0)],
    safe_level=0.2, epsilon=0.1, delta=0.1, delta_safety=0.1,
)  # fmt: skip
FINE = {"xatol": 1e-9, "fatol": 1e-9}
LEANS = sf.SafeLinGapE().guarantee(PROBLEM)


def some_results(seed: int, pulls: int, theta: Any = (1.0, -0.5)) -> Results:
    rng = np.random.default_rng(seed)
    arms, levels = rng.integers(3, size=pulls), rng.uniform(0.1, 1.0, pulls)
    means = levels[:, None] * (np.array(ARMS)[arms] @ np.array([theta, [-0.3, 0.4]]).T)
    observed = means + np.array([0.5, 0.2]) * rng.standard_normal((pulls, 2))
    return Results(arms, levels, observed, np.ones(pulls, np.int64))


def after(results: Results, guarantee: Any = LEANS, level: float = 0.01) -> tuple[Any, Any]:
    read = watched(PROBLEM, guarantee, level)
    memory = new_memory(read)
    watch_all(read, memory, results)
    return read, memory


def rows(results: Results, some: Any) -> Results:
    return Results(*(column[some] for column in results))


# -- one source -------------------------------------------------------------------------------------------------------


def test_compiled_and_interpreted_forms_agree_to_the_last_bit(form: Any) -> None:
    results = some_results(1, 300)
    read = watched(PROBLEM, LEANS, 0.01)
    plain, other = new_memory(read), new_memory(read)
    watch_all(read, plain, results)
    form(watch_all)(read, other, results)
    assert plain.whole.tolist() == other.whole.tolist()


def test_results_may_come_one_by_one_or_all_together() -> None:
    """The looks are at numbers of pulls, not at the ends of portions: a study that is opened again finds the same."""
    results = some_results(2, 200, theta=(9.0, 9.0))
    read, whole = after(results)
    single = new_memory(read)
    for i in range(200):
        watch_all(read, single, rows(results, [i]))
    assert whole.found.any()
    assert whole.whole.tolist() == single.whole.tolist()


def test_only_arms_that_were_tried_take_up_room() -> None:
    """A thousand arms of which three are tried: the sums have three rows, in the order of first trials."""
    many = PROBLEM.with_(arms=np.random.default_rng(5).standard_normal((1000, 2)))
    read = watched(many, LEANS, 0.01)
    memory, all_rows = new_memory(read, 3), new_memory(read)
    results = some_results(4, 60)
    results = results._replace(arm=np.array([700, 3, 512])[results.arm])
    watch_all(read, memory, results)
    watch_all(read, all_rows, results)
    order = list(dict.fromkeys(results.arm.tolist()))
    assert memory.row[order].tolist() == [1, 2, 3]
    assert np.count_nonzero(memory.row) == 3
    np.testing.assert_allclose(memory.X, many.features[order] @ read.axes, rtol=1e-12)
    assert memory.weight.tolist() == all_rows.weight.tolist()
    grown = with_room(read, memory, 7)
    assert len(grown.X) == 7
    for memories in (memory, grown, all_rows):
        watch_all(read, memories, rows(results, slice(0, 30)))
    assert grown.weight.tolist() == memory.weight.tolist() == all_rows.weight.tolist()


def test_the_arms_are_of_mean_square_one_in_the_coordinates_of_the_alarm() -> None:
    X = np.random.default_rng(6).standard_normal((40_000, 3)) * [1e-6, 1.0, 1e3]
    read = watched(PROBLEM.with_(arms=X), LEANS, 0.01)
    even = X @ read.axes
    np.testing.assert_allclose(even.T @ even / len(X), np.eye(3), atol=1e-9)
    nearest, *_ = np.linalg.lstsq(even, np.ones(len(X)), rcond=None)
    np.testing.assert_allclose(read.even, nearest, atol=1e-9)


# -- the bets ---------------------------------------------------------------------------------------------------------


def test_the_bet_on_a_feature_is_the_gaussian_mixture_it_claims_to_be() -> None:
    """Against brute force: the integral over deviations in closed form, minimised over all weights numerically."""
    from scipy.optimize import minimize

    results = some_results(3, 40)
    _, memory = after(results)
    z, y = results.level[:, None] * memory.X[memory.row[results.arm] - 1], results.observed[:, 0] / 0.5
    feature = np.where(np.arange(40) > 15, results.level**2, -0.3) + 1.0
    spanned(memory, memory.room.matrices[A])
    fit(memory, 0)
    memory.room.vectors[C] = feature @ z
    ours = weighed(memory, 0, feature @ feature, feature @ y, -np.inf, 0.0)
    both, logs = np.column_stack([z, feature]), []
    for loose in LOOSE:
        for prior in PRIORS:
            scale = np.diag([loose, loose, prior])
            inverse = np.linalg.inv(both.T @ both + scale)
            size = np.linalg.slogdet(np.eye(3) + np.linalg.inv(scale) @ both.T @ both)[1]

            def capital(w: Any, inverse: Any = inverse, size: float = size) -> float:
                S = both.T @ (y - z @ w)
                return float(S @ inverse @ S - size) / 2

            logs.append(minimize(capital, np.zeros(2), method="Nelder-Mead", options=FINE).fun)
    assert ours == pytest.approx(np.log(np.mean(np.exp(logs))), abs=0.05)
    assert ours <= np.log(np.mean(np.exp(logs))) + 1e-6


def test_logarithms_are_joined_from_below() -> None:
    for first, second in [(0.0, 0.0), (3.0, -2.0), (-5.0, 1.0), (-np.inf, 2.0), (0.0, -29.0), (100.0, -100.0)]:
        exact = np.logaddexp(first, second)
        assert exact - 0.01 <= joined(first, second) <= exact + 1e-15


def test_no_bet_grows_in_the_mean() -> None:
    """The mean capital of every test over many runs of a true model is at most 1, up to chance."""
    rng = np.random.default_rng(8)
    watch, weigh = (compiled(template, {}, "alone") for template in (watch_all, weigh_all))
    read, runs, pulls = watched(PROBLEM, LEANS, 0.01), 1000, 40
    capital = np.zeros((runs, alarm_bets.OFFSET + 1))
    for run in range(runs):
        memory = new_memory(read)
        watch(read, memory, some_results(int(rng.integers(10**9)), pulls, theta=(0.4, 0.2)))
        weigh(read, memory)
        capital[run] = np.exp(memory.weight[0, : alarm_bets.OFFSET + 1])
    assert (capital.mean(axis=0) <= 1.0 + 4.0 * capital.std(axis=0) / np.sqrt(runs)).all()
    assert (capital >= 20.0).mean() <= 0.05


def test_the_bet_on_noise_is_fair_for_a_normal_reading() -> None:
    """Its mean is 1: nothing is taken that is not due, and next to nothing given away."""
    from scipy.integrate import quad
    from scipy.stats import norm

    read = watched(PROBLEM, LEANS, 0.01)

    def capital(x: float) -> float:
        memory = new_memory(read)
        zero = Results(np.zeros(1, np.int64), np.zeros(1), np.array([[0.5 * x, 0.0]]), np.ones(1, np.int64))
        watch_all(read, memory, zero)  # at level 0 nothing but noise is read
        return float(np.exp(memory.weight[0, 0]))

    mean, _ = quad(lambda x: capital(x) * norm.pdf(x), -12, 12, limit=200, epsabs=1e-4)
    assert 0.97 < mean <= 1.0 + 1e-4


# -- the norm ---------------------------------------------------------------------------------------------------------


def test_weights_beyond_the_stated_norm_are_found_and_the_least_norm_is_below_the_true_one() -> None:
    """A norm of 1 is stated and the truth has one of 3."""
    truth = (2.4, 1.8)
    _, memory = after(some_results(5, 400, theta=truth))
    assert memory.found[0, NORM] > 0
    assert 1.0 < memory.signals[0, LEAST] < np.linalg.norm(truth)


def test_the_distance_to_the_norm_is_that_of_the_nearest_weights_within_it() -> None:
    """By multipliers against brute force over the circle of the stated norm."""
    read, memory = after(some_results(6, 60, theta=(3.0, 0.0)))
    spanned(memory, memory.room.matrices[A])
    fit(memory, 0)
    ours = weigh_norm(read, memory, 0)
    V = (memory.X.T * memory.arms[:, 0]) @ memory.X
    w = np.linalg.solve(V, memory.X.T @ memory.readings[0, :, 0])
    angle = np.linspace(0.0, 2.0 * np.pi, 20_001)
    edge = np.array([np.cos(angle), np.sin(angle)]) / read.reach[0][:, None]
    logs = []
    for loose in (1.0, 100.0, 10_000.0):
        H = V @ np.linalg.inv(V + loose * np.eye(2)) @ V
        off = w[:, None] - edge
        logs.append((off * (H @ off)).sum(axis=0).min() / 2 - np.linalg.slogdet(np.eye(2) + V / loose)[1] / 2)
    best = max(logs) - np.log(3.0)
    assert best - 0.15 * abs(best) <= ours <= best + 1e-6


def test_a_norm_that_nobody_leans_on_is_not_tested() -> None:
    _, memory = after(some_results(5, 400, theta=(2.4, 1.8)), guarantee=sf.SafeGap().guarantee(PROBLEM))
    assert not memory.found[:, NORM].any()
