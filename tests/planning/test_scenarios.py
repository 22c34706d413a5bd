"""Drawn truths: what is stated holds in every one of them, and they are distributed as the plan says."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest

import surefoot as sf
from surefoot.errors import NotSpanningWarning
from surefoot.planning.pilot import drawn_like, pilot_in, posteriors
from surefoot.planning.playing import world_of
from surefoot.planning.scenarios import HARSH, KIND, MIDDLE, SCENARIOS, drawn, largest_in, level_range, space_of
from surefoot.worlds.statements import broken_statements


def some_bound(random: np.random.Generator) -> dict[str, Any]:
    """A norm, a largest effect, or neither."""
    kind = random.choice(["norm", "largest", "neither"])
    return {} if kind == "neither" else {str(kind): float(10.0 ** random.uniform(-3, 3))}


def some_problem(seed: int) -> sf.Problem:
    """A problem as people have them: units far apart, several limits, bounds or none, steps, arms that may not span."""
    random = np.random.default_rng(seed)
    arms = random.normal(size=(int(random.integers(1, 9)), int(random.integers(1, 5))))
    arms *= 10.0 ** random.integers(-4, 4, size=arms.shape[1])
    if random.random() < 0.3:
        arms[0] = 0.0 if len(arms) > 1 else arms[0]
    size = len(arms)
    limits = []
    for place in range(int(random.integers(1, 4))):
        side = random.choice(["at_least", "at_most"])
        edge = {"at_least": 2.0 - random.exponential() - 0.1, "at_most": 2.0 + random.exponential() + 0.1}[side]
        more = some_bound(random) | (
            {"within": 0.9 * random.random() * abs(edge - 2.0)} if random.random() < 0.4 else {}
        )
        limits.append(sf.Limit(f"limit {place}", baseline=2.0, noise=0.01, **{side: edge}, **more))
    grid = np.linspace(0.1, 1.0, 10) if random.random() < 0.3 else None
    reward = sf.Reward(noise=0.5, within=0.1 if random.random() < 0.3 else 0.0, **some_bound(random))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotSpanningWarning)
        return sf.Problem(
            arms, reward, limits, safe_level=random.uniform(0.1, 1.0, size), level_grid=grid,
            epsilon=float(random.choice([0.0, 0.01, 0.5])), delta=0.05, delta_safety=0.05,
        )  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_every_drawn_truth_keeps_what_the_problem_states(seed: int) -> None:
    problem = some_problem(seed)
    space = space_of(problem)
    for scenario in SCENARIOS:
        for number in range(5):
            truth = drawn(problem, space, scenario, seed, number)
            world = world_of(problem, truth)
            assert broken_statements(world, problem) == []
            known = world.judge(problem).is_safe(np.arange(problem.size), problem.safe_level)
            assert np.all(known)
            assert np.all(np.isfinite(truth.reward))
            assert np.all(np.isfinite(truth.limits))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_a_truth_drawn_like_a_pilot_keeps_it_too(seed: int) -> None:
    problem = some_problem(seed)
    space, random = space_of(problem), np.random.default_rng(seed)
    world = world_of(problem, drawn(problem, space, MIDDLE, seed + 1, 0))
    arms = random.integers(problem.size, size=6)
    rows = [
        {"arm": int(arm), "level": level, **world.measure(pulled(int(arm), level, place + 1), seed=seed)}
        for place, arm in enumerate(arms)
        for level in [float(problem.safe_level[arm])]
    ]
    found = posteriors(problem, space, MIDDLE, seed, pilot_in(problem, rows))
    for number in range(5):
        truth = drawn_like(problem, space, MIDDLE, found, seed, number)
        assert broken_statements(world_of(problem, truth), problem) == []


def pulled(arm: int, level: float, number: int) -> Any:
    """A pull, as a world is asked for its result."""
    return type("Pulled", (), {"arm": arm, "level": level, "number": number})()


@pytest.fixture(scope="module")
def plain() -> sf.Problem:
    """Eight generic arms, two limits, known levels that differ."""
    random = np.random.default_rng(3)
    limits = [sf.Limit("a", at_most=1.0, noise=0.1), sf.Limit("b", at_least=-2.0, noise=0.1)]
    return sf.Problem(
        random.normal(size=(8, 3)) * [1.0, 1e4, 1e-3], sf.Reward(noise=0.5), limits, epsilon=0.1,
        safe_level=np.linspace(0.1, 0.4, 8), delta=0.05, delta_safety=0.05,
    )  # fmt: skip


def test_the_best_effect_is_what_the_scenario_says(plain: sf.Problem) -> None:
    space = space_of(plain)
    assert largest_in(plain, HARSH) == pytest.approx(3 * plain.epsilon)
    assert largest_in(plain, MIDDLE) == pytest.approx((largest_in(plain, HARSH) * largest_in(plain, KIND)) ** 0.5)
    assert largest_in(plain, KIND) > 5 * largest_in(plain, HARSH)
    for scenario in SCENARIOS:
        for number in range(20):
            effects = plain.arms @ drawn(plain, space, scenario, 0, number).reward
            assert effects.max() == pytest.approx(largest_in(plain, scenario)) == pytest.approx(np.abs(effects).max())


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_level_of_the_most_limited_option_is_log_uniform_in_its_range(plain: sf.Problem, scenario: str) -> None:
    """Exact by construction up to the seed; the test of Kolmogorov and Smirnov would find another law."""
    space, known, shares = space_of(plain), plain.safe_level, []
    for number in range(400):
        truth = drawn(plain, space, scenario, 5, number)
        for mu, limit in zip(truth.limits, plain.safety, strict=True):
            effects = plain.arms @ mu
            levels = np.where(effects < 0, limit.eta0 / np.minimum(effects, -1e-300), np.inf)
            most = int((levels / known).argmin())
            low, high = level_range(scenario, float(known[most]))
            shares.append(np.log(levels[most] / low) / np.log(high / low))
    assert min(shares) > -1e-6
    assert max(shares) < 1 + 1e-6
    assert kstest(shares, "uniform").pvalue > 0.01


@pytest.mark.parametrize(("scenario", "share"), [(KIND, 0.0), (MIDDLE, 0.5), (HARSH, 1.0)])
def test_means_stray_from_the_law_as_far_as_the_scenario_says(plain: sf.Problem, scenario: str, share: float) -> None:
    """By so much of the stated error, and the most limited option is still safe up to a level of the range."""
    limits = [replace(limit, within=0.4 * -limit.eta0) for limit in plain.safety]
    problem = plain.with_(reward=sf.Reward(noise=0.5, within=0.03), safety=limits, safe_level=0.2)
    space, known = space_of(problem), 0.2
    for number in range(20):
        truth = drawn(problem, space, scenario, 5, number)
        world = world_of(problem, truth)
        law, arms, levels = world.law if share else world, np.arange(problem.size), np.linspace(0.01, 1.0, 50)
        for arm in arms:
            off = np.abs(world.means(np.full(50, arm), levels) - law.means(np.full(50, arm), levels))
            assert np.allclose(off, share * np.array([0.03, *(limit.within for limit in limits)])[:, np.newaxis])
        low, high = level_range(scenario, known)
        safe = world.judge(problem).is_safe
        assert all(safe(arms, np.full(problem.size, low * (1 - 1e-6))))
        if high < 1.0:
            assert not all(safe(arms, np.full(problem.size, high * (1 + 1e-6))))


@pytest.mark.parametrize("mixed", [False, True])
def test_directions_are_gaussian_in_even_coordinates_whatever_the_units(plain: sf.Problem, mixed: bool) -> None:
    """All directions alike: along the sides of the ellipsoid of the arms no direction is preferred."""
    if mixed:
        plain = plain.with_(arms=plain.arms @ np.random.default_rng(8).normal(size=(3, 3)), regularization=10.0)
    space = space_of(plain)
    Z = plain.arms @ space.weights
    assert np.linalg.norm(Z, axis=1).max() < 1.1 * np.sqrt(3)
    rewards = np.array([drawn(plain, space, MIDDLE, 1, number).reward for number in range(2_000)])
    found = np.linalg.lstsq(Z, plain.arms @ rewards.T, rcond=None)[0].T  # back in even coordinates
    unit = found / np.linalg.norm(found, axis=1)[:, np.newaxis]
    second = unit.T @ unit / len(unit)
    assert np.abs(second - np.eye(3) / 3).max() < 0.035  # five standard deviations


def test_a_draw_depends_on_its_number_and_seed_alone_and_scenarios_share_directions(plain: sf.Problem) -> None:
    space = space_of(plain)
    one, again, other = (drawn(plain, space, HARSH, seed, 7) for seed in (1, 1, 2))
    assert np.array_equal(one.reward, again.reward)
    assert np.array_equal(one.limits, again.limits)
    assert not np.allclose(one.reward, other.reward)
    kind = drawn(plain, space, KIND, 1, 7)
    for mine, theirs in ((one.reward, kind.reward), *zip(one.limits, kind.limits, strict=True)):
        assert np.allclose(mine / np.linalg.norm(mine), theirs / np.linalg.norm(theirs), rtol=1e-9)


def test_a_stated_largest_effect_is_never_exceeded_and_is_what_the_kind_scenario_has(plain: sf.Problem) -> None:
    stated = plain.with_(reward=sf.Reward(noise=0.5, largest=0.7))
    for number in range(30):
        effects = stated.arms @ drawn(stated, space_of(stated), KIND, 0, number).reward
        assert np.abs(effects).max() <= 0.7
        assert np.abs(effects).max() == pytest.approx(0.7)


def test_a_stated_norm_is_never_exceeded_and_can_bind(plain: sf.Problem) -> None:
    free = [drawn(plain, space_of(plain), KIND, 0, number) for number in range(30)]
    bound = float(np.median([np.linalg.norm(truth.reward) for truth in free]))
    stated = plain.with_(reward=sf.Reward(noise=0.5, norm=bound))
    lengths = [np.linalg.norm(drawn(stated, space_of(stated), KIND, 0, number).reward) for number in range(30)]
    assert max(lengths) <= bound
    assert max(lengths) == pytest.approx(bound)
