"""What the aims of a directional set ask, when they are opened, and what they learn from a pull.            (C5)"""

from typing import TYPE_CHECKING

from surefoot.core.estimate import column, diagonal, image, squared_norm
from surefoot.core.kernel import kernel, rare
from surefoot.core.linear import dot, weighted_sum
from surefoot.core.state import Scratch, State
from surefoot.core.types import CHALLENGER, LEADER, ROUND, Instance, Vector
from surefoot.sets.aims import Aims, is_open, open_aim, refresh_aim, refresh_image, take_weight, weight_of
from surefoot.sets.norm_free import learn as learn_uncut
from surefoot.sets.norm_free import refresh as refresh_uncut

if TYPE_CHECKING:
    from surefoot.sets.directional import Memory, Params

NO_QUESTION = 1e-13  # a square below this share of the two that it is the difference of is nothing but rounding


@rare
def begin(inst: Instance, params: "Params", memory: "Memory") -> None:
    """No aim is open, or all are; their images are found when the pulls span."""
    for k in range(len(inst.X) if params.at_once else 0):
        open_aim(memory.reward, k)
        open_aim(memory.safety, k)
    if params.at_once:
        open_aim(memory.reward, len(inst.X))


@rare
def open_reward(inst: Instance, memory: "Memory", state: State, j: int) -> None:
    """Opens the aim that asks whether arm j, or the null pull, beats the leader."""
    n = open_aim(memory.reward, j)
    if n >= 0 and j < len(inst.X):
        image(inst, state.estimate, inst.gram_of[0], j, memory.reward.image[n])


@rare
def open_safety(inst: Instance, memory: "Memory", state: State, k: int) -> None:
    """Opens the aims that ask for every limit at arm k, unless it is none or they are open."""
    if k >= 0 and not is_open(memory.safety, k):
        n, each = open_aim(memory.safety, k), len(inst.R) - 1
        for s in range(1, len(inst.R) if n >= 0 else 0):
            image(inst, state.estimate, inst.gram_of[s], k, memory.safety.image[n * each + s - 1])


@kernel
def learn(
    inst: Instance, params: "Params", memory: "Memory", state: State, k: int, gamma: float, observed: Vector
) -> None:
    """The aims after a pull of arm k at level gamma, before the estimate changes.                           (C5)"""
    learn_uncut(inst, memory.ball, k, gamma)
    if state.estimate.spanned[inst.gram_of[0]] == 0:
        return  # weights of 0: nothing points anywhere yet
    for each in (k, state.clock[LEADER], state.clock[CHALLENGER]):
        open_safety(inst, memory, state, each)
    ask_for_leads(inst, memory, state, k, gamma)
    take_in(inst, memory, memory.reward, state, k, gamma, observed, 0, 1)
    for s in range(1, len(inst.R)):
        ask_for_limit(inst, memory, state, k, gamma, s)
        take_in(inst, memory, memory.safety, state, k, gamma, observed, s, len(inst.R) - 1)


@kernel
def take_in(
    inst: Instance,
    memory: "Memory",
    aims: Aims,
    state: State,
    k: int,
    gamma: float,
    observed: Vector,
    s: int,
    each: int,
) -> None:
    """The aims of signal s after a pull of arm k, by the weights that they took."""
    estimate, g, K = state.estimate, inst.gram_of[s], len(inst.X)
    shrink = 1.0 / (1.0 + gamma * gamma * diagonal(estimate, g)[k])
    unexplained = (observed[s] - gamma * estimate.est[s, k]) * shrink
    x, image_k, column_k = inst.X[k], memory.image_k, column(inst, estimate, g, k)
    if s == 0 or g != inst.gram_of[s - 1]:
        image(inst, estimate, g, k, image_k)
    for n in range(aims.opened[0]):
        target = aims.target[n]
        own = column_k[target] if target < K else 0.0
        take_weight(aims, n * each + max(s - 1, 0), gamma, shrink, unexplained, observed[s], x, image_k, own)


@kernel
def ask_for_leads(inst: Instance, memory: "Memory", state: State, k: int, gamma: float) -> None:
    """The weight of every aim at the reward in a pull of arm k at level gamma.                              (C5)

    The leader is asked about by the other arms; about the leader it is the challenger that asks.
    """
    estimate, levels, aims = state.estimate, state.levels, memory.reward
    K, g = len(estimate.N), inst.gram_of[0]
    i, j = state.clock[LEADER], state.clock[CHALLENGER]
    per_round = 1.0 / (state.clock[ROUND] + 1.0)
    v, column_k, x = diagonal(estimate, g), column(inst, estimate, g, k), inst.X[k]
    for n in range(aims.opened[0]):
        a = aims.target[n]
        rival = j if a == i else i
        x_a, level_a = (a, levels.high[a]) if a < K else (max(rival, 0), 0.0)
        x_b, level_b = max(rival, 0), levels.low[max(rival, 0)] if rival >= 0 else 0.0
        square = squared_norm(inst, estimate, g, x_a, level_a, x_b, level_b)
        if square <= NO_QUESTION * (level_a * level_a * v[x_a] + level_b * level_b * v[x_b]):
            square = 0.0
        overlap = level_a * column_k[x_a] - level_b * column_k[x_b]
        solved = aims.solved[n]
        along = level_a * dot(inst.X[x_a], solved) - level_b * dot(inst.X[x_b], solved)
        expected = gamma * dot(x, solved)
        aims.weight[n] = weight_of(aims, n, gamma, per_round, square, overlap, along, expected)


@kernel
def ask_for_limit(inst: Instance, memory: "Memory", state: State, k: int, gamma: float, s: int) -> None:
    """The weight of every aim at limit s in a pull of arm k at level gamma.                                 (C5)"""
    estimate, aims, each, g = state.estimate, memory.safety, len(inst.R) - 1, inst.gram_of[s]
    per_round = 1.0 / (state.clock[ROUND] + 1.0)
    v, column_k, x = diagonal(estimate, g), column(inst, estimate, g, k), inst.X[k]
    for n in range(aims.opened[0]):
        b, a = aims.target[n], n * each + s - 1
        solved = aims.solved[a]
        along, expected = dot(inst.X[b], solved), gamma * dot(x, solved)
        aims.weight[a] = weight_of(aims, a, gamma, per_round, v[b], column_k[b], along, expected)


@rare
def refresh(inst: Instance, params: "Params", memory: "Memory", state: State, scratch: Scratch, g: int) -> None:
    """The aims anew, by the factor C of V in scratch.A."""
    refresh_uncut(inst, params.ball, memory.ball, state)
    if state.estimate.spanned[g] == 0:
        return
    each, K = len(inst.R) - 1, len(inst.X)
    for s in range(len(inst.R)):
        if inst.gram_of[s] == g:
            weighted_sum(inst.X, state.estimate.M[s], memory.b)
            aims = memory.reward if s == 0 else memory.safety
            for n in range(aims.opened[0]):
                a = n if s == 0 else n * each + s - 1
                refresh_aim(aims, a, scratch.A, scratch.u, memory.b)
                if aims.target[n] < K:
                    refresh_image(aims, a, scratch.A, scratch.u, inst.X[aims.target[n]])
