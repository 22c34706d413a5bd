"""The four figures of the paper: which settings, and what is drawn from their runs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from surefoot.problem.checks import Floats
from surefoot.reproduction import paper
from surefoot.reproduction.cells import Cell, exploration_alone, lingape_cell, safe_cell
from surefoot.results import Runs, exact_interval, mean_interval


class Grid(NamedTuple):
    """The values of a swept parameter."""

    full: tuple[float, ...]
    quick: tuple[float, ...]

    def values(self, quick: bool) -> tuple[float, ...]:
        """The values to use."""
        return self.quick if quick else self.full


LENGTHS = Grid((50, 75, 100, 150, 200, 300, 500, 750, 1000, 1500, 2000, 3000, 5000), (50, 200, 1000))  # per arm
LIMITS = Grid(  # above -0.2 the known level 0.2 would not be safe
    (-1.2, -1.1, -1.0, -0.9, -0.8, -0.7, -0.6, -0.5, -0.4, -0.3, -0.25, -0.2), (-1.0, -0.5, -0.3)
)
DIMS = Grid((2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 18, 20), (2, 3, 6, 10))

STATIC, DYNAMIC = "static", "dynamic"
UNLIMITED, UNLIMITED_EXPLORED = "LinGapE", "LinGapE, exploration at 0.2 counted"
SAFE = {(selection, levels): f"{selection}, {levels}" for selection in ("conservative", "optimistic")
        for levels in (STATIC, DYNAMIC)}  # fmt: skip

Played = Mapping[Cell, Runs]


class Point(NamedTuple):
    """One value of a curve: an estimate, its 95 % interval, and the range of nine single runs in ten."""

    x: float
    estimate: float
    lower: float
    upper: float
    run_low: float
    run_high: float


@dataclass(frozen=True)
class Curve:
    """A named line over the swept parameter."""

    name: str
    points: tuple[Point, ...]

    def column(self, field: str) -> Floats:
        """One field of every point."""
        return np.array([getattr(point, field) for point in self.points])


Cells = dict[str, dict[float, Cell]]  # curve -> swept value -> cell


def exploration_cells(quick: bool = False) -> Cells:
    """Figure a: levels when exploration ends (static) and when the run ends (dynamic), by length of exploration."""
    lengths = [int(length) for length in LENGTHS.values(quick)]
    return {
        STATIC: {n: exploration_alone(safe_cell(STATIC, "conservative", per_arm=n)) for n in lengths},
        DYNAMIC: {n: safe_cell(DYNAMIC, "conservative", per_arm=n) for n in lengths},
    }


def limit_cells(quick: bool = False) -> Cells:
    """Figure b: the same levels by eta0."""
    limits = LIMITS.values(quick)
    return {
        STATIC: {eta0: exploration_alone(safe_cell(STATIC, "conservative", limit=eta0)) for eta0 in limits},
        DYNAMIC: {eta0: safe_cell(DYNAMIC, "conservative", limit=eta0) for eta0 in limits},
    }


def dimension_cells(quick: bool = False) -> Cells:
    """Figures c and d: whole runs by dimension, 200 rounds of exploration per arm."""
    dims = [int(dim) for dim in DIMS.values(quick)]
    cells: Cells = {UNLIMITED: {d: lingape_cell(None, dim=d) for d in dims}}
    for (selection, levels), name in SAFE.items():
        cells[name] = {d: safe_cell(levels, selection, dim=d) for d in dims}
    return cells


def violation_cells(quick: bool = False) -> Cells:
    """Figure d: as figure c, and LinGapE with the exploration of Safe-LinGapE before it."""
    dims = [int(dim) for dim in DIMS.values(quick)]
    return {
        **dimension_cells(quick),
        UNLIMITED_EXPLORED: {d: lingape_cell(paper.EXPLORED_AT, dim=d) for d in dims},
    }


Quantity = Callable[[float, Runs], Point]


def curve(name: str, cells: Mapping[float, Cell], played: Played, quantity: Quantity) -> Curve:
    """The curve of one quantity over the swept values."""
    return Curve(name, tuple(quantity(x, played[cell]) for x, cell in cells.items()))


def average(values: Floats, x: float) -> Point:
    """The mean with Student's interval."""
    if len(values) == 0:
        return Point(x, *[float("nan")] * 5)
    mean, lower, upper = mean_interval(values)
    low, high = np.quantile(values, (0.05, 0.95))
    known = float(values.mean() if mean is None else mean)
    return Point(x, known, known if lower is None else lower, known if upper is None else upper, low, high)


def share(flags: Floats, x: float) -> Point:
    """The share of runs with its exact interval."""
    rate = exact_interval(int(flags.sum()), len(flags))
    return Point(x, rate.estimate, rate.lower, rate.upper, rate.lower, rate.upper)


def level_of(arm: int) -> Quantity:
    """The certified level of one arm at the end."""
    return lambda x, runs: average(runs.levels[:, arm], x)


def pulls_to_stop(x: float, runs: Runs) -> Point:
    """Pulls until the end, exploration included; nothing where some runs never ended, since their length is unknown."""
    return average(runs.pulls.astype(np.float64) if runs.stopped.all() else np.zeros(0), x)


def wrong_answers(x: float, runs: Runs) -> Point:
    """The share of runs whose answer breaks (b)."""
    return share(runs.wrong.astype(np.float64), x)


def no_answer(x: float, runs: Runs) -> Point:
    """The share of runs that were cut off without an answer."""
    return share((~runs.stopped).astype(np.float64), x)


def violations(x: float, runs: Runs) -> Point:
    """The share of unsafe pulls, averaged over runs."""
    return average(runs.unsafe_pulls / runs.pulls, x)


def unsafe_runs(name: str, cells: Mapping[float, Cell], played: Played) -> Curve:
    """The share of runs with an unsafe pull over all swept values at once: one point, at the number of runs."""
    flags = np.concatenate([(played[cell].unsafe_pulls > 0).astype(np.float64) for cell in cells.values()])
    return Curve(name, (share(flags, len(flags)),))
