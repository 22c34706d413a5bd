"""Care for a storage: bring its tables up to date, copy it, look whether it is whole."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Table, func, insert, select, text

from surefoot.errors import InvalidInput, StorageBusy, StorageDamaged, StorageFull, StorageUnavailable
from surefoot.files import NO_ROOM, as_path, forget_unfinished_of, give_name, held_beside, unnamed
from surefoot.storage import sqlite_file, tables
from surefoot.storage.addresses import Address, address_of, file_address
from surefoot.storage.database_events import BULK
from surefoot.storage.databases import Database
from surefoot.storage.engines import PATIENCE
from surefoot.storage.faults import named_faults
from surefoot.storage.schema import check_prepared, prepare, revision_of, upgraded
from surefoot.storage.sqlite_file import JOURNALS, TRUNCATE, TRUNCATED, WAL, SQLiteFile
from surefoot.storage.store import open_store, opened_database

COPIED = (tables.arms, tables.studies, tables.events, tables.deletions)
PIECE = 1 << 20  # bytes that are copied at once


@dataclass(frozen=True)
class Upgrade:
    """The arrangement of the tables before, None where there were none, and after."""

    storage: str
    before: str | None
    after: str

    @property
    def changed(self) -> bool:
        """Whether anything had to be done."""
        return self.before != self.after


@dataclass(frozen=True)
class Condition:
    """What a look at a storage found; no faults is good."""

    storage: str
    revision: str
    studies: int
    events: int
    faults: tuple[str, ...]


@dataclass(frozen=True)
class Made:
    """A storage as it was made, or as its journal is now; a server looks after its own."""

    storage: str
    journal: str | None


def create(storage: str | None = None, journal: str = WAL, shared_with_group: bool = False) -> Made:
    """Makes a new, empty storage.

    A file is for its owner alone, or for the group as well. Its journal is "wal": readers and writers never wait for
    each other, and the newest results are in a second file beside it while it is open; or "truncate": everything that
    was acknowledged is in the one file at every moment, and every step is slower.
    """
    address = address_of(storage)
    _check_journal(journal)
    if address.path is None:
        if journal != WAL or shared_with_group:
            raise InvalidInput("storage", str(address), "is no SQLite file", "Only those have a journal and a group.")
        open_store(storage, create=True)
        return Made(str(address), None)
    with named_faults(address):
        try:
            made = sqlite_file.make(address.path, shared_with_group)
        except OSError as error:
            detail = f"cannot be made ({error.strerror or error})"
            raise StorageUnavailable(str(address), detail) from error
        if not made:
            remedy = "Use it as it is; its journal is changed with `surefoot storage journal`."
            raise InvalidInput("storage", str(address), "exists already", remedy)
        if journal == TRUNCATE:
            with closing(SQLiteFile(address, address.path).opened(PATIENCE)) as connection:
                _mark(connection, TRUNCATED)
    open_store(str(address), create=True)
    return Made(str(address), journal)


def change_journal(storage: str | None = None, journal: str | None = None) -> Made:
    """The journal of an SQLite file, changed to this one if one is given; nobody else may have the file open."""
    address = address_of(storage)
    if address.path is None:
        raise InvalidInput("storage", str(address), "is no SQLite file", "Only those have a journal of ours.")
    with named_faults(address):
        database = opened_database(address, create=False)
        check_prepared(database)
        file = SQLiteFile(address, address.path)
        before = TRUNCATE if file.without_log else WAL
        if journal is None or _check_journal(journal) == before:
            return Made(str(address), before)
        database.close()
        with file.queue.door(PATIENCE), closing(file.opened(PATIENCE)) as connection:
            foreign = connection.execute("PRAGMA application_id").fetchone()[0] not in (0, TRUNCATED)
            if foreign:
                remedy = "Keep the studies in a file of their own."
                raise InvalidInput("storage", str(address), "is a file of another application", remedy)
            if not file.end_log(connection):
                raise StorageBusy(str(address), "is open in another program, and its journal cannot be changed")
            _mark(connection, TRUNCATED if journal == TRUNCATE else 0)
    return Made(str(address), journal)


def _check_journal(journal: object) -> str:
    if journal not in JOURNALS:
        raise InvalidInput("journal", journal, "is not a journal", f"Name one of: {', '.join(JOURNALS)}.")
    return str(journal)


def _mark(connection: sqlite3.Connection, number: int) -> None:
    connection.execute("PRAGMA journal_mode = TRUNCATE")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(f"PRAGMA application_id = {number}")


def accept(storage: str | None = None) -> Condition:
    """Takes an SQLite file that has lost its log as it is: what was in the log is given up."""
    address = address_of(storage)
    if address.path is None or not address.path.exists():
        raise InvalidInput("storage", str(address), "is no SQLite file that is there", "Name the file.")
    with named_faults(address):
        file = SQLiteFile(address, address.path)
        with file.queue.door(PATIENCE), closing(file.opened(PATIENCE)) as connection:
            connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()
            if not file.end_log(connection):
                raise StorageBusy(str(address), "is open in another program, and cannot be accepted as it is")
            file.queue.remove()
    return check(storage)


def upgrade(storage: str | None = None) -> Upgrade:
    """Brings the tables to the arrangement of this version, all the way or not at all; studies keep every event."""
    address = address_of(storage)
    with named_faults(address):
        before, after = upgraded(opened_database(address, create=False))
    return Upgrade(str(address), before, after)


def backup(storage: str | None, path: str | Path) -> Path:
    """The new SQLite file that holds everything the storage held at one moment; work on the storage goes on.

    The copy is a storage itself: open it with sqlite:///PATH. A file that exists is left alone and refused. Until it is
    complete it has no name: a backup that is killed leaves nothing, but for an empty file in its first instant, which
    the next one sweeps.
    """
    address, place = address_of(storage), as_path("path", path).absolute()
    if place.exists():
        raise InvalidInput("path", str(place), "exists already", "Name a new file; a backup never replaces one.")
    if not place.parent.is_dir():
        raise InvalidInput("path", str(place), "is in a folder that does not exist", "Make the folder first.")
    forget_unfinished_of(place)
    with named_faults(address):
        source = opened_database(address, create=False)
        check_prepared(source)
    target = file_address(place)
    try:
        with _made_apart(place, target) as (connection, made):
            _copied(source, Database(target, create=False, connection=connection))
            connection.close()
            with _written_beside(target), unnamed(place, sqlite_file.OWNER) as descriptor:
                for at in range(0, os.fstat(made).st_size, PIECE):
                    os.write(descriptor, os.pread(made, PIECE, at))
                os.fsync(descriptor)
                give_name(descriptor, place)
    except FileExistsError:
        raise InvalidInput("path", str(place), "exists already", "Name a new file.") from None
    return place


@contextmanager
def _made_apart(place: Path, target: Address) -> Iterator[tuple[sqlite3.Connection, int]]:
    """A connection to a new database whose file has lost its name already, and a descriptor of that file."""
    with _written_beside(target), named_faults(target), held_beside(place, sqlite_file.OWNER) as (part, made):
        name = f"file:{quote(str(part))}?mode=rw"
        connection = sqlite3.connect(name, uri=True, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("PRAGMA journal_mode = OFF")  # nobody else will ever see it unfinished
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            part.unlink()
            yield connection, made
        finally:
            connection.close()


@contextmanager
def _written_beside(target: Address) -> Iterator[None]:
    """What the folder refuses is a fault of the copy, not of the storage."""
    try:
        yield
    except FileExistsError:
        raise
    except OSError as error:
        kind = StorageFull if error.errno in NO_ROOM else StorageUnavailable
        raise kind(str(target), f"cannot be written ({error.strerror or error})") from error


def check(storage: str | None = None) -> Condition:
    """What the storage holds, and every fault that can be seen without replaying its studies."""
    address = address_of(storage)
    with named_faults(address):
        database = opened_database(address, create=False)
        check_prepared(database)
        with database.reading() as connection:
            return _condition(connection, address)


def _copied(source: Database, target: Database) -> None:
    """Copies every row into a new SQLite file; what goes wrong is named after the one of the two where it did."""
    with named_faults(target.address):
        prepare(target)
    with named_faults(source.address), source.reading() as old:
        for table in COPIED:
            for rows in _rows_of(old, table):
                with named_faults(target.address), target.writing() as new:
                    new.execute(insert(table), rows)


def _rows_of(connection: Connection, table: Table) -> Iterator[list[dict[str, Any]]]:
    """All rows, a few at a time."""
    found = connection.execution_options(yield_per=BULK).execute(select(table)).mappings()
    for part in found.partitions(BULK):
        yield [dict(row) for row in part]


def _condition(connection: Connection, address: Address) -> Condition:
    """The counts and the faults; what cannot even be counted is one of them."""
    faults: list[str] = []
    counts = [0, 0, 0]
    try:
        with named_faults(address):
            faults += _page_faults(connection)
            faults += _orphans(connection)
            counts = [connection.execute(select(func.count()).select_from(table)).scalar_one() for table in COPIED]
            faults += _row_faults(connection)
    except StorageDamaged as error:
        faults.append(f"the file {error.detail}")
    return Condition(str(address), revision_of(connection) or "", counts[1], counts[2], tuple(faults))


def _page_faults(connection: Connection) -> list[str]:
    """What SQLite finds when it reads every page; a server looks after its files itself."""
    if connection.dialect.name != "sqlite":
        return []
    found = [str(row[0]) for row in connection.execute(text("PRAGMA integrity_check"))]
    return [] if found == ["ok"] else [f"the file: {line}" for line in found]


def _orphans(connection: Connection) -> list[str]:
    """Rows that belong to nothing; a server does not allow them."""
    if connection.dialect.name != "sqlite":
        return []
    found = connection.execute(text("PRAGMA foreign_key_check")).fetchall()
    return [f"a row of {row[0]} belongs to nothing in {row[2]}" for row in found]


def _row_faults(connection: Connection) -> list[str]:
    """Studies whose events do not count from 1 without a gap."""
    sequence = tables.events.c.sequence
    wanted = (
        select(tables.studies.c.name, func.count(), func.min(sequence), func.max(sequence))
        .join(tables.events)
        .group_by(tables.studies.c.id)
        .order_by(tables.studies.c.name)
    )
    return [
        f"study {name!r}: {count} events that count from {first} to {last}"
        for name, count, first, last in connection.execute(wanted)
        if (first, last) != (1, count)
    ]
