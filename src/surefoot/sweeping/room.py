"""Whether the disk has room for what is asked for, before anything is begun."""

import shutil
from collections.abc import Mapping
from typing import TypeVar

from surefoot.errors import InvalidInput, in_bytes
from surefoot.sweeping.cells import COLUMNS, PER_ARM, Playable
from surefoot.sweeping.store import Store

Some = TypeVar("Some", bound=Playable)
NUMBER = 8  # bytes; compression halves that, or does better
LEAST_SHARE = 0.5  # of these bytes that the runs take at least


def check_room(store: Store, cells: Mapping[Some, int]) -> None:
    """Refuses what does not fit on the disk however well it is compressed."""
    fixed = NUMBER * (len(COLUMNS) - len(PER_ARM))
    needed = 0.0
    for cell, count in cells.items():
        left = sum(stretch.length for stretch in store.missing(cell, count))
        needed += LEAST_SHARE * left * (fixed / 4 + NUMBER * len(PER_ARM) * cell.problem.size)
    free = shutil.disk_usage(store.folder).free
    if needed > free:
        reason = f"would take more than {in_bytes(int(needed))}, and {in_bytes(free)} are left in {store.folder}"
        raise InvalidInput("runs", max(cells.values()), reason, "Ask for fewer runs, or name a folder elsewhere.")
