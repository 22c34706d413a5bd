"""Everything that is estimated, anew from the sufficient statistics, by a Cholesky factor.               (E1, E2)"""

from collections.abc import Callable
from typing import Any

from surefoot.core.columns import COLUMN, UNBOUND, all_held, fill_stretch, forget_columns
from surefoot.core.crew import ABOUT, HANDS, JOB, PLACE, put_up, taken, taken_after, wait_for
from surefoot.core.estimate import Estimate, Scratch
from surefoot.core.kernel import bound_in, kernel, rare, thin
from surefoot.core.linear import (
    add_information,
    cholesky,
    dot,
    fill_diagonal,
    forward_solve,
    has_full_rank,
    invert_lower,
    long_dot,
    multiply_arms,
    stretches,
    trace,
    transposed_solve,
    weighted_sum,
)
from surefoot.core.logarithm import log
from surefoot.core.types import Instance, Matrix, Vector

DIAGONALS, ESTIMATES = COLUMN + 1, COLUMN + 2  # jobs for several threads
SINGULAR = 1e-12  # eigenvalues of sum z z^T with a harmonic mean below this share of their sum: no span yet


@rare
def spans_now(inst: Instance, estimate: Estimate, scratch: Scratch, g: int) -> bool:
    """Whether the pulls span now for the first time; the regularisation that fades is left out from then on."""
    if inst.fades[g] == 0 or estimate.spanned[g] == 1 or estimate.tried[0] < inst.X.shape[1]:
        return False
    fill_diagonal(scratch.A, 0.0)
    add_information(inst.X, estimate.N, scratch.A)
    estimate.spanned[g] = 1 if has_full_rank(scratch.A, SINGULAR * trace(scratch.A)) else 0
    return bool(estimate.spanned[g] == 1)


@rare
def factor(inst: Instance, estimate: Estimate, scratch: Scratch, g: int) -> bool:
    """The Cholesky factor of Gram matrix g, in scratch.A; False if there is none."""
    d = inst.X.shape[1]
    spans_now(inst, estimate, scratch, g)
    kept = 0.0 if estimate.spanned[g] == 1 else 1.0
    for a in range(d):
        for b in range(d):
            scratch.A[a, b] = kept * inst.regularization[g, a, b]
    add_information(inst.X, estimate.N, scratch.A)
    return cholesky(scratch.A, 0.0)


@rare
def refresh_gram(inst: Instance, estimate: Estimate, scratch: Scratch, g: int) -> bool:
    """Gram matrix g and what is estimated with it, anew from the sufficient statistics; False if they broke down.

    Leaves the Cholesky factor C of A in scratch.A.                                                       (E1, E2)
    """
    d = inst.X.shape[1]
    healthy = factor(inst, estimate, scratch, g)
    estimate.log_det[g] = -inst.log_det[g]
    for a in range(d):
        estimate.log_det[g] += 2.0 * log(scratch.A[a, a])
    forget_columns(estimate.columns, g)
    refresh_inverse(estimate, scratch, g)
    if all_held(estimate.columns):
        refresh_columns(inst, estimate, scratch, g)
    else:
        refresh_diagonals(inst, estimate, scratch, g)
    for s in range(len(inst.R)):
        if inst.gram_of[s] == g:
            refresh_signal(inst, estimate, scratch, s)
    return healthy


@rare
def refresh_inverse(estimate: Estimate, scratch: Scratch, g: int) -> None:
    """A^-1, where anybody needs it, by the factor in `scratch`; rows of C^-T are left in scratch.B."""
    d, columns = len(scratch.A), estimate.columns
    if len(columns.inverse) == 0:
        return
    invert_lower(scratch.A, scratch.B)
    for a in range(d):
        for b in range(a + 1):
            total = 0.0
            for c in range(a, d):
                total += scratch.B[a, c] * scratch.B[b, c]
            columns.inverse[g, a, b] = columns.inverse[g, b, a] = total


@rare
def refresh_columns(inst: Instance, estimate: Estimate, scratch: Scratch, g: int) -> None:
    """The columns of all arms, by the factor in `scratch`."""
    K, columns = len(inst.X), estimate.columns
    for k in range(K):
        forward_solve(scratch.A, inst.X[k], scratch.W[k])
    for k in range(K):
        for j in range(k + 1):
            columns.values[g, k, j] = columns.values[g, j, k] = dot(scratch.W[k], scratch.W[j])
        estimate.v[g, k] = columns.values[g, k, k]
    if len(columns.second) > 0:
        for k in range(K):
            transposed_solve(scratch.A, scratch.W[k], scratch.u)
            for a in range(len(scratch.u)):
                scratch.W[k, a] = scratch.u[a]
        for k in range(K):
            for j in range(k + 1):
                columns.second[g, k, j] = columns.second[g, j, k] = dot(scratch.W[k], scratch.W[j])
            estimate.v2[g, k] = columns.second[g, k, k]


@kernel
def refresh_signal(inst: Instance, estimate: Estimate, scratch: Scratch, s: int) -> None:
    """The estimates of signal s, by the factor in `scratch`.                                                (E2)"""
    weighted_sum(inst.X, estimate.M[s], scratch.y)
    forward_solve(scratch.A, scratch.y, scratch.u)
    transposed_solve(scratch.A, scratch.u, scratch.y)
    if all_held(estimate.columns):
        for k in range(len(inst.X)):
            estimate.est[s, k] = long_dot(inst.X[k], scratch.y)
    else:
        refresh_estimates(inst, estimate, scratch, s)


# -- passes over the features of many arms: alone, or with whoever is free -------------------------------------------


def passes_of(shared: bool) -> dict[str, Callable[..., Any]]:
    """The parts that compute widths and estimates of many arms anew; `shared` where several threads may do so."""
    if shared:
        return {"refresh_diagonals": diagonals_together, "refresh_estimates": estimates_together}
    return {"refresh_diagonals": diagonals_alone, "refresh_estimates": estimates_alone}


@bound_in
def refresh_diagonals(inst: Instance, estimate: Estimate, scratch: Scratch, g: int) -> None:
    """The diagonals of all arms, by the inverse of the factor in scratch.B."""
    raise TypeError(UNBOUND)


@bound_in
def refresh_estimates(inst: Instance, estimate: Estimate, scratch: Scratch, s: int) -> None:
    """The estimates of signal s at all arms, by those of the weights in scratch.y."""
    raise TypeError(UNBOUND)


@rare
def diagonals_alone(inst: Instance, estimate: Estimate, scratch: Scratch, g: int) -> None:
    """One stretch after the other."""
    for n in range(image_stretches(inst.X, scratch.W)):
        diagonals_of(inst, estimate, scratch.B, scratch.W, g, n)


@rare
def diagonals_together(inst: Instance, estimate: Estimate, scratch: Scratch, g: int) -> None:
    """With whoever is free, each with room for images of its own."""
    if inst.board[HANDS] == 0:
        diagonals_alone(inst, estimate, scratch, g)
        return
    put_up(inst.board, DIAGONALS, g, 0, image_stretches(inst.X, scratch.W))
    lend_a_hand(inst, estimate, scratch, scratch.W)
    wait_for(inst.board, image_stretches(inst.X, scratch.W))


@rare
def estimates_alone(inst: Instance, estimate: Estimate, scratch: Scratch, s: int) -> None:
    """One stretch after the other."""
    for n in range(stretches(inst.X)):
        multiply_arms(inst.X, scratch.y, estimate.est[s], n)


@rare
def estimates_together(inst: Instance, estimate: Estimate, scratch: Scratch, s: int) -> None:
    """With whoever is free."""
    if inst.board[HANDS] == 0:
        estimates_alone(inst, estimate, scratch, s)
        return
    put_up(inst.board, ESTIMATES, s, 0, stretches(inst.X))
    lend_a_hand(inst, estimate, scratch, scratch.W)
    wait_for(inst.board, stretches(inst.X))


@rare
def lend_a_hand(inst: Instance, estimate: Estimate, scratch: Scratch, images: Matrix) -> None:
    """Takes stretches of the job that is up until none is left, as whoever put it up does and every helper that is
    called; `images` is its own room."""
    board = inst.board
    n = taken(board)
    while n >= 0:
        if board[JOB] == COLUMN:
            fill_stretch(inst, estimate.columns, board[ABOUT], board[PLACE], n)
        elif board[JOB] == DIAGONALS:
            diagonals_of(inst, estimate, scratch.B, images, board[ABOUT], n)
        else:
            multiply_arms(inst.X, scratch.y, estimate.est[board[ABOUT]], n)
        n = taken_after(board)


@thin
def image_stretches(X: Matrix, images: Matrix) -> int:
    """How many stretches the arms are cut into, of as many as there is room for images."""
    return int((X.shape[0] + images.shape[1] - 1) // images.shape[1])


@rare
def diagonals_of(inst: Instance, estimate: Estimate, B: Matrix, images: Matrix, g: int, n: int) -> None:
    """The diagonals of the arms of stretch n: sums of squares, so that nothing cancels.

    Their images fit into `images` and stay at hand; loops go along the arms.
    """
    X, first = inst.X, n * images.shape[1]
    K, d = X.shape
    end = min(first + images.shape[1], K)
    v, fresh = estimate.v[g, first:end], estimate.fresh[g, first:end]
    for k in range(len(v)):
        v[k] = 0.0
    for a in range(d):
        image, whole = images[a], a + 1 - (a + 1) % 4
        for k in range(len(v)):
            image[k] = 0.0
        for b in range(0, whole, 4):  # four at a time, added in the same order as one by one
            f_1, f_2, f_3, f_4 = B[b, a], B[b + 1, a], B[b + 2, a], B[b + 3, a]
            x_1, x_2, x_3, x_4 = X[first:end, b], X[first:end, b + 1], X[first:end, b + 2], X[first:end, b + 3]
            for k in range(len(v)):
                image[k] = (((image[k] + f_1 * x_1[k]) + f_2 * x_2[k]) + f_3 * x_3[k]) + f_4 * x_4[k]
        for b in range(whole, a + 1):
            f_1, x_1 = B[b, a], X[first:end, b]
            for k in range(len(v)):
                image[k] += f_1 * x_1[k]
        for k in range(len(v)):
            v[k] += image[k] * image[k]
    for k in range(len(v)):
        fresh[k] = v[k]
    if len(estimate.v2) > 0:
        second_diagonal_of(estimate.v2[g, first:end], B, images)


@rare
def second_diagonal_of(v2: Vector, B: Matrix, images: Matrix) -> None:
    """|A^-1 x_k|^2 of some arms, by their images under the factor; the last row of `images` is room.            (C2)"""
    d = len(B)
    twice = images[d]
    for k in range(len(v2)):
        v2[k] = 0.0
    for b in range(d):
        for k in range(len(v2)):
            twice[k] = 0.0
        whole = d - (d - b) % 4
        for a in range(b, whole, 4):
            f_1, f_2, f_3, f_4 = B[b, a], B[b, a + 1], B[b, a + 2], B[b, a + 3]
            u_1, u_2, u_3, u_4 = images[a], images[a + 1], images[a + 2], images[a + 3]
            for k in range(len(v2)):
                twice[k] = (((twice[k] + f_1 * u_1[k]) + f_2 * u_2[k]) + f_3 * u_3[k]) + f_4 * u_4[k]
        for a in range(whole, d):
            f_1, u_1 = B[b, a], images[a]
            for k in range(len(v2)):
                twice[k] += f_1 * u_1[k]
        for k in range(len(v2)):
            v2[k] += twice[k] * twice[k]
