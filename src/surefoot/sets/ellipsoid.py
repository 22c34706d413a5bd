"""The ellipsoid around the estimate, with the paper's radii and the squared-sum one.                    (E3-E5, C1)

It holds the truth as long as the noise is R-sub-Gaussian given the past and the weights are no longer than `norm`.
"""

from collections.abc import Sequence
from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from surefoot.core.estimate import column, diagonal, second_column, second_diagonal, square_of, width_of
from surefoot.core.grams import Grams
from surefoot.core.kernel import kernel, thin
from surefoot.core.logarithm import log, log1p
from surefoot.core.state import Bounds, Scratch, State
from surefoot.core.types import NULL, ROUND, Ball, Indices, Instance, Vector
from surefoot.sets.protocol import ConfidenceSet

NAME, VERSION = "ellipsoid", 1
DETERMINANT, NORM, SQUARED_SUM = 0, 1, 2  # which radius: (E4), (E3), (C1)
RADII = {"determinant": DETERMINANT, "norm": NORM, "squared-sum": SQUARED_SUM}


class Params(NamedTuple):
    """What the radii are made of."""

    form: Indices  # (n,) DETERMINANT, NORM or SQUARED_SUM
    any_norm: bool  # whether one of them is NORM
    norm: Vector  # (n,) D, the bound on the norm of the unknown weights
    bias: Vector  # (n,) what regularisation can hide, sqrt(lambda) D
    rate: Vector  # (g,) L^2 / lambda, by which (E3) grows
    log_inv_delta: Vector  # (n,) log(1/delta) as far as the set bounds from below
    log_inv_delta_high: Vector  # (n,) the same as far as it bounds from above; equal where one set does both


class Memory(NamedTuple):
    """What grows with the rounds."""

    growth: Vector  # (g,) log(1 + t L^2 / lambda), for (E3)


def params_of(
    X: Vector, norms: Vector, grams: Grams, form: Sequence[int], delta: Vector, delta_high: Vector | None = None
) -> Params:
    """The parameters for these arms: a radius, a norm bound and an error for each signal."""
    longest = float(np.sqrt((X * X).sum(axis=1).max()))
    return Params(
        form=np.array(form, np.int64),
        any_norm=NORM in form,
        norm=norms,
        bias=np.sqrt(grams.most[grams.of]) * norms,
        rate=longest * longest / grams.least,
        log_inv_delta=-np.log(delta),
        log_inv_delta_high=-np.log(delta if delta_high is None else delta_high),
    )


def ellipsoid(params: Params) -> ConfidenceSet:
    """The set with these parameters."""
    return ConfidenceSet(
        NAME, VERSION, params, Memory(np.zeros(len(params.rate))), bound_safety=bound_safety, bound_leads=bound_leads,
        learn=learn, refresh=refresh, ball=ball,
    )  # fmt: skip


# -- kernels ----------------------------------------------------------------------------------------------------------


@thin
def ball(inst: Instance, params: Params, memory: Memory, state: State, s: int) -> Ball:
    """The ellipsoid of signal s in this round, as far as it bounds from below.                      (E3, E4, C1)"""
    radius = radius_at(inst, params, memory, state, s, params.log_inv_delta[s])
    return Ball(s, inst.gram_of[s], radius, params.norm[s], 0.0, 0.0)


@kernel
def radius_at(inst: Instance, params: Params, memory: Memory, state: State, s: int, log_inv_delta: float) -> float:
    """The radius of signal s's ellipsoid that fails with probability delta at most.                 (E3, E4, C1)"""
    g, d = inst.gram_of[s], inst.X.shape[1]
    R: float = inst.R[s]
    bias: float = params.bias[s]
    if params.form[s] == NORM and d >= 2:  # in one dimension (E3) is not valid and (E4) takes its place
        return R * sqrt(d * (memory.growth[g] + log_inv_delta)) + bias
    square = 2.0 * log_inv_delta + max(state.estimate.log_det[g], 0.0)
    if params.form[s] == SQUARED_SUM:
        return sqrt(R * R * square + bias * bias)
    return R * sqrt(square) + bias


@kernel
def learn(inst: Instance, params: Params, memory: Memory, state: State, k: int, gamma: float, observed: Vector) -> None:
    """One round more."""
    before = state.clock[ROUND]
    for g in range(len(memory.growth) if params.any_norm else 0):
        memory.growth[g] += log1p(params.rate[g] / (1.0 + before * params.rate[g]))


@kernel
def refresh(inst: Instance, params: Params, memory: Memory, state: State, scratch: Scratch, g: int) -> None:
    """The growth of the rounds so far."""
    memory.growth[g] = log(1.0 + state.clock[ROUND] * params.rate[g])


@kernel
def bound_safety(inst: Instance, params: Params, memory: Memory, state: State, bounds: Bounds) -> None:
    """The bounds of every safety signal at every arm.                                                   (S1, C1)"""
    estimate = state.estimate
    for s in range(1, len(inst.R)):
        radius, v, est = (
            ball(inst, params, memory, state, s).radius,
            diagonal(estimate, inst.gram_of[s]),
            estimate.est[s],
        )
        lower, upper, most = bounds.lower[s - 1], bounds.upper[s - 1], bounds.most[s - 1]
        for k in range(len(est)):
            width = width_of(radius, v[k])
            lower[k] = est[k] - width
            upper[k] = most[k] = est[k] + width


@thin
def bound_leads(
    inst: Instance, params: Params, memory: Memory, state: State, bounds: Bounds, i: int, level_i: float,
    optimistic: bool,
) -> None:  # fmt: skip
    """The most by which each arm might beat the leader; the null pull comes last.                       (G2, C1)"""
    leads_by(inst, state, ball(inst, params, memory, state, 0), bounds, i, level_i, optimistic)


@kernel
def leads_by(
    inst: Instance, state: State, found: Ball, bounds: Bounds, i: int, level_i: float, optimistic: bool
) -> None:
    """The leads that the ball allows.                                                                   (G2, C1)"""
    estimate, levels = state.estimate, state.levels.high if optimistic else state.levels.low
    K, x_i, g, prior, radius = len(levels), max(i, 0), found.g, found.prior, found.radius
    value_i, values = level_i * estimate.est[0, x_i], estimate.est[0]  # the null pull is any arm at level 0
    v, column_i = diagonal(estimate, g), column(inst, estimate, g, x_i)
    square_i, v_i, lead = level_i * level_i * v[x_i], v[x_i], bounds.lead
    if prior > 0.0:
        v2, second_i = second_diagonal(estimate, g), second_column(inst, estimate, g, x_i)
        v2_i = v2[x_i]
        square_i += prior * (level_i * level_i * v2_i)
        for k in range(K):
            square = square_of(levels[k], v[k], level_i, v_i, column_i[k])
            square += prior * square_of(levels[k], v2[k], level_i, v2_i, second_i[k])
            lead[k] = levels[k] * values[k] - value_i + width_of(radius, square)
    else:
        for k in range(K):
            square = square_of(levels[k], v[k], level_i, v_i, column_i[k])
            lead[k] = levels[k] * values[k] - value_i + width_of(radius, square)
    bounds.lead[K] = width_of(radius, square_i) - value_i if i != NULL else -inf
