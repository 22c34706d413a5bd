"""SafeMonotonic: independent doses whose effects rise with the level, in whatever way.

sets        an interval for every arm and signal at the level of its stage           (C3, S9)
levels      a stage ends when enough of the way to every limit is sure; the next level
            follows from how fast effects change at most, as the problem states it       (S9)
leader      whoever is surely worth most
stop        when nobody might beat it by more than epsilon at a level that keeps every
            limit with a reserve of a tenth                                              (S9)
pull        of whoever might still be best the arm whose value is least known, at the
            level of its stage

After Wang, Wagenmaker, Jamieson: Best arm identification with safety constraints, AISTATS 2022 (2021).
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from surefoot.core.kernel import kernel
from surefoot.core.levels import DYNAMIC_MAX, certify, reachable
from surefoot.core.parts import bound_leads, bound_safety
from surefoot.core.passes import first_largest
from surefoot.core.race import Race, find_race, verdict
from surefoot.core.state import State, Work
from surefoot.core.types import DECIDING, PULL, Decision, Instance, Matrix, Nothing
from surefoot.errors import InvalidInput
from surefoot.policies.guarantee import RESERVE, WITHIN_RESERVE, Guarantee, promise, rising_assumptions
from surefoot.policies.protocol import Plan
from surefoot.policies.safe_linear import BEST_VALUE, grams_of, refuse_shared_directions, table
from surefoot.problem import Problem
from surefoot.problem.norms import LARGEST, bounds_of, refuse_inexact
from surefoot.sets.monotone_doses import Params, begin_stages, monotone_doses, value_at_most

BEST_LEVEL = 0.1  # share of delta, for where the best arm reaches its limit


@kernel
def decide(inst: Instance, rules: Nothing, state: State, work: Work, seed: int, run: int) -> Decision:
    """The pull of round t + 1, or the decision to stop."""
    bound_safety(inst, state, work)  # (S9)
    sets_agree = certify(inst, state.levels, work.bounds, DYNAMIC_MAX, True)  # (S2, S3)
    begin_stages(inst, state.sets, state)
    i = max(first_largest(state.sets.least, len(inst.X))[0], 0)
    bound_leads(inst, state, work, i, state.levels.low[i], True)
    race = find_race(state, work, i, state.levels.low[i], True, False)  # (G2)
    status = verdict(inst, state, race, sets_agree)  # (G3)
    k, level = 0, 0.0
    if status == PULL:
        reachable(inst.dial, state.levels, work.reach)  # (S4)
        k = least_known(inst, state, work, race)
        level = work.reach[k]
    return Decision(status, DECIDING, k, level, race.leader, race.leader_level, race.challenger, race.gap)


@kernel
def least_known(inst: Instance, state: State, work: Work, race: Race) -> int:
    """The arm whose value is least known: the leader, or one that might beat it by more than epsilon.        (S9)"""
    found, widest = race.leader, 0.0
    for k in range(len(inst.X)):
        if k == race.leader or work.bounds.lead[k] > inst.epsilon:
            width = value_at_most(inst, inst.sets, state.sets, state, k) - state.sets.least[k]
            found, widest = (k, width) if width > widest else (found, widest)
    return found


@dataclass(frozen=True)
class SafeMonotonic:
    """Independent doses whose effects rise with the level: within epsilon of whatever keeps limits with a reserve."""

    name: ClassVar[str] = "safe-monotonic"
    version: ClassVar[int] = 1

    def guarantee(self, problem: Problem) -> Guarantee:
        """Every pull safe, and nothing that keeps a reserve of a tenth to every limit better by more than epsilon."""
        check(problem, self.name)
        rising = rising_assumptions(problem)
        return promise(problem, WITHIN_RESERVE, confidence=1.0 - problem.delta, rising=rising)

    def plan(self, problem: Problem) -> Plan:
        """An interval for every arm and signal at the level of its stage."""
        check(problem, self.name)
        return Plan(decide, Nothing(), grams_of(problem), monotone_doses(params_for(problem)), needs_limits=True)


def params_for(problem: Problem) -> Params:
    """The boundaries of all intervals, and the stated slopes.                                               (S9)"""
    K, limits = problem.size, max(len(problem.safety), 1)
    leader = (1.0 - BEST_VALUE - BEST_LEVEL) / K
    return Params(
        low=table(problem, problem.delta * leader, problem.delta_safety / limits / K),
        high=table(problem, problem.delta * BEST_VALUE, problem.delta * BEST_LEVEL / limits),
        slope=slopes_of(problem),
        reserve=np.array([-RESERVE * limit.eta0 for limit in problem.safety]),
    )


def slopes_of(problem: Problem) -> Matrix:
    """How fast each signal of each arm changes at most, for a full turn of the dial: the stated largest effect, or
    what the stated norm says of it."""
    kind, sizes = bounds_of(problem)
    lengths = np.ones(problem.size) if kind == LARGEST else np.sqrt(np.square(problem.features).sum(axis=1))
    return np.outer(sizes, lengths)


def check(problem: Problem, name: str) -> None:
    """Refuses arms of which one tells something of another, dials with few settings, and errors of a linear law."""
    refuse_shared_directions(problem, name)
    refuse_inexact(problem, name)
    if problem.level_grid:
        raise InvalidInput(
            "level_grid", list(problem.level_grid), f"must be left out for {name}, whose steps follow from the data",
            "Leave it out, or take safe-gap.",
        )  # fmt: skip
