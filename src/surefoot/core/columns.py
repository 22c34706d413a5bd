"""Columns of X A^-1 X^T: those of all arms where there are few, and otherwise those of the arms in question.

A round asks for the columns of leader, challenger and the arm that is pulled, and most of them were asked for in the
rounds before. So of many arms only a few columns are held, each kept in step with every pull in O(K); one that
is missed is computed from A^-1 in O(K d), and takes the place of the one that nobody has asked for longest. A^-1 itself
learns of the pulls when it is asked.

Where a regularisation fades, the columns of X A^-2 X^T are held beside them.                                (C2)
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from surefoot.core.crew import HANDS, put_up, taken, taken_after, wait_for
from surefoot.core.kernel import bound_in, kernel, rare, thin
from surefoot.core.linear import STRETCH, dot, multiply_arms, multiply_arms_twice, stretches
from surefoot.core.types import Indices, Instance, Matrix, Tensor, Vector

UNBOUND = "it is not said whether all columns are held: run it through core.loop"
MANY = 65  # arms: from here on a few columns take half the time of all, or less (benchmarks/forms.py)
FEW = 8  # columns of many arms: each costs time in every round
LARGE = 4096  # arms: from here on columns that nobody asks for are given up
UNUSED = 4  # times the features: after so many questions about others that is done; a round has about four
COLUMN = 1  # a job for several threads
WAITING = 64  # arms whose pulls may wait before A^-1 learns of them


class Columns(NamedTuple):
    """The columns that are held for each Gram matrix."""

    values: Tensor  # (g, C, K) x_a . A^-1 x_k of the arm k that it belongs to, for every arm a
    second: Tensor  # (f, C, K) x_a . A^-2 x_k; f = g where a regularisation fades, and 0 where none does
    arm: Indices  # (g, C) 1 + the arm k; 0 for nobody's. Where all are held, column k is arm k's.
    used: Indices  # (g, C) when it was asked for last
    clock: Indices  # (g,) how often any was
    missed: Indices  # (g,) how often one was computed
    inverse: Tensor  # (i, d, d) A^-1 without the pulls that wait; i = 0 where nobody needs it
    waiting: Indices  # (i, W) the arms of pulls that wait; nothing where they never do
    information: Matrix  # (i, W) their sums of gamma^2
    number: Indices  # (i,) how many arms wait
    w: Vector  # (d,) room
    w2: Vector  # (d,) room


def are_many(K: int) -> bool:
    """Whether a few columns are held of so many arms, and not all."""
    return K >= MANY


def columns_of(few: bool, shared: bool) -> dict[str, Callable[..., Any]]:
    """The parts that one form or the other binds into the loops; `shared` where several threads may fill a column."""
    form: dict[str, Callable[..., Any]]
    form = {"all_held": no, "place_of": fetched} if few else {"all_held": yes, "place_of": own_place}
    return {**form, "fill_column": fill_together if shared else fill_alone}


def new_columns(K: int, d: int, grams: int, fades: bool, few: bool) -> Columns:
    """Columns of zeros for all arms, or for a few."""
    count, second, inverses = min(FEW, K) if few else K, grams if fades else 0, grams if fades or few else 0
    lists = inverses if few and not fades else 0  # where A^-1 is asked for in every round none waits
    return Columns(
        values=np.zeros((grams, count, K)), second=np.zeros((second, count, K)),
        arm=np.zeros((grams, count), np.int64), used=np.zeros((grams, count), np.int64),
        clock=np.zeros(grams, np.int64), missed=np.zeros(grams, np.int64), inverse=np.zeros((inverses, d, d)),
        waiting=np.zeros((lists, WAITING), np.int64), information=np.zeros((lists, WAITING)),
        number=np.zeros(inverses, np.int64), w=np.zeros(d), w2=np.zeros(d),
    )  # fmt: skip


# -- two forms --------------------------------------------------------------------------------------------------------
# Which one is bound into a loop with the policy, so that compiled code for few arms holds nothing of the other.


@bound_in
def all_held(columns: Columns) -> bool:
    """Whether every arm has its column."""
    raise TypeError(UNBOUND)


@bound_in
def place_of(inst: Instance, columns: Columns, v: Matrix, v2: Matrix, g: int, k: int) -> int:
    """Where the column of arm k is, which is computed if it is not held; v and v2 are the diagonals."""
    raise TypeError(UNBOUND)


@thin
def yes(columns: Columns) -> bool:
    """All columns are held."""
    return True


@thin
def no(columns: Columns) -> bool:
    """Only a few columns are held."""
    return False


@thin
def own_place(inst: Instance, columns: Columns, v: Matrix, v2: Matrix, g: int, k: int) -> int:
    """Its own place, where all are held."""
    return k


@rare
def fetched(inst: Instance, columns: Columns, v: Matrix, v2: Matrix, g: int, k: int) -> int:
    """The place of the column of arm k, which is computed if it is not held, in place of the one longest unused."""
    columns.clock[g] += 1
    place, oldest = -1, 0
    for c in range(columns.arm.shape[1]):
        place = c if columns.arm[g, c] == k + 1 else place
        oldest = c if columns.used[g, c] < columns.used[g, oldest] else oldest
    if place < 0:
        place = oldest
        columns.missed[g] += 1
        columns.arm[g, place] = k + 1
        compute_column(inst, columns, v, v2, g, k, place)
    columns.used[g, place] = columns.clock[g]
    return place


@rare
def compute_column(inst: Instance, columns: Columns, v: Matrix, v2: Matrix, g: int, k: int, place: int) -> None:
    """The column of arm k from A^-1. Arms equal to k get the entry of the diagonal to the last digit, as k does: the
    distance between equal arms is 0, and not what rounding leaves of it."""
    image_of(inst, columns, g, k, columns.w)
    if len(columns.second) > 0:
        multiply(columns.inverse[g], columns.w, columns.w2)
    fill_column(inst, columns, g, place)
    if len(columns.second) > 0:
        even_out(v2[g], k, columns.second[g, place])
    even_out(v[g], k, columns.values[g, place])


@bound_in
def fill_column(inst: Instance, columns: Columns, g: int, place: int) -> None:
    """The products of all arms with the images in columns.w and columns.w2, into the column in that place."""
    raise TypeError(UNBOUND)


@rare
def fill_alone(inst: Instance, columns: Columns, g: int, place: int) -> None:
    """One stretch after the other."""
    for n in range(stretches(inst.X)):
        fill_stretch(inst, columns, g, place, n)


@rare
def fill_together(inst: Instance, columns: Columns, g: int, place: int) -> None:
    """With whoever is free."""
    if inst.board[HANDS] == 0:
        fill_alone(inst, columns, g, place)
        return
    put_up(inst.board, COLUMN, g, place, stretches(inst.X))
    n = taken(inst.board)
    while n >= 0:
        fill_stretch(inst, columns, g, place, n)
        n = taken_after(inst.board)
    wait_for(inst.board, stretches(inst.X))


@kernel
def fill_stretch(inst: Instance, columns: Columns, g: int, place: int, n: int) -> None:
    """The arms of stretch n."""
    if len(columns.second) > 0:
        multiply_arms_twice(inst.X, columns.w, columns.w2, columns.values[g, place], columns.second[g, place], n)
    else:
        multiply_arms(inst.X, columns.w, columns.values[g, place], n)


@rare
def even_out(diagonal: Vector, k: int, out: Vector) -> None:
    """Gives those arms the diagonal's entry of arm k whose product with its image is the same as its own."""
    own = out[k]
    for first in range(0, len(out), STRETCH):
        part, alike = out[first : min(first + STRETCH, len(out))], 0
        for a in range(len(part)):  # most stretches have none, and to look at the diagonal too takes longer
            alike += 1 if part[a] == own else 0
        if alike > 0:
            for a in range(len(part)):
                if part[a] == own and diagonal[first + a] == diagonal[k]:
                    part[a] = diagonal[k]


@kernel
def image_of(inst: Instance, columns: Columns, g: int, k: int, out: Vector) -> None:
    """A^-1 x_k."""
    if columns.number[g] > 0:
        learn_waiting(inst, columns, g)
    multiply(columns.inverse[g], inst.X[k], out)


@kernel
def multiply(A: Matrix, x: Vector, out: Vector) -> None:
    """A x for a symmetric A, row by row, so that the processor can take several entries at once."""
    for a in range(len(x)):
        out[a] = 0.0
    for b in range(len(x)):
        row, factor = A[b], x[b]
        for a in range(len(x)):
            out[a] += factor * row[a]


# -- pulls ------------------------------------------------------------------------------------------------------------


@kernel
def turn_columns(columns: Columns, g: int, u: Vector, u2: Vector, weight: float, own2: float) -> None:
    """Every column after a pull, `weight` = gamma^2 / (1 + gamma^2 v_k) and u its column before it.

    u2 is its second column and own2 = |A^-1 x_k|^2, where these are held.
    """
    K = len(u)
    for c in range(columns.values.shape[1]):
        arm = c if all_held(columns) else still_held(columns, g, c)
        if arm >= 0:
            factor, values = weight * u[arm], columns.values[g, c]
            for a in range(K):
                values[a] -= factor * u[a]
            if len(columns.second) > 0:
                along, across, second = weight * u2[arm] - weight * weight * own2 * u[arm], factor, columns.second[g, c]
                for a in range(K):
                    second[a] -= along * u[a] + across * u2[a]


@kernel
def still_held(columns: Columns, g: int, c: int) -> int:
    """The arm of column c, or -1 if it is nobody's. Of very many arms, one that nobody asks for is given up when it has
    cost as much as it takes to compute it anew."""
    if columns.values.shape[2] >= LARGE and columns.clock[g] - columns.used[g, c] > UNUSED * len(columns.w):
        columns.arm[g, c] = 0
    return int(columns.arm[g, c]) - 1


@kernel
def tell_inverse(inst: Instance, columns: Columns, g: int, k: int, information: float) -> None:
    """A^-1 after a pull of arm k, if anybody needs it: at once where it is asked for in every round, else later."""
    if len(columns.second) > 0:
        turn_inverse(columns.inverse[g], inst.X[k], information, columns.w)
    elif len(columns.inverse) > 0:
        let_wait(inst, columns, g, k, information)


@rare
def let_wait(inst: Instance, columns: Columns, g: int, k: int, information: float) -> None:
    """Notes a pull of arm k for A^-1."""
    for p in range(columns.number[g]):
        if columns.waiting[g, p] == k:
            columns.information[g, p] += information
            return
    if columns.number[g] == columns.waiting.shape[1]:
        learn_waiting(inst, columns, g)
    columns.waiting[g, columns.number[g]] = k
    columns.information[g, columns.number[g]] = information
    columns.number[g] += 1


@rare
def learn_waiting(inst: Instance, columns: Columns, g: int) -> None:
    """A^-1 with the pulls that waited."""
    for p in range(columns.number[g]):
        turn_inverse(columns.inverse[g], inst.X[columns.waiting[g, p]], columns.information[g, p], columns.w2)
    columns.number[g] = 0


@kernel
def turn_inverse(inverse: Matrix, x: Vector, information: float, w: Vector) -> None:
    """A^-1 with so much information more about x; w is room.                                    (Sherman-Morrison)"""
    multiply(inverse, x, w)
    factor = information / (1.0 + information * dot(x, w))
    for a in range(len(w)):
        row, share = inverse[a], factor * w[a]
        for b in range(len(w)):
            row[b] -= share * w[b]


@rare
def forget_columns(columns: Columns, g: int) -> None:
    """Columns that are to be computed anew when they are asked for, and no pull waits."""
    for c in range(columns.arm.shape[1]):
        columns.arm[g, c] = columns.used[g, c] = 0
    columns.clock[g] = 0
    if len(columns.inverse) > 0:
        columns.number[g] = 0
