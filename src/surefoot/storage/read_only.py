"""An SQLite file in a folder where nothing may be written: what can be read there, and how.

SQLite reads a file with a write-ahead log through an index beside it. Where a program at work, or one that was killed,
has left log and index, they are read as they are. Where the storage was closed, there is neither, and the index cannot
be made: then, and only then, the file is read as one that does not change (`immutable`), and whoever finds that it did
change discards what was read.
"""

import os
import sqlite3
from pathlib import Path
from urllib.parse import quote

from surefoot.errors import StorageBusy, StorageReadOnly
from surefoot.storage.addresses import Address

UNREADABLE = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR)


class FixedFile:
    """The file of an address, as one who may not write beside it sees it."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._seen: tuple[int, int, int] | None = None  # the file that is taken not to change
        self.for_one_look = False  # whether the last connection was made where nothing may be written

    @property
    def taken_not_to_change(self) -> bool:
        """Whether the last connection reads a file that is taken not to change."""
        return self._seen is not None

    def usable(self, connection: sqlite3.Connection) -> sqlite3.Connection:
        """The connection, or another one that can read; a log without its index is refused by name."""
        path, self._seen = self._address.path, None
        self.for_one_look = path is not None and is_fixed(path)
        if path is None or not self.for_one_look:
            return connection
        try:
            connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()
            return connection
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in UNREADABLE:
                raise
            connection.close()
            if has_log(path):
                detail = "has a write-ahead log, which cannot be read where its index may not be written"
                raise StorageReadOnly(str(self._address), detail) from error
        self._seen = look_of(path)
        again = sqlite3.connect(
            f"file:{quote(str(path))}?mode=ro&immutable=1", uri=True, isolation_level=None, check_same_thread=False
        )
        if has_log(path):  # somebody came in between
            again.close()
            raise self._changed()
        return again

    def check(self) -> None:
        """Refuses what was read of a file that was taken not to change and did."""
        path = self._address.path
        if self._seen is not None and path is not None and (has_log(path) or look_of(path) != self._seen):
            raise self._changed()

    def _changed(self) -> StorageBusy:
        return StorageBusy(str(self._address), "was changed while it was read from a folder that may not be written")


def is_fixed(path: Path) -> bool:
    """Whether the file is there, and nothing may be written beside it."""
    return path.exists() and not os.access(path.parent, os.W_OK)


def has_log(path: Path) -> bool:
    """Whether some of the content is in a log beside the file."""
    try:
        return path.with_name(path.name + "-wal").stat().st_size > 0
    except FileNotFoundError:
        return False


def look_of(path: Path) -> tuple[int, int, int]:
    """What changes when the file does."""
    found = os.stat(path)
    return found.st_ino, found.st_size, found.st_mtime_ns
