"""Largest effects in place of norms: coverage and promises where they are true and exact, and what shows where not.

The features are in wild units, so that what is tested is the set as it is used for tables as they come.          (E7)
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from escapes import LEAD, LOWER, UPPER, broken_bounds, escapes
from test_promises import DELTA, NOISES, POLICIES, WORLDS, at_nominal, lower_bound

import surefoot as sf
from surefoot.worlds import Linear

SMALLER = sf.SafeLinGapE(selection="optimistic", reward_radius="squared-sum", safety_radius="squared-sum")


def stated(problem: sf.Problem, world: Linear, factor: float = 1.0) -> sf.Problem:
    """The problem with the world's largest effects, or so many times these, in place of norms."""
    limits = [
        replace(limit, norm=None, largest=factor * float(size or 1.0))
        for limit, size in zip(problem.safety, world.safety_largest, strict=True)
    ]
    reward = replace(problem.reward, norm=None, largest=factor * (world.reward_largest or 1.0))
    return problem.with_(reward=reward, safety=limits)


def in_wild_units(world: Linear, problem: sf.Problem, seed: int) -> tuple[Linear, sf.Problem]:
    """The same with the features mixed, and in units from parts of a thousand to thousands."""
    d = world.arms.shape[1]
    rng = np.random.default_rng(seed)
    A = np.linalg.qr(rng.standard_normal((d, d)))[0] * 10.0 ** rng.uniform(-3, 3, d)
    back = np.linalg.inv(A)
    other = Linear(
        world.arms @ A, theta_star=back @ world.theta_star, mu_star=world.mu_star @ back.T, noise=world.noise,
        safety_noise=world.safety_noise, limit=world.limit, distribution=world.distribution, names=world.names,
    )  # fmt: skip
    return other, problem.with_(arms=dict(zip(problem.names, other.arms, strict=True)))


def drawn(name: str, noise: str, seed: int) -> tuple[Linear, sf.Problem]:
    world = WORLDS[name](noise)
    return in_wild_units(world, stated(at_nominal(world), world), seed)


@pytest.mark.parametrize("policy", ["lingape", "conservative", "remembering", "uniform"])
@pytest.mark.parametrize("world", WORLDS)
def test_the_truth_stays_in_the_sets_at_all_rounds_at_once(world: str, policy: str) -> None:
    for index, noise in enumerate(NOISES):
        built, problem = drawn(world, noise, index)
        found = escapes(built, problem, POLICIES[policy], runs=150, rounds=400, seed=41 + index)
        assert lower_bound(found[:, 0].sum(), 150) <= DELTA
        assert lower_bound(found[:, 1:].any(axis=1).sum(), 150) <= DELTA


@pytest.mark.parametrize("world", WORLDS)
def test_bounds_of_the_smaller_radius_hold(world: str) -> None:
    built, problem = drawn(world, "gaussian", 5)
    found = broken_bounds(built, problem, SMALLER, runs=150, rounds=300, seed=51)
    assert lower_bound(found[:, [LOWER, UPPER]].any(axis=1).sum(), 150) <= DELTA
    assert lower_bound(found[:, LEAD].sum(), 150) <= DELTA


@pytest.mark.parametrize("policy", ["conservative", "optimistic", "safe-gap"])
@pytest.mark.parametrize("world", ["limited", "two-limits"])
def test_promises_hold(world: str, policy: str) -> None:
    built, problem = drawn(world, "gaussian", 6)
    found = sf.simulate(built, problem, POLICIES[policy], runs=150, seed=3, max_pulls=100_000)
    assert lower_bound((found.unsafe_pulls > 0).sum(), 150) <= DELTA
    assert lower_bound(found.broken_promise.sum(), 150) <= 2 * DELTA
    assert not (found.outcome == 4).any()


def test_one_arm_that_reaches_what_is_stated_is_the_tightest_case() -> None:
    """With one arm the length in even coordinates is the largest effect itself: nothing is left over."""
    world = Linear([[2000.0]], theta_star=[2e-3], mu_star=[-2e-3], noise=1.0, safety_noise=1.0, limit=-5.0)
    for regularization in (1e-6, 1.0, 30.0):
        problem = world.problem(
            epsilon=0.0, delta=DELTA, delta_safety=DELTA, safe_level=1.0, regularization=regularization,
            reward_largest=4.0, safety_largest=4.0,
        )  # fmt: skip
        policy = sf.Uniform(reward_radius="determinant", safety_radius="determinant", null_pull=True)
        found = escapes(world, problem, policy, runs=1000, rounds=300, seed=8)
        assert lower_bound(found[:, 0].sum(), 1000) <= DELTA
        assert lower_bound(found[:, 1].sum(), 1000) <= DELTA


@pytest.mark.filterwarnings("ignore::surefoot.errors.WorldBreaksStatement")
def test_the_measurement_notices_an_effect_that_is_understated() -> None:
    """A fifth of the truth: the regularisation hides more than the set allows for, in nearly every run."""
    world = Linear([[2000.0]], theta_star=[2e-3], mu_star=[-2e-3], noise=0.2, safety_noise=0.2, limit=-5.0)
    problem = world.problem(
        epsilon=0.0, delta=DELTA, delta_safety=DELTA, safe_level=1.0, regularization=30.0, reward_largest=0.8,
        safety_largest=0.8,
    )  # fmt: skip
    policy = sf.Uniform(reward_radius="determinant", safety_radius="determinant", null_pull=True)
    found = escapes(world, problem, policy, runs=200, rounds=100, seed=8)
    assert lower_bound(found[:, 0].sum(), 200) > 0.9


def check_alarm(factor: float, runs: int) -> Any:
    world = WORLDS["two-limits"]("gaussian")
    built, problem = in_wild_units(world, stated(at_nominal(world), world, factor), 4)
    problem = problem.with_(epsilon=0.02)
    return sf.simulate(built, problem, POLICIES["conservative"], runs=runs, seed=2, max_pulls=1_500, alarm=0.05)


@pytest.mark.filterwarnings("ignore::surefoot.errors.WorldBreaksStatement")
def test_the_alarm_finds_an_effect_that_is_understated_and_no_other() -> None:
    assert lower_bound(check_alarm(1.0, 200).summary()["alarm_runs"], 200) <= 0.05 + DELTA
    assert check_alarm(0.2, 20).summary()["alarm_runs"] >= 15
