"""Trials to go: an extrapolation that says so, right where the course is simple, silent where nothing can be said."""

import numpy as np
import pytest

import surefoot as sf
from surefoot.live.outlook import FEWEST, SPREAD, trials_to_go


def course(rounds: int, power: float, start: float = 10.0) -> np.ndarray:
    """A gap that falls like a power of the round; there is none before the third."""
    t = np.arange(rounds + 1, dtype=float)
    gap = start * np.maximum(t, 1.0) ** -power
    gap[:3] = np.nan
    return gap


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_a_power_of_the_round_is_followed_to_its_end(power: float) -> None:
    gap = course(400, power)
    epsilon = float(gap[-1]) / 2
    end = (10.0 / epsilon) ** (1.0 / power)
    found = trials_to_go(gap, epsilon)
    assert found is not None
    assert found.about == pytest.approx(end - 400, rel=0.01, abs=1)
    assert found.low == pytest.approx(found.about / SPREAD, abs=1)
    assert found.high == pytest.approx(found.about * SPREAD, abs=1)
    assert "no promise" in str(found)


@pytest.mark.parametrize(
    "gap",
    [
        course(FEWEST // 2, 1.0), np.full(200, np.nan), np.full(200, 3.0), course(200, -0.5), np.array([]),
        np.array([np.nan]), course(400, 0.11),
    ],
    ids=["few rounds", "exploring", "not falling", "rising", "nothing", "round 0", "too far away"],
)  # fmt: skip
def test_where_nothing_can_be_said_nothing_is(gap: np.ndarray) -> None:
    assert trials_to_go(gap, 1e-6) is None


def test_at_the_end_there_is_nothing_to_go() -> None:
    gap = course(300, 1.0)
    assert trials_to_go(gap, float(gap[-1])) is None


def test_the_range_holds_most_of_what_comes() -> None:
    """In half-way looks at runs of two worlds the truth lies in the range far more often than not."""
    inside, said, looks = 0, 0, 0
    for world in (sf.worlds.limited(), sf.worlds.base_station()):
        problem = world.default_problem()
        runs = sf.simulate(world, problem, runs=30, seed=11, keep="traces")
        for i in range(len(runs)):
            trace = runs.traces.trace(i, arms=[])  # type: ignore[union-attr]
            half = len(trace) // 2
            found, looks = trials_to_go(trace.gap[: half + 1], problem.epsilon), looks + 1
            if found is not None:
                said += 1
                inside += found.low <= len(trace) - half <= found.high
    assert said >= 0.9 * looks
    assert inside >= 0.7 * said
