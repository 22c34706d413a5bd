"""Shares of pulls for the rounding rule with finitely many pulls: a convex program solved in every round.   (G5')"""

from surefoot.core.estimate import Estimate, column, diagonal
from surefoot.core.kernel import kernel, rare, thin
from surefoot.core.rounding import Shares
from surefoot.core.types import Instance, Vector

FIT = 1e-9  # relative violation of optimality that counts as none
STEPS = 2_000


@rare
def finite_weights(
    inst: Instance,
    estimate: Estimate,
    shares: Shares,
    reach: Vector,
    g: int,
    i: int,
    level_i: float,
    j: int,
    level_j: float,
) -> None:
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
