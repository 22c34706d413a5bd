"""Stored events, entered into the ledger; every process that has the study open enters the same ones."""

from collections.abc import Iterable, Sequence
from typing import Any

from surefoot.errors import StorageDamaged
from surefoot.live.ledger import Impossible, Ledger, Stop
from surefoot.studies import events


class StudyLedger(Ledger):
    """The ledger of a study, and how far its events are entered."""

    where = "memory"  # the address of the storage, for messages
    sequence = 0  # of the last event
    end: str | None = None  # what was stored when the policy stopped

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
        if kind == events.ASK:
            self.opened(number, arm, level, worker, audited=audit)
        elif kind == events.TELL:
            self.told(number, level, reward, safety)
        elif kind == events.ADD:
            self.added(number, arm, level, reward, safety)
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
            self.release(reason)
        elif kind == events.END:
            self.end = reason
        else:
            raise Impossible(f"holds an event of the unknown kind {kind!r}", number)
