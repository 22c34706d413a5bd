"""The answer that is quickest to certify: a search over arms and levels.                                       (T9)

On an interval of answer levels no allocation does better than against the alternatives that reject *all* of it. That
bounds every answer of the interval; intervals are halved, highest bound first, until the bound meets what some answer
and allocation reach.
"""

from __future__ import annotations

import heapq
import math
from typing import NamedTuple

import numpy as np

from surefoot.errors import NumericalBreakdown
from surefoot.theory.alternatives import Array, Setting, Span, information_scale
from surefoot.theory.cutting_planes import Allocator

ROUNDING = 1e-12
HOPELESS = 1e-24  # a rate below this share of what one pull can tell is 0 up to rounding
COARSE = 0.03  # accuracy of a first look at an interval
INTERVALS = 4_000  # at most


class Optimum(NamedTuple):
    """The best answer found and bounds on what any answer can reach."""

    arm: int
    level: float
    allocation: Array
    rate: float
    bound: float
    programs: int


def correct_answers(setting: Setting) -> list[Span]:
    """The correct answers; level 0 of any arm is doing nothing.                                              (T9)"""
    values = setting.values
    best = max(0.0, float((setting.best_level * values).max()))
    least = best - setting.epsilon - ROUNDING * (best + setting.epsilon)
    found = [Span(0, 0.0, 0.0)] if least <= 0.0 else []
    for k, (value, top) in enumerate(zip(values.tolist(), setting.best_level.tolist(), strict=True)):
        if setting.grid.size:
            fits = (setting.grid <= top) & (setting.grid * value >= least)
            found += [Span(k, float(g), float(g)) for g in setting.grid[fits]]
        elif value > 0.0 and top * value >= least:
            found.append(Span(k, min(max(least / value, 0.0), top), top))
        elif value <= 0.0 and least < 0.0:  # worse than nothing, yet near enough
            found.append(Span(k, 0.0, min(top, least / value) if value < 0.0 else top))
    return found


def quickest_answer(setting: Setting, answers: list[Span], *, tolerance: float) -> Optimum:
    """The answer and allocation of (T9): the best rate, and what no answer and no allocation exceed."""
    return _Search(setting, tolerance).run(answers)


def at_known_level(setting: Setting, span: Span) -> list[Span]:
    """A span cut in two where its answers begin to need evidence of being safe."""
    known = float(setting.known[span.arm])
    if span.low < known < span.high:
        return [Span(span.arm, span.low, known), Span(span.arm, known, span.high)]
    return [span]


class _Search:
    def __init__(self, setting: Setting, tolerance: float) -> None:
        self.setting, self.tolerance = setting, tolerance
        self.nothing = HOPELESS * information_scale(setting)
        self.allocators: dict[int, Allocator] = {}
        self.best: tuple[Span, Array, float] | None = None
        self.settled = 0.0  # the highest bound among intervals that need no further look
        self.waiting: list[tuple[float, int, Span, Array | None]] = []
        self.number = 0

    def run(self, answers: list[Span]) -> Optimum:
        self.tops = {(span.arm, span.high) for span in answers}
        for span in answers:
            self.allocators.setdefault(span.arm, Allocator(self.setting))
            for part in at_known_level(self.setting, span):
                self._push(math.inf, part, None)
        for _ in range(INTERVALS):
            if not self.waiting or -self.waiting[0][0] <= self._worth():
                break
            negative, _, span, start = heapq.heappop(self.waiting)
            self._open(-negative, span, start)
        if self.best is None:
            raise NumericalBreakdown("the search over answers of the lower bound", 0)
        span, w, rate = self.best
        bound = max([rate, self.settled, *(-node[0] for node in self.waiting)])
        return Optimum(span.arm, span.high, w, rate, bound, sum(a.programs for a in self.allocators.values()))

    def _open(self, bound: float, span: Span, start: Array | None) -> None:
        """Bounds an interval of answers, tries one of them, and halves it where it may hold a better one."""
        allocator, sharp = self.allocators[span.arm], self.tolerance / 4.0
        point, narrow = span.low == span.high, span.high - span.low <= 4.0 * ROUNDING * span.high
        ahead = bound / self._worth() - 1.0 if self._worth() > 0.0 else math.inf
        accuracy = sharp if narrow else max(sharp, min(COARSE, 0.1 * ahead))
        found = allocator.solve([span], self._worth(), accuracy, start)
        bound = min(bound, found.bound)
        if point:
            self._try(span, found.w, found.rate)
        else:
            middle = 0.5 * (span.low + span.high)
            for level in {middle, *((span.high,) if (span.arm, span.high) in self.tops else ())}:
                one = Span(span.arm, level, level)
                self._try(one, found.w, allocator.rate(found.w, [one], min(accuracy, COARSE) / 4.0))
        if narrow or bound <= self._worth():
            self.settled = max(self.settled, bound)
            return
        self._push(bound, Span(span.arm, span.low, middle), found.w)
        self._push(bound, Span(span.arm, middle, span.high), found.w)

    def _push(self, bound: float, span: Span, start: Array | None) -> None:
        self.number += 1
        heapq.heappush(self.waiting, (-bound, self.number, span, start))

    def _try(self, span: Span, w: Array, rate: float) -> None:
        if self.best is None or rate > self.best[2] or (rate == self.best[2] and span.high > self.best[0].high):
            self.best = span, w, rate

    def _worth(self) -> float:
        """A bound at or below this is not worth improving."""
        return self.nothing if self.best is None else max(self.nothing, self.best[2] * (1.0 + self.tolerance))


def every_answer(setting: Setting, answers: list[Span], *, tolerance: float) -> Optimum:
    """The best allocation against the alternatives that reject every correct answer at once."""
    allocator = Allocator(setting)
    found = allocator.solve(answers, HOPELESS * information_scale(setting), tolerance)
    return Optimum(-1, np.nan, found.w, found.rate, found.bound, allocator.programs)
