"""Aims: weighted sums of observations, each tied to one question, which bound what the question asks for.  (C5, C6)

An aim takes a weight h_s for every pull before its result is known. The weighted noise sum h_s eps_s then keeps to a
boundary in one dimension (C3), however many dimensions the features have. With q = sum h_s z_s that is a half-space,

    q . (weights - estimate) < boundary + rest       on one side,       > -boundary + rest      on the other,

and together with the ellipsoid (C1) it bounds y . weights for every y: most tightly where q points along y. So the
weights of an aim at y are chosen as least squares would choose them, corrected for what q has strayed from y so far.

Aims 0 .. K-1 ask whether arm j beats the leader, aim K whether the null pull does; aim K + 1 + (s-1) K + k asks for
safety signal s at arm k. Regressing the weights on the pulls gives q the same update that an estimate has.
"""

from math import inf, sqrt

from surefoot.core.confidence import open_set, radius_at, squared_norm
from surefoot.core.kernel import kernel, rare
from surefoot.core.linear import forward_solve
from surefoot.core.types import CHALLENGER, LEADER, NULL, ROUND, Instance, State, Vector, Work
from surefoot.sets.boundaries import growth, height, reward_boundary

ROUNDING = 1e-15
PATIENCE = 4.0  # how much faster than by mere growth a stray aim is led back


@rare
def begin_aims(state: State) -> None:
    """No weights yet."""
    for a in range(len(state.aim_fit)):
        state.aim_information[a] = state.aim_value[a] = 0.0
        for k in range(len(state.N)):
            state.aim_sum[k, a] = 0.0


# -- what they say --------------------------------------------------------------------------------------------------


@kernel
def furthest(full: float, square: float, along: float, fit: float, bound: float, radius: float) -> float:
    """A bound on y . v with |v|_A <= radius and q . v <= bound: the largest, where the half-space cuts.     (C6)

    square = |y|^2, along = y . q and fit = |q|^2, all in A^-1, and full = radius |y|. The part of y along q is held by
    the half-space, the rest by what the ellipsoid has left there.
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
def bound_safety_by_aims(inst: Instance, state: State, work: Work) -> None:
    """The bounds of every safety signal at every arm, into work.lower and work.upper.                   (S1, C6)

    The ellipsoid alone bounds an arm that it already shows to be safe at full level: no aim could raise that.
    """
    K = len(state.N)
    for s in range(1, len(inst.R)):
        g, R, eta0 = inst.gram_of[s], inst.R[s], inst.eta0[s - 1]
        radius_low = radius_at(inst, state, s, inst.log_inv_delta[s])
        radius_high = radius_at(inst, state, s, inst.log_inv_delta_high[s])
        for k in range(K):
            square = max(state.v[g, k], 0.0)
            length = sqrt(square)
            below, above = radius_low * length, radius_high * length
            if not state.est[s, k] - below >= eta0:
                a = K + 1 + (s - 1) * K + k
                along, fit = state.aim[a, k], state.aim_fit[a]
                information, rest = state.aim_information[a], state.aim_rest[a]
                log_growth = growth(inst, 2 * s, information)  # both sides have one rho
                low = height(inst, 2 * s, R, information, log_growth) - rest
                high = height(inst, 2 * s + 1, R, information, log_growth) + rest
                below = furthest(below, square, along, fit, low, radius_low)
                above = furthest(above, square, along, fit, high, radius_high)
            work.lower[s - 1, k] = state.est[s, k] - below
            work.upper[s - 1, k] = state.est[s, k] + above


@kernel
def bound_leads_by_aims(inst: Instance, state: State, work: Work, i: int, level_i: float) -> None:
    """The most by which each arm might beat the leader, into work.lead; the null pull comes last.       (G2, C6)

    First by the ellipsoid. Then the largest is cut by its aim, as long as the largest is not one that was: what stays
    below it does not matter to anybody.
    """
    ball = open_set(inst, state, 0)
    K, x_i = len(state.N), max(i, 0)  # the null pull is any arm at level 0
    value_i = level_i * state.est[0, x_i]
    for j in range(K + 1):
        x_j, level_j = (j, state.high[j]) if j < K else (x_i, 0.0)
        length = sqrt(squared_norm(state, ball.g, x_j, level_j, x_i, level_i))
        work.lead[j] = level_j * state.est[0, x_j] - value_i + ball.radius * length
        work.cut[j] = 0
    if i != NULL:
        work.cut[i] = 1  # its own level is in question, not another arm: the aim at i asks something else
        if not state.high[i] > level_i:
            work.lead[i] = -inf
    else:
        work.lead[K] = -inf
    while True:
        j, largest = 0, -inf
        for k in range(K + 1):
            j = k if work.lead[k] > largest else j
            largest = work.lead[k] if work.lead[k] > largest else largest
        if not largest > -inf or work.cut[j] == 1:
            return
        work.cut[j] = 1
        x_j, level_j = (j, state.high[j]) if j < K else (x_i, 0.0)
        square = squared_norm(state, ball.g, x_j, level_j, x_i, level_i)
        along = level_j * state.aim[j, x_j] - level_i * state.aim[j, x_i]
        bound = reward_boundary(inst, state.aim_information[j]) + state.aim_rest[j]
        full = ball.radius * sqrt(square)
        width = furthest(full, square, along, state.aim_fit[j], bound, ball.radius)
        work.lead[j] = level_j * state.est[0, x_j] - value_i + width


# -- how they are kept ----------------------------------------------------------------------------------------------


@kernel
def weigh_pull(inst: Instance, state: State, work: Work, k: int, gamma: float) -> None:
    """The weight of every aim in a pull of arm k at level gamma, into work.weight.                          (C5)

    The leader is asked about by the other arms; about the leader it is the challenger that asks.
    """
    K, g = len(state.N), inst.gram_of[0]
    i, j = state.clock[LEADER], state.clock[CHALLENGER]
    per_round = 1.0 / (state.clock[ROUND] + 1.0)
    for a in range(K + 1):
        rival = j if a == i else i
        x_a, level_a = (a, state.high[a]) if a < K else (max(rival, 0), 0.0)
        x_b, level_b = max(rival, 0), state.low[max(rival, 0)] if rival >= 0 else 0.0
        square = squared_norm(state, g, x_a, level_a, x_b, level_b)
        overlap = level_a * state.G[g, k, x_a] - level_b * state.G[g, k, x_b]
        along = level_a * state.aim[a, x_a] - level_b * state.aim[a, x_b]
        work.weight[a] = weight_of(state, a, k, gamma, per_round, square, overlap, along)
    for s in range(1, len(inst.R)):
        g = inst.gram_of[s]
        for b in range(K):
            a = K + 1 + (s - 1) * K + b
            work.weight[a] = weight_of(
                state, a, k, gamma, per_round, state.v[g, b], state.G[g, k, b], state.aim[a, b]
            )  # fmt: skip


@kernel
def weight_of(
    state: State, a: int, k: int, gamma: float, per_round: float, square: float, overlap: float, along: float
) -> float:
    """The weight of aim a at y: square = |y|^2, overlap = x_k . y, along = q . y, all in A^-1.              (C5)

    The plain weight is that of least squares, scaled so that q grows with the information about y. The correction
    pulls q back towards y; it is bounded, since early on neither is known well.
    """
    if not square > 1e-300:
        return 0.0
    plain = gamma * overlap / square
    correction: float = PATIENCE * (max(along, 0.0) * plain - gamma * state.aim[a, k])
    if abs(correction) > abs(plain):  # mostly not, and a root less to take
        largest = abs(plain) + sqrt(state.aim_information[a] * per_round)
        correction = min(max(correction, -largest), largest)
    return plain + correction


@kernel
def update_aims(inst: Instance, state: State, work: Work, k: int, gamma: float, observed: Vector) -> None:
    """The aims after a pull of arm k at level gamma with the weights of work.weight, before G changes.      (C5)"""
    K = len(state.N)
    first = 0
    for s in range(len(inst.R)):
        g, last = inst.gram_of[s], first + (K + 1 if s == 0 else K)
        shrink = 1.0 / (1.0 + gamma * gamma * state.v[g, k])
        unexplained = (observed[s] - gamma * state.est[s, k]) * shrink
        column = state.G[g, k]
        for a in range(first, last):
            weight = work.weight[a]
            surprise = weight - gamma * state.aim[a, k]
            state.aim_information[a] += weight * weight
            state.aim_fit[a] += weight * weight - surprise * surprise * shrink
            state.aim_rest[a] += surprise * unexplained
            state.aim_value[a] += weight * observed[s]
            state.aim_sum[k, a] += gamma * weight
            change = gamma * surprise * shrink
            row = state.aim[a]
            for b in range(K):
                row[b] += change * column[b]
        first = last


@rare
def refresh_aims(inst: Instance, state: State, work: Work, g: int) -> None:
    """The aims of Gram matrix g anew; work.A holds its Cholesky factor C, and work.W the rows C^-1 x_k."""
    K, d = inst.X.shape
    for a in range(inst.aims):
        s = 0 if a <= K else 1 + (a - K - 1) // K
        if inst.gram_of[s] != g:
            continue
        for c in range(d):
            total = 0.0
            for k in range(K):
                total += state.aim_sum[k, a] * inst.X[k, c]
            work.y[c] = total
        forward_solve(work.A, work.y, work.u)
        fit = 0.0
        for c in range(d):
            fit += work.u[c] * work.u[c]
        state.aim_fit[a] = fit
        rest = state.aim_value[a]
        for k in range(K):
            total = 0.0
            for c in range(d):
                total += work.W[k, c] * work.u[c]
            state.aim[a, k] = total
            rest -= state.aim_sum[k, a] * state.est[s, k]
        state.aim_rest[a] = rest


@kernel
def remember_race(state: State, leader: int, challenger: int) -> None:
    """Whom the aims ask about until the next decision."""
    state.clock[LEADER] = leader
    state.clock[CHALLENGER] = challenger if challenger != leader else NULL
