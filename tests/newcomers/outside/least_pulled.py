"""A policy in plain Python: no mark, no compiler, numpy and objects as one likes; no dataclass either."""

from typing import Any

import numpy as np

import surefoot as sf
from surefoot.building import (
    DECIDING,
    DYNAMIC,
    PROPOSITION_1,
    Decision,
    Guarantee,
    Nothing,
    Plan,
    Race,
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


def decide(inst: Any, rules: Any, state: Any, work: Any, seed: int, run: int) -> Decision:
    """The arm that was pulled least."""
    race, status = raced(inst, state, work)
    arms = {int(k): int(pulls) for k, pulls in enumerate(state.estimate.pulls)}
    k = min(arms, key=lambda arm: (arms[arm], -float(np.abs(inst.X[arm]).max())))
    reachable(inst.dial, state.levels, work.reach)
    return Decision(status, DECIDING, k, work.reach[k], race.leader, race.leader_level, race.challenger, race.gap)


def raced(inst: Any, state: Any, work: Any) -> tuple[Race, int]:
    """Leader and challenger, and whether to go on; a helper in plain Python, too."""
    bound_safety(inst, state, work)
    agree = certify(inst, state.levels, work.bounds, DYNAMIC, False)
    i, level_i = find_leader(state, work, False)
    bound_leads(inst, state, work, i, level_i, False)
    race = find_race(state, work, i, level_i, False, False)
    return race, verdict(inst, state, race, agree)


class LeastPulled:
    name = "least-pulled"
    version = 1

    def guarantee(self, problem: sf.Problem) -> Guarantee:
        return promise(problem, PROPOSITION_1, confidence=1.0 - problem.delta, null_pull=False)

    def plan(self, problem: sf.Problem) -> Plan:
        return Plan(decide, Nothing(), *sets_for(problem, "determinant", "norm"))
