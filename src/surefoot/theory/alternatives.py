"""The nearest alternatives that reject an answer: the inner problem of (T9).

An answer (k, gamma) says "arm k at level gamma is safe and within epsilon of the best safe value". An alternative
truth rejects it in one of three ways:

unsafe    some signal at gamma x_k lies below its limit
null      even doing nothing beats gamma x_k by more than epsilon
rival     some arm j is safe at a level g and beats gamma x_k by more than epsilon

For an allocation w each way has a closest alternative in closed form (for a rival up to a search over g), and the
information that w collects against it is *linear* in w: `Cuts.rows` holds those linear functions. Everything is read
from arm space: the values x_k.theta, x_k.mu^s and the matrix Q = X Lam^-1 X^T with Lam = sum_k w_k p_k^2 x_k x_k^T,
where p_k is the level at which arm k is pulled.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

LEVEL_POINTS = 33  # first sweep over a rival's level; the best bracket is then narrowed
ZOOM_ROUNDS = 4
ZOOM_POINTS = 17
SAME_PULL = 1e-12  # two pulls nearer than this (relative, squared) are the same pull


class Setting(NamedTuple):
    """What (T9) knows of the world, per arm, in internal units."""

    arms: Array  # (K, d) x_k
    values: Array  # (K,) x_k.theta
    safety: Array  # (m, K) x_k.mu^s
    eta0: Array  # (m,) limits, all negative
    noise: float  # R
    safety_noise: Array  # (m,) R_s
    epsilon: float
    pulls_at: Array  # (K,) p_k, the level at which arm k is pulled
    best_level: Array  # (K,) gamma_k*, within the cap and on the grid
    cap: Array  # (K,) the highest level that a rival may use
    grid: Array  # (n,) the levels there are, ascending; empty: all of (0, cap]


class Cuts(NamedTuple):
    """Alternatives to the answers (k, gamma) of one arm k, each as a linear bound on information that moves with gamma.

    Alternative a shifts theta along a fixed direction just so far that it rejects (k, gamma); its distance is
    s_a(gamma) = (offset + slope gamma)_+ / (reach - pace gamma), and the information of an allocation w against it is
    (s_a(gamma)^2 moving[a] + fixed[a]).w. Where reach - pace gamma <= 0 no shift along that direction rejects.
    """

    offset: Array  # (n,)
    slope: Array  # (n,)
    reach: Array  # (n,)
    pace: Array  # (n,)
    moving: Array  # (n, K)
    fixed: Array  # (n, K)

    def rows(self, level: float) -> Array:
        """The linear functions of w at one answer level (n, K); infinite where an alternative does not reject."""
        return self._with_distance(self._distance(level))

    def rows_above(self, level: float, around: float) -> Array:
        """Convex functions of the level that lie above `rows` near `around`, at one level (n, K).

        The distance is a ratio of linear functions: convex, or concave and then below its tangent. Squares of
        nonnegative convex functions are convex, so a weighted sum of these rows is largest at an end of an interval.
        """
        distance = self._distance(level)
        turn = self.slope * self.reach + self.offset * self.pace
        below = self.reach - self.pace * around
        with np.errstate(divide="ignore", invalid="ignore"):
            tangent = (self.offset + self.slope * around) / below + turn / below**2 * (level - around)
        concave = (self.pace * turn < 0.0) & np.isfinite(distance)
        return self._with_distance(np.where(concave, np.maximum(tangent, 0.0), distance))

    def _distance(self, level: float) -> Array:
        below = self.reach - self.pace * level
        above = np.maximum(self.offset + self.slope * level, 0.0)
        valid = below > 0.0
        return np.where(valid, above / np.where(valid, below, 1.0), np.inf)

    def _with_distance(self, distance: Array) -> Array:
        far = np.isinf(distance)
        rows = np.where(far, 0.0, distance)[:, None] ** 2 * self.moving + self.fixed
        rows[far] = np.inf
        return rows

    def take(self, which: NDArray[np.bool_]) -> Cuts:
        """The chosen alternatives."""
        return Cuts(*(part[which] for part in self))

    def plus(self, others: Cuts) -> Cuts:
        """These alternatives and the others."""
        return Cuts(*(np.concatenate(pair) for pair in zip(self, others, strict=True)))


def no_cuts(arms: int) -> Cuts:
    """No alternative at all."""
    none, rows = np.empty(0), np.empty((0, arms))
    return Cuts(none, none, none, none, rows, rows)


def spread(setting: Setting, w: Array) -> Array:
    """The matrix Q = X Lam^-1 X^T of an allocation that spans."""
    scaled = setting.arms * (np.sqrt(w) * setting.pulls_at)[:, None]
    # Lam^-1 through the QR factor of its root: half the digits of Lam's condition number are kept
    _, root = np.linalg.qr(scaled)
    half = np.linalg.solve(root.T, setting.arms.T)  # (d, K)
    q: Array = half.T @ half
    return q


def nearest(setting: Setting, Q: Array, arm: int, level: float) -> Cuts:
    """The nearest alternative of each kind that rejects the answer (arm, level)."""
    return _own_cuts(setting, Q, arm, level).plus(_rival_cuts(setting, Q, arm, level))


def _own_cuts(setting: Setting, Q: Array, arm: int, level: float) -> Cuts:
    """The alternatives `unsafe` (one per signal) and `null`; none at level 0 or for an arm of zeros."""
    signals, K = setting.safety.shape
    width = Q[arm, arm]
    if level <= 0.0 or width <= 0.0:
        return no_cuts(K)
    per_unit = (setting.pulls_at * Q[:, arm] / width) ** 2 / 2.0  # (K,)
    return Cuts(
        offset=np.append(-setting.eta0, setting.epsilon),
        slope=np.append(setting.safety[:, arm], setting.values[arm]),
        reach=np.zeros(signals + 1),
        pace=np.full(signals + 1, -1.0),
        moving=per_unit / np.append(setting.safety_noise, setting.noise)[:, None] ** 2,
        fixed=np.zeros((signals + 1, K)),
    )


def _rival_cuts(setting: Setting, Q: Array, arm: int, level: float) -> Cuts:
    """The alternative `rival` of every arm j at its cheapest level g: theta moves along u = g x_j - level x_arm."""
    g, cost = _cheapest_levels(setting, Q, arm, level)
    j = np.flatnonzero(np.isfinite(cost))
    g = g[j]
    direction = g[:, None] * Q[j] - level * Q[arm]  # (n, K) x_i.Lam^-1 u
    width = _pair_width(Q, arm, level, j, g)
    unit = direction / width[:, None]
    weight = setting.pulls_at**2 / 2.0
    fixed = np.zeros_like(unit)
    for s in range(setting.eta0.size):
        raise_by = np.maximum(setting.eta0[s] / g - setting.safety[s, j], 0.0)
        raise_by[g <= setting.best_level[j]] = 0.0  # safe in truth; what is left there is rounding
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(raise_by > 0.0, raise_by / Q[j, j], 0.0)
        fixed += weight * (share[:, None] * Q[j] / setting.safety_noise[s]) ** 2
    return Cuts(
        offset=setting.epsilon - g * setting.values[j],
        slope=np.full(j.size, setting.values[arm]),
        reach=g * unit[np.arange(j.size), j],
        pace=unit[:, arm],
        moving=weight * (unit / setting.noise) ** 2,
        fixed=fixed,
    )


def _pair_width(Q: Array, arm: int, level: float, j: NDArray[np.intp], g: Array) -> Array:
    """|g x_j - level x_arm|^2 in the norm of Lam^-1, with g of shape (n, ...) for n rivals."""
    extra = (slice(None), *(None,) * (g.ndim - 1))
    width: Array = g**2 * Q[j, j][extra] - 2.0 * g * level * Q[j, arm][extra] + level**2 * Q[arm, arm]
    return width


def _rival_cost(setting: Setting, Q: Array, arm: int, level: float, g: Array) -> Array:
    """The information against each rival j at levels g of shape (K, n); infinite where it cannot be a rival."""
    every = np.arange(setting.values.size)
    width = _pair_width(Q, arm, level, every, g)
    short = np.maximum(setting.epsilon - (g * setting.values[:, None] - level * setting.values[arm]), 0.0)
    scale = g**2 * np.diag(Q)[:, None] + level**2 * Q[arm, arm]
    same = width <= SAME_PULL * scale
    cost = np.where(same, np.inf, short**2 / np.where(same, 1.0, width) / (2.0 * setting.noise**2))
    own = np.diag(Q)[:, None]
    for s in range(setting.eta0.size):
        raise_by = np.maximum(setting.eta0[s] / g - setting.safety[s][:, None], 0.0)
        raise_by[g <= setting.best_level[:, None]] = 0.0
        with np.errstate(invalid="ignore", divide="ignore"):
            cost += np.where(raise_by > 0.0, raise_by**2 / own, 0.0) / (2.0 * setting.safety_noise[s] ** 2)
    return cost


def _cheapest_levels(setting: Setting, Q: Array, arm: int, level: float) -> tuple[Array, Array]:
    """The level g in [gamma_j*, cap_j] at which rival j is nearest, and its cost, for all j."""
    rows = np.arange(setting.values.size)
    if setting.grid.size:
        g = np.broadcast_to(setting.grid, (rows.size, setting.grid.size))
        allowed = (g >= setting.best_level[:, None]) & (g <= setting.cap[:, None])
        cost = np.where(allowed, _rival_cost(setting, Q, arm, level, g), np.inf)
        best = np.argmin(cost, axis=1)
        return setting.grid[best], cost[rows, best]
    low, high = setting.best_level, setting.cap
    points = LEVEL_POINTS
    for _ in range(1 + ZOOM_ROUNDS):
        # computed so that the ends are exact: at low the safety part must vanish
        t = np.linspace(0.0, 1.0, points)
        g = low[:, None] * (1.0 - t) + high[:, None] * t
        cost = _rival_cost(setting, Q, arm, level, g)
        best = np.argmin(cost, axis=1)
        at, value = g[rows, best], cost[rows, best]
        low, high = g[rows, np.maximum(best - 1, 0)], g[rows, np.minimum(best + 1, points - 1)]
        points = ZOOM_POINTS
    return at, value
