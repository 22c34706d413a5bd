"""Shares of pulls for the rounding rules: two small programs solved in every round.                    (G5, G5')

Compiled code cannot call a linear-programming library; the tests hold these against one.
"""

from surefoot.core.kernel import kernel, rare
from surefoot.core.types import Instance, State, Work

PIVOT = 1e-8  # relative size below which an entry is taken for rounding error
SLACK = 1e-10  # relative violation of a dual constraint that counts as none
FIT = 1e-9  # relative violation of optimality that counts as none
STEPS = 2_000


@rare
def shortest_weights(inst: Instance, state: State, work: Work, i: int, level_i: float, j: int, level_j: float) -> None:
    """The weights w of least |w|_1 with sum_k w_k z_k = y = level_i x_i - level_j x_j, into work.weights.    (G5)

    In v_k = w_k * level_k the constraint reads sum_k v_k x_k = y at cost |v_k| / level_k, so a basis of arms fits any
    levels, and since both signs of v_k cost the same every basis is feasible: the simplex method starts from the
    optimal basis of the round before. Where pivots have spoilt its inverse, the inverse is computed anew and the
    method goes on from there.
    """
    if state.basis[0] < 0:
        invert_basis(inst, state, work, True)
    for _ in range(5):
        descend(inst, state, work, i, level_i, j, level_j)
        if reaches_target(inst, state, work, i, level_i, j, level_j):
            break
        invert_basis(inst, state, work, False)
    for k in range(len(state.N)):
        work.weights[k] = 0.0
    for r in range(len(state.basis)):
        work.weights[state.basis[r]] = work.h[r] / work.reach[state.basis[r]]


@kernel
def descend(inst: Instance, state: State, work: Work, i: int, level_i: float, j: int, level_j: float) -> None:
    """The optimal basis, and in work.h the values v of its arms, by the simplex method.

    After many pivots the smallest index is taken, which cannot cycle. Should the pivots run out all the same, the
    weights are feasible but not shortest: a pull less apt, never an unsafe one.
    """
    K, d = inst.X.shape
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
        smallest_index = pivots >= 2 * (K + d)
        enter, sign = entering_arm(inst, work, smallest_index)
        if enter < 0 or not exchange(inst, state, work, enter, sign, smallest_index):
            break


@kernel
def reaches_target(inst: Instance, state: State, work: Work, i: int, level_i: float, j: int, level_j: float) -> bool:
    """Whether the values of the basis really add up to y."""
    error, size = 0.0, 0.0
    for a in range(inst.X.shape[1]):
        total = level_i * inst.X[i, a] - level_j * inst.X[j, a]
        size = max(size, abs(level_i * inst.X[i, a]) + abs(level_j * inst.X[j, a]))
        for r in range(len(state.basis)):
            total -= work.h[r] * inst.X[state.basis[r], a]
        error = max(error, abs(total))
    return error <= 1e-10 * size


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
    largest = 0.0
    for r in range(d):
        largest = max(largest, abs(column[r]))
    leave, shortest = -1, 0.0
    for r in range(d):
        falling = work.signs[r] * sign * column[r]
        if falling > PIVOT * largest:
            ratio = abs(work.h[r]) / falling
            if leave < 0 or ratio < shortest * (1.0 - 1e-12):
                leave, shortest = r, ratio
            elif ratio <= shortest * (1.0 + 1e-12):  # a tie: the largest pivot keeps digits, the smallest index ends
                better = state.basis[r] < state.basis[leave] if smallest_index else falling > abs(column[leave])
                if better:
                    leave, shortest = r, min(ratio, shortest)
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
def invert_basis(inst: Instance, state: State, work: Work, anew: bool) -> None:
    """The inverse of the basis, by Gauss-Jordan elimination with full pivoting.

    `anew` chooses the basis too: in each step the arm with the largest remainder, among all arms.
    """
    K, d = inst.X.shape
    for a in range(d):
        for b in range(d):
            state.inverse[a, b] = 1.0 if a == b else 0.0
    for r in range(d):
        chosen, row, largest = r, r, 0.0
        for c in range(0 if anew else r, K if anew else d):
            arm = c if anew else state.basis[c]
            for a in range(r, d):
                entry = 0.0
                for b in range(d):
                    entry += state.inverse[a, b] * inst.X[arm, b]
                if abs(entry) > largest:
                    chosen, row, largest = c, a, abs(entry)
        if anew:
            state.basis[r] = chosen
        else:
            state.basis[r], state.basis[chosen] = state.basis[chosen], state.basis[r]
        eliminate(inst, state, work, r, row)


@kernel
def eliminate(inst: Instance, state: State, work: Work, r: int, row: int) -> None:
    """One step of the elimination: basis arm r becomes unit vector r."""
    d = len(state.basis)
    for a in range(d):
        state.inverse[r, a], state.inverse[row, a] = state.inverse[row, a], state.inverse[r, a]
    for a in range(d):
        work.u[a] = 0.0
        for b in range(d):
            work.u[a] += state.inverse[a, b] * inst.X[state.basis[r], b]
    for b in range(d):
        state.inverse[r, b] /= work.u[r]
    for a in range(d):
        if a != r:
            for b in range(d):
                state.inverse[a, b] -= work.u[a] * state.inverse[r, b]


@rare
def finite_weights(state: State, work: Work, g: int, i: int, level_i: float, j: int, level_j: float) -> None:
    """The weights whose shares |w|/|w|_1 minimise y^T (A + sum_k nu_k z_k z_k^T)^-1 y, into work.weights.    (G5')

    Its dual is min over w of |y - Z^T w|^2_{A^-1} + |w|_1^2. With c_k = z_k . A^-1 (y - Z^T w), kept in work.column,
    w is optimal when |c_k| <= |w|_1 for every arm, with equality and the sign of w_k where w_k is not 0. Each step
    takes the arm that violates this most, trades weight for it against the weakest arm in use, then fits its weight.
    """
    K = len(state.N)
    for k in range(K):
        work.weights[k] = 0.0
        work.column[k] = work.reach[k] * (level_i * state.G[g, i, k] - level_j * state.G[g, j, k])
    for _ in range(STEPS):
        strongest, weakest, total = 0, -1, 0.0
        for k in range(K):
            total += abs(work.weights[k])
            if abs(work.column[k]) > abs(work.column[strongest]):
                strongest = k
            if work.weights[k] != 0.0 and (weakest < 0 or in_use(work, k) < in_use(work, weakest)):
                weakest = k
        highest = abs(work.column[strongest])
        if weakest >= 0 and highest <= total * (1.0 + FIT) and in_use(work, weakest) >= total * (1.0 - FIT):
            break
        if weakest >= 0 and weakest != strongest:
            trade(state, work, g, strongest, weakest)
        fit(state, work, g, strongest)


@kernel
def in_use(work: Work, k: int) -> float:
    """c_k in the direction of the weight that arm k has."""
    return float(work.column[k] if work.weights[k] > 0.0 else -work.column[k])


@kernel
def trade(state: State, work: Work, g: int, k: int, weakest: int) -> None:
    """Moves weight from the weakest arm to arm k, |w|_1 unchanged, as far as it pays."""
    sign_k = 1.0 if work.column[k] > 0.0 else -1.0
    sign_l = 1.0 if work.weights[weakest] > 0.0 else -1.0
    if work.weights[k] * sign_k < 0.0:
        return  # arm k is in use with the other sign: only its own weight can be fitted
    a, b = sign_k * work.reach[k], sign_l * work.reach[weakest]
    curvature = a * a * state.v[g, k] + b * b * state.v[g, weakest] - 2.0 * a * b * state.G[g, k, weakest]
    gain = sign_k * work.column[k] - sign_l * work.column[weakest]
    available = abs(work.weights[weakest])
    amount = available if gain >= curvature * available else gain / curvature
    change_weight(state, work, g, k, work.weights[k] + sign_k * amount)
    change_weight(state, work, g, weakest, 0.0 if amount == available else work.weights[weakest] - sign_l * amount)


@kernel
def fit(state: State, work: Work, g: int, k: int) -> None:
    """Sets the weight of arm k to the best value given the others."""
    others = 0.0
    for a in range(len(state.N)):
        others += abs(work.weights[a]) if a != k else 0.0
    curvature = work.reach[k] * work.reach[k] * state.v[g, k]
    pull = work.column[k] + curvature * work.weights[k]
    best = 0.0
    if abs(pull) > others:
        best = (pull - others if pull > 0.0 else pull + others) / (curvature + 1.0)
    change_weight(state, work, g, k, best)


@kernel
def change_weight(state: State, work: Work, g: int, k: int, weight: float) -> None:
    """Gives arm k this weight and keeps every c_k in step."""
    change = (weight - work.weights[k]) * work.reach[k]
    work.weights[k] = weight
    for a in range(len(state.N)):
        work.column[a] -= change * work.reach[a] * state.G[g, k, a]
