"""(T7) by Monte-Carlo coverage, (T8) as the smallest length that works, and its closed form."""

from math import log, sqrt

import numpy as np
import pytest
from scipy.stats import binom

from surefoot.errors import InvalidInput
from surefoot.theory import (
    Exploration,
    LevelTarget,
    exploration_length,
    exploration_length_closed_form,
    level_room,
    mean_design,
)


def random_plan(seed: int, kind: str = "uniform-random") -> tuple[Exploration, LevelTarget]:
    rng = np.random.default_rng(seed)
    K, d = int(rng.integers(4, 12)), int(rng.integers(1, 5))
    arms, levels = rng.normal(size=(K, d)), rng.uniform(0.1, 0.5, size=K)
    ridge = float(10 ** rng.uniform(-1.5, 0.5))
    plan = Exploration.of(arms, levels, regularization=ridge, delta=float(rng.uniform(0.001, 0.1)), kind=kind)
    best = int(rng.integers(K))
    target = LevelTarget(
        length=float(np.linalg.norm(arms[best])),
        room=float(10 ** rng.uniform(-2, 0.5)),
        noise=float(10 ** rng.uniform(-1, 0.5)),
        norm=float(rng.uniform(0.3, 2.0)),
        delta=0.01,
    )
    return plan, target


def test_the_least_eigenvalue_of_uniform_draws_is_covered() -> None:
    rng = np.random.default_rng(5)
    arms, levels, delta = rng.normal(size=(7, 3)), rng.uniform(0.1, 0.4, size=7), 0.2
    plan = Exploration.of(arms, levels, regularization=0.7, delta=delta)
    z = arms * levels[:, None]
    for factor in (1.1, 2.0, 10.0):
        pulls = int(factor * plan.informative_from)
        promised = plan.design_bound(pulls) - 0.7
        assert promised > 0.0
        counts = rng.multinomial(pulls, np.full(7, 1 / 7), size=2000)
        learned = np.linalg.eigvalsh(np.einsum("nk,ka,kb->nab", counts, z, z))[:, 0]
        assert np.count_nonzero(learned < promised) <= binom.ppf(0.999, 2000, delta)


def test_the_eigenvalue_bound_says_nothing_below_its_threshold() -> None:
    plan, _ = random_plan(1)
    assert plan.design_bound(plan.informative_from) == pytest.approx(plan.regularization)
    assert plan.design_bound(0) == plan.regularization
    assert plan.design_bound(1.5 * plan.informative_from) > plan.regularization


def test_whole_cycles_of_round_robin_learn_exactly_the_mean_design() -> None:
    rng = np.random.default_rng(2)
    arms, levels = rng.normal(size=(5, 3)), rng.uniform(0.1, 0.4, size=5)
    plan = Exploration.of(arms, levels, regularization=0.3, delta=0.1, kind="round-robin")
    A = 0.3 * np.eye(3) + 20 * mean_design(arms, levels)
    assert plan.design_bound(20) == pytest.approx(np.linalg.eigvalsh(A)[0])


@pytest.mark.parametrize("seed", range(60))
def test_the_length_meets_the_inequality_and_one_pull_less_does_not(seed: int) -> None:
    plan, target = random_plan(seed)
    pulls = exploration_length(plan, [target])
    A = plan.design_bound(pulls)
    beta = target.radius(plan, pulls)
    assert 2 * beta * target.length / sqrt(A) <= target.room * (1 + 1e-12)
    assert pulls == 0 or not target.met(plan, pulls - 1)


@pytest.mark.parametrize("seed", range(20))
def test_round_robin_lengths_are_whole_cycles_and_one_cycle_less_does_not_do(seed: int) -> None:
    plan, target = random_plan(seed, "round-robin")
    pulls = exploration_length(plan, [target])
    assert pulls % plan.arms == 0
    assert target.met(plan, pulls)
    assert pulls == 0 or not target.met(plan, pulls - plan.arms)


@pytest.mark.parametrize("kind", ["uniform-random", "round-robin"])
def test_the_closed_form_is_an_upper_bound_within_twice_the_length(kind: str) -> None:
    for seed in range(60):
        plan, target = random_plan(seed, kind)
        exact, closed = exploration_length(plan, [target]), exploration_length_closed_form(plan, [target])
        assert closed >= exact
        assert target.met(plan, closed)
        if exact > 4 * plan.informative_from + plan.arms:  # where most of the mean design is surely learned
            assert closed <= 2 * exact


def test_the_closed_form_holds_where_the_exponential_underflows() -> None:
    plan, target = random_plan(3)
    tight = LevelTarget(target.length, 1e-3, 1e-4, 5.0, 1e-9)  # bias dominates: A/B is in the thousands
    exact, closed = exploration_length(plan, [tight]), exploration_length_closed_form(plan, [tight])
    assert exact <= closed <= 1.1 * exact


def test_the_longest_of_several_signals_counts_and_no_target_needs_no_exploration() -> None:
    plan, target = random_plan(4)
    hard = LevelTarget(target.length, target.room / 10, target.noise, target.norm, target.delta)
    assert exploration_length(plan, [target, hard]) == exploration_length(plan, [hard])
    assert exploration_length(plan, []) == exploration_length_closed_form(plan, []) == 0


def test_the_radius_in_one_dimension_is_the_determinant_one() -> None:
    plan = Exploration.of(np.array([[1.0]]), np.array([0.5]), regularization=2.0, delta=0.1)
    target = LevelTarget(1.0, 0.1, 0.3, 1.5, 0.05)
    expected = 0.3 * sqrt(2 * log(20.0) + log(1 + 100 * 0.25 / 2.0)) + sqrt(2.0) * 1.5
    assert target.radius(plan, 100) == pytest.approx(expected)


def test_the_room_for_a_limited_arm_is_its_signal_times_kappa_over_one_minus_kappa() -> None:
    signal, eta0, kappa = -0.8, -0.5, 0.2
    assert level_room(signal, eta0, eta0 / signal, kappa) == pytest.approx(0.8 * kappa / (1 - kappa))
    assert level_room(signal, eta0, eta0 / signal, 1.0) == np.inf


def test_after_that_length_the_certified_level_costs_no_more_than_allowed() -> None:
    """The level of the best arm, found by simulating the sums that matter, loses at most the share kappa."""
    rng = np.random.default_rng(11)
    arms, levels = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.6]]), np.full(3, 0.3)
    mu, eta0, kappa, ridge, noise, norm, delta = np.array([-0.9, 0.1]), -0.5, 0.25, 1.0, 0.2, 1.0, 0.05
    best_level = eta0 / -0.9
    plan = Exploration.of(arms, levels, regularization=ridge, delta=delta)
    target = LevelTarget(1.0, level_room(-0.9, eta0, best_level, kappa), noise, norm, delta)
    pulls = exploration_length(plan, [target])
    z = arms * levels[:, None]
    failures = 0
    for _ in range(400):
        n = rng.multinomial(pulls, np.full(3, 1 / 3))
        A = ridge * np.eye(2) + (z.T * n) @ z
        sums = n * (z @ mu) + np.sqrt(n) * noise * rng.normal(size=3)
        mu_hat = np.linalg.solve(A, sums @ z)
        low = mu_hat[0] - target.radius(plan, pulls) * sqrt(np.linalg.inv(A)[0, 0])
        certified = 1.0 if low >= eta0 else eta0 / low
        failures += certified < best_level * (1 - kappa)
    assert failures <= binom.ppf(0.999, 400, 2 * delta)


def test_a_limited_best_arm_without_epsilon_is_refused() -> None:
    plan, target = random_plan(0)
    for room in (0.0, -1.0):
        with pytest.raises(InvalidInput, match="larger epsilon"):
            exploration_length(plan, [LevelTarget(target.length, room, 1.0, 1.0, 0.1)])
        with pytest.raises(InvalidInput, match="larger epsilon"):
            exploration_length_closed_form(plan, [LevelTarget(target.length, room, 1.0, 1.0, 0.1)])


def test_arms_that_do_not_span_and_unknown_explorations_are_refused() -> None:
    with pytest.raises(InvalidInput, match="do not span"):
        Exploration.of(np.array([[1.0, 0.0], [2.0, 0.0]]), np.ones(2), regularization=1.0, delta=0.1)
    with pytest.raises(InvalidInput, match="round-robin"):
        Exploration.of(np.eye(2), np.ones(2), regularization=1.0, delta=0.1, kind="random")
