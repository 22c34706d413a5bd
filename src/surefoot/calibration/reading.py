"""What is to be said about single rows and arms of a pilot, and what its rows cannot show."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from surefoot.calibration.bounds import outliers
from surefoot.calibration.fits import Pilot, by_cells, by_features, cells_of
from surefoot.errors import counted, shown
from surefoot.problem import Problem
from surefoot.problem.checks import Floats
from surefoot.problem.units import level_shortly, reading_in_words

if TYPE_CHECKING:
    from surefoot.calibration.findings import Noise

NAMED = 5  # rows or arms that are named one by one
ODD = 0.001  # the chance that rows without fault are called odd, for each signal
SLACK = 1e-9  # above the known level by rounding is not above it


def warnings_in(problem: Problem, pilot: Pilot, readings: Floats) -> list[str]:
    """Rows above their known safe level, arms whose known level does not look safe, and rows that do not fit."""
    return [*above_known(problem, pilot), *unsafe_known(problem, pilot, readings), *odd_rows(problem, pilot, readings)]


def above_known(problem: Problem, pilot: Pilot) -> list[str]:
    """Pilot trials belong to levels that are known to be safe."""
    known = problem.safe_level[pilot.arm]
    rows = np.flatnonzero(pilot.level > known * (1.0 + SLACK))
    return named_few(
        [
            f"Row {row + 1}: {problem.names[pilot.arm[row]]} at {level_shortly(problem.dial, pilot.level[row])} is "
            f"above its known safe level, {level_shortly(problem.dial, known[row])}."
            for row in rows[:NAMED]
        ],
        len(rows), "row", "above the known safe level",
    )  # fmt: skip


def unsafe_known(problem: Problem, pilot: Pilot, readings: Floats) -> list[str]:
    """Arms that by the fit cross a limit at the level that is stated to be safe."""
    found: list[str] = []
    for place, limit in enumerate(problem.safety, start=1):
        law = by_features(pilot, readings[:, place] - limit.baseline)
        if law.fit.rank < problem.rank:
            continue
        means = limit.baseline + problem.safe_level * law.predicted(problem.features)
        crossed = np.flatnonzero(limit.sign * (means - limit.mean_limit) < 0.0)
        found += named_few(
            [
                f"{problem.names[arm]} at {level_shortly(problem.dial, problem.safe_level[arm])}, known to be safe: "
                f"by the fit the mean of {limit.name} is {reading_in_words(means[arm], limit.unit, 4)}, beyond "
                f"{reading_in_words(limit.mean_limit, limit.unit, 4)}. Is that level safe?"
                for arm in crossed[:NAMED]
            ],
            len(crossed), "arm", f"beyond {limit.name} at the known level",
        )  # fmt: skip
    return found


def odd_rows(problem: Problem, pilot: Pilot, readings: Floats) -> list[str]:
    """Rows that the others do not explain: a slip of the pen, or noise that is not Gaussian."""
    found = []
    _, counts = cells_of(pilot)
    for place, values in enumerate(readings.T):
        name = "reward" if place == 0 else problem.safety[place - 1].name
        baseline = 0.0 if place == 0 else problem.safety[place - 1].baseline
        repeated = len(values) - len(counts) >= len(values) / 2
        fit = by_cells(pilot, values - baseline) if repeated else by_features(pilot, values - baseline).fit
        rows = outliers(fit, ODD)
        found += named_few(
            [
                f"Row {row + 1}: {name} = {values[row]:g} is far from {baseline + fit.fitted[row]:.4g}, which the "
                "others make likely. Is it right? A row may be mended for a reason, and not because it does not fit."
                for row in rows[:NAMED]
            ],
            len(rows), "row", f"of {name} far from the others",
        )  # fmt: skip
    return found


def named_few(first: Sequence[str], count: int, noun: str, what: str) -> list[str]:
    """The first few by name, and how many others there are."""
    return [*first, f"And {counted(count - NAMED, f'more {noun}')} {what}."] if count > NAMED else list(first)


def unseen_in(problem: Problem, pilot: Pilot) -> list[str]:
    """What these rows cannot show, whatever they read."""
    found = []
    used = np.unique(pilot.level[pilot.level > 0.0])
    if len(used) == 0:
        return ["All rows are at level 0, where nothing is applied: they show the noise and the baseline, no effect."]
    highest = level_shortly(problem.dial, float(used[-1]))
    if used[-1] < problem.max_level.max():
        found.append(f"No row is above {highest}: what bends, or scatters more, at higher levels stays unseen.")
    if len(used) == 1 and not (pilot.level == 0.0).any():
        found.append(f"All rows are at {highest}: whether effects are proportional to the level stays unseen.")
    tried = np.unique(pilot.arm[pilot.level > 0.0])
    if len(tried) < problem.size:
        known = set(tried.tolist())
        others = [
            shown(problem.names[arm]) for arm in islice((k for k in range(problem.size) if k not in known), NAMED)
        ]
        more = problem.size - len(tried) - len(others)
        and_more = f" and {more:,} more" if more else ""
        found.append(f"Not tried: {', '.join(others)}{and_more}. Whether they follow their features stays unseen.")
    rank = by_features(pilot, np.zeros(pilot.rows)).fit.rank
    if rank < problem.rank:
        found.append(
            f"The rows span {counted(rank, 'direction')} of the features, and the arms {problem.rank}: nothing is "
            "known about the effect of the others, and no largest effect is told."
        )
    _, counts = cells_of(pilot)
    if counts.max() == 1:
        found.append(
            "No setting is repeated: noise cannot be told from a law that is not linear. Repeat some arm at one level."
        )
    found.append("Changes over time, and noise that is not Gaussian or depends on the past, are not looked for.")
    return found


def grain_of(readings: Floats, noise: Noise | None) -> float | None:
    """To what the readings are rounded, where that is coarse beside their scatter."""
    distinct = np.unique(readings)
    if len(distinct) < 2:
        return None
    step = float(np.diff(distinct).min())
    return step if noise is None or step > noise.estimate else None
