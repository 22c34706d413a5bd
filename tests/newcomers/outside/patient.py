"""A subclass of a shipped policy: Safe-LinGapE that makes some pulls before it may be certain."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import surefoot as sf
from surefoot.building import CERTIFIED, DECIDING, PULL, ROUND, Decision, Plan, option, stepped
from surefoot.policies.safe_lingape import decide as decide_at_once


class Rules(NamedTuple):
    least: int
    inherited: Any


@sf.kernel
def decide(inst: Any, rules: Any, state: Any, work: Any, seed: int, run: int) -> Decision:
    """What Safe-LinGapE decides; as long as it is too early to be certain, the leader is pulled instead."""
    found = decide_at_once(inst, rules.inherited, state, work, seed, run)
    if found.status != CERTIFIED or state.clock[ROUND] >= rules.least:
        return found
    k = max(found.leader, 0)
    level = stepped(inst.dial, state.levels, k, state.levels.low[k])
    return Decision(PULL, DECIDING, k, level, found.leader, found.leader_level, found.challenger, found.gap)


@dataclass(frozen=True)
class Patient(sf.SafeLinGapE):
    """Safe-LinGapE, with a least number of pulls."""

    name: ClassVar[str] = "patient"
    version: ClassVar[int] = 1
    least: int = option(300, "How many pulls it makes at least.")

    def plan(self, problem: sf.Problem) -> Plan:
        plan = super().plan(problem)
        return plan._replace(decide=decide, rules=Rules(self.least, plan.rules))
