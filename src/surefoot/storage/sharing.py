"""One open database for each address in a process, however many studies are opened in it."""

import os
from threading import Lock
from weakref import WeakValueDictionary

from surefoot.storage.addresses import Address
from surefoot.storage.databases import Database

_shared: WeakValueDictionary[Address, Database] = WeakValueDictionary()
_lock = Lock()


def shared_database(address: Address, *, create: bool) -> Database:
    """The database at this address that all of this process share; a file that was replaced has a new one."""
    found = _current(address)
    if found is not None:
        return found
    made = Database(address, create=create)
    with _lock:
        found = _current(address)  # another thread may have been faster
        if found is None:
            _shared[address] = found = made
        return found


def _current(address: Address) -> Database | None:
    found = _shared.get(address)
    return found if found is not None and found.is_current else None


def _begin_anew_in_child() -> None:
    global _lock
    _lock = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew_in_child)
