"""The sums of aims in rows and in tiles are the same sums, whenever an aim is opened and however many pulls wait."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from surefoot.core.compiler import compiled
from surefoot.core.kernel import bound_in, kernel, plain
from surefoot.core.types import Indices, Matrix, Vector
from surefoot.sets.aim_sums import (
    ROWS,
    TILE,
    TILES,
    WAITING,
    add_to_row,
    along2_of,
    along_of,
    end_pull,
    meet,
    move_sum,
    new_rows,
    new_tiles,
    read_sum,
    steps_of,
)

EACH = 2


@bound_in
def note_step(sums: Any, e: int, n: int, step: float, x: Vector) -> None:
    """Adds step * x to aim n at signal e."""


@kernel
def note_in_row(sums: Any, e: int, n: int, step: float, x: Vector) -> None:
    """At once."""
    add_to_row(sums, e * (len(sums.q) // EACH) + n, step, x)


@kernel
def note_in_tile(sums: Any, e: int, n: int, step: float, x: Vector) -> None:
    """When the pull ends."""
    steps_of(sums, e, n - n % TILE)[n % TILE] = step


IN_ROWS, IN_TILES = {**ROWS, "note_step": note_in_row}, {**TILES, "note_step": note_in_tile}


@kernel
def gone_through(
    sums: Any, opened: Indices, active: Indices, steps: Matrix, arms: Matrix, w: Vector, w2: Vector, met: Matrix,
    met2: Matrix,
) -> None:  # fmt: skip
    """Pulls one after the other, each with its steps for the aims that are open by then; what was met before each."""
    room = steps.shape[1] // EACH
    for t in range(len(arms)):
        for e in range(EACH):
            meet(sums, e, opened[t], w, w2)
            for n in range(opened[t]):
                a = e * room + n
                met[t, a], met2[t, a] = along_of(sums, a, n, w), along2_of(sums, a, n, w2)
                note_step(sums, e, n, steps[t, a], arms[t])
        for e in range(EACH):
            active[e] = opened[t]
        end_pull(sums, active, arms[t])


@kernel
def read_all(sums: Any, opened: int, room: int, out: Matrix) -> None:
    """Every sum that is open."""
    for e in range(EACH):
        for n in range(opened):
            read_sum(sums, e, e * room + n, n, out[e * room + n])


def drawn(room: int, pulls: int, d: int) -> tuple[Any, ...]:
    """Aims that are opened on the way, their steps, and the arms."""
    rng = np.random.default_rng(room + pulls + d)
    opened = np.minimum(np.cumsum(rng.integers(0, max(2, 2 * room // pulls), pulls)), room)
    steps = rng.standard_normal((pulls, EACH * room))
    return opened, steps, rng.standard_normal((pulls, d)), rng.standard_normal(d), rng.standard_normal(d)


@pytest.mark.parametrize("run", [plain, compiled])
@pytest.mark.parametrize("form", ["rows", "tiles"])
@pytest.mark.parametrize(
    ("room", "pulls", "d"), [(3, 2, 1), (TILE, 3 * WAITING, 4), (2 * TILE + 5, 2 * WAITING + 3, 7)]
)
def test_sums_are_their_definitions(run: Callable[..., Any], form: str, room: int, pulls: int, d: int) -> None:
    opened, steps, arms, w, w2 = drawn(room, pulls, d)
    made, parts = (new_rows, IN_ROWS) if form == "rows" else (new_tiles, IN_TILES)
    names = (form,) if run is compiled else ()
    sums, met, met2 = made(room, EACH, d), np.zeros(steps.shape), np.zeros(steps.shape)
    run(gone_through, parts, *names)(sums, opened, np.zeros(EACH, np.int64), steps, arms, w, w2, met, met2)
    taken = steps * (np.arange(EACH * room) % room < opened[:, None])
    before = np.cumsum(np.einsum("ta,td->tad", taken, arms), axis=0) - np.einsum("ta,td->tad", taken, arms)
    is_open = np.arange(EACH * room) % room < opened[:, None]
    np.testing.assert_allclose(met, (before @ w) * is_open, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(met2, (before @ w2) * is_open, rtol=1e-9, atol=1e-12)
    found = np.zeros((EACH * room, d))
    run(read_all, parts, *names)(sums, int(opened[-1]), room, found)
    np.testing.assert_allclose(found, taken.T @ arms, rtol=1e-9, atol=1e-12)
    assert opened[-1] > 0


def test_pulls_wait_in_tiles_until_there_are_enough() -> None:
    """q is written once for several pulls, and what it was before is still read right."""
    opened, steps, arms, w, w2 = drawn(5, WAITING + 1, 3)
    sums, met = new_tiles(5, EACH, 3), np.zeros((1, 10))
    go, active = plain(gone_through, IN_TILES), np.zeros(EACH, np.int64)
    for t in range(WAITING + 1):
        go(sums, opened[t : t + 1], active, steps[t : t + 1], arms[t : t + 1], w, w2, met, met.copy())
        assert sums.number[0] == (t + 1) % WAITING
        assert sums.q.any() == (t + 1 >= WAITING)


@kernel
def moved(sums: Any, room: int, last: int, n: int) -> None:
    """Of every signal the last sum in place of another."""
    for e in range(EACH):
        move_sum(sums, e, e * room + last, last, e * room + n, n)


@pytest.mark.parametrize("form", ["rows", "tiles"])
@pytest.mark.parametrize("n", [0, TILE + 2, TILE + 4], ids=["another tile", "the same", "itself"])
def test_a_sum_that_is_moved_is_read_in_its_new_place_and_gone_from_the_old(form: str, n: int) -> None:
    """With what is written and with what waits."""
    room, pulls, last = TILE + 5, WAITING + 3, TILE + 4
    opened, steps, arms, w, w2 = drawn(room, pulls, 4)
    opened[:] = room
    made, parts = (new_rows, IN_ROWS) if form == "rows" else (new_tiles, IN_TILES)
    sums, met, found = made(room, EACH, 4), np.zeros(steps.shape), np.zeros((EACH * room, 4))
    plain(gone_through, parts)(sums, opened, np.zeros(EACH, np.int64), steps, arms, w, w2, met, met.copy())
    plain(moved, parts)(sums, room, last, n)
    plain(read_all, parts)(sums, room, room, found)
    wanted = (steps.T @ arms).reshape(EACH, room, 4)
    wanted[:, n], wanted[:, last] = wanted[:, last].copy(), 0.0
    np.testing.assert_allclose(found.reshape(EACH, room, 4), wanted, rtol=1e-9, atol=1e-12)
