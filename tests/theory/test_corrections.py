"""The corrections to the printed paper, one by one: for each a counterexample, or the arithmetic that decides it.

Numbers are those of the list in docs/math.md.
"""

from math import cos, log, sqrt

import numpy as np
import pytest

from surefoot import worlds
from surefoot.theory import (
    Exploration,
    LevelTarget,
    complexity,
    exploration_length,
    level_confidence,
    level_room,
    pull_worth,
    shortest_combination,
    stopping_bound,
    width_bound,
)

WORLD = worlds.hard()
EPSILON = 2 * (1 - cos(0.1))


def test_1_the_printed_criterion_is_met_by_the_worst_arm() -> None:
    values = WORLD.best_levels() * WORLD.values
    printed, meant = values - values.max(), values.max() - values
    assert (printed <= EPSILON).all()
    assert not (meant <= EPSILON).all()


def test_2_the_printed_safety_event_is_met_by_a_run_with_one_safe_pull() -> None:
    signal = np.array([0.0, -1.0, -1.0, -1.0])  # one safe pull, three unsafe
    assert (signal >= -0.5).any()  # the union in print
    assert not (signal >= -0.5).all()  # the intersection that is meant
    assert (signal <= -0.5).any()  # the reversed inequality of the second statement rewards what it should forbid


def test_3_the_printed_stopping_index_never_falls_below_epsilon() -> None:
    values = WORLD.best_levels() * WORLD.values  # as after infinitely many pulls: all widths are 0
    i = int(np.argmax(values))
    printed = (values[i] - values).max()
    meant = np.delete(values - values[i], i).max()
    assert meant <= EPSILON < printed


def test_4_the_norm_radius_fails_in_one_dimension() -> None:
    delta, runs, rounds = 0.1, 1000, 4000
    rng = np.random.default_rng(4)
    t = np.arange(1, rounds + 1)
    error = np.abs(np.cumsum(rng.normal(size=(runs, rounds)), axis=1)) / np.sqrt(t + 1.0)  # theta* = 0, lambda = 1
    norm = np.sqrt(np.log((1.0 + t) / delta))
    determinant = np.sqrt(2 * log(1 / delta) + np.log(1.0 + t))
    assert (error > norm).any(axis=1).mean() > 1.3 * delta
    assert (error > determinant).any(axis=1).mean() <= delta


def test_5_the_printed_width_bound_is_violated_and_so_is_the_rule_without_the_level() -> None:
    pulls, y = np.array([[2.0]]), np.array([1.0])
    found = shortest_combination(pulls, y)  # w = 1/2
    n = np.array([1000.0])
    width = 1.0 / (1e-6 + 1000 * 4.0)
    N = float(n[0] / found.norm)
    assert sqrt(width) > found.norm / sqrt(N)  # as printed
    assert sqrt(width) <= sqrt(found.norm / N)  # as proved
    assert width <= width_bound(found, n)
    level = np.array([0.5])  # the same arm at half level today: 1000 past pulls at level 1/2 are worth 1000, not 250
    today = shortest_combination(pulls * 0.5, y)
    width = 1.0 / (1e-6 + 1000 * 1.0)
    assert width <= width_bound(today, pull_worth(1000 * level**2, level))
    assert width_bound(today, 1000 * level**2) == pytest.approx(
        4 * width_bound(today, pull_worth(1000 * level**2, level))
    )


def test_6_the_printed_program_forgets_negative_weights() -> None:
    w = shortest_combination(np.eye(2), np.array([1.0, -1.0])).weights

    def objective(counted: np.ndarray, nu: np.ndarray) -> float:
        return float((w[counted] ** 2 / nu[counted]).sum())

    shares = np.linspace(0.01, 0.99, 99)
    printed = min(objective(w > 0, np.array([p, 1 - p])) for p in shares)
    meant = min(objective(w != 0, np.array([p, 1 - p])) for p in shares)
    assert printed < 1.02
    assert meant == pytest.approx(np.abs(w).sum() ** 2)
    assert w.shape == (2,)  # one weight per arm: X w = y needs X of size d x K


def test_7_the_printed_complexity_and_its_m_change_with_the_unit_of_reward() -> None:
    pulls = np.array([[1.0, 0.0], [0.0, 1.0], [0.9, 0.3]])
    worth, epsilon, unit = pulls @ np.array([1.0, 0.2]), 0.1, 1000.0

    def bound(scale: float) -> float:
        H = complexity(pulls, epsilon * scale, worth=worth * scale)
        return stopping_bound(
            H, arms=3, dimension=2, noise=scale, norm=1.02 * scale, longest=1.0, delta=0.05, regularization=1.0
        )

    def printed_m(scale: float) -> float:
        H = complexity(pulls, epsilon * scale, worth=worth * scale)
        return 64 * H * scale**4 * 2 + 4 * (8 * H * scale**2 * log(9 / 0.05) + 3) ** 2

    assert bound(unit) == pytest.approx(bound(1.0))
    assert printed_m(unit) > 2 * printed_m(1.0)
    w = shortest_combination(pulls, pulls[0] - pulls[2]).weights
    assert (w < 0).any()  # without the absolute value such an arm would count as needing no pulls


def test_8_the_printed_eigenvalue_bound_promises_too_much_and_knows_no_time() -> None:
    arms, level = np.eye(3) * 0.05, np.full(3, 0.2)  # short arms: the printed factor is nearly 1
    plan = Exploration.of(arms, level, regularization=1.0, delta=0.1)
    printed = 1.0 - 2 * plan.longest * log(3 / 0.1)
    assert 2 * plan.least * printed > 0.0  # two pulls of three orthogonal arms: the true smallest eigenvalue is 0
    assert plan.design_bound(2) == plan.regularization
    assert plan.design_bound(10**6) == pytest.approx(1.0 + 10**6 * plan.least * plan.share_kept(10**6))


def test_9_scaled_arms_are_shorter_not_longer() -> None:
    plan = Exploration.of(WORLD.arms, np.full(4, 0.2), regularization=1.0, delta=0.001)
    assert plan.longest == pytest.approx(0.2**2)
    assert plan.longest < 1 / 0.2**2


def test_10_the_printed_length_condition_is_met_by_no_exploration_at_all() -> None:
    world = worlds.limited()
    problem = world.default_problem()
    best, value = world.best_arm(), world.best_value()
    signal = float(world.safety_values[0, best])
    printed_right = (2 * value / problem.epsilon - 1) / signal  # x*.mu* is negative, so anything is larger
    assert printed_right < 0.0
    plan = Exploration.of(world.arms, problem.safe_level, regularization=1.0, delta=0.05)
    kappa = problem.epsilon / (2 * value)
    room = level_room(signal, float(world.limit[0]), float(world.best_levels()[best]), kappa)
    target = LevelTarget(1.0, room, 0.1, float(world.safety_norm[0]), 0.05)
    assert exploration_length(plan, [target]) > 1000
    loss = 1 - problem.safe_level[best] / world.best_levels()[best]
    assert loss * value > problem.epsilon / 2  # and staying at the known level costs too much


def test_11_the_loss_by_a_low_level_is_a_share_of_the_best_value() -> None:
    world = worlds.limited()
    best, top, value = world.best_arm(), float(world.best_levels()[0]), world.best_value()
    low = 0.4
    loss = (top - low) * world.values[best]
    assert loss == pytest.approx((1 - low / top) * value)
    assert loss < (1 - low / top) * world.values[best]  # as printed, without gamma*


def test_12_the_printed_level_of_a_harmless_arm_is_negative() -> None:
    low, eta0 = 0.2, -0.5
    assert 1 - max(1 - eta0 / low, 0.0) < 0.0


def test_13_the_printed_gap_lemma_says_nothing_and_the_corrected_one_holds_for_any_pair() -> None:
    rng = np.random.default_rng(13)
    informative = neither_best = 0
    for _ in range(20_000):
        truth = np.sort(rng.uniform(size=4))[::-1]
        width = rng.uniform(0.0, 0.6, size=4)  # half-widths add up for a pair
        beta = width[:, None] + width[None, :]
        estimate = truth + width * rng.uniform(-1.0, 1.0, size=4)
        i = int(np.argmax(estimate))
        index = estimate - estimate[i] + beta[i]
        index[i] = -np.inf
        j = int(np.argmax(index))
        gap = truth[0] - truth
        gap[0] = truth[0] - truth[1]
        furthest = max(gap[i], gap[j])
        printed = max(beta[i, j] - furthest, 0.0) + beta[i, j]
        corrected = min(0.0, 2 * beta[i, j] - furthest) + beta[i, j]
        assert printed >= beta[i, j] >= index[j] - 1e-12  # true whatever the gaps are
        assert index[j] <= corrected + 1e-12
        informative += corrected < beta[i, j]
        neither_best += i != 0 and j != 0
    assert informative > 100
    assert neither_best > 100


def test_14_the_printed_level_confidence_spends_more_than_there_is() -> None:
    delta_safety, delta, bound = 0.05, 0.04, 500.0
    ours = level_confidence(delta_safety, delta, bound)
    assert delta + bound * ours == pytest.approx(delta_safety)
    assert delta + bound * ours / (1 - delta) > delta_safety
    signed = np.array([2.0, -1.0])  # sums to 1, as the printed simplex asks, and has no meaning as shares
    assert signed.sum() == 1.0
    assert np.linalg.eigvalsh(np.diag(signed))[0] < 0.0
