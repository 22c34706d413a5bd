"""The race: who leads, who might beat the leader, and by how much at most.                              (G1, G2)"""

from math import inf
from typing import NamedTuple

from surefoot.core.confidence import difference_width, open_set
from surefoot.core.kernel import kernel
from surefoot.core.types import BREAKDOWN, CERTIFIED, CONTRADICTED, CONTRADICTION, NULL, PULL, Instance, State

CONSERVATIVE, OPTIMISTIC = 0, 1


class Race(NamedTuple):
    """Leader and challenger with the levels they compete at. The null pull is arm NULL at level 0."""

    leader: int
    leader_level: float
    challenger: int
    challenger_level: float
    gap: float  # B(t): the most by which the challenger might be better
    width: float  # under optimistic selection, the part of the gap that is uncertainty about the reward


@kernel
def find_race(inst: Instance, state: State, selection: int, null_pull: bool) -> Race:
    """The leader, its challenger and B(t).                                                              (G1, G2)

    Maxima are kept by selection and not by branches, which the processor would guess wrong in every other round.
    """
    ball = open_set(inst, state, 0)
    levels = state.high if selection == OPTIMISTIC else state.low
    i, level_i = find_leader(state, null_pull)
    x_i = max(i, 0)  # the null pull is any arm at level 0
    value_i = level_i * state.est[0, x_i]
    j, gap, rivals, sound = NULL, -inf, 0, True
    for k in range(len(levels)):
        rival = k != i or levels[k] > level_i  # the leader races itself only where its level is still unlearned
        width = difference_width(state, ball, k, levels[k], x_i, level_i)
        lead = levels[k] * state.est[0, k] - value_i + width if rival else -inf
        rivals += rival
        sound = sound and lead == lead
        j = k if lead > gap else j
        gap = lead if lead > gap else gap
    if null_pull and i != NULL:
        rivals += 1
        lead = difference_width(state, ball, x_i, 0.0, x_i, level_i) - value_i
        j = NULL if lead > gap else j
        gap = lead if lead > gap else gap
    if rivals == 0:  # the leader stands
        gap = 0.0
    elif not sound or gap == -inf:  # a value that is not a number is never a reason to stop
        gap = inf
    level_j = levels[j] if j != NULL else 0.0
    width = 0.0
    if selection == OPTIMISTIC:
        width = difference_width(state, ball, max(j, 0), level_j, x_i, level_i)
    return Race(i, level_i, j, level_j, gap, width)


@kernel
def find_leader(state: State, null_pull: bool) -> tuple[int, float]:
    """The best certified pull by the estimates, lowest index on ties, and its level.                        (G1)"""
    i, best = 0, state.low[0] * state.est[0, 0]
    for k in range(1, len(state.low)):
        value = state.low[k] * state.est[0, k]
        i = k if value > best else i
        best = value if value > best else best
    if null_pull and best < 0.0:
        return NULL, 0.0
    return i, state.low[i]


@kernel
def verdict(inst: Instance, state: State, race: Race, sets_agree: bool) -> int:
    """Whether to go on, or how it ends.                                                                     (G3)"""
    if not sets_agree or state.clock[CONTRADICTED] == 1:
        return CONTRADICTION
    if not race.gap < inf:  # not a number, or no number: never a reason to stop with certainty
        return BREAKDOWN
    return CERTIFIED if race.gap <= inst.epsilon else PULL
