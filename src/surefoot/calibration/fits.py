"""Four laws fitted to pilot rows, from the strictest to none, and how far the rows scatter about each.

    features    mean = level x . theta      one weight for each feature: what a problem assumes
    arms        mean = level a_k            proportional to the level, each arm as it likes
    cells       one mean for each arm and level, and one for level 0, where nothing is applied
    an added column beside the second: an effect at level 0, or a bend

Each is contained in the next, so that differences of their sums of squares are those of classical F tests.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.problem.checks import Floats

EXACT = 1e-11  # of the largest reading: what scatters by less is rounding


class Pilot(NamedTuple):
    """What was set in each row; the readings of a signal come beside it."""

    arm: NDArray[np.intp]  # (n,)
    level: Floats  # (n,)
    features: Floats  # (n, d)

    @property
    def rows(self) -> int:
        """n."""
        return len(self.level)


class Fit(NamedTuple):
    """A law as it fits best."""

    fitted: Floats  # (n,)
    residuals: Floats  # (n,)
    leverage: Floats  # (n,) by how much of itself a row is fitted
    rank: int

    @property
    def freedom(self) -> int:
        """Rows beyond the unknowns."""
        return len(self.residuals) - self.rank

    @property
    def squares(self) -> float:
        """The sum of squared residuals; 0 where there is nothing but rounding."""
        largest = float(np.abs(self.fitted + self.residuals).max())
        rest = self.residuals
        return 0.0 if np.abs(rest).max() <= EXACT * largest or self.freedom <= 0 else float(rest @ rest)


class Law(NamedTuple):
    """The law in features, with what is needed to predict by it."""

    fit: Fit
    weights: Floats  # (d,)
    root: Floats  # (r, d) whose square, root^T root, inverts the rows' sum of z z^T on what they span

    def predicted(self, directions: Floats) -> Floats:
        """The effect of each row of features at full strength."""
        return directions @ self.weights

    def spread(self, directions: Floats) -> Floats:
        """Its standard error, in sizes of the noise."""
        found: Floats = np.linalg.norm(directions @ self.root.T, axis=1)
        return found


class Added(NamedTuple):
    """A column beside a slope for each arm."""

    coefficient: float
    error: float  # its standard error, by the rest of the rows
    freedom: int


def by_features(pilot: Pilot, effects: Floats) -> Law:
    """The law of the problem. Its rank is found without units: each feature is divided by the largest first."""
    Z = pilot.level[:, np.newaxis] * pilot.features
    units = np.abs(pilot.features).max(axis=0)
    units = np.where(units > 0.0, units, 1.0)
    left, sizes, right = np.linalg.svd(Z / units, full_matrices=False)
    kept = sizes > max(Z.shape) * 2.3e-16 * sizes.max(initial=0.0)
    left, sizes, right = left[:, kept], sizes[kept], right[kept] / units
    fitted = left @ (left.T @ effects)
    fit = Fit(fitted, effects - fitted, (left**2).sum(axis=1), int(kept.sum()))
    root = right / sizes[:, np.newaxis]
    return Law(fit, root.T @ (left.T @ effects), root)


def by_arms(pilot: Pilot, effects: Floats) -> Fit:
    """A slope for each arm."""
    slopes, squares = slopes_of(pilot, effects)
    fitted = pilot.level * slopes[pilot.arm]
    leverage = np.divide(pilot.level**2, squares[pilot.arm], out=np.zeros(pilot.rows), where=pilot.level > 0.0)
    return Fit(fitted, effects - fitted, leverage, int((squares > 0.0).sum()))


def by_cells(pilot: Pilot, effects: Floats) -> Fit:
    """A mean for each arm and level."""
    cell, counts = cells_of(pilot)
    fitted = (np.bincount(cell, effects) / counts)[cell]
    return Fit(fitted, effects - fitted, 1.0 / counts[cell], len(counts))


def slopes_of(pilot: Pilot, values: Floats) -> tuple[Floats, Floats]:
    """For each arm the slope over the level, 0 where it has none, and the sum of squared levels."""
    squares: Floats = np.bincount(pilot.arm, pilot.level**2).astype(np.float64)
    sums: Floats = np.bincount(pilot.arm, pilot.level * values).astype(np.float64)
    return np.divide(sums, squares, out=np.zeros_like(sums), where=squares > 0.0), squares


def cells_of(pilot: Pilot) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The cell of each row, and how many rows each has: those of one arm at one level, or of any arm at level 0."""
    arm = np.where(pilot.level > 0.0, pilot.arm, -1)
    _, cell, counts = np.unique(np.column_stack([arm, pilot.level]), axis=0, return_inverse=True, return_counts=True)
    return cell.ravel(), counts


def added(pilot: Pilot, effects: Floats, column: Floats) -> Added | None:
    """The column beside a slope for each arm; None where the rows cannot tell it from those, or leave no scatter.

    The column may be made of the fitted slopes (Tukey's one degree of freedom): they are independent of the residuals,
    so that where the law of arms holds the ratio of coefficient and error has Student's distribution exactly.
    """
    rest = column - pilot.level * slopes_of(pilot, column)[0][pilot.arm]
    size = float(rest @ rest)
    fit = by_arms(pilot, effects)
    freedom = fit.freedom - 1
    if freedom < 1 or size <= 1e-18 * float(column @ column):
        return None
    coefficient = float(rest @ fit.residuals) / size
    left = fit.residuals - coefficient * rest
    return Added(coefficient, float(np.sqrt(left @ left / freedom / size)), freedom)
