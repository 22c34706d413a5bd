"""Processes that fork while they have a storage open.

SQLite keeps in memory which locks its connections hold, and a forked child would have a copy of that which is true of
its parent alone: it would wait for ever for a lock that nobody holds, or write without one. So before a process forks,
the steps that other threads have under way are waited for, and every connection to a file is closed; parent and child
then open their own. Where that cannot be, because a step takes long or the forking thread itself is in one, the child
may not use the files that were open.

A connection to a server is a socket, of which a child has a copy. While that is open the server does not notice that
the parent has died, and keeps the locks of its step; so the child closes its copy.
"""

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Condition, get_ident
from typing import Any
from weakref import WeakSet

LONGEST_WAIT = 10.0  # seconds that a fork waits for steps under way

_turn = Condition()
_under_way: Counter[int] = Counter()  # steps in files, by thread
_files: Counter[Path] = Counter()  # those files
_spoiled: set[Path] = set()  # files that this process may not use
_connections: WeakSet[Any] = WeakSet()  # to servers
_close_all: list[Callable[[], None]] = []  # what closes the connections to files, once it is known


def close_with(close: Callable[[], None]) -> None:
    """Says how the connections of this process are closed."""
    _close_all[:] = [close]


@contextmanager
def under_way(path: Path | None) -> Iterator[None]:
    """Inside, a step is under way in this file, and a fork waits for it."""
    if path is None:
        yield
        return
    me = get_ident()
    with _turn:
        _under_way[me] += 1
        _files[path] += 1
    try:
        yield
    finally:
        with _turn:
            _under_way[me] -= 1
            _files[path] -= 1
            if not _under_way[me]:
                del _under_way[me]
            _turn.notify_all()


def is_spoiled(path: Path) -> bool:
    """Whether this process was forked amid a step in this file."""
    return path in _spoiled


def noted_socket(connection: Any) -> Any:
    """The connection to a server, noted for the case of a fork."""
    _connections.add(connection)
    return connection


def leave_sockets_to_parent() -> None:
    """In a child: closes its copies of the parent's sockets, and says nothing to the server."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for connection in list(_connections):
        try:
            os.dup2(nowhere, connection.pgconn.socket)  # what the driver may still write goes nowhere
        except Exception:  # it was closed before
            continue
    os.close(nowhere)
    _connections.clear()


def _before() -> None:
    """Waits for others, closes what is open, and lets nobody begin until the fork is done."""
    _turn.acquire()
    give_up = time.monotonic() + LONGEST_WAIT
    while set(_under_way) - {get_ident()} and (left := give_up - time.monotonic()) > 0:
        _turn.wait(left)
    if not _under_way:
        for close in _close_all:
            close()


def _after_in_parent() -> None:
    _turn.release()


def _after_in_child() -> None:
    global _turn
    _turn = Condition()
    _spoiled.update(path for path, steps in _files.items() if steps)
    _under_way.clear()
    _files.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after_in_parent, after_in_child=_after_in_child)
