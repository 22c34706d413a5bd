"""From an address to a database that keeps what it has acknowledged.

SQLite: a write-ahead log, so that readers never wait; every commit reaches the disk before it is acknowledged; a
writer takes its lock at the start, so that two never collide halfway; who finds it taken sleeps, and gives up after a
while. PostgreSQL: a writer locks the row of its study. Memory: SQLite without a file, one thread at a time.
"""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from threading import RLock
from typing import Any
from urllib.parse import quote
from weakref import WeakSet, finalize

from sqlalchemy import Connection, Engine, StaticPool, create_engine, event

from surefoot.errors import MissingExtra, StorageDamaged, StorageUnavailable
from surefoot.storage.addresses import Address
from surefoot.storage.read_only import FixedFile, has_log, is_fixed

PATIENCE = 30.0  # seconds that a writer waits for another
READS = "surefoot_reads"  # the execution option of a transaction that writes nothing


class Database:
    """An open database: transactions that write, and transactions that only read."""

    def __init__(self, address: Address, *, create: bool) -> None:
        self.address = address
        self._fixed = FixedFile(address)
        postgres = address.url.get_backend_name() == "postgresql"
        self.engine = _postgres(address) if postgres else _sqlite(address, create, self._fixed)
        self.locks_rows = self.engine.dialect.name == "postgresql"
        self._one_at_a_time = RLock() if address.in_memory else None
        self._file: tuple[int, int] | None = None  # which file it was when it was first opened
        _opened.add(self)
        finalize(self, self.engine.dispose)  # nobody has to remember to close it

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction: all of it is kept when the block ends, or nothing when it raises."""
        with self._turn(), self.engine.begin() as connection:
            self._check_file()
            yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One unchanging view of the database, which disturbs nobody."""
        with self._turn(), self.engine.connect() as connection:
            options: dict[str, Any] = {READS: True}
            if self.locks_rows:
                options |= {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
            connection.execution_options(**options).begin()
            self._check_file()
            yield connection  # and nothing to commit: the connection is given back, and the view ends
            self._fixed.check()

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """The one connection that storage in memory has, for one thread at a time."""
        if self._fixed.taken_not_to_change:
            self.engine.dispose()  # that was for one look: the next one finds out anew how the file may be read
        if self._one_at_a_time is None:
            yield
        else:
            with self._one_at_a_time:
                yield

    def _check_file(self) -> None:
        """Refuses to go on in a file that was removed or replaced: what is written there would be lost."""
        if self.address.path is None:
            return
        try:
            found = os.stat(self.address.path)
        except OSError:
            raise StorageUnavailable(str(self.address), "was removed while it was open") from None
        if self._file is None:
            self._file = (found.st_dev, found.st_ino)
        elif self._file != (found.st_dev, found.st_ino):
            raise StorageUnavailable(str(self.address), "was replaced by another file while it was open")

    def settle(self) -> None:
        """What an SQLite file needs once it is known to be one of ours: to be whole, and to have its log."""
        if self.address.path is None:
            return
        _check_whole(self.address)
        if is_fixed(self.address.path):
            return  # as it is, it is read
        connection = self.engine.raw_connection()
        try:
            _use_write_ahead_log(connection.driver_connection)  # type: ignore[arg-type]
        finally:
            connection.close()

    def close(self) -> None:
        """Gives back every connection."""
        self.engine.dispose()


_opened: WeakSet[Database] = WeakSet()


def _forget_connections() -> None:
    """A forked child must not use its parent's connections, nor close them."""
    for database in list(_opened):
        if not database.address.in_memory:
            database.engine.dispose(close=False)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_connections)


def _sqlite(address: Address, create: bool, fixed: FixedFile) -> Engine:
    """The engine of an SQLite file, or of a database in memory."""
    place = ":memory:" if address.path is None else f"file:{quote(str(address.path))}?mode={'rwc' if create else 'rw'}"
    if address.path is not None and not create and not address.path.exists():
        raise StorageUnavailable(str(address), "does not exist")

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(
            place, uri=True, timeout=PATIENCE, isolation_level=None, check_same_thread=False, cached_statements=64
        )
        try:
            connection = fixed.usable(connection)
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            return connection
        except BaseException:
            connection.close()
            raise

    shared = {"poolclass": StaticPool} if address.in_memory else {}
    engine = create_engine("sqlite://", creator=connect, **shared)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        """The driver would begin by itself, late and without the lock."""
        reads = connection.get_execution_options().get(READS)
        connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")

    return engine


def _check_whole(address: Address) -> None:
    """Refuses a file that is shorter than it says: SQLite itself would notice only when it needs the rest."""
    path = Path(str(address.path))
    if has_log(path):
        return  # some of it is still in the log
    with path.open("rb") as file:
        header = file.read(100)
    size, pages = int.from_bytes(header[16:18], "big"), int.from_bytes(header[28:32], "big")
    if path.stat().st_size < pages * (65_536 if size == 1 else size):
        raise StorageDamaged(str(address), "is cut off: it is shorter than it says")


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """The switch is made once in the life of a file; SQLite does not wait for a lock there, so this does."""
    give_up = time.monotonic() + PATIENCE
    pause = 0.005
    while True:
        try:
            if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > give_up:
                raise
        time.sleep(pause)
        pause = min(2 * pause, 0.2)


def _postgres(address: Address) -> Engine:
    """The engine of a PostgreSQL database; a connection that broke while idle is replaced unnoticed."""
    if find_spec("psycopg") is None:
        raise MissingExtra("psycopg", "postgres")
    arguments: dict[str, Any] = {"connect_timeout": 10}
    if "options" not in address.url.query:
        # A program that was stopped with a lock in hand must not hold up the others for ever.
        patience, idle = int(1000 * PATIENCE), int(4000 * PATIENCE)
        arguments["options"] = f"-c lock_timeout={patience} -c idle_in_transaction_session_timeout={idle}"
    return create_engine(address.url, pool_pre_ping=True, connect_args=arguments)
