"""How SQLAlchemy reaches a database: the settings of every connection, and how a transaction begins."""

import sqlite3
from contextlib import suppress
from importlib.util import find_spec
from typing import Any

from sqlalchemy import Connection, Engine, QueuePool, StaticPool, create_engine, event

from surefoot.errors import MissingExtra, StorageUnavailable
from surefoot.storage import sqlite_file
from surefoot.storage.addresses import Address
from surefoot.storage.forking import noted_socket
from surefoot.storage.read_only import FixedFile, is_fixed
from surefoot.storage.sqlite_file import SQLiteFile

PATIENCE = 30.0  # seconds that a writer waits for another
READS = "surefoot_reads"  # the execution option of a transaction that writes nothing


def driver_of(connection: Connection) -> Any:
    """The driver's own connection."""
    return connection.connection.dbapi_connection


def is_there(file: SQLiteFile) -> bool:
    """Whether the file exists; a path that none can have is refused."""
    try:
        return file.path.exists()
    except OSError as error:
        raise StorageUnavailable(str(file.address), f"cannot be opened ({error.strerror})") from error


def sqlite(file: SQLiteFile | None, create: bool, fixed: FixedFile, given: sqlite3.Connection | None) -> Engine:
    """The engine of an SQLite file, or of a database in memory."""
    if file is not None and not is_there(file):
        if not create:
            raise StorageUnavailable(str(file.address), "does not exist")
        with suppress(OSError):  # SQLite has better words for it
            sqlite_file.make(file.path)

    def connect() -> sqlite3.Connection:
        if file is None:
            return settings(given or sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False))
        file.check_complete()
        connection = file.opened(PATIENCE)
        try:
            connection = settings(fixed.usable(connection))
            if not is_fixed(file.path):
                if file.without_log:
                    connection.execute("PRAGMA journal_mode = TRUNCATE")
                elif file.settled and not sqlite_file.says_log(file.path):
                    file.begin_log(connection, PATIENCE)
            return connection
        except BaseException:
            connection.close()
            raise

    def settings(connection: sqlite3.Connection) -> sqlite3.Connection:
        if given is None:
            connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        return connection

    engine = create_engine("sqlite://", creator=connect, poolclass=StaticPool if file is None else QueuePool)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        """The driver would begin by itself, late and without the lock."""
        reads = connection.get_execution_options().get(READS)
        driver_of(connection).execute("BEGIN" if reads else "BEGIN IMMEDIATE")

    return engine


def postgres(address: Address) -> Engine:
    """The engine of a PostgreSQL database. What a server takes for granted is said, whatever its own settings are."""
    if find_spec("psycopg") is None:
        raise MissingExtra("psycopg", "postgres")
    import psycopg

    arguments: dict[str, Any] = {"connect_timeout": 10, **address.arguments()}
    if "options" not in arguments:
        # A program that was stopped with a lock in hand must not hold up the others for ever.
        patience, idle = int(1000 * PATIENCE), int(4000 * PATIENCE)
        arguments["options"] = f"-c lock_timeout={patience} -c idle_in_transaction_session_timeout={idle}"
    return create_engine(
        "postgresql+psycopg://",  # what is secret is known to the driver alone
        creator=lambda: noted_socket(psycopg.connect(**arguments)),
        isolation_level="READ COMMITTED",
        pool_use_lifo=True,
    )
