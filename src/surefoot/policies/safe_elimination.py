"""SafeElimination: phases of certified pulls, each for the candidates that are left.

start       d pulls at known levels that span                                            (S0)
sets, levels, leader, rival, stop                       SafeGap's: the whole promise (b)
candidates  whoever might still beat the leader by more than epsilon, at a phase's begin (S6)
phase       the shortest combinations of certified pulls for every question that a
            candidate leaves open, until no lead is above half the gap               (T1, S6)
pull        the arm that is furthest behind in its phase, at its certified level         (S4)

Levels grow from phase to phase, and with them the pulls that designs are made of.
"""

from dataclasses import dataclass
from typing import ClassVar

from surefoot.core.kernel import kernel
from surefoot.core.levels import reachable
from surefoot.core.phases import begin_phase, new_phase, phase_pull
from surefoot.core.state import State, Work
from surefoot.core.types import EXPLORING, PULL, Decision, Instance
from surefoot.policies.guarantee import Guarantee
from surefoot.policies.protocol import Plan
from surefoot.policies.safe_gap import Rules, SafeGap, contest, exploring
from surefoot.problem import Problem


@kernel
def decide(inst: Instance, rules: Rules, state: State, work: Work, seed: int, run: int) -> Decision:
    """The pull of round t + 1, or the decision to stop."""
    status, phase, race = contest(inst, state, work, rules.null_pull)
    if phase == EXPLORING:
        return exploring(inst, state, work)
    k, level = 0, 0.0
    if status == PULL:
        reachable(inst.dial, state.levels, work.reach)  # (S4)
        k = phase_pull(inst, state, work, state.own, race)  # (S6)
        level = work.reach[k]
    return Decision(status, phase, k, level, race.leader, race.leader_level, race.challenger, race.gap)


@dataclass(frozen=True)
class SafeElimination:
    """Phases of certified pulls for the candidates that are left; stops when the answer is within epsilon."""

    name: ClassVar[str] = "safe-elimination"
    version: ClassVar[int] = 1

    def guarantee(self, problem: Problem) -> Guarantee:
        """The whole promise (b): SafeGap's proof does not ask why an arm was pulled."""
        return SafeGap().guarantee(problem)

    def plan(self, problem: Problem) -> Plan:
        """SafeGap's sets, and room for a phase."""
        plan = SafeGap().plan(problem)
        own = new_phase(*problem.features.shape)
        return plan._replace(decide=decide, own=own, begin_own=begin_phase, candidates=False, needs_limits=True)
