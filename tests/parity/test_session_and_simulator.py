"""A live session takes exactly the pulls of run 0 of a simulation with the same seed."""

from typing import Any

import numpy as np
import pytest
from diary import live, scenes

import surefoot as sf

LONG = 3000

WORLDS = {
    "hard": (sf.worlds.hard(), sf.SafeLinGapE(explore=sf.UniformRandom(800))),
    "hard, by default": (sf.worlds.hard(), sf.SafeGap()),
    "limited, by default": (sf.worlds.limited(), sf.SafeGap()),
    "hard, no limits": (sf.worlds.hard(), sf.LinGapE(explore=sf.UniformRandom(100, level=0.2))),
    "limited": (sf.worlds.limited(), sf.SafeLinGapE(selection="optimistic", levels="dynamic-max")),
    "sphere": (sf.worlds.sphere(), sf.SafeLinGapE(pull="rounding", selection="optimistic", null_pull=True)),
    "base-station": (sf.worlds.base_station(), sf.Uniform(explore=sf.UntilConfident(rounds=500))),
    "doses": (
        sf.worlds.doses(distribution="rademacher"),
        sf.SafeLinGapE(selection="optimistic", explore=sf.EOptimal(99)),
    ),
}


def compare(world: Any, problem: sf.Problem, policy: Any, rounds: int, seed: int) -> dict[str, Any]:
    """Every number of the two, bit for bit."""
    ours = live(world, problem, policy, rounds, seed)
    runs = sf.simulate(world, problem, policy, runs=3, seed=seed, max_pulls=rounds)
    assert runs.pulls[0] == len(ours["pulls"])
    assert runs.outcomes[0] == ours["outcome"]
    assert runs.pulls_per_arm[0].tolist() == ours["pulls_per_arm"]
    assert runs.levels[0].tolist() == ours["levels"]
    assert (runs.arm[0], runs.level[0]) == (ours["arm"], ours["level"])
    if ours["gap"] is not None:
        assert runs.gap[0] == ours["gap"]
    unsafe = [n for n, pull in enumerate(ours["pulls"], 1) if not world.is_safe(pull[0], pull[1])]
    assert runs.unsafe_pulls[0] == len(unsafe)
    assert runs.first_unsafe[0] == (unsafe[0] if unsafe else 0)
    return ours


@pytest.mark.parametrize("name", WORLDS)
def test_session_and_simulator_take_the_same_pulls(name: str) -> None:
    world, policy = WORLDS[name]
    if any(limit.baseline for limit in world.default_problem().safety):
        problem = world.problem(
            epsilon=4.0, delta=0.05, delta_safety=0.05, safe_level=0.2
        )  # readings lose a last digit
    else:
        problem = world.default_problem()
    found = compare(world, problem, policy, LONG, seed=23)
    assert len(found["pulls"]) > 100


@pytest.mark.parametrize("scene", scenes(), ids=lambda scene: scene[0])
@pytest.mark.filterwarnings("ignore::surefoot.errors.NeverStopsWarning")
def test_session_and_simulator_agree_on_several_signals_and_dials(scene: Any) -> None:
    _, world, problem, policy = scene
    compare(world, problem, policy, 400, seed=2**61 + 12345)


def test_the_readings_of_limits_with_a_baseline_lead_to_the_same_pulls() -> None:
    world = sf.worlds.base_station()
    problem = world.default_problem()
    ours = live(world, problem, sf.SafeLinGapE(), 300, seed=4)
    runs = sf.simulate(world, problem, sf.SafeLinGapE(), runs=1, seed=4, max_pulls=300)
    assert runs.pulls_per_arm[0].tolist() == ours["pulls_per_arm"]
    np.testing.assert_allclose(runs.levels[0], ours["levels"], rtol=1e-9)
