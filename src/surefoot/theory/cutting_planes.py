"""The best allocation against the nearest alternatives, by cutting planes and bisection of the answer's level.

At one answer the information of an allocation is a minimum of linear functions. A linear program over the
alternatives met so far bounds it from above; the nearest alternative to the program's solution bounds it from below
and joins the program. Between two levels the programs' multipliers at both ends bound every answer (see `between`),
so intervals of levels are bisected, highest bound first, until upper and lower bound meet.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

from surefoot.errors import NumericalBreakdown
from surefoot.theory.alternatives import Answer, Array, Cuts, Setting, information_scale, nearest, no_cuts, spread

STEP = 0.5  # the next question lies this far from the best allocation so far towards the program's solution
PROGRAMS = 300  # linear programs per answer level, at most
NEARBY = 1.5  # alternatives that cost more than this times the nearest do not join the program
LARGEST = 1e9  # entries of a program are cut off here, relative to its value: larger ones never bind
HOPELESS = 1e-24  # a rate below this share of what one pull can tell is 0 up to rounding
COARSE = 0.03  # accuracy of a first look at a level


@dataclass(frozen=True)
class Point:
    """An answer level with bounds on its best rate, the allocation that reaches it and the proof of the bound."""

    level: float
    rate: float  # the allocation w collects this much per pull against the nearest alternative
    bound: float  # no allocation collects more
    w: Array  # (K,)
    cuts: Cuts  # the alternatives that prove the bound,
    multiplier: Array  # and their convex weights: bound = max_i (multiplier @ cuts.rows(level))_i


@dataclass(frozen=True)
class Optimum:
    """The best answer found and bounds on what any answer can reach."""

    arm: int
    level: float
    allocation: Array
    rate: float
    bound: float
    programs: int


def between(left: Point, right: Point) -> float:
    """An upper bound on the rate of every answer level between two solved ones.

    At level (1-t) left + t right use the multipliers (1-t) lambda_left + t lambda_right. The rows are convex in the
    level (or are raised to convex ones), hence below their chords, and the weighted rows are below a quadratic in t
    whose Bernstein coefficients are the weighted rows at both ends and the mean of the two mixed products.
    """
    middle = 0.5 * (left.level + right.level)

    def product(multipliers: Point, level: float) -> Array:
        rows: Array = multipliers.multiplier @ multipliers.cuts.rows_above(level, middle)
        return rows

    corners = product(left, left.level), product(right, right.level)
    mixed = 0.5 * (product(left, right.level) + product(right, left.level))
    return float(max(corners[0].max(), mixed.max(), corners[1].max()))


class ArmSearch:
    """The alternatives met so far for the answers of one arm."""

    def __init__(self, setting: Setting, arm: int, low: float, high: float) -> None:
        self.setting = setting
        self.arm = arm
        self.low, self.high = low, high
        self.cuts = no_cuts(setting)
        self.w = np.full(setting.values.size, 1.0 / setting.values.size)
        self.programs = 0

    def solve(self, level: float, worth: float, tolerance: float, start: Array | None = None) -> Point:
        """The best allocation at one answer level, within the tolerance or as soon as its bound is below `worth`."""
        asked = self.w if start is None else start
        self._keep_nearest(asked, level)
        best, rate, point = asked, -math.inf, None
        for _ in range(PROGRAMS):
            value = self._ask(asked, level)
            if value > rate:
                best, rate = asked, value
            outer, cuts, multiplier = self._program(best, level)
            bound = float((multiplier @ cuts.rows(level)).max())
            if point is None or bound < point.bound:
                point = Point(level, rate, bound, best, cuts, multiplier)
            if point.bound <= worth or point.bound - rate <= tolerance * point.bound:
                break
            asked = (1.0 - STEP) * best + STEP * outer
        if point is None:  # not one linear program could be solved
            raise NumericalBreakdown("the cutting planes of the lower bound", 0)
        self.w = best
        return Point(level, rate, point.bound, best, point.cuts, point.multiplier)

    def _ask(self, w: Array, level: float) -> float:
        """The information of w against the nearest alternative to the answer; those near it join the program."""
        found = nearest(self.setting, spread(self.setting, w), Answer(self.arm, level, self.low, self.high))
        cost = found.rows(level) @ w
        least = float(cost.min())
        self.cuts = self.cuts.plus(found.take(np.asarray(cost <= NEARBY * least)))
        return least

    def _keep_nearest(self, w: Array, level: float) -> None:
        most = 4 * w.size + 50
        if len(self.cuts.offset) > most:
            cost = self.cuts.rows(level) @ w
            self.cuts = self.cuts.take(np.asarray(cost <= np.partition(cost, most)[most]))

    def _program(self, w: Array, level: float) -> tuple[Array, Cuts, Array]:
        """The best allocation against the alternatives so far, those that bind, and their multipliers."""
        rows = self.cuts.rows(level)
        use = np.asarray(np.isfinite(rows).all(axis=1))
        cuts, rows = self.cuts.take(use), rows[use]
        n, K = rows.shape
        scale = float((rows @ w).min())
        if scale <= 1e-250:  # rejected at no cost: nothing to optimise
            free = np.zeros(n, dtype=np.bool_)
            free[np.argmin(rows @ w)] = True
            return w, cuts.take(free), np.ones(1)
        self.programs += 1
        solved = linprog(
            np.append(np.zeros(K), -1.0),
            A_ub=np.hstack([-np.minimum(rows / scale, LARGEST), np.ones((n, 1))]),
            b_ub=np.zeros(n),
            A_eq=np.append(np.ones(K), 0.0)[None, :],
            b_eq=[1.0],
            bounds=[(0.0, 1.0)] * K + [(None, None)],
            method="highs",
        )
        if solved.x is None:
            raise NumericalBreakdown("the linear program of the lower bound", 0)
        w = np.maximum(solved.x[:K], 0.0)
        multiplier = np.maximum(-solved.ineqlin.marginals, 0.0)
        used = np.asarray(multiplier > 0.0)
        return w / w.sum(), cuts.take(used), multiplier[used] / multiplier[used].sum()


def best_allocation(
    setting: Setting, answers: list[tuple[int, float, float]], *, tolerance: float, nodes: int = 400
) -> Optimum:
    """The answer and allocation of (T9) among the given (arm, lowest level, highest level)."""
    return _Bisection(setting, tolerance).run(answers, nodes)


class _Bisection:
    """Intervals of answer levels, highest upper bound first."""

    def __init__(self, setting: Setting, tolerance: float) -> None:
        self.setting = setting
        self.tolerance = tolerance
        self.nothing = HOPELESS * information_scale(setting)
        self.searches: dict[int, ArmSearch] = {}
        self.best: tuple[int, Point] | None = None
        self.settled = 0.0  # the highest bound among intervals that need no further look
        self.waiting: list[tuple[float, int, int, Point, Point]] = []
        self.number = 0

    def run(self, answers: list[tuple[int, float, float]], nodes: int) -> Optimum:
        for arm in {arm for arm, _, _ in answers}:
            ends = [level for k, *levels in answers for level in levels if k == arm]
            self.searches[arm] = ArmSearch(self.setting, arm, min(ends), max(ends))
        for arm, low, high in answers:
            search = self.searches[arm]
            right = self._look(arm, search.solve(high, self._worth(), COARSE))
            left = right if low == high else self._look(arm, search.solve(low, self._worth(), COARSE))
            self._push(arm, left, right, math.inf)
        while self.waiting and -self.waiting[0][0] > self._worth() and nodes > 0:
            nodes -= 1
            self._open(*heapq.heappop(self.waiting))
        if self.best is None:  # no answer could be opened
            raise NumericalBreakdown("the search over answers of the lower bound", 0)
        arm, point = self.best
        bound = max([point.rate, self.settled, *(-node[0] for node in self.waiting)])
        programs = sum(search.programs for search in self.searches.values())
        return Optimum(arm, point.level, point.w, point.rate, bound, programs)

    def _open(self, negative: float, _: int, arm: int, left: Point, right: Point) -> None:
        """Sharpen the loose end of an interval, or bisect it."""
        search, sharp = self.searches[arm], self.tolerance / 4.0
        loose = [p for p in (left, right) if p.bound > self._worth() and p.bound - p.rate > sharp * p.bound]
        if loose and max(p.bound for p in loose) >= -negative * (1.0 - self.tolerance):
            new = {id(p): self._look(arm, search.solve(p.level, self._worth(), sharp, p.w)) for p in loose}
            ends = new.get(id(left), left), new.get(id(right), right)
            self._push(arm, *ends, -negative)
            return
        if left is right:
            self.settled = max(self.settled, -negative)
            return
        accuracy = max(sharp, min(COARSE, 0.1 * (-negative / self._worth() - 1.0)))
        start = left.w if left.rate > right.rate else right.w
        middle = search.solve(0.5 * (left.level + right.level), self._worth(), accuracy, start)
        self._look(arm, middle)
        self._push(arm, left, middle, -negative)
        self._push(arm, middle, right, -negative)

    def _push(self, arm: int, left: Point, right: Point, ceiling: float) -> None:
        bound = min(ceiling, left.bound if left is right else between(left, right))
        self.number += 1
        heapq.heappush(self.waiting, (-bound, self.number, arm, left, right))

    def _look(self, arm: int, point: Point) -> Point:
        if self.best is None or point.rate > self.best[1].rate:
            self.best = arm, point
        return point

    def _worth(self) -> float:
        """A bound at or below this is not worth improving."""
        return self.nothing if self.best is None else max(self.nothing, self.best[1].rate * (1.0 + self.tolerance))
