"""Care for a storage: bring its tables up to date, copy it, look whether it is whole."""

import os
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, func, insert, select, text

from surefoot.errors import InvalidInput, StorageDamaged
from surefoot.files import as_path, beside
from surefoot.storage import tables
from surefoot.storage.addresses import Address, address_of, file_address
from surefoot.storage.databases import Database
from surefoot.storage.faults import named_faults
from surefoot.storage.schema import check_prepared, prepare, revision_of, upgraded
from surefoot.storage.store import BULK, opened_database

COPIED = (tables.arms, tables.studies, tables.events)


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


def upgrade(storage: str | None = None) -> Upgrade:
    """Brings the tables to the arrangement of this version, all the way or not at all; studies keep every event."""
    address = address_of(storage)
    with named_faults(address):
        database = opened_database(address, create=False)
        try:
            before, after = upgraded(database)
        finally:
            release(database)
    return Upgrade(str(address), before, after)


def backup(storage: str | None, path: str | Path) -> Path:
    """The new SQLite file that holds everything the storage held at one moment; work on the storage goes on.

    The copy is a storage itself: open it with sqlite:///PATH. A file that exists is left alone and refused.
    """
    address, place = address_of(storage), as_path("path", path).absolute()
    if place.exists():
        raise InvalidInput("path", str(place), "exists already", "Name a new file; a backup never replaces one.")
    if not place.parent.is_dir():
        raise InvalidInput("path", str(place), "is in a folder that does not exist", "Make the folder first.")
    with named_faults(address):
        source = opened_database(address, create=False)
        check_prepared(source)
    try:
        with beside(place, "-wal", "-shm") as part:
            _copied(source, file_address(part))
            with part.open("rb") as file:
                os.fsync(file.fileno())
            os.link(part, place)  # unlike a move, this never replaces a file
    except FileExistsError:
        raise InvalidInput("path", str(place), "exists already", "Name a new file.") from None
    finally:
        release(source)
    return place


def check(storage: str | None = None) -> Condition:
    """What the storage holds, and every fault that can be seen without replaying its studies."""
    address = address_of(storage)
    with named_faults(address):
        database = opened_database(address, create=False)
        try:
            check_prepared(database)
            with database.reading() as connection:
                return _condition(connection, address)
        finally:
            release(database)


def release(database: Database) -> None:
    """Gives back the connections, unless the storage would end with them."""
    if not database.address.in_memory:
        database.close()


def _copied(source: Database, address: Address) -> None:
    """Copies every row into a new SQLite file."""
    with named_faults(address):
        target = Database(address, create=True)
        try:
            prepare(target)
            with source.reading() as old, named_faults(address), target.writing() as new:
                for table in COPIED:
                    rows = old.execution_options(yield_per=BULK).execute(select(table)).mappings()
                    for part in rows.partitions(BULK):
                        new.execute(insert(table), [dict(row) for row in part])
        finally:
            target.close()  # which empties the write-ahead log into the file


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
