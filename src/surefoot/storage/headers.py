"""The header of an SQLite file, read without SQLite, and without taking its locks away.

The system drops all locks that a process has on a file as soon as the process closes any descriptor of that file, and
SQLite relies on such locks. So a descriptor that was opened to read the header is kept for as long as the process has
a connection to the file.
"""

import os
import sqlite3
from collections import Counter
from pathlib import Path
from threading import RLock
from typing import Any

Identity = tuple[int, int]
SIZE = 100  # bytes
_lock = RLock()  # again and again: the garbage collector may close a connection at any moment
_connections: Counter[Identity] = Counter()
_kept: dict[Identity, int] = {}


class Counted(sqlite3.Connection):
    """A connection that is counted while it is open."""

    file: Identity | None = None

    def close(self) -> None:
        """Closes it, and what was kept open for its sake."""
        super().close()
        _uncount(self)

    def __del__(self) -> None:
        _uncount(self)


def counted_connection(path: Path, place: str, **arguments: Any) -> sqlite3.Connection:
    """A connection to the file, opened under the name that SQLite is to be given."""
    with _lock:
        connection = sqlite3.connect(place, uri=True, factory=Counted, **arguments)
        connection.file = identity_of(path)
        if connection.file is not None:
            _connections[connection.file] += 1
    return connection


def header_of(path: Path) -> bytes:
    """The header of the file; nothing where there is none."""
    with _lock:
        file = identity_of(path)
        if file is None:
            return b""
        try:
            descriptor = _kept[file] if file in _kept else os.open(path, os.O_RDONLY)
        except OSError:
            return b""
        try:
            return os.pread(descriptor, SIZE, 0)
        except OSError:
            return b""
        finally:
            if _connections[file]:
                _kept[file] = descriptor
            else:
                _kept.pop(file, None)
                os.close(descriptor)


def identity_of(path: Path) -> Identity | None:
    """Which file is there; None if none is."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _uncount(connection: Counted) -> None:
    with _lock:
        file, connection.file = connection.file, None
        if file is None:
            return
        _connections[file] -= 1
        if _connections[file] <= 0:
            del _connections[file]
            if file in _kept:
                os.close(_kept.pop(file))


def _begin_anew_in_child() -> None:
    """A forked child has no locks; the count of what it inherited goes on, since it closes that in its own time."""
    global _lock
    _lock = RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew_in_child)
