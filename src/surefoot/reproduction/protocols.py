"""Table 1 under every reading of what the paper leaves open, and which readings fit both printed rows.

Open are the norm bound D, the radius for rewards and for safety, whether levels are frozen, the selection, whether
forced exploration counts in the stopping time, and whether and how LinGapE explores.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np

from surefoot.problem.checks import Floats
from surefoot.reproduction import paper
from surefoot.reproduction.cells import Cell, exploration_alone, lingape_cell, safe_cell
from surefoot.reproduction.resampling import Position, position
from surefoot.results import Interval, MeanInterval, Runs, exact_interval, mean_interval

NORMS = (1.0, 2.0)  # D
RADII = ("determinant", "norm")
EXPLORED_AT = (None, paper.EXPLORED_AT, 1.0)  # LinGapE's exploration
LEVELS = ("static", "dynamic")
SELECTIONS = ("conservative", "optimistic")
CONFIDENCES = (0.95, 0.99)

Played = Mapping[Cell, Runs]


@dataclass(frozen=True)
class Row:
    """What one algorithm does under one reading, beside what is printed."""

    cell: Cell
    counted: bool  # whether forced exploration counts
    runs: int
    undecided: int
    pulls: MeanInterval  # over the runs that stopped
    sd: float
    unsafe: MeanInterval  # share of unsafe pulls, averaged over runs
    unsafe_runs: Interval  # share of runs with an unsafe pull
    wrong: Interval  # share of runs whose answer breaks (b)
    pulls_position: Position
    unsafe_position: Position

    def fits(self, confidence: float) -> bool:
        """Whether both printed numbers of the row lie in the central part of the means of ten."""
        return self.pulls_position.within(confidence) and self.unsafe_position.within(confidence)


@dataclass(frozen=True)
class Protocol:
    """One reading for both algorithms: same D, reward radius and way of counting."""

    lingape: Row
    safe: Row

    def fits(self, confidence: float) -> bool:
        """Whether both printed rows fit."""
        return self.lingape.fits(confidence) and self.safe.fits(confidence)


def lingape_cells() -> list[Cell]:
    """LinGapE in every reading."""
    return [
        lingape_cell(at, reward_norm=norm, radius=radius) for norm, radius, at in product(NORMS, RADII, EXPLORED_AT)
    ]


def safe_cells() -> list[Cell]:
    """Safe-LinGapE in every reading."""
    return [
        safe_cell(levels, selection, reward_norm=norm, reward_radius=reward, safety_radius=safety)
        for norm, reward, safety, levels, selection in product(NORMS, RADII, RADII, LEVELS, SELECTIONS)
    ]


def table_cells() -> list[Cell]:
    """Every cell that Table 1 needs; with unsafe exploration also the exploration alone, to count it apart."""
    ours = lingape_cells()
    return [*ours, *(exploration_alone(cell) for cell in ours if explores_unsafely(cell)), *safe_cells()]


def explores_unsafely(cell: Cell) -> bool:
    """Whether the cell explores above the level that is known to be safe."""
    return cell.explored > 0 and cell.described()["explored_at"] > paper.EXPLORED_AT


def rows_of(cells: Iterable[Cell], printed: paper.Printed, played: Played) -> list[Row]:
    """A row for each cell and way of counting; a cell without exploration has one way only."""
    return [
        row_of(cell, counted, printed, played)
        for cell in cells
        for counted in ((True, False) if cell.explored else (True,))
    ]


def row_of(cell: Cell, counted: bool, printed: paper.Printed, played: Played) -> Row:
    """What the algorithm of this cell does, beside what is printed."""
    runs = played[cell]
    pulls, unsafe = runs.pulls.astype(np.float64), runs.unsafe_pulls.astype(np.float64)
    if not counted:
        pulls = pulls - cell.explored
        if explores_unsafely(cell):
            unsafe = unsafe - played[exploration_alone(cell)].unsafe_pulls
    shares = unsafe / np.maximum(pulls, 1.0)
    ended = runs.stopped
    return Row(
        cell=cell,
        counted=counted,
        runs=len(runs),
        undecided=int((~ended).sum()),
        pulls=mean_interval(pulls[ended]),
        sd=spread(pulls[ended]),
        unsafe=mean_interval(shares),
        unsafe_runs=exact_interval(int((unsafe > 0).sum()), len(runs)),
        wrong=exact_interval(int(runs.wrong.sum()), len(runs)),
        pulls_position=position(np.where(ended, pulls, np.inf), printed.pulls, paper.PULLS_UNIT),
        unsafe_position=position(shares, printed.unsafe, paper.SHARE_UNIT),
    )


def spread(values: Floats) -> float:
    """The standard deviation; not a number for fewer than two values."""
    return float(values.std(ddof=1)) if len(values) > 1 else float("nan")


def protocols_of(lingape: Iterable[Row], safe: Iterable[Row]) -> list[Protocol]:
    """Every pair of rows that share D, the reward radius and the way of counting."""

    def shared(row: Row) -> tuple[float, str]:
        columns = row.cell.described()
        return columns["D"], columns["reward_radius"]

    theirs = list(safe)
    return [
        Protocol(a, b)
        for a in lingape
        for b in theirs
        if shared(a) == shared(b) and (a.counted == b.counted or a.cell.explored == 0)
    ]
