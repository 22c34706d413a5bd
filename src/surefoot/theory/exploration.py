"""How long forced exploration must be: the least known direction, and the level that it leaves.            (T7, T8)"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, exp, inf, log, sqrt

import numpy as np
from scipy.special import lambertw

from surefoot.errors import InvalidInput
from surefoot.problem.checks import Floats

LONGEST = 2**62  # beyond this many pulls the answer is "never"
RANDOM, ROUND_ROBIN = "uniform-random", "round-robin"


def mean_design(arms: Floats, safe_level: Floats) -> Floats:
    """E_FE: the mean over arms of gamma0_k^2 x_k x_k^T, what one uniform pull at the known level adds.        (T7)"""
    z = arms * safe_level[:, None]
    design: Floats = z.T @ z / len(z)
    return design


@dataclass(frozen=True)
class Exploration:
    """Forced exploration at the known safe level, as (T7) and (T8) see it."""

    least: float  # the smallest eigenvalue of E_FE
    longest: float  # the largest gamma0_k^2 |x_k|^2
    arms: int  # K
    dimension: int  # d
    regularization: float  # lambda
    delta: float  # chance that random draws learn less than promised
    kind: str = RANDOM  # or "round-robin", which promises for certain

    @classmethod
    def of(
        cls, arms: Floats, safe_level: Floats, *, regularization: float, delta: float, kind: str = RANDOM
    ) -> Exploration:
        """Forced exploration of these arms, whose features must span."""
        if kind not in (RANDOM, ROUND_ROBIN):
            raise InvalidInput("kind", kind, "is not an exploration", f"Choose {RANDOM!r} or {ROUND_ROBIN!r}.")
        eigenvalues = np.linalg.eigvalsh(mean_design(arms, safe_level))
        longest = float(((arms * safe_level[:, None]) ** 2).sum(axis=1).max())
        if eigenvalues[0] <= 1e-14 * longest:
            reason = "do not span: some direction is never explored"
            raise InvalidInput("arms", arms, reason, "Work in the span of the arms, for example problem.features.")
        K, d = arms.shape
        return cls(float(eigenvalues[0]), longest, K, d, regularization, delta, kind)

    @property
    def informative_from(self) -> float:
        """The number of random pulls above which (T7) says more than nothing."""
        return 0.0 if self.kind == ROUND_ROBIN else 2.0 * self.longest * log(self.dimension / self.delta) / self.least

    def share_kept(self, pulls: float) -> float:
        """The factor of (T7): the share of the mean design that surely has been learned, at least 0."""
        if self.kind == ROUND_ROBIN:
            return 1.0
        return max(0.0, 1.0 - sqrt(max(self.informative_from, 0.0) / pulls)) if pulls > 0 else 0.0

    def design_bound(self, pulls: float) -> float:
        """lambda + T l(T): a lower bound on the smallest eigenvalue of A after that many pulls.               (T7)

        For uniform draws with probability 1 - delta (matrix Chernoff), for whole cycles of round-robin always.
        """
        return self.regularization + pulls * self.least * self.share_kept(pulls)


@dataclass(frozen=True)
class LevelTarget:
    """What exploration must achieve for one safety signal of the best arm x*."""

    length: float  # |x*|
    room: float  # G: how far the pessimistic value of the signal may lie below the truth, twice the half-width
    noise: float  # R_s
    norm: float  # D_s
    delta: float  # delta_s' of this signal

    def radius(self, plan: Exploration, pulls: float) -> float:
        """beta_T of the safety signal, for pulls of squared length at most gamma0^2 L^2; (E4) when d = 1.     (T8)"""
        growth = log(1.0 + pulls * plan.longest / plan.regularization)
        a, b = _counts(plan)
        return self.noise * sqrt(a * growth + b * log(1.0 / self.delta)) + sqrt(plan.regularization) * self.norm

    def met(self, plan: Exploration, pulls: float) -> bool:
        """Whether 2 beta_T |x*| / sqrt(lambda + T l(T)) <= G.                                                 (T8)"""
        return 2.0 * self.radius(plan, pulls) * self.length <= self.room * sqrt(plan.design_bound(pulls))


def _counts(plan: Exploration) -> tuple[float, float]:
    """The factors of log(1 + T q) and of log(1/delta) in the squared radius: d and d, or 1 and 2 when d = 1."""
    return (plan.dimension, plan.dimension) if plan.dimension > 1 else (1.0, 2.0)


def level_room(signal: float, eta0: float, best_level: float, loss: float) -> float:
    """G = x*.mu* - eta0 / (gamma* (1 - kappa)), the room for a level that loses a share kappa of the best.    (T8)"""
    return inf if loss >= 1.0 else signal - eta0 / (best_level * (1.0 - loss))


def exploration_length(plan: Exploration, targets: Sequence[LevelTarget]) -> int:
    """The smallest T that meets every target, in whole cycles for round-robin.                                (T8)

    Pass no target when the known level is already good enough (kappa >= 1 or gamma0 >= gamma* (1 - kappa)): T = 0.
    """
    step = plan.arms if plan.kind == ROUND_ROBIN else 1
    return max((_smallest(plan, target, step) for target in targets), default=0)


def _smallest(plan: Exploration, target: LevelTarget, step: int) -> int:
    _refuse_no_room(target)
    if target.met(plan, 0):
        return 0
    high = step
    while not target.met(plan, high):
        high *= 2
        if high > LONGEST:
            raise InvalidInput("room", target.room, "is too little for any exploration to fill", _MORE_ROOM)
    low = high // 2 if high > step else 0  # not met there; once met it stays met, the bound falls like log T / T
    while high - low > step:
        middle = (low + high) // 2 // step * step
        low, high = (low, middle) if target.met(plan, middle) else (middle, high)
    return high


_MORE_ROOM = "Choose a larger epsilon: a limited best arm's level can only be learned up to a margin."


def _refuse_no_room(target: LevelTarget) -> None:
    if not target.room > 0.0:
        raise InvalidInput("room", target.room, "must be above 0 for exploration ever to suffice", _MORE_ROOM)


def exploration_length_closed_form(plan: Exploration, targets: Sequence[LevelTarget]) -> int:
    """An upper bound on `exploration_length` by the lower branch of Lambert's W.                              (T8)

    Two inequalities make the condition solvable: l(T) >= share l from informative_from / (1 - share)^2 on, and
    (a + b)^2 <= (1 + s) a^2 + (1 + 1/s) b^2 for the two parts of the radius. The textbook choice is share = 1/2, s = 1;
    every choice is valid, so the best of a ladder of both is returned.
    """
    shares = [1.0] if plan.kind == ROUND_ROBIN else [1.0 - 0.5**n for n in range(1, 8)]
    splits = [2.0**n for n in range(-8, 9)]
    length = max((min(_closed(plan, t, f, s) for f in shares for s in splits) for t in targets), default=0.0)
    cycle = plan.arms if plan.kind == ROUND_ROBIN else 1
    return ceil(length / cycle) * cycle


def _closed(plan: Exploration, target: LevelTarget, share: float, split: float) -> float:
    _refuse_no_room(target)
    l_ = share * plan.least
    enough = plan.informative_from / (1.0 - share) ** 2 if share < 1.0 else 0.0
    c2 = (2.0 * target.length / target.room) ** 2
    q = plan.longest / plan.regularization
    a, b = _counts(plan)
    noisy = (1.0 + split) * c2 * target.noise**2
    biased = (1.0 + 1.0 / split) * c2 * plan.regularization * target.norm**2
    B = noisy * a * q / l_
    A = 1.0 + (q / l_) * (biased + noisy * b * log(1.0 / target.delta) - plan.regularization)
    s = A / B + log(B)
    if s < 1.0:  # u - B log u > A for every u: every T will do
        return enough
    return max(enough, (B * _lower_branch(s) - 1.0) / q)


def _lower_branch(s: float) -> float:
    """-W_{-1}(-exp(-s)) for s >= 1: the solution y >= 1 of y - log y = s, also where exp(-s) underflows."""
    if s < 700.0:
        return float(-lambertw(-exp(-s), -1).real)
    y = s
    for _ in range(50):  # a contraction with factor 1/y < 1/700
        y = s + log(y)
    return y
