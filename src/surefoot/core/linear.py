"""Small dense linear algebra, written out: kernels may not allocate, and libraries round differently."""

from math import sqrt

from surefoot.core.kernel import kernel, rare, thin
from surefoot.core.types import Matrix, Vector

STRETCH = 4096  # arms whose sums stay at hand; with fewer, memory is read in pieces too short to be fetched ahead


@kernel
def add_information(X: Matrix, N: Vector, A: Matrix) -> None:
    """A + sum z z^T over all pulls, in the place of A; N holds each arm's sum of gamma^2.                   (E1)"""
    K, d = X.shape
    for k in range(K):
        if N[k] > 0.0:  # of many arms only some are ever pulled
            x = X[k]
            for a in range(d):
                row, share = A[a], N[k] * x[a]
                for b in range(d):
                    row[b] += share * x[b]


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
def long_dot(x: Vector, y: Vector) -> float:
    """The inner product of long vectors, as four sums that do not wait for each other."""
    d = len(x)
    whole = d - d % 4
    total, one, two, three = 0.0, 0.0, 0.0, 0.0
    for a in range(0, whole, 4):
        total += x[a] * y[a]
        one += x[a + 1] * y[a + 1]
        two += x[a + 2] * y[a + 2]
        three += x[a + 3] * y[a + 3]
    for a in range(whole, d):
        total += x[a] * y[a]
    return (total + one) + (two + three)


@thin
def stretches(X: Matrix) -> int:
    """How many stretches the arms are cut into."""
    return int((X.shape[0] + STRETCH - 1) // STRETCH)


@rare
def multiply_arms(X: Matrix, w: Vector, out: Vector, n: int) -> None:
    """X w for the arms of stretch n, whose features lie one after the other."""
    (K, d), first = X.shape, n * STRETCH
    end = min(first + STRETCH, K)
    part, eights, fours = out[first:end], d - d % 8, d - d % 4
    for k in range(len(part)):
        part[k] = 0.0
    for a in range(0, eights, 8):
        add_eight(X, w, a, part, first, end)
    if eights < fours:
        add_four(X, w, eights, part, first, end)
    for a in range(fours, d):
        w_1, x_1 = w[a], X[first:end, a]
        for k in range(len(part)):
            part[k] += w_1 * x_1[k]


@kernel
def add_four(X: Matrix, w: Vector, a: int, part: Vector, first: int, end: int) -> None:
    """Adds the products of four features to those of the others."""
    w_1, w_2, w_3, w_4 = w[a], w[a + 1], w[a + 2], w[a + 3]
    x_1, x_2, x_3, x_4 = X[first:end, a], X[first:end, a + 1], X[first:end, a + 2], X[first:end, a + 3]
    for k in range(len(part)):
        part[k] += (w_1 * x_1[k] + w_2 * x_2[k]) + (w_3 * x_3[k] + w_4 * x_4[k])


@kernel
def add_eight(X: Matrix, w: Vector, a: int, part: Vector, first: int, end: int) -> None:
    """The same as two times four, in one go: more of memory is on its way at a time."""
    w_1, w_2, w_3, w_4 = w[a], w[a + 1], w[a + 2], w[a + 3]
    w_5, w_6, w_7, w_8 = w[a + 4], w[a + 5], w[a + 6], w[a + 7]
    x_1, x_2, x_3, x_4 = X[first:end, a], X[first:end, a + 1], X[first:end, a + 2], X[first:end, a + 3]
    x_5, x_6, x_7, x_8 = X[first:end, a + 4], X[first:end, a + 5], X[first:end, a + 6], X[first:end, a + 7]
    for k in range(len(part)):
        half = part[k] + ((w_1 * x_1[k] + w_2 * x_2[k]) + (w_3 * x_3[k] + w_4 * x_4[k]))
        part[k] = half + ((w_5 * x_5[k] + w_6 * x_6[k]) + (w_7 * x_7[k] + w_8 * x_8[k]))


@rare
def multiply_arms_twice(X: Matrix, w: Vector, w2: Vector, out: Vector, out2: Vector, n: int) -> None:
    """X w and X w2 for the arms of stretch n, each as `multiply_arms` has it, in one go through the features: reading
    them is what takes the time."""
    (K, d), first = X.shape, n * STRETCH
    end = min(first + STRETCH, K)
    part, part2, eights, fours = out[first:end], out2[first:end], d - d % 8, d - d % 4
    for k in range(len(part)):
        part[k] = part2[k] = 0.0
    for a in range(0, eights, 8):
        add_eight_twice(X, w, w2, a, part, part2, first, end)
    if eights < fours:
        add_four(X, w, eights, part, first, end)
        add_four(X, w2, eights, part2, first, end)
    for a in range(fours, d):
        u_1, v_1, x_1 = w[a], w2[a], X[first:end, a]
        for k in range(len(part)):
            part[k] += u_1 * x_1[k]
            part2[k] += v_1 * x_1[k]


@kernel
def add_eight_twice(
    X: Matrix, w: Vector, w2: Vector, a: int, part: Vector, part2: Vector, first: int, end: int
) -> None:  # fmt: skip
    """`add_eight` for both."""
    u_1, u_2, u_3, u_4 = w[a], w[a + 1], w[a + 2], w[a + 3]
    u_5, u_6, u_7, u_8 = w[a + 4], w[a + 5], w[a + 6], w[a + 7]
    v_1, v_2, v_3, v_4 = w2[a], w2[a + 1], w2[a + 2], w2[a + 3]
    v_5, v_6, v_7, v_8 = w2[a + 4], w2[a + 5], w2[a + 6], w2[a + 7]
    x_1, x_2, x_3, x_4 = X[first:end, a], X[first:end, a + 1], X[first:end, a + 2], X[first:end, a + 3]
    x_5, x_6, x_7, x_8 = X[first:end, a + 4], X[first:end, a + 5], X[first:end, a + 6], X[first:end, a + 7]
    for k in range(len(part)):
        half = part[k] + ((u_1 * x_1[k] + u_2 * x_2[k]) + (u_3 * x_3[k] + u_4 * x_4[k]))
        half2 = part2[k] + ((v_1 * x_1[k] + v_2 * x_2[k]) + (v_3 * x_3[k] + v_4 * x_4[k]))
        part[k] = half + ((u_5 * x_5[k] + u_6 * x_6[k]) + (u_7 * x_7[k] + u_8 * x_8[k]))
        part2[k] = half2 + ((v_5 * x_5[k] + v_6 * x_6[k]) + (v_7 * x_7[k] + v_8 * x_8[k]))


@kernel
def invert_lower(C: Matrix, out: Matrix) -> None:
    """The inverse of a lower triangular C, row b holding column b of it, so that a product goes along rows."""
    d = len(C)
    for b in range(d):
        for a in range(d):
            total = 1.0 if a == b else 0.0
            for c in range(b, a):
                total -= C[a, c] * out[b, c]
            out[b, a] = total / C[a, a] if a >= b else 0.0


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


@kernel
def weighted_sum(X: Matrix, weights: Vector, total: Vector) -> None:
    """The sum of the rows of X by their weights, into `total`."""
    K, d = X.shape
    for a in range(d):
        total[a] = 0.0
    for k in range(K):
        if weights[k] != 0.0:
            for a in range(d):
                total[a] += weights[k] * X[k, a]
