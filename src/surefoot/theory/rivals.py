"""The nearest alternative in which a rival beats the answers: a search over the rival's level.              (T9)

Rival j at level g must be worth epsilon more than every answer and be safe. The cost of both is a minimum over
polyhedra that depend on g, so one search over g in [gamma_j*, cap_j] remains; below gamma_j* nothing is nearer than at
gamma_j* or at 0, which is the null. Segments of g are split, lowest bound first. Two bounds hold on [g1, g2]:

- what beats the answers at g does so at g1 or at g2 (the gain is linear in g), and being safe costs most at g2: the
  cost is at least the smaller reward part plus the safety part at g1;
- for fixed multipliers the dual value is concave in g (the reward rows are linear in g, eta0/g is concave), so it is
  least at an end, and near the best g it is as good as exact.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.theory.alternatives import (
    Array,
    Candidate,
    Metric,
    Setting,
    Span,
    answer_ends,
    make_alternative,
    own_candidates,
    reward_point,
    safety_point,
)
from surefoot.theory.nearest_point import Nearest, lower_value

PIECES = 4  # of a rival's levels at first
NARROW = 1e-12  # a segment is not split further
SAME_PULL = 1e-14  # two pulls nearer than this (relative, squared) are the same pull
NEARBY = 1.5  # alternatives that cost more than this times the nearest are of no use
EXTRA = 3  # per dimension: further rivals that are looked at once, so that programs learn faster


class Found(NamedTuple):
    """The nearest alternatives to all of the answers, and what no alternative undercuts."""

    near: list[Candidate]
    cost: float  # of the nearest
    proved: float  # nothing is nearer than this; infinite where nothing rejects the answers


class _Look(NamedTuple):
    """One rival at one level, and the parts of the proof of its cost."""

    level: float
    reward: float  # proved; infinite: it cannot be
    safety: float
    beats: Nearest | None
    raised: list[tuple[int, Nearest]]
    candidate: Candidate


class Rivals:
    """The search over rivals and their levels for one allocation."""

    def __init__(self, setting: Setting, metric: Metric, spans: Sequence[Span], accuracy: float) -> None:
        self.setting, self.metric, self.accuracy = setting, metric, accuracy
        self.ends = answer_ends(spans)
        self.beaten = np.array([level * metric.arms[arm] for arm, level in self.ends])  # (n, d)
        self.same = SAME_PULL * float((self.beaten**2 / metric.weight).sum(axis=1).max())
        self.near = list(own_candidates(setting, metric, spans))
        self.best = min((c.cost for c in self.near if c.alternative is not None), default=np.inf)
        self.proved = min((c.proved for c in self.near), default=np.inf)
        self.waiting: list[tuple[float, int, int, float, float, _Look | None, _Look | None]] = []
        self.number = 0

    def run(self) -> Found:
        if self.setting.worse > 0.0:
            bounds, arm, low, high = self._segments()
            order = np.argsort(bounds, kind="stable")
            for i in order[np.isfinite(bounds[order])]:
                self._push(float(bounds[i]), int(arm[i]), float(low[i]), float(high[i]), None, None)
            self._search()
            self._look_at_others()
        near = [c for c in self.near if c.alternative is not None and c.cost <= NEARBY * self.best]
        return Found(near, self.best, min(self.proved, self.best))

    def _search(self) -> None:
        while self.waiting and self.waiting[0][0] < self.best * (1.0 - self.accuracy):
            bound, _, arm, low, high, left, right = heapq.heappop(self.waiting)
            left = left or self._look(arm, low)
            right = left if high == low else right or self._look(arm, high)
            bound = max(bound, self._bound(arm, left, right))
            if high - low <= NARROW * high or bound >= self.best * (1.0 - self.accuracy):
                self.proved = min(self.proved, bound)
                continue
            middle = self._look(arm, 0.5 * (low + high))
            for one, other in ((left, middle), (middle, right)):
                self._push(max(bound, self._bound(arm, one, other)), arm, one.level, other.level, one, other)
        if self.waiting:
            self.proved = min(self.proved, self.waiting[0][0])

    def _look_at_others(self) -> None:
        """The nearest rivals that the search could leave aside: they are no nearer, yet the program needs them soon."""
        seen: set[int] = set()
        for bound, _, arm, low, _, left, _ in sorted(self.waiting, key=lambda node: node[:2]):
            if bound > NEARBY * self.best or len(seen) >= EXTRA * len(self.metric.theta):
                break
            if left is None and arm not in seen:
                seen.add(arm)
                self._look(arm, low)

    def _push(self, bound: float, arm: int, low: float, high: float, left: _Look | None, right: _Look | None) -> None:
        if bound < np.inf:
            self.number += 1
            heapq.heappush(self.waiting, (bound, self.number, arm, low, high, left, right))

    def _segments(self) -> tuple[Array, NDArray[np.intp], Array, Array]:
        """The segments to begin with, bounded from below by one constraint at a time and nothing told."""
        setting = self.setting
        if setting.grid.size:
            arm, point = np.nonzero(
                (setting.grid >= setting.best_level[:, None]) & (setting.grid <= setting.cap[:, None])
            )
            low = high = setting.grid[point]
        else:
            t = np.linspace(0.0, 1.0, PIECES + 1)
            levels = setting.best_level[:, None] * (1.0 - t) + setting.cap[:, None] * t  # the ends are exact
            arm = np.repeat(np.arange(len(levels)), PIECES)
            low, high = levels[:, :-1].ravel(), levels[:, 1:].ravel()
            fixed = setting.best_level >= setting.cap
            once = ~fixed[arm] | (np.arange(arm.size) % PIECES == 0)
            arm, low, high = arm[once], low[once], high[once]
        x, weight = self.metric.arms[arm], self.metric.weight
        reward = np.zeros(arm.size)
        for beaten in self.beaten:
            parts = [self._single(g[:, None] * x - beaten) for g in (low, high)]
            reward = np.maximum(reward, np.minimum(*parts))
        own = (x**2 / weight).sum(axis=1)
        cost = reward / setting.noise**2
        for signal, eta0 in enumerate(setting.eta0):
            short = np.maximum(eta0 / np.maximum(low, 1e-300) - x @ self.metric.mu[signal], 0.0)
            short[low <= setting.best_level[arm]] = 0.0
            with np.errstate(divide="ignore", invalid="ignore"):
                cost += np.where(short > 0.0, short**2 / own, 0.0) / (2.0 * setting.safety_noise[signal] ** 2)
        return cost / setting.worse, arm, low, high

    def _single(self, rows: Array) -> Array:
        """The cost of each row being worth epsilon, alone."""
        length = (rows**2 / self.metric.weight).sum(axis=1)
        short = np.maximum(self.setting.epsilon - rows @ self.metric.theta, 0.0)
        same = length <= self.same
        return np.asarray(np.where(same, np.inf, short**2 / np.where(same, 1.0, length) / 2.0))

    def _rows(self, arm: int, level: float) -> Array:
        rows: Array = level * self.metric.arms[arm] - self.beaten
        rows[(rows**2 / self.metric.weight).sum(axis=1) <= self.same] = 0.0
        return rows

    def _look(self, arm: int, level: float) -> _Look:
        """The nearest alternative in which this rival at this level beats the answers; it joins the candidates."""
        setting, metric = self.setting, self.metric
        nothing = Candidate(np.inf, np.inf, None)
        raised = []
        cost = safety = 0.0
        if level > setting.best_level[arm]:
            for signal in np.flatnonzero(setting.eta0 / level > metric.mu @ metric.arms[arm]).tolist():
                needed = np.array([setting.eta0[signal] / level])
                up = safety_point(setting, metric, signal, metric.arms[arm][None, :], needed)
                if up is None:
                    return _Look(level, 0.0, np.inf, None, [], nothing)
                price = setting.safety_noise[signal] ** 2 * setting.worse
                cost, safety = cost + up.value / price, safety + up.proved / price
                raised.append((signal, up))
        beats = reward_point(setting, metric, self._rows(arm, level))
        if beats is None:
            return _Look(level, np.inf, safety, None, raised, nothing)
        price = setting.noise**2 * setting.worse
        cost, reward = cost + beats.value / price, beats.proved / price
        other = None
        if cost <= NEARBY * self.best:
            points = {signal: up.point for signal, up in raised}
            other = make_alternative(setting, metric, beats.point, points, (arm, level))
        candidate = Candidate(cost, reward + safety, other)
        if other is not None:
            self.near.append(candidate)
            self.best = min(self.best, cost)
        return _Look(level, reward, safety, beats, raised, candidate)

    def _bound(self, arm: int, left: _Look, right: _Look) -> float:
        """What no level from the left to the right undercuts."""
        bound = min(left.reward, right.reward) + left.safety
        for look in (left, right):
            if np.isfinite(bound) and look.beats is not None:
                ends = (self._dual(arm, look, look.beats, level) for level in (left.level, right.level))
                bound = max(bound, min(ends))
        return float(bound)

    def _dual(self, arm: int, look: _Look, beats: Nearest, level: float) -> float:
        """The dual value at a level with the multipliers of a look at another."""
        setting, metric = self.setting, self.metric
        rows, ball = beats.multipliers
        pull = rows @ (level * metric.arms[arm] - self.beaten)
        reward = lower_value(metric.theta, metric.weight, pull, setting.epsilon * rows.sum(), ball, setting.norm)
        total = reward / setting.noise**2
        for signal, up in look.raised:
            # only the first row's demand, eta0 / level, moves
            moved = up.multipliers.rows[0] * setting.eta0[signal] * (1.0 / level - 1.0 / look.level)
            total += (up.proved + moved) / setting.safety_noise[signal] ** 2
        return float(total / setting.worse)


def nearest(setting: Setting, metric: Metric, spans: Sequence[Span], accuracy: float) -> Found:
    """The nearest alternatives that reject every answer of every span, to this relative accuracy."""
    return Rivals(setting, metric, spans, accuracy).run()
