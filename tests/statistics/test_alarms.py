"""False alarms at a level of 0.5, where a bet that is too eager would show: worlds, noises, policies and delays."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

import surefoot as sf
from surefoot.live.model_checks import ModelChecks

LEVEL = 0.5
NOISES = ("gaussian", "uniform", "rademacher")
WORLDS = ("hard", "limited", "doses", "sphere", "base_station")
POLICIES: dict[str, Any] = {
    "safe-gap": None,
    "exploring": sf.SafeLinGapE(selection="optimistic", null_pull=True, explore=sf.RoundRobin(100)),
    "uniform": sf.Uniform(selection="optimistic"),
    "lingape": sf.LinGapE(),
}


def false_alarms(world: str, noise: str, policy: str, runs: int, max_pulls: int) -> int:
    made = getattr(sf.worlds, world)(distribution=noise)
    found = sf.simulate(
        made, made.default_problem(), POLICIES[policy], runs=runs, seed=20_269, max_pulls=max_pulls, alarm=LEVEL
    )  # fmt: skip
    return int(found.summary()["alarm_runs"])


def hold(false: int, runs: int) -> None:
    assert binomtest(false, runs, LEVEL, alternative="greater").pvalue > 1e-3


@pytest.mark.parametrize("noise", NOISES)
def test_false_alarms_stay_within_the_level(noise: str) -> None:
    hold(false_alarms("limited", noise, "safe-gap", 300, 1000), 300)


def delayed(noise: str, runs: int, delay: int) -> int:
    """False alarms where so many pulls are always open, and results are taken in by number."""
    world = sf.worlds.limited(distribution=noise)
    problem, false = world.default_problem(), 0
    for run in range(runs):
        session = sf.Session(problem, seed=run, max_pulls=200, alarm_level=None)
        rows: list[tuple[int, float, list[float]]] = []
        waiting = session.ask(delay)
        while waiting:
            pull = waiting.pop(0)
            result = world.measure(pull, seed=run, problem=problem)
            session.tell(pull, **result)
            safety = [limit.internal(x) for limit, x in zip(problem.safety, result["safety"], strict=True)]
            rows.append((pull.arm, pull.level, [result["reward"], *safety]))
            if not session.stopped and len(rows) + len(waiting) < 200:
                waiting += session.ask(1)
            if session.stopped:
                break
        arms, levels, observed = zip(*rows, strict=True)
        tests = ModelChecks(problem, session.guarantee, LEVEL)
        false += bool(tests.take_all(arms, levels, np.array(observed), [True] * len(rows)))
    return false


def test_false_alarms_stay_within_the_level_when_results_come_late() -> None:
    hold(delayed("gaussian", 20, 8), 20)


@pytest.mark.certify
def test_false_alarms_in_every_world_with_every_noise_and_policy(show: Callable[[str], None]) -> None:
    runs, total = 500, 0
    show(f"\nfalse alarms at level {LEVEL:g} in {runs} runs of at most 3,000 pulls")
    for world in WORLDS:
        for policy in POLICIES:
            found = [false_alarms(world, noise, policy, runs, 3000) for noise in NOISES]
            show(f"  {world:13} {policy:10} " + ", ".join(f"{n} {f}" for n, f in zip(NOISES, found, strict=True)))
            for false in found:
                hold(false, runs)
            total += runs * len(NOISES)
    late = [delayed(noise, 200, 8) for noise in NOISES]
    show("  limited, eight pulls open: " + ", ".join(f"{n} {f}" for n, f in zip(NOISES, late, strict=True)))
    for false in late:
        hold(false, 200)
    show(f"  {total:,} runs")
