"""Coordinates in which no direction is longer than another: what the units and the mixing of features leave.

Any invertible map of the features would be valid, and a good one only tunes. So the map is rounded: libraries differ in
the last digits from machine to machine, and with it a study would be another one elsewhere. It is rounded by the size
of its rows and columns: an entry that ought to be zero has no digits of its own.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from surefoot.core.types import Indices, Matrix, Vector

STEPS = 200
CLOSE = 0.05  # stop once no leverage exceeds d by more than this share
ROUGH = 3  # rounds of evening by equal shares: one does as much as the digits of a square hold
BITS = 26  # of a map
REACH_BITS = 40  # of how long weights may be
OFF_POWERS = 1.3  # entries are often powers of two, and must not be taken for the power below
APART = 1e-14  # features further apart in size are each taken in units of their own first
ROUNDING = 1e-12  # of an eigenvalue near 1
MANY = 4096  # arms: from here on shares are given out among some of them first
PORTION = 16_384  # arms that are worked on at a time
AT_HAND = 512  # arms whose features stay in a cache while they are mapped

Each = Callable[[Callable[[slice], None], Iterable[slice]], Iterable[None]]


class Even(NamedTuple):
    """The arms in even coordinates."""

    arms: Matrix  # (K, d)
    reach: float  # |weights| <= reach B there, if |x . weights| <= B for every arm: 1, but for what was rounded  (E7)


def evened(X: Matrix) -> Matrix:
    """The arms, (K, d) and spanning, as S^-1/2 x with S = sum nu_k x_k x_k^T for about the D-optimal design nu.

    No arm is then much longer than sqrt(d), and identities such as c I mean the same whatever units the features have.
    """
    return even_coordinates(X).arms


def even_coordinates(X: Matrix, by_entries: bool = False, each: Each = map) -> Even:
    """The same, with how long weights may be there that move no arm by more than 1: B^2 is no less than
    sum nu_k (x_k . weights)^2, for any shares nu, and the map is rounded.                                     (E7)

    By entries it is as it once was: each keeps as many digits, and those of what ought to be zero are the machine's.
    Arms are mapped some at a time, which `each` goes through: in whatever order, or several at once.
    """
    largest = largest_of_each(X)
    even: Matrix = X / (largest if far_apart(X) else largest.max())
    for _ in range(ROUGH):
        map_rows(even, np.full(len(X), 1.0 / len(X)), by_entries, each)
    nu = d_optimal(even)
    map_rows(even, nu, by_entries, each)
    least = float(np.linalg.eigvalsh(information(even, nu))[0])
    reach = float((1.0 + ROUNDING) / np.sqrt(least))
    return Even(even, float(np.ldexp(np.ceil(np.ldexp(reach, REACH_BITS)), -REACH_BITS)))


def far_apart(X: Matrix) -> bool:
    """Whether features differ so much in size that the digits of one hide another."""
    largest = largest_of_each(X)
    return bool(largest.min() < APART * largest.max())


def largest_of_each(X: Matrix) -> Vector:
    """The largest value of each feature, in size."""
    found: Vector = np.maximum(X.max(axis=0), -X.min(axis=0))
    return found


def map_rows(X: Matrix, nu: Vector, by_entries: bool, each: Each) -> None:
    """S^-1/2 x in place of every arm, for S by these shares. One product after the other, so that equal arms stay
    equal, and the digits are the same on every machine."""
    sizes, axes = np.linalg.eigh(information(X, nu))
    lengths = np.sqrt(np.maximum(sizes, np.finfo(np.float64).eps * sizes[-1]))
    root = (axes / lengths) @ axes.T
    rounded = rounded_by_entries(root) if by_entries else rounded_root(root, (axes * lengths) @ axes.T)

    def map_some(some: slice) -> None:
        rows = X[some]
        total, share = np.zeros_like(rows), np.empty_like(rows)
        for column, row in zip(rows.T, rounded, strict=True):
            total += np.multiply(column[:, None], row, out=share)
        X[some] = total

    for _ in each(map_some, portions(len(X), AT_HAND)):
        pass


def rounded_root(root: Matrix, inverse: Matrix) -> Matrix:
    """The map, each entry to so many digits of what it can be at most: root of its row's and column's on the diagonal.

    Where that leaves too little of the map, in features that are nearly the same, each entry keeps digits of its own.
    """
    power = np.frexp(OFF_POWERS * np.sqrt(np.diag(root)))[1]
    grid = BITS - np.add.outer(power, power)
    found: Matrix = np.ldexp(np.round(np.ldexp(root, grid)), -grid)
    if np.abs(found @ inverse - np.eye(len(root))).sum(axis=1).max() < 0.5:
        return found
    return rounded_by_entries(root)


def rounded_by_entries(root: Matrix) -> Matrix:
    """The map, each entry to as many digits of its own."""
    mantissa, power = np.frexp(root)
    return np.asarray(np.ldexp(np.round(np.ldexp(mantissa, BITS)), power - BITS))


def d_optimal(Z: Matrix) -> Vector:
    """Shares nu that about maximise det(sum nu_k z_k z_k^T): each is raised by its leverage, from equal ones on.

    Of many arms all but a few get next to nothing. So first it is shared out among the longest and some that span, and
    whoever then has a leverage above d joins them, until nobody has one much above it.
    """
    K, d = Z.shape
    nu, chosen = np.full(K, 1.0 / K), np.arange(K)
    if K > MANY:
        chosen = np.union1d(spanning(Z), longest(leverages(Z, information(Z, nu)), MANY))
    while True:
        shares = raised(Z[chosen])
        nu[:] = 0.0
        nu[chosen] = shares
        if len(chosen) == K:
            return nu
        found = leverages(Z, information(Z[chosen], shares))
        missed = longest(np.where(nu == 0.0, found, 0.0), MANY)
        missed = missed[found[missed] > d * (1.0 + CLOSE)]
        if not len(missed):
            return nu
        chosen = np.union1d(chosen, missed)


def raised(Z: Matrix) -> Vector:
    """The shares of d_optimal among these arms."""
    K, d = Z.shape
    nu = np.full(K, 1.0 / K)
    for _ in range(STEPS):
        leverage = leverages(Z, information(Z, nu))
        if leverage.max() <= d * (1.0 + CLOSE):
            break
        nu = nu * leverage / d
    shares: Vector = nu / nu.sum()
    return shares


def information(X: Matrix, nu: Vector) -> Matrix:
    """sum nu_k x_k x_k^T."""
    parts = [(X[some].T * nu[some]) @ X[some] for some in portions(len(X))]
    total: Matrix = parts[0] if len(parts) == 1 else np.sum(parts, axis=0)
    return total


def leverages(Z: Matrix, S: Matrix) -> Vector:
    """z . S^-1 z of every arm."""
    found = np.empty(len(Z))
    for some in portions(len(Z)):
        found[some] = np.einsum("kd,kd->k", Z[some], np.linalg.solve(S, Z[some].T).T)
    return found


def spanning(Z: Matrix) -> Indices:
    """The places of d arms that span: each is the longest across those before it."""
    left, across, found = (
        np.einsum("kd,kd->k", Z, Z),
        np.zeros((Z.shape[1], Z.shape[1])),
        np.zeros(Z.shape[1], np.int64),
    )
    for a in range(Z.shape[1]):
        found[a] = left.argmax()
        rest = Z[found[a]] - across.T @ (across @ Z[found[a]])
        across[a] = rest / np.linalg.norm(rest)
        left -= (Z @ across[a]) ** 2
    return found


def longest(lengths: Vector, count: int) -> Indices:
    """The places of the so many largest."""
    found: Indices = np.argpartition(-lengths, count - 1)[:count]
    return found


def portions(K: int, size: int = PORTION) -> list[slice]:
    """The arms, some at a time, so that nothing as large as all of them is made on the way."""
    return [slice(first, first + size) for first in range(0, K, size)]
