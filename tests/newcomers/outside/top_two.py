"""A policy from outside: the leader and its challenger in turn, at certified levels."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import surefoot as sf
from surefoot.building import (
    DECIDING,
    DYNAMIC_MAX,
    ROUND,
    WITHIN_EPSILON,
    Decision,
    Guarantee,
    Plan,
    bound_leads,
    bound_safety,
    certify,
    find_leader,
    find_race,
    promise,
    reachable,
    sets_for,
    verdict,
)


class Rules(NamedTuple):
    every: int


@sf.kernel
def decide(inst: Any, rules: Any, state: Any, work: Any, seed: int, run: int) -> Decision:
    """The leader in every so many rounds, otherwise its challenger."""
    bound_safety(inst, state, work)
    agree = certify(inst, state.levels, work.bounds, DYNAMIC_MAX, True)
    i, level_i = find_leader(state, work, True)
    bound_leads(inst, state, work, i, level_i, True)
    race = find_race(state, work, i, level_i, True, True)
    reachable(inst.dial, state.levels, work.reach)
    k = race.leader if state.clock[ROUND] % rules.every == 0 else race.challenger
    k = max(k, race.leader, race.challenger) if k < 0 else k  # doing nothing teaches nothing
    return Decision(
        verdict(inst, state, race, agree), DECIDING, k, work.reach[k], race.leader, race.leader_level, race.challenger,
        race.gap,
    )  # fmt: skip


@dataclass(frozen=True)
class TopTwo:
    """The leader and its challenger in turn."""

    name: ClassVar[str] = "top-two"
    version: ClassVar[int] = 1
    every: int = 2

    def guarantee(self, problem: sf.Problem) -> Guarantee:
        return promise(problem, WITHIN_EPSILON, confidence=1.0 - problem.delta - problem.delta_safety)

    def plan(self, problem: sf.Problem) -> Plan:
        return Plan(decide, Rules(self.every), *sets_for(problem, "bias-free", "own-pulls"))
