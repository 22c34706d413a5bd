"""Locks that a forked child finds free: a thread that held one in the parent is not there to release it."""

import os
import sys
from threading import RLock
from types import TracebackType
from weakref import WeakSet


class Lock:
    """A lock that the thread which holds it may take again."""

    def __init__(self) -> None:
        self._lock = RLock()
        _all.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()

    def make_anew(self) -> None:
        """Forgets who holds it."""
        self._lock = RLock()


_all: WeakSet[Lock] = WeakSet()
OF_THE_COMPILER = {"numba.core.compiler_lock": ("global_compiler_lock",), "llvmlite.binding.ffi": ("lib", "_lock")}


def _begin_anew_in_child() -> None:
    for lock in list(_all):
        lock.make_anew()
    for module, path in OF_THE_COMPILER.items():  # where it is loaded
        owner = sys.modules.get(module)
        for name in path:
            owner = getattr(owner, name, None)
        if owner is not None:
            owner._lock = RLock()  # type: ignore[attr-defined]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew_in_child)
