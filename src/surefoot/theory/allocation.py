"""How pulls should be shared out to learn one direction, and what that buys.                           (T1, T2, T3)"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog

from surefoot.errors import InvalidInput
from surefoot.problem.checks import Floats, frozen

REACHABLE = 1e-7  # a remainder of y larger than this share of it means that the pulls do not reach y


@dataclass(frozen=True, eq=False)
class Combination:
    """The shortest combination of pulls that makes a direction, with its proof of optimality."""

    weights: Floats  # (K,) w*, sum_k w*_k z_k = y
    price: Floats  # (d,) phi with |z_k.phi| <= 1 for all k: no combination is shorter than y.phi
    norm: float  # |w*|_1
    gap: float  # |w*|_1 - y.phi

    @property
    def shares(self) -> Floats:
        """The share of pulls that each arm should get (K,): |w*| / |w*|_1, all zero for the direction 0."""
        return frozen(np.abs(self.weights) / self.norm) if self.norm > 0.0 else frozen(np.zeros_like(self.weights))


def shortest_combination(pulls: Floats, direction: Floats) -> Combination:
    """The weights of least |w|_1 with sum_k w_k z_k = y, by linear programming.                               (T1)

    `pulls` holds z_k as rows (K, d). The squared norm |w*|_1^2 is the least y^T (sum_k nu_k z_k z_k^T)^+ y over shares
    nu that reach y (Elfving): after n pulls in the best shares, y is known with variance |w*|_1^2 / n.
    """
    K, d = pulls.shape
    size, unit = float(np.abs(direction).max()), float(np.abs(pulls).max())
    if size == 0.0:
        return Combination(frozen(np.zeros(K)), frozen(np.zeros(d)), 0.0, 0.0)
    if unit == 0.0:
        raise _out_of_reach(direction)
    Z, y = pulls / unit, direction / size
    solved = linprog(np.ones(2 * K), A_eq=np.hstack([Z.T, -Z.T]), b_eq=y, bounds=(0.0, None), method="highs")
    if solved.x is None:
        raise _out_of_reach(direction)
    w = _polished(Z, y, solved.x[:K] - solved.x[K:])
    phi = np.asarray(solved.eqlin.marginals, dtype=np.float64)
    phi = phi / max(1.0, float(np.abs(Z @ phi).max()))  # scaled into the dual's constraints, so that the gap is proved
    norm = float(np.abs(w).sum())
    back = size / unit
    return Combination(frozen(w * back), frozen(phi / unit), norm * back, (norm - float(y @ phi)) * back)


def _polished(Z: Floats, y: Floats, w: Floats) -> Floats:
    """The solver's weights with their remainder, which it only keeps below 1e-7, removed on their support."""
    support = np.abs(w) > 1e-9 * np.abs(w).max()
    exact = np.zeros_like(w)
    exact[support] = np.linalg.lstsq(Z[support].T, y, rcond=None)[0]
    remainder = float(np.abs(y - exact @ Z).max())
    if remainder > REACHABLE * float(np.abs(y).max()):
        raise _out_of_reach(y)
    return exact


def _out_of_reach(direction: Floats) -> InvalidInput:
    reason = "does not lie in the span of the pulls, so no number of pulls teaches it"
    return InvalidInput("direction", direction, reason, "Work in the span of the arms, for example problem.features.")


class RidgeIdentity(NamedTuple):
    """Both sides of (T2) and the weights between them."""

    weights: Floats  # (K,)
    left: float  # |y - Z^T w|^2 + c sum_k w_k^2 / nu_k
    right: float  # c y^T (c I + Z^T diag(nu) Z)^-1 y


def ridge_identity(pulls: Floats, shares: Floats, direction: Floats, ridge: float) -> RidgeIdentity:
    """The two sides of the identity that turns a variance into a penalised combination.                       (T2)

    For shares nu > 0 and c = lambda / n the weights w = diag(nu) Z (c I + Z^T diag(nu) Z)^-1 y minimise the left side,
    and the minimum is c times the variance of y under those shares.
    """
    if not (shares > 0.0).all():
        raise InvalidInput("shares", shares, "must all be above 0", "Leave arms without a share out of the pulls.")
    if not ridge > 0.0:
        raise InvalidInput("ridge", ridge, "must be above 0", "Give lambda / n, for example 0.01.")
    inverse_y = np.linalg.solve(ridge * np.eye(pulls.shape[1]) + (pulls.T * shares) @ pulls, direction)
    w = shares * (pulls @ inverse_y)
    rest = direction - w @ pulls
    left = float(rest @ rest + ridge * np.sum(w**2 / shares))
    return RidgeIdentity(w, left, ridge * float(direction @ inverse_y))


def pull_worth(squared_levels: Floats, levels: Floats) -> Floats:
    """How many pulls at today's level each arm's history is worth: sum of gamma^2 over its pulls / level^2.   (G5)"""
    worth: Floats = squared_levels / levels**2
    return worth


def width_bound(combination: Combination, worth: Floats) -> float:
    """An upper bound on |y|^2_{A^-1} after pulls worth n_k; infinite while an arm with a share has none.      (T3)

    |w*|_1^2 / min over shares nu_k > 0 of (n_k / nu_k): n_k >= nu_k N for that minimum N, so A is at least
    N sum_k nu_k z_k z_k^T, under which y has variance |w*|_1^2 / N.
    """
    shares = combination.shares
    used = shares > 0.0
    if not used.any():
        return 0.0
    rounds = float((worth[used] / shares[used]).min())
    return combination.norm**2 / rounds if rounds > 0.0 else np.inf
