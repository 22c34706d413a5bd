"""From an address to a database that keeps what it has acknowledged.

SQLite: a write-ahead log, so that readers never wait, or a journal in place of it where one file is wanted; every
commit reaches the disk before it is acknowledged; writers queue, and take their lock at the start, so that two never
collide halfway; who waits too long gives up. PostgreSQL: a writer locks the row of its study. Memory: SQLite without a
file, one thread at a time.

`sharing` gives one of them to all who open the same address.
"""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from threading import RLock
from typing import Any
from weakref import WeakSet, finalize

from sqlalchemy import Connection, Engine

from surefoot.errors import StorageBusy, StorageUnavailable
from surefoot.storage import engines, sqlite_file
from surefoot.storage.addresses import Address
from surefoot.storage.faults import COMMITTING, is_lost_connection
from surefoot.storage.forking import close_with, is_spoiled, leave_sockets_to_parent, under_way
from surefoot.storage.queue import TooLong, leave_queues_to_parent
from surefoot.storage.read_only import FixedFile, is_fixed
from surefoot.storage.sqlite_file import SQLiteFile
from surefoot.storage.watch import Watch


class Database:
    """An open database: transactions that write, and transactions that only read."""

    def __init__(self, address: Address, *, create: bool, connection: sqlite3.Connection | None = None) -> None:
        """Opens it; with a connection, that one and no other is used, and the address is only what it is called."""
        self.address = address
        self.connected = False  # whether it ever was
        self._fixed = FixedFile(address)
        self.file = SQLiteFile(address, address.path) if address.path is not None and connection is None else None
        postgres = address.url.get_backend_name() == "postgresql"
        self.engine = (
            engines.postgres(address) if postgres else engines.sqlite(self.file, create, self._fixed, connection)
        )
        self.locks_rows = self.engine.dialect.name == "postgresql"
        self._one_at_a_time = RLock() if self.file is None and not postgres else None
        self.users: WeakSet[Any] = WeakSet()  # the stores that share it
        self._process = os.getpid()
        self._watch = Watch(self.file) if self.file is not None else None
        _opened.add(self)
        self._ending = finalize(self, _end, self.engine, self.file, self._process)  # nobody has to close it

    @contextmanager
    def writing(self, meanwhile: Callable[[], object] | None = None) -> Iterator[Connection]:
        """A transaction: all of it is kept when the block ends, or nothing when it raises.

        What can be done while others write is done before it begins, if one has to wait for them.
        """
        with self._one(), self._place_in_queue(meanwhile) as place, self._under_way():
            if self.file is not None and self.file.closed:
                self.settle()
            connection = self._entered({})
            connection.info.pop(KEPT, None)  # of a step that failed
            try:
                yield connection
                try:
                    connection.commit()
                except BaseException as error:
                    setattr(error, COMMITTING, True)  # whether it was kept is not known to one who hears nothing more
                    raise
            except BaseException as error:
                _abandon(connection, error)
                raise
            if self.file is not None and (kept := connection.info.pop(KEPT, None)):
                self.file.queue.note(place, *kept)
            self._check_log_after(connection)
            connection.close()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One unchanging view of the database, which disturbs nobody."""
        options: dict[str, Any] = {engines.READS: True}
        if self.locks_rows:
            options |= {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        with self._one(), self._under_way():
            connection = self._entered(options)
            try:
                yield connection  # and nothing to commit: the connection is given back, and the view ends
                self._fixed.check()
            except BaseException as error:
                _abandon(connection, error)
                raise
            connection.close()

    def _entered(self, options: dict[str, Any]) -> Connection:
        """A connection in a transaction, in the file and with the log that it is meant for."""
        while True:
            connection = self.engine.connect()
            try:
                if options:
                    connection = connection.execution_options(**options)
                connection.begin()
                self.connected = True
                if self._watch is None:
                    return connection
                self._watch.check_file()
                if self._fixed.taken_not_to_change or self._watch.has_its_log(connection.info):
                    return connection
                connection.rollback()
                self._rescue(connection, self._watch)
            except BaseException as error:
                _abandon(connection, error)
                raise

    @contextmanager
    def _one(self) -> Iterator[None]:
        """The one connection that storage in memory has, for one thread at a time."""
        if self.is_of_parent:
            detail = "was made by the process that this one was forked from, and what is here is only a copy of it"
            raise StorageUnavailable(str(self.address), detail)
        if self.file is not None and is_spoiled(self.file.path):
            detail = (
                "was in use when this process was forked, amid a step: fork before or after, or start a new process"
            )
            raise StorageUnavailable(str(self.address), detail)
        if self._fixed.for_one_look:
            self.engine.dispose()  # the next look finds out anew how the file may be read, or written
        with self._one_at_a_time or nullcontext():
            yield

    def _under_way(self) -> AbstractContextManager[None]:
        """Inside, a step is under way."""
        return under_way(None if self.file is None else self.file.path)

    @contextmanager
    def _place_in_queue(self, meanwhile: Callable[[], object] | None) -> Iterator[int | None]:
        """One's turn among those who write to the same file."""
        if self.file is None or is_fixed(self.file.path):
            yield None
            return
        turn = self.file.queue.turn(engines.PATIENCE, meanwhile)
        try:
            place = turn.__enter__()
        except TooLong:
            raise StorageBusy(str(self.address), "is locked by another program") from None
        try:
            yield place
        finally:
            turn.__exit__(None, None, None)

    @property
    def is_of_parent(self) -> bool:
        """Whether it is the storage in memory of a process that this one was forked from."""
        return self.address.in_memory and os.getpid() != self._process

    @property
    def is_current(self) -> bool:
        """Whether the file is still the one that was opened."""
        return self._watch is None or self._watch.is_current

    def _check_log_after(self, connection: Connection) -> None:
        """Once a step is kept: one whose log is gone is brought into the file before it is acknowledged."""
        if self._watch is None:
            return
        try:
            if not self._watch.has_its_log(connection.info):
                self._rescue(connection, self._watch)
        except BaseException as error:
            _abandon(connection, error)
            raise

    def _rescue(self, connection: Connection, watch: Watch) -> None:
        """Goes on after the log of this connection was removed, with all that was in it."""
        mine = engines.driver_of(connection)
        watch.bring_in(mine)
        self.engine.dispose()
        try:
            watch.end_log(mine)
        finally:
            connection.invalidate()
            connection.close()

    def settle(self) -> None:
        """What an SQLite file needs once it is known to be one of ours: to be whole, and to have its log."""
        if self.file is None:
            return
        self.file.check_whole()
        if is_fixed(self.file.path) or self.file.without_log:
            return  # as it is, it is read
        with self._under_way():
            connection = self.engine.raw_connection()
            try:
                self.file.begin_log(connection.driver_connection, engines.PATIENCE)  # type: ignore[arg-type]
                self.file.settled, self.file.closed = True, False
            finally:
                connection.close()

    def close(self) -> None:
        """Gives back every connection that is not in use; who goes on gets new ones."""
        if self.file is not None and self.file.settled:
            self.file.settled, self.file.closed = False, True
        _end(self.engine, self.file, self._process)


KEPT = "surefoot_kept"  # where a step leaves the study and the sequence that it has written last
_opened: WeakSet[Database] = WeakSet()


def _end(engine: Engine, file: SQLiteFile | None, process: int) -> None:
    """Closes what is open; a forked child leaves the file to its parent."""
    if file is None or os.getpid() != process:
        engine.dispose(close=os.getpid() == process)
    else:
        sqlite_file.leave(file, engine.dispose)


def _begin_anew_in_child() -> None:
    """A forked child must not use its parent's connections, nor close them, nor stand in the queue for it."""
    leave_queues_to_parent()
    leave_sockets_to_parent()
    for database in list(_opened):
        if not database.address.in_memory:
            database.engine.dispose(close=False)
            database._process = os.getpid()
            database._ending.detach()
            database._ending = finalize(database, _end, database.engine, database.file, database._process)


def _close_files() -> None:
    """Before a fork: no step is under way."""
    for database in list(_opened):
        if database.file is not None:
            database.close()


close_with(_close_files)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew_in_child)


def _abandon(connection: Connection, error: BaseException | None) -> None:
    """Takes back what was begun, and gives back the connection; one that is lost is thrown away."""
    try:
        if error is not None and is_lost_connection(error):
            connection.invalidate()
        else:
            connection.rollback()
    except Exception:
        with suppress(Exception):
            connection.invalidate()
    finally:
        with suppress(Exception):
            connection.close()
