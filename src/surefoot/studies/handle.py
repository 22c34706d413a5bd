"""The transaction behind every verb of a study: lock, read what others did meanwhile, decide, append, and return once
it is kept. What is held in memory is only the ledger of events that are stored; it is built anew whenever in doubt."""

import json
from collections.abc import Callable
from threading import RLock
from typing import NamedTuple

from surefoot import __version__
from surefoot.live.ledger import Intake
from surefoot.plain_data import plain
from surefoot.policies import Policy
from surefoot.problem import Problem
from surefoot.storage.protocol import ENTERED, Events, Store
from surefoot.studies import events
from surefoot.studies.entries import StudyLedger
from surefoot.studies.events import Event

ALARM = "the alarm"  # by whom a study is frozen when the data contradict the model
Decide = Callable[[StudyLedger, Events], list[Event]]


class Before(NamedTuple):
    """How a study stood before a verb."""

    sequence: int
    pulls: int
    alarms: int
    held: frozenset[int]


class Settings(NamedTuple):
    """What a study was begun with."""

    problem: Problem
    policy: Policy
    seed: int
    max_pulls: int | None
    intake: Intake
    alarm_level: float


class Handle:
    """One study in a storage, as this process has it open."""

    def __init__(self, store: Store, identity: int, name: str, settings: Settings) -> None:
        self.store, self.identity, self.name, self.settings = store, identity, name, settings
        self.lock = RLock()
        self._writer = events.new_writer()
        self._ledger: StudyLedger | None = None

    def write(self, decide: Decide, begin: Callable[[], None] | None = None) -> tuple[StudyLedger, Before]:
        """The ledger once the events that were decided on are kept, and how things stood before.

        Where the acknowledgement of a commit was lost, the events are found by who wrote them, not written again.
        """
        attempted: list[Before] = []

        def work(stored: Events) -> tuple[StudyLedger, Before]:
            if attempted:
                self._ledger = None  # its last events may not be stored
            ledger = self.catch_up(stored)
            if attempted:
                before = attempted.pop()
                first = stored.at(before.sequence + 1)
                if first is not None and first["writer"] == self._writer:
                    return ledger, before
            if begin is not None:
                begin()
            before = Before(ledger.sequence, ledger.learner.pulls, len(ledger.raised), frozenset(ledger.holding))
            decided = decide(ledger, stored)
            if decided:
                attempted.append(before)
                self._append(ledger, stored, decided)
            return ledger, before

        with self.lock:
            try:
                return self.store.write(self.identity, self.name, work)
            except BaseException:
                if attempted:  # what is in memory may not be what is stored
                    self._ledger = None
                raise

    def catch_up(self, stored: Events) -> StudyLedger:
        """The ledger of all events that are stored now."""
        ledger, self._ledger = self._ledger or self.new_ledger(), None
        ledger.take(stored.after(ledger.sequence))
        self._ledger = ledger
        return ledger

    def caught_up(self) -> StudyLedger:
        """The same, for those who only look."""
        with self.lock, self.store.read(self.identity, self.name) as stored:
            return self.catch_up(stored)

    def new_ledger(self) -> StudyLedger:
        """An empty ledger."""
        problem, policy, seed, max_pulls, intake, alarm_level = self.settings
        ledger = StudyLedger(
            problem, policy, seed=seed, max_pulls=max_pulls, intake=intake, alarm_level=alarm_level
        )  # fmt: skip
        ledger.where = str(self.store.address)
        return ledger

    def _append(self, ledger: StudyLedger, stored: Events, decided: list[Event]) -> None:
        """Adds the events to the storage and to the ledger, with what follows from them: results that waited and are
        implausible now that it is their turn, pulls that a correction recalls, alarms, and the end."""
        self._ledger = None  # until all is kept
        anew = ledger.anew
        self._keep_and_judge(ledger, stored, decided)
        if ledger.anew != anew:
            self._keep_and_judge(ledger, stored, recalls_in(ledger, decided[0]["number"]))
        if following := alarms_in(ledger) + end_of(ledger):
            self._keep(ledger, stored, following)
        self._ledger = ledger

    def _keep_and_judge(self, ledger: StudyLedger, stored: Events, decided: list[Event]) -> None:
        """Adds events; what had waited for one of them is judged before the next. Nothing waits for an import."""
        waited_for = ledger.waits and any(event["kind"] not in events.IMPORTS for event in decided)
        for part in [[event] for event in decided] if waited_for else [decided]:
            if part:
                self._keep(ledger, stored, part)
            while (found := ledger.bring_in()) is not None:
                self._keep(ledger, stored, [events.implausible(*found)])

    def _keep(self, ledger: StudyLedger, stored: Events, decided: list[Event]) -> None:
        """Adds events to the storage and to the ledger."""
        at = events.now()
        rows = [
            {"sequence": ledger.sequence + 1 + i, "at": at, "writer": self._writer, **event}
            for i, event in enumerate(decided)
        ]
        stored.append(rows)
        ledger.take([[row.get(name) for name in ENTERED] for row in rows], audit=False)


def recalls_in(ledger: StudyLedger, number: int) -> list[Event]:
    """Open pulls above the level that is certified after the correction of this pull."""
    said = f"its level is not certified after the correction of pull {number}"
    return [events.closed(events.RECALL, each, said) for each in ledger.too_high_now]


def alarms_in(ledger: StudyLedger) -> list[Event]:
    """The alarms that are to be raised over what the ledger has found."""
    return [events.held(events.ALARM, found.message, ALARM, ledger.last_number) for found in ledger.findings]


def end_of(ledger: StudyLedger) -> list[Event]:
    """The end, if it has come and is not stored: a version that decides otherwise can still tell what was said."""
    if ledger.outcome is None or ledger.end is not None or ledger.ringing or ledger.findings:
        return []  # while an alarm rings nothing is said about the answer
    certificate, answer = ledger.certificate, ledger.recommendation
    said = {
        "outcome": ledger.outcome, "pulls": ledger.learner.pulls,
        "certificate": certificate and certificate.to_dict(), "recommendation": answer and answer.to_dict(),
    }  # fmt: skip
    return [events.held(events.END, json.dumps(plain(said)), f"surefoot {__version__}")]
