"""An SQLite file as surefoot keeps it: whose it is, which journal it has, and whether its log is with it.

With a write-ahead log the newest results are in a second file, `power.db-wal`, until they are brought into the first.
Who copies the first alone has an old state that looks whole. So the last program that closes the file brings everything
into it and says so in its header, by setting back the journal; while one works on it, the header says "log". A file
whose header says "log" and that has none has therefore lost it, or was copied without it. (Or another tool closed it
last, after all of ours were killed: then the queue beside it knows what was written last, and whether it is there; or
that nothing was written since the file got its log, so that nothing can be missing.)
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from threading import local
from urllib.parse import quote

from surefoot.errors import StorageDamaged, StorageIncomplete
from surefoot.storage.addresses import Address
from surefoot.storage.headers import Identity, counted_connection, header_of, identity_of
from surefoot.storage.queue import Queue
from surefoot.storage.read_only import has_log, is_fixed
from surefoot.storage.tables import REVISIONS, VERSION_TABLE

WAL, TRUNCATE = "wal", "truncate"
JOURNALS = (WAL, TRUNCATE)
OWNER, GROUP = 0o600, 0o660  # who may read and write a new file
TRUNCATED = 0x53464A54  # the application's number in the header of a file that is to have no log
CLOSING = 2.0  # seconds that one who closes waits for another who does


class SQLiteFile:
    """The file of an address, with the queue beside it."""

    def __init__(self, address: Address, path: Path) -> None:
        self.address, self.path = address, path
        self.log = self.path.with_name(self.path.name + "-wal")
        self.queue = Queue(self.path, permissions(self.path))
        self.settled = False  # whether it is known to be one of ours, which has its log while it is open
        self.closed = False  # whether it was settled, and closed since
        self._here = local()

    def opened(self, patience: float) -> sqlite3.Connection:
        """A plain connection to the file, which must exist."""
        place = f"file:{quote(str(self.path))}?mode=rw"
        return counted_connection(
            self.path, place, timeout=patience, isolation_level=None, check_same_thread=False, cached_statements=64
        )

    @property
    def without_log(self) -> bool:
        """Whether the file is to have no log."""
        return application_of(self.path) == TRUNCATED

    def log_identity(self) -> Identity | None:
        """Which log there is."""
        return identity_of(self.log)

    def check_whole(self) -> None:
        """Refuses a file that is shorter than it says: SQLite itself would notice only when it needs the rest."""
        if has_log(self.path):
            return  # some of it is still in the log
        header = header_of(self.path)
        size, pages = int.from_bytes(header[16:18], "big"), int.from_bytes(header[28:32], "big")
        if self.path.stat().st_size < pages * (65_536 if size == 1 else size):
            raise StorageDamaged(str(self.address), "is cut off: it is shorter than it says")

    # -- opening ----------------------------------------------------------------------------------------------

    def check_complete(self) -> None:
        """Refuses a file that was left by its log; one that older versions closed cannot be told from it, and opens."""
        if not self._log_is_missing():
            return
        if getattr(self._here, "holds_door", False):
            return  # this thread is at work on the journal
        with self.queue.door(CLOSING) as held:
            for _ in range(1 if held else 5):  # somebody may be about to close it, or to open it
                if not self._log_is_missing():
                    return
                if not held:
                    time.sleep(0.1)
            if self._is_innocent():
                return
        raise StorageIncomplete(
            str(self.address),
            f"is without its log: its header says that the newest results are in {self.log.name}, which is not there",
        )

    def _log_is_missing(self) -> bool:
        return says_log(self.path) and not self.log.exists()

    def _is_innocent(self) -> bool:
        """Whether all that was acknowledged is there nevertheless, or it was written before anybody took care."""
        with closing(self.looked_at()) as connection:
            tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_schema")]
            if VERSION_TABLE not in tables:
                return bool(tables)  # somebody else's; but one without any has lost them with its log
            found = connection.execute(f"SELECT version_num FROM {VERSION_TABLE}").fetchone()
            if found is None or found[0] == REVISIONS[0]:
                return True
            return holds(connection, self.queue.noted())

    def looked_at(self) -> sqlite3.Connection:
        """A connection that touches nothing."""
        return sqlite3.connect(f"file:{quote(str(self.path))}?mode=ro&immutable=1", uri=True, isolation_level=None)

    def begin_log(self, connection: sqlite3.Connection, patience: float) -> None:
        """Switches to the write-ahead log; SQLite does not wait for a lock there, so this does."""
        give_up, pause = time.monotonic() + patience, 0.005
        with self.queue.door(patience) as held:
            self._here.holds_door = True
            try:
                if held and not says_log(self.path):
                    self.queue.note_beginning()  # before anybody can write to the log
                while not self._has_log(connection, time.monotonic() > give_up):
                    time.sleep(pause)
                    pause = min(2 * pause, 0.2)
            finally:
                self._here.holds_door = False

    def _has_log(self, connection: sqlite3.Connection, last: bool) -> bool:
        try:
            if connection.execute("PRAGMA journal_mode").fetchone()[0] != WAL:
                connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()  # makes the log
            return True
        except sqlite3.OperationalError as error:
            code = error.sqlite_errorcode & 0xFF
            if code == sqlite3.SQLITE_READONLY:
                return True  # it can be read as it is
            if code != sqlite3.SQLITE_BUSY or last:
                raise
            return False

    # -- closing ----------------------------------------------------------------------------------------------

    def end_log(self, connection: sqlite3.Connection) -> bool:
        """Whether everything is in the file now and the header says so: only the last one who has it open can do it."""
        try:
            patience = connection.execute("PRAGMA busy_timeout").fetchone()[0]
            connection.execute("PRAGMA busy_timeout = 0")
            connection.execute("PRAGMA synchronous = FULL")
            try:
                wanted = TRUNCATE if self.without_log else "delete"
                return bool(connection.execute(f"PRAGMA journal_mode = {wanted}").fetchone()[0] == wanted)
            finally:
                connection.execute(f"PRAGMA busy_timeout = {patience}")
        except sqlite3.Error:
            return False

    def bring_in(self, connection: sqlite3.Connection) -> bool:
        """Whether all that is in the log of this connection is in the file now."""
        try:
            busy, log, moved = connection.execute("PRAGMA wal_checkpoint(FULL)").fetchone()
        except sqlite3.Error:
            return False
        return bool(busy == 0 and log == moved)


def make(path: Path, shared: bool = False) -> bool:
    """Whether the file was made now, empty, and for its owner alone or for the group too; False where one is."""
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, OWNER)
    except FileExistsError:
        return False
    try:
        if shared:
            os.fchmod(descriptor, GROUP)  # whatever the umask says
    finally:
        os.close(descriptor)
    return True


def permissions(path: Path) -> int:
    """Who may read and write the file."""
    try:
        return os.stat(path).st_mode & 0o666
    except OSError:
        return OWNER


def says_log(path: Path) -> bool:
    """Whether the header says that the newest content may be in a log."""
    return header_of(path)[18:20] == b"\x02\x02"


def application_of(path: Path) -> int:
    """The number of the application in the header."""
    return int.from_bytes(header_of(path)[68:72], "big")


def holds(connection: sqlite3.Connection, noted: tuple[int, int] | None) -> bool:
    """Whether what was written last is there: an event of a study, a new study (0) or one that was deleted (-1); if
    nothing was written since the file got its log, a study is noted as deleted that never was."""
    if noted is None:
        return False
    study, sequence = noted
    there = connection.execute("SELECT 1 FROM surefoot_studies WHERE id = ?", [study]).fetchone() is not None
    if sequence < 0 or not there:
        return (sequence < 0) == (not there)
    last = connection.execute("SELECT max(sequence) FROM surefoot_events WHERE study = ?", [study]).fetchone()[0]
    return (last or 0) >= sequence


def leave(file: SQLiteFile, close_all: Callable[[], None]) -> None:
    """Closes all connections of this process; the last one to leave the file brings everything into it."""
    # Whatever goes wrong, the log stays beside the file and the next one reads it: nothing is lost by a bad goodbye.
    with suppress(Exception), file.queue.door(CLOSING) as held:
        last = None
        try:
            if held and file.log.exists() and says_log(file.path) and not is_fixed(file.path):
                last = file.opened(0.0)
                last.execute(
                    "SELECT 1 FROM sqlite_schema LIMIT 1"
                ).fetchall()  # keeps the log until the others are gone
        finally:
            close_all()
            if last is not None:
                file.end_log(last)
                last.close()
        if held and not says_log(file.path):
            file.queue.remove()
    file.queue.close()
