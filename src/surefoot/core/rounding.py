"""Shares of pulls for the rounding rule: a small linear program solved in every round.                       (G5)

Compiled code cannot call a linear-programming library; the tests hold this against one. Its sister, for finitely many
pulls, is `core.finite_rounding`.
"""

from typing import NamedTuple

import numpy as np

from surefoot.core.kernel import kernel, rare, thin
from surefoot.core.levels import can_be_tried
from surefoot.core.types import Indices, Instance, Matrix, Vector

PIVOT = 1e-8  # relative size below which an entry is taken for rounding error
SLACK = 1e-10  # relative violation of a dual constraint that counts as none


class Shares(NamedTuple):
    """What the programs find, and the basis from which the next round's begins."""

    weights: Vector  # (K,) the weights w
    basis: Indices  # (d,) arms of the last optimal basis of (G5)
    inverse: Matrix  # (d, d) inverse of that basis
    h: Vector  # (d,) the values v of the basis
    signs: Vector  # (d,)
    u: Vector  # (d,)
    y: Vector  # (d,)
    slack: Vector  # (K,) c of (G5')


def new_shares(K: int, d: int) -> Shares:
    """Room for K arms in d dimensions."""
    return Shares(
        weights=np.zeros(K), basis=np.zeros(d, np.int64), inverse=np.zeros((d, d)), h=np.zeros(d), signs=np.zeros(d),
        u=np.zeros(d), y=np.zeros(d), slack=np.zeros(K),
    )  # fmt: skip


@thin
def begin_shares(inst: Instance, shares: Shares) -> None:
    """No basis yet."""
    shares.basis[0] = -1


@rare
def shortest_weights(
    inst: Instance, shares: Shares, reach: Vector, i: int, level_i: float, j: int, level_j: float
) -> None:
    """The weights w of least |w|_1 with sum_k w_k z_k = y = level_i x_i - level_j x_j, into shares.weights.    (G5)

    In v_k = w_k * level_k the constraint reads sum_k v_k x_k = y at cost |v_k| / level_k, so a basis of arms fits any
    levels, and since both signs of v_k cost the same every basis is feasible: the simplex method starts from the
    optimal basis of the round before. Where pivots have spoilt its inverse, the inverse is computed anew and the
    method goes on from there.
    """
    if shares.basis[0] < 0:
        invert_basis(inst, shares, True)
    for _ in range(5):
        descend(inst, shares, reach, i, level_i, j, level_j)
        if reaches_target(inst, shares, i, level_i, j, level_j):
            break
        invert_basis(inst, shares, False)
    for k in range(len(reach)):
        shares.weights[k] = 0.0
    for r in range(len(shares.basis)):
        shares.weights[shares.basis[r]] = shares.h[r] / reach[shares.basis[r]]


@kernel
def descend(inst: Instance, shares: Shares, reach: Vector, i: int, level_i: float, j: int, level_j: float) -> None:
    """The optimal basis, and in shares.h the values v of its arms, by the simplex method.

    After many pivots the smallest index is taken, which cannot cycle. Should the pivots run out all the same, the
    weights are feasible but not shortest: a pull less apt, never an unsafe one.
    """
    K, d = inst.X.shape
    for a in range(d):
        shares.y[a] = level_i * inst.X[i, a] - level_j * inst.X[j, a]
    for r in range(d):
        shares.h[r] = 0.0
        for a in range(d):
            shares.h[r] += shares.inverse[r, a] * shares.y[a]
        shares.signs[r] = -1.0 if shares.h[r] < 0.0 else 1.0
    for pivots in range(20 * (K + d)):
        for a in range(d):
            shares.u[a] = 0.0
            for r in range(d):
                shares.u[a] += shares.inverse[r, a] * shares.signs[r] / reach[shares.basis[r]]
        smallest_index = pivots >= 2 * (K + d)
        enter, sign = entering_arm(inst, shares, reach, smallest_index)
        if enter < 0 or not exchange(inst, shares, enter, sign, smallest_index):
            break


@kernel
def reaches_target(inst: Instance, shares: Shares, i: int, level_i: float, j: int, level_j: float) -> bool:
    """Whether the values of the basis really add up to y."""
    error, size = 0.0, 0.0
    for a in range(inst.X.shape[1]):
        total = level_i * inst.X[i, a] - level_j * inst.X[j, a]
        size = max(size, abs(level_i * inst.X[i, a]) + abs(level_j * inst.X[j, a]))
        for r in range(len(shares.basis)):
            total -= shares.h[r] * inst.X[shares.basis[r], a]
        error = max(error, abs(total))
    return error <= 1e-10 * size


@kernel
def entering_arm(inst: Instance, shares: Shares, reach: Vector, smallest_index: bool) -> tuple[int, float]:
    """The arm whose dual constraint |u.z_k| <= 1 is violated, and the sign it enters with; -1 at the optimum."""
    K, d = inst.X.shape
    enter, sign, worst = -1, 1.0, 1.0 + SLACK
    for k in range(K):
        price = 0.0
        for a in range(d):
            price += shares.u[a] * inst.X[k, a]
        price *= reach[k]
        if abs(price) > worst:
            enter, sign = k, (1.0 if price > 0.0 else -1.0)
            if smallest_index:
                break
            worst = abs(price)
    return enter, sign


@kernel
def exchange(inst: Instance, shares: Shares, enter: int, sign: float, smallest_index: bool) -> bool:
    """The basis after the entering arm has replaced the one that reaches zero first; False if none does."""
    d = len(shares.basis)
    entering = shares.y  # the target is no longer needed
    for r in range(d):
        entering[r] = 0.0
        for a in range(d):
            entering[r] += shares.inverse[r, a] * inst.X[enter, a]
    largest = 0.0
    for r in range(d):
        largest = max(largest, abs(entering[r]))
    leave, shortest = -1, 0.0
    for r in range(d):
        falling = shares.signs[r] * sign * entering[r]
        if falling > PIVOT * largest:
            ratio = abs(shares.h[r]) / falling
            if leave < 0 or ratio < shortest * (1.0 - 1e-12):
                leave, shortest = r, ratio
            elif ratio <= shortest * (1.0 + 1e-12):  # a tie: the largest pivot keeps digits, the smallest index ends
                better = shares.basis[r] < shares.basis[leave] if smallest_index else falling > abs(entering[leave])
                if better:
                    leave, shortest = r, min(ratio, shortest)
    if leave < 0:
        return False
    for r in range(d):
        shares.h[r] -= shortest * sign * entering[r]
    pivot = entering[leave]
    for a in range(d):
        shares.inverse[leave, a] /= pivot
    for r in range(d):
        if r != leave:
            for a in range(d):
                shares.inverse[r, a] -= entering[r] * shares.inverse[leave, a]
    shares.h[leave] = shortest * sign
    shares.signs[leave] = sign
    shares.basis[leave] = enter
    return True


@rare
def invert_basis(inst: Instance, shares: Shares, anew: bool) -> None:
    """The inverse of the basis, by Gauss-Jordan elimination with full pivoting.

    `anew` chooses the basis too: in each step the arm with the largest remainder, among all that can be tried.
    """
    K, d = inst.X.shape
    for a in range(d):
        for b in range(d):
            shares.inverse[a, b] = 1.0 if a == b else 0.0
    for r in range(d):
        chosen, row, largest = r, r, 0.0
        for c in range(0 if anew else r, K if anew else d):
            arm = c if anew else shares.basis[c]
            for a in range(r if can_be_tried(inst.dial, arm) else d, d):
                entry = 0.0
                for b in range(d):
                    entry += shares.inverse[a, b] * inst.X[arm, b]
                if abs(entry) > largest:
                    chosen, row, largest = c, a, abs(entry)
        if anew:
            shares.basis[r] = chosen
        else:
            shares.basis[r], shares.basis[chosen] = shares.basis[chosen], shares.basis[r]
        eliminate(inst, shares, r, row)


@kernel
def eliminate(inst: Instance, shares: Shares, r: int, row: int) -> None:
    """One step of the elimination: basis arm r becomes unit vector r."""
    d = len(shares.basis)
    for a in range(d):
        shares.inverse[r, a], shares.inverse[row, a] = shares.inverse[row, a], shares.inverse[r, a]
    for a in range(d):
        shares.u[a] = 0.0
        for b in range(d):
            shares.u[a] += shares.inverse[a, b] * inst.X[shares.basis[r], b]
    for b in range(d):
        shares.inverse[r, b] /= shares.u[r]
    for a in range(d):
        if a != r:
            for b in range(d):
                shares.inverse[a, b] -= shares.u[a] * shares.inverse[r, b]
