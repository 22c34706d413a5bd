"""What an arm's own pulls say of its safety: a mean with a boundary in one dimension.                       (C4)

It cuts the bounds of the safety signals that it is asked for, at every arm that was pulled.
"""

from typing import NamedTuple

from surefoot.core.kernel import kernel, rare
from surefoot.core.state import Bounds, State
from surefoot.core.types import Indices, Instance, Matrix, Nothing
from surefoot.sets.boundaries import height_in
from surefoot.sets.protocol import ConfidenceSet

NAME, VERSION = "own-pulls", 1


class Params(NamedTuple):
    """The boundaries of each signal."""

    asked: Indices  # (n,) 1 where the signal is to be bounded by this set
    boundary: Matrix  # (2 n, 3) rho, constant and offset: below at 2 s, above at 2 s + 1


def own_pulls(params: Params) -> ConfidenceSet:
    """The set with these parameters."""
    return ConfidenceSet(NAME, VERSION, params, Nothing(), bound_safety=bound_safety)


@kernel
def bound_safety(inst: Instance, params: Params, memory: Nothing, state: State, bounds: Bounds) -> None:
    """Cuts the bounds of the safety signals that are asked for.                                             (C4)"""
    for s in range(1, len(inst.R)):
        if params.asked[s] == 1:
            cut_safety(inst, params, state, bounds, s)


@rare
def cut_safety(inst: Instance, params: Params, state: State, bounds: Bounds, s: int) -> None:
    """Cuts the bounds of safety signal s at each arm by what the arm's own pulls say.                       (C4)"""
    N, M = state.estimate.N, state.estimate.M
    for k in range(len(N)):
        if N[k] > 0.0:
            mean = M[s, k] / N[k]
            below = height_in(params.boundary, 2 * s, inst.R[s], N[k]) / N[k]
            above = height_in(params.boundary, 2 * s + 1, inst.R[s], N[k]) / N[k]
            bounds.lower[s - 1, k] = max(bounds.lower[s - 1, k], mean - below)
            bounds.upper[s - 1, k] = min(bounds.upper[s - 1, k], mean + above)
            bounds.most[s - 1, k] = min(bounds.most[s - 1, k], bounds.upper[s - 1, k])
