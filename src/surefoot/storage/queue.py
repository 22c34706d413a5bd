"""A fair queue of the programs that want to write to one SQLite file.

SQLite lets waiters sleep and try again, so that who asks often is served often and others wait for seconds. Here each
writer draws a number and waits until nobody with a smaller one is left. A number is held as a lock on one byte of a
small file beside the database (`power.db-queue`), so the system itself takes it back from a program that was killed.

The queue only orders those who wait: what is written is guarded by SQLite's own locks, also against programs that know
nothing of the queue, and also while the file is missing. Where there are no such locks, SQLite's own waiting is all.
"""

from __future__ import annotations

import errno
import os
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from weakref import WeakSet

try:
    import fcntl

    _SET, _GET = fcntl.F_OFD_SETLK, fcntl.F_OFD_GETLK
except (ImportError, AttributeError):  # another system
    fcntl = None  # type: ignore[assignment]

ENDING = "-queue"
COUNTER, DOOR = 0, 1  # the bytes that are locked while a number is drawn, and while the journal of the file is changed
SERVED, LAST = 8, 16  # where the number stands that is being served, and what was written last
NOTHING = (0, -1)  # written last: as if a study had been deleted that never was
NUMBERS = 1 << 40  # the byte of the first number: far beyond the end of the file, where locks are allowed
_LOCK = struct.Struct("hhqqi4x")  # type, whence, start, length, and the process: a `struct flock` of 64 bits
_ONE, _TWO = struct.Struct("<q"), struct.Struct("<qq")
NEAR = 2  # numbers before one's own, when it is time to do what can be done before
SHORTEST, LONGEST = 0.00005, 0.02  # seconds between two looks
FIRST_GUESS = 0.001  # seconds that one who is served is taken to need, before any was seen
LOOKS = 8  # of the next one, while another is served: each costs time of a processor that the other may need


class TooLong(Exception):
    """The turn did not come in time."""


class Queue:
    """The queue beside one file, as the threads of this process use it; each waits for itself."""

    def __init__(self, path: Path, mode: int) -> None:
        self.path = path.with_name(path.name + ENDING)
        self._mode = mode
        self._idle: list[int] = []  # open descriptors: a lock belongs to one
        self._all: set[int] = set()
        self._pace = FIRST_GUESS  # seconds that those in front needed, each, as seen here
        _queues.add(self)

    @contextmanager
    def turn(self, patience: float, meanwhile: Callable[[], object] | None = None) -> Iterator[int | None]:
        """One's turn to write, with the descriptor that holds it; TooLong when it does not come in time.

        What can be done before is done meanwhile, once, when hardly anybody is left in front.
        """
        if fcntl is None:
            yield None
            return
        try:
            descriptor, number = self._placed(patience)
        except OSError:  # a folder that may not be written, or a full disk: SQLite will say so if it matters
            yield None
            return
        try:
            if number is not None:
                self._wait(descriptor, number, time.monotonic() + patience, meanwhile)
            yield descriptor
        finally:
            self._give_back(descriptor, number)

    def _placed(self, patience: float) -> tuple[int, int | None]:
        """A descriptor with the number that was drawn with it; without one where there are no locks."""
        while True:
            descriptor = self._descriptor()
            try:
                number = _drawn(descriptor, time.monotonic() + patience)
            except OSError:
                return descriptor, None
            except TooLong:
                self._give_back(descriptor, None)
                raise
            if self._is_there(descriptor):
                return descriptor, number
            self._forget(descriptor)  # the last one who left has taken the file away meanwhile

    def _wait(
        self, descriptor: int, number: int, give_up: float, meanwhile: Callable[[], object] | None
    ) -> None:  # fmt: skip
        """Until nobody has a smaller number: those far back look seldom, the next one often."""
        began, in_front = time.monotonic(), number - _read(descriptor, SERVED)
        while _taken(descriptor, NUMBERS, number):
            if time.monotonic() > give_up:
                raise TooLong
            before = number - _read(descriptor, SERVED)
            if meanwhile is not None and before <= NEAR:
                meanwhile()
                meanwhile = None
                continue
            pause = self._pace / LOOKS if before <= 1 else self._pace * (before - 1)
            time.sleep(min(max(pause, SHORTEST), LONGEST))
        if in_front > 0:
            self._pace += 0.2 * ((time.monotonic() - began) / in_front - self._pace)
        os.pwrite(descriptor, _ONE.pack(number), SERVED)

    @contextmanager
    def door(self, patience: float) -> Iterator[bool]:
        """Held by one who opens or closes the file, or changes its journal; False where that cannot be held."""
        try:
            descriptor = self._descriptor() if fcntl is not None else None
        except OSError:
            descriptor = None
        if descriptor is None:
            yield False
            return
        held = False
        try:
            held = _patiently(descriptor, DOOR, time.monotonic() + patience)
            yield held
        finally:
            if held:
                _set(descriptor, fcntl.F_UNLCK, DOOR)
            self._give_back(descriptor, None)

    def note(self, descriptor: int | None, study: int, sequence: int) -> None:
        """Writes down what was kept last, for those who find the file without its log."""
        if descriptor is not None:
            with suppress(OSError):
                os.pwrite(descriptor, _TWO.pack(study, sequence), LAST)

    def note_beginning(self) -> None:
        """Writes down that nothing was kept yet since the file got its log: all that there is is in the file."""
        with suppress(OSError):
            descriptor = self._descriptor()
            self.note(descriptor, *NOTHING)
            self._give_back(descriptor, None)

    def noted(self) -> tuple[int, int] | None:
        """What was written last according to the queue; None where it does not know."""
        try:
            content = self.path.read_bytes()[LAST : LAST + _TWO.size]
        except OSError:
            return None
        if len(content) < _TWO.size or content == bytes(_TWO.size):
            return None
        study, sequence = _TWO.unpack(content)
        return study, sequence

    def remove(self) -> None:
        """Takes the file away unless somebody waits in it; the next one makes another."""
        with suppress(OSError):
            if fcntl is not None and self.path.exists():
                descriptor = self._descriptor()
                try:
                    if _set(descriptor, fcntl.F_WRLCK, COUNTER):  # who draws a number now finds that it is gone
                        try:
                            if not _taken(descriptor, NUMBERS, NUMBERS):
                                self.path.unlink()
                        finally:
                            _set(descriptor, fcntl.F_UNLCK, COUNTER)
                finally:
                    self._give_back(descriptor, None)

    def close(self) -> None:
        """Closes what nobody uses."""
        while self._idle:
            self._forget(self._idle.pop())

    def leave_to_parent(self) -> None:
        """In a forked child: its descriptors are those of the parent, and would keep the parent's place for it."""
        for descriptor in self._all:
            with suppress(OSError):
                os.close(descriptor)
        self._idle, self._all = [], set()

    def _descriptor(self) -> int:
        """An open descriptor of the file that is there now."""
        while self._idle:
            descriptor = self._idle.pop()
            if self._is_there(descriptor):
                return descriptor
            self._forget(descriptor)
        is_new = not self.path.exists()
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        self._all.add(descriptor)
        if is_new and self._mode != 0o600:
            with suppress(OSError):
                os.fchmod(descriptor, self._mode)  # as the database: whoever may write there may wait here
        return descriptor

    def _is_there(self, descriptor: int) -> bool:
        """Whether the file of the descriptor is the one that all others find; who waits in another waits alone."""
        try:
            now, mine = os.stat(self.path), os.fstat(descriptor)
        except FileNotFoundError:
            return False
        return (mine.st_dev, mine.st_ino) == (now.st_dev, now.st_ino)

    def _give_back(self, descriptor: int, number: int | None) -> None:
        if descriptor not in self._all:
            return  # this is a forked child
        try:
            if number is not None:
                _set(descriptor, fcntl.F_UNLCK, NUMBERS + number)
            self._idle.append(descriptor)
        except OSError:
            self._forget(descriptor)

    def _forget(self, descriptor: int) -> None:
        self._all.discard(descriptor)
        with suppress(OSError):
            os.close(descriptor)


_queues: WeakSet[Queue] = WeakSet()


def leave_queues_to_parent() -> None:
    """In a forked child."""
    for queue in list(_queues):
        queue.leave_to_parent()


def _set(descriptor: int, kind: int, start: int) -> bool:
    """Whether the lock could be set, or taken back, at once."""
    try:
        fcntl.fcntl(descriptor, _SET, _LOCK.pack(kind, os.SEEK_SET, start, 1, 0))
        return True
    except OSError as error:
        if error.errno in (errno.EAGAIN, errno.EACCES):
            return False
        raise


def _taken(descriptor: int, start: int, length: int) -> bool:
    """Whether somebody else holds one of these bytes."""
    if length <= 0:
        return False
    asked = _LOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, start, length, 0)
    return bool(_LOCK.unpack(fcntl.fcntl(descriptor, _GET, asked))[0] != fcntl.F_UNLCK)


def _patiently(descriptor: int, byte: int, give_up: float) -> bool:
    """Whether the byte could be locked in time."""
    pause = SHORTEST
    while not _set(descriptor, fcntl.F_WRLCK, byte):
        if time.monotonic() > give_up:
            return False
        time.sleep(pause)
        pause = min(2 * pause, LONGEST)
    return True


def _drawn(descriptor: int, give_up: float) -> int:
    """The next number, whose byte is held from now on."""
    if not _patiently(descriptor, COUNTER, give_up):
        raise TooLong
    try:
        number = _read(descriptor, COUNTER)
        while not _set(descriptor, fcntl.F_WRLCK, NUMBERS + number):
            number += 1  # the count was lost, and somebody still has this number
        os.pwrite(descriptor, _ONE.pack(number + 1), COUNTER)
        return number
    finally:
        _set(descriptor, fcntl.F_UNLCK, COUNTER)


def _read(descriptor: int, at: int) -> int:
    """The number that stands there; 0 where nothing does."""
    content = os.pread(descriptor, _ONE.size, at)
    found = _ONE.unpack(content)[0] if len(content) == _ONE.size else 0
    return int(found) if 0 <= found < NUMBERS else 0
