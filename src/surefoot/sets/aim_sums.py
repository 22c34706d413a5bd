"""The sums q of aims: d numbers each, one after the other where there are few arms, in tiles where there are many.

A pull asks every aim for two products of its q, and adds a multiple of the arm to it. Of many aims both go along the
aims of a tile, feature by feature, so that the processor takes several at once; and what pulls add waits, as one number
for each aim, until several are written into q at once: a q that is only read costs half of one that is written too.
All else that is done with aims goes one by one or side by side in the same way: `sets.one_by_one`, `sets.side_by_side`.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from surefoot.core.kernel import bound_in, kernel, rare, thin
from surefoot.core.linear import long_dot
from surefoot.core.types import Indices, Matrix, Tensor, Vector

UNBOUND = "it is not said how the sums of aims are held: make the set with surefoot.sets.directional"
NAMES = ("meet", "along_of", "along2_of", "end_pull", "read_sum", "move_sum")  # of the parts that either binds in
TILE = 64  # aims side by side: the products of a tile stay at hand
WAITING = 8  # pulls that wait; each costs every aim a product, and all of them one pass over q less


class Rows(NamedTuple):
    """The sums of few aims."""

    q: Matrix  # (each * room, d) sum of weight * z


class Tiles(NamedTuple):
    """The sums of many aims, without the pulls that wait."""

    q: Tensor  # (each, tiles, d, TILE) sum of weight * z
    step: Tensor  # (each, tiles, WAITING, TILE) what a pull that waits adds of its arm; 0 for aims that began since
    pulled: Matrix  # (WAITING, d) the arms of the pulls that wait
    number: Indices  # (1,) how many wait
    along: Vector  # (tiles * TILE,) room: q . V^-1 x of each aim of one signal
    along2: Vector  # (tiles * TILE,) room: q . V^-2 x
    common: Matrix  # (WAITING, 2) room: the same products of the arms that wait
    room: "Room"


class Room(NamedTuple):
    """Numbers of the aims of a tile, side by side, for `sets.side_by_side` to work in: (TILE,) each."""

    chosen: Indices  # which aims
    square: Vector  # |y|^2 of what they ask about
    common: Vector  # what y has in common with the arm that is pulled
    along: Vector  # q . y
    overlap: Vector  # what the arms that are asked about have in common with it, in V^-1
    overlap2: Vector  # and in V^-2
    weight: Vector
    fit: Vector
    plain: Vector
    information: Vector
    rest: Vector
    rho: Vector  # of the boundary of each; and so the next two
    constant: Vector
    offset: Vector
    mean: Vector  # y . estimate
    below: Vector  # how far y . weights can lie below that
    above: Vector


def new_rows(room: int, each: int, d: int) -> Rows:
    """Nothing summed up yet."""
    return Rows(np.zeros((room * each, d)))


def new_room() -> Room:
    """Zeros."""
    chosen, (square, common, along, overlap, overlap2, weight) = np.zeros(TILE, np.int64), np.zeros((6, TILE))
    fit, plain, information, rest, rho, constant, offset, mean, below, above = np.zeros((10, TILE))
    return Room(
        chosen, square, common, along, overlap, overlap2, weight, fit, plain, information, rest, rho, constant, offset,
        mean, below, above,
    )  # fmt: skip


def new_tiles(room: int, each: int, d: int) -> Tiles:
    """Nothing summed up yet."""
    tiles = -(-room // TILE)
    return Tiles(
        q=np.zeros((each, tiles, d, TILE)), step=np.zeros((each, tiles, WAITING, TILE)), pulled=np.zeros((WAITING, d)),
        number=np.zeros(1, np.int64), along=np.zeros(tiles * TILE), along2=np.zeros(tiles * TILE),
        common=np.zeros((WAITING, 2)),
        room=new_room(),
    )  # fmt: skip


# -- names ------------------------------------------------------------------------------------------------------------


@bound_in
def meet(sums: Any, e: int, active: int, w: Vector, w2: Vector) -> None:
    """Prepares for the products of every aim at work at signal e with w and w2."""
    raise TypeError(UNBOUND)


@bound_in
def along_of(sums: Any, a: int, n: int, w: Vector) -> float:
    """The product of aim n, in row a, with the w that was met."""
    raise TypeError(UNBOUND)


@bound_in
def along2_of(sums: Any, a: int, n: int, w2: Vector) -> float:
    """The product of aim n, in row a, with the w2 that was met."""
    raise TypeError(UNBOUND)


@bound_in
def end_pull(sums: Any, active: Indices, x: Vector) -> None:
    """The pull of x is over: every aim knows its step."""
    raise TypeError(UNBOUND)


@bound_in
def read_sum(sums: Any, e: int, a: int, n: int, q: Vector) -> None:
    """q of aim n at signal e, in row a."""
    raise TypeError(UNBOUND)


@bound_in
def move_sum(sums: Any, e: int, b: int, last: int, a: int, n: int) -> None:
    """q of aim `last` at signal e, in row b, becomes that of aim n, in row a, and its own is empty."""
    raise TypeError(UNBOUND)


# -- few aims ---------------------------------------------------------------------------------------------------------


@thin
def nothing_met(sums: Rows, e: int, active: int, w: Vector, w2: Vector) -> None:
    """Each is asked for when it is needed."""


@thin
def row_along(sums: Rows, a: int, n: int, w: Vector) -> float:
    """The product itself."""
    return long_dot(sums.q[a], w)


@kernel
def add_to_row(sums: Rows, a: int, step: float, x: Vector) -> None:
    """Adds step * x to the aim in row a."""
    q = sums.q[a]
    for c in range(len(x)):
        q[c] += step * x[c]


@thin
def nothing_waits(sums: Rows, active: Indices, x: Vector) -> None:
    """Nothing is left to do."""


@kernel
def read_row(sums: Rows, e: int, a: int, n: int, q: Vector) -> None:
    """The row."""
    for c in range(len(q)):
        q[c] = sums.q[a, c]


@rare
def move_row(sums: Rows, e: int, b: int, last: int, a: int, n: int) -> None:
    """One row in place of the other."""
    for c in range(sums.q.shape[1]):
        sums.q[a, c] = sums.q[b, c]
        sums.q[b, c] = 0.0


ROWS: dict[str, Callable[..., Any]] = dict(
    zip(NAMES, (nothing_met, row_along, row_along, nothing_waits, read_row, move_row), strict=True)
)


# -- many aims --------------------------------------------------------------------------------------------------------


@rare
def meet_tiles(sums: Tiles, e: int, active: int, w: Vector, w2: Vector) -> None:
    """The products of all aims, tile by tile, and then those of what waits."""
    for p in range(sums.number[0]):
        sums.common[p, 0], sums.common[p, 1] = long_dot(sums.pulled[p], w), long_dot(sums.pulled[p], w2)
    for first in range(0, active, TILE):
        end = min(first + TILE, active)
        along, along2 = sums.along[first:end], sums.along2[first:end]
        q, step = sums.q[e, first // TILE], sums.step[e, first // TILE]
        for n in range(len(along)):
            along[n] = along2[n] = 0.0
        whole = len(w) - len(w) % 4
        for c in range(0, whole, 4):
            u_1, u_2, u_3, u_4 = w[c], w[c + 1], w[c + 2], w[c + 3]
            v_1, v_2, v_3, v_4 = w2[c], w2[c + 1], w2[c + 2], w2[c + 3]
            q_1, q_2, q_3, q_4 = q[c], q[c + 1], q[c + 2], q[c + 3]
            for n in range(len(along)):
                along[n] += (u_1 * q_1[n] + u_2 * q_2[n]) + (u_3 * q_3[n] + u_4 * q_4[n])
                along2[n] += (v_1 * q_1[n] + v_2 * q_2[n]) + (v_3 * q_3[n] + v_4 * q_4[n])
        for c in range(whole, len(w)):
            u_1, v_1, q_1 = w[c], w2[c], q[c]
            for n in range(len(along)):
                along[n] += u_1 * q_1[n]
                along2[n] += v_1 * q_1[n]
        for p in range(sums.number[0]):
            u_1, v_1, q_1 = sums.common[p, 0], sums.common[p, 1], step[p]
            for n in range(len(along)):
                along[n] += u_1 * q_1[n]
                along2[n] += v_1 * q_1[n]


@thin
def tile_along(sums: Tiles, a: int, n: int, w: Vector) -> float:
    """What was found when it was met."""
    return float(sums.along[n])


@thin
def tile_along2(sums: Tiles, a: int, n: int, w2: Vector) -> float:
    """What was found when it was met."""
    return float(sums.along2[n])


@thin
def steps_of(sums: Tiles, e: int, first: int) -> Vector:
    """Where the steps of a tile are noted in this pull, of the aims at signal e from `first` on; every aim at work has
    one before the pull ends."""
    steps: Vector = sums.step[e, first // TILE, sums.number[0]]
    return steps


@kernel
def end_waiting(sums: Tiles, active: Indices, x: Vector) -> None:
    """Notes the arm, and writes all pulls that wait into q when there are as many as may be."""
    for c in range(len(x)):
        sums.pulled[sums.number[0], c] = x[c]
    sums.number[0] += 1
    if sums.number[0] == WAITING:
        write_tiles(sums, active)
        sums.number[0] = 0


@rare
def write_tiles(sums: Tiles, active: Indices) -> None:
    """Adds what waits to q, four pulls at a time."""
    for e in range(len(sums.q)):
        for first in range(0, active[e], TILE):
            count, step = min(TILE, active[e] - first), sums.step[e, first // TILE]
            for p in range(0, WAITING, 4):
                s_1, s_2, s_3, s_4 = step[p][:count], step[p + 1][:count], step[p + 2][:count], step[p + 3][:count]
                for c in range(sums.pulled.shape[1]):
                    x_1, x_2, x_3, x_4 = (
                        sums.pulled[p, c], sums.pulled[p + 1, c], sums.pulled[p + 2, c], sums.pulled[p + 3, c],
                    )  # fmt: skip
                    q = sums.q[e, first // TILE, c]
                    for n in range(len(s_1)):
                        q[n] += (x_1 * s_1[n] + x_2 * s_2[n]) + (x_3 * s_3[n] + x_4 * s_4[n])
            for p in range(WAITING):
                for n in range(count):
                    step[p, n] = 0.0


@kernel
def read_tile(sums: Tiles, e: int, a: int, n: int, q: Vector) -> None:
    """q as it is written, and what waits."""
    for c in range(len(q)):
        q[c] = sums.q[e, n // TILE, c, n % TILE]
    for p in range(sums.number[0]):
        step = sums.step[e, n // TILE, p, n % TILE]
        for c in range(len(q)):
            q[c] += step * sums.pulled[p, c]


@rare
def move_in_tiles(sums: Tiles, e: int, b: int, last: int, a: int, n: int) -> None:
    """What is written, and what waits."""
    for c in range(sums.pulled.shape[1]):
        sums.q[e, n // TILE, c, n % TILE] = sums.q[e, last // TILE, c, last % TILE]
        sums.q[e, last // TILE, c, last % TILE] = 0.0
    for p in range(WAITING):
        sums.step[e, n // TILE, p, n % TILE] = sums.step[e, last // TILE, p, last % TILE]
        sums.step[e, last // TILE, p, last % TILE] = 0.0


TILES: dict[str, Callable[..., Any]] = dict(
    zip(NAMES, (meet_tiles, tile_along, tile_along2, end_waiting, read_tile, move_in_tiles), strict=True)
)
