"""How many pulls no safe method can do without: the lower bound and the allocation that would reach it.        (T9)"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np

from surefoot.errors import InvalidInput
from surefoot.problem import Problem
from surefoot.problem.checks import Floats, frozen
from surefoot.theory.alternatives import Setting, information_scale
from surefoot.theory.cutting_planes import HOPELESS, best_allocation
from surefoot.worlds import Linear

NULL = -1  # the answer "do nothing"
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class LowerBound:
    """The least number of pulls, as delta -> 0, and the oracle that would need no more."""

    pulls: float  # kl(delta, 1 - delta) t_star
    t_star: float  # T*: pulls per unit of evidence; no answer and no allocation do better
    answer: int  # the arm that is quickest to certify, -1 for doing nothing
    level: float  # and the level at which to recommend it
    allocation: Floats  # (K,) shares of pulls
    pull_levels: Floats  # (K,) the levels at which they are made
    t_star_attained: float  # what the allocation reaches, at least t_star
    gap: float  # t_star_attained / t_star - 1: how far the optimisation is from certain
    answers: tuple[int, ...]  # every arm with a correct level, and -1 where doing nothing is correct
    programs: int  # linear programs solved

    @property
    def unique(self) -> bool:
        """Whether one arm alone can be right; otherwise the bound is a rate as delta -> 0 and not exact before."""
        return len(self.answers) == 1


def lower_bound(world: Linear, problem: Problem, *, pull_levels: object = None, tolerance: float = 1e-4) -> LowerBound:
    """The least number of pulls for this problem in this world, over all methods that keep every pull safe.   (T9)

    For Gaussian noise of the world's size, and alternatives not cut by the norm bounds. Arms are pulled at their
    highest safe level unless `pull_levels` (one number or one per arm) holds them elsewhere. The optimisation stops
    when its two bounds are within the relative tolerance; `gap` says how near they came. Refused when the problem
    belongs to another world, when its known level is not safe there, and when nothing can ever be certified.
    """
    world.matches(problem)
    levels = world.best_levels(problem)
    if (problem.safe_level > levels * (1.0 + ROUNDING)).any():
        k = int(np.argmax(problem.safe_level - levels))
        reason = f"is not safe for arm {problem.names[k]!r}, which is safe up to {levels[k]:.6g} in this world"
        raise InvalidInput("safe_level", float(problem.safe_level[k]), reason, "Lower the known safe level.")
    return lower_bound_for(
        problem.features,
        values=world.values,
        safety=world.safety_values,
        eta0=world.limit,
        levels=levels,
        noise=world.noise,
        safety_noise=world.safety_noise,
        epsilon=problem.epsilon,
        delta=problem.delta,
        max_level=problem.max_level,
        level_grid=problem.level_grid,
        pull_levels=None if pull_levels is None else _levels_of(pull_levels, problem.size),
        tolerance=tolerance,
    )


def _levels_of(given: object, arms: int) -> Floats:
    remedy = "Give one level, or one per arm, above 0 and up to 1."
    try:
        levels = np.broadcast_to(np.asarray(given, dtype=np.float64), (arms,))
    except (TypeError, ValueError):
        raise InvalidInput("pull_levels", given, f"does not fit {arms} arms", remedy) from None
    if not ((levels > 0.0) & (levels <= 1.0)).all():
        raise InvalidInput("pull_levels", given, "must lie above 0 and up to 1", remedy)
    return levels


def lower_bound_for(
    arms: Floats,
    *,
    values: Floats,
    safety: Floats,
    eta0: Floats,
    levels: Floats,
    noise: float,
    safety_noise: Floats,
    epsilon: float,
    delta: float,
    max_level: Floats | None = None,
    level_grid: Sequence[float] = (),
    pull_levels: Floats | None = None,
    tolerance: float = 1e-4,
) -> LowerBound:
    """The same from arrays: x_k (K, d) that span, x_k.theta (K,), x_k.mu^s (m, K), eta0 (m,), gamma_k* (K,).  (T9)

    m = 0 (arrays of shape (0, K) and (0,)) is the problem without a safety limit.
    """
    if not 0.0 < tolerance < 1.0:
        raise InvalidInput("tolerance", tolerance, "must lie between 0 and 1", "Try 1e-4.")
    setting = Setting(
        arms=np.asarray(arms, dtype=np.float64),
        values=np.asarray(values, dtype=np.float64),
        safety=np.asarray(safety, dtype=np.float64),
        eta0=np.asarray(eta0, dtype=np.float64),
        noise=float(noise),
        safety_noise=np.asarray(safety_noise, dtype=np.float64),
        epsilon=float(epsilon),
        pulls_at=np.asarray(levels if pull_levels is None else pull_levels, dtype=np.float64),
        best_level=np.asarray(levels, dtype=np.float64),
        cap=np.ones(len(arms)) if max_level is None else np.asarray(max_level, dtype=np.float64),
        grid=np.asarray(level_grid, dtype=np.float64),
    )
    _refuse_unlearnable(setting)
    answers = correct_answers(setting)
    found = best_allocation(setting, answers, tolerance=tolerance)
    if not found.rate > HOPELESS * information_scale(setting):
        reason = "leaves nothing to certify: a tie, or a best level that would have to be known exactly"
        raise InvalidInput("epsilon", epsilon, reason, "Choose a larger epsilon.")
    evidence = (1.0 - 2.0 * delta) * log((1.0 - delta) / delta) if delta < 0.5 else 0.0  # kl(delta, 1 - delta)
    arms_right = {arm if high > 0.0 else NULL for arm, _, high in answers}
    arms_right |= {NULL} if any(low == 0.0 for _, low, _ in answers) else set()
    return LowerBound(
        pulls=evidence / found.bound,
        t_star=1.0 / found.bound,
        answer=found.arm if found.level > 0.0 else NULL,
        level=float(found.level),
        allocation=frozen(found.allocation),
        pull_levels=frozen(setting.pulls_at),
        t_star_attained=1.0 / found.rate,
        gap=found.bound / found.rate - 1.0,
        answers=tuple(sorted(arms_right)),
        programs=found.programs,
    )


def correct_answers(setting: Setting) -> list[tuple[int, float, float]]:
    """The correct answers as (arm, lowest level, highest level); level 0 of any arm is doing nothing.         (T9)"""
    worth = setting.best_level * setting.values
    best = max(0.0, float(worth.max()))
    least = best - setting.epsilon - ROUNDING * (best + setting.epsilon)
    found: list[tuple[int, float, float]] = [(0, 0.0, 0.0)] if least <= 0.0 else []
    for k, (value, top) in enumerate(zip(setting.values, setting.best_level, strict=True)):
        if setting.grid.size:
            fits = (setting.grid <= top) & (setting.grid * value >= least)
            found += [(k, float(g), float(g)) for g in setting.grid[fits]]
        elif value > 0.0 and top * value >= least:
            found.append((k, float(min(max(least / value, 0.0), top)), float(top)))
        elif value <= 0.0 and least < 0.0:  # worse than nothing, yet near enough
            found.append((k, 0.0, float(min(top, least / value)) if value < 0.0 else float(top)))
    return found


def _refuse_unlearnable(setting: Setting) -> None:
    reach = setting.arms * setting.pulls_at[:, None]
    if np.linalg.matrix_rank(reach) < setting.arms.shape[1]:
        reason = "do not span the space at the levels that can be pulled"
        raise InvalidInput("arms", setting.arms, reason, "Work in the span of the arms, for example problem.features.")
