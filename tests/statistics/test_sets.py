"""The smaller confidence sets (C1)-(C6): every bound that a decision rests on, held against the truth in every round.

The pulls are chosen by the policy that uses the bounds, so this is coverage under adaptive sampling. A rate passes when
its exact lower bound does not exceed what the set may spend.
"""

from typing import Any

import numpy as np
import pytest
from escapes import LEAD, LEAD_OF_BEST, LOWER, UPPER, UPPER_AT_BEST, broken_bounds
from test_promises import DELTA, NOISES, WORLDS, at_nominal, lower_bound, one_arm

import surefoot as sf
from surefoot.policies.safe_gap import OPTIMISTIC_LEVELS

RADII: dict[str, Any] = {
    "squared-sum": sf.SafeLinGapE(
        selection="optimistic", null_pull=True, reward_radius="squared-sum", safety_radius="squared-sum"
    ),
    "bias-free": sf.SafeLinGapE(
        selection="optimistic", null_pull=True, reward_radius="bias-free", safety_radius="bias-free"
    ),
    "own pulls": sf.SafeLinGapE(
        selection="optimistic", null_pull=True, reward_radius="bias-free", safety_radius="own-pulls"
    ),
}


def check_radius(world: sf.worlds.Linear, policy: Any, runs: int, rounds: int, seed: int) -> Any:
    """One safety set serves both sides and all arms, and one reward set all leads."""
    found = broken_bounds(world, at_nominal(world), policy, runs=runs, rounds=rounds, seed=seed)
    assert lower_bound(found[:, [LOWER, UPPER]].any(axis=1).sum(), runs) <= DELTA
    assert lower_bound(found[:, LEAD].sum(), runs) <= DELTA
    return found


def check_safe_gap(
    world: sf.worlds.Linear, problem: sf.Problem, runs: int, rounds: int, seed: int, policy: Any = None
) -> Any:
    """Each part may spend what the split of delta and delta_safety gives it."""
    found = broken_bounds(world, problem, policy or sf.SafeGap(), runs=runs, rounds=rounds, seed=seed)
    assert lower_bound(found[:, LOWER].sum(), runs) <= problem.delta_safety
    assert lower_bound(found[:, UPPER_AT_BEST].sum(), runs) <= problem.delta * OPTIMISTIC_LEVELS
    assert lower_bound(found[:, LEAD_OF_BEST].sum(), runs) <= problem.delta * (1.0 - OPTIMISTIC_LEVELS)
    return found


@pytest.mark.parametrize("radius", RADII)
@pytest.mark.parametrize("world", WORLDS)
def test_bounds_of_the_smaller_radii_hold(world: str, radius: str) -> None:
    for index, noise in enumerate(NOISES):
        check_radius(WORLDS[world](noise), RADII[radius], runs=60, rounds=300, seed=51 + index)


@pytest.mark.parametrize("world", WORLDS)
def test_bounds_of_safe_gap_hold(world: str) -> None:
    for index, noise in enumerate(NOISES):
        built = WORLDS[world](noise)
        check_safe_gap(built, at_nominal(built), runs=150, rounds=600, seed=61 + index)


@pytest.mark.parametrize("opening", ["late", "at-once"])
def test_lower_ends_hold_at_many_arms_whatever_is_opened_when(opening: str) -> None:
    """Which arms get an aim, and with which share of the error, follows from the data that it then judges.      (C5)"""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((40, 3))
    X *= rng.uniform(0.5, 1.0, (40, 1)) / np.linalg.norm(X, axis=1)[:, None]
    world = sf.worlds.Linear(
        X, theta_star=[1.0, 0.6, -0.2], mu_star=[[-0.9, -0.2, 0.4]], noise=0.3, safety_noise=[0.3], limit=[-0.3],
    )  # fmt: skip
    problem = world.problem(epsilon=0.05, delta=0.2, delta_safety=0.2, safe_level=0.2)
    check_safe_gap(world, problem, runs=200, rounds=600, seed=71, policy=sf.SafeGap(opening=opening))


@pytest.mark.parametrize("noise", NOISES)
def test_the_tightest_aims_hold(noise: str) -> None:
    """One arm, no other to union over: failures do occur, and stay within what is allowed."""
    world, problem = one_arm(noise, 1.0)
    found = check_safe_gap(world, problem, runs=3000, rounds=1000, seed=7)
    assert found[:, LOWER].any()


def test_the_measurement_notices_safety_noise_that_is_understated() -> None:
    world, problem = one_arm("gaussian", 1.0)
    limit = problem.safety[0]
    understated = problem.with_(safety=[sf.Limit(limit.name, at_least=-1.0, noise=0.4, norm=limit.norm)])
    found = broken_bounds(world, understated, sf.SafeGap(), runs=300, rounds=1000, seed=8)
    assert lower_bound(found[:, LOWER].sum(), 300) > 2 * DELTA


@pytest.mark.parametrize("radius", RADII)
def test_smaller_radii_need_fewer_pulls_than_the_papers(radius: str) -> None:
    world = sf.worlds.hard()
    paper = sf.simulate(world, at_nominal(world), sf.SafeLinGapE(selection="optimistic", null_pull=True), runs=40)
    found = sf.simulate(world, at_nominal(world), RADII[radius], runs=40)
    assert found.stopped.all()
    assert found.pulls.mean() < 0.8 * paper.pulls.mean()


@pytest.mark.certify
@pytest.mark.parametrize("world", WORLDS)
def test_certify_sets(world: str, show: Any) -> None:
    show(f"\nbounds, {world}: share of 2000 runs of up to 2000 rounds in which one was ever false (delta {DELTA})")
    for noise in NOISES:
        built = WORLDS[world](noise)
        found = check_safe_gap(built, at_nominal(built), runs=2000, rounds=2000, seed=301)
        low, high, lead = found[:, [LOWER, UPPER_AT_BEST, LEAD_OF_BEST]].mean(axis=0)
        show(f"  SafeGap     {noise:11} lower {low:.4f}  upper at the best {high:.4f}  lead of the best {lead:.4f}")
        for name, policy in RADII.items():
            found = check_radius(built, policy, runs=500, rounds=2000, seed=302)
            safety = found[:, [LOWER, UPPER]].any(axis=1).mean()
            show(f"  {name:11} {noise:11} safety {safety:.4f}  leads {found[:, LEAD].mean():.4f}")


@pytest.mark.certify
@pytest.mark.parametrize("world", WORLDS)
def test_certify_safe_gap(world: str, show: Any) -> None:
    """20,000 runs at 0.05: exact upper bounds on wrong answers and unsafe runs, none above nominal."""
    built = WORLDS[world]("gaussian")
    found = sf.simulate(built, at_nominal(built), sf.SafeGap(), runs=20_000, seed=401).summary(confidence=0.98)
    show(
        f"\nSafeGap, {world}, 20,000 runs at {DELTA}: {found['pulls_mean']:.0f} pulls, "
        f"wrong {found['wrong_runs']} (99 % upper bound {found['wrong_upper']:.5f}), "
        f"unsafe runs {found['unsafe_runs']} (99 % upper bound {found['unsafe_upper']:.5f})"
    )
    assert found["certified_runs"] + found["contradiction_runs"] == 20_000
    assert found["wrong_upper"] <= DELTA
    assert found["unsafe_upper"] <= DELTA


@pytest.mark.certify
def test_certify_safe_gap_on_the_papers_instance(show: Any) -> None:
    """100,000 runs at 0.001: the exact 99 % upper bounds do not exceed the promise."""
    world = sf.worlds.hard()
    found = sf.simulate(world, world.paper_problem(), sf.SafeGap(), runs=100_000, seed=77).summary(confidence=0.98)
    show(
        f"\nSafeGap, paper's instance, 100,000 runs at 0.001: {found['pulls_mean']:.1f} pulls, "
        f"wrong {found['wrong_runs']} (99 % upper bound {found['wrong_upper']:.6f}), "
        f"unsafe runs {found['unsafe_runs']} (99 % upper bound {found['unsafe_upper']:.6f})"
    )
    assert found["wrong_upper"] <= 0.001
    assert found["unsafe_upper"] <= 0.001


def test_the_papers_instance_takes_few_pulls() -> None:
    """Nobody's timing: a count. The general prototype took 2,400; SafeGap takes about 1,930 on average."""
    world = sf.worlds.hard()
    found = sf.simulate(world, world.paper_problem(), sf.SafeGap(), runs=1000, seed=9)
    assert found.stopped.all()
    assert not found.wrong.any()
    assert found.pulls.mean() + 3.0 * found.pulls.std() / np.sqrt(1000) < 2_400
