"""Optimal designs: how to share out pulls so that the least known direction is known best.                 (S0)"""

import numpy as np

from surefoot.core.types import Indices, Matrix, Vector


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


def apportion(shares: Vector, rounds: int) -> Indices:
    """A schedule of that many pulls in which every arm keeps up with its share."""
    schedule = np.zeros(max(rounds, 1), np.int64)
    counts, support = np.zeros(len(shares)), shares > 1e-6
    for t in range(rounds):
        behind = np.where(support, (counts + 1.0) / np.where(support, shares, 1.0), np.inf)
        schedule[t] = np.argmin(behind)
        counts[schedule[t]] += 1.0
    return schedule
