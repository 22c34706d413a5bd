"""Estimation in arm space: what an observation changes.                                                  (E1, E2)

All that a round needs are numbers per arm and G = X A^-1 X^T, of which `core.columns` holds what is in question. The
others ask for a column, the diagonal or a squared norm, so that how G is kept touches no rule.

A regularisation may fade: A holds it only until the pulls span, and the estimate is plain least squares from then on.
"""

from math import sqrt
from typing import NamedTuple

import numpy as np

from surefoot.core.columns import Columns, image_of, multiply, new_columns, place_of, tell_inverse, turn_columns
from surefoot.core.kernel import kernel, thin
from surefoot.core.logarithm import log1p
from surefoot.core.types import Ball, Indices, Instance, Matrix, Vector

IMAGES = 65_536  # numbers that stay at hand while the widths of some arms are computed anew
CANCELLED = 1e-2  # of a square that was computed anew: a hundredth of it has lost two digits, its square four


class Estimate(NamedTuple):
    """What is known of the weights. N and M are sufficient: all but the number of pulls can be rebuilt from them."""

    N: Vector  # (K,) sum of gamma^2 over the arm's pulls
    M: Matrix  # (n, K) sum of gamma * observation over the arm's pulls
    pulls: Indices  # (K,) number of pulls
    v: Matrix  # (g, K) |x_k|^2 in A^-1: the diagonal of G
    v2: Matrix  # (f, K) |A^-1 x_k|^2, where a regularisation fades (C2); f = g there, and 0 where none does
    columns: Columns
    fresh: Matrix  # (g, K) v when all was last computed anew, where only some columns are held; else nothing
    est: Matrix  # (n, K) estimates x_k . theta_hat and x_k . mu_hat
    log_det: Vector  # (g,) log det(A) - log det(regularisation), for (E4)
    spanned: Indices  # (g,) whether a regularisation that fades has done so
    tried: Indices  # (1,) how many arms were pulled at all


class Scratch(NamedTuple):
    """Room for small linear algebra."""

    A: Matrix  # (d, d)
    B: Matrix  # (d, d)
    W: Matrix  # (K, d), where all columns are held; else (d + 1, P) for images of P arms at a time
    y: Vector  # (d,)
    u: Vector  # (d,)
    column: Vector  # (K,)
    second: Vector  # (K,), where a regularisation fades; else nothing


def new_estimate(inst: Instance) -> Estimate:
    """An estimate of zeros, which `core.refreshing` fills in."""
    (K, d), n, g = inst.X.shape, len(inst.R), len(inst.log_det)
    fades = bool(inst.fades.any())
    return Estimate(
        N=np.zeros(K), M=np.zeros((n, K)), pulls=np.zeros(K, np.int64), v=np.zeros((g, K)),
        v2=np.zeros((g if fades else 0, K)), columns=new_columns(K, d, g, fades, inst.few_columns),
        fresh=np.zeros((g if inst.few_columns else 0, K)), est=np.zeros((n, K)), log_det=np.zeros(g),
        spanned=np.zeros(g, np.int64), tried=np.zeros(1, np.int64),
    )  # fmt: skip


def new_scratch(inst: Instance) -> Scratch:
    """Room of the right size."""
    K, d = inst.X.shape
    second = K if inst.fades.any() else 0
    images = (d + 1, min(max(IMAGES // (d + 1), 8), K)) if inst.few_columns else (K, d)
    return Scratch(
        np.zeros((d, d)), np.zeros((d, d)), np.zeros(images), np.zeros(d), np.zeros(d), np.zeros(K), np.zeros(second)
    )  # fmt: skip


# -- what others read -------------------------------------------------------------------------------------------------


@thin
def column(inst: Instance, estimate: Estimate, g: int, k: int) -> Vector:
    """x_k . A^-1 x_a for every arm a, by Gram matrix g; good until several others were asked for."""
    found: Vector = estimate.columns.values[g, place_of(inst, estimate.columns, estimate.v, estimate.v2, g, k)]
    return found


@thin
def second_column(inst: Instance, estimate: Estimate, g: int, k: int) -> Vector:
    """x_k . A^-2 x_a for every arm a, where a regularisation fades.                                         (C2)"""
    found: Vector = estimate.columns.second[g, place_of(inst, estimate.columns, estimate.v, estimate.v2, g, k)]
    return found


@thin
def diagonal(estimate: Estimate, g: int) -> Vector:
    """|x_k|^2 in A^-1 of every arm."""
    found: Vector = estimate.v[g]
    return found


@thin
def second_diagonal(estimate: Estimate, g: int) -> Vector:
    """|A^-1 x_k|^2 of every arm, where a regularisation fades.                                              (C2)"""
    found: Vector = estimate.v2[g]
    return found


@thin
def square_of(level_k: float, v_k: float, level_i: float, v_i: float, overlap: float) -> float:
    """|level_k x_k - level_i x_i|^2 from the squares and the product of the two; never below 0."""
    square: float = level_k * level_k * v_k + level_i * level_i * v_i - 2.0 * level_k * level_i * overlap
    return max(square, 0.0)


@kernel
def squared_norm(
    inst: Instance, estimate: Estimate, g: int, k: int, level_k: float, i: int, level_i: float
) -> float:  # fmt: skip
    """|y|^2 in A^-1 for y = level_k x_k - level_i x_i; exact duplicates at one level give exactly 0."""
    v, column_i = diagonal(estimate, g), column(inst, estimate, g, i)
    return square_of(level_k, v[k], level_i, v[i], column_i[k])


@kernel
def squared_image(
    inst: Instance, estimate: Estimate, g: int, k: int, level_k: float, i: int, level_i: float
) -> float:  # fmt: skip
    """|A^-1 y|^2 for y = level_k x_k - level_i x_i, where a regularisation fades.                           (C2)"""
    v2, column_i = second_diagonal(estimate, g), second_column(inst, estimate, g, i)
    return square_of(level_k, v2[k], level_i, v2[i], column_i[k])


@thin
def image(inst: Instance, estimate: Estimate, g: int, k: int, out: Vector) -> None:
    """A^-1 x_k, where a regularisation fades.                                                               (C2)"""
    image_of(inst, estimate.columns, g, k, out)


@thin
def image_twice(estimate: Estimate, g: int, image: Vector, out: Vector) -> None:
    """A^-2 x_k from the image A^-1 x_k, which was just asked for.                                            (C2)"""
    multiply(estimate.columns.inverse[g], image, out)


@thin
def width_of(radius: float, square: float) -> float:
    """The half-width by the radius of a ball along what has this square; 0 along zeros, however large the ball."""
    return radius * sqrt(square) if square > 0.0 else 0.0


@thin
def arm_width(estimate: Estimate, ball: Ball, k: int) -> float:
    """The half-width of the ball's interval for x_k . weights.                                         (E5, C2)"""
    square = max(estimate.v[ball.g, k], 0.0)
    if ball.prior > 0.0:
        square += ball.prior * max(estimate.v2[ball.g, k], 0.0)
    return width_of(ball.radius, square) + width_of(ball.drift, estimate.v[ball.g, k])


@thin
def difference_width(
    inst: Instance, estimate: Estimate, ball: Ball, k: int, level_k: float, i: int, level_i: float
) -> float:  # fmt: skip
    """The half-width of the ball's interval for (level_k x_k - level_i x_i) . weights.                  (E5, C2)"""
    plain = squared_norm(inst, estimate, ball.g, k, level_k, i, level_i)
    square = plain
    if ball.prior > 0.0:
        square += ball.prior * squared_image(inst, estimate, ball.g, k, level_k, i, level_i)
    return width_of(ball.radius, square) + width_of(ball.drift, plain)


# -- how it is kept ---------------------------------------------------------------------------------------------------


@kernel
def update(inst: Instance, estimate: Estimate, scratch: Scratch, k: int, gamma: float, observed: Vector) -> bool:
    """The estimate after pulling arm k at level gamma; False if the numbers broke down.                  (E1, E2)"""
    healthy = True
    K, n, u, u2 = len(estimate.N), len(inst.R), scratch.column, scratch.second
    for g in range(len(inst.log_det)):
        v, found = estimate.v[g], column(inst, estimate, g, k)
        gain = gamma * gamma * v[k]
        weight = gamma / (1.0 + gain)
        for a in range(K):
            u[a] = found[a]
        for s in range(n):
            if inst.gram_of[s] == g:
                change, est = weight * (observed[s] - gamma * estimate.est[s, k]), estimate.est[s]
                healthy = healthy and abs(change) < 1e300
                for a in range(K):
                    est[a] += change * u[a]
        own2 = 0.0
        if len(estimate.v2) > 0:
            own2 = turn_second(inst, estimate, u, u2, g, k, weight * gamma)
        turn_columns(estimate.columns, g, u, u2, weight * gamma, own2)
        broken = 0
        for a in range(K):
            v[a] -= weight * gamma * u[a] * u[a]
            broken += 0 if v[a] >= 0.0 else 1
        healthy = healthy and broken == 0
        tell_inverse(inst, estimate.columns, g, k, gamma * gamma)
        estimate.log_det[g] += log1p(gain)
    estimate.tried[0] += 1 if estimate.N[k] == 0.0 and gamma > 0.0 else 0
    estimate.N[k] += gamma * gamma
    for s in range(n):
        estimate.M[s, k] += gamma * observed[s]
    estimate.pulls[k] += 1
    return healthy


@kernel
def turn_second(inst: Instance, estimate: Estimate, u: Vector, u2: Vector, g: int, k: int, weight: float) -> float:
    """The second diagonal after a pull of arm k, whose column is u; its second one is left in u2.            (C2)

    Returns |A^-1 x_k|^2 before the pull.
    """
    v2, found = estimate.v2[g], second_column(inst, estimate, g, k)
    own2: float = v2[k]
    once = weight * weight * own2
    for a in range(len(u)):
        u2[a] = found[a]
    for a in range(len(u)):  # as `turn_columns` does it, so that equal arms stay equal to the last digit
        v2[a] -= (weight * u2[a] - once * u[a]) * u[a] + weight * u[a] * u2[a]
    return own2


@kernel
def has_cancelled(estimate: Estimate, g: int, k: int) -> bool:
    """Whether the width of arm k is so small a rest of what it was that its digits have gone."""
    return len(estimate.fresh) > 0 and estimate.v[g, k] < CANCELLED * estimate.fresh[g, k]
