"""Confidence sets: how far an estimate can be from the truth, for all rounds at once.                   (E3, E4, E5)

The rest of the core asks only for the width of an arm or of a difference of two pulls, never for a radius, so that
sets which are not ellipsoids in A can take part.
"""

from math import log, sqrt

from surefoot.core.kernel import kernel
from surefoot.core.types import NORM, ROUND, Instance, State, Work


@kernel
def open_set(inst: Instance, state: State, work: Work, s: int) -> None:
    """The set of signal s in this round, ready to be asked for widths."""
    work.radius[s] = radius(inst, state, s)


@kernel
def radius(inst: Instance, state: State, s: int) -> float:
    """The radius of the ellipsoid around the estimate of signal s.                                      (E3, E4)"""
    g = inst.gram_of[s]
    lam, d = inst.lam[g], inst.X.shape[1]
    if inst.radius[s] == NORM and d >= 2:  # in one dimension (E3) is not valid and (E4) takes its place
        growth = log(1.0 + state.clock[ROUND] * inst.L * inst.L / lam)
        deviation = sqrt(d * (growth + inst.log_inv_delta[s]))
    else:
        deviation = sqrt(2.0 * inst.log_inv_delta[s] + max(state.log_det[g], 0.0))
    return inst.R[s] * deviation + sqrt(lam) * inst.D[s]


@kernel
def arm_width(inst: Instance, state: State, work: Work, s: int, k: int) -> float:
    """The half-width of the interval for x_k . weights of signal s.                                         (E5)"""
    return work.radius[s] * sqrt(max(state.v[inst.gram_of[s], k], 0.0))


@kernel
def difference_width(
    inst: Instance, state: State, work: Work, s: int, k: int, level_k: float, i: int, level_i: float
) -> float:
    """The half-width of the interval for (level_k x_k - level_i x_i) . weights of signal s.                 (E5)"""
    g = inst.gram_of[s]
    square = (
        level_k * level_k * state.v[g, k]
        + level_i * level_i * state.v[g, i]
        - 2.0 * level_k * level_i * state.G[g, i, k]
    )
    return work.radius[s] * sqrt(max(square, 0.0))
