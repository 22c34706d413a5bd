"""Independent doses: each arm is known by its own pulls, and by nothing else.                               (S8)

For orthogonal arms the mean of an arm's own readings, weighted by their levels, is the least-squares estimate, and its
noise is one-dimensional: (C3) bounds it without an ellipsoid.
"""

from math import inf
from typing import NamedTuple

from surefoot.core.kernel import kernel, thin
from surefoot.core.state import Bounds, State
from surefoot.core.types import NULL, Ball, Instance, Matrix, Nothing
from surefoot.sets.boundaries import height_in
from surefoot.sets.protocol import ConfidenceSet

NAME, VERSION = "doses", 1


class Params(NamedTuple):
    """The boundaries: each table has a row for every signal, the reward first."""

    low: Matrix  # (n, 3) of lower ends, which hold at all arms together
    high: Matrix  # (n, 3) of upper ends, which hold at the best arm
    most: Matrix  # (n, 3) of upper ends that hold at all arms together, and may contradict


def doses(params: Params) -> ConfidenceSet:
    """The set with these boundaries."""
    return ConfidenceSet(
        NAME, VERSION, params, Nothing(), bound_safety=bound_safety, bound_leads=bound_leads, ball=ball
    )


@thin
def ball(inst: Instance, params: Params, memory: Nothing, state: State, s: int) -> Ball:
    """No ellipsoid: arms say nothing of each other."""
    return Ball(s, inst.gram_of[s], inf, inf, 0.0, 0.0)


@kernel
def end(inst: Instance, table: Matrix, state: State, s: int, k: int, sign: float) -> float:
    """The lower (sign -1) or upper (sign 1) end for signal s of arm k at full level.                    (S8, C3)"""
    N = state.estimate.N[k]
    if not N > 0.0:
        return sign * inf
    mean: float = state.estimate.M[s, k] / N
    reach: float = height_in(table, s, inst.R[s], N) / N
    return mean + sign * reach


@kernel
def bound_safety(inst: Instance, params: Params, memory: Nothing, state: State, bounds: Bounds) -> None:
    """The bounds of every safety signal at every arm.                                                   (S1, S8)"""
    for s in range(1, len(inst.R)):
        for k in range(len(inst.X)):
            bounds.lower[s - 1, k] = end(inst, params.low, state, s, k, -1.0)
            bounds.upper[s - 1, k] = end(inst, params.high, state, s, k, 1.0)
            bounds.most[s - 1, k] = end(inst, params.most, state, s, k, 1.0)


@kernel
def value_at_most(inst: Instance, params: Params, state: State, k: int) -> float:
    """The most that arm k can be worth at its optimistic level."""
    level: float = state.levels.high[k]
    return max(level * end(inst, params.high, state, 0, k, 1.0), 0.0)


@kernel
def value_at_least(inst: Instance, params: Params, state: State, k: int, level: float) -> float:
    """The least that arm k is worth at this level."""
    value: float = end(inst, params.low, state, 0, k, -1.0)
    return level * value


@kernel
def bound_leads(
    inst: Instance, params: Params, memory: Nothing, state: State, bounds: Bounds, i: int, level_i: float,
    optimistic: bool,
) -> None:  # fmt: skip
    """The most by which each arm might beat the leader; the null pull comes last.                       (G2, S8)"""
    K = len(inst.X)
    least = value_at_least(inst, params, state, i, level_i) if i != NULL else 0.0
    for k in range(K):
        bounds.lead[k] = value_at_most(inst, params, state, k) - least
    if i != NULL:  # of itself only the rest of the dial is in question
        rest = (state.levels.high[i] - level_i) * max(end(inst, params.high, state, 0, i, 1.0), 0.0)
        bounds.lead[i] = min(bounds.lead[i], rest)
    bounds.lead[K] = -least
