"""Nominal against measured: coverage, safety and every policy's own promise, with exact bounds and fixed seeds.

A rate passes when its exact (Clopper-Pearson) lower bound does not exceed what is promised.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from escapes import escapes
from scipy.stats import binomtest

import surefoot as sf
from surefoot.errors import NeverStopsWarning

NOISES = ("gaussian", "uniform", "rademacher")
DELTA = 0.05


def two_limits(distribution: str) -> sf.worlds.Linear:
    """Two safety signals, each of which limits another arm."""
    return sf.worlds.Linear(
        [[1, 0, 0], [0, 1, 0], [0.5, 0.5, 0.1], [0, 0.3, 1], [1, -1, 0]],
        theta_star=[1.0, 0.6, -0.2],
        mu_star=[[-0.9, -0.2, 0.1], [0.2, -0.8, -0.3]],
        noise=0.3,
        safety_noise=[0.1, 0.2],
        limit=[-0.5, -0.4],
        distribution=distribution,
        name="two-limits",
    )


WORLDS: dict[str, Callable[[str], sf.worlds.Linear]] = {
    "hard": lambda noise: sf.worlds.hard(distribution=noise),
    "limited": lambda noise: sf.worlds.limited(distribution=noise),
    "sphere": lambda noise: sf.worlds.sphere(distribution=noise),
    "doses": lambda noise: sf.worlds.doses(distribution=noise),
    "base-station": lambda noise: sf.worlds.base_station(distribution=noise),
    "two-limits": two_limits,
}
POLICIES: dict[str, Any] = {
    "lingape": sf.LinGapE(),
    "conservative": sf.SafeLinGapE(),
    "static": sf.SafeLinGapE(levels="static", explore=sf.RoundRobin(400)),
    "optimistic": sf.SafeLinGapE(selection="optimistic", null_pull=True),
    "remembering": sf.SafeLinGapE(levels="dynamic-max", selection="optimistic", pull="rounding"),
    "by determinant": sf.SafeLinGapE(selection="optimistic", safety_radius="determinant", explore=sf.UntilConfident()),
    "uniform": sf.Uniform(selection="optimistic"),
    "safe-gap": sf.SafeGap(),
}


def at_nominal(world: sf.worlds.Linear) -> sf.Problem:
    return world.default_problem().with_(delta=DELTA, delta_safety=DELTA)


def lower_bound(events: Any, trials: int) -> float:
    return float(binomtest(int(events), trials, alternative="greater").proportion_ci(0.95, method="exact").low)


def check_promises(world: sf.worlds.Linear, policy: Any, runs: int, seed: int, max_pulls: int) -> sf.Runs:
    problem = at_nominal(world)
    found = sf.simulate(world, problem, policy, runs=runs, seed=seed, max_pulls=max_pulls)
    assert not (found.outcome == 4).any(), "breakdown"
    stated = policy.guarantee(problem)
    if stated.keeps_limits:
        assert lower_bound((found.unsafe_pulls > 0).sum(), runs) <= DELTA
        assert lower_bound(found.answer_unsafe.sum(), runs) <= DELTA
        assert (
            lower_bound((found.outcome == 3).sum(), runs) <= DELTA
        )  # a contradiction is a failure of the safety event
    assert lower_bound(found.broken_promise.sum(), runs) <= 1.0 - stated.confidence
    if stated.kind == "within-epsilon":
        assert lower_bound(found.wrong.sum(), runs) <= 2 * DELTA
    return found


# -- the confidence sets ----------------------------------------------------------------------------------------------


def check_coverage(world: sf.worlds.Linear, policy: Any, runs: int, rounds: int, seed: int) -> Any:
    found = escapes(world, at_nominal(world), policy, runs=runs, rounds=rounds, seed=seed)
    assert lower_bound(found[:, 0].sum(), runs) <= DELTA
    assert lower_bound(found[:, 1:].any(axis=1).sum(), runs) <= DELTA
    return found


@pytest.mark.parametrize("policy", ["lingape", "conservative", "remembering", "uniform", "safe-gap"])
@pytest.mark.parametrize("world", WORLDS)
def test_the_truth_stays_in_the_sets_at_all_rounds_at_once(world: str, policy: str) -> None:
    for index, noise in enumerate(NOISES):
        check_coverage(WORLDS[world](noise), POLICIES[policy], runs=150, rounds=400, seed=31 + index)


def one_arm(noise: str, regularization: float) -> tuple[sf.worlds.Linear, sf.Problem]:
    """One arm in one dimension and norm bounds that are exact: the sets are as tight as they get."""
    world = sf.worlds.Linear([[1.0]], theta_star=[0.1], mu_star=[-0.1], noise=1.0, safety_noise=1.0, limit=-1.0,
                             distribution=noise)  # fmt: skip
    return world, world.problem(
        epsilon=0.0, delta=DELTA, delta_safety=DELTA, safe_level=1.0, regularization=regularization
    )


@pytest.mark.parametrize("noise", NOISES)
def test_the_tightest_sets_still_cover(noise: str) -> None:
    for regularization in (1e-6, 1.0):
        world, problem = one_arm(noise, regularization)
        found = escapes(
            world, problem, sf.Uniform(selection="optimistic", null_pull=True), runs=2000, rounds=1000, seed=5
        )
        assert lower_bound(found[:, 0].sum(), 2000) <= DELTA
        assert lower_bound(found[:, 1].sum(), 2000) <= DELTA


def test_the_measurement_notices_noise_that_is_understated() -> None:
    """The test of the test: with half the noise admitted, escapes are far more frequent than promised."""
    world, problem = one_arm("gaussian", 1.0)
    understated = problem.with_(reward=sf.Reward(noise=0.4, norm=0.1))
    found = escapes(
        world, understated, sf.Uniform(selection="optimistic", null_pull=True), runs=500, rounds=1000, seed=5
    )
    assert lower_bound(found[:, 0].sum(), 500) > 2 * DELTA


def test_the_measurement_notices_it_in_sets_that_lean_on_no_norm_too() -> None:
    """With the right noise the reward's ellipsoid fails in at most a twentieth of delta, with a fifth of it often."""
    world = two_limits("gaussian")
    problem = at_nominal(world)
    honest = escapes(world, problem, sf.SafeGap(), runs=500, rounds=400, seed=5)
    assert lower_bound(honest[:, 0].sum(), 500) <= 0.05 * DELTA
    assert lower_bound(honest[:, 1:].any(axis=1).sum(), 500) <= 0.2 * DELTA
    understated = problem.with_(reward=sf.Reward(noise=0.2 * problem.reward.noise))
    found = escapes(world, understated, sf.SafeGap(), runs=500, rounds=400, seed=5)
    assert lower_bound(found[:, 0].sum(), 500) > 2 * DELTA


# -- pulls and answers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("world", WORLDS)
def test_every_policy_keeps_its_own_promise(world: str, policy: str) -> None:
    for index, noise in enumerate(NOISES):
        found = check_promises(WORLDS[world](noise), POLICIES[policy], runs=60, seed=41 + index, max_pulls=20_000)
        if policy in ("lingape", "conservative", "safe-gap"):
            assert found.stopped.all()


LIMITED: dict[str, tuple[sf.worlds.Linear, Any, float]] = {  # and the least share of runs that break (b)
    "limited, static": (sf.worlds.limited(), sf.SafeLinGapE(levels="static", explore=sf.RoundRobin(100)), 1.0),
    "limited, dynamic": (sf.worlds.limited(), sf.SafeLinGapE(), 0.5),
    "doses": (sf.worlds.doses(), sf.SafeLinGapE(), 1.0),
    "base-station": (sf.worlds.base_station(), sf.SafeLinGapE(), 1.0),
}


@pytest.mark.parametrize("name", LIMITED)
def test_conservative_selection_breaks_b_where_the_best_arm_is_limited_and_optimistic_does_not(name: str) -> None:
    world, policy, least = LIMITED[name]
    conservative = sf.simulate(world, at_nominal(world), policy, runs=200, seed=6)
    assert conservative.stopped.all()
    assert not conservative.broken_promise.any()
    assert conservative.wrong.mean() >= least
    optimistic = check_promises(world, sf.SafeLinGapE(selection="optimistic"), runs=200, seed=6, max_pulls=10**6)
    assert optimistic.stopped.all()
    assert not optimistic.wrong.any()
    assert conservative.pulls.mean() < optimistic.pulls.mean()


def test_frozen_levels_with_optimistic_selection_warn_by_name_and_end_undecided() -> None:
    world = sf.worlds.limited()
    with pytest.warns(NeverStopsWarning, match="may never stop"):
        found = sf.simulate(
            world, at_nominal(world), sf.SafeLinGapE(levels="static", selection="optimistic"), runs=20, max_pulls=3000
        )
    assert set(found.outcomes) == {"undecided"}
    assert not found.wrong.any()
    assert (found.gap > found.problem.epsilon).all()


def test_lingape_pulls_unsafely_in_every_run_of_the_papers_instance() -> None:
    world = sf.worlds.hard()
    found = sf.simulate(world, at_nominal(world), sf.LinGapE(), runs=100, seed=2)
    assert (found.unsafe_pulls > 0).all()
    assert not found.broken_promise.any()


# -- long runs --------------------------------------------------------------------------------------------------------


@pytest.mark.certify
@pytest.mark.parametrize("world", WORLDS)
def test_certify_coverage(world: str, show: Any) -> None:
    show(
        f"\ncoverage, {world}: share of 1000 runs of up to 2000 rounds in which the truth left a set (promised {DELTA})"
    )
    for name, policy in POLICIES.items():
        for noise in NOISES:
            found = check_coverage(WORLDS[world](noise), policy, runs=1000, rounds=2000, seed=101)
            show(
                f"  {name:15} {noise:11} reward {found[:, 0].mean():.4f}  safety {found[:, 1:].any(axis=1).mean():.4f}"
            )


@pytest.mark.certify
@pytest.mark.parametrize("world", WORLDS)
def test_certify_promises(world: str, show: Any) -> None:
    show(f"\npromises, {world}: shares of 1000 runs (nominal {DELTA}; broken {2 * DELTA} if optimistic)")
    for name, policy in POLICIES.items():
        for noise in NOISES:
            found = check_promises(WORLDS[world](noise), policy, runs=1000, seed=202, max_pulls=200_000)
            show(
                f"  {name:15} {noise:11} pulls {found.pulls.mean():8.0f}  certified {found.stopped.mean():.3f}  "
                f"unsafe runs {(found.unsafe_pulls > 0).mean():.4f}  broken {found.broken_promise.mean():.4f}  "
                f"wrong by (b) {found.wrong.mean():.4f}"
            )


@pytest.mark.certify
def test_certify_understated_confidence_is_visible(show: Any) -> None:
    """Delta = 0.5: the promise is loose enough for failures to be seen, and is still kept."""
    world = sf.worlds.limited()
    problem = world.default_problem().with_(delta=0.5, delta_safety=0.5)
    for name, policy in POLICIES.items():
        found = sf.simulate(world, problem, policy, runs=4000, seed=7)
        unsafe, broken = (found.unsafe_pulls > 0).sum(), found.broken_promise.sum()
        show(f"  delta 0.5, limited, {name:15} unsafe runs {unsafe / 4000:.4f}  broken {broken / 4000:.4f}")
        stated = policy.guarantee(problem)
        if stated.keeps_limits:
            assert lower_bound(unsafe, 4000) <= 0.5
        assert lower_bound(broken, 4000) <= 1.0 - stated.confidence


def test_rates_of_this_file_use_the_same_bounds_as_the_summary() -> None:
    from surefoot.results import exact_interval

    for events in (0, 1, 7, 60):
        two_sided = binomtest(events, 60).proportion_ci(0.9, method="exact")
        assert np.allclose(exact_interval(events, 60, 0.9)[1:], [two_sided.low, two_sided.high])
