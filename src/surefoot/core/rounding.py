"""Shares of pulls for the rounding rules: two small programs solved in every round.                    (G5, G5')

Compiled code cannot call a linear-programming library; the tests hold these against one.
"""

from surefoot.core.kernel import kernel, rare
from surefoot.core.types import Instance, State, Work

SLACK = 1e-10  # relative violation of a dual constraint that counts as none
SWEEPS = 10_000


@rare
def shortest_weights(inst: Instance, state: State, work: Work, i: int, level_i: float, j: int, level_j: float) -> None:
    """The weights w of least |w|_1 with sum_k w_k z_k = y = level_i x_i - level_j x_j, into work.weights.    (G5)

    In v_k = w_k * level_k the constraint reads sum_k v_k x_k = y at cost |v_k| / level_k, so a basis of arms fits any
    levels, and since both signs of v_k cost the same every basis is feasible: the simplex method starts from the
    optimal basis of the round before. After many pivots the smallest index is taken, which cannot cycle. Should the
    pivots run out all the same, the weights are feasible but not shortest: a pull less apt, never an unsafe one.
    """
    K, d = inst.X.shape
    if state.basis[0] < 0:
        first_basis(inst, state, work)
    for a in range(d):
        work.y[a] = level_i * inst.X[i, a] - level_j * inst.X[j, a]
    for r in range(d):
        work.h[r] = 0.0
        for a in range(d):
            work.h[r] += state.inverse[r, a] * work.y[a]
        work.signs[r] = -1.0 if work.h[r] < 0.0 else 1.0
    for pivots in range(20 * (K + d)):
        for a in range(d):
            work.u[a] = 0.0
            for r in range(d):
                work.u[a] += state.inverse[r, a] * work.signs[r] / work.reach[state.basis[r]]
        enter, sign = entering_arm(inst, work, pivots >= 2 * (K + d))
        if enter < 0 or not exchange(inst, state, work, enter, sign, pivots >= 2 * (K + d)):
            break
    for k in range(K):
        work.weights[k] = 0.0
    for r in range(d):
        work.weights[state.basis[r]] = work.h[r] / work.reach[state.basis[r]]


@kernel
def entering_arm(inst: Instance, work: Work, smallest_index: bool) -> tuple[int, float]:
    """The arm whose dual constraint |u.z_k| <= 1 is violated, and the sign it enters with; -1 at the optimum."""
    K, d = inst.X.shape
    enter, sign, worst = -1, 1.0, 1.0 + SLACK
    for k in range(K):
        price = 0.0
        for a in range(d):
            price += work.u[a] * inst.X[k, a]
        price *= work.reach[k]
        if abs(price) > worst:
            enter, sign = k, (1.0 if price > 0.0 else -1.0)
            if smallest_index:
                break
            worst = abs(price)
    return enter, sign


@kernel
def exchange(inst: Instance, state: State, work: Work, enter: int, sign: float, smallest_index: bool) -> bool:
    """The basis after the entering arm has replaced the one that reaches zero first; False if none does."""
    d = len(state.basis)
    column = work.y  # the target is no longer needed
    for r in range(d):
        column[r] = 0.0
        for a in range(d):
            column[r] += state.inverse[r, a] * inst.X[enter, a]
    leave, shortest = -1, 0.0
    for r in range(d):
        falling = work.signs[r] * sign * column[r]
        if falling > 1e-11:
            ratio = abs(work.h[r]) / falling
            tie = leave >= 0 and ratio == shortest and smallest_index and state.basis[r] < state.basis[leave]
            if leave < 0 or ratio < shortest or tie:
                leave, shortest = r, ratio
    if leave < 0:
        return False
    for r in range(d):
        work.h[r] -= shortest * sign * column[r]
    pivot = column[leave]
    for a in range(d):
        state.inverse[leave, a] /= pivot
    for r in range(d):
        if r != leave:
            for a in range(d):
                state.inverse[r, a] -= column[r] * state.inverse[leave, a]
    work.h[leave] = shortest * sign
    work.signs[leave] = sign
    state.basis[leave] = enter
    return True


@rare
def first_basis(inst: Instance, state: State, work: Work) -> None:
    """d arms that span the space, by Gauss-Jordan elimination that takes the arm with the largest remainder."""
    K, d = inst.X.shape
    for a in range(d):
        for b in range(d):
            state.inverse[a, b] = 1.0 if a == b else 0.0
    for r in range(d):
        best, row, largest = -1, r, 0.0
        for k in range(K):
            for a in range(r, d):
                entry = 0.0
                for b in range(d):
                    entry += state.inverse[a, b] * inst.X[k, b]
                if abs(entry) > largest:
                    best, row, largest = k, a, abs(entry)
        for a in range(d):
            state.inverse[r, a], state.inverse[row, a] = state.inverse[row, a], state.inverse[r, a]
        for a in range(d):
            work.u[a] = 0.0
            for b in range(d):
                work.u[a] += state.inverse[a, b] * inst.X[best, b]
        for b in range(d):
            state.inverse[r, b] /= work.u[r]
        for a in range(d):
            if a != r:
                for b in range(d):
                    state.inverse[a, b] -= work.u[a] * state.inverse[r, b]
        state.basis[r] = best


@rare
def finite_weights(state: State, work: Work, g: int, i: int, level_i: float, j: int, level_j: float) -> None:
    """The weights whose shares |w|/|w|_1 minimise y^T (A + sum_k nu_k z_k z_k^T)^-1 y, into work.weights.    (G5')

    Its dual is min over w of |y - Z^T w|^2_{A^-1} + |w|_1^2, in arm space a smooth quadratic and a penalty whose
    subgradients form a box, so descending one coordinate at a time finds the minimum.
    """
    K = len(state.N)
    for k in range(K):  # work.column holds z_k . A^-1 (y - Z^T w)
        work.weights[k] = 0.0
        work.column[k] = work.reach[k] * (level_i * state.G[g, i, k] - level_j * state.G[g, j, k])
    total = 0.0
    for _ in range(SWEEPS):
        moved = 0.0
        for k in range(K):
            before = work.weights[k]
            curvature = work.reach[k] * work.reach[k] * state.v[g, k]
            pull = work.column[k] + curvature * before
            others = total - abs(before)
            after = 0.0
            if abs(pull) > others:
                after = (pull - others if pull > 0.0 else pull + others) / (curvature + 1.0)
            if after != before:
                for a in range(K):
                    work.column[a] -= (after - before) * work.reach[k] * work.reach[a] * state.G[g, k, a]
                total = others + abs(after)
                work.weights[k] = after
                moved = max(moved, abs(after - before))
        if moved <= 1e-13 * total:
            break
