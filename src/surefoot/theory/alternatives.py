"""The nearest alternatives that reject an answer: the inner problem of (T9).

An answer (k, gamma) says "arm k at level gamma is safe and within epsilon of the best safe value". An alternative
truth rejects it in one of three ways:

unsafe    some signal at gamma x_k lies below its limit
null      even doing nothing beats gamma x_k by more than epsilon
rival     some arm j is safe at a level g and beats gamma x_k by more than epsilon

For an allocation w each way has a closest alternative in closed form (for a rival up to a search over g), and the
information that w collects against it is *linear* in w: `Cuts.rows` gives those linear functions. Everything is read
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


class Answer(NamedTuple):
    """An answer (arm, level), and how far the level may go while the same alternatives are used."""

    arm: int
    level: float
    low: float
    high: float


class Cuts(NamedTuple):
    """Alternatives to the answers (k, gamma) of one arm k, each as a linear bound on information that moves with gamma.

    Alternative a shifts theta (c = 0) and the mu^s (c = s) along fixed directions, just so far that it rejects
    (k, gamma): by s_ac(gamma) = (offset + slope gamma)_+ / (reach - pace gamma). The information of an allocation w
    against it is (sum_c s_ac(gamma)^2 rates[a, c]).w. Where a denominator is not positive it does not exist.
    """

    offset: Array  # (n, 1 + m)
    slope: Array  # (n, 1 + m)
    reach: Array  # (n, 1 + m)
    pace: Array  # (n, 1 + m)
    rates: Array  # (n, 1 + m, K)

    def rows(self, level: float) -> Array:
        """The linear functions of w at one answer level (n, K); infinite where an alternative does not exist."""
        return self._with_distance(self._distance(level))

    def rows_above(self, level: float, around: float) -> Array:
        """Convex functions of the level that lie above `rows` and touch it at `around`, at one level (n, K).

        Each distance is a ratio of linear functions: convex, or concave and then below its tangent. Squares of
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
        exists = below > 0.0
        return np.where(exists, above / np.where(exists, below, 1.0), np.inf)

    def _with_distance(self, distance: Array) -> Array:
        far = np.asarray(np.isinf(distance).any(axis=1))
        squared: Array = np.square(np.where(np.isinf(distance), 0.0, distance))
        rows: Array = np.einsum("nc,nck->nk", squared, self.rates)
        rows[far] = np.inf
        return rows

    def take(self, which: NDArray[np.bool_]) -> Cuts:
        """The chosen alternatives."""
        return Cuts(*(part[which] for part in self))

    def plus(self, others: Cuts) -> Cuts:
        """These alternatives and the others."""
        return Cuts(*(np.concatenate(pair) for pair in zip(self, others, strict=True)))


def no_cuts(setting: Setting, count: int = 0) -> Cuts:
    """That many alternatives that shift nothing yet, for every answer level."""
    m, K = setting.safety.shape
    still = np.zeros((count, 1 + m))
    return Cuts(still, still.copy(), still + 1.0, still.copy(), np.zeros((count, 1 + m, K)))


def information_scale(setting: Setting) -> float:
    """What one pull can tell about the arm it pulls, in the units of the rate."""
    signal = (setting.values / setting.noise) ** 2 + (setting.epsilon / setting.noise) ** 2
    signal = signal + ((setting.safety / setting.safety_noise[:, None]) ** 2).sum(axis=0)
    return float((setting.pulls_at**2 * signal / 2.0).max())


def spread(setting: Setting, w: Array) -> Array:
    """The matrix Q = X Lam^-1 X^T of an allocation that spans."""
    scaled = setting.arms * (np.sqrt(w) * setting.pulls_at)[:, None]
    # Lam^-1 through the QR factor of its root: half the digits of Lam's condition number are kept
    _, root = np.linalg.qr(scaled)
    half = np.linalg.solve(root.T, setting.arms.T)  # (d, K)
    q: Array = half.T @ half
    return q


def nearest(setting: Setting, Q: Array, at: Answer) -> Cuts:
    """The nearest alternative of each kind that rejects the answer."""
    return _own_cuts(setting, Q, at).plus(_rival_cuts(setting, Q, at))


def _own_cuts(setting: Setting, Q: Array, at: Answer) -> Cuts:
    """The alternatives `null` (c = 0) and `unsafe` (one per signal); none at level 0 or for an arm of zeros."""
    arm, width = at.arm, Q[at.arm, at.arm]
    if at.level <= 0.0 or width <= 0.0:
        return no_cuts(setting)
    cuts = no_cuts(setting, 1 + setting.eta0.size)
    own = np.diag_indices(1 + setting.eta0.size)
    cuts.offset[own] = np.append(setting.epsilon, -setting.eta0)
    cuts.slope[own] = np.append(setting.values[arm], setting.safety[:, arm])
    cuts.reach[own], cuts.pace[own] = 0.0, -1.0
    per_unit = (setting.pulls_at * Q[:, arm] / width) ** 2 / 2.0  # (K,)
    cuts.rates[own] = per_unit / np.append(setting.noise, setting.safety_noise)[:, None] ** 2
    return cuts


def _rival_cuts(setting: Setting, Q: Array, at: Answer) -> Cuts:
    """The alternative `rival` of every arm j at its cheapest level g.

    theta moves along u = g x_j - level x_arm, the mu^s along x_j. For other answer levels the rival's level moves too,
    by `follow` per unit, so that u changes least: else an arm beside its own copy, or a parallel one, has u = 0 nearby.
    """
    arm, level = at.arm, at.level
    g, cost = _cheapest_levels(setting, Q, arm, level)
    j = np.flatnonzero(np.isfinite(cost))
    g, each = g[j], np.arange(j.size)
    unit = (g[:, None] * Q[j] - level * Q[arm]) / _pair_width(Q, arm, level, j, g)[:, None]  # x_i.Lam^-1 u / |u|^2
    follow = _follow(setting, Q, at, j, g)
    start = g - follow * level  # the rival's level is start + follow gamma
    cuts = no_cuts(setting, j.size)
    cuts.offset[:, 0] = setting.epsilon - start * setting.values[j]
    cuts.slope[:, 0] = setting.values[arm] - follow * setting.values[j]
    cuts.reach[:, 0] = start * unit[each, j]
    cuts.pace[:, 0] = unit[:, arm] - follow * unit[each, j]
    cuts.rates[:, 0] = (setting.pulls_at * unit / setting.noise) ** 2 / 2.0
    fixed = (follow == 0.0) & (g <= setting.best_level[j])  # safe in truth: what is left of a raise is rounding
    for s, (eta0, noise) in enumerate(zip(setting.eta0, setting.safety_noise, strict=True), start=1):
        signal = setting.safety[s - 1, j]
        cuts.offset[:, s] = np.where(fixed, 0.0, eta0 - signal * start)
        cuts.slope[:, s] = -signal * follow
        cuts.reach[:, s], cuts.pace[:, s] = start, -follow
        own = np.where(Q[j, j] > 0.0, Q[j, j], 1.0)  # an arm of zeros is never unsafe
        cuts.rates[:, s] = (setting.pulls_at * Q[j] / own[:, None] / noise) ** 2 / 2.0
    return cuts


def _follow(setting: Setting, Q: Array, at: Answer, j: NDArray[np.intp], g: Array) -> Array:
    """How fast the rivals' cheapest levels follow the answer's, kept in (0, cap] wherever the answer may go.

    Not at all on a grid, and where a rival stands at its highest safe level because going up is in vain.
    """
    if setting.grid.size:
        return np.zeros_like(g)
    short = setting.epsilon - g * setting.values[j] + at.level * setting.values[at.arm]
    up, down, above = at.high - at.level, at.level - at.low, setting.cap[j] - g
    with np.errstate(divide="ignore", invalid="ignore"):
        fastest = np.fmin(above / up, 0.5 * g / down)
        slowest = -np.fmin(0.5 * g / up, above / down)
    held = ((g <= setting.best_level[j]) & (short > 0.0)) | (above <= 0.0)
    return np.where(held, 0.0, np.clip(_drift(setting, Q, at, j, g, short), slowest, fastest))


def _drift(setting: Setting, Q: Array, at: Answer, j: NDArray[np.intp], g: Array, short: Array) -> Array:
    """The derivative of the rivals' cheapest level by the answer's, to first order (Gauss-Newton).

    The cost is r^2 + sum_s t_s^2 with r = short / |u| and t_s how far signal s must be raised, all over their noise;
    r depends on g and the answer's level, t_s on g alone.
    """
    arm, width = at.arm, _pair_width(Q, at.arm, at.level, j, g)
    scale = setting.noise * np.sqrt(width)
    by_rival = (-setting.values[j] - short * (g * Q[j, j] - at.level * Q[j, arm]) / width) / scale
    by_answer = (setting.values[arm] - short * (at.level * Q[arm, arm] - g * Q[j, arm]) / width) / scale
    stiffness = by_rival**2
    for s, (eta0, noise) in enumerate(zip(setting.eta0, setting.safety_noise, strict=True)):
        signal = setting.safety[s, j]
        wall = eta0 / g >= signal - 1e-9 * np.abs(signal)  # at the limit or beyond
        stiffness += np.where(wall & (Q[j, j] > 0.0), (eta0 / g**2 / noise) ** 2 / np.maximum(Q[j, j], 1e-300), 0.0)
    drift: Array = -by_rival * by_answer / np.where(stiffness > 0.0, stiffness, 1.0)
    return drift


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
