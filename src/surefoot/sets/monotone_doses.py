"""Independent doses whose effects only rise: each arm is known at the level of its stage, by the pulls made there. (S9)

A stage of an arm has one level. The mean there is bounded by (C3), and no effect changes faster than stated: so a
safety signal that is surely clear of its limit is clear of it a little further up as well, where the next stage begins.
"""

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from surefoot.core.kernel import kernel, thin
from surefoot.core.logarithm import log, log1p
from surefoot.core.state import Bounds, State
from surefoot.core.types import Ball, Indices, Instance, Matrix, Vector
from surefoot.sets.protocol import ConfidenceSet

NAME, VERSION = "monotone-doses", 1
HERE = 1e-9  # a level that differs by less is the same
PART = 0.5  # of the distance to the limit as it seems: as much of it must be sure before a stage ends


class Params(NamedTuple):
    """Boundaries, each table with a row for every signal (the reward first), and what was stated."""

    low: Matrix  # (n, 3) of lower ends, which hold at all arms together
    high: Matrix  # (n, 3) of upper ends, which hold at the best arm
    slope: Matrix  # (n, K) how fast a mean changes at most, for a full turn of the dial
    reserve: Vector  # (m,) a signal within this of its limit has reached it


class Memory(NamedTuple):
    """The stage of every arm, and what earlier ones have left."""

    level: Vector  # (K,)
    stage: Indices  # (K,) from 1
    made: Vector  # (K,) pulls in it
    total: Matrix  # (n, K) readings in it
    least: Vector  # (K,) what the arm is worth at the level of its stage at least
    top: Vector  # (K,) what it is worth at level 0 at most, were it to rise as fast as it can from there
    done: Indices  # (K,) 1 once a limit is reached up to the reserve


def monotone_doses(params: Params) -> ConfidenceSet:
    """The set with these boundaries."""
    n, K = params.slope.shape
    per_arm = [np.zeros(K) for _ in range(4)]
    memory = Memory(
        per_arm[0], np.zeros(K, np.int64), per_arm[1], np.zeros((n, K)), per_arm[2], per_arm[3], np.zeros(K, np.int64)
    )
    return ConfidenceSet(
        NAME, VERSION, params, memory, bound_safety=bound_safety, bound_leads=bound_leads, begin=begin, learn=learn,
        ball=ball,
    )  # fmt: skip


@thin
def ball(inst: Instance, params: Params, memory: Memory, state: State, s: int) -> Ball:
    """No ellipsoid: nothing is linear."""
    return Ball(s, inst.gram_of[s], inf, inf, 0.0, 0.0)


@thin
def begin(inst: Instance, params: Params, memory: Memory) -> None:
    """The first stages, at the known levels; nothing is worth 0 there."""
    for k in range(len(memory.level)):
        memory.level[k], memory.stage[k] = inst.dial.gamma0[k], 1


@kernel
def width(inst: Instance, table: Matrix, memory: Memory, s: int, k: int) -> float:
    """How far the mean reading of signal s in this stage of arm k is from the truth at most.             (S9, C3)

    Stage j has the share 1/(j (j + 1)) of the error, which adds twice its logarithm to the constant.
    """
    n, rho, stage = memory.made[k], table[s, 0], float(memory.stage[k])
    constant = table[s, 1] + 2.0 * log(stage * (stage + 1.0))
    return inst.R[s] * sqrt((n + rho) * (log1p(n / rho) + constant)) / n  # type: ignore[no-any-return]


@kernel
def learn(
    inst: Instance, params: Params, memory: Memory, state: State, k: int, gamma: float, observed: Vector
) -> None:  # fmt: skip
    """The stage of arm k after a pull; one at another level says nothing in it."""
    if abs(gamma - memory.level[k]) > HERE * memory.level[k]:
        return
    memory.made[k] += 1.0
    for s in range(len(observed)):
        memory.total[s, k] += observed[s]
    mean = memory.total[0, k] / memory.made[k]
    memory.least[k] = max(memory.least[k], mean - width(inst, params.low, memory, 0, k))
    top = mean + width(inst, params.high, memory, 0, k) - params.slope[0, k] * memory.level[k]
    memory.top[k] = min(memory.top[k], top)
    for s in range(1, len(observed)):
        most = memory.total[s, k] / memory.made[k] + width(inst, params.high, memory, s, k)
        if most <= inst.eta0[s - 1] + params.reserve[s - 1]:
            memory.done[k] = 1


@kernel
def next_level(inst: Instance, params: Params, memory: Memory, k: int) -> float:
    """The level that arm k may go on to: that of its stage, until enough of the way to every limit is sure.   (S9)"""
    here: float = memory.level[k]
    if memory.done[k] == 1:
        return here
    further = inf
    for s in range(1, len(inst.R)):
        eta0, slope = inst.eta0[s - 1], params.slope[s, k]
        if memory.made[k] > 0.0:
            seems = memory.total[s, k] / memory.made[k] - eta0
            sure = seems - width(inst, params.low, memory, s, k)
            step = sure if sure >= PART * seems else 0.0
            further = min(further, here + step / slope if step > 0.0 else here)
        else:  # from level 0, where nothing is changed
            further = min(further, -eta0 / slope)
    return max(min(further, 1.0), here)


@kernel
def bound_safety(inst: Instance, params: Params, memory: Memory, state: State, bounds: Bounds) -> None:
    """Bounds whose certified level is the next one of every arm; none from above.                       (S2, S9)"""
    for k in range(len(inst.X)):
        level = next_level(inst, params, memory, k)
        for s in range(len(inst.eta0)):
            bounds.lower[s, k] = inst.eta0[s] / level
            bounds.upper[s, k] = bounds.most[s, k] = 0.0


@kernel
def begin_stages(inst: Instance, memory: Memory, state: State) -> None:
    """A new stage for every arm whose certified level has risen; a limit that is reached ends the dial.       (S9)"""
    low = state.levels.low
    for k in range(len(low)):
        if low[k] > memory.level[k] * (1.0 + HERE):
            memory.stage[k] += 1 if memory.made[k] > 0.0 else 0
            memory.level[k], memory.made[k] = low[k], 0.0
            for s in range(len(memory.total)):
                memory.total[s, k] = 0.0
        if memory.done[k] == 1:
            state.levels.high[k] = low[k]


@kernel
def value_at_most(inst: Instance, params: Params, memory: Memory, state: State, k: int) -> float:
    """The most that arm k is worth at its optimistic level."""
    return memory.top[k] + params.slope[0, k] * state.levels.high[k]  # type: ignore[no-any-return]


@kernel
def bound_leads(
    inst: Instance, params: Params, memory: Memory, state: State, bounds: Bounds, i: int, level_i: float,
    optimistic: bool,
) -> None:  # fmt: skip
    """The most by which each arm might beat the leader; doing nothing is worth no more than any arm.    (G2, S9)"""
    K = len(inst.X)
    for k in range(K):
        bounds.lead[k] = value_at_most(inst, params, memory, state, k) - memory.least[i]
    bounds.lead[K] = -memory.least[i]
