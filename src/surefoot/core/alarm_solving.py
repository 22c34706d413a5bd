"""Small linear algebra of the alarm, out of line: it runs at rare looks, and is compiled once."""

from surefoot.core.alarm_memory import TRIED, Memory, N
from surefoot.core.kernel import kernel, rare
from surefoot.core.linear import cholesky, fill_diagonal, forward_solve, transposed_solve
from surefoot.core.logarithm import log
from surefoot.core.types import Matrix, Vector

CONDITION = 1e-10  # a direction with less than this share of the information counts as not pulled


@rare
def factor(memory: Memory, ridge: float, least: float, out: Matrix) -> bool:
    """Whether ridge I + sum z z^T has pivots above this share of its largest diagonal; then `out` is its factor."""
    X, d, largest = memory.X, memory.X.shape[1], 0.0
    fill_diagonal(out, ridge)
    for i in range(memory.clock[TRIED]):
        for a in range(d):
            row, share = out[a], memory.arms[i, N] * X[i, a]
            for b in range(a + 1):
                row[b] += share * X[i, b]
    for a in range(d):
        largest = max(largest, out[a, a])
    return cholesky(out, least * largest)


@kernel
def spanned(memory: Memory, out: Matrix) -> bool:
    """Whether the pulls span; then `out` is the factor of sum z z^T."""
    return factor(memory, 0.0, CONDITION, out)


@kernel
def regularised(memory: Memory, loose: float, out: Matrix) -> float:
    """log det(I + sum z z^T / loose); `out` is the factor of loose I + sum z z^T."""
    factor(memory, loose, 0.0, out)
    size = 0.0
    for a in range(len(out)):
        size += 2.0 * log(out[a, a]) - log(loose)
    return size


@rare
def forward(factor: Matrix, x: Vector, out: Vector) -> None:
    """C^-1 x for the factor C."""
    forward_solve(factor, x, out)


@rare
def backward(factor: Matrix, x: Vector, out: Vector) -> None:
    """C^-T x for the factor C."""
    transposed_solve(factor, x, out)


@kernel
def squares(x: Vector) -> float:
    """|x|^2."""
    total = 0.0
    for a in range(len(x)):
        total += x[a] * x[a]
    return total


@kernel
def product(x: Vector, y: Vector) -> float:
    """x . y"""
    total = 0.0
    for a in range(len(x)):
        total += x[a] * y[a]
    return total
