"""Whether the disk has room for what is asked for, before anything is begun."""

import shutil
from collections.abc import Mapping
from typing import TypeVar

from surefoot.errors import InvalidInput, in_bytes
from surefoot.sweeping.cells import Playable
from surefoot.sweeping.store import Store

Some = TypeVar("Some", bound=Playable)
A_RUN, AN_ARM = 20, 1  # bytes, at least: how many pulls each arm had is seldom the same twice


def check_room(store: Store, cells: Mapping[Some, int]) -> None:
    """Refuses what does not fit on the disk however well it is compressed."""
    needed = 0
    for cell, count in cells.items():
        left = sum(stretch.length for stretch in store.missing(cell, count))
        needed += left * (A_RUN + AN_ARM * cell.problem.size)
    free = shutil.disk_usage(store.folder).free
    if needed > free:
        reason = f"would take more than {in_bytes(needed)}, and {in_bytes(free)} are left in {store.folder}"
        raise InvalidInput("runs", max(cells.values()), reason, "Ask for fewer runs, or name a folder elsewhere.")
