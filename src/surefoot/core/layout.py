"""Where small arrays lie in memory: side by side, so that one round's loads and stores do not get in each other's way.

Arrays scattered over the heap can share the low bits of their addresses, and a processor then takes a load for one
that depends on a recent store: the same code ran up to 1.8 times slower from one process to the next.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

CACHE_LINE = 64
SMALL = 16_384  # bytes; larger arrays stay where they are


def side_by_side(*parts: Any) -> tuple[Any, ...]:
    """The named tuples with all their small arrays copied into one block, each at the start of a cache line."""
    size = sum(room(array) for part in parts for array in part if is_small(array))
    block = np.zeros(size + CACHE_LINE, np.uint8)
    start = -block.ctypes.data % CACHE_LINE
    placed = []
    for part in parts:
        fields = []
        for field in part:
            if is_small(field):
                home = block[start : start + field.nbytes].view(field.dtype).reshape(field.shape)
                home[...] = field
                start += room(field)
                field = home
            fields.append(field)
        placed.append(type(part)(*fields))
    return tuple(placed)


def is_small(field: object) -> bool:
    """Whether it is an array worth moving."""
    return isinstance(field, np.ndarray) and field.nbytes <= SMALL


def room(array: NDArray[Any]) -> int:
    """The bytes that the array takes up in whole cache lines."""
    return -(-array.nbytes // CACHE_LINE) * CACHE_LINE
