"""Stored events, entered into the ledger; every process that has the study open enters the same ones."""

from array import array
from collections.abc import Iterable, Sequence
from typing import Any

from surefoot.errors import StorageDamaged
from surefoot.live.ledger import Holding, Impossible, Stop, Told
from surefoot.live.revisable import RevisableLedger
from surefoot.storage.protocol import ENTERED
from surefoot.studies import events
from surefoot.studies.import_order import Statement

READ = len(ENTERED)
TOGETHER = (events.CORRECT, events.VOID, events.KEY)  # those that follow each other are learned from at once
PAGE = 50_000  # events that are entered before the learner goes through them: more would only take up memory


class StudyLedger(RevisableLedger):
    """The ledger of a study, and how far its events are entered."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.where = "memory"  # the address of the storage, for messages
        self.sequence = 0  # of the last event
        self.head = b""  # its hash
        self.end: str | None = None  # what was stored when the policy stopped
        self.end_head = b""  # the hash of that event
        self.earlier_ends: list[str] = []  # what was stored at ends that a correction reopened or replaced
        self.recalled: dict[str, list[int]] = {}  # by worker: what was recalled since it last was given a pull
        self.late: list[tuple[int, Told]] = []  # results that came after their pulls had been given up
        self.statements: list[Statement] = []  # about the tables that were taken over
        self.in_doubt = array("q")  # numbers of the rows among whose order a new one is looked at
        self._to_come = 0  # rows of a table that has begun
        self._exempt = False  # whether their order was confirmed, or is that of another study

    def take(self, rows: Iterable[Sequence[Any]], *, audit: bool = True) -> None:
        """Goes on with these events, each in the order of `COLUMNS`; with `audit` decisions are recomputed.

        Without it they are new, and what has waited is brought in by whoever wrote them: it is to be judged.
        """
        settled = self.sequence
        try:
            for row in rows:
                sequence, kind, number, *rest = row[:READ]
                if sequence != self.sequence + 1:
                    raise Impossible(f"misses event {self.sequence + 1}", number)
                self.sequence = sequence
                if kind not in TOGETHER:
                    self.learn_revised()
                self._enter(kind, number, *rest, audit=audit)
                self.head = bytes(row[-1])
                if kind == events.END:
                    self.end_head = self.head
                if sequence - settled >= PAGE and (kind == events.ASK or sequence - settled >= 2 * PAGE):
                    self.settle_page()  # up to a pull that was asked for all is taken in, wherever a page ends
                    settled = sequence
            self.learn_revised()
            if audit:
                self.settle()
            else:
                self.settle_page()
        except Impossible as error:
            detail = f"{error.detail} (at event {self.sequence}, pull {error.number})"
            raise StorageDamaged(self.where, detail) from error

    def _enter(
        self, kind: str, number: int, arm: int, level: float, reward: float, safety: bytes, worker: str | None,
        reason: str, by: str, at: int, *, audit: bool,
    ) -> None:  # fmt: skip
        """One event."""
        if self._to_come and kind != events.ADD:
            raise Impossible(f"breaks off a table {self._to_come} rows before its end", number)
        if kind == events.ASK:
            self.opened(number, arm, level, worker, audited=audit)
            if worker in self.recalled:
                del self.recalled[worker]
        elif kind in events.TELLS:
            self.told(number, level, reward, safety, confirmed=kind == events.CONFIRM)
        elif kind in events.HOLDS:
            self.held(number, Holding((level, reward, safety), reason, kind == events.HOLD_ALL))
        elif kind in (events.CORRECT, events.VOID):
            self._revise(kind, number, level, reward, safety, reason, by, at)
        elif kind == events.ADD:
            self.added(number, arm, level, reward, safety)
            if not (self._to_come and self._exempt):
                self.in_doubt.append(number)
            self._to_come = max(self._to_come - 1, 0)
        elif kind == events.TABLE:
            self._begin_table(stored_statement(reason))
        elif kind in events.CLOSES:
            if kind == events.RECALL:
                self._note_recall(number)
            self.given_up(number, events.CLOSES[kind])
            if kind == events.ABORT:
                self.stop = Stop(reason, by, self.sequence)
        elif kind in (events.FREEZE, events.ALARM):
            self.stop = Stop(reason, by, self.sequence)
            if kind == events.ALARM:
                self.alarm(reason)
        elif kind == events.RELEASE:
            self.stop = None
            self.release(reason)
        elif kind == events.END:
            self.end = reason
        elif kind == events.LATE:
            self.late.append((number, (level, reward, safety)))
        elif kind == events.KEY:
            pass  # about the step that it ends, and nothing in the study
        else:
            raise Impossible(f"holds an event of the unknown kind {kind!r}", number)

    def _revise(
        self, kind: str, number: int, level: float, reward: float, safety: bytes, reason: str, by: str, at: int
    ) -> None:
        """A correction, or a result that is taken out; an end that rested on what was known before is none any more."""
        if kind == events.VOID:
            anew = self.voided(number, reason, by, at)
            if number in self.in_doubt:
                self.in_doubt.remove(number)
        else:
            anew = self.corrected(number, (level, reward, safety), reason, by, at)
        if anew and self.end is not None:
            self.earlier_ends.append(self.end)
            self.end = None

    def _note_recall(self, number: int) -> None:
        """Remembers who had a pull that is recalled, until they are given another."""
        pull = self.outstanding.get(number)
        if pull is not None and pull.worker is not None:
            self.recalled.setdefault(pull.worker, []).append(number)

    def rows_in_doubt(self) -> list[tuple[int, float, float, bytes]]:
        """Arm, level, reward and readings of those rows as they count now: corrected, and without voided ones."""
        found = ((self.arm_of(number), self.result_of(number)) for number in self.in_doubt)
        return [(arm, *result) for arm, result in found if result is not None]

    def _begin_table(self, statement: Statement) -> None:
        """Rows that were taken over together follow."""
        self.statements.append(statement)
        first = self.last_number + 1
        self.tables.begin(first, statement.rows)
        self._to_come, self._exempt = statement.rows, statement.exempt
        if statement.exempt:
            del self.in_doubt[:]


def stored_statement(reason: object) -> Statement:
    """The statement that an event holds."""
    try:
        return Statement.from_json(reason)  # type: ignore[arg-type]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Impossible(f"holds a statement about a table that cannot be read ({error})", None) from error
