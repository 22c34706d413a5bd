"""The events of one study in a database: SQLite, PostgreSQL, or memory."""

import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection

from surefoot.storage.databases import KEPT
from surefoot.storage.engines import driver_of
from surefoot.storage.protocol import COLUMNS
from surefoot.storage.words import words_for

BULK = 1_000  # events that are handed over at once
AT_ONCE = 100  # events that the ledger reads at once: more would be swept by the garbage collector over and over
PAGE = 5_000  # events that a server hands over at once


class DatabaseEvents:
    """The events of one study within a transaction.

    What every step needs goes to the driver in words that are made once: while it is done everybody else waits.
    """

    def __init__(self, connection: Connection, study: int) -> None:
        self._connection = connection
        self._study = study
        self._words = words_for(connection.dialect.name)
        self._on_server = connection.dialect.name == "postgresql"
        self._now: int | None = None  # when this step began to read, by the clock of the server

    def after(self, sequence: int) -> Iterator[Sequence[Any]]:
        """What happened since, in order; handed on while it is read, and never much of it at once."""
        driver = driver_of(self._connection)
        while True:
            cursor = driver.execute(self._words.after, (self._study, sequence, PAGE))
            count = 0
            while part := self._without_clock(cursor.fetchmany(AT_ONCE)):
                count += len(part)
                yield from part
                sequence = part[-1][0]
            if count < PAGE:
                self._check_end(sequence)
                return

    def _check_end(self, sequence: int) -> None:
        """Notices a damaged page at which SQLite ends as if nothing came after it; a server looks after its files."""
        if not self._on_server:
            newest = driver_of(self._connection).execute(self._words.newest, (self._study,)).fetchone()[0]
            if newest is not None and newest > sequence:
                raise sqlite3.DatabaseError(f"event {sequence + 1} and those after it cannot be read")

    def _without_clock(self, rows: list[Sequence[Any]]) -> list[Sequence[Any]]:
        """The events that a server has told along with the time, which is kept for `now`."""
        if not self._on_server or not rows:
            return rows
        if self._now is None:
            self._now = int(rows[0][-1])
        return [row[:-1] for row in rows if row[0] is not None]

    def of_pull(self, number: int) -> list[dict[str, Any]]:
        """The events of this pull in full: the one that opened it and, if there is one, the one that closed it."""
        found = driver_of(self._connection).execute(self._words.of_pull, (self._study, number))
        return [self._whole(row) for row in found.fetchall()]

    def at(self, sequence: int) -> dict[str, Any] | None:
        """The event with this sequence in full."""
        return self._one(self._words.at, sequence)

    def all(self) -> Iterator[dict[str, Any]]:
        """Every event in full, in order."""
        for row in self.after(0):
            yield self._whole(row)

    def keyed(self, key: str) -> dict[str, Any] | None:
        """The event with this key in full."""
        return self._one(self._words.keyed, key)

    def _one(self, words: str, value: object) -> dict[str, Any] | None:
        row = driver_of(self._connection).execute(words, (self._study, value)).fetchone()
        return None if row is None else self._whole(row)

    def _whole(self, row: Sequence[Any]) -> dict[str, Any]:
        return {"study": self._study, **dict(zip(COLUMNS, row, strict=True))}

    def now(self) -> int:
        """The moment, by the clock of the server; where there is none, by that of this machine."""
        if not self._on_server:
            return time.time_ns() // 1_000
        if self._now is None:
            self._now = int(driver_of(self._connection).execute(self._words.now).fetchone()[0])
        return self._now

    def append(self, events: Sequence[Mapping[str, Any]]) -> None:
        """Adds the events, whose sequences follow each other."""
        rows = [(self._study, *(event.get(name) for name in COLUMNS)) for event in events]
        if not rows:
            return
        cursor = driver_of(self._connection).cursor()
        if len(rows) == 1:
            cursor.execute(self._words.append, rows[0])
        for first in range(0, len(rows) if len(rows) > 1 else 0, BULK):
            cursor.executemany(self._words.append, rows[first : first + BULK])
        self._connection.info[KEPT] = (self._study, events[-1]["sequence"])
