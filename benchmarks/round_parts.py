"""Where the time of a round goes: each step of Safe-LinGapE's round by itself, on the paper's instance or on many arms.

python benchmarks/round_parts.py [--arms 10000x16]

Every step is compiled into a loop of its own and repeated on the state in the middle of a run; best of several, in
nanoseconds, one thread. Their sum is more than a round: alone, a step cannot overlap with the next one.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from many_arms import world_of
from rich.console import Console
from rich.table import Table

import surefoot as sf
from surefoot.core.compiler import compiled
from surefoot.core.estimate import update
from surefoot.core.kernel import kernel
from surefoot.core.layout import side_by_side
from surefoot.core.levels import DYNAMIC, certify, reachable
from surefoot.core.logarithm import log1p
from surefoot.core.parts import bound_leads, bound_safety, decide
from surefoot.core.pulls import greedy
from surefoot.core.race import find_leader, find_race
from surefoot.core.random import normal
from surefoot.core.records import new_records
from surefoot.live.model_checks import simulated_watch
from surefoot.policies.bound import faced, play_of, played_parts
from surefoot.worlds.response import respond

REPEATS, ROUNDS, PAST = 9, 3000, 400  # rounds of a small problem, and those of many arms before the clock starts


@kernel
def noise(inst: Any, rules: Any, truth: Any, room: Any, state: Any, work: Any, times: int) -> float:
    """Reward and safety signal of a pull: Philox and the inverse of the normal distribution."""
    for t in range(times):
        respond(truth, room, 1, 0, t + 1, 1, 0.5, work.observed)
    return work.observed[0]  # type: ignore[no-any-return]


@kernel
def quantile(inst: Any, rules: Any, truth: Any, room: Any, state: Any, work: Any, times: int) -> float:
    """Of that, the inverse of the normal distribution alone, at numbers that nobody can foresee."""
    total = 0.0
    for t in range(times):
        u, v = 0.6180339887498949 * t, 0.7548776662466927 * t
        total += normal(u - int(u) + 1e-12) + normal(v - int(v) + 1e-12)
    return total


@kernel
def learning(inst: Any, rules: Any, truth: Any, room: Any, state: Any, work: Any, times: int) -> float:
    """Estimates, widths, columns and determinant after a pull, at so low a level that nothing drifts."""
    for t in range(times):
        update(inst, state.estimate, work.scratch, t & 3, 1e-9, work.observed)
    return state.estimate.v[0, 0]  # type: ignore[no-any-return]


@kernel
def determinant(inst: Any, rules: Any, truth: Any, room: Any, state: Any, work: Any, times: int) -> float:
    """Of that, the logarithm alone."""
    total = 0.0
    for t in range(times):
        total += log1p(1e-9 * t)
    return total


@kernel
def safety(inst: Any, rules: Any, truth: Any, room: Any, state: Any, work: Any, times: int) -> float:
    """Bounds of the safety signal."""
    for _ in range(times):
        bound_safety(inst, state, work)
    return work.bounds.lower[0, 0]  # type: ignore[no-any-return]


@kernel
def levels(inst: Any, rules: Any, truth: Any, room: Any, state: Any, work: Any, times: int) -> float:
    """Certified levels."""
    for _ in range(times):
        certify(inst, state.levels, work.bounds, DYNAMIC, False)
    return state.levels.low[0]  # type: ignore[no-any-return]


@kernel
def leader(inst: Any, rules: Any, truth: Any, room: Any, state: Any, work: Any, times: int) -> float:
    """Who leads."""
    total = 0.0
    for _ in range(times):
        total += find_leader(state, work, False)[1]
    return total


@kernel
def leads(inst: Any, rules: Any, truth: Any, room: Any, state: Any, work: Any, times: int) -> float:
    """By how much each might beat the leader, and who by most."""
    total = 0.0
    for t in range(times):
        bound_leads(inst, state, work, t & 3, 0.5, False)
        total += find_race(state, work, t & 3, 0.5, False, False).gap
    return total


@kernel
def choice(inst: Any, rules: Any, truth: Any, room: Any, state: Any, work: Any, times: int) -> float:
    """The pull that teaches most."""
    total = 0.0
    for t in range(times):
        reachable(inst.dial, state.levels, work.reach)
        total += greedy(inst, state, work, 0, t & 3, 0.5, (t + 1) & 3, 0.5)
    return total


@kernel
def deciding(inst: Any, rules: Any, truth: Any, room: Any, state: Any, work: Any, times: int) -> float:
    """All of a decision together."""
    total = 0.0
    for _ in range(times):
        total += decide(inst, rules, state, work, 1, 0).gap
    return total


STEPS: dict[str, Callable[..., float]] = {
    "noise of two signals": noise, "  its quantiles": quantile, "learning": learning, "  its logarithm": determinant,
    "bounds of safety": safety, "levels": levels, "leader": leader, "leads and challenger": leads,
    "choice of the pull": choice, "deciding, together": deciding,
}  # fmt: skip


def main() -> None:
    """Times every step and a whole round."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arms", help="arms x features of random directions, such as 10000x16")
    size = parser.parse_args().arms
    if size is None:
        world: Any = sf.worlds.hard()
        problem, rounds, times = world.paper_problem(), ROUNDS, 100_000
    else:
        K, d = map(int, size.split("x"))
        (world, problem), rounds, times = world_of("random", K, d), PAST, max(20, 3_000_000 // K)
    policy = sf.SafeLinGapE()
    found, response = faced(policy, problem), world.response()
    watch = simulated_watch(problem, policy.guarantee(problem), None)
    play, parts = play_of(found, response, watch), played_parts(found, response, watch)
    inst, truth, room = side_by_side((found.inst, response.truth, response.room))[1]
    state, work, cancel, rules = found.new_state(), found.new_work(), np.zeros(1, np.int64), found.plan.rules

    def played(rounds: int) -> float:
        records, begin = new_records(1, len(inst.X)), time.process_time()
        play(inst, rules, truth, room, watch.new(), 1, 0, rounds, state, work, records, cancel)
        return (time.process_time() - begin) / int(records.pulls[0])

    table = Table("step", "ns", "ns an arm")

    def add(name: str, seconds: float) -> None:
        table.add_row(name, f"{1e9 * seconds:,.0f}", f"{1e9 * seconds / len(inst.X):.2f}")

    played(2)
    add("whole round", min(played(rounds) for _ in range(40 * REPEATS if size is None else 3)))
    for name, step in STEPS.items():
        played(rounds)
        run = compiled(step, parts, name)
        run(inst, rules, truth, room, state, work, 10)
        run, best = run.unchecked(), float("inf")
        for _ in range(REPEATS):
            begin = time.process_time()
            run(inst, rules, truth, room, state, work, times)
            best = min(best, time.process_time() - begin)
        add(name, best / times)
    Console().print(table)


if __name__ == "__main__":
    main()
