"""The span of the arms: how many dimensions they really have, and their coordinates there.

Arms may be many, so nothing as large as all of them is made on the way: they are read some rows at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from surefoot.errors import InvalidInput, counted
from surefoot.problem.checks import ROWS, Flags, Floats, some_rows

FEW_ROWS = 512  # at a time they stay in the nearest cache, and the decomposition takes a tenth of the time
_SURELY = 1e-8  # ratio of the Gram matrix's eigenvalues far above what rounding leaves of a zero one


class Span(NamedTuple):
    """The arms in coordinates of their span, and the orthonormal basis that gives them."""

    features: Floats  # (K, d) arms @ basis
    basis: Floats  # (D, d)
    spans: bool  # d == D


def notice_of(span: Span) -> str:
    """What to tell the user about arms that do not span."""
    features, rank = span.basis.shape
    return (
        f"The arms have {counted(features, 'feature')} but span only {counted(rank, 'dimension')}. Nothing is lost: "
        "the work is done in the coordinates of their span, which are problem.features."
    )


def span_of(arms: Floats) -> Span:
    """The span of the rows of `arms`: the identity when they span, otherwise their right singular vectors.

    The rank counts the singular values above max(K, D) * 2.2e-16 times the largest, of the arms with every feature in
    units of its largest value, so that it depends on no units. Each basis vector's entry of largest size is positive,
    so that the same arms have the same coordinates wherever the same LAPACK computes them.
    """
    count, dimension = arms.shape
    largest = largest_of(arms)
    if count >= 4 * dimension and _plainly_spanning((rows / largest for rows in some_rows(arms)), dimension):
        return Span(arms, np.eye(dimension), True)
    units = _units_of(arms)
    without_units = triangle_of(rows / units for rows in some_rows(arms))
    rank = _rank(np.asarray(np.linalg.svd(without_units, compute_uv=False), np.float64), count, dimension)
    if rank == dimension:
        return Span(arms, np.eye(dimension), True)
    triangle = triangle_of(rows / largest for rows in some_rows(arms))
    _, sizes, rows = np.linalg.svd(triangle, full_matrices=False)
    if _rank(sizes, count, dimension) != rank:  # units so far apart that the digits of one feature hide another
        basis = np.eye(dimension)[:, _independent(without_units, rank)]
        return Span(arms @ basis, basis, False)
    basis = rows[:rank].T
    leading = np.abs(basis).argmax(axis=0)
    signs = np.where(basis[leading, np.arange(rank)] < 0.0, -1.0, 1.0)
    basis = basis * signs + 0.0
    return Span(arms @ basis + 0.0, basis, False)


def check_reached(features: Floats, pullable: Flags, names: Sequence[str]) -> None:
    """Refuses arms that cannot be tried and lie outside the span of those that can: nothing would ever be learned
    about them."""
    if pullable.all():
        return
    tried, left = features[pullable], np.flatnonzero(~pullable)
    triangle = triangle_of(rows / _units_of(features) for rows in some_rows(tried))
    if _rank(np.asarray(np.linalg.svd(triangle, compute_uv=False), np.float64), *tried.shape) == features.shape[1]:
        return
    even = features / _units_of(features)
    _, sizes, axes = np.linalg.svd(even[pullable], full_matrices=False)
    axes = axes[: _rank(sizes, *tried.shape)]
    outside = np.linalg.norm(even[left] - even[left] @ axes.T @ axes, axis=1)
    arm = int(left[outside.argmax()])
    reason = "cannot be tried, and points where no combination of the arms that can be tried does"
    remedy = "Leave the arm out, or add arms that can be tried and together span its direction."
    raise InvalidInput(f"arms[{names[arm]!r}]", features[arm], reason, remedy)


def _units_of(arms: Floats) -> Floats:
    """The largest value of each feature in size; 1 where all are zero."""
    units: Floats = np.maximum(arms.max(axis=0), -arms.min(axis=0))
    return np.where(units > 0.0, units, 1.0)


def _rank(sizes: Floats, count: int, dimension: int) -> int:
    """How many of these singular values are more than rounding."""
    return int(np.count_nonzero(sizes > max(count, dimension) * np.finfo(np.float64).eps * sizes[0]))


def _independent(triangle: Floats, rank: int) -> list[int]:
    """So many features, in their order, on which the others depend: each is the longest across those before it."""
    left, found = triangle.copy(), []
    for _ in range(rank):
        found.append(int(np.einsum("ab,ab->b", left, left).argmax()))
        axis = left[:, found[-1]] / np.linalg.norm(left[:, found[-1]])
        left -= np.outer(axis, axis @ left)
        left[:, found] = 0.0
    return sorted(found)


def largest_of(arms: Floats) -> float:
    """The largest feature in size; NaN where there is one."""
    return float(np.maximum(arms.max(), -arms.min()))


def triangle_of(parts: Iterable[Floats]) -> Floats:
    """R of a QR decomposition of the rows of these parts: their singular values, and right singular vectors."""
    found: Floats | None = None
    for rows in parts:
        step = len(rows) if len(rows) < ROWS else FEW_ROWS
        for first in range(0, len(rows), step):
            some = rows[first : first + step]
            found = some if found is None else np.vstack([found, some])
            if len(found) > found.shape[1]:
                found = np.asarray(np.linalg.qr(found, mode="r"))
    return np.empty((0, 0)) if found is None else found


def _plainly_spanning(parts: Iterable[Floats], dimension: int) -> bool:
    """Whether the arms span by so much that the small Gram matrix can tell: the quick way for many arms."""
    gram = np.zeros((dimension, dimension))
    for rows in parts:
        gram += rows.T @ rows
    sizes = np.linalg.eigvalsh(gram)
    return bool(sizes[0] > _SURELY * sizes[-1])
