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
    "25006": (errors.StorageReadOnly, "may not be written"),
    "42501": (errors.StorageReadOnly, "gives this user no right to do so"),
    "53100": (errors.StorageFull, "has no room left"),
    "XX001": (errors.StorageDamaged, "is damaged"),
    "XX002": (errors.StorageDamaged, "has a damaged index"),
    "53": (errors.StorageUnavailable, "has no resources left"),
}


@contextmanager
def named_faults(address: Address) -> Iterator[None]:
    """What goes wrong inside leaves as a StorageError."""
    try:
        yield
    except exc.NoSuchModuleError:
        raise MissingExtra("psycopg", "postgres") from None
    except (exc.DBAPIError, exc.TimeoutError) as error:
        raise named(error, address) from error
    except (UnicodeDecodeError, sqlite3.Error) as error:
        raise named_cause(error, address) from error


def named(error: exc.SQLAlchemyError, address: Address) -> StorageError:
    """The error under its name here."""
    if isinstance(error, exc.DBAPIError) and error.orig is not None:
        return named_cause(error.orig, address)
    return errors.StorageUnavailable(str(address), f"does not answer ({error})")


def named_cause(cause: BaseException, address: Address) -> StorageError:
    """The driver's error under its name here."""
    said = " ".join(str(cause).split())
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
    if state is None or state[:2] in ("08", "57"):  # no answer at all, a lost connection, a server on its way down
        return errors.StorageUnavailable(str(address), f"cannot be reached ({said})")
    for length in (5, 2):
        if state[:length] in POSTGRES:
            kind, words = POSTGRES[state[:length]]
            return kind(str(address), f"{words} ({said})")
    return errors.StorageDamaged(str(address), f"does not hold what it should ({said})")


def has_no_room(address: Address) -> bool:
    """Whether the disk is full, the quota used up, or a file as large as it may be: found out by writing beside it."""
    if address.path is None:
        return False
    try:
        sizes = [path.stat().st_size for path in address.path.parent.glob(f"{glob.escape(address.path.name)}*")]
        with TemporaryFile(dir=address.path.parent, buffering=0) as file:
            file.seek(max(sizes, default=0))
            file.write(bytes(SOME_ROOM))
    except OSError as error:
        return error.errno in NO_ROOM
    return False


def is_lost_connection(error: BaseException) -> bool:
    """Whether a server went away, so that the same step may succeed on a new connection."""
    cause = error.orig if isinstance(error, exc.DBAPIError) else None
    if cause is None or isinstance(cause, sqlite3.Error):
        return False
    state = getattr(cause, "sqlstate", None)
    return state is None or state[:2] in ("08", "57")
