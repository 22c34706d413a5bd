"""One-dimensional mixtures: how far a sum of weighted noise can go, for all rounds at once.                 (C3)

For weights h_s that are known before their noise eps_s is, and any numbers lambda > 0 and rho > 0 fixed in advance, a
normal mixture cut off at zero, centred on lambda with variance 1/(rho R^2), gives with probability at least 1 - alpha

    sum h_s eps_s < R sqrt((Q + rho) (log(1 + Q/rho) + constant)) - offset,      Q = sum h_s^2.

The row of a boundary holds rho, the constant and the offset; `sets.mixtures` computes them.
"""

from math import sqrt

from surefoot.core.kernel import thin
from surefoot.core.logarithm import log1p
from surefoot.core.types import Matrix


@thin
def boundary(table: Matrix, row: int, R: float, information: float) -> float:
    """The boundary of that row where the squared weights have summed up to `information`.                  (C3)"""
    return height(table, row, R, information, growth(table, row, information))


@thin
def growth(table: Matrix, row: int, information: float) -> float:
    """log(1 + Q/rho), which boundaries of one rho have in common."""
    return log1p(information / table[row, 0])


@thin
def height(table: Matrix, row: int, R: float, information: float, growth: float) -> float:
    """The boundary, its logarithm given."""
    rho: float = table[row, 0]
    offset: float = table[row, 2]
    return R * sqrt((information + rho) * (growth + table[row, 1])) - offset
