"""Estimation in arm space: what an observation changes.                                                  (E1, E2)

All that a round needs are numbers per arm and G = X A^-1 X^T. This is the only file that reads G; the others ask for a
column, the diagonal or a squared norm, so that another way to keep G touches no rule.

A regularisation may fade: A holds it only until the pulls span, and the estimate is plain least squares from then on.
"""

from math import sqrt
from typing import NamedTuple

import numpy as np

from surefoot.core.kernel import kernel, rare, thin
from surefoot.core.linear import (
    add_information,
    cholesky,
    fill_diagonal,
    forward_solve,
    has_full_rank,
    trace,
    transposed_solve,
)
from surefoot.core.logarithm import log, log1p
from surefoot.core.types import Ball, Indices, Instance, Matrix, Tensor, Vector

SINGULAR = 1e-12  # eigenvalues of sum z z^T with a harmonic mean below this share of their sum: no span yet


class Estimate(NamedTuple):
    """What is known of the weights. N and M are sufficient: all but the number of pulls can be rebuilt from them."""

    N: Vector  # (K,) sum of gamma^2 over the arm's pulls
    M: Matrix  # (n, K) sum of gamma * observation over the arm's pulls
    pulls: Indices  # (K,) number of pulls
    G: Tensor  # (g, K, K) X A^-1 X^T
    v: Matrix  # (g, K) its diagonal
    est: Matrix  # (n, K) estimates x_k . theta_hat and x_k . mu_hat
    log_det: Vector  # (g,) log det(A) - log det(regularisation), for (E4)
    spanned: Indices  # (g,) whether a regularisation that fades has done so
    W: Tensor  # (f, K, d) rows A^-1 x_k, where a regularisation fades (C2); f = g there, and 0 where none does


class Scratch(NamedTuple):
    """Room for small linear algebra."""

    A: Matrix  # (d, d)
    W: Matrix  # (K, d)
    y: Vector  # (d,)
    u: Vector  # (d,)
    column: Vector  # (K,)


def new_estimate(inst: Instance) -> Estimate:
    """An estimate of zeros, which `refresh_gram` fills in."""
    (K, d), n, g = inst.X.shape, len(inst.R), len(inst.log_det)
    return Estimate(
        N=np.zeros(K), M=np.zeros((n, K)), pulls=np.zeros(K, np.int64), G=np.zeros((g, K, K)), v=np.zeros((g, K)),
        est=np.zeros((n, K)), log_det=np.zeros(g), spanned=np.zeros(g, np.int64),
        W=np.zeros((g if inst.fades.any() else 0, K, d)),
    )  # fmt: skip


def new_scratch(inst: Instance) -> Scratch:
    """Room of the right size."""
    K, d = inst.X.shape
    return Scratch(np.zeros((d, d)), np.zeros((K, d)), np.zeros(d), np.zeros(d), np.zeros(K))


# -- what others read -------------------------------------------------------------------------------------------------


@thin
def column(estimate: Estimate, g: int, k: int) -> Vector:
    """x_k . A^-1 x_a for every arm a, by Gram matrix g."""
    found: Vector = estimate.G[g, k]
    return found


@thin
def diagonal(estimate: Estimate, g: int) -> Vector:
    """|x_k|^2 in A^-1 of every arm."""
    found: Vector = estimate.v[g]
    return found


@thin
def squared_norm(estimate: Estimate, g: int, k: int, level_k: float, i: int, level_i: float) -> float:
    """|y|^2 in A^-1 for y = level_k x_k - level_i x_i; exact duplicates at one level give exactly 0."""
    square: float = (
        level_k * level_k * estimate.v[g, k]
        + level_i * level_i * estimate.v[g, i]
        - 2.0 * level_k * level_i * estimate.G[g, i, k]
    )
    return max(square, 0.0)


@thin
def image(estimate: Estimate, g: int, k: int) -> Vector:
    """A^-1 x_k, where a regularisation fades.                                                               (C2)"""
    found: Vector = estimate.W[g, k]
    return found


@kernel
def squared_image(estimate: Estimate, g: int, k: int, level_k: float, i: int, level_i: float) -> float:
    """|A^-1 y|^2 for y = level_k x_k - level_i x_i, where a regularisation fades.                           (C2)"""
    square = 0.0
    for a in range(estimate.W.shape[2]):
        u = level_k * estimate.W[g, k, a] - level_i * estimate.W[g, i, a]
        square += u * u
    return square


@thin
def arm_width(estimate: Estimate, ball: Ball, k: int) -> float:
    """The half-width of the ball's interval for x_k . weights.                                         (E5, C2)"""
    square = max(estimate.v[ball.g, k], 0.0)
    if ball.prior > 0.0:
        square += ball.prior * squared_image(estimate, ball.g, k, 1.0, k, 0.0)
    return ball.radius * sqrt(square) if square > 0.0 else 0.0  # an arm of zeros is known, however large the ball


@thin
def difference_width(estimate: Estimate, ball: Ball, k: int, level_k: float, i: int, level_i: float) -> float:
    """The half-width of the ball's interval for (level_k x_k - level_i x_i) . weights.                  (E5, C2)"""
    square = squared_norm(estimate, ball.g, k, level_k, i, level_i)
    if ball.prior > 0.0:
        square += ball.prior * squared_image(estimate, ball.g, k, level_k, i, level_i)
    return ball.radius * sqrt(square) if square > 0.0 else 0.0


# -- how it is kept ---------------------------------------------------------------------------------------------------


@kernel
def update(inst: Instance, estimate: Estimate, u: Vector, k: int, gamma: float, observed: Vector) -> bool:
    """The estimate after pulling arm k at level gamma; False if the numbers broke down. u is room for K.  (E1, E2)"""
    healthy = True
    K, n = len(estimate.N), len(inst.R)
    for g in range(len(inst.log_det)):
        gain = gamma * gamma * estimate.v[g, k]
        weight = gamma / (1.0 + gain)
        for a in range(K):
            u[a] = estimate.G[g, k, a]
        for s in range(n):
            if inst.gram_of[s] == g:
                change = weight * (observed[s] - gamma * estimate.est[s, k])
                healthy = healthy and abs(change) < 1e300
                for a in range(K):
                    estimate.est[s, a] += change * u[a]
        for a in range(K):
            factor = weight * gamma * u[a]
            row = estimate.G[g, a]
            for b in range(K):
                row[b] -= factor * u[b]
            estimate.v[g, a] = row[a]
            healthy = healthy and estimate.v[g, a] >= 0.0
        if len(estimate.W) > 0:
            turn_rows(estimate.W[g], u, k, weight * gamma)
        estimate.log_det[g] += log1p(gain)
    estimate.N[k] += gamma * gamma
    for s in range(n):
        estimate.M[s, k] += gamma * observed[s]
    estimate.pulls[k] += 1
    return healthy


@kernel
def turn_rows(rows: Matrix, u: Vector, k: int, weight: float) -> None:
    """The rows A^-1 x_a after a pull of arm k, row k last because all others read it."""
    K, d = rows.shape
    for a in range(K):
        factor = weight * u[a]
        if a != k:
            for c in range(d):
                rows[a, c] -= factor * rows[k, c]
    for c in range(d):
        rows[k, c] -= weight * u[k] * rows[k, c]


@rare
def factor(inst: Instance, estimate: Estimate, scratch: Scratch, g: int) -> bool:
    """The Cholesky factor of Gram matrix g, in scratch.A; False if there is none.

    A regularisation that fades is left out as soon as the pulls span without it, and is never taken up again.
    """
    d = inst.X.shape[1]
    if inst.fades[g] == 1 and estimate.spanned[g] == 0:
        fill_diagonal(scratch.A, 0.0)
        add_information(inst.X, estimate.N, scratch.A)
        estimate.spanned[g] = 1 if has_full_rank(scratch.A, SINGULAR * trace(scratch.A)) else 0
    kept = 0.0 if estimate.spanned[g] == 1 else 1.0
    for a in range(d):
        for b in range(d):
            scratch.A[a, b] = kept * inst.regularization[g, a, b]
    add_information(inst.X, estimate.N, scratch.A)
    return cholesky(scratch.A, 0.0)


@rare
def refresh_gram(inst: Instance, estimate: Estimate, scratch: Scratch, g: int) -> bool:
    """Gram matrix g and what is estimated with it, anew from the sufficient statistics; False if they broke down.

    Leaves the Cholesky factor C of A in scratch.A, and the rows C^-1 x_k in scratch.W.                  (E1, E2)
    """
    K, d = inst.X.shape
    healthy = factor(inst, estimate, scratch, g)
    estimate.log_det[g] = -inst.log_det[g]
    for a in range(d):
        estimate.log_det[g] += 2.0 * log(scratch.A[a, a])
    for k in range(K):
        forward_solve(scratch.A, inst.X[k], scratch.W[k])
    for k in range(K):
        for j in range(k + 1):
            total = 0.0
            for a in range(d):
                total += scratch.W[k, a] * scratch.W[j, a]
            estimate.G[g, k, j] = total
            estimate.G[g, j, k] = total
        estimate.v[g, k] = estimate.G[g, k, k]
        if len(estimate.W) > 0:
            transposed_solve(scratch.A, scratch.W[k], estimate.W[g, k])
    for s in range(len(inst.R)):
        if inst.gram_of[s] == g:
            refresh_signal(inst, estimate, scratch, s)
    return healthy


@kernel
def refresh_signal(inst: Instance, estimate: Estimate, scratch: Scratch, s: int) -> None:
    """The estimates of signal s, by the factor in `scratch`.                                                (E2)"""
    K, d = inst.X.shape
    for a in range(d):
        total = 0.0
        for k in range(K):
            total += estimate.M[s, k] * inst.X[k, a]
        scratch.y[a] = total
    forward_solve(scratch.A, scratch.y, scratch.u)
    for k in range(K):
        total = 0.0
        for a in range(d):
            total += scratch.W[k, a] * scratch.u[a]
        estimate.est[s, k] = total
