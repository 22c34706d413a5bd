"""Confidence sets: how far an estimate can be from the truth, for all rounds at once.                   (E3-E5)

The rest of the core asks only for the width of an arm or of a difference of two pulls, never for a radius, so that
sets which are not ellipsoids in A can take part.
"""

from math import sqrt
from typing import NamedTuple

from surefoot.core.kernel import kernel, rare
from surefoot.core.types import NORM, Instance, State


class ConfidenceSet(NamedTuple):
    """The weights of one signal that this round's data allow: an ellipsoid around the estimate."""

    s: int  # the signal
    g: int  # its Gram matrix
    radius: float


@kernel
def open_set(inst: Instance, state: State, s: int) -> ConfidenceSet:
    """The confidence set of signal s in this round.                                                     (E3, E4)"""
    g = inst.gram_of[s]
    d = inst.X.shape[1]
    if inst.radius[s] == NORM and d >= 2:  # in one dimension (E3) is not valid and (E4) takes its place
        deviation = sqrt(d * (state.growth[g] + inst.log_inv_delta[s]))
    else:
        deviation = sqrt(2.0 * inst.log_inv_delta[s] + max(state.log_det[g], 0.0))
    return ConfidenceSet(s, g, inst.R[s] * deviation + inst.bias[s])


@kernel
def arm_width(state: State, ball: ConfidenceSet, k: int) -> float:
    """The half-width of the interval for x_k . weights.                                                     (E5)"""
    return ball.radius * sqrt(max(state.v[ball.g, k], 0.0))


@kernel
def difference_width(state: State, ball: ConfidenceSet, k: int, level_k: float, i: int, level_i: float) -> float:
    """The half-width of the interval for (level_k x_k - level_i x_i) . weights.                             (E5)"""
    square = (  # exact duplicates at one level give exactly 0
        level_k * level_k * state.v[ball.g, k]
        + level_i * level_i * state.v[ball.g, i]
        - 2.0 * level_k * level_i * state.G[ball.g, i, k]
    )
    return ball.radius * sqrt(max(square, 0.0))


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
