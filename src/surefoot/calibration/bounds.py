"""What Gaussian noise of one size allows to conclude from pilot rows: bounds, tests and intervals, each in one place.

The settings of the rows and how many there are must not have been chosen by their results; then, given the settings,
sums of squared residuals over sigma^2 have chi-square distributions.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from scipy.special import fdtr, fdtrc, fdtri, gammaincinv, stdtr, stdtrit

from surefoot.calibration.fits import Fit, Law, Pilot, cells_of
from surefoot.problem import Problem
from surefoot.problem.checks import Floats

PARABOLA = 3.0 - 2.0 * sqrt(2.0)  # by how much g^2 misses the best line through 0 on levels 0 to 1
FEWEST_FOR_SIZES = 4  # degrees of freedom of low and of high levels, by which their scatter is compared


def noise_at_most(squares: float, freedom: int, risk: float) -> float:
    """The size that the noise exceeds with probability `risk` at most: sigma^2 <= squares / quantile(risk).

    Also where the law that was fitted does not hold: then the squares are only larger, stochastically.
    """
    return sqrt(squares / (2.0 * float(gammaincinv(freedom / 2.0, risk))))


def noise_at_least(squares: float, freedom: int, risk: float) -> float:
    """The size below which it is with probability `risk` at most, where the law that was fitted holds."""
    return sqrt(squares / (2.0 * float(gammaincinv(freedom / 2.0, 1.0 - risk))))


def p_value(strict: Fit, loose: Fit, error: Fit) -> float | None:
    """Of the F test whether the looser law fits better than by chance; None where there is nothing to compare."""
    freedom = strict.rank, loose.rank
    if freedom[1] <= freedom[0] or error.freedom < 1 or error.squares <= 0.0:
        return None
    gained = max(float(strict.residuals @ strict.residuals - loose.residuals @ loose.residuals), 0.0)
    ratio = (gained / (freedom[1] - freedom[0])) / (error.squares / error.freedom)
    return float(fdtrc(freedom[1] - freedom[0], error.freedom, ratio))


def same_size(pilot: Pilot, cells: Fit) -> tuple[float, float] | None:
    """How many times the scatter at low levels that at high levels is, and the p-value that they are the same; of
    repeats alone, so that no law is needed."""
    levels = np.unique(pilot.level)
    if len(levels) < 2:
        return None
    high = pilot.level > levels[(len(levels) - 1) // 2]
    cell, _ = cells_of(pilot)
    found = []
    for part in (~high, high):
        freedom = int(part.sum()) - len(np.unique(cell[part]))
        squares = float(cells.residuals[part] @ cells.residuals[part])
        if freedom < FEWEST_FOR_SIZES or squares <= 0.0:
            return None
        found.append((squares / freedom, freedom))
    ratio = found[1][0] / found[0][0]
    tail = min(float(fdtr(found[1][1], found[0][1], ratio)), float(fdtrc(found[1][1], found[0][1], ratio)))
    return sqrt(ratio), min(2.0 * tail, 1.0)


def students(freedom: int, risk: float) -> float:
    """How many standard errors a Gaussian estimate misses by, either way, with probability `risk`."""
    return -float(stdtrit(freedom, risk / 2.0))


def largest_effects(law: Law, directions: Floats, risk: float) -> tuple[float, float] | None:
    """The largest effect of any of these at full strength, either way: as estimated, and at most, with probability
    1 - risk for all of them at once (Bonferroni's way or Scheffe's, whichever is shorter by the number of them)."""
    fit = law.fit
    if fit.rank < directions.shape[1] or fit.freedom < 1:
        return None
    each = students(fit.freedom, risk / len(directions))
    together = sqrt(fit.rank * float(fdtri(fit.rank, fit.freedom, 1.0 - risk)))
    size = sqrt(fit.squares / fit.freedom)
    effects = np.abs(law.predicted(directions))
    return float(effects.max()), float((effects + min(each, together) * size * law.spread(directions)).max())


def deviation(pilot: Pilot, law: Law, cells: Fit, risk: float) -> tuple[float, float] | None:
    """By how much a mean at the settings of the pilot misses the linear law that fits best: as estimated, and at most,
    for all settings at once. It needs repeats: without them scatter cannot be told from a miss."""
    if cells.freedom < 1 or cells.squares <= 0.0:
        return None
    cell, counts = cells_of(pilot)
    _, first = np.unique(cell, return_index=True)
    missed = np.abs((cells.fitted - law.fit.fitted)[first])
    room = np.maximum(1.0 / counts - law.fit.leverage[first], 0.0)
    size = sqrt(cells.squares / cells.freedom)
    return float(missed.max()), float(
        (missed + students(cells.freedom, risk / len(counts)) * size * np.sqrt(room)).max()
    )


def outliers(fit: Fit, risk: float) -> list[int]:
    """Rows that the others do not explain, at this risk for all of them: each judged by the scatter of the rest."""
    if fit.freedom < 3 or fit.squares <= 0.0:
        return []
    free = 1.0 - fit.leverage
    others = (fit.squares - fit.residuals**2 / np.where(free > 1e-9, free, np.inf)) / (fit.freedom - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.abs(fit.residuals) / np.sqrt(np.maximum(others, 0.0) * free)
    ratio = np.where((free > 1e-9) & ~np.isnan(ratio), ratio, 0.0)
    return np.flatnonzero(2.0 * stdtr(fit.freedom - 1, -ratio) < risk / len(ratio)).tolist()


def least_delta(problem: Problem) -> float:
    """The smallest chance of error that is stated: the bounds of a pilot spend of each."""
    return min(problem.delta, problem.delta_safety) if problem.safety else problem.delta
