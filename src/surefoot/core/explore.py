"""Forced exploration: which arm, how long, at which known level.                                            (S0)"""

from typing import NamedTuple

from surefoot.core.estimate import arm_width
from surefoot.core.kernel import kernel, rare
from surefoot.core.levels import DYNAMIC, certify
from surefoot.core.parts import ball_of, bound_safety
from surefoot.core.random import EXPLORE, philox, uniform
from surefoot.core.state import State, Work
from surefoot.core.types import CONTRADICTED, DECIDING, PHASE, ROUND, Indices, Instance, Vector

SCHEDULE, RANDOM = 0, 1  # the order of arms


class Exploration(NamedTuple):
    """A plan of exploration."""

    rounds: int  # at most this many
    order: int  # SCHEDULE or RANDOM
    schedule: Indices  # arms in turn, repeated; when RANDOM those among which is drawn
    level: Vector  # (K,)
    until_cost: float  # end earlier, once unlearned levels cost no more than this; negative: never earlier


@kernel
def explores(inst: Instance, plan: Exploration, state: State, work: Work) -> bool:
    """Whether the next pull still explores. Once over, exploration stays over."""
    if state.clock[PHASE] == DECIDING:
        return False
    over = state.clock[ROUND] >= plan.rounds or state.clock[CONTRADICTED] == 1
    if not over and plan.until_cost >= 0.0:
        over = levels_stopped_mattering(inst, state, work, plan.until_cost)
    if over:
        state.clock[PHASE] = DECIDING
    return not over


@kernel
def explored_arm(plan: Exploration, state: State, work: Work, seed: int, run: int) -> int:
    """The arm that exploration pulls in this round."""
    t = state.clock[ROUND]
    if plan.order == SCHEDULE:
        return int(plan.schedule[t % len(plan.schedule)])
    philox(seed, EXPLORE, run, t, work.draw)
    return int(plan.schedule[int(uniform(work.draw[0]) * len(plan.schedule))])


@rare
def levels_stopped_mattering(inst: Instance, state: State, work: Work, cost: float) -> bool:
    """Whether no arm that may still be best could gain more than `cost` from what is unlearned about its level."""
    estimate, levels = state.estimate, state.levels
    bound_safety(inst, state, work)
    certify(inst, levels, work.bounds, DYNAMIC, True)
    levels.frozen[0] = 0  # a look, not the moment at which static levels freeze
    ball = ball_of(inst, state, 0)
    best = 0.0  # the value of a pull that is certainly at least this good; level 0 gives 0
    for k in range(len(estimate.N)):
        best = max(best, levels.low[k] * (estimate.est[0, k] - arm_width(estimate, ball, k)))
    for k in range(len(estimate.N)):
        promise = max(estimate.est[0, k] + arm_width(estimate, ball, k), 0.0)
        if levels.high[k] * promise > best and (levels.high[k] - levels.low[k]) * promise > cost:
            return False
    return True
