"""E-processes: they start at 1, and while the model is true stay small whoever chooses the pulls.           (A1, A2)

All are computed in logarithms, for all n signals at once, from sums over the pulls of each arm. Readings come in units
of their noise, so that R = 1.
"""

import numpy as np

from surefoot.core.types import Indices
from surefoot.problem.checks import Floats

STAKES = np.array([0.01, 0.03, 0.08, 0.16, 0.26, 0.36, 0.44])  # the c of (A1): small ones for a little too much noise
PRIORS = np.array([1.0, 10.0, 100.0, 1000.0])  # the lambda of (A2): large ones for small deviations


class Cells:
    """Sums over the pulls of each arm in each of several classes: ranges of the level, or stretches of time."""

    def __init__(self, n: int, K: int, parts: int) -> None:
        self.N = np.zeros((K, parts))  # sum of level^2
        self.m = np.zeros((n, K, parts))  # sum of level * reading

    def add(self, arms: Indices, parts: Indices, levels: Floats, observed: Floats) -> None:
        """Takes in pulls of these arms in these classes."""
        np.add.at(self.N, (arms, parts), levels**2)
        for s in range(len(self.m)):
            np.add.at(self.m[s], (arms, parts), levels * observed[:, s])

    def slopes(self) -> Floats:
        """(n, K, parts) the effect per unit of level in each cell, 0 where nothing was pulled."""
        return np.divide(self.m, self.N, out=np.zeros_like(self.m), where=self.N > 0.0)


def noise_evidence(squares: Floats, pulls: int) -> Floats:
    """(n,) that the least squared residuals, (n,), are larger than noise of size 1 can make them.             (A1)"""
    stakes = STAKES[:, None] * squares + pulls / 2 * np.log1p(-2 * STAKES)[:, None]
    return mixed(stakes, len(STAKES))


def deviation_evidence(cells: Cells, X: Floats) -> Floats:
    """(n,) that cells deviate from every linear model: each by itself, or all beyond some cut together.       (A2)"""
    overall = fit(X, cells.N.sum(axis=1), cells.m.sum(axis=2))  # differences from it lose no digits
    rest = cells.m - cells.N * (X @ overall).T[:, :, None]
    logs = np.concatenate([alone(cells.N, rest, X), together(cells.N, rest, X)])
    return mixed(logs, len(PRIORS) * cells.N.shape[1])


def alone(N: Floats, rest: Floats, X: Floats) -> Floats:
    """(priors, n) e-processes: every cell has a deviation of its own."""
    slopes, logs = np.divide(rest, N, out=np.zeros_like(rest), where=N > 0.0), []
    for prior in PRIORS:
        weights = N * (N / (N + prior))
        of_arm, total = weights.sum(axis=1), (weights * slopes).sum(axis=2)
        means = np.divide(total, of_arm, out=np.zeros_like(total), where=of_arm > 0.0)
        within = (weights * (slopes - means[:, :, None]) ** 2).sum(axis=(1, 2))
        logs.append((within + unexplained(X, of_arm, means)) / 2 - np.log1p(N / prior).sum() / 2)
    return np.array(logs)


def together(N: Floats, rest: Floats, X: Floats) -> Floats:
    """(priors * cuts, n) e-processes: below a cut and above it there are two different linear models.

    A cut with nothing on one side is left out: a capital of 0 is less than what is due to it, so that is valid.
    """
    cuts = [cut for cut in range(1, N.shape[1]) if N[:, :cut].any() and N[:, cut:].any()]
    if not cuts:
        return np.zeros((0, len(rest)))
    sides = np.array([[N[:, :cut].sum(axis=1), N[:, cut:].sum(axis=1)] for cut in cuts])  # (cuts, 2, K)
    sums = np.array([[rest[:, :, :cut].sum(axis=2), rest[:, :, cut:].sum(axis=2)] for cut in cuts])  # (cuts, 2, n, K)
    V = X.T @ (sides[..., None] * X)  # (cuts, 2, d, d)
    sizes, axes = np.linalg.eigh(V)
    sizes, back = np.maximum(sizes, 0.0), axes.swapaxes(-1, -2)
    turned = back @ (sums @ X).swapaxes(-1, -2)  # (cuts, 2, d, n)
    gain = 1.0 / (sizes + PRIORS[:, None, None, None])  # (priors, cuts, 2, d)
    square = (turned**2 * gain[..., None]).sum(axis=(2, 3))
    H = ((axes * (sizes**2 * gain)[..., None, :]) @ back).sum(axis=2)
    g = (axes @ ((sizes * gain)[..., None] * turned)).sum(axis=2)
    least = square - (g * (np.linalg.pinv(H, hermitian=True) @ g)).sum(axis=2)  # over all common models
    logs = np.maximum(least, 0.0) / 2 - np.log1p(sizes / PRIORS[:, None, None, None]).sum(axis=(2, 3))[..., None] / 2
    flat: Floats = logs.reshape(-1, len(rest))
    return flat


def fit(X: Floats, weights: Floats, sums: Floats) -> Floats:
    """(d, n) the least-squares weights of each signal, from the arms' sums of level^2 and of level * reading."""
    root = np.sqrt(weights)
    aims = np.divide(sums, root, out=np.zeros_like(sums), where=root > 0.0).T
    return np.linalg.lstsq(root[:, None] * X, aims, rcond=None)[0].astype(np.float64)


def unexplained(X: Floats, weights: Floats, slopes: Floats) -> Floats:
    """(n,) the least weighted sum of squares by which the arms' slopes, (n, K), differ from a linear model."""
    differences = slopes - (X @ fit(X, weights, weights * slopes)).T
    least: Floats = (weights * differences**2).sum(axis=1)
    return least


def mixed(logs: Floats, count: int) -> Floats:
    """(n,) the logarithm of the mean of so many e-processes, given theirs, of which those not listed count as 0."""
    highest = logs.max(axis=0)
    found: Floats = highest + np.log(np.exp(logs - highest).sum(axis=0)) - np.log(count)
    return found
