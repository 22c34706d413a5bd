"""The race: who leads, who might beat the leader, and by how much at most.                              (G1, G2)"""

from math import inf
from typing import NamedTuple

from surefoot.core.kernel import kernel
from surefoot.core.passes import all_numbers, first_about_largest, first_largest_product
from surefoot.core.state import State, Work
from surefoot.core.types import BREAKDOWN, CERTIFIED, CONTRADICTED, CONTRADICTION, NULL, PULL, Instance

CONSERVATIVE, OPTIMISTIC = 0, 1


class Race(NamedTuple):
    """Leader and challenger with the levels they compete at. The null pull is arm NULL at level 0."""

    leader: int
    leader_level: float
    challenger: int
    challenger_level: float
    gap: float  # B(t): the most by which the challenger might be better


@kernel
def find_race(state: State, work: Work, i: int, level_i: float, optimistic: bool, null_pull: bool) -> Race:
    """The challenger of leader i and B(t), by the leads in work.bounds.                                      (G2)"""
    return find_race_with_ties(state, work, i, level_i, optimistic, null_pull, 0.0)


@kernel
def find_race_with_ties(
    state: State, work: Work, i: int, level_i: float, optimistic: bool, null_pull: bool, ties: float
) -> Race:  # fmt: skip
    """The challenger of leader i and B(t), by the leads in work.bounds; closer than this share they are equal.  (G2)"""
    levels, lead = state.levels.high if optimistic else state.levels.low, work.bounds.lead
    K = len(levels)
    rivals = K
    if i != NULL and not levels[i] > level_i:  # the leader races itself only where its level is still unlearned
        lead[i] = -inf
        rivals -= 1
    sound = all_numbers(lead, K)
    j, gap = first_about_largest(lead, K, ties)
    if null_pull and i != NULL:
        rivals += 1
        sound = sound and lead[K] == lead[K]
        j = NULL if lead[K] > gap else j
        gap = lead[K] if lead[K] > gap else gap
    if rivals == 0:  # the leader stands
        gap = 0.0
    elif not sound or gap == -inf:  # a value that is not a number is never a reason to stop
        gap = inf
    level_j = levels[j] if j != NULL else 0.0
    return Race(i, level_i, j, level_j, gap)


@kernel
def find_leader(state: State, work: Work, null_pull: bool) -> tuple[int, float]:
    """The best certified pull by the estimates, lowest index on ties, and its level.                        (G1)"""
    low, values = state.levels.low, state.estimate.est[0]
    i, best = first_largest_product(low, values, work.score)
    if null_pull and best < 0.0:
        return NULL, 0.0
    return max(i, 0), low[max(i, 0)]


@kernel
def verdict(inst: Instance, state: State, race: Race, sets_agree: bool) -> int:
    """Whether to go on, or how it ends.                                                                     (G3)"""
    if not sets_agree or state.clock[CONTRADICTED] == 1:
        return CONTRADICTION
    if not race.gap < inf:  # not a number, or no number: never a reason to stop with certainty
        return BREAKDOWN
    return CERTIFIED if race.gap <= inst.epsilon else PULL
