"""How a study came to where it is: its stored events once more, with a look at every so many of them."""

from typing import Any

from surefoot.live.pulls import Status
from surefoot.storage.protocol import Events
from surefoot.studies.handle import Handle


class Past:
    """What one who looks only now and then has missed. It has an account of its own, and writes nothing."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._ledger = handle.new_ledger()
        self._begun = False

    def moments(self, most: int) -> list[Status]:
        """Where the study stood at evenly spaced events since the last time, at most so many; the last is now."""
        handle, ledger = self._handle, self._ledger

        def since(stored: Events) -> list[tuple[Any, ...]]:
            return [tuple(row) for row in stored.after(ledger.sequence)]

        rows = handle.store.read(handle.identity, handle.name, since)
        found = [] if self._begun else [ledger.status()]
        self._begun = True
        size = max(1, -(-len(rows) // most))
        for start in range(0, len(rows), size):
            ledger.take(rows[start : start + size], audit=False)
            if start + size >= len(rows):
                ledger.settle()  # what had waited and was not held afterwards; before, nobody here knows
            found.append(ledger.status())
        return found
