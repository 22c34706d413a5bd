"""The store that keeps studies in a database: SQLite, PostgreSQL, or memory. `protocol` says what it promises."""

from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from threading import Lock
from typing import Any

from sqlalchemy import Column, Connection, LargeBinary, case, cast, delete, func, insert, select, type_coerce
from sqlalchemy.types import NullType

from surefoot.errors import InvalidInput, KeyUsed, StorageDamaged, StudyExists, StudyNotFound
from surefoot.storage import tables
from surefoot.storage.addresses import FORMS, Address, address_of
from surefoot.storage.database_events import BULK, DatabaseEvents
from surefoot.storage.databases import KEPT, Database
from surefoot.storage.engines import driver_of
from surefoot.storage.faults import named_faults
from surefoot.storage.protocol import VERBS, Arms, Events, Result, Store, StudyRow
from surefoot.storage.schema import check_prepared, one_at_a_time, prepare
from surefoot.storage.sharing import shared_database
from surefoot.storage.steps import again_while_away, read_from, written_to
from surefoot.storage.words import words_for

RECONNECTING = 30.0  # seconds for which a server that went away is called again


class DatabaseStore:
    """An open storage."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.address = database.address
        database.users.add(self)

    def close(self) -> None:
        """Gives back the connections, unless another store shares them; one that is used again opens new ones."""
        self._database.users.discard(self)
        if not self._database.users and not self.address.in_memory:
            self._database.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.address)!r})"

    # -- studies --------------------------------------------------------------------------------------------

    def create(self, study: StudyRow, arms: Arms, events: Iterable[Mapping[str, Any]] = ()) -> int:
        """The id of the new study, kept with these events at once; a name that is taken is refused."""

        tried: list[bool] = []
        anew = list(events) if iter(events) is events else events  # it may have to be gone through again

        def work(connection: Connection) -> int:
            one_at_a_time(connection)
            there = _id_of(connection, study.name)
            if there is not None:
                if tried and _is_same(connection, there, study, arms):
                    return there  # it was kept, and only the acknowledgement was lost
                raise StudyExists(study.name, str(self.address))
            tried.append(True)
            _keep_arms(connection, arms)
            row = insert(tables.studies).values(**vars(study), arms=arms.digest)
            made = connection.execute(row.returning(tables.studies.c.id))
            found = int(made.scalar_one())
            connection.info[KEPT] = (found, 0)
            kept, rest = DatabaseEvents(connection, found), iter(anew)
            while part := list(islice(rest, BULK)):  # there may be more than fit into memory
                kept.append(part)
            return found

        return written_to(self._database, work, RECONNECTING)

    def find(self, name: str) -> tuple[int, StudyRow, Arms]:
        """The study of this name, with its id and its arms."""
        wanted = select(tables.studies, *tables.arms.c).join(tables.arms).where(tables.studies.c.name == name)

        def work(connection: Connection) -> dict[str, Any]:
            row = connection.execute(wanted).one_or_none()
            if row is None:
                raise StudyNotFound(name, str(self.address), _names(connection))
            return dict(row._mapping)

        table = read_from(self._database, work, RECONNECTING)
        arms = Arms(table["count"], table["dimension"], bytes(table["content"]))
        if arms.digest != table["digest"]:
            raise StorageDamaged(str(self.address), f"holds arms of {name!r} that are not those stored once")
        return table["id"], StudyRow(**{key: table[key] for key in StudyRow.__annotations__}), arms

    def listed(self) -> list[dict[str, Any]]:
        """Every study with its number of events, in order of name."""
        of, sequence = tables.studies.c, tables.events.c.sequence
        counts = select(func.coalesce(func.max(sequence), 0)).where(tables.events.c.study == of.id).scalar_subquery()

        def work(connection: Connection) -> list[dict[str, Any]]:
            dialect = connection.dialect.name  # one study with damaged text must not hide the others
            columns = [_raw(of[name], dialect) for name in ("name", "created_at", "created_by", "policy", "fold")]
            found = connection.execute(select(*columns, counts.label("events")).order_by(of.name))
            return [{key: _decoded(value) for key, value in row._mapping.items()} for row in found]

        return read_from(self._database, work, RECONNECTING)

    def delete(self, name: str, key: str | None = None) -> None:
        """Forgets the study and all its events, and its arms unless another study has the same; a line about it stays.

        With a key, a study that was deleted with it before is not looked for again, whatever has its name now.
        """

        tried: list[int] = []

        def work(connection: Connection) -> None:
            one_at_a_time(connection)
            if key is not None and _deleted_with(connection, key, name):
                return
            found = _id_of(connection, name)
            if tried and found != tried[0]:
                return  # it was deleted, and only the acknowledgement was lost
            if found is None:
                raise StudyNotFound(name, str(self.address), _names(connection))
            tried[:] = [found]
            self._lock(connection, found, name)
            _note_deletion(connection, found, name, key)
            connection.execute(delete(tables.events).where(tables.events.c.study == found))
            connection.execute(delete(tables.studies).where(tables.studies.c.id == found))
            used = select(tables.studies.c.arms)
            connection.execute(delete(tables.arms).where(tables.arms.c.digest.not_in(used)))
            connection.info[KEPT] = (found, -1)

        written_to(self._database, work, RECONNECTING)

    # -- events ---------------------------------------------------------------------------------------------

    def write(
        self, study: int, name: str, work: Callable[[Events], Result], meanwhile: Callable[[], object] | None = None
    ) -> Result:
        """What the work returns, once everything that it appended is kept; nobody else writes meanwhile.

        A server that went away is called again, and the work is done anew: it must begin by reading what happened.
        """

        def locked(connection: Connection) -> Result:
            self._lock(connection, study, name)
            return work(DatabaseEvents(connection, study))

        return written_to(self._database, locked, RECONNECTING, meanwhile)

    def read(self, study: int, name: str, work: Callable[[Events], Result]) -> Result:
        """What the work returns, which sees the events of the study as they are at one moment."""

        def seen(connection: Connection) -> Result:
            self._lock(connection, study, name, words_for(connection.dialect.name).there)
            return work(DatabaseEvents(connection, study))

        return read_from(self._database, seen, RECONNECTING)

    # -- within ---------------------------------------------------------------------------------------------

    def _lock(self, connection: Connection, study: int, name: str, words: str | None = None) -> None:
        """Holds the study until the transaction ends; a study that is gone is refused."""
        driver, lock = driver_of(connection), words or words_for(connection.dialect.name).lock
        if driver.execute(lock, (study,)).fetchone() is None:
            raise StudyNotFound(name, str(self.address), _names(connection))


def open_store(storage: object = None, *, create: bool = False) -> Store:
    """The store at this address, which only with `create` may be made now; or the store that was handed in."""
    if storage is not None and not isinstance(storage, str):
        return checked_store(storage)
    address = address_of(storage)
    with named_faults(address):
        database = opened_database(address, create=create)
    again_while_away(database, lambda: prepare(database) if create else check_prepared(database), RECONNECTING)
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
        return shared_database(address, create=create)
    with _memory_lock:
        if not _in_memory or _in_memory[0].is_of_parent:
            _in_memory.clear()
            database = Database(address, create=True)
            prepare(database)
            _in_memory.append(database)
        return _in_memory[0]


_in_memory: list[Database] = []
_memory_lock = Lock()


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


def _is_same(connection: Connection, there: int, study: StudyRow, arms: Arms) -> bool:
    """Whether the study that is there is the one that is to be created, to the microsecond."""
    columns = [tables.studies.c[name] for name in StudyRow.__annotations__]
    found = connection.execute(select(*columns, tables.studies.c.arms).where(tables.studies.c.id == there)).one()
    return tuple(found) == (*(getattr(study, name) for name in StudyRow.__annotations__), arms.digest)


def _keep_arms(connection: Connection, arms: Arms) -> None:
    """Stores the arms unless they are there already."""
    held = select(tables.arms.c.digest).where(tables.arms.c.digest == arms.digest)
    if connection.execute(held).one_or_none() is None:
        connection.execute(insert(tables.arms).values(digest=arms.digest, **vars(arms)))
