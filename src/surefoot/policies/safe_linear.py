"""SafeLinear: independent doses, each arm learned from its own pulls alone.

start       every arm once, at its known level                                           (S0)
sets        an interval for every arm and signal, by the arm's own pulls             (C3, S8)
levels, leader, rival, stop                             as SafeGap's, by these intervals
pull        of whoever might still be best the arm whose value is least known, at its
            certified level                                                          (S4, S8)

After Wang, Wagenmaker, Jamieson: Best arm identification with safety constraints, AISTATS 2022 (2021).
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from surefoot.core.grams import Grams, least_squares
from surefoot.core.kernel import kernel
from surefoot.core.levels import reachable
from surefoot.core.race import Race
from surefoot.core.state import State, Work
from surefoot.core.types import EXPLORING, PULL, Decision, Instance, Matrix
from surefoot.errors import InvalidInput
from surefoot.policies.guarantee import WITHIN_EPSILON, Guarantee, promise
from surefoot.policies.protocol import Plan
from surefoot.policies.safe_gap import START, Rules, contest, exploring
from surefoot.problem import Problem
from surefoot.problem.norms import noise_sizes
from surefoot.sets import doses, mixtures
from surefoot.sets.doses import value_at_least, value_at_most

BEST_VALUE, BEST_LEVEL = 0.45, 0.1  # shares of delta; the rest is for the leader, who may be any arm
CONTRADICTION = 0.1  # of delta_safety: how often true statements may be called contradicted, beside it
ORTHOGONAL = 1e-9  # a cosine below this is rounding


@kernel
def decide(inst: Instance, rules: Rules, state: State, work: Work, seed: int, run: int) -> Decision:
    """The pull of round t + 1, or the decision to stop."""
    status, phase, race = contest(inst, state, work, rules.null_pull)
    if phase == EXPLORING:
        return exploring(inst, state, work)
    k, level = 0, 0.0
    if status == PULL:
        reachable(inst.dial, state.levels, work.reach)  # (S4)
        k = least_known(inst, state, work, race)
        level = work.reach[k]
    return Decision(status, phase, k, level, race.leader, race.leader_level, race.challenger, race.gap)


@kernel
def least_known(inst: Instance, state: State, work: Work, race: Race) -> int:
    """The arm whose value is least known: the leader, or one that might beat it by more than epsilon.        (S8)"""
    found, widest = max(race.leader, 0), 0.0
    for k in range(len(inst.X)):
        if k == race.leader or work.bounds.lead[k] > inst.epsilon:
            least = value_at_least(inst, inst.sets, state, k, state.levels.low[k])
            width = value_at_most(inst, inst.sets, state, k) - least
            found, widest = (k, width) if width > widest else (found, widest)
    return found


@dataclass(frozen=True)
class SafeLinear:
    """Independent doses: every arm by its own certified pulls, until the answer is within epsilon of the best."""

    name: ClassVar[str] = "safe-linear"
    version: ClassVar[int] = 1

    def guarantee(self, problem: Problem) -> Guarantee:
        """The whole promise (b), out of delta alone."""
        refuse_shared_directions(problem, self.name)
        return promise(problem, WITHIN_EPSILON, confidence=1.0 - problem.delta, leans_on_norms=False)

    def plan(self, problem: Problem) -> Plan:
        """An interval for every arm and signal."""
        refuse_shared_directions(problem, self.name)
        return Plan(
            decide, Rules(null_pull=True), grams_of(problem), doses.doses(boundaries(problem)), needs_limits=True
        )


def grams_of(problem: Problem) -> Grams:
    """Plain least squares for every signal, begun with next to nothing."""
    largest = float(np.square(problem.features).sum(axis=1).max())
    begun = START * largest * float(problem.safe_level.min()) ** 2
    return least_squares(1 + len(problem.safety), problem.features.shape[1], begun)


def boundaries(problem: Problem) -> doses.Params:
    """The boundaries of all intervals.                                                                      (S8)"""
    K, limits = problem.size, max(len(problem.safety), 1)
    delta, safety = problem.delta, problem.delta_safety / limits
    leader = (1.0 - BEST_VALUE - BEST_LEVEL) / K
    return doses.Params(
        low=table(problem, delta * leader, safety / K),
        high=table(problem, delta * BEST_VALUE, delta * BEST_LEVEL / limits),
        most=table(problem, delta * leader, CONTRADICTION * safety / K),
    )


def table(problem: Problem, of_reward: float, of_limit: float) -> Matrix:
    """The boundary of every signal's interval with this error."""
    errors = [of_reward] + [of_limit] * len(problem.safety)
    planned = zip(errors, noise_sizes(problem).tolist(), mixtures.planned_information(problem), strict=True)
    return np.array([mixtures.half_normal(*each) for each in planned])


def refuse_shared_directions(problem: Problem, name: str) -> None:
    """Refuses arms of which one tells something of another."""
    X = problem.features
    sizes = np.sqrt(np.square(X).sum(axis=1))
    if not sizes.all():
        reason = f"has no features but zeros, and {name} takes arms for doses, each with a coordinate of its own"
        raise InvalidInput(f"arms[{problem.names[int(sizes.argmin())]!r}]", X[int(sizes.argmin())], reason,
                           "Leave it out: nothing can be learned of it.")  # fmt: skip
    cosines = np.abs(X @ X.T) / np.maximum(np.outer(sizes, sizes), 1e-300)
    np.fill_diagonal(cosines, 0.0)
    if len(X) != X.shape[1] or cosines.max() > ORTHOGONAL:
        a, b = np.unravel_index(int(cosines.argmax()), cosines.shape)
        raise InvalidInput(
            "arms", [problem.names[a], problem.names[b]],
            f"must be orthogonal for {name}, which takes arms for independent doses, and these share a direction",
            "Give every arm a coordinate of its own, or take safe-gap, which learns of one arm from another.",
        )  # fmt: skip
