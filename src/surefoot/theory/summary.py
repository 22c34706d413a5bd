"""All that the theory says about one problem: what `surefoot theory FILE` prints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from math import floor

import numpy as np

from surefoot.errors import InvalidInput, counted
from surefoot.policies.leaning import leaned_on
from surefoot.problem import Problem
from surefoot.problem.checks import Floats
from surefoot.problem.dial import Dial
from surefoot.problem.norms import noise_sizes, refuse_inexact
from surefoot.problem.units import level_in_words
from surefoot.theory.answers import ROUNDING
from surefoot.theory.exploration import (
    RANDOM,
    ROUND_ROBIN,
    Exploration,
    LevelTarget,
    exploration_length,
    exploration_length_closed_form,
    level_room,
)
from surefoot.theory.lower_bounds import NULL, LowerBound
from surefoot.theory.noted_bounds import BOUNDS, noted_bounds
from surefoot.theory.stopping import complexity, level_confidence, stopping_bound, uniform_level_confidence
from surefoot.theory.units import in_pulls, unit_notes
from surefoot.worlds import Linear, World

MOST_PAIRS = 3_000  # one linear program each, about 2 ms


@dataclass(frozen=True)
class PullsAt:
    """Complexity and what follows from it, with every arm held at some level."""

    levels: str  # which levels, in words
    complexity: float  # H(epsilon), (T4)
    pulls: float | None  # K + C(delta), (T5); None where its condition fails
    level_confidence: float | None  # delta_s' by the union over rounds, (T6); None where that is impossible


@dataclass(frozen=True)
class ExplorationNeed:
    """The length of forced exploration that (T8) asks for."""

    kind: str
    pulls: int
    closed_form: int  # upper bound


@dataclass(frozen=True)
class Report:
    """The theory of one problem; fields that need the truth are None or empty without it."""

    arms: int
    dimension: int
    signals: int
    truth_known: bool
    pulls_at: tuple[PullsAt, ...]
    exploration: tuple[ExplorationNeed, ...]
    uniform_level_confidence: float | None  # None without limits
    lower_bound: LowerBound | None = None  # (T9) for methods that lean on no norm
    lower_bound_with_norms: LowerBound | None = None  # for methods that use the stated norms; None where none is stated
    strict_bound: LowerBound | None = None  # the same two from what rejects every correct answer
    strict_bound_with_norms: LowerBound | None = None
    names: Sequence[str] = ()
    dial: Dial | None = None  # in whose units levels are said
    notes: tuple[str, ...] = field(default_factory=tuple)

    def to_dict(self) -> dict[str, object]:
        """The report as plain numbers, texts, lists and dicts."""
        content = {key: value for key, value in asdict(self).items() if key not in (*BOUNDS, "dial")}
        content["pulls_at"] = [asdict(part) for part in self.pulls_at]
        content["exploration"] = [asdict(part) for part in self.exploration]
        content["names"], content["notes"] = list(self.names), list(self.notes)
        bounds = (self.lower_bound, self.lower_bound_with_norms, self.strict_bound, self.strict_bound_with_norms)
        for key, bound in zip(BOUNDS, bounds, strict=True):
            content[key] = None if bound is None else self._bound_content(bound)
        return content

    def _bound_content(self, bound: LowerBound) -> dict[str, object]:
        return {
            "pulls": bound.pulls,
            "t_star": bound.t_star,
            "evidence": bound.evidence._asdict(),
            "strict": bound.strict,
            "answer": None if bound.answer is None else self._answer(bound.answer),
            "level": bound.level,
            "at": None if bound.answer is None else self._level(bound.level),
            "gap": bound.gap,
            "answers": [self._answer(k) for k in bound.answers],
            "allocation": dict(zip(self.names, bound.allocation.tolist(), strict=True)),
        }

    def lines(self) -> list[tuple[str, str]]:
        """What to print, as pairs of a label and a text."""
        shape = f"{counted(self.arms, 'arm')} in {counted(self.dimension, 'dimension')}, "
        shape += counted(self.signals, "safety signal") if self.signals else "no limits"
        out = [("problem", shape)]
        for part in self.pulls_at:
            out.append((f"complexity {part.levels}", f"H = {part.complexity:.5g}"))
            if part.pulls is not None:
                out.append((f"pulls {part.levels}", f"at most {in_pulls(part.pulls)} after exploration"))
            if part.level_confidence is not None:
                out.append((f"level confidence {part.levels}", f"{part.level_confidence:.3g} by a union over rounds"))
        if self.uniform_level_confidence is not None:
            out.append(("level confidence", f"{self.uniform_level_confidence:.3g} per signal with sets for all rounds"))
        for need in self.exploration:
            out.append(
                (
                    f"exploration, {need.kind}",
                    f"{in_pulls(need.pulls)} pulls (closed form {in_pulls(need.closed_form)})",
                )
            )
        if self.lower_bound is not None:
            out += self._bound_lines(self.lower_bound)
        return out + [("note", note) for note in self.notes]

    def _bound_lines(self, bound: LowerBound) -> list[tuple[str, str]]:
        main = sorted(((share, k) for k, share in enumerate(bound.allocation) if share >= 0.0005), reverse=True)[:10]
        shares = ", ".join(f"{self.names[k]} {share:.1%} at {self._level(bound.pull_levels[k])}" for share, k in main)
        out = [("lower bound", f"{_least(bound)} for methods that lean on no norm, as SafeGap ({_accuracy(bound)})")]
        told = self.lower_bound_with_norms
        if told is not None:
            out.append(
                ("lower bound, norms", f"{_least(told)} for methods that use the stated norms ({_accuracy(told)})")
            )
        for words, strict in (("", self.strict_bound), (", norms", self.strict_bound_with_norms)):
            if strict is not None:
                text = f"{_least(strict)} at these deltas, whichever correct answer is given ({_accuracy(strict)})"
                out.append((f"strict bound{words}", text))
        if bound.answer is not None:
            out.append(("quickest answer", f"{self._answer(bound.answer)} at {self._level(bound.level)}"))
        return [*out, ("oracle allocation", shares)]

    def _level(self, level: float | None) -> str:
        """The level in the words of the problem; what rounding took from a true level is no part of it. Doing nothing
        has none."""
        return level_in_words(self.dial, float(f"{level or 0.0:.10g}"))

    def _answer(self, arm: int) -> str:
        return "do nothing" if arm == NULL else self.names[arm]


def _least(bound: LowerBound) -> str:
    """The number of pulls, rounded down: a bound is not rounded up."""
    return f"{floor(bound.pulls):,} pulls" if bound.pulls >= 10.0 else f"{floor(10.0 * bound.pulls) / 10.0:g} pulls"


def _accuracy(bound: LowerBound) -> str:
    return f"T* = {bound.t_star:.5g}, exact within {bound.gap:.1g}"


def report(problem: Problem, world: World | None = None, *, tolerance: float = 1e-3) -> Report:
    """The theory of a problem, and of the world it is posed in when the truth is supplied.

    Where a bound does not apply its place is empty and a note says why and what would help.
    """
    if world is not None and not isinstance(world, Linear):
        raise InvalidInput("world", world, "is not linear, and the theory knows no other", "Take a sf.worlds.Linear.")
    if world is not None:
        world.matches(problem)
    notes: list[str] = []

    def unless_refused(compute: Callable[[], float]) -> float | None:
        try:
            return compute()
        except InvalidInput as refusal:
            if str(refusal) not in notes:
                notes.append(str(refusal))
            return None

    signals = len(problem.safety)
    needs = _exploration_needs(problem, world, notes) if signals else ()
    explored = max((need.pulls for need in needs), default=0) * float((problem.safe_level**2).max())
    parts = []
    for words, levels in _level_cases(problem, world):
        hardness = unless_refused(lambda levels=levels: _complexity(problem, world, levels))  # type: ignore[misc]
        if hardness is None:
            continue
        pulls = unless_refused(lambda H=hardness: _pulls(problem, H, explored))  # type: ignore[misc]
        confidence = None if pulls is None or not signals else unless_refused(
            lambda n=pulls: level_confidence(problem.delta_safety, problem.delta, n, signals=signals)  # type: ignore[misc]
        )  # fmt: skip
        parts.append(PullsAt(words, hardness, pulls, confidence))
    bounds = noted_bounds(problem, world, notes, tolerance) if world is not None else {}
    if any(part.pulls is not None for part in parts):
        notes.append("The bound on pulls is proved for static levels, the rounding pull and the determinant radius.")
    notes += unit_notes(problem, max([0.0, *(part.pulls or 0.0 for part in parts), *(need.pulls for need in needs)]))
    return Report(
        problem.size, problem.rank, signals, world is not None, tuple(parts), needs,
        uniform_level_confidence(problem.delta_safety, signals=signals) if signals else None, names=problem.names,
        dial=problem.dial,
        notes=tuple(notes), **bounds,
    )  # fmt: skip


def _level_cases(problem: Problem, world: Linear | None) -> list[tuple[str, Floats]]:
    if world is not None:
        return [("at the true levels", world.best_levels(problem))]
    if not problem.safety:
        return [("at the highest levels", problem.safe_level)]
    known, highest = ("at the known safe levels", problem.safe_level), ("at the highest levels", problem.max_level)
    ratio = problem.max_level / problem.safe_level
    return [known] if np.ptp(ratio) <= 1e-12 * ratio[0] else [known, highest]  # H ignores a common factor


def _complexity(problem: Problem, world: Linear | None, levels: Floats) -> float:
    pairs = problem.size * (problem.size - 1) // 2
    if pairs > MOST_PAIRS:
        reason = f"make {pairs:,} pairs, a linear program each, for the complexity"
        raise InvalidInput("arms", problem.size, reason, "Call surefoot.theory.complexity and be patient.")
    worth = None if world is None else levels * world.values
    return complexity(problem.features * levels[:, None], problem.epsilon, worth=worth, pullable=problem.pullable)


def _pulls(problem: Problem, hardness: float, explored: float) -> float:
    refuse_inexact(problem, "this bound")
    leaning = leaned_on(problem)
    longest = np.linalg.norm(leaning.features, axis=1) * problem.max_level
    return stopping_bound(
        hardness,
        arms=problem.size,
        dimension=problem.rank,
        noise=float(noise_sizes(problem)[0]),
        norm=float(leaning.bounds[0]),
        longest=float(longest.max()),
        delta=problem.delta,
        regularization=problem.regularization,
        explored=explored,
    )


def _exploration_needs(problem: Problem, world: Linear | None, notes: list[str]) -> tuple[ExplorationNeed, ...]:
    needs = []
    try:
        targets = _targets(problem, world)
        for kind in (RANDOM, ROUND_ROBIN):
            plan = Exploration.of(
                leaned_on(problem).features, problem.safe_level,
                regularization=problem.regularization, delta=problem.delta, kind=kind,
            )  # fmt: skip
            closed = exploration_length_closed_form(plan, targets)
            needs.append(ExplorationNeed(kind, exploration_length(plan, targets), closed))
    except InvalidInput as refusal:
        notes.append(str(refusal))
    return tuple(needs)


def _targets(problem: Problem, world: Linear | None) -> list[LevelTarget]:
    """What exploration must achieve so that the best arm's level costs at most epsilon / 2.                    (T8)

    Without the truth the worst case: V* = D max |x_k|, or the largest effect, and a signal that reaches its limit
    exactly at full level, for which the room is least whatever the best level is. On a level grid there may then be no
    room at all.
    """
    refuse_inexact(problem, "the length of exploration")
    delta = problem.delta_safety / len(problem.safety)
    leaning = leaned_on(problem)
    lengths = np.linalg.norm(leaning.features, axis=1)
    if world is None:
        if problem.level_grid:
            reason = "may have a point exactly at the best arm's limit, which no exploration certifies"
            raise InvalidInput("level_grid", problem.level_grid, reason, "Supply the truth to see what is needed.")
        length = float(lengths.max())
        most = problem.reward.largest or float(leaning.bounds[0]) * length
        loss = problem.epsilon / (2.0 * most)
        if loss >= 1.0:
            return []
        rooms = [level_room(limit.eta0, limit.eta0, 1.0, loss) for limit in problem.safety]
    else:
        best, value = world.best_arm(problem), world.best_value(problem)
        if best == NULL or problem.epsilon >= 2.0 * value:
            return []
        loss, level, length = problem.epsilon / (2.0 * value), world.best_levels(problem)[best], float(lengths[best])
        if problem.safe_level[best] >= level * (1.0 - loss):
            return []
        if problem.level_grid:  # the lowest setting of the dial that is good enough
            level, loss = min(g for g in problem.level_grid if g >= level * (1.0 - loss) * (1.0 - ROUNDING)), 0.0
        rooms = [level_room(world.safety_values[s, best], world.limit[s], level, loss) for s in range(world.signals)]
    return [
        LevelTarget(length, room, R, norm, delta)
        for R, room, norm in zip(noise_sizes(problem).tolist()[1:], rooms, leaning.bounds[1:].tolist(), strict=True)
    ]
