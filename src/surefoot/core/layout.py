"""Where arrays lie in memory: side by side, so that one round's loads and stores do not get in each other's way.

Arrays scattered over the heap can share the low bits of their addresses, and a processor then takes a load for one
that depends on a recent store: the same code ran up to 1.8 times slower from one process to the next.
"""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from surefoot.core.types import Indices

CACHE_LINE = 64


def side_by_side(tree: Any) -> tuple[NDArray[np.uint8], Any]:
    """One block of memory, and the tuples with all their arrays copied into it, each at the start of a cache line."""
    arrays = [each for each in leaves(tree) if isinstance(each, np.ndarray)]
    block = np.zeros(sum(room(array) for array in arrays) + CACHE_LINE, np.uint8)
    first = -block.ctypes.data % CACHE_LINE
    block = block[first : first + block.size - CACHE_LINE]
    start = 0

    def placed(each: Any) -> Any:
        nonlocal start
        if isinstance(each, tuple):
            fields = [placed(field) for field in each]
            return type(each)(*fields) if hasattr(each, "_fields") else tuple(fields)
        if not isinstance(each, np.ndarray):
            return each
        order: Literal["C", "F"] = "F" if each.flags.f_contiguous and not each.flags.c_contiguous else "C"
        home = block[start : start + each.nbytes].view(each.dtype).reshape(each.shape, order=order)
        home[...] = each
        start += room(each)
        return home

    return block, placed(tree)


def shapes_of(tree: Any) -> Any:
    """The same tuples with arrays of zeros of the same shapes and types, which take up no memory."""
    if isinstance(tree, tuple):
        fields = [shapes_of(field) for field in tree]
        return type(tree)(*fields) if hasattr(tree, "_fields") else tuple(fields)
    return np.broadcast_to(np.zeros((), tree.dtype), tree.shape) if isinstance(tree, np.ndarray) else tree


def leaves(tree: Any) -> list[Any]:
    """Everything in nested tuples that is no tuple itself, in order."""
    return [leaf for each in tree for leaf in leaves(each)] if isinstance(tree, tuple) else [tree]


def as_words(block: NDArray[np.uint8]) -> Indices:
    """The block as 64-bit words."""
    return block.view(np.int64)


def room(array: NDArray[Any]) -> int:
    """The bytes that the array takes up in whole cache lines."""
    return -(-array.nbytes // CACHE_LINE) * CACHE_LINE
