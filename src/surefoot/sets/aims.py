"""Aims: weighted sums of noise, each chosen to answer one question.                                        (C5)

An aim takes a weight h_s for every pull before its result is known. With q = sum h_s z_s and information Q = sum h_s^2,
the noise in sum h_s y_s keeps to a boundary in one dimension (C3), however many dimensions the features have; what the
estimate does not explain of that sum is its `rest`. An aim may be opened late: until then its weights are 0, and
whether it is opened may depend on all that is known by then. So only the questions that come up cost anything, and a
problem of a million arms has room for some thousands of aims.

An aim is kept as three vectors of d numbers: q, V^-1 q, and V^-1 x of the arm that it asks about.
"""

from math import sqrt
from typing import NamedTuple

import numpy as np

from surefoot.core.kernel import kernel, rare, thin
from surefoot.core.linear import dot, forward_solve, transposed_solve
from surefoot.core.types import Indices, Matrix, Vector

PATIENCE = 4.0  # how much faster than by mere growth a stray aim is led back


class Aims(NamedTuple):
    """Some aims: `each` of them for every target that is opened, in the order of opening."""

    place: Indices  # (targets,) when the target was opened, counted from 1; 0 while it is not
    target: Indices  # (room,) the targets in the order of opening
    opened: Indices  # (1,) how many are open
    q: Matrix  # (room * each, d) sum of weight * z
    solved: Matrix  # (room * each, d) V^-1 q: the aim's weights regressed on the pulls
    image: Matrix  # (room * each, d) V^-1 x of the target's arm; zeros where the target is no arm
    information: Vector  # (room * each,) sum of squared weights
    value: Vector  # (room * each,) sum of weight * observation
    rest: Vector  # (room * each,) that sum less q . estimate: what the estimate does not explain
    weight: Vector  # (room * each,) weights in the pull that is being learned


def new_aims(targets: int, room: int, each: int, d: int) -> Aims:
    """Nothing open yet."""
    rows = room * each
    return Aims(
        place=np.zeros(targets, np.int64), target=np.zeros(room, np.int64), opened=np.zeros(1, np.int64),
        q=np.zeros((rows, d)), solved=np.zeros((rows, d)), image=np.zeros((rows, d)), information=np.zeros(rows),
        value=np.zeros(rows), rest=np.zeros(rows), weight=np.zeros(rows),
    )  # fmt: skip


@thin
def is_open(aims: Aims, target: int) -> bool:
    """Whether the target is asked about."""
    return bool(aims.place[target] > 0)


@rare
def open_aim(aims: Aims, target: int) -> int:
    """The place of a target that is opened now; -1 where there is no room, or it was open before."""
    n: int = aims.opened[0]
    if aims.place[target] > 0 or n >= len(aims.target):
        return -1
    aims.target[n], aims.place[target], aims.opened[0] = target, n + 1, n + 1
    return n


@kernel
def weight_of(
    aims: Aims, a: int, gamma: float, per_round: float, square: float, overlap: float, along: float, expected: float
) -> float:
    """The weight of aim a at y: square = |y|^2, overlap = x . y, along = q . y, expected = z . q, all in V^-1.  (C5)

    The plain weight is that of least squares, scaled so that q grows with the information about y. The correction
    pulls q back towards y; it is bounded, since early on neither is known well.
    """
    if not square > 1e-300:
        return 0.0
    plain = gamma * overlap / square
    correction: float = PATIENCE * (max(along, 0.0) * plain - expected)
    if abs(correction) > abs(plain):  # mostly not, and a root less to take
        largest = abs(plain) + sqrt(aims.information[a] * per_round)
        correction = min(max(correction, -largest), largest)
    return plain + correction


@kernel
def take_weight(
    aims: Aims, a: int, gamma: float, shrink: float, unexplained: float, observed: float, x: Vector, image: Vector,
    own: float,
) -> None:  # fmt: skip
    """Aim a after a pull at level gamma, by its weight; x, its image V^-1 x before the pull, and the overlap of x with
    the aim's own arm belong to the arm that was pulled."""
    weight, q, solved, mine = aims.weight[a], aims.q[a], aims.solved[a], aims.image[a]
    surprise = weight - gamma * dot(x, solved)
    aims.information[a] += weight * weight
    aims.rest[a] += surprise * unexplained
    aims.value[a] += weight * observed
    step, change, turn = gamma * weight, gamma * surprise * shrink, gamma * gamma * shrink * own
    for c in range(len(x)):
        q[c] += step * x[c]
        solved[c] += change * image[c]
        mine[c] -= turn * image[c]


@kernel
def refresh_aim(aims: Aims, a: int, C: Matrix, u: Vector, b: Vector) -> None:
    """Aim a anew, by the factor C of V; b is the sum of z * observation, and u room for d numbers."""
    forward_solve(C, aims.q[a], u)
    transposed_solve(C, u, aims.solved[a])
    aims.rest[a] = aims.value[a] - dot(aims.solved[a], b)


@kernel
def refresh_image(aims: Aims, a: int, C: Matrix, u: Vector, x: Vector) -> None:
    """The image V^-1 x of the aim's own arm."""
    forward_solve(C, x, u)
    transposed_solve(C, u, aims.image[a])
