"""Optimal designs: how to share out pulls so that the least known direction is known best.             (S0, F9)"""

import numpy as np

from surefoot.core.types import Flags, Indices, Matrix, Vector

MOST_PAIRS = 512  # that a step looks at
MOST_WORK = 1_000_000_000  # numbers that the steps of a design over pairs may go through, but for the first hundred


def e_optimal(Z: Matrix, tolerance: float = 0.05, steps: int = 5000) -> Vector:
    """Shares nu that maximise the smallest eigenvalue of sum_k nu_k z_k z_k^T, to within the relative tolerance.

    Frank-Wolfe on the soft minimum -log(tr exp(-p M)) / p of the eigenvalues, sharpened (p raised) when the steps
    stop paying. Every density matrix W bounds the optimum by max_k z_k^T W z_k, which gives the duality gap; should
    the steps run out first, the best shares seen are returned.
    """
    K, d = Z.shape
    scale = float((Z * Z).sum(axis=1).max())
    nu, bound = np.full(K, 1.0 / K), np.inf
    best, best_nu, sharpness = -np.inf, nu, 8.0
    for step in range(steps):
        eigenvalues, vectors = np.linalg.eigh((Z.T * nu) @ Z)
        if eigenvalues[0] > best:
            best, best_nu = float(eigenvalues[0]), nu
        p = sharpness * np.log(d + 1.0) / max(eigenvalues[0], 1e-9 * scale)
        weights = np.exp(-p * (eigenvalues - eigenvalues[0]))
        gradient = ((Z @ vectors) ** 2 @ weights) / weights.sum()  # z_k^T W z_k
        k = int(np.argmax(gradient))
        bound = min(bound, float(gradient[k]))
        if bound - best <= tolerance * bound:
            break
        if gradient[k] - gradient @ nu <= 0.25 * (bound - best):
            sharpness = min(2.0 * sharpness, 1e6)
        share = 2.0 / (step + 2.0 + K)
        nu = (1.0 - share) * nu
        nu[k] += share
    return best_nu


def xy_design(Z: Matrix, pullable: Flags | None = None, tolerance: float = 0.02, steps: int = 5000) -> Vector:
    """Shares nu that minimise the largest |z_i - z_j|^2 in V^-1 over all pairs, V = sum_k nu_k z_k z_k^T, to within the
    relative tolerance; arms that cannot be tried have no share.                                             (F9)

    Frank-Wolfe on a soft maximum over the pairs that are known worst, sharpened when the steps stop paying. Every
    weighting p of pairs bounds the optimum from below by g^2 / max_k s_k, with g = sum p |y|^2 and
    s_k = sum p (z_k.V^-1 y)^2; should the steps run out first, the best shares seen are returned.
    """
    K, d = Z.shape
    tried = np.ones(K) if pullable is None else pullable.astype(np.float64)
    nu: Vector = tried / tried.sum()
    bound, best, sharpness, best_nu = 0.0, np.inf, 8.0, nu
    for step in range(min(steps, max(100, MOST_WORK // (K * K * d)))):
        G = Z @ np.linalg.solve((Z.T * nu) @ Z, Z.T)  # z_a . V^-1 z_b
        squares = np.diag(G)[:, None] + np.diag(G)[None, :] - 2.0 * G
        if squares.max() <= 0.0:  # one arm, or all alike: there is nothing to tell apart
            break
        i, j = np.nonzero(np.triu(squares, 1) >= (1.0 - 1.0 / sharpness) * squares.max())
        i, j = i[:MOST_PAIRS], j[:MOST_PAIRS]
        worst = squares[i, j]
        if squares.max() < best:
            best, best_nu = float(squares.max()), nu
        p = np.exp(sharpness * np.log(K + 1.0) * (worst / worst.max() - 1.0))
        p /= p.sum()
        s = tried * ((G[:, i] - G[:, j]) ** 2 @ p)
        bound = max(bound, float(worst @ p) ** 2 / float(s.max()))
        if best - bound <= tolerance * best:
            break
        if s.max() - s @ nu <= 0.25 * (best - bound):
            sharpness = min(2.0 * sharpness, 1e6)
        share = 2.0 / (step + 2.0 + K)
        nu = (1.0 - share) * nu
        nu[int(np.argmax(s))] += share
    return best_nu


def apportion(shares: Vector, rounds: int) -> Indices:
    """A schedule of that many pulls in which every arm keeps up with its share."""
    schedule = np.zeros(max(rounds, 1), np.int64)
    counts, support = np.zeros(len(shares)), shares > 1e-6
    for t in range(rounds):
        behind = np.where(support, (counts + 1.0) / np.where(support, shares, 1.0), np.inf)
        schedule[t] = np.argmin(behind)
        counts[schedule[t]] += 1.0
    return schedule
