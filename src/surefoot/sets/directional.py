"""Directional sets: the norm-free ellipsoid, cut by half-spaces that are aimed at one question each.     (C5, C6)

An aim takes a weight h_s for every pull before its result is known. The weighted noise sum h_s eps_s then keeps to a
boundary in one dimension (C3), however many dimensions the features have. With q = sum h_s z_s that is a half-space,

    q . (weights - estimate) < boundary + rest       on one side,       > -boundary + rest      on the other,

and together with the ellipsoid (C2) it bounds y . weights for every y: most tightly where q points along y. So the
weights of an aim at y are chosen as least squares would choose them, corrected for what q has strayed from y so far.
Nothing here leans on a bound of the weights' norm; before the pulls span, nothing is said and no aim has any weight.

Aims 0 .. K-1 ask whether arm j beats the leader, aim K whether the null pull does; aim K + 1 + (s-1) K + k asks for
safety signal s at arm k. Each is kept as two vectors of d numbers, q and V^-1 q.
"""

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from surefoot.core.estimate import column, diagonal, image, squared_image, squared_norm
from surefoot.core.kernel import kernel, rare, thin
from surefoot.core.linear import dot, forward_solve, transposed_solve
from surefoot.core.state import Bounds, Scratch, State
from surefoot.core.types import CHALLENGER, LEADER, NULL, ROUND, Ball, Indices, Instance, Matrix, Vector
from surefoot.sets import norm_free
from surefoot.sets.boundaries import boundary, growth, height
from surefoot.sets.ellipsoid import leads_by
from surefoot.sets.norm_free import ball as uncut
from surefoot.sets.norm_free import learn as learn_uncut
from surefoot.sets.norm_free import radius_at
from surefoot.sets.norm_free import refresh as refresh_uncut
from surefoot.sets.protocol import ConfidenceSet

NAME, VERSION = "directional", 2
NEAR, FAR = 0, 1  # boundaries of the reward's aims; signal s has LOW at 2 s and HIGH at 2 s + 1
ROUNDING = 1e-15
NO_QUESTION = 1e-13  # a square below this share of the two that it is the difference of is nothing but rounding
PATIENCE = 4.0  # how much faster than by mere growth a stray aim is led back


class Params(NamedTuple):
    """The ellipsoid that is cut, and the boundaries of the aims."""

    ball: norm_free.Params
    boundary: Matrix  # (2 n, 3) rho, constant and offset of each boundary (C3)
    switch: float  # information above which the reward's aims use NEAR and not FAR


class Memory(NamedTuple):
    """What the aims have seen; `solved` and `rest` can be rebuilt from the others."""

    ball: norm_free.Memory
    q: Matrix  # (aims, d) sum of weight * z
    solved: Matrix  # (aims, d) V^-1 q: the aim's weights regressed on the pulls (C5)
    information: Vector  # (aims,) sum of squared weights
    value: Vector  # (aims,) sum of weight * observation
    rest: Vector  # (aims,) that sum less q . estimate: what the estimate does not explain
    weight: Vector  # (aims,) weights in the pull that is being learned
    cut: Indices  # (K + 1,) whether the lead was cut by its aim in this round


def directional(params: Params, K: int, d: int, m: int) -> ConfidenceSet:
    """The set with these parameters for K arms in d dimensions and m limits."""
    aims = 1 + K + m * K
    memory = Memory(
        ball=norm_free.memory_for(1 + m, d), q=np.zeros((aims, d)), solved=np.zeros((aims, d)),
        information=np.zeros(aims), value=np.zeros(aims), rest=np.zeros(aims), weight=np.zeros(aims),
        cut=np.zeros(K + 1, np.int64),
    )  # fmt: skip
    return ConfidenceSet(
        NAME, VERSION, params, memory, bound_safety=bound_safety, bound_leads=bound_leads, learn=learn,
        refresh=refresh, ball=ball,
    )  # fmt: skip


# -- what they say ----------------------------------------------------------------------------------------------------


@thin
def ball(inst: Instance, params: Params, memory: Memory, state: State, s: int) -> Ball:
    """The ellipsoid of signal s, uncut.                                                                     (C2)"""
    return uncut(inst, params.ball, memory.ball, state, s)


@kernel
def furthest(full: float, square: float, along: float, fit: float, bound: float, radius: float) -> float:
    """A bound on y . v with |v| <= radius in B^-1 and q . v <= bound: the largest, where the half-space cuts.   (C6)

    square = |y|^2, along = y . q and fit = |q|^2, all in B = V^-1 + c V^-2, and full = radius |y|. The part of y along
    q is held by the half-space, the rest by what the ellipsoid has left there.
    """
    most = radius * radius
    cuts = along > 0.0 and fit > 0.0 and bound * full < most * along and (bound > 0.0 or bound * bound < most * fit)
    if not cuts:
        return full  # the half-space does not cut where y points, or leaves nothing, which is for others to say
    share = 1.0 / fit
    angle = max(square - along * along * share, ROUNDING * square)  # what cancels must not make the bound too small
    across = angle * max(most - bound * bound * share, 0.0)
    return min(full, bound * along * share + sqrt(across))


@kernel
def bound_safety(inst: Instance, params: Params, memory: Memory, state: State, bounds: Bounds) -> None:
    """The bounds of every safety signal at every arm.                                                   (S1, C6)

    The ellipsoid alone bounds an arm that it already shows to be safe at full level: no aim could raise that.
    """
    estimate, table = state.estimate, params.boundary
    K = len(estimate.N)
    for s in range(1, len(inst.R)):
        g, R, eta0, c = inst.gram_of[s], inst.R[s], inst.eta0[s - 1], params.ball.prior[s]
        v = diagonal(estimate, g)
        radius_low = radius_at(inst, memory.ball, state, s, params.ball.log_inv_delta[s])
        radius_high = radius_at(inst, memory.ball, state, s, params.ball.log_inv_delta_high[s])
        radius_most = radius_at(inst, memory.ball, state, s, params.ball.log_inv_delta_most[s])
        for k in range(K):
            square = max(v[k], 0.0) + c * squared_image(estimate, g, k, 1.0, k, 0.0)
            length = sqrt(square)
            below, above, most = 0.0, 0.0, 0.0
            if length > 0.0:
                below, above, most = radius_low * length, radius_high * length, radius_most * length
            if below < inf and not estimate.est[s, k] - below >= eta0:
                a = K + 1 + (s - 1) * K + k
                q, solved = memory.q[a], memory.solved[a]
                along = dot(inst.X[k], solved) + c * dot(image(estimate, g, k), solved)
                fit = dot(q, solved) + c * dot(solved, solved)
                information, rest = memory.information[a], memory.rest[a]
                log_growth = growth(table, 2 * s, information)  # both sides have one rho
                low = height(table, 2 * s, R, information, log_growth) - rest
                high = height(table, 2 * s + 1, R, information, log_growth) + rest
                below = furthest(below, square, along, fit, low, radius_low)
                above = furthest(above, square, along, fit, high, radius_high)
            bounds.lower[s - 1, k] = estimate.est[s, k] - below
            bounds.upper[s - 1, k] = estimate.est[s, k] + above
            bounds.most[s - 1, k] = estimate.est[s, k] + most


@kernel
def bound_leads(
    inst: Instance, params: Params, memory: Memory, state: State, bounds: Bounds, i: int, level_i: float,
    optimistic: bool,
) -> None:  # fmt: skip
    """The most by which each arm might beat the leader; the null pull comes last.                       (G2, C6)

    First by the ellipsoid. Then the largest is cut by its aim, as long as the largest is not one that was: what stays
    below it does not matter to anybody.
    """
    found = ball(inst, params, memory, state, 0)
    leads_by(state, found, bounds, i, level_i, optimistic)
    levels = state.levels.high if optimistic else state.levels.low
    K = len(levels)
    for j in range(K + 1):
        memory.cut[j] = 0
    if i != NULL:
        memory.cut[i] = 1  # its own level is in question, not another arm: the aim at i asks something else
        if not levels[i] > level_i:
            bounds.lead[i] = -inf
    while True:
        j, largest = 0, -inf
        for k in range(K + 1):
            j = k if bounds.lead[k] > largest else j
            largest = bounds.lead[k] if bounds.lead[k] > largest else largest
        if not largest > -inf or memory.cut[j] == 1:
            return
        memory.cut[j] = 1
        cut_lead(inst, params, memory, state, found, bounds, levels, i, level_i, j)


@kernel
def cut_lead(
    inst: Instance, params: Params, memory: Memory, state: State, found: Ball, bounds: Bounds, levels: Vector, i: int,
    level_i: float, j: int,
) -> None:  # fmt: skip
    """Cuts the lead of arm j, or of the null pull, by its aim.                                              (C6)"""
    estimate, K, x_i, c = state.estimate, len(levels), max(i, 0), found.prior
    x_j, level_j = (j, levels[j]) if j < K else (x_i, 0.0)
    square = squared_norm(estimate, found.g, x_j, level_j, x_i, level_i)
    square += c * squared_image(estimate, found.g, x_j, level_j, x_i, level_i)
    q, solved = memory.q[j], memory.solved[j]
    along = level_j * (dot(inst.X[x_j], solved) + c * dot(image(estimate, found.g, x_j), solved))
    along -= level_i * (dot(inst.X[x_i], solved) + c * dot(image(estimate, found.g, x_i), solved))
    fit = dot(q, solved) + c * dot(solved, solved)
    row = NEAR if memory.information[j] >= params.switch else FAR  # for differences of a few epsilon, or early larger
    bound = boundary(params.boundary, row, inst.R[0], memory.information[j]) + memory.rest[j]
    full = found.radius * sqrt(square)
    width = furthest(full, square, along, fit, bound, found.radius)
    bounds.lead[j] = level_j * estimate.est[0, x_j] - level_i * estimate.est[0, x_i] + width


# -- how they are kept ------------------------------------------------------------------------------------------------


@kernel
def learn(inst: Instance, params: Params, memory: Memory, state: State, k: int, gamma: float, observed: Vector) -> None:
    """The aims after a pull of arm k at level gamma, before the estimate changes.                           (C5)"""
    learn_uncut(inst, memory.ball, k, gamma)
    estimate, (K, d), first = state.estimate, inst.X.shape, 0
    if estimate.spanned[inst.gram_of[0]] == 0:
        return  # weights of 0: nothing points anywhere yet
    weigh(inst, memory, state, k, gamma)
    for s in range(len(inst.R)):
        g, last = inst.gram_of[s], first + (K + 1 if s == 0 else K)
        shrink = 1.0 / (1.0 + gamma * gamma * diagonal(estimate, g)[k])
        unexplained = (observed[s] - gamma * estimate.est[s, k]) * shrink
        x, image_k = inst.X[k], image(estimate, g, k)
        for a in range(first, last):
            weight, q, solved = memory.weight[a], memory.q[a], memory.solved[a]
            surprise = weight - gamma * dot(x, solved)
            memory.information[a] += weight * weight
            memory.rest[a] += surprise * unexplained
            memory.value[a] += weight * observed[s]
            step, change = gamma * weight, gamma * surprise * shrink
            for c in range(d):
                q[c] += step * x[c]
                solved[c] += change * image_k[c]
        first = last


@kernel
def weigh(inst: Instance, memory: Memory, state: State, k: int, gamma: float) -> None:
    """The weight of every aim in a pull of arm k at level gamma.                                            (C5)

    The leader is asked about by the other arms; about the leader it is the challenger that asks.
    """
    estimate, levels = state.estimate, state.levels
    K, g = len(estimate.N), inst.gram_of[0]
    i, j = state.clock[LEADER], state.clock[CHALLENGER]
    per_round = 1.0 / (state.clock[ROUND] + 1.0)
    v, column_k, x = diagonal(estimate, g), column(estimate, g, k), inst.X[k]
    for a in range(K + 1):
        rival = j if a == i else i
        x_a, level_a = (a, levels.high[a]) if a < K else (max(rival, 0), 0.0)
        x_b, level_b = max(rival, 0), levels.low[max(rival, 0)] if rival >= 0 else 0.0
        square = squared_norm(estimate, g, x_a, level_a, x_b, level_b)
        if square <= NO_QUESTION * (level_a * level_a * v[x_a] + level_b * level_b * v[x_b]):
            square = 0.0
        overlap = level_a * column_k[x_a] - level_b * column_k[x_b]
        solved = memory.solved[a]
        along = level_a * dot(inst.X[x_a], solved) - level_b * dot(inst.X[x_b], solved)
        expected = gamma * dot(x, solved)
        memory.weight[a] = weight_of(memory, a, gamma, per_round, square, overlap, along, expected)
    for s in range(1, len(inst.R)):
        v, column_k = diagonal(estimate, inst.gram_of[s]), column(estimate, inst.gram_of[s], k)
        for b in range(K):
            a = K + 1 + (s - 1) * K + b
            solved = memory.solved[a]
            along, expected = dot(inst.X[b], solved), gamma * dot(x, solved)
            memory.weight[a] = weight_of(memory, a, gamma, per_round, v[b], column_k[b], along, expected)


@kernel
def weight_of(
    memory: Memory, a: int, gamma: float, per_round: float, square: float, overlap: float, along: float, expected: float
) -> float:
    """The weight of aim a at y: square = |y|^2, overlap = x . y, along = q . y, expected = z . q, all in V^-1.  (C5)

    The plain weight is that of least squares, scaled so that q grows with the information about y. The correction
    pulls q back towards y; it is bounded, since early on neither is known well.
    """
    if not square > 1e-300:
        return 0.0
    plain = gamma * overlap / square
    correction: float = PATIENCE * (max(along, 0.0) * plain - expected)
    if abs(correction) > abs(plain):  # mostly not, and a root less to take
        largest = abs(plain) + sqrt(memory.information[a] * per_round)
        correction = min(max(correction, -largest), largest)
    return plain + correction


@rare
def refresh(inst: Instance, params: Params, memory: Memory, state: State, scratch: Scratch, g: int) -> None:
    """The aims anew, by the factor C of V in scratch.A."""
    refresh_uncut(inst, params.ball, memory.ball, state)
    if state.estimate.spanned[g] == 0:
        return
    K = len(inst.X)
    for a in range(len(memory.rest)):
        s = 0 if a <= K else 1 + (a - K - 1) // K
        forward_solve(scratch.A, memory.q[a], scratch.u)
        transposed_solve(scratch.A, scratch.u, memory.solved[a])
        explained = 0.0  # q . V^-1 b
        for k in range(K):
            explained += state.estimate.M[s, k] * dot(inst.X[k], memory.solved[a])
        memory.rest[a] = memory.value[a] - explained
