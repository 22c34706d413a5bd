"""What a database complains about, as an error of surefoot that says what to do."""

import glob
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryFile

from sqlalchemy import exc

from surefoot import errors
from surefoot.errors import MissingExtra, StorageError
from surefoot.files import NO_ROOM
from surefoot.storage.addresses import Address
from surefoot.storage.read_only import is_fixed

SOME_ROOM = 64 * 1024  # bytes: a page of SQLite, its log and the index of that

# The lower byte of SQLite's code, whatever the details above it.
SQLITE = {
    sqlite3.SQLITE_BUSY: (errors.StorageBusy, "is locked by another program"),
    sqlite3.SQLITE_LOCKED: (errors.StorageBusy, "is locked by another connection"),
    sqlite3.SQLITE_PROTOCOL: (errors.StorageBusy, "is locked by too many programs at once"),
    sqlite3.SQLITE_READONLY: (errors.StorageReadOnly, "may not be written"),
    sqlite3.SQLITE_PERM: (errors.StorageReadOnly, "may not be written"),
    sqlite3.SQLITE_FULL: (errors.StorageFull, "has no room left"),
    sqlite3.SQLITE_CORRUPT: (errors.StorageDamaged, "is damaged"),
    sqlite3.SQLITE_NOTADB: (errors.StorageDamaged, "is not an SQLite database"),
    sqlite3.SQLITE_CANTOPEN: (errors.StorageUnavailable, "cannot be opened"),
    sqlite3.SQLITE_IOERR: (errors.StorageUnavailable, "cannot be read or written"),
}
# The first characters of PostgreSQL's SQLSTATE, the longest that fits first.
POSTGRES = {
    "55P03": (errors.StorageBusy, "is locked by another program"),
    "40": (errors.StorageBusy, "could not fit this step between those of others"),
    "57014": (errors.StorageBusy, "took too long and was told to stop"),
    "25006": (errors.StorageReadOnly, "may not be written"),
    "42501": (errors.StorageReadOnly, "gives this user no right to do so"),
    "53100": (errors.StorageFull, "has no room left"),
    "XX001": (errors.StorageDamaged, "is damaged"),
    "XX002": (errors.StorageDamaged, "has a damaged index"),
    "28": (errors.StorageUnavailable, "does not let this user in"),
    "3D": (errors.StorageUnavailable, "does not exist"),
    "53": (errors.StorageUnavailable, "has no resources left"),
}


COMMITTING = "surefoot_committing"  # the mark of an error that came while a step was being kept
LEAST = 4  # characters of a secret that can be taken out of a text without spoiling it


@contextmanager
def named_faults(address: Address) -> Iterator[None]:
    """What goes wrong inside leaves as a StorageError."""
    try:
        yield
    except exc.NoSuchModuleError:
        raise MissingExtra("psycopg", "postgres") from None
    except Exception as error:
        found = named(error, address)
        if found is None:
            raise
        found._passing = is_lost_connection(error)
        if scrubbed(str(error), address) == str(error):
            raise found from error
        raise found from None  # the driver repeats a secret


def named(error: BaseException, address: Address) -> StorageError | None:
    """The error under its name here; None for one that no database has raised."""
    cause = cause_of(error)
    if cause is not None:
        found = named_cause(cause, address)
        if getattr(error, COMMITTING, False) and type(found) is errors.StorageUnavailable:
            return errors.StorageUncertain(found.storage, found.detail)
        return found
    if isinstance(error, exc.TimeoutError):
        return errors.StorageBusy(str(address), "has no connection to spare: too many threads use it at once")
    if isinstance(error, UnicodeDecodeError | exc.DBAPIError):
        return named_cause(error, address)
    return None


def cause_of(error: BaseException) -> BaseException | None:
    """The error of the driver, bare or as SQLAlchemy hands it on."""
    cause = error.orig if isinstance(error, exc.DBAPIError) else error
    is_drivers = isinstance(cause, sqlite3.Error) or type(cause).__module__.startswith("psycopg")
    return cause if is_drivers else None


def named_cause(cause: BaseException, address: Address) -> StorageError:
    """The driver's error under its name here."""
    said = scrubbed(" ".join(str(cause).split()), address)
    if isinstance(cause, sqlite3.Error):
        code = (getattr(cause, "sqlite_errorcode", None) or 0) & 0xFF
        if code == sqlite3.SQLITE_CANTOPEN and address.path is not None and is_fixed(address.path):
            code = sqlite3.SQLITE_READONLY  # even readers need to write to the log's index
        if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR) and has_no_room(address):
            code = sqlite3.SQLITE_FULL  # SQLite knows it only of the file itself, not of the log and its index
        kind, words = SQLITE.get(code, (errors.StorageDamaged, "does not hold what it should"))
        return kind(str(address), f"{words} ({said})")
    if isinstance(cause, UnicodeDecodeError):
        return errors.StorageDamaged(str(address), f"holds text that is none ({said})")
    state = getattr(cause, "sqlstate", None)
    if state is None or is_lost(state):  # no answer at all, a lost connection, a server on its way down
        return errors.StorageUnavailable(str(address), f"cannot be reached ({said})")
    for length in (5, 2):
        if state[:length] in POSTGRES:
            kind, words = POSTGRES[state[:length]]
            return kind(str(address), f"{words} ({said})")
    return errors.StorageDamaged(str(address), f"does not hold what it should ({said})")


def scrubbed(said: str, address: Address) -> str:
    """The words without what is secret in the address; nothing of them where it is too short to be taken out."""
    for secret in sorted(address.secrets, key=len, reverse=True):
        if secret in said:
            if len(secret) < LEAST:
                return "in words that are left out, because they may hold a secret"
            said = said.replace(secret, "***")
    return said


def has_no_room(address: Address) -> bool:
    """Whether the disk is full, the quota used up, or a file as large as it may be: found out by writing beside it."""
    if address.path is None:
        return False
    try:
        sizes = [path.stat().st_size for path in address.path.parent.glob(f"{glob.escape(address.path.name)}*")]
        with TemporaryFile(dir=address.path.parent, buffering=0) as file:
            file.seek(max(sizes, default=0))
            return file.write(bytes(SOME_ROOM)) < SOME_ROOM
    except OSError as error:
        return error.errno in NO_ROOM


def is_lost_connection(error: BaseException) -> bool:
    """Whether a server went away, so that the same step may succeed on a new connection."""
    cause = cause_of(error)
    if cause is None or isinstance(cause, sqlite3.Error):
        return False
    state = getattr(cause, "sqlstate", None)
    return is_lost(state) if state is not None else type(cause).__name__ in ("OperationalError", "InterfaceError")


def is_lost(state: str) -> bool:
    """Whether the server says with this state that the connection is at its end."""
    return state[:2] == "08" or state[:3] == "57P" or state == "25P03"  # the last: idle in a transaction for too long
