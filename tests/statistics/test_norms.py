"""Bounds and promises of SafeGap with norms that are stated wrongly, on random worlds, under adaptive sampling."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from escapes import LEAD_OF_BEST, LOWER, UPPER_AT_BEST, broken_bounds
from test_promises import WORLDS, at_nominal, lower_bound

import surefoot as sf
from surefoot.policies.safe_gap import OPTIMISTIC_LEVELS
from surefoot.worlds import Linear

DELTA = 0.2


def with_hints(problem: sf.Problem, factors: Any) -> sf.Problem:
    """The problem with the norms of reward and limits wrong by these factors."""
    reward, *limits = factors
    return problem.with_(
        reward=replace(problem.reward, norm=problem.reward.norm * reward),
        safety=[replace(limit, norm=limit.norm * factor) for limit, factor in zip(problem.safety, limits, strict=True)],
    )


def drawn(rng: np.random.Generator) -> tuple[Linear, sf.Problem]:
    """A world of any shape and noise, with known levels that are true and norms wrong by a factor of 0.1 to 10."""
    d = int(rng.integers(1, 6))
    K, m = int(rng.integers(d, 12)), int(rng.integers(1, 4))
    arms, limit = rng.standard_normal((K, d)) * np.exp(rng.normal(0.0, 0.3, d)), -np.exp(rng.uniform(-1.5, 0.0, m))
    world = Linear(
        arms, theta_star=rng.standard_normal(d), mu_star=rng.standard_normal((m, d)),
        noise=float(np.exp(rng.uniform(-2.0, 0.0))), safety_noise=np.exp(rng.uniform(-3.0, -0.5, m)).tolist(),
        limit=limit.tolist(), distribution=str(rng.choice(["gaussian", "uniform", "rademacher"])),
    )  # fmt: skip
    safety = world.safety_values
    highest = np.where(safety >= limit[:, None], 1.0, limit[:, None] / np.minimum(safety, -1e-300)).min(axis=0)
    best = max(0.0, float((highest * world.values).max()))
    problem = world.problem(
        epsilon=max(0.3 * best, 0.15) * float(rng.uniform(0.5, 1.5)), delta=DELTA, delta_safety=DELTA,
        safe_level=highest * rng.uniform(0.2, 1.0, K),
    )  # fmt: skip
    return world, with_hints(problem, 10.0 ** rng.uniform(-1.0, 1.0, 1 + m))


@pytest.mark.parametrize("factor", [0.1, 10.0])
@pytest.mark.parametrize("world", WORLDS)
def test_bounds_hold_whatever_norms_are_stated(world: str, factor: float) -> None:
    built = WORLDS[world]("gaussian")
    problem = at_nominal(built)
    problem = with_hints(problem, [factor] * (1 + len(problem.safety)))
    found = broken_bounds(built, problem, sf.SafeGap(), runs=150, rounds=600, seed=17)
    assert lower_bound(found[:, LOWER].sum(), 150) <= problem.delta_safety
    assert lower_bound(found[:, UPPER_AT_BEST].sum(), 150) <= problem.delta * OPTIMISTIC_LEVELS
    assert lower_bound(found[:, LEAD_OF_BEST].sum(), 150) <= problem.delta * (1.0 - OPTIMISTIC_LEVELS)


def check_random_worlds(worlds: int, runs: int, seed: int) -> tuple[Any, Any, int]:
    """Per world, the shares of wrong answers and of unsafe runs, and how many contradictions there were."""
    rng, shares, contradictions = np.random.default_rng(seed), [], 0
    for index in range(worlds):
        world, problem = drawn(rng)
        found = sf.simulate(world, problem, runs=runs, seed=index, max_pulls=100_000).summary()
        assert not found["breakdown_runs"]
        for events in (found["wrong_runs"], found["unsafe_runs"]):
            assert lower_bound(events, runs) <= DELTA
        shares.append((found["wrong_runs"] / runs, found["unsafe_runs"] / runs))
        contradictions += found["contradiction_runs"]
    assert lower_bound(contradictions, worlds * runs) <= 1.1 * DELTA
    wrong, unsafe = np.array(shares).T
    return wrong, unsafe, contradictions


def test_promises_hold_on_random_worlds_with_wrong_norms() -> None:
    check_random_worlds(worlds=12, runs=150, seed=1)


@pytest.mark.certify
def test_certify_norms(show: Any) -> None:
    wrong, unsafe, contradictions = check_random_worlds(worlds=150, runs=1000, seed=11)
    show(
        f"\nSafeGap, norms wrong by 0.1 to 10, 150 random worlds of 1,000 runs at {DELTA}: wrong {wrong.mean():.2%} "
        f"(worst world {wrong.max():.1%}), unsafe {unsafe.mean():.2%} (worst world {unsafe.max():.1%}), contradictions "
        f"{contradictions / 150_000:.3%}"
    )
