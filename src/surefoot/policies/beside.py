"""Beside: phases of pulls at the top of every dial, safe or not, that end in an answer which is safe.

**Not stage-wise safe**: no limit is kept while it learns. Only the answer keeps them.

start       pulls that span, at the top of their dials
sets, levels, leader, rival, stop       SafeGap's, for the answer alone
candidates  whoever might still beat the leader by more than epsilon, at a phase's begin (S6)
phase       the shortest combinations of pulls of all arms for every question that a
            candidate leaves open, about its reward or its limits                    (T1, S6)
pull        the arm that is furthest behind in its phase, at the top of its dial

After Camilleri, Wagenmaker, Morgenstern, Jain, Jamieson: Active learning with safety constraints, NeurIPS 2022.
"""

from dataclasses import dataclass
from math import inf
from typing import ClassVar

from surefoot.core.kernel import kernel
from surefoot.core.phases import begin_phase, new_phase, phase_pull
from surefoot.core.pulls import spanning_pull
from surefoot.core.state import State, Work
from surefoot.core.types import EXPLORING, NULL, PULL, Decision, Instance
from surefoot.policies.guarantee import SAFE_ANSWER, Guarantee, promise
from surefoot.policies.protocol import Plan
from surefoot.policies.safe_gap import Rules, SafeGap, contest
from surefoot.problem import Problem


@kernel
def decide(inst: Instance, rules: Rules, state: State, work: Work, seed: int, run: int) -> Decision:
    """The pull of round t + 1, or the decision to stop."""
    status, phase, race = contest(inst, state, work, rules.null_pull)
    for k in range(len(work.reach)):
        work.reach[k] = inst.dial.ceiling[k]
    if phase == EXPLORING:
        k = spanning_pull(inst, state, work)
        return Decision(PULL, EXPLORING, k, work.reach[k], NULL, 0.0, NULL, inf)
    k = phase_pull(inst, state, work, state.own, race) if status == PULL else 0  # (S6)
    return Decision(status, phase, k, work.reach[k], race.leader, race.leader_level, race.challenger, race.gap)


@dataclass(frozen=True)
class Beside:
    """Not stage-wise safe: pulls at the top of the dials, limits or not, until a safe answer is within epsilon."""

    name: ClassVar[str] = "beside"
    version: ClassVar[int] = 1

    def guarantee(self, problem: Problem) -> Guarantee:
        """A safe answer within epsilon of the best safe option; nothing about the pulls."""
        both = 1.0 - (problem.delta + problem.delta_safety)
        return promise(problem, SAFE_ANSWER, confidence=both, keeps_limits=False, leans_on_norms=False,
                       learns_noise=True, bears_error=True)  # fmt: skip

    def plan(self, problem: Problem) -> Plan:
        """SafeGap's sets, and room for a phase."""
        plan = SafeGap().plan(problem)
        own = new_phase(*problem.features.shape)
        return plan._replace(decide=decide, own=own, begin_own=begin_phase, candidates=False, needs_limits=True)
