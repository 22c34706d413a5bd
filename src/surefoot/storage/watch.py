"""Watches the files of an SQLite database that is open: what is written to a file that was removed would be lost."""

import sqlite3
import time
import warnings
from collections.abc import MutableMapping
from typing import Any

from surefoot.errors import LogRescued, StorageIncomplete, StorageUnavailable
from surefoot.storage.headers import Identity, identity_of
from surefoot.storage.sqlite_file import SQLiteFile

RESCUING = 2.0  # seconds that are waited for others to leave a log that was removed
LOG = "surefoot_log"  # where a connection remembers which log it has


class Watch:
    """Which files they were when they were first seen."""

    def __init__(self, file: SQLiteFile) -> None:
        self._file = file
        self._identity: Identity | None = None

    @property
    def is_current(self) -> bool:
        """Whether the file is still the one that was opened."""
        return self._identity is None or self._identity == identity_of(self._file.path)

    def check_file(self) -> None:
        """Refuses to go on in a file that was removed or replaced."""
        found = identity_of(self._file.path)
        if found is None:
            raise StorageUnavailable(str(self._file.address), "was removed while it was open")
        if self._identity is None:
            self._identity = found
        elif self._identity != found:
            raise StorageUnavailable(str(self._file.address), "was replaced by another file while it was open")

    def has_its_log(self, memory: MutableMapping[Any, Any]) -> bool:
        """Whether the log is there that a connection with this memory writes to; another in its place is refused."""
        mine, found = memory.get(LOG), self._file.log_identity()
        if mine is None:
            memory[LOG] = found
            return True
        if found is not None and found != mine:
            detail = f"has lost its log: {self._file.log.name} was replaced while it was open"
            raise StorageIncomplete(str(self._file.address), detail)
        return found is not None

    def bring_in(self, connection: sqlite3.Connection) -> None:
        """Brings what is in a log that was removed into the file, since this connection still has it open."""
        if not self._file.bring_in(connection):
            detail = f"{self._lost}, and what is in it could not be brought into the file"
            raise StorageIncomplete(str(self._file.address), detail)

    def end_log(self, connection: sqlite3.Connection) -> None:
        """Ends the log that was removed; refused while somebody else has it, and would go on writing to it."""
        give_up = time.monotonic() + RESCUING
        while not self._file.end_log(connection):
            if time.monotonic() > give_up:
                stop = "all that was acknowledged is in the file now, but other programs still write to that log"
                raise StorageIncomplete(str(self._file.address), f"{self._lost}; {stop}")
            time.sleep(0.05)
        warnings.warn(LogRescued(f"{self._file.address} {self._lost}. All of it is in the file now."), stacklevel=2)

    @property
    def _lost(self) -> str:
        return f"had its log {self._file.log.name} removed while it was open"
