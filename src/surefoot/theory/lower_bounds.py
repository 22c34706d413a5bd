"""How many pulls no safe method can do without: the lower bound and the allocation that would reach it.        (T9)

`lower_bound` is for methods that are told what the problem states: the known safe levels, and with `norms=True` the
norms too. `uncut_reference` leaves all that out, which makes the number larger and no bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isinf, log
from typing import Any, NamedTuple

import numpy as np

from surefoot.errors import InvalidInput
from surefoot.policies.leaning import leaned_on
from surefoot.problem import Problem
from surefoot.problem.checks import Floats, frozen
from surefoot.problem.norms import LARGEST, NORM, bounds_of, noise_laws
from surefoot.theory.alternatives import Setting, information_scale
from surefoot.theory.answers import HOPELESS, ROUNDING, correct_answers, every_answer, quickest_answer
from surefoot.worlds import Linear

NULL = -1  # the answer "do nothing"
TRUE_ENOUGH = 1e-9  # rounding that a stated norm or noise may fall short of the truth by


class Evidence(NamedTuple):
    """The information that must be collected against a truth in which the answer is worse, or is unsafe."""

    worse: float  # k_r
    unsafe: float  # k_s


@dataclass(frozen=True, eq=False)
class LowerBound:
    """The least expected number of pulls up to the first unsafe one, and the oracle that would need no more."""

    pulls: float  # evidence times t_star
    t_star: float  # T*: pulls per unit of evidence; no answer and no allocation do better
    evidence: Evidence
    answer: int | None  # the arm that is quickest to certify, -1 for doing nothing; None where every answer counts
    level: float | None  # and the level at which to recommend it
    allocation: Floats  # (K,) shares of pulls
    pull_levels: Floats  # (K,) the levels at which they are made
    t_star_attained: float  # what the allocation reaches, at least t_star
    gap: float  # t_star_attained / t_star - 1: how far the optimisation is from certain
    answers: tuple[int, ...]  # every arm with a correct level, and -1 where doing nothing is correct
    strict: bool  # holds at these deltas; otherwise a rate as both go to 0
    programs: int  # linear programs solved

    @property
    def unique(self) -> bool:
        """Whether one arm alone can be right."""
        return len(self.answers) == 1


def evidence_needed(delta: float, delta_safety: float) -> Evidence:
    """k_r and k_s: right and safe has probability 1 - delta - delta_safety, elsewhere delta or delta_safety. Without
    limits, where delta_safety is 0, no answer is unsafe and no evidence of that is needed.              (T9, P1)"""
    right = 1.0 - delta - delta_safety
    return Evidence(_divergence(right, delta), _divergence(right, delta_safety) if delta_safety > 0.0 else 0.0)


def uncut_evidence(delta: float) -> Evidence:
    """kl(delta, 1 - delta) against every alternative: identification alone, as the literature has it."""
    needed = _divergence(1.0 - delta, delta)
    return Evidence(needed, needed)


def _divergence(p: float, q: float) -> float:
    """kl(p, q) of two coins, 0 unless p is the larger."""
    if p <= q:
        return 0.0
    return p * log(p / q) + ((1.0 - p) * log((1.0 - p) / (1.0 - q)) if p < 1.0 else 0.0)


def lower_bound(
    world: Linear,
    problem: Problem,
    *,
    norms: bool = False,
    strict: bool = False,
    pull_levels: object = None,
    tolerance: float = 1e-3,
) -> LowerBound:
    """The least expected pulls, up to the first unsafe one, of any method that keeps the promises (a), (b).     (T9)

    For Gaussian noise of the world's size, and methods that are told the known safe levels; with `norms` also for
    those that use the stated norms, which need fewer, or of stated largest effects what the paper's policies use of
    them, the length of the weights in even coordinates. Where several answers are correct the number is a rate as both
    deltas go to 0; with `strict` only alternatives that reject every correct answer count, and it holds as it stands.

    Arms are pulled at their highest safe level unless `pull_levels` (one number or one per arm) holds them elsewhere;
    those that cannot be tried have no share.
    The number lies below the true optimum, by `gap` at most: relative, within the tolerance. Refused when the problem
    belongs to another world, when what it states is not true there, and when nothing can ever be certified.
    """
    _refuse_untrue(world, problem, norms)
    leaning = leaned_on(problem) if norms else None
    posed = _posed(world, problem, pull_levels)
    return lower_bound_for(
        **(posed if leaning is None else {**posed, "arms": leaning.features}),
        evidence=evidence_needed(problem.delta, problem.delta_safety),
        safe_level=problem.safe_level,
        norm=None if leaning is None else float(leaning.bounds[0]),
        safety_norm=None if leaning is None else leaning.bounds[1:].tolist(),
        strict=strict,
        tolerance=tolerance,
    )


def uncut_reference(
    world: Linear, problem: Problem, *, pull_levels: object = None, tolerance: float = 1e-3
) -> LowerBound:
    """The number of (T9) for methods that are told nothing, with kl(delta, 1 - delta): a reference, and no bound.

    It counts alternatives in which the known levels are unsafe, which no method need consider: methods beat it.
    """
    posed = _posed(world, problem, pull_levels)
    return lower_bound_for(**posed, evidence=uncut_evidence(problem.delta), tolerance=tolerance)


def _posed(world: Linear, problem: Problem, pull_levels: object) -> dict[str, Any]:
    """The truth and the dials, as `lower_bound_for` takes them."""
    world.matches(problem)
    return {
        "arms": problem.features,
        "values": world.values,
        "safety": world.safety_values,
        "eta0": world.limit,
        "levels": world.best_levels(problem),
        "noise": world.noise,
        "safety_noise": world.safety_noise,
        "epsilon": problem.epsilon,
        "max_level": problem.max_level,
        "level_grid": problem.level_grid,
        "pull_levels": _levels_of(pull_levels, problem, world.best_levels(problem)),
    }


def _refuse_untrue(world: Linear, problem: Problem, norms: bool) -> None:
    """Methods promise nothing where what they are told is untrue: there is then nothing to bound."""
    world.matches(problem)
    levels = world.best_levels()
    if (problem.safe_level > levels * (1.0 + ROUNDING)).any():
        k = int(np.argmax(problem.safe_level - levels))
        reason = f"is not safe for arm {problem.names[k]!r}, which is safe up to {levels[k]:.6g} in this world"
        raise InvalidInput("safe_level", float(problem.safe_level[k]), reason, "Lower the known safe level.")
    limits = [f"safety[{limit.name!r}]" for limit in problem.safety]
    stated = [law.bound for law in noise_laws(problem)]  # infinite where it is unknown: then no noise is too large
    _refuse_less("noise", limits, stated, [world.noise, *world.safety_noise])
    if norms:
        kind, stated_sizes = bounds_of(problem)
        true = {
            NORM: [world.reward_norm, *world.safety_norm],
            LARGEST: [world.reward_largest, *world.safety_largest],
        }
        _refuse_less(kind, limits, stated_sizes.tolist(), true[kind])


def _refuse_less(what: str, limits: list[str], stated: list[float], true: list[float]) -> None:
    for owner, here, there in zip(["reward", *limits], stated, true, strict=True):
        if there > here * (1.0 + TRUE_ENOUGH):
            reason = f"is less than the {what} {there:.6g} of this world"
            raise InvalidInput(f"{owner}.{what}", here, reason, "State it at least so large.")


def _levels_of(given: object, problem: Problem, best: Floats) -> Floats | None:
    """Where arms are pulled, if not all at their highest safe level; at 0 those that cannot be tried.        (P2)"""
    if given is None:
        return None if problem.pullable.all() else best * problem.pullable
    arms = problem.size
    remedy = "Give one level, or one per arm, above 0 and up to 1."
    try:
        levels = np.broadcast_to(np.asarray(given, dtype=np.float64), (arms,))
    except (TypeError, ValueError):
        raise InvalidInput("pull_levels", given, f"does not fit {arms} arms", remedy) from None
    if not ((levels > 0.0) & (levels <= 1.0)).all():
        raise InvalidInput("pull_levels", given, "must lie above 0 and up to 1", remedy)
    return np.asarray(levels * problem.pullable)


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
    evidence: Evidence,
    safe_level: Floats | None = None,
    norm: float | None = None,
    safety_norm: Sequence[float | None] | None = None,
    max_level: Floats | None = None,
    level_grid: Sequence[float] = (),
    pull_levels: Floats | None = None,
    strict: bool = False,
    tolerance: float = 1e-3,
) -> LowerBound:
    """The same from arrays: x_k (K, d) that span, x_k.theta (K,), x_k.mu^s (m, K), eta0 (m,), gamma_k* (K,).  (T9)

    What is None (`safe_level`, `norm`, `safety_norm`) is not told to the method. m = 0 (arrays of shape (0, K) and
    (0,)) is the problem without a safety limit.
    """
    if not 0.0 < tolerance < 1.0:
        raise InvalidInput("tolerance", tolerance, "must lie between 0 and 1", "Try 1e-3.")
    x, eta = np.asarray(arms, dtype=np.float64), np.asarray(eta0, dtype=np.float64)
    counted = evidence if max(evidence) > 0.0 else Evidence(1.0, 1.0)  # T* is defined where no evidence is needed
    setting = Setting(
        arms=x,
        theta=_weights(x, values),
        mu=_weights(x, np.asarray(safety).T).T,
        eta0=eta,
        noise=float(noise),
        safety_noise=np.asarray(safety_noise, dtype=np.float64),
        epsilon=float(epsilon),
        pulls_at=np.asarray(levels if pull_levels is None else pull_levels, dtype=np.float64),
        best_level=np.asarray(levels, dtype=np.float64),
        cap=np.ones(len(x)) if max_level is None else np.asarray(max_level, dtype=np.float64),
        grid=np.asarray(level_grid, dtype=np.float64),
        known=np.zeros(len(x)) if safe_level is None else np.asarray(safe_level, dtype=np.float64),
        norm=np.inf if norm is None else float(norm),
        safety_norm=np.array(
            [np.inf if d is None else d for d in (safety_norm or [None] * eta.size)], dtype=np.float64
        ),
        worse=counted.worse,
        unsafe=counted.unsafe,
    )
    _refuse_unlearnable(setting)
    answers = correct_answers(setting)
    single = len(answers) == 1 and answers[0].low == answers[0].high
    find = every_answer if strict and not single else quickest_answer
    found = find(setting, answers, tolerance=tolerance)
    if not found.rate > HOPELESS * information_scale(setting):
        reason = "leaves nothing to certify: a tie, or a best level that would have to be known exactly"
        raise InvalidInput("epsilon", epsilon, reason, "Choose a larger epsilon.")
    arms_right = {span.arm if span.high > 0.0 else NULL for span in answers}
    arms_right |= {NULL} if any(span.low == 0.0 for span in answers) else set()
    one, shares = found.arm >= 0, np.where(setting.pulls_at > 0.0, found.allocation, 0.0)
    unit = counted.worse or counted.unsafe
    return LowerBound(
        pulls=1.0 / found.bound if max(evidence) > 0.0 else 0.0,
        t_star=1.0 / (unit * found.bound),
        evidence=evidence,
        answer=(found.arm if found.level > 0.0 else NULL) if one else None,
        level=float(found.level) if one else None,
        allocation=frozen(shares / shares.sum()),
        pull_levels=frozen(setting.pulls_at),
        t_star_attained=1.0 / (unit * found.rate),
        gap=0.0 if isinf(found.rate) else found.bound / found.rate - 1.0,
        answers=tuple(sorted(arms_right)),
        strict=strict or single,
        programs=found.programs,
    )


def _weights(arms: Floats, values: Floats) -> Floats:
    return np.asarray(np.linalg.lstsq(arms, values, rcond=None)[0], dtype=np.float64)


def _refuse_unlearnable(setting: Setting) -> None:
    reach = setting.arms * setting.pulls_at[:, None]
    if np.linalg.matrix_rank(reach) < setting.arms.shape[1]:
        reason = "do not span the space at the levels that can be pulled"
        raise InvalidInput("arms", setting.arms, reason, "Work in the span of the arms, for example problem.features.")
