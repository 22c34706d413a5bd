"""Where the arrays of a run lie on a device, as functions that a kernel calls to get at them.

What all runs read lies in one block of 64-bit words; what a run leaves behind is one row of a table; the state of a run
is its thread's own, in arrays of sizes that the compiler knows, so that it keeps them in registers and in the nearest
cache. A run that pauses is set aside in a second table. Each function exists twice: in plain Python, here, for
numba-cuda's simulator, and as instructions for the device (`device_instructions`).
"""

from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple

import numpy as np

from surefoot.core.layout import as_words, leaves, side_by_side
from surefoot.core.types import Indices

WORD = 8  # bytes
# Words of a run in the memory that a block shares. What they leave of it is the nearest cache, which holds the rest: so
# many let 384 threads with a small state onto a multiprocessor beside a large cache, or 256 with a larger state.
NEAR_OF_SMALL, MOST_NEAR = 53, 109
SMALL = 72  # words that a small state wishes for at most
MOST_CONSTANTS = 192  # words that all runs read, in the same memory: what 256 threads leave of it
# What is read at places that only the round knows. Of the sets that is all that has a number for each arm, and of that
# the following come last: they are read early enough, or little waits for them.
NEAR = {"columns": ("values", "second"), "estimate": ("v", "v2", "est"), "levels": ("low", "high")}
LAST = ("q", "order", "value", "turn")


class Access(NamedTuple):
    """How the arrays of one kernel are reached."""

    brought: Any  # (words) -> where they are read: all threads of a block bring them near, if they fit
    shared: Any  # (words) -> the tuples that all runs read
    own: Any  # () -> the tuples of arrays that the thread writes into
    row: Any  # (table, rows, i) -> row i of the table of results
    empty: Any  # (state) -> None: zeros in every array of it
    save: Any  # (saved, rows, i, tuples) -> None: all of it, set aside as row i
    load: Any  # (saved, rows, i, tuples) -> None: back again


def packed(tree: Any) -> Indices:
    """Every number in nested tuples, in order, as 64-bit words."""
    return np.concatenate([words_of(in_rows(leaf).reshape(-1)) for leaf in leaves(tree)])


def in_rows(leaf: Any) -> Any:
    """The leaf as an array. A kernel finds the entries of one row after the other, and would take others for them."""
    array = np.asarray(leaf)
    if not array.flags.c_contiguous:
        raise TypeError(f"a kernel for a device reads arrays row by row, and one of {array.shape} lies otherwise")
    return array


def words_of(numbers: Any) -> Indices:
    """The bits of numbers of 64 bits each; flags take a word as well."""
    wide = numbers.astype(np.int64) if numbers.dtype == np.bool_ else numbers
    if wide.dtype.itemsize != WORD:
        raise TypeError(f"a kernel for a device reads numbers of 64 bits, and not {wide.dtype}")
    found: Indices = wide.view(np.int64)
    return found


def starts_of(tree: Any) -> list[int]:
    """Where each leaf begins in a block of words."""
    sizes = [prod(np.shape(leaf)) for leaf in leaves(tree)]
    return [sum(sizes[:i]) for i in range(len(sizes))]


def map_leaves(tree: Any, change: Callable[[Any], Any]) -> Any:
    """The same tuples with every leaf changed, in order."""
    if not isinstance(tree, tuple):
        return change(tree)
    fields = [map_leaves(each, change) for each in tree]
    return type(tree)(*fields) if hasattr(tree, "_fields") else tuple(fields)


def near_arrays(state: Any, work: Any) -> list[Any]:
    """The arrays of a run that lie in the memory which a block shares, as far as there is room.

    They are read at places that only the round knows, an arm or an aim, so they cannot be registers; what the compiler
    may keep in registers is left to it.
    """
    room = near_room(state, work)
    found: list[Any] = []
    for leaf in wished_near(state, work):
        if 0 < leaf.size <= room - sum(each.size for each in found):
            found.append(leaf)
    return found


def wished_near(state: Any, work: Any) -> list[Any]:
    """The arrays that would be near if there were room for all, the most important first."""
    part_of = {"columns": state.estimate.columns, "estimate": state.estimate, "levels": state.levels}
    wished = [getattr(part_of[part], name, None) for part, names in NEAR.items() for name in names]
    K, remembered = len(state.levels.low), named_arrays(state.sets)
    of_arms = [(name, leaf) for name, leaf in remembered if leaf.size and max(leaf.shape) >= K]
    if any(name == "target" for name, _ in of_arms):  # aims look up the lead of the arm that they ask about
        wished.append(work.bounds.lead)
    wished += [leaf for name, leaf in of_arms if name not in LAST]
    wished.append(state.estimate.N)
    wished += [leaf for last in LAST for name, leaf in of_arms if name == last]
    return [leaf for leaf in wished if leaf is not None]


def is_small(state: Any, work: Any) -> bool:
    """Whether a state is so small that it is the registers that limit how many threads there are."""
    return bool(sum(leaf.size for leaf in wished_near(state, work)) <= SMALL)


def near_room(state: Any, work: Any) -> int:
    """How many words of a run may be near."""
    return NEAR_OF_SMALL if is_small(state, work) else MOST_NEAR


def near_words(state: Any, work: Any) -> int:
    """The words of shared memory that a thread needs: an odd number, so that threads that read the same place of theirs
    do not get in each other's way."""
    return int(sum(leaf.size for leaf in near_arrays(state, work))) | 1


def near_constants(shared: Any, state: Any, work: Any) -> int:
    """How many words of what all runs read lie in the memory that a block shares: all of them, or none. Beside small
    states the nearest cache has room for them."""
    words = sum(int(np.size(leaf)) for leaf in leaves(shared))
    return 0 if is_small(state, work) or words > MOST_CONSTANTS else words


def arrays_in(tree: Any) -> list[Any]:
    """Every array in nested tuples, in order."""
    return [leaf for leaf in leaves(tree) if is_array(leaf)]


def named_arrays(tree: Any, name: str = "") -> list[tuple[str, Any]]:
    """The same, each with the name that its tuple has for it."""
    if not isinstance(tree, tuple):
        return [(name, tree)] if is_array(tree) else []
    names = getattr(tree, "_fields", [name] * len(tree))
    return [found for own, each in zip(names, tree, strict=True) for found in named_arrays(each, own)]


def is_array(leaf: Any) -> bool:
    """Whether the leaf is an array, and no number."""
    return isinstance(leaf, np.ndarray)


# -- in plain Python --------------------------------------------------------------------------------------------------


def simulated(shared: Any, own: Any, row: Any) -> Access:
    """The functions for the simulator, where a block of words is an array."""

    def placed(tree: Any, words: Any, starts: Any) -> Any:
        places = iter(starts)

        def at(leaf: Any) -> Any:
            start = next(places)
            if is_array(leaf):
                return words[start : start + leaf.size].view(leaf.dtype).reshape(leaf.shape)
            return words[start : start + 1].view(np.float64)[0] if isinstance(leaf, float) else words[start]

        return map_leaves(tree, at)

    def row_at(table: Any, rows: int, i: int) -> Any:
        sizes = [leaf.size for leaf in leaves(row)]
        return placed(row, table, [rows * a + i * size for a, size in zip(starts_of(row), sizes, strict=True)])

    def empty(state: Any) -> None:
        for each in arrays_in(state):
            each[...] = 0

    def save(saved: Any, rows: int, i: int, tree: Any) -> None:
        words = packed(tuple(arrays_in(tree)))
        saved[i : i + rows * len(words) : rows] = words

    def load(saved: Any, rows: int, i: int, tree: Any) -> None:
        start = i
        for each in arrays_in(tree):
            words = saved[start : start + rows * each.size : rows]
            each[...] = np.array(words).view(each.dtype).reshape(each.shape)
            start += rows * each.size

    def fresh() -> Any:
        state, *others = own
        block, placed_state = side_by_side(tuple(state[:-1]))
        whole = type(state)(*placed_state, as_words(block))
        return whole, *(map_leaves(each, lambda leaf: np.copy(leaf) if is_array(leaf) else leaf) for each in others)

    def shared_at(words: Any) -> Any:
        return placed(shared, words, starts_of(shared))

    return Access(lambda words: words, shared_at, fresh, row_at, empty, save, load)
