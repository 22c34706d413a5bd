"""What no method can do without in each world, and how an oracle would share out its pulls.                     (T9)

There are two: for methods that keep the limits, and for methods that know none and pull at the top of every dial.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from surefoot.errors import InvalidInput
from surefoot.policies.bound import ceiling_of
from surefoot.problem import Problem
from surefoot.theory import Evidence, LowerBound, evidence_needed, lower_bound, lower_bound_for, uncut_evidence
from surefoot.worlds import Linear, World

TOLERANCE = 1e-2  # of the bounds: they lie below the truth by this share at most


class Yardsticks(NamedTuple):
    """The lower bounds of one problem; None where there is none."""

    safe: LowerBound | None
    free: LowerBound | None
    notes: tuple[str, ...] = ()

    def of(self, keeps_limits: bool) -> LowerBound | None:
        """The bound for a method that keeps the limits, or for one that knows none."""
        return self.safe if keeps_limits else self.free

    def at(self, problem: Problem) -> Yardsticks:
        """The same at other errors of the same ratio: the bounds are proportional to the evidence."""
        needed = (needed_with_limits(problem), uncut_evidence(problem.delta))
        safe, free = (
            None if bound is None else replace(bound, evidence=each, pulls=bound.t_star * (each.worse or each.unsafe))
            for bound, each in zip((self.safe, self.free), needed, strict=True)
        )
        return self._replace(safe=safe, free=free)


def needed_with_limits(problem: Problem) -> Evidence:
    """The evidence that both promises need."""
    return evidence_needed(problem.delta, problem.delta_safety)


NONE = Yardsticks(None, None)


def yardsticks_of(world: World, problem: Problem, *, safe: bool = True, free: bool = True) -> Yardsticks:
    """Both bounds, as far as they are asked for and there is a formula for such a world."""
    if not isinstance(world, Linear):
        return NONE._replace(notes=("There is a lower bound for linear worlds alone.",))
    found: list[LowerBound | None] = []
    notes: dict[str, None] = {}
    for wanted, bound in ((safe, lower_bound_with_limits), (free, lower_bound_without_limits)):
        try:
            found.append(bound(world, problem) if wanted else None)
        except InvalidInput as refusal:
            found.append(None)
            notes[f"No lower bound: {refusal}"] = None
    return Yardsticks(found[0], found[1], tuple(notes))


def lower_bound_with_limits(world: Linear, problem: Problem) -> LowerBound:
    """(T9) for methods that keep both promises and lean on no norm."""
    return lower_bound(world, problem, tolerance=TOLERANCE)


def lower_bound_without_limits(world: Linear, problem: Problem) -> LowerBound:
    """(T9) without limits: what can be tried is pulled at the top of its dial, and no reading warns of anything."""
    top = ceiling_of(problem)
    return lower_bound_for(
        problem.features, values=world.values, safety=np.zeros((0, problem.size)), eta0=np.zeros(0), levels=top,
        noise=world.noise, safety_noise=np.zeros(0), epsilon=problem.epsilon, evidence=uncut_evidence(problem.delta),
        max_level=problem.max_level, level_grid=problem.level_grid, tolerance=TOLERANCE,
        pull_levels=None if problem.pullable.all() else top * problem.pullable,
    )  # fmt: skip
