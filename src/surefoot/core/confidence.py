"""Confidence sets: how far an estimate can be from the truth, for all rounds at once.           (E3-E5, C1, C2, C4)

Every set holds an ellipsoid around the estimate. The bias-free set and the arms' own pulls cut it further where a
policy asks for them. The rest of the core reads only bounds: of a signal at each arm, and of the lead of each arm over
the leader.
"""

from math import inf, sqrt
from typing import NamedTuple

from surefoot.core.kernel import kernel, rare
from surefoot.core.linear import cholesky, forward_solve, gram_matrix, transposed_solve
from surefoot.core.logarithm import log
from surefoot.core.types import MIXTURE, NORM, NULL, OWN_PULLS, SQUARED_SUM, Instance, Matrix, State, Work
from surefoot.sets.boundaries import boundary

SINGULAR = 1e-9  # a squared pivot of V below this share of its trace: not yet invertible


class ConfidenceSet(NamedTuple):
    """The weights of one signal that this round's data allow: an ellipsoid around the estimate."""

    s: int  # the signal
    g: int  # its Gram matrix
    radius: float


@kernel
def open_set(inst: Instance, state: State, s: int) -> ConfidenceSet:
    """The ellipsoid of signal s in this round, as far as it bounds from below.                      (E3, E4, C1)"""
    return ConfidenceSet(s, inst.gram_of[s], radius_at(inst, state, s, inst.log_inv_delta[s]))


@kernel
def radius_at(inst: Instance, state: State, s: int, log_inv_delta: float) -> float:
    """The radius of signal s's ellipsoid that fails with probability delta at most.                 (E3, E4, C1)"""
    g = inst.gram_of[s]
    d = inst.X.shape[1]
    R: float = inst.R[s]
    bias: float = inst.bias[s]
    if inst.radius[s] == NORM and d >= 2:  # in one dimension (E3) is not valid and (E4) takes its place
        return R * sqrt(d * (state.growth[g] + log_inv_delta)) + bias
    square = 2.0 * log_inv_delta + max(state.log_det[g], 0.0)
    if inst.radius[s] >= SQUARED_SUM:
        return sqrt(R * R * square + bias * bias)
    return R * sqrt(square) + bias


@kernel
def arm_width(state: State, ball: ConfidenceSet, k: int) -> float:
    """The half-width of the interval for x_k . weights.                                                     (E5)"""
    return ball.radius * sqrt(max(state.v[ball.g, k], 0.0))


@kernel
def squared_norm(state: State, g: int, k: int, level_k: float, i: int, level_i: float) -> float:
    """|y|^2 in A^-1 for y = level_k x_k - level_i x_i; exact duplicates at one level give exactly 0."""
    square: float = (
        level_k * level_k * state.v[g, k]
        + level_i * level_i * state.v[g, i]
        - 2.0 * level_k * level_i * state.G[g, i, k]
    )
    return max(square, 0.0)


@kernel
def difference_width(state: State, ball: ConfidenceSet, k: int, level_k: float, i: int, level_i: float) -> float:
    """The half-width of the interval for (level_k x_k - level_i x_i) . weights.                             (E5)"""
    return ball.radius * sqrt(squared_norm(state, ball.g, k, level_k, i, level_i))


@kernel
def bound_safety(inst: Instance, state: State, work: Work) -> None:
    """The bounds of every safety signal at every arm, into work.lower and work.upper.                  (S1, C1-C4)"""
    for s in range(1, len(inst.R)):
        ball = open_set(inst, state, s)
        for k in range(len(state.N)):
            width = arm_width(state, ball, k)
            work.lower[s - 1, k] = state.est[s, k] - width
            work.upper[s - 1, k] = state.est[s, k] + width
        if inst.radius[s] == MIXTURE:
            cut_bias_free(inst, state, work, s)
        elif inst.radius[s] == OWN_PULLS:
            cut_by_own_pulls(inst, state, work, s)


@kernel
def bound_leads(inst: Instance, state: State, work: Work, i: int, level_i: float, optimistic: bool) -> None:
    """The most by which each arm might beat the leader, into work.lead; the null pull comes last.       (G2, C2)"""
    ball = open_set(inst, state, 0)
    levels = state.high if optimistic else state.low
    x_i = max(i, 0)  # the null pull is any arm at level 0
    value_i = level_i * state.est[0, x_i]
    K = len(levels)
    for k in range(K):
        width = difference_width(state, ball, k, levels[k], x_i, level_i)
        work.lead[k] = levels[k] * state.est[0, k] - value_i + width
    work.lead[K] = difference_width(state, ball, x_i, 0.0, x_i, level_i) - value_i if i != NULL else -inf
    if inst.radius[0] == MIXTURE:
        cut_leads_bias_free(inst, state, work, levels, i, level_i)


# -- the bias-free set (C2) -----------------------------------------------------------------------------------------


@rare
def cut_bias_free(inst: Instance, state: State, work: Work, s: int) -> None:
    """Cuts the bounds of safety signal s by the bias-free set.                                              (C2)"""
    radius = solve_bias_free(inst, state, work, s)
    if radius < inf:
        for k in range(len(state.N)):
            width = radius * bias_free_norm(inst, work, s, k, 1.0, k, 0.0)
            work.lower[s - 1, k] = max(work.lower[s - 1, k], work.least[s, k] - width)
            work.upper[s - 1, k] = min(work.upper[s - 1, k], work.least[s, k] + width)


@rare
def cut_leads_bias_free(inst: Instance, state: State, work: Work, levels: Matrix, i: int, level_i: float) -> None:
    """Cuts the leads over the leader by the bias-free set.                                                  (C2)"""
    radius = solve_bias_free(inst, state, work, 0)
    if radius < inf:
        K, x_i = len(levels), max(i, 0)
        value_i = level_i * work.least[0, x_i]
        for k in range(K):
            width = radius * bias_free_norm(inst, work, 0, k, levels[k], x_i, level_i)
            work.lead[k] = min(work.lead[k], levels[k] * work.least[0, k] - value_i + width)
        if i != NULL:
            width = radius * bias_free_norm(inst, work, 0, x_i, 0.0, x_i, level_i)
            work.lead[K] = min(work.lead[K], width - value_i)


@kernel
def solve_bias_free(inst: Instance, state: State, work: Work, s: int) -> float:
    """The radius R sqrt(2 log(1/delta) + log det(I + V/c)); infinite while V is singular.                   (C2)

    Fills work.P with X V^-1 and row s of work.least with the least-squares estimates. All is computed from the
    sufficient statistics, since nothing here may lean on a regularised inverse.
    """
    K, d = inst.X.shape
    c = inst.prior[s]
    gram_matrix(inst, state, c, work.A)
    if not cholesky(work.A, 0.0):
        return inf
    square = 2.0 * inst.log_inv_delta[s] - d * log(c)
    for a in range(d):
        square += 2.0 * log(work.A[a, a])
    gram_matrix(inst, state, 0.0, work.A)
    trace = 0.0
    for a in range(d):
        trace += work.A[a, a]
    if not cholesky(work.A, SINGULAR * trace):
        return inf
    for k in range(K):
        forward_solve(work.A, inst.X[k], work.u)
        transposed_solve(work.A, work.u, work.P[k])
    for k in range(K):
        total = 0.0
        for j in range(K):
            overlap = 0.0
            for a in range(d):
                overlap += work.P[k, a] * inst.X[j, a]
            total += overlap * state.M[s, j]
        work.least[s, k] = total
    radius: float = inst.R[s] * sqrt(max(square, 0.0))
    return radius


@kernel
def bias_free_norm(inst: Instance, work: Work, s: int, k: int, level_k: float, i: int, level_i: float) -> float:
    """The root of y^T (V^-1 + c V^-2) y for y = level_k x_k - level_i x_i.                                  (C2)"""
    square = 0.0
    for a in range(inst.X.shape[1]):
        u = level_k * work.P[k, a] - level_i * work.P[i, a]
        y = level_k * inst.X[k, a] - level_i * inst.X[i, a]
        square += u * y + inst.prior[s] * u * u
    return sqrt(max(square, 0.0))


# -- an arm's own pulls (C4) ----------------------------------------------------------------------------------------


@rare
def cut_by_own_pulls(inst: Instance, state: State, work: Work, s: int) -> None:
    """Cuts the bounds of safety signal s at each arm by what the arm's own pulls say.                       (C4)"""
    for k in range(len(state.N)):
        if state.N[k] > 0.0:
            mean = state.M[s, k] / state.N[k]
            below = boundary(inst, 2 * s, inst.R[s], state.N[k]) / state.N[k]
            above = boundary(inst, 2 * s + 1, inst.R[s], state.N[k]) / state.N[k]
            work.lower[s - 1, k] = max(work.lower[s - 1, k], mean - below)
            work.upper[s - 1, k] = min(work.upper[s - 1, k], mean + above)


@rare
def is_possible(inst: Instance, state: State) -> bool:
    """Whether the estimates are at all possible: |x_k . estimate| <= 10 |x_k| D + width for all arms and signals.

    On the confidence event the factor 1 suffices. The slack leaves norm bounds that are only a little too small to
    the experimenter; a reading in the wrong unit ends here and not in a confident answer.
    """
    possible = True
    for s in range(len(inst.R)):
        ball = open_set(inst, state, s)
        for k in range(len(state.N)):
            square = 0.0
            for a in range(inst.X.shape[1]):
                square += inst.X[k, a] * inst.X[k, a]
            largest = 10.0 * sqrt(square) * inst.D[s] + arm_width(state, ball, k)
            possible = possible and abs(state.est[s, k]) <= largest
    return possible
