"""The store that keeps studies in a database: SQLite, PostgreSQL, or memory. `protocol` says what it promises."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from threading import Lock
from typing import Any

from sqlalchemy import Column, Connection, LargeBinary, Row, case, cast, delete, func, insert, select, type_coerce
from sqlalchemy.exc import DBAPIError
from sqlalchemy.types import NullType

from surefoot.errors import InvalidInput, KeyUsed, StorageDamaged, StorageUnavailable, StudyExists, StudyNotFound
from surefoot.storage import tables
from surefoot.storage.addresses import FORMS, Address, address_of
from surefoot.storage.databases import Database
from surefoot.storage.faults import is_lost_connection, named_faults
from surefoot.storage.protocol import COLUMNS, VERBS, Arms, Events, Result, Store, StudyRow
from surefoot.storage.schema import check_prepared, one_at_a_time, prepare

RECONNECTING = 30.0  # seconds for which a server that went away is called again
LONGEST_PAUSE = 1.0  # seconds between two calls
BULK = 1_000  # events that are handed over at once
AT_ONCE = 100  # events that the ledger reads at once: more would be swept by the garbage collector over and over


class DatabaseEvents:
    """The events of one study within a transaction."""

    def __init__(self, connection: Connection, study: int) -> None:
        self._connection = connection
        self._study = study
        self._mine = tables.events.c.study == study

    def after(self, sequence: int) -> Iterator[Row[Any]]:
        """What happened since, in order, as far as the ledger reads it; handed on while it is read."""
        columns = [tables.events.c[name] for name in COLUMNS]
        found = select(*columns).where(self._mine, tables.events.c.sequence > sequence)
        for part in self._connection.execute(found.order_by(tables.events.c.sequence)).partitions(AT_ONCE):
            yield from part

    def of_pull(self, number: int) -> list[dict[str, Any]]:
        """The events of this pull in full: the one that opened it and, if there is one, the one that closed it."""
        found = select(tables.events).where(self._mine, tables.events.c.number == number, tables.events.c.step >= 0)
        return [dict(row._mapping) for row in self._connection.execute(found.order_by(tables.events.c.step))]

    def at(self, sequence: int) -> dict[str, Any] | None:
        """The event with this sequence in full."""
        found = select(tables.events).where(self._mine, tables.events.c.sequence == sequence)
        row = self._connection.execute(found).one_or_none()
        return None if row is None else dict(row._mapping)

    def all(self) -> Iterator[dict[str, Any]]:
        """Every event in full, in order."""
        found = select(tables.events).where(self._mine).order_by(tables.events.c.sequence)
        for row in self._connection.execute(found.execution_options(yield_per=BULK)):
            yield dict(row._mapping)

    def keyed(self, key: str) -> dict[str, Any] | None:
        """The event with this key in full."""
        row = self._connection.execute(
            select(tables.events).where(self._mine, tables.events.c.key == key)
        ).one_or_none()
        return None if row is None else dict(row._mapping)

    def now(self) -> int:
        """The moment, by the clock of the server; where there is none, by that of this machine."""
        if self._connection.dialect.name != "postgresql":
            return time.time_ns() // 1_000
        moment = func.floor(func.extract("epoch", func.clock_timestamp()) * 1_000_000)
        return int(self._connection.execute(select(moment)).scalar_one())

    def append(self, events: Sequence[Mapping[str, Any]]) -> None:
        """Adds the events, whose sequences follow each other."""
        for first in range(0, len(events), BULK):
            rows = [{**_EMPTY, **event, "study": self._study} for event in events[first : first + BULK]]
            self._connection.execute(insert(tables.events), rows)


_EMPTY: dict[str, Any] = {column.name: None for column in tables.events.columns}


class DatabaseStore:
    """An open storage."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.address = database.address

    def close(self) -> None:
        """Gives back its connections."""
        self._database.close()

    # -- studies --------------------------------------------------------------------------------------------

    def create(self, study: StudyRow, arms: Arms, events: Iterable[Mapping[str, Any]] = ()) -> int:
        """The id of the new study, kept with these events at once; a name that is taken is refused."""

        def work(connection: Connection) -> int:
            one_at_a_time(connection)
            if _id_of(connection, study.name) is not None:
                raise StudyExists(study.name, str(self.address))
            _keep_arms(connection, arms)
            row = insert(tables.studies).values(**vars(study), arms=arms.digest)
            made = connection.execute(row.returning(tables.studies.c.id))
            found = int(made.scalar_one())
            kept, rest = DatabaseEvents(connection, found), iter(events)
            while part := list(islice(rest, BULK)):  # there may be more than fit into memory
                kept.append(part)
            return found

        return self._written(work)

    def find(self, name: str) -> tuple[int, StudyRow, Arms]:
        """The study of this name, with its id and its arms."""
        with named_faults(self.address), self._database.reading() as connection:
            wanted = select(tables.studies, *tables.arms.c).join(tables.arms).where(tables.studies.c.name == name)
            row = connection.execute(wanted).one_or_none()
            if row is None:
                raise StudyNotFound(name, str(self.address), _names(connection))
            table = dict(row._mapping)
        arms = Arms(table["count"], table["dimension"], bytes(table["content"]))
        if arms.digest != table["digest"]:
            raise StorageDamaged(str(self.address), f"holds arms of {name!r} that are not those stored once")
        return table["id"], StudyRow(**{key: table[key] for key in StudyRow.__annotations__}), arms

    def listed(self) -> list[dict[str, Any]]:
        """Every study with its number of events, in order of name."""
        of, sequence = tables.studies.c, tables.events.c.sequence
        counts = select(func.coalesce(func.max(sequence), 0)).where(tables.events.c.study == of.id).scalar_subquery()
        with named_faults(self.address), self._database.reading() as connection:
            dialect = connection.dialect.name  # one study with damaged text must not hide the others
            columns = [_raw(of[name], dialect) for name in ("name", "created_at", "created_by", "policy", "fold")]
            found = connection.execute(select(*columns, counts.label("events")).order_by(of.name))
            return [{key: _decoded(value) for key, value in row._mapping.items()} for row in found]

    def delete(self, name: str, key: str | None = None) -> None:
        """Forgets the study and all its events, and its arms unless another study has the same; a line about it stays.

        With a key, a study that was deleted with it before is not looked for again, whatever has its name now.
        """

        def work(connection: Connection) -> None:
            one_at_a_time(connection)
            if key is not None and _deleted_with(connection, key, name):
                return
            found = _id_of(connection, name)
            if found is None:
                raise StudyNotFound(name, str(self.address), _names(connection))
            self._lock(connection, found, name)
            _note_deletion(connection, found, name, key)
            connection.execute(delete(tables.events).where(tables.events.c.study == found))
            connection.execute(delete(tables.studies).where(tables.studies.c.id == found))
            used = select(tables.studies.c.arms)
            connection.execute(delete(tables.arms).where(tables.arms.c.digest.not_in(used)))

        self._written(work)

    # -- events ---------------------------------------------------------------------------------------------

    def write(self, study: int, name: str, work: Callable[[Events], Result]) -> Result:
        """What the work returns, once everything that it appended is kept; nobody else writes meanwhile.

        A server that went away is called again, and the work is done anew: it must begin by reading what happened.
        """

        def locked(connection: Connection) -> Result:
            self._lock(connection, study, name)
            return work(DatabaseEvents(connection, study))

        return self._written(locked)

    def read(self, study: int, name: str, work: Callable[[Events], Result]) -> Result:
        """What the work returns, which sees the events of the study as they are at one moment."""
        with named_faults(self.address), self._database.reading() as connection:
            if connection.execute(_row_of(study)).one_or_none() is None:
                raise StudyNotFound(name, str(self.address), _names(connection))
            return work(DatabaseEvents(connection, study))

    # -- within ---------------------------------------------------------------------------------------------

    def _written(self, work: Callable[[Connection], Result]) -> Result:
        """The result of the work in a transaction of its own, tried again while a server is away."""
        give_up, pause = time.monotonic() + RECONNECTING, 0.05
        while True:
            try:
                with named_faults(self.address), self._database.writing() as connection:
                    return work(connection)
            except StorageUnavailable as error:
                cause = error.__cause__
                if not isinstance(cause, DBAPIError) or not is_lost_connection(cause) or time.monotonic() > give_up:
                    raise
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def _lock(self, connection: Connection, study: int, name: str) -> None:
        """Holds the study until the transaction ends; a study that is gone is refused."""
        row = _row_of(study)
        if connection.execute(row.with_for_update() if self._database.locks_rows else row).one_or_none() is None:
            raise StudyNotFound(name, str(self.address), _names(connection))


def open_store(storage: object = None, *, create: bool = False) -> Store:
    """The store at this address, which only with `create` may be made now; or the store that was handed in."""
    if storage is not None and not isinstance(storage, str):
        return checked_store(storage)
    address = address_of(storage)
    with named_faults(address):
        database = opened_database(address, create=create)
        try:
            if create:
                prepare(database)
            else:
                check_prepared(database)
        except BaseException:
            if not address.in_memory:
                database.close()
            raise
    return DatabaseStore(database)


def checked_store(store: object) -> Store:
    """The store itself; what lacks a verb is refused by the verbs it lacks."""
    missing = [verb for verb in VERBS if not hasattr(store, verb)]
    if missing or isinstance(store, type):
        lacks = "is a class, not an object" if isinstance(store, type) else f"has no {', '.join(missing)}"
        reason = f"must be the address of a storage, or a store of your own, and {lacks}"
        raise InvalidInput("storage", store, reason, FORMS)
    return store  # type: ignore[return-value]


def opened_database(address: Address, *, create: bool) -> Database:
    """The database at this address; there is one in memory for the whole process."""
    if not address.in_memory:
        return Database(address, create=create)
    with _memory_lock:
        if not _in_memory:
            database = Database(address, create=True)
            prepare(database)
            _in_memory.append(database)
        return _in_memory[0]


_in_memory: list[Database] = []
_memory_lock = Lock()


def _row_of(study: int) -> Any:
    return select(tables.studies.c.id).where(tables.studies.c.id == study)


def _raw(column: Column[Any], dialect: str) -> Any:
    """The column with text as the bytes that are stored, where nobody has looked whether they are text."""
    if dialect != "sqlite":
        return column
    found = case((func.typeof(column) == "text", cast(column, LargeBinary)), else_=column)
    return type_coerce(found, NullType()).label(column.name)


def _decoded(stored: Any) -> Any:
    """Text, also where the bytes are none; what is odd about it stays odd."""
    return stored.decode("utf-8", "surrogateescape") if isinstance(stored, bytes) else stored


def _id_of(connection: Connection, name: str) -> int | None:
    return connection.execute(select(tables.studies.c.id).where(tables.studies.c.name == name)).scalar_one_or_none()


def _names(connection: Connection) -> list[str]:
    found = select(tables.studies.c.name).order_by(tables.studies.c.name).limit(20)
    return list(connection.execute(found).scalars())


def _deleted_with(connection: Connection, key: str, name: str) -> bool:
    """Whether the study was deleted with this key before; one that another was deleted with is refused."""
    found = select(tables.deletions.c.name).where(tables.deletions.c.key == key)
    before = connection.execute(found).scalar_one_or_none()
    if before is not None and before != name:
        raise KeyUsed(key, f"delete the study {before!r}")
    return before is not None


def _note_deletion(connection: Connection, study: int, name: str, key: str | None) -> None:
    """Notes what is about to be deleted: how many events, and the hash of the last."""
    mine = tables.events.c.study == study
    last = select(tables.events.c.sequence, tables.events.c.hash).where(mine)
    count, head = connection.execute(last.order_by(tables.events.c.sequence.desc()).limit(1)).one_or_none() or (0, None)
    at = DatabaseEvents(connection, study).now()
    connection.execute(insert(tables.deletions).values(name=name, at=at, events=count, head=head, key=key))


def _keep_arms(connection: Connection, arms: Arms) -> None:
    """Stores the arms unless they are there already."""
    held = select(tables.arms.c.digest).where(tables.arms.c.digest == arms.digest)
    if connection.execute(held).one_or_none() is None:
        connection.execute(insert(tables.arms).values(digest=arms.digest, **vars(arms)))
