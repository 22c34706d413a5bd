"""The race: who leads, who might beat the leader, and by how much at most.                              (G1, G2)"""

from math import inf
from typing import NamedTuple

from surefoot.core.confidence import difference_width, open_set
from surefoot.core.kernel import kernel
from surefoot.core.types import BREAKDOWN, CERTIFIED, CONTRADICTION, NULL, PULL, Instance, State, Work

CONSERVATIVE, OPTIMISTIC = 0, 1


class Race(NamedTuple):
    """Leader and challenger with the levels they compete at. The null pull is arm NULL at level 0."""

    leader: int
    leader_level: float
    challenger: int
    challenger_level: float
    gap: float  # B(t): the most by which the challenger might be better
    width: float  # the part of the gap that is uncertainty about the reward


@kernel
def find_race(inst: Instance, state: State, work: Work, selection: int, null_pull: bool) -> Race:
    """The leader, its challenger and B(t).                                                              (G1, G2)"""
    open_set(inst, state, work, 0)
    i, level_i = find_leader(state, null_pull)
    column_i = max(i, 0)  # the null pull is any arm at level 0
    value_i = level_i * state.est[0, column_i]
    j, level_j, gap, width_j = NULL, 0.0, -inf, 0.0
    rivals = 1 if null_pull and i != NULL else 0
    for k in range(len(state.low)):
        level = state.high[k] if selection == OPTIMISTIC else state.low[k]
        if k == i and level <= level_i:  # the leader races itself only where its level is still unlearned
            continue
        rivals += 1
        width = difference_width(inst, state, work, 0, k, level, column_i, level_i)
        lead = level * state.est[0, k] - value_i + width
        if lead > gap:
            j, level_j, gap, width_j = k, level, lead, width
    if null_pull and i != NULL:
        width = difference_width(inst, state, work, 0, column_i, 0.0, column_i, level_i)
        if width - value_i > gap:
            j, level_j, gap, width_j = NULL, 0.0, width - value_i, width
    if gap == -inf:  # without a rival the leader stands; with rivals, no number came out: never a reason to stop
        gap = 0.0 if rivals == 0 else inf
    return Race(i, level_i, j, level_j, gap, width_j)


@kernel
def find_leader(state: State, null_pull: bool) -> tuple[int, float]:
    """The best certified pull by the estimates, lowest index on ties, and its level.                        (G1)"""
    i, best = 0, state.low[0] * state.est[0, 0]
    for k in range(1, len(state.low)):
        value = state.low[k] * state.est[0, k]
        if value > best:
            i, best = k, value
    if null_pull and best < 0.0:
        return NULL, 0.0
    return i, state.low[i]


@kernel
def verdict(inst: Instance, race: Race, sets_agree: bool) -> int:
    """Whether to go on, or how it ends.                                                                     (G3)"""
    if not sets_agree:
        return CONTRADICTION
    if not race.gap < inf:  # not a number, or no number: never a reason to stop with certainty
        return BREAKDOWN
    return CERTIFIED if race.gap <= inst.epsilon else PULL
