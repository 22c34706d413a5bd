"""Shares of pulls for the rounding rules: two small programs solved in every round.                    (G5, G5')

Compiled code cannot call a linear-programming library; the tests hold these against one.
"""

from typing import NamedTuple

import numpy as np

from surefoot.core.estimate import Estimate, column, diagonal
from surefoot.core.kernel import kernel, rare, thin
from surefoot.core.types import Indices, Instance, Matrix, Vector

PIVOT = 1e-8  # relative size below which an entry is taken for rounding error
SLACK = 1e-10  # relative violation of a dual constraint that counts as none
FIT = 1e-9  # relative violation of optimality that counts as none
STEPS = 2_000


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

    `anew` chooses the basis too: in each step the arm with the largest remainder, among all arms.
    """
    K, d = inst.X.shape
    for a in range(d):
        for b in range(d):
            shares.inverse[a, b] = 1.0 if a == b else 0.0
    for r in range(d):
        chosen, row, largest = r, r, 0.0
        for c in range(0 if anew else r, K if anew else d):
            arm = c if anew else shares.basis[c]
            for a in range(r, d):
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


@rare
def finite_weights(
    inst: Instance, estimate: Estimate, shares: Shares, reach: Vector, g: int, i: int, level_i: float, j: int,
    level_j: float,
) -> None:  # fmt: skip
    """The weights whose shares |w|/|w|_1 minimise y^T (A + sum_k nu_k z_k z_k^T)^-1 y, into shares.weights.    (G5')

    Its dual is min over w of |y - Z^T w|^2_{A^-1} + |w|_1^2. With c_k = z_k . A^-1 (y - Z^T w), kept in shares.slack,
    w is optimal when |c_k| <= |w|_1 for every arm, with equality and the sign of w_k where w_k is not 0. Each step
    takes the arm that violates this most, trades weight for it against the weakest arm in use, then fits its weight.
    """
    K = len(reach)
    column_i, column_j = column(inst, estimate, g, i), column(inst, estimate, g, j)
    for k in range(K):
        shares.weights[k] = 0.0
        shares.slack[k] = reach[k] * (level_i * column_i[k] - level_j * column_j[k])
    for _ in range(STEPS):
        strongest, weakest, total = 0, -1, 0.0
        for k in range(K):
            total += abs(shares.weights[k])
            if abs(shares.slack[k]) > abs(shares.slack[strongest]):
                strongest = k
            if shares.weights[k] != 0.0 and (weakest < 0 or in_use(shares, k) < in_use(shares, weakest)):
                weakest = k
        highest = abs(shares.slack[strongest])
        if weakest >= 0 and highest <= total * (1.0 + FIT) and in_use(shares, weakest) >= total * (1.0 - FIT):
            break
        if weakest >= 0 and weakest != strongest:
            trade(inst, estimate, shares, reach, g, strongest, weakest)
        fit(inst, estimate, shares, reach, g, strongest)


@thin
def in_use(shares: Shares, k: int) -> float:
    """c_k in the direction of the weight that arm k has."""
    return float(shares.slack[k] if shares.weights[k] > 0.0 else -shares.slack[k])


@kernel
def trade(inst: Instance, estimate: Estimate, shares: Shares, reach: Vector, g: int, k: int, weakest: int) -> None:
    """Moves weight from the weakest arm to arm k, |w|_1 unchanged, as far as it pays."""
    sign_k = 1.0 if shares.slack[k] > 0.0 else -1.0
    sign_l = 1.0 if shares.weights[weakest] > 0.0 else -1.0
    if shares.weights[k] * sign_k < 0.0:
        return  # arm k is in use with the other sign: only its own weight can be fitted
    a, b = sign_k * reach[k], sign_l * reach[weakest]
    v = diagonal(estimate, g)
    curvature = a * a * v[k] + b * b * v[weakest] - 2.0 * a * b * column(inst, estimate, g, k)[weakest]
    gain = sign_k * shares.slack[k] - sign_l * shares.slack[weakest]
    available = abs(shares.weights[weakest])
    amount = available if gain >= curvature * available else gain / curvature
    change_weight(inst, estimate, shares, reach, g, k, shares.weights[k] + sign_k * amount)
    change_weight(
        inst,
        estimate,
        shares,
        reach,
        g,
        weakest,
        0.0 if amount == available else shares.weights[weakest] - sign_l * amount,
    )


@kernel
def fit(inst: Instance, estimate: Estimate, shares: Shares, reach: Vector, g: int, k: int) -> None:
    """Sets the weight of arm k to the best value given the others."""
    others = 0.0
    for a in range(len(reach)):
        others += abs(shares.weights[a]) if a != k else 0.0
    curvature = reach[k] * reach[k] * diagonal(estimate, g)[k]
    pull = shares.slack[k] + curvature * shares.weights[k]
    best = 0.0
    if abs(pull) > others:
        best = (pull - others if pull > 0.0 else pull + others) / (curvature + 1.0)
    change_weight(inst, estimate, shares, reach, g, k, best)


@kernel
def change_weight(
    inst: Instance, estimate: Estimate, shares: Shares, reach: Vector, g: int, k: int, weight: float
) -> None:
    """Gives arm k this weight and keeps every c_k in step."""
    change = (weight - shares.weights[k]) * reach[k]
    shares.weights[k] = weight
    column_k = column(inst, estimate, g, k)
    for a in range(len(reach)):
        shares.slack[a] -= change * reach[a] * column_k[a]
