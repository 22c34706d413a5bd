"""The bias-free set around least squares: no bound on the weights is in it, but it needs V = sum z z^T invertible. (C2)

It cuts the bounds of the signals that it is asked for.
"""

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from surefoot.core.kernel import kernel, rare
from surefoot.core.linear import (
    add_information,
    cholesky,
    dot,
    fill_diagonal,
    forward_solve,
    has_full_rank,
    trace,
    transposed_solve,
    weighted_sum,
)
from surefoot.core.logarithm import log
from surefoot.core.state import Bounds, State
from surefoot.core.types import NULL, Indices, Instance, Matrix, Vector
from surefoot.sets.protocol import ConfidenceSet

NAME, VERSION = "bias-free", 1
SINGULAR = 1e-9  # eigenvalues of V with a harmonic mean below this share of their sum: not yet invertible
PRIOR = 0.3  # information of the prior, as a share of what is planned for; no bias is paid for it


class Params(NamedTuple):
    """The prior and the error of each signal."""

    asked: Indices  # (n,) 1 where the signal is to be bounded by this set
    prior: Vector  # (n,) information c of the prior
    log_inv_delta: Vector  # (n,)


class Memory(NamedTuple):
    """Room: all is computed anew in every round."""

    A: Matrix  # (d, d)
    P: Matrix  # (K, d) X V^-1
    u: Vector  # (d,)
    least: Matrix  # (n, K) least-squares estimates, without regularisation


def bias_free(params: Params, K: int, d: int) -> ConfidenceSet:
    """The set with these parameters for K arms in d dimensions."""
    memory = Memory(np.zeros((d, d)), np.zeros((K, d)), np.zeros(d), np.zeros((len(params.prior), K)))
    return ConfidenceSet(NAME, VERSION, params, memory, bound_safety=bound_safety, bound_leads=bound_leads)


# -- kernels ----------------------------------------------------------------------------------------------------------


@kernel
def bound_safety(inst: Instance, params: Params, memory: Memory, state: State, bounds: Bounds) -> None:
    """Cuts the bounds of the safety signals that are asked for.                                             (C2)"""
    for s in range(1, len(inst.R)):
        if params.asked[s] == 1:
            cut_safety(inst, params, memory, state, bounds, s)


@kernel
def bound_leads(
    inst: Instance, params: Params, memory: Memory, state: State, bounds: Bounds, i: int, level_i: float,
    optimistic: bool,
) -> None:  # fmt: skip
    """Cuts the leads over the leader, if the reward is asked for.                                           (C2)"""
    if params.asked[0] == 1:
        cut_leads(inst, params, memory, state, bounds, i, level_i, optimistic)


@rare
def cut_safety(inst: Instance, params: Params, memory: Memory, state: State, bounds: Bounds, s: int) -> None:
    """Cuts the bounds of safety signal s.                                                                   (C2)"""
    radius = solve(inst, params, memory, state, s)
    if radius < inf:
        for k in range(len(inst.X)):
            width = radius * norm(inst, params, memory, s, k, 1.0, k, 0.0)
            bounds.lower[s - 1, k] = max(bounds.lower[s - 1, k], memory.least[s, k] - width)
            bounds.upper[s - 1, k] = min(bounds.upper[s - 1, k], memory.least[s, k] + width)
            bounds.most[s - 1, k] = min(bounds.most[s - 1, k], bounds.upper[s - 1, k])


@rare
def cut_leads(
    inst: Instance, params: Params, memory: Memory, state: State, bounds: Bounds, i: int, level_i: float,
    optimistic: bool,
) -> None:  # fmt: skip
    """Cuts the leads over the leader.                                                                       (C2)"""
    radius = solve(inst, params, memory, state, 0)
    levels = state.levels.high if optimistic else state.levels.low
    if radius < inf:
        K, x_i = len(levels), max(i, 0)
        value_i = level_i * memory.least[0, x_i]
        for k in range(K):
            width = radius * norm(inst, params, memory, 0, k, levels[k], x_i, level_i)
            bounds.lead[k] = min(bounds.lead[k], levels[k] * memory.least[0, k] - value_i + width)
        if i != NULL:
            width = radius * norm(inst, params, memory, 0, x_i, 0.0, x_i, level_i)
            bounds.lead[K] = min(bounds.lead[K], width - value_i)


@kernel
def solve(inst: Instance, params: Params, memory: Memory, state: State, s: int) -> float:
    """The radius R sqrt(2 log(1/delta) + log det(I + V/c)); infinite while V is singular.                   (C2)

    Fills memory.P with X V^-1 and row s of memory.least with the least-squares estimates. All is computed from the
    sufficient statistics, since nothing here may lean on a regularised inverse.
    """
    K, d = inst.X.shape
    A, N, M = memory.A, state.estimate.N, state.estimate.M
    c = params.prior[s]
    fill_diagonal(A, c)
    add_information(inst.X, N, A)
    if not cholesky(A, 0.0):
        return inf
    square = 2.0 * params.log_inv_delta[s] - d * log(c)
    for a in range(d):
        square += 2.0 * log(A[a, a])
    fill_diagonal(A, 0.0)
    add_information(inst.X, N, A)
    if not has_full_rank(A, SINGULAR * trace(A)):
        return inf
    fill_diagonal(A, 0.0)
    add_information(inst.X, N, A)
    cholesky(A, 0.0)
    for k in range(K):
        forward_solve(A, inst.X[k], memory.u)
        transposed_solve(A, memory.u, memory.P[k])
    weighted_sum(inst.X, M[s], memory.u)
    for k in range(K):
        memory.least[s, k] = dot(memory.P[k], memory.u)
    radius: float = inst.R[s] * sqrt(max(square, 0.0))
    return radius


@kernel
def norm(
    inst: Instance, params: Params, memory: Memory, s: int, k: int, level_k: float, i: int, level_i: float
) -> float:
    """The root of y^T (V^-1 + c V^-2) y for y = level_k x_k - level_i x_i.                                  (C2)"""
    square = 0.0
    for a in range(inst.X.shape[1]):
        u = level_k * memory.P[k, a] - level_i * memory.P[i, a]
        y = level_k * inst.X[k, a] - level_i * inst.X[i, a]
        square += u * y + params.prior[s] * u * u
    return sqrt(max(square, 0.0))
