"""The span of the arms: how many dimensions they really have, and their coordinates there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surefoot.problem.checks import Floats

_SURELY = 1e-8  # ratio of the Gram matrix's eigenvalues far above what rounding leaves of a zero one


class Span(NamedTuple):
    """The arms in coordinates of their span, and the orthonormal basis that gives them."""

    features: Floats  # (K, d) arms @ basis
    basis: Floats  # (D, d)
    spans: bool  # d == D


def span_of(arms: Floats) -> Span:
    """The span of the rows of `arms`: the identity when they span, otherwise their right singular vectors.

    The rank counts the singular values above max(K, D) * 2.2e-16 times the largest. Each basis vector's entry of
    largest size is positive, so that the same arms have the same coordinates wherever the same LAPACK computes them.
    """
    count, dimension = arms.shape
    scaled = arms / np.abs(arms).max()
    if count >= 4 * dimension and _plainly_spanning(scaled):
        return Span(arms, np.eye(dimension), True)
    triangle = np.linalg.qr(scaled, mode="r") if count > dimension else scaled  # the same right singular vectors
    _, sizes, rows = np.linalg.svd(triangle, full_matrices=False)
    rank = int(np.count_nonzero(sizes > max(count, dimension) * np.finfo(np.float64).eps * sizes[0]))
    if rank == dimension:
        return Span(arms, np.eye(dimension), True)
    basis = rows[:rank].T
    leading = np.abs(basis).argmax(axis=0)
    signs = np.where(basis[leading, np.arange(rank)] < 0.0, -1.0, 1.0)
    basis = basis * signs + 0.0
    return Span(arms @ basis + 0.0, basis, False)


def _plainly_spanning(scaled: Floats) -> bool:
    """Whether the arms span by so much that the small Gram matrix can tell: the quick way for many arms."""
    sizes = np.linalg.eigvalsh(scaled.T @ scaled)
    return bool(sizes[0] > _SURELY * sizes[-1])
