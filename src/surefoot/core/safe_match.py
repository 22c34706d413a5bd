"""The match against nature where levels are unknown: she may move the reward, and how far two dials go.         (S7)

With shares w of the certified pulls, V_w = sum w_k z_k z_k^T, the leader i and a rival j at their levels by the
estimates, the nearest truth in which j is better by more than epsilon costs to first order

    f_j(w) = (gap_j + epsilon)^2 / (2 (R^2 |y_j|^2 + c_j^2 |x_j|^2 + c_i^2 |x_i|^2)),      lengths in V_w^-1

where c_k is how much of the arm's value a limit's noise is worth. In the leader's own rival its level is too low.
"""

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from surefoot.core.kernel import kernel, rare
from surefoot.core.levels import level_at
from surefoot.core.linear import add_information, cholesky, dot, fill_diagonal, forward_solve, transposed_solve
from surefoot.core.match import LEAST_SHARE, SAME
from surefoot.core.pulls import tightest_limit
from surefoot.core.state import State
from surefoot.core.types import NULL, Instance, Matrix, Vector


class SafeMatch(NamedTuple):
    """Room for one question to the shares."""

    level: Vector  # (K,) of each arm, by the estimates
    slope: Vector  # (K,) c_k: what the value changes by when a limit's signal moves by its noise; 0 once learned
    square: Vector  # (K,) |x_k|^2 in V_w^-1
    information: Vector  # (K,) w_k level_k^2
    C: Matrix  # (d, d) V_w, then its Cholesky factor
    y: Vector  # (d,)
    image: Vector  # (d,)
    by_reward: Vector  # (d,) V_w^-1 y
    by_rival: Vector  # (d,) V_w^-1 x_j
    by_leader: Vector  # (d,) V_w^-1 x_i
    move: Vector  # (K,) of all signals of each pull together, in units of the noise


def new_safe_match(K: int, d: int) -> SafeMatch:
    """Room for K arms in d dimensions."""
    level, slope, square, information, move = (np.zeros(K) for _ in range(5))
    y, image, by_reward, by_rival, by_leader = (np.zeros(d) for _ in range(5))
    return SafeMatch(
        level, slope, square, information, np.zeros((d, d)), y, image, by_reward, by_rival, by_leader, move
    )


@rare
def find_levels(inst: Instance, state: State, match: SafeMatch) -> int:
    """The leader by the estimates of rewards and levels, NULL where doing nothing is; levels and slopes are kept. (S7)

    A level stays between the certified and the optimistic one.
    """
    est, levels, best, found = state.estimate.est, state.levels, 0.0, NULL
    for k in range(len(match.level)):
        s, level = tightest_limit(levels, k), levels.high[k]
        for limit in range(len(inst.eta0)):
            at = level_at(est[limit + 1, k], inst.eta0[limit])
            s, level = (limit, at) if at < level else (s, level)
        level = max(level, levels.low[k])
        match.level[k], match.slope[k] = level, 0.0
        if levels.high[k] > levels.low[k]:
            match.slope[k] = level * level * max(est[0, k], 0.0) * inst.R[s + 1] / -inst.eta0[s]
        if level * est[0, k] > best:
            found, best = k, level * est[0, k]
    return found


@rare
def meet_safely(inst: Instance, state: State, match: SafeMatch, shares: Vector, reach: Vector, i: int) -> int:
    """The rival whose victory over leader i these shares would refute last, and how every pull would move there; K
    stands for doing nothing, and NULL for nobody.                                                           (S7)"""
    X, R = inst.X, inst.R[0]
    K = len(X)
    for k in range(K):
        match.information[k] = (shares[k] + LEAST_SHARE / K) * reach[k] * reach[k]
    fill_diagonal(match.C, 0.0)
    add_information(X, match.information, match.C)
    if not cholesky(match.C, 0.0):
        return NULL
    for k in range(K):
        forward_solve(match.C, X[k], match.image)
        match.square[k] = dot(match.image, match.image)
    nearest, least, size = NULL, inf, 0.0
    for j in range(K + 1):
        if j == K and i == NULL:
            continue
        gap, open_ = question(inst, state, match, i, j)
        forward_solve(match.C, match.y, match.image)
        square = dot(match.image, match.image)
        whole = R * R * square + open_
        worth = gap * gap / whole if gap > 0.0 and whole > SAME * R * R * match.square[max(i, 0)] else inf
        if worth < least:
            nearest, least, size = j, worth, gap / whole
    if nearest != NULL:
        move_towards(inst, state, match, reach, i, nearest, size)
    return nearest


@kernel
def question(inst: Instance, state: State, match: SafeMatch, i: int, j: int) -> tuple[float, float]:
    """By how much nature has to make rival j better, and what unlearned levels add to her means; y is kept.     (S7)"""
    X, values, K = inst.X, state.estimate.est[0], len(match.level)
    x_i, x_j, leads = max(i, 0), min(j, K - 1), 1.0 if i != NULL else 0.0
    level_i, level_j = leads * match.level[x_i], match.level[x_j] if j < K else 0.0
    c_i, c_j = leads * match.slope[x_i], match.slope[x_j] if j < K else 0.0
    for a in range(X.shape[1]):
        match.y[a] = level_j * X[x_j, a] - level_i * X[x_i, a]
    open_ = c_i * c_i * match.square[x_i] + c_j * c_j * match.square[x_j]
    if j == i:  # both ends of one level
        open_ *= 2.0
    return level_i * values[x_i] - level_j * values[x_j] + inst.epsilon, open_


@kernel
def move_towards(
    inst: Instance, state: State, match: SafeMatch, reach: Vector, i: int, j: int, size: float
) -> None:  # fmt: skip
    """How the means of every pull move to where rival j wins, in units of the noise.                        (S7)"""
    X, K = inst.X, len(reach)
    x_i, x_j = max(i, 0), min(j, K - 1)
    question(inst, state, match, i, j)
    c_i, c_j = match.slope[x_i] if i != NULL else 0.0, match.slope[x_j] if j < K else 0.0
    if j == i:  # both ends of one level, as in the question
        c_i, c_j = sqrt(2.0) * c_i, sqrt(2.0) * c_j
    solve(match, match.y, match.by_reward)
    solve(match, X[x_j], match.by_rival)
    solve(match, X[x_i], match.by_leader)
    for k in range(K):
        reward = inst.R[0] * dot(X[k], match.by_reward)
        rival, leader = c_j * dot(X[k], match.by_rival), c_i * dot(X[k], match.by_leader)
        match.move[k] = size * reach[k] * sqrt(reward * reward + rival * rival + leader * leader)


@kernel
def solve(match: SafeMatch, x: Vector, out: Vector) -> None:
    """V_w^-1 x."""
    forward_solve(match.C, x, match.image)
    transposed_solve(match.C, match.image, out)
