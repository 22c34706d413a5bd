"""From names to a comparison: cells for whoever can face what, one sweep, and what the runs say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from surefoot.comparing.asking import (
    POLICIES,
    WORLDS,
    Arena,
    Contender,
    arenas_in,
    at_delta,
    contenders_in,
    deltas_in,
    refusal,
)
from surefoot.comparing.comparison import Comparison
from surefoot.comparing.matching import OURS, check_radius
from surefoot.comparing.rows import NOTHING, Row, row_of
from surefoot.comparing.timing import Clock
from surefoot.comparing.yardsticks import NONE, Yardsticks, needed_with_limits, yardsticks_of
from surefoot.files import as_path
from surefoot.problem import Problem
from surefoot.problem.checks import check_count, check_seed, number
from surefoot.results import Runs
from surefoot.sweeping import Cell, Plan, Sweep, sweep
from surefoot.sweeping.cells import MAX_PULLS
from surefoot.sweeping.engines import THREADS, check_engine
from surefoot.sweeping.work import Watch

RUNS, DELTAS = 40, (0.1, 0.01, 0.001)


class Match(NamedTuple):
    """A policy before a problem: a cell, or why there is none."""

    arena: Arena
    contender: Contender
    problem: Problem
    cell: Cell | None
    refused: str | None


def compare(
    policies: object = POLICIES,
    worlds: object = WORLDS,
    *,
    delta: object = DELTAS,
    delta_safety: float | None = None,
    epsilon: float | None = None,
    radius: str = OURS,
    runs: int = RUNS,
    seed: int = 0,
    max_pulls: int = MAX_PULLS,
    out: str | Path | None = None,
    engine: str = THREADS,
    workers: int | None = None,
    scheduler: Any = None,
    confidence: float = 0.95,
    bounds: bool = True,
    progress: bool = False,
    watch: Watch | None = None,
) -> Comparison:
    """Policies x worlds x deltas on the same noise, pull for pull: pulls, wrong, unsafe, seconds, with intervals.

    policies      names, tables such as {"name": "frank-wolfe", "stop": "own"}, or objects; differences of pulls are to
                  the first of them
    worlds        names, tables such as {"name": "hard", "dim": [3, 6], "epsilon": 0}, objects, {"file": "problem.toml"}
    delta         one or several: the same for all; `delta_safety` is the same as delta if nobody says
    epsilon       in place of each world's own
    radius        which confidence sets all have that can: "ours" (SafeGap's, or the nearest there is), "own" (each as
                  it comes), or a radius by name. An option that is given stays, and so does an object
    out           a folder in which runs are kept, and from which the same call continues; without it nothing is kept
    engine, workers, scheduler, watch   as for `sweep`
    bounds        whether lower bounds and the oracle's shares are computed

    A policy that refuses a problem is a row with the reason. Seconds are of one core, measured after the runs.
    """
    check_radius(radius)
    check_engine(engine, workers, scheduler)
    level = number("confidence", confidence, "For example 0.95.", above=0.0, below=1.0)
    check_count("runs", runs)
    check_count("max_pulls", max_pulls)
    check_seed(seed)
    deltas = deltas_in(delta)
    of_limits = None if delta_safety is None else deltas_in(delta_safety, "delta_safety")[0]
    contenders = contenders_in(policies, radius)
    arenas = arenas_in(worlds, {} if epsilon is None else {"epsilon": epsilon})
    met = list(matches(arenas, contenders, deltas, of_limits, max_pulls))
    cells = tuple(match.cell for match in met if match.cell is not None)
    found: list[Row] = []
    if not cells:
        found = [refused(match) for match in met]
    else:
        with kept(out) as folder:
            plan = Plan(cells, runs, seed)
            done = sweep(
                plan, out=folder, engine=engine, workers=workers, scheduler=scheduler, confidence=level,
                progress=progress, watch=watch,
            )  # fmt: skip
            found = list(rows_of(met, done, Clock(folder), bounds))
    return Comparison(tuple(found), tuple(deltas), radius, runs, seed, max_pulls, level)


@contextmanager
def kept(out: str | Path | None) -> Iterator[Path]:
    """The folder of the runs; one that nobody named is gone at the end."""
    with TemporaryDirectory() if out is None else nullcontext(out) as folder:
        yield as_path("out", folder)


def matches(
    arenas: Sequence[Arena], contenders: Sequence[Contender], deltas: Sequence[float], delta_safety: float | None,
    max_pulls: int,
) -> Iterator[Match]:  # fmt: skip
    """Everybody before everything, world by world and delta by delta."""
    for arena in arenas:
        for delta in deltas:
            problem = at_delta(arena.problem, delta, delta_safety)
            for contender in contenders:
                reason = refusal(contender.policy, problem)
                settings = {"world": arena.label, "policy": contender.label, "delta": delta}
                cell = Cell(arena.world, problem, contender.policy, max_pulls, settings=settings)
                yield Match(arena, contender, problem, None if reason else cell, reason)


def rows_of(met: Sequence[Match], done: Sweep, clock: Clock, bounds: bool) -> Iterator[Row]:
    """What became of every match; the first policy that played is what others are held against."""
    first: dict[tuple[str, float], Runs] = {}
    sticks = Sticks(met) if bounds else None
    for match in met:
        if match.cell is None:
            yield refused(match)
            continue
        runs, place = done.runs(match.cell), (match.arena.label, match.problem.delta)
        pace = clock.pace(match.cell, done.plan.runs, done.plan.seed, done.confidence)
        keeps = match.contender.policy.guarantee(match.problem).keeps_limits
        bound = None if sticks is None else sticks.of(match).of(keeps)
        yield row_of(match.arena, match.contender, runs, first.get(place), pace, bound, done.confidence)
        first.setdefault(place, runs)


def refused(match: Match) -> Row:
    """The row of a policy that does not face the problem."""
    return Row(match.arena, match.contender, match.problem, match.refused, difference=NOTHING)


class Sticks:
    """The bounds of each problem, computed once, and only for those who are there to be held against them."""

    def __init__(self, met: Sequence[Match]) -> None:
        self._kinds: dict[str, set[bool]] = {}
        for match in met:
            if match.cell is not None:
                keeps = match.contender.policy.guarantee(match.problem).keeps_limits
                self._kinds.setdefault(match.arena.label, set()).add(keeps)
        self._known: dict[tuple[str, float], Yardsticks] = {}

    def of(self, match: Match) -> Yardsticks:
        """The bounds of the problem."""
        label, needed = match.arena.label, needed_with_limits(match.problem)
        place = (label, needed.unsafe / needed.worse if needed.worse else 0.0)
        if place not in self._known:
            kinds = self._kinds.get(label, set())
            asked = {"safe": True in kinds, "free": False in kinds}
            self._known[place] = yardsticks_of(match.arena.world, match.problem, **asked) if kinds else NONE
        return self._known[place].at(match.problem)
