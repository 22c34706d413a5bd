"""The norm-free ellipsoid around least squares: nothing about the size of the weights is in it.             (C2)

With V = sum z z^T, theta_LS = V^-1 b and any c > 0 fixed in advance, for all rounds at once and every y,

    |y . (theta_LS - theta*)| <= R sqrt(2 log(1/delta) + log det(I + V/c)) |y| in V^-1 + c V^-2.

Before the pulls span nothing is known and the radius is infinite. The set needs an estimate whose regularisation fades
(`core.grams.least_squares`).
"""

from math import inf
from typing import Any, NamedTuple

import numpy as np

from surefoot.core.columns import multiply
from surefoot.core.kernel import kernel, rare, thin
from surefoot.core.linear import add_information, cholesky, fill_diagonal, forward_solve, transposed_solve
from surefoot.core.logarithm import log, log1p
from surefoot.core.state import State
from surefoot.core.types import Ball, Instance, Matrix, Nothing, Tensor, Vector
from surefoot.sets.deviations import drift_of
from surefoot.sets.sizes import radius_of
from surefoot.sets.unknown_noise import new_sizes


class Params(NamedTuple):
    """The prior of each signal, and the errors with which its ellipsoid may fail."""

    prior: Vector  # (n,) information c of the prior; it tunes, and no bias is paid for it
    log_inv_delta: Vector  # (n,) log(1/delta) as far as the set bounds from below
    log_inv_delta_high: Vector  # (n,) the same as far as it bounds from above
    log_inv_delta_most: Vector  # (n,) the same for upper ends that all arms together may be refuted by
    mixture: Any = Nothing()  # over the sizes of noise, where one is unknown (C8)


class Memory(NamedTuple):
    """What grows with the pulls; all can be rebuilt from the sums of the estimate."""

    inverse: Tensor  # (n, d, d) (c I + V)^-1
    log_det: Vector  # (n,) log det(I + V/c)
    A: Matrix  # (d, d) room
    u: Vector  # (d,) room
    w: Vector  # (d,) room
    sizes: Any  # of the noise, where one is unknown (C8); else an empty array


def memory_for(n: int, d: int, unknown: bool = False) -> Memory:
    """Memory of zeros for n signals in d dimensions."""
    sizes = new_sizes(n) if unknown else np.zeros(0)
    return Memory(np.zeros((n, d, d)), np.zeros(n), np.zeros((d, d)), np.zeros(d), np.zeros(d), sizes)


# -- kernels ----------------------------------------------------------------------------------------------------------


@thin
def ball(inst: Instance, params: Params, memory: Memory, state: State, s: int) -> Ball:
    """The ellipsoid of signal s in this round, as far as it bounds from below.                              (C2)"""
    radius = radius_at(inst, memory, state, s, params.log_inv_delta[s])
    return Ball(s, inst.gram_of[s], radius, inf, params.prior[s], drift_of(inst, state, s))


@kernel
def radius_at(inst: Instance, memory: Memory, state: State, s: int, log_inv_delta: float) -> float:
    """The radius of signal s's ellipsoid that fails with probability delta at most.                         (C2)"""
    if state.estimate.spanned[inst.gram_of[s]] == 0:
        return inf
    return radius_of(inst, memory.sizes, s, square_at(memory, s, log_inv_delta))


@thin
def square_at(memory: Memory, s: int, log_inv_delta: float) -> float:
    """The squared radius in units of the noise.                                                             (C2)"""
    square: float = 2.0 * log_inv_delta + max(memory.log_det[s], 0.0)
    return square


@kernel
def learn(inst: Instance, memory: Memory, k: int, gamma: float) -> None:
    """Every prior's own matrix after a pull of arm k at level gamma."""
    x, u, d = inst.X[k], memory.u, inst.X.shape[1]
    for s in range(len(memory.log_det)):
        inverse, gain = memory.inverse[s], 0.0
        multiply(inverse, x, u)
        for a in range(d):
            u[a] = gamma * u[a]
            gain += gamma * x[a] * u[a]
        memory.log_det[s] += log1p(gain)
        weight = 1.0 / (1.0 + gain)
        for b in range(d):
            row, u_b = inverse[b], u[b]
            for a in range(d):
                row[a] -= weight * u[a] * u_b


@rare
def refresh(inst: Instance, params: Params, memory: Memory, state: State) -> None:
    """The same anew, from the sums of the estimate."""
    d = inst.X.shape[1]
    for s in range(len(memory.log_det)):
        c = params.prior[s]
        fill_diagonal(memory.A, c)
        add_information(inst.X, state.estimate.N, memory.A)
        cholesky(memory.A, 0.0)
        memory.log_det[s] = -d * log(c)
        for a in range(d):
            memory.log_det[s] += 2.0 * log(memory.A[a, a])
        for b in range(d):
            for a in range(d):
                memory.w[a] = 1.0 if a == b else 0.0
            forward_solve(memory.A, memory.w, memory.u)
            transposed_solve(memory.A, memory.u, memory.w)
            for a in range(d):
                memory.inverse[s, a, b] = memory.w[a]
