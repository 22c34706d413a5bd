"""One-dimensional mixtures: how far a sum of weighted noise can go, for all rounds at once.                 (C3)

For weights h_s that are known before their noise eps_s is, and any numbers lambda > 0 and rho > 0 fixed in advance, a
normal mixture cut off at zero, centred on lambda with variance 1/(rho R^2), gives with probability at least 1 - alpha

    sum h_s eps_s < R sqrt((Q + rho) (log(1 + Q/rho) + constant)) - offset,      Q = sum h_s^2.

The row of a boundary holds rho, the constant and the offset; `policies.mixtures` computes them.
"""

from math import sqrt

from surefoot.core.kernel import kernel
from surefoot.core.logarithm import log1p
from surefoot.core.types import FAR, NEAR, Instance


@kernel
def boundary(inst: Instance, row: int, R: float, information: float) -> float:
    """The boundary of that row where the squared weights have summed up to `information`.                  (C3)"""
    return height(inst, row, R, information, growth(inst, row, information))


@kernel
def growth(inst: Instance, row: int, information: float) -> float:
    """log(1 + Q/rho), which boundaries of one rho have in common."""
    return log1p(information / inst.boundary[row, 0])


@kernel
def height(inst: Instance, row: int, R: float, information: float, growth: float) -> float:
    """The boundary, its logarithm given."""
    rho: float = inst.boundary[row, 0]
    offset: float = inst.boundary[row, 2]
    return R * sqrt((information + rho) * (growth + inst.boundary[row, 1])) - offset


@kernel
def reward_boundary(inst: Instance, information: float) -> float:
    """The boundary of a reward aim: made for differences of a few epsilon, or early on for larger ones.    (C3)"""
    return boundary(inst, NEAR if information >= inst.switch else FAR, inst.R[0], information)
