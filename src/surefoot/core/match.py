"""The match against nature: what shares of pulls are worth against the nearest truth in which the leader loses.  (F1)

Shares w of the pulls at the levels in `reach` give the information V_w = sum w_k z_k z_k^T. With arm i in the lead, the
nearest weights in which arm j is as good, both at the levels at which they compete, lie at

    f_j(w) = gap_j^2 / (2 R^2 |y_j|^2) in V_w^-1,       y_j = z_i - z_j,       gap_j = y_j . theta_hat

and there the mean of pull k has moved by gap_j z_k . V_w^-1 y_j / |y_j|^2. Moves are in units of the noise.
"""

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from surefoot.core.kernel import kernel
from surefoot.core.linear import add_information, cholesky, dot, fill_diagonal, forward_solve, transposed_solve
from surefoot.core.pulls import reached
from surefoot.core.state import State
from surefoot.core.types import NULL, Instance, Matrix, Vector

LEAST_SHARE = 1e-9  # of all pulls, split evenly over the arms: V_w can always be inverted
SAME = 1e-12  # a squared distance below this share of the arm's own square is rounding: equal arms


class Match(NamedTuple):
    """Room for one question to the shares."""

    information: Vector  # (K,) w_k level_k^2
    C: Matrix  # (d, d) V_w, then its Cholesky factor
    y: Vector  # (d,)
    image: Vector  # (d,) V_w^-1 y
    worth: Vector  # (K,) f_j(w)
    move: Vector  # (K,) of the mean of each pull, towards the nearest alternative, in units of the noise


def new_match(K: int, d: int) -> Match:
    """Room for K arms in d dimensions."""
    return Match(np.zeros(K), np.zeros((d, d)), np.zeros(d), np.zeros(d), np.zeros(K), np.zeros(K))


@kernel
def meet(inst: Instance, state: State, match: Match, shares: Vector, reach: Vector, i: int) -> int:
    """The rival whose victory over leader i these shares would refute last, and what they are worth against every
    one; NULL where nobody differs from the leader or the numbers fail.                                      (F1)"""
    X, values, R, level = inst.X, state.estimate.est[0], inst.R[0], state.levels.low
    K, d = X.shape
    for k in range(K):
        match.information[k] = (shares[k] + LEAST_SHARE / K) * reach[k] * reach[k]
    fill_diagonal(match.C, 0.0)
    add_information(X, match.information, match.C)
    nearest, least = NULL, inf
    if not cholesky(match.C, 0.0):
        return nearest
    forward_solve(match.C, X[i], match.image)
    own = level[i] * level[i] * dot(match.image, match.image)
    for j in range(K):
        for a in range(d):
            match.y[a] = level[i] * X[i, a] - level[j] * X[j, a]
        forward_solve(match.C, match.y, match.image)
        square, gap = dot(match.image, match.image), level[i] * values[i] - level[j] * values[j]
        match.worth[j] = gap * gap / (2.0 * R * R * square) if j != i and square > SAME * own else inf
        nearest = j if match.worth[j] < least else nearest
        least = match.worth[j] if match.worth[j] < least else least
    return nearest


@kernel
def moves(inst: Instance, state: State, match: Match, reach: Vector, i: int, j: int) -> None:
    """How the mean of every pull moves to where rival j is as good as leader i, by the shares that met last.   (F1)"""
    X, values, level = inst.X, state.estimate.est[0], state.levels.low
    for a in range(X.shape[1]):
        match.y[a] = level[i] * X[i, a] - level[j] * X[j, a]
    forward_solve(match.C, match.y, match.image)
    square, gap = dot(match.image, match.image), level[i] * values[i] - level[j] * values[j]
    transposed_solve(match.C, match.image, match.y)
    step = gap / (square * inst.R[0])
    for k in range(len(reach)):
        match.move[k] = step * reach[k] * dot(X[k], match.y)


@kernel
def best_reply(match: Match, reach: Vector) -> int:
    """The pull that would add most to what the shares are worth against the rival whose moves were found last.  (F1)"""
    best = reached(reach, 0)
    for k in range(len(match.move)):
        best = k if abs(match.move[k]) > abs(match.move[best]) else best
    return best


@kernel
def hoped(move: float, square: float, log_t: float) -> float:
    """The gain of a pull as it may be at best: its move widened by what the estimate may be off, and capped.   (F2)"""
    wide = abs(move) + sqrt(2.0 * log_t * square)
    return min(0.5 * wide * wide, log_t)
