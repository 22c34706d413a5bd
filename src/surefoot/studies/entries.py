"""Stored events, entered into the ledger; every process that has the study open enters the same ones."""

from collections.abc import Iterable, Sequence
from typing import Any

from surefoot.errors import StorageDamaged
from surefoot.live.ledger import Impossible, Ledger, Stop
from surefoot.studies import events
from surefoot.studies.import_order import Statement


class StudyLedger(Ledger):
    """The ledger of a study, and how far its events are entered."""

    where = "memory"  # the address of the storage, for messages
    sequence = 0  # of the last event
    end: str | None = None  # what was stored when the policy stopped

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.statements: list[Statement] = []  # about the tables that were taken over
        self.in_doubt: list[tuple[int, float, float, bytes]] = []  # rows among whose order a new one is looked at
        self._to_come = 0  # rows of a table that has begun
        self._exempt = False  # whether their order was confirmed, or is that of another study

    def take(self, rows: Iterable[Sequence[Any]], *, audit: bool = True) -> None:
        """Goes on with these events, each in the order of `storage.ENTERED`; with `audit` decisions are recomputed."""
        try:
            for sequence, kind, number, *rest in rows:
                if sequence != self.sequence + 1:
                    raise Impossible(f"misses event {self.sequence + 1}", number)
                self.sequence = sequence
                self._enter(kind, number, *rest, audit=audit)
            self.settle()
        except Impossible as error:
            detail = f"{error.detail} (at event {self.sequence}, pull {error.number})"
            raise StorageDamaged(self.where, detail) from error

    def _enter(
        self, kind: str, number: int, arm: int, level: float, reward: float, safety: bytes, worker: str | None,
        reason: str, by: str, *, audit: bool,
    ) -> None:  # fmt: skip
        """One event."""
        if self._to_come and kind != events.ADD:
            raise Impossible(f"breaks off a table {self._to_come} rows before its end", number)
        if kind == events.ASK:
            self.opened(number, arm, level, worker, audited=audit)
        elif kind == events.TELL:
            self.told(number, level, reward, safety)
        elif kind == events.ADD:
            self.added(number, arm, level, reward, safety)
            if not (self._to_come and self._exempt):
                self.in_doubt.append((arm, level, reward, safety))
            self._to_come = max(self._to_come - 1, 0)
        elif kind == events.TABLE:
            self._begin_table(stored_statement(reason))
        elif kind in events.CLOSES:
            self.given_up(number, events.CLOSES[kind])
            if kind == events.ABORT:
                self.stop = Stop(reason, by, self.sequence)
        elif kind in (events.FREEZE, events.ALARM):
            self.stop = Stop(reason, by, self.sequence)
            if kind == events.ALARM:
                self.raised.append(reason)
        elif kind == events.RELEASE:
            self.stop = None
        elif kind == events.END:
            self.end = reason
        else:
            raise Impossible(f"holds an event of the unknown kind {kind!r}", number)

    def _begin_table(self, statement: Statement) -> None:
        """Rows that were taken over together follow."""
        self.statements.append(statement)
        first = self.last_number + 1
        self.amid.update(range(first, first + statement.rows - 1))
        self._to_come, self._exempt = statement.rows, statement.exempt
        if statement.exempt:
            self.in_doubt.clear()


def stored_statement(reason: object) -> Statement:
    """The statement that an event holds."""
    try:
        return Statement.from_json(reason)  # type: ignore[arg-type]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Impossible(f"holds a statement about a table that cannot be read ({error})", None) from error
