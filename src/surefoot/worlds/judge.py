"""The judge: what one who knows the truth says of pulls and answers.

Arms and levels are single ones or arrays, and so is what is said of them. Arm -1 stands for doing nothing, which is
safe and worth 0.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from surefoot.problem import Problem
from surefoot.problem.checks import Floats
from surefoot.worlds.protocol import ArmAtLevel, NumberedPull

Arms: TypeAlias = int | NDArray[np.int64]
Levels: TypeAlias = float | Floats
Values: TypeAlias = np.float64 | Floats
Flags: TypeAlias = np.bool_ | NDArray[np.bool_]

# A level computed as eta0 / (x . mu) and multiplied back may miss eta0 by a rounding error; that is not unsafe.
TOLERANCE = 1e-12  # relative
SEARCHED = 2001  # levels of a continuous dial among which the best is searched for
SLACK = 1e-9  # of V*, or of 1 where V* is less: values that differ by rounding are not told apart


def keeps_limits(means: Floats, limits: Floats) -> Flags:
    """Whether each of the safety signals, with these means (m, ...), stays at or above its limit (m,)."""
    lowest = (limits * (1.0 + TOLERANCE)).reshape(-1, *(1,) * (means.ndim - 1))
    kept: Flags = (means >= lowest).all(axis=0)
    return kept


def judge_of(problem: Problem, means: Callable[[Any, Any], Floats]) -> "Judge":
    """The truth about a problem by the means (1 + m, ...) of arms and levels, given as arrays.

    The best pull is searched for among the settings of the dial; on a continuous dial among 2,001 levels, so V* may be
    too low by what the reward changes over a part in 2,000 of the dial.
    """
    levels = np.array(problem.level_grid or np.linspace(0.0, 1.0, SEARCHED))
    arms, limits = np.arange(problem.size)[:, np.newaxis], np.array([limit.eta0 for limit in problem.safety])
    arms, levels = np.broadcast_arrays(arms, levels)
    found = means(arms, levels)
    allowed = levels <= problem.max_level[:, np.newaxis]
    worth = np.where(allowed & keeps_limits(found[1:], limits), found[0], -np.inf)
    k, place = np.unravel_index(worth.argmax(), worth.shape)
    some = bool(worth[k, place] > 0.0)  # or doing nothing is best
    return Judge(
        means=means,
        limits=limits,
        epsilon=problem.epsilon,
        best_arm=int(k) if some else -1,
        best_level=float(levels[k, place]) if some else 0.0,
        best_value=float(worth[k, place]) if some else 0.0,
        best_without_limits=float(found[0][allowed].max()),
        with_reserve=lambda share: best_with_reserve(problem, means, share),
    )


def best_with_reserve(problem: Problem, means: Callable[[Any, Any], Floats], share: float) -> float:
    """The best that keeps every limit with this share of its room in reserve, searched for as `judge_of` does."""
    levels = np.array(problem.level_grid or np.linspace(0.0, 1.0, SEARCHED))
    arms, levels = np.broadcast_arrays(np.arange(problem.size)[:, np.newaxis], levels)
    found, limits = means(arms, levels), np.array([limit.eta0 for limit in problem.safety])
    kept = keeps_limits(found[1:], (1.0 - share) * limits) & (levels <= problem.max_level[:, np.newaxis])
    return max(float(np.where(kept, found[0], -np.inf).max()), 0.0)


@dataclass(frozen=True)
class Verdict:
    """How one experiment looks to one who knows the truth."""

    unsafe_pulls: int
    first_unsafe: int | None
    answer_safe: bool | None  # None without an answer
    shortfall: float | None  # of a safe answer's value from the best safe one


@dataclass(frozen=True, eq=False)
class Judge:
    """The truth about one problem."""

    means: Callable[[Any, Any], Floats]  # (1 + m, ...) of the reward and the safety signals, from (arm >= 0, level)
    limits: Floats  # (m,) eta0, all below zero
    epsilon: float
    best_arm: int  # -1 when doing nothing is best
    best_level: float
    best_value: float  # V*
    best_without_limits: float
    with_reserve: Callable[[float], float] | None = None  # the best that keeps limits with a share of room in reserve

    def value(self, arm: Arms, level: Levels) -> Values:
        """The mean reward of this arm at this level."""
        value: Values = self._means(arm, level)[0]
        return value

    def is_safe(self, arm: Arms, level: Levels) -> Flags:
        """Whether every safety signal's mean keeps its limit, up to 1e-12 of the limit for rounding."""
        return keeps_limits(self._means(arm, level)[1:], self.limits)

    def shortfall(self, arm: Arms, level: Levels) -> Values:
        """How far the answer's value is below V*; negative for an unsafe answer that is worth more."""
        return self.best_value - self.value(arm, level)

    def is_wrong(self, arm: Arms, level: Levels) -> Flags:
        """Whether the answer is unsafe or not within epsilon of V*: breaks (b)."""
        return self.is_too_far(arm, level) | ~self.is_safe(arm, level)

    def is_too_far(
        self, arm: Arms, level: Levels, *, best: float | None = None, forgiven: Values | float = 0.0
    ) -> Flags:
        """Whether the answer's value is further than epsilon, and what is forgiven, below the best (V*, or another)."""
        slack = SLACK * max(1.0, abs(self.best_value))
        missing = (self.best_value if best is None else best) - self.value(arm, level)
        return missing > self.epsilon + forgiven + slack

    def unlearned(self, levels: Floats) -> Values:
        """What Proposition 1 leaves open: the part of V* above the level (..., K) certified for the best arm."""
        if self.best_arm < 0:
            return np.float64(0.0)
        unlearned: Values = (1.0 - levels[..., self.best_arm] / self.best_level) * self.best_value
        return unlearned

    def verdict(self, pulls: Sequence[NumberedPull], answer: ArmAtLevel | None) -> Verdict:
        """What the truth says of these pulls, in their order, and of the answer."""
        arms, levels = np.array([pull.arm for pull in pulls], np.int64), np.array([pull.level for pull in pulls])
        unsafe = np.flatnonzero(~self.is_safe(arms, levels))
        first = pulls[unsafe[0]].number if len(unsafe) else None
        safe = None if answer is None else bool(self.is_safe(answer.arm, answer.level))
        shortfall = float(self.shortfall(answer.arm, answer.level)) if answer is not None and safe else None
        return Verdict(len(unsafe), first, safe, shortfall)

    def _means(self, arm: Arms, level: Levels) -> Floats:
        """The means of every signal (1 + m, ...); nothing is read where nothing is done."""
        arms, levels = np.broadcast_arrays(arm, np.asarray(level, np.float64))
        return np.where(arms < 0, 0.0, self.means(np.where(arms < 0, 0, arms), levels))
