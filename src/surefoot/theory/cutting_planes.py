"""The best allocation against the nearest alternatives, by cutting planes.

Against a set of alternatives the evidence of an allocation is a minimum of linear functions. A linear program over the
alternatives met so far bounds it from above, by its multipliers; the nearest alternative to an allocation between the
best so far and the program's solution bounds it from below and joins the program.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog

from surefoot.errors import NumericalBreakdown
from surefoot.theory.alternatives import Alternative, Array, Setting, Span, metric_of
from surefoot.theory.rivals import nearest

STEP = 0.5  # the next question lies this far from the best allocation so far towards the program's solution
PROGRAMS = 300  # linear programs per set of answers, at most
LARGEST = 1e9  # entries of a program are cut off here, relative to its value: larger ones never bind
INNER = 0.25  # the nearest alternative is found to this share of the tolerance


class Point(NamedTuple):
    """An allocation that collects `rate` per pull against every alternative to some answers, where none does more
    than `bound`."""

    w: Array  # (K,)
    rate: float
    bound: float


class Allocator:
    """Best allocations against what rejects spans of answers; alternatives once met are used again where they fit."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.met: list[Alternative] = []
        pulled = setting.pulls_at > 0.0
        self.even = pulled / pulled.sum()
        self.programs = 0

    def rate(self, w: Array, spans: Sequence[Span], accuracy: float) -> float:
        """What w collects per pull, at least, against every alternative that rejects all of the answers."""
        return nearest(self.setting, metric_of(self.setting, w), spans, accuracy).proved

    def solve(self, spans: Sequence[Span], worth: float, tolerance: float, start: Array | None = None) -> Point:
        """The best allocation, within the tolerance or as soon as its bound is below `worth`."""
        asked = self.even if start is None else start
        known = self._nearest(asked, [other for other in self.met if other.rejects_all(self.setting, spans)])
        best, rate, bound = asked, -math.inf, math.inf
        for _ in range(PROGRAMS):
            found = nearest(self.setting, metric_of(self.setting, asked), spans, INNER * tolerance)
            if found.proved > rate:
                best, rate = asked, found.proved
            if rate == math.inf:  # nothing rejects these answers
                return Point(best, rate, math.inf)
            new = [c.alternative for c in found.near if c.alternative is not None]
            new = [other for other in new if other.rejects_all(self.setting, spans)]
            self.met += new
            known += new
            if not known:
                break
            outer, most = self._program(np.array([other.row for other in known]), best)
            bound = min(bound, most)
            if bound <= worth or bound - rate <= tolerance * bound:
                break
            asked = (1.0 - STEP) * best + STEP * outer
        if not math.isfinite(rate):
            raise NumericalBreakdown("the cutting planes of the lower bound", 0)
        self.met = self._nearest(best, self.met, spare=4)
        return Point(best, rate, max(bound, rate))

    def _nearest(self, w: Array, others: list[Alternative], spare: int = 1) -> list[Alternative]:
        """The alternatives nearest to an allocation, a few times as many as can bind; others are soon found again."""
        dim = self.setting.arms.shape[1]
        most = spare * (3 * (dim + 1) * (dim + 2) + 50)
        if len(others) <= most:
            return others
        cost = np.array([other.row for other in others]) @ w
        return [others[i] for i in np.argsort(cost, kind="stable")[:most]]

    def _program(self, rows: Array, w: Array) -> tuple[Array, float]:
        """The best allocation against these rows, and what no allocation exceeds."""
        n, K = rows.shape
        scale = float((rows @ w).min())
        if scale <= 1e-250:  # rejected at no cost: nothing to optimise
            return w, float(rows[np.argmin(rows @ w)].max())
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
        outer = np.maximum(solved.x[:K], 0.0)
        multiplier = np.maximum(-solved.ineqlin.marginals, 0.0)
        return outer / outer.sum(), float((multiplier @ rows).max() / multiplier.sum())
