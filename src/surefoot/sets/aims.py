"""Aims: weighted sums of noise, each chosen to answer one question.                                        (C5)

An aim takes a weight h_s for every pull before its result is known. With q = sum h_s z_s and information Q = sum h_s^2,
the noise in sum h_s y_s keeps to a boundary in one dimension (C3), however many dimensions the features have; what the
estimate does not explain of that sum is its `rest`. An aim may be opened late: until then its weights are 0, and
whether it is opened may depend on all that is known by then. So only the questions that come up cost anything, and a
problem of a million arms has room for some thousands of aims. One whose question is settled for good is closed: its
place is taken by the last, so that those at work lie side by side.

Of an aim only q has d numbers. All else that is asked of it are products such as x . V^-1 q, which a pull changes by
what x and q have in common with the arm that is pulled: two inner products of q a round, whatever is asked.
"""

from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from surefoot.core.kernel import kernel, rare, thin
from surefoot.core.linear import dot, forward_solve, transposed_solve
from surefoot.core.types import Indices, Matrix, Vector
from surefoot.sets.aim_sums import move_sum, new_rows, new_tiles, read_sum

PATIENCE = 4.0  # how much faster than by mere growth a stray aim is led back


class Aims(NamedTuple):
    """Some aims: `each` of them for every target that is opened. Those at work come first, at each signal."""

    order: Indices  # (targets,) when the target was opened, counted from 1; 0 while it is not
    opened: Indices  # (1,) how many targets were opened
    active: Indices  # (each,) how many aims are at work
    sums: Any  # q = sum of weight * z of each; see sets.aim_sums
    target: Indices  # (each, room) what the aim asks about
    turn: Indices  # (each, room) when that was opened, counted from 0
    # (each * room,), those at the first signal first:
    own: Vector  # x . V^-1 q of the target's arm, and 0 where the target is no arm
    own2: Vector  # x . V^-2 q of it
    rival: Vector  # x . V^-1 q of the arm that it is compared with; nothing where it is compared with none
    rival2: Vector  # x . V^-2 q of that
    fit: Vector  # q . V^-1 q
    fit2: Vector  # q . V^-2 q
    information: Vector  # sum of squared weights
    value: Vector  # sum of weight * observation
    rest: Vector  # that sum less q . estimate: what the estimate does not explain


def new_aims(targets: int, room: int, each: int, d: int, many: bool, compared: bool) -> Aims:
    """Nothing open yet; `many` says in which form sums are held, `compared` whether with another arm."""
    sums = new_tiles if many else new_rows
    target, turn = np.zeros((each, room), np.int64), np.zeros((each, room), np.int64)
    own, own2, fit, fit2, information, value, rest = (np.zeros(each * room) for _ in range(7))
    rival, rival2 = (np.zeros(each * room if compared else 0) for _ in range(2))
    return Aims(
        np.zeros(targets, np.int64), np.zeros(1, np.int64), np.zeros(each, np.int64), sums(room, each, d), target, turn,
        own, own2, rival, rival2, fit, fit2, information, value, rest,
    )  # fmt: skip


@thin
def row_of(aims: Aims, e: int, n: int) -> int:
    """Where the numbers of the aim in place n at signal e are."""
    room: int = aims.target.shape[1]
    return e * room + n


@thin
def is_open(aims: Aims, target: int) -> bool:
    """Whether the target is asked about, or was."""
    return bool(aims.order[target] > 0)


@rare
def open_aim(aims: Aims, target: int) -> None:
    """Opens the target, unless there is no room or it was opened before."""
    turn = aims.opened[0]
    if aims.order[target] > 0 or turn >= aims.target.shape[1]:
        return
    aims.order[target], aims.opened[0] = turn + 1, turn + 1
    for e in range(len(aims.active)):
        begin_aim(aims, e, turn, target)


@rare
def begin_aim(aims: Aims, e: int, turn: int, target: int) -> None:
    """An aim at this target of signal e, behind those that are at work."""
    n = aims.active[e]
    aims.target[e, n], aims.turn[e, n] = target, turn
    aims.active[e] = n + 1


@rare
def close_aim(aims: Aims, e: int, n: int) -> None:
    """The aim in place n at signal e, which is compared with none, is at work no more: the last takes its place."""
    last = aims.active[e] - 1
    a, b = row_of(aims, e, n), row_of(aims, e, last)
    aims.target[e, n], aims.turn[e, n] = aims.target[e, last], aims.turn[e, last]
    move(aims.own, b, a)
    move(aims.own2, b, a)
    move(aims.fit, b, a)
    move(aims.fit2, b, a)
    move(aims.information, b, a)
    move(aims.value, b, a)
    move(aims.rest, b, a)
    move_sum(aims.sums, e, b, last, a, n)
    aims.active[e] = last


@thin
def move(numbers: Vector, b: int, a: int) -> None:
    """Number b in place a, and 0 in its own."""
    numbers[a] = numbers[b]
    numbers[b] = 0.0


@kernel
def weight_of(
    information: float, gamma: float, per_round: float, square: float, overlap: float, along: float, met: float
) -> float:  # fmt: skip
    """The weight of an aim at y: square = |y|^2, overlap = x . y, along = q . y and met = q . x, all in V^-1.   (C5)

    The plain weight is that of least squares, scaled so that q grows with the information about y. The correction
    pulls q back towards y; it is bounded, since early on neither is known well.
    """
    if not square > 1e-300:
        return 0.0
    plain = gamma * overlap / square if overlap != 0.0 else 0.0  # what a GPU would be slow to find out
    correction: float = PATIENCE * (max(along, 0.0) * plain - gamma * met)
    if abs(correction) > abs(plain):  # mostly not, and a root less to take
        largest = abs(plain) + sqrt(information * per_round)
        correction = min(max(correction, -largest), largest)
    return plain + correction


class Met(NamedTuple):
    """A pull, as all aims of a signal see it. Of an aim beside it, along = q . V^-1 x and along2 = q . V^-2 x."""

    gamma: float
    v: float  # x . V^-1 x of its arm
    v2: float  # x . V^-2 x of it
    share: float  # gamma^2 / (1 + gamma^2 v): what V^-1 loses along V^-1 x
    observed: float
    unexplained: float  # what the estimate did not expect of the result, times 1 / (1 + gamma^2 v)


class Moved(NamedTuple):
    """How the products of an aim with other arms change by a pull."""

    step: float
    shift: float


@kernel
def moved_by(met: Met, weight: float, before: float, before2: float) -> Moved:
    """How the products of an aim move by the pull, in which it takes this weight; the other two are its along and
    along2 before it."""
    step = met.gamma * weight
    now, now2 = before + step * met.v, before2 + step * met.v2  # with what the pull adds to q
    return Moved(step - met.share * now, met.share * (now2 - met.share * met.v2 * now))


@thin
def summed(met: Met, weight: float, before: float, value: float, rest: float) -> tuple[float, float]:
    """value and rest after the pull."""
    return value + weight * met.observed, rest + (weight - met.gamma * before) * met.unexplained


@kernel
def fitted(met: Met, weight: float, before: float, before2: float, fit: float, fit2: float) -> tuple[float, float]:
    """fit and fit2 after the pull."""
    step = met.gamma * weight
    now, now2 = before + step * met.v, before2 + step * met.v2
    return (
        fit + (step * (before + now) - met.share * now * now),
        fit2 + (step * (before2 + now2) + met.share * now * (met.share * met.v2 * now - 2.0 * now2)),
    )


@thin
def turned(product: float, moved: Moved, overlap: float) -> float:
    """x_b . V^-1 q after the pull; overlap = x_b . V^-1 x before it."""
    return product + overlap * moved.step


@thin
def turned2(product: float, moved: Moved, overlap: float, overlap2: float) -> float:
    """x_b . V^-2 q after the pull; overlap2 = x_b . V^-2 x before it."""
    return product + overlap2 * moved.step - overlap * moved.shift


@kernel
def refresh_aim(aims: Aims, e: int, n: int, C: Matrix, u: Vector, w: Vector, b: Vector) -> None:
    """Aim n at signal e anew, by the factor C of V; b is the sum of z * observation. V^-1 q is left in w, and u is
    room."""
    a = row_of(aims, e, n)
    read_sum(aims.sums, e, a, n, w)
    forward_solve(C, w, u)
    transposed_solve(C, u, w)
    aims.rest[a] = aims.value[a] - dot(w, b)
    aims.fit[a], aims.fit2[a] = dot(u, u), dot(w, w)
