"""One-dimensional mixtures: how far a sum of weighted noise can go, for all rounds at once.                 (C3)

For weights h_s that are known before their noise eps_s is, and any numbers lambda > 0 and rho > 0 fixed in advance, a
normal mixture cut off at zero, centred on lambda with variance 1/(rho R^2), gives with probability at least 1 - alpha

    sum h_s eps_s < R sqrt((Q + rho) (log(1 + Q/rho) + constant)) - offset,      Q = sum h_s^2.

The row of a boundary holds rho, the constant and the offset; `sets.mixtures` computes them.
"""

from math import sqrt
from typing import NamedTuple

from surefoot.core.kernel import thin
from surefoot.core.logarithm import log1p
from surefoot.core.types import Matrix


class Boundary(NamedTuple):
    """R sqrt((Q + rho) (log(1 + Q/rho) + constant)) - offset."""

    rho: float
    constant: float
    offset: float


@thin
def boundary_in(table: Matrix, row: int) -> Boundary:
    """The boundary in that row."""
    return Boundary(table[row, 0], table[row, 1], table[row, 2])


@thin
def height_in(table: Matrix, row: int, R: float, information: float) -> float:
    """The boundary of that row where the squared weights have summed up to `information`.                  (C3)"""
    return height_at(boundary_in(table, row), R, information)


@thin
def height_at(edge: Boundary, R: float, information: float) -> float:
    """The boundary where the squared weights have summed up to `information`.                              (C3)"""
    return height(edge, R, information, growth(edge.rho, information))


@thin
def growth(rho: float, information: float) -> float:
    """log(1 + Q/rho), which boundaries of one rho have in common."""
    return log1p(information / rho)


@thin
def height(edge: Boundary, R: float, information: float, growth: float) -> float:
    """The boundary, its logarithm given."""
    return R * sqrt((information + edge.rho) * (growth + edge.constant)) - edge.offset
