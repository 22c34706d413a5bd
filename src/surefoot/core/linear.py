"""Small dense linear algebra, written out: kernels may not allocate, and libraries round differently."""

from math import sqrt

from surefoot.core.kernel import kernel, rare, thin
from surefoot.core.types import Matrix, Vector


@kernel
def add_information(X: Matrix, N: Vector, A: Matrix) -> None:
    """A + sum z z^T over all pulls, in the place of A; N holds each arm's sum of gamma^2.                   (E1)"""
    K, d = X.shape
    for a in range(d):
        for b in range(d):
            total = A[a, b]
            for k in range(K):
                total += N[k] * X[k, a] * X[k, b]
            A[a, b] = total


@thin
def fill_diagonal(A: Matrix, value: float) -> None:
    """The identity times the value, in the place of A."""
    for a in range(len(A)):
        for b in range(len(A)):
            A[a, b] = value if a == b else 0.0


@kernel
def dot(x: Vector, y: Vector) -> float:
    """The inner product."""
    total = 0.0
    for a in range(len(x)):
        total += x[a] * y[a]
    return total


@kernel
def trace(A: Matrix) -> float:
    """The sum of the diagonal."""
    total = 0.0
    for a in range(len(A)):
        total += A[a, a]
    return total


@rare
def has_full_rank(A: Matrix, least: float) -> bool:
    """Whether every pivot of A = A^T >= 0 is above `least`, the largest one taken first each time. A is used up.

    Without the choice of pivots a small one on the way may leave a zero one above any bound worth the name.
    """
    d = len(A)
    for step in range(d):
        best = step
        for a in range(step + 1, d):
            best = a if A[a, a] > A[best, best] else best
        if not A[best, best] > least:
            return False
        for b in range(d):
            A[step, b], A[best, b] = A[best, b], A[step, b]
        for a in range(d):
            A[a, step], A[a, best] = A[a, best], A[a, step]
        for a in range(step + 1, d):
            share = A[a, step] / A[step, step]
            for b in range(step + 1, d):
                A[a, b] -= share * A[step, b]
    return True


@kernel
def cholesky(A: Matrix, least: float) -> bool:
    """The lower factor of A = C C^T, written over its lower triangle; False if a squared pivot is not above `least`."""
    for a in range(len(A)):
        for b in range(a + 1):
            total = A[a, b]
            for c in range(b):
                total -= A[a, c] * A[b, c]
            if a == b and not total > least:
                return False
            A[a, b] = sqrt(total) if a == b else total / A[b, b]
    return True


@kernel
def forward_solve(C: Matrix, x: Vector, out: Vector) -> None:
    """C^-1 x for a lower triangular C."""
    for a in range(len(C)):
        total = x[a]
        for b in range(a):
            total -= C[a, b] * out[b]
        out[a] = total / C[a, a]


@kernel
def transposed_solve(C: Matrix, x: Vector, out: Vector) -> None:
    """C^-T x for a lower triangular C."""
    d = len(C)
    for back in range(d):
        a = d - 1 - back
        total = x[a]
        for b in range(a + 1, d):
            total -= C[b, a] * out[b]
        out[a] = total / C[a, a]
