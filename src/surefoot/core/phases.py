"""Phases of an elimination: how much every arm is to be pulled until no lead is above half the gap of now.       (S6)

The questions are whether a candidate might beat the leader, and how high the two may be turned. Each is a direction y,
written in the pulls of now as y = sum_k w_k z_k with the least |w|_1. Arms that are each pulled for at least
|w_k| |w|_1 / a rounds make |y|^2 in V^-1 at most a, whatever else was pulled; so the largest number that some question
asks of an arm serves all of them.
"""

from math import inf
from typing import NamedTuple

import numpy as np

from surefoot.core.estimate import diagonal, squared_norm
from surefoot.core.kernel import kernel, rare, thin
from surefoot.core.pulls import level_cost, tightest_limit
from surefoot.core.race import Race
from surefoot.core.rounding import Shares, begin_shares, new_shares, shortest_weights
from surefoot.core.state import State, Work
from surefoot.core.types import NULL, Indices, Instance, Vector

HALF = 0.5  # of the gap, to which a phase brings the leads of all candidates
LEAST_STEP = 0.9  # a question that a phase asks is narrowed by a tenth at least, so that phases stay few
SMALL = 0.05  # of what is open about a candidate: a part below this share is not asked about


class Phase(NamedTuple):
    """What the phase of now is to reach."""

    due: Vector  # (K,) sum of gamma^2 over the arm's pulls, from the first one on
    number: Indices  # (1,) of phases so far
    shares: Shares  # room for one question


def new_phase(K: int, d: int) -> Phase:
    """Room for K arms in d dimensions."""
    return Phase(np.zeros(K), np.zeros(1, np.int64), new_shares(K, d))


@thin
def begin_phase(inst: Instance, phase: Phase) -> None:
    """No phase yet."""
    begin_shares(inst, phase.shares)


@kernel
def phase_pull(inst: Instance, state: State, work: Work, phase: Phase, race: Race) -> int:
    """The arm that is furthest behind in this phase, or in the next one where this is over.                 (S6)"""
    k = behind(state.estimate.N, phase.due)
    if k == NULL:
        plan_phase(inst, state, work, phase, race)
        k = behind(state.estimate.N, phase.due)
    return max(k, 0)


@kernel
def behind(N: Vector, due: Vector) -> int:
    """The arm with the least part of what it is due; NULL where all have it."""
    found, least = NULL, 1.0
    for k in range(len(N)):
        if N[k] < least * due[k]:
            found, least = k, N[k] / due[k]
    return found


@rare
def plan_phase(inst: Instance, state: State, work: Work, phase: Phase, race: Race) -> None:
    """What every arm is due for the questions about all candidates whose lead is above half the gap.         (S6)

    Candidates are the arms, and last doing nothing. Whose lead is at most epsilon is eliminated as long as it stays so.
    """
    values, levels, lead, i = state.estimate.est[0], state.levels, work.bounds.lead, race.leader
    K = len(values)
    phase.number[0] += 1
    for k in range(K):
        phase.due[k] = 0.0
    x_i, of_leader = max(i, 0), level_cost(state, i) if i != NULL else 0.0
    leading = race.leader_level * values[x_i]
    aim = max(HALF * race.gap, inst.epsilon)
    for j in range(K + 1):
        if not (lead[j] > aim and lead[j] < inf):
            continue
        x_j, level_j = (j, levels.high[j]) if j < K else (x_i, 0.0)
        by_reward = max(lead[j] - (level_j * values[x_j] - leading), 0.0)
        by_level = level_cost(state, j) if j < K else 0.0
        beside = of_leader if j != i else 0.0
        whole = by_reward + by_level + beside
        step = min((whole - lead[j] + aim) / whole, LEAST_STEP)
        if by_reward > SMALL * whole:
            square = squared_norm(inst, state.estimate, inst.gram_of[0], x_j, level_j, x_i, race.leader_level)
            ask(inst, work, phase, x_j, level_j, x_i, race.leader_level, step * step * square)
        if by_level > SMALL * whole:
            ask_level(inst, state, work, phase, x_j, step)
        if beside > SMALL * whole:
            ask_level(inst, state, work, phase, x_i, step)


@kernel
def ask_level(inst: Instance, state: State, work: Work, phase: Phase, k: int, step: float) -> None:
    """Adds what it takes to know the limit that holds arm k down as much better."""
    v = diagonal(state.estimate, inst.gram_of[1 + tightest_limit(state.levels, k)])
    ask(inst, work, phase, k, 1.0, k, 0.0, step * step * v[k])


@rare
def ask(
    inst: Instance, work: Work, phase: Phase, j: int, level_j: float, i: int, level_i: float, square: float
) -> None:  # fmt: skip
    """Adds what it takes to bring |level_j x_j - level_i x_i|^2 to this square.                         (S6, T1)"""
    if not square > 0.0:
        return
    shares, reach = phase.shares, work.reach
    shortest_weights(inst, shares, reach, j, level_j, i, level_i)
    length = 0.0
    for k in range(len(reach)):
        length += abs(shares.weights[k])
    for k in range(len(reach)):
        need = abs(shares.weights[k]) * length / square * reach[k] * reach[k]
        phase.due[k] = need if need > phase.due[k] else phase.due[k]
