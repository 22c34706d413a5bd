"""Gram matrices: which regularisations a policy estimates with, and which signal uses which.                (E1)"""

from typing import NamedTuple

import numpy as np

from surefoot.core.logarithm import log
from surefoot.core.types import Indices, Matrix, Tensor, Vector


class Grams(NamedTuple):
    """The different regularisations of n signals."""

    matrix: Tensor  # (g, d, d)
    of: Indices  # (n,) the one that each signal has
    least: Vector  # (g,) smallest eigenvalue
    most: Vector  # (g,) largest eigenvalue
    log_det: Vector  # (g,) logarithm of the determinant
    fades: Indices  # (g,) 1 where it holds only until the pulls span
    features: Matrix | None = None  # (K, d) the arms in the coordinates of these; None: as the problem has them


def multiples_of_identity(per_signal: Vector, d: int) -> Grams:
    """A Gram matrix for each different lambda, regularised by lambda I."""
    lam, of = np.unique(per_signal, return_inverse=True)
    matrix = lam[:, None, None] * np.eye(d)
    log_det = np.array([d * log(each) for each in lam.tolist()])
    return Grams(matrix, of.astype(np.int64), lam, lam, log_det, np.zeros(len(lam), np.int64))


def least_squares(n: int, d: int, start: float) -> Grams:
    """One Gram matrix for all n signals, without regularisation once the pulls span; start I until then."""
    one = np.array([start])
    log_det = np.array([d * log(start)])
    return Grams(start * np.eye(d)[None], np.zeros(n, np.int64), one, one, log_det, np.ones(1, np.int64))


def regularized_by(per_signal: Tensor) -> Grams:
    """A Gram matrix for each different regularisation matrix, (n, d, d), symmetric and positive definite."""
    n = len(per_signal)
    different, of = np.unique(per_signal.reshape(n, -1), axis=0, return_inverse=True)
    matrix = different.reshape(-1, *per_signal.shape[1:])
    sizes: Matrix = np.linalg.eigvalsh(matrix).astype(np.float64)
    kept = np.zeros(len(matrix), np.int64)
    return Grams(matrix, of.reshape(n).astype(np.int64), sizes[:, 0], sizes[:, -1], np.log(sizes).sum(axis=1), kept)
