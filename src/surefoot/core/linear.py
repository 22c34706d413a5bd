"""Small dense linear algebra, written out: kernels may not allocate, and libraries round differently."""

from math import sqrt

from surefoot.core.kernel import kernel, thin
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


@thin
def dot(x: Vector, y: Vector) -> float:
    """The inner product."""
    total = 0.0
    for a in range(len(x)):
        total += x[a] * y[a]
    return total


@thin
def trace(A: Matrix) -> float:
    """The sum of the diagonal."""
    total = 0.0
    for a in range(len(A)):
        total += A[a, a]
    return total


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


@kernel
def harmonic_mean(C: Matrix, column: Vector) -> float:
    """The harmonic mean of the eigenvalues of C C^T for a lower triangular C, between the smallest and d times it.

    Factors are exact for a matrix that is off by rounding errors of the largest eigenvalue; one pivot alone, divided by
    small ones before it, may be off by far more. `column` is room for d.
    """
    d, squares = len(C), 0.0
    for b in range(d):  # |C^-1 e_b|^2, which add up to the trace of the inverse
        for a in range(b, d):
            total = 1.0 if a == b else 0.0
            for c in range(b, a):
                total -= C[a, c] * column[c]
            column[a] = total / C[a, a]
            squares += column[a] * column[a]
    return d / squares
