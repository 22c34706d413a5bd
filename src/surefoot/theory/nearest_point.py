"""The point of a polyhedron, and of a ball round 0 if there is one, that is nearest to a given centre.

    minimise (p - centre)^T diag(weight) (p - centre) / 2    subject to    rows p >= needed    and    |p| <= radius

It is solved through its dual, so a solution comes with a proof. For multipliers lambda >= 0 of the rows and nu >= 0 of
the ball, v = rows^T lambda and M = diag(weight + nu),

    needed.lambda - v.centre + nu/2 (|centre|^2 - radius^2) - (v - nu centre)^T M^-1 (v - nu centre) / 2

lies below the minimum, whatever the multipliers are. Rows join one by one, the most violated first; for given nu the
program over the rows so far is a least-distance problem, solved by nonnegative least squares.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

Array = NDArray[np.float64]

VIOLATED = 1e-11  # a row is missed by more than this, relative to the distance so far
NO_POINT = (
    1e-13  # remainder of the least squares below which there is no point: 3 million times the distance of one row
)
ROUNDING = 1e-12
BALL_ACCURACY = 1e-7  # relative, of the squared distance
BALL_ROUNDS = 60


class Multipliers(NamedTuple):
    """What proves a distance: any of them do, the right ones best."""

    rows: Array  # (n,) lambda
    ball: float  # nu


class Nearest(NamedTuple):
    """The nearest point, half its squared distance, and multipliers that prove that none is nearer than `proved`."""

    point: Array  # (d,)
    value: float
    proved: float
    multipliers: Multipliers


def lower_value(centre: Array, weight: Array, pull: Array, needed: float, ball: float, radius: float) -> float:
    """The dual value: half a squared distance that no point undercuts, from v = rows^T lambda and needed.lambda."""
    excess = pull - ball * centre
    value = needed - pull @ centre - 0.5 * float((excess**2 / (weight + ball)).sum())
    return float(value + (0.5 * ball * (centre @ centre - radius**2) if ball > 0.0 else 0.0))


def nearest_point(centre: Array, weight: Array, rows: Array, needed: Array, radius: float) -> Nearest | None:
    """The nearest point, or None where there is none."""
    search = _Search(centre, weight, rows, needed, radius)
    found = search.at(0.0)
    if found is None:
        return None
    if np.linalg.norm(found[0]) <= radius * (1.0 + ROUNDING):
        return search.nearest(*found, 0.0)
    shortest = _Search(np.zeros_like(centre), np.ones_like(weight), rows, needed, np.inf).at(0.0)
    if shortest is None or np.linalg.norm(shortest[0]) > radius * (1.0 + ROUNDING):
        return None
    return search.in_ball(found)


class _Search:
    def __init__(self, centre: Array, weight: Array, rows: Array, needed: Array, radius: float) -> None:
        self.centre, self.weight, self.rows, self.needed, self.radius = centre, weight, rows, needed, radius
        self.used: list[int] = []

    def at(self, ball: float) -> tuple[Array, Array] | None:
        """The minimiser with the ball replaced by its multiplier, and the multipliers of the rows."""
        weight = self.weight + ball
        middle = self.weight * self.centre / weight
        scale = 1.0 / np.sqrt(weight)
        rows = self.rows * scale
        length = np.sqrt((rows**2).sum(axis=1))
        needed = self.needed - self.rows @ middle
        if (needed[length == 0.0] > 0.0).any():
            return None
        far = np.where(length > 0.0, needed / np.where(length > 0.0, length, 1.0), -np.inf)  # signed distances
        lift, multipliers = np.zeros_like(middle), np.zeros(len(far))
        used = [i for i in self.used if far[i] > -np.inf]
        for _ in range(4 * len(far) + 20):
            if used:
                solved = _least_distance(rows[used] / length[used, None], far[used])
                if solved is None:
                    return None
                lift, strength = solved
                multipliers[:] = 0.0
                multipliers[used] = strength / length[used]
                used = [i for i, s in zip(used, strength, strict=True) if s > 0.0]
            with np.errstate(invalid="ignore"):
                missed = far - np.where(length > 0.0, rows @ lift / np.where(length > 0.0, length, 1.0), 0.0)
            worst = int(np.argmax(missed))
            if missed[worst] <= VIOLATED * max(float(np.linalg.norm(lift)), 1e-300) or worst in used:
                break
            used.append(worst)
        self.used = used
        return middle + scale * lift, multipliers

    def nearest(self, point: Array, multipliers: Array, ball: float) -> Nearest:
        away = point - self.centre
        value = 0.5 * float((self.weight * away**2).sum())
        pull, needed = self.rows.T @ multipliers, float(self.needed @ multipliers)
        proved = lower_value(self.centre, self.weight, pull, needed, ball, self.radius)
        return Nearest(point, value, min(proved, value), Multipliers(multipliers, ball))

    def in_ball(self, outside: tuple[Array, Array]) -> Nearest | None:
        """The nearest point with |p| <= radius, by the multiplier of the ball; 1/|p| is nearly linear in it."""

        def short(found: tuple[Array, Array]) -> float:  # above 0: inside
            return float(1.0 / max(float(np.linalg.norm(found[0])), 1e-300) - 1.0 / self.radius)

        low, miss_low = 0.0, short(outside)
        high, inside = 1e-3 * float(self.weight.max()), None
        for _ in range(BALL_ROUNDS):
            found = self.at(high)
            if found is None:
                return None
            if short(found) >= 0.0:
                inside = found
                break
            low, miss_low, high = high, short(found), 10.0 * high
        if inside is None:
            return None
        for turn in range(BALL_ROUNDS):
            best, miss_high = self.nearest(*inside, high), short(inside)
            if best.value - best.proved <= BALL_ACCURACY * best.value or high - low <= ROUNDING * high:
                break
            # a secant, aimed a little inside; now and then a bisection, so that the bracket closes from both sides
            between = _middle(low, high)
            if turn % 3 < 2 and miss_high > miss_low:
                between = (low * miss_high - high * miss_low) / (miss_high - miss_low)
                between += 0.02 * (high - between)
            found = self.at(between)
            if found is None:
                break
            if short(found) >= 0.0:
                high, inside = between, found
            else:
                low, miss_low = between, short(found)
        return best


def _middle(low: float, high: float) -> float:
    return float(np.sqrt(low * high)) if low > 0.0 and high > 4.0 * low else 0.5 * (low + high)


def _least_distance(rows: Array, far: Array) -> tuple[Array, Array] | None:
    """The shortest vector whose product with each unit row is at least `far`, and its multipliers; None: none is."""
    unit = float(far.max())
    if unit <= 0.0:
        return np.zeros(rows.shape[1]), np.zeros(len(far))
    if len(far) == 1:
        return unit * rows[0], np.array([unit])
    system = np.vstack([rows.T, far / unit])
    aim = np.zeros(len(system))
    aim[-1] = 1.0
    weights, _ = nnls(system, aim)
    rest = 1.0 - float(system[-1] @ weights)
    if rest <= NO_POINT:
        return None
    strength = unit / rest * weights
    return rows.T @ strength, strength
