"""The transaction behind every verb of a study: lock, read what others did meanwhile, decide, append, and return once
it is kept. What is held in memory is only the ledger of events that are stored; it is built anew whenever in doubt.

The threads of this process take turns with `lock`, from before the transaction begins until it is kept: a ledger must
not be seen with events that may still be taken back, nor by one whose view of the storage is older.
"""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import RLock
from typing import Generic, NamedTuple, TypeVar
from weakref import WeakSet

from surefoot import __version__
from surefoot.errors import StorageDamaged
from surefoot.live.ledger import Intake
from surefoot.plain_data import plain
from surefoot.policies import Policy
from surefoot.problem import Problem
from surefoot.storage.chain import ChainBroken, chained, origin_of, verified
from surefoot.storage.protocol import COLUMNS, Events, Store
from surefoot.studies import events
from surefoot.studies.entries import StudyLedger
from surefoot.studies.events import Event
from surefoot.studies.keys import Keyed

ALARM = "the alarm"  # by whom a study is frozen when the data contradict the model
Decide = Callable[[StudyLedger, Events], list[Event]]
Found = TypeVar("Found")


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


def nothing() -> None:
    """Nothing is to be done before."""


@dataclass(frozen=True)
class Step(Generic[Found]):
    """What a verb does to a study: the events that it decides on, and what it answers once they are entered.

    All of it may happen several times, when the storage was lost on the way: `begin` takes back what an attempt left.
    """

    decide: Decide
    conclude: Callable[[StudyLedger, Before], Found]
    begin: Callable[[], object] = nothing
    keyed: Keyed[Found] | None = None


class Handle:
    """One study in a storage, as this process has it open."""

    def __init__(self, store: Store, identity: int, name: str, settings: Settings, origin: bytes) -> None:
        self.store, self.identity, self.name, self.settings, self.origin = store, identity, name, settings, origin
        self.lock = RLock()
        self._ledger: StudyLedger | None = None
        _open_here.add(self)

    def write(self, step: "Step[Found]") -> Found:
        """The answer of the step, once the events that were decided on are kept.

        Every step has a writer of its own. Where the acknowledgement of a commit was lost, the events are found by it
        and not written again; and that is remembered until an acknowledgement has come, however many are lost.
        """
        writer = events.new_writer()
        attempts: list[Before] = []

        with self.lock:
            try:
                return self.store.write(
                    self.identity, self.name, lambda stored: self._stepped(stored, step, writer, attempts)
                )
            except BaseException:
                if attempts:  # what is in memory may not be what is stored
                    self._ledger = None
                raise

    def look(self, see: Callable[[StudyLedger, Events], Found]) -> Found:
        """What one sees who looks at the study at one moment; nothing changes meanwhile."""
        with self.lock:
            return self.store.read(self.identity, self.name, lambda stored: see(self.catch_up(stored), stored))

    def view(self, see: Callable[[StudyLedger], Found]) -> Found:
        """The same, for those who need the ledger alone."""
        return self.look(lambda ledger, stored: see(ledger))

    def proven(self, see: Callable[[StudyLedger], Found]) -> Found:
        """The same, for what is said about an answer: only once all events, and the settings, are found unchanged."""
        self.check_settings()

        def work(ledger: StudyLedger, stored: Events) -> Found:
            if ledger.outcome is not None:
                self.verify(ledger, stored)
            return see(ledger)

        return self.look(work)

    def verify(self, ledger: StudyLedger, stored: Events) -> None:
        """Reads everything once more, and refuses a study that was changed after the ledger was kept."""
        last = self.origin
        with self._broken_is_damaged():
            for row in verified(self.origin, stored.after(0)):
                last = bytes(row[-1])
            if last != ledger.head:
                raise ChainBroken(ledger.sequence)

    def check_settings(self) -> None:
        """Refuses a study whose stored settings are not those that it was opened with."""
        _, row, arms = self.store.find(self.name)
        if origin_of(row, arms.digest) != self.origin:
            raise StorageDamaged(str(self.store.address), f"holds a study {self.name!r} whose settings were changed")

    def catch_up(self, stored: Events) -> StudyLedger:
        """The ledger of all events that are stored now, each verified against the chain."""
        ledger, self._ledger = self._ledger or self.new_ledger(), None
        self.enter(ledger, stored)
        self._ledger = ledger
        return ledger

    def enter(self, ledger: StudyLedger, stored: Events) -> None:
        """Enters into a ledger what is stored and it does not know yet."""
        with self._broken_is_damaged():
            ledger.take(verified(ledger.head, stored.after(ledger.sequence)))

    @contextmanager
    def _broken_is_damaged(self) -> Iterator[None]:
        try:
            yield
        except ChainBroken as error:
            raise StorageDamaged(str(self.store.address), f"holds a study {self.name!r} that {error}") from error

    def whole_ledger(self, stored: Events) -> StudyLedger:
        """A ledger of its own for someone, from the first event on."""
        ledger = self.new_ledger()
        self.enter(ledger, stored)
        return ledger

    def new_ledger(self) -> StudyLedger:
        """An empty ledger."""
        problem, policy, seed, max_pulls, intake, alarm_level = self.settings
        ledger = StudyLedger(
            problem, policy, seed=seed, max_pulls=max_pulls, intake=intake, alarm_level=alarm_level
        )  # fmt: skip
        ledger.where, ledger.head = str(self.store.address), self.origin
        return ledger

    def _stepped(self, stored: Events, step: "Step[Found]", writer: int, attempts: list[Before]) -> Found:
        """One attempt at a step."""
        if attempts:
            self._ledger = None  # its last events may not be stored
        ledger = self.catch_up(stored)
        for before in attempts:
            first = stored.at(before.sequence + 1)
            if first is not None and first["writer"] == writer:
                return step.conclude(ledger, before)
        before = Before(ledger.sequence, ledger.learner.pulls, len(ledger.raised), frozenset(ledger.holding))
        if step.keyed is not None:
            for answer in step.keyed.answered(stored):
                return answer
        step.begin()
        decided = step.decide(ledger, stored)
        if not decided and not step.keyed:
            return step.conclude(ledger, before)
        attempts.append(before)
        return self._append(ledger, stored, decided, step, writer, before)

    def _append(
        self, ledger: StudyLedger, stored: Events, decided: list[Event], step: "Step[Found]", writer: int,
        before: Before,
    ) -> Found:  # fmt: skip
        """The answer, once the events are added to the storage and to the ledger, with what follows from them: results
        that waited and are implausible now that it is their turn, pulls that a correction recalls, alarms, and the
        end."""
        self._ledger = None  # until all is kept
        anew, at = ledger.anew, stored.now()

        def keep(some: list[Event]) -> None:
            rows = [
                {"sequence": ledger.sequence + 1 + i, "at": at, "writer": writer, **event}
                for i, event in enumerate(some)
            ]
            linked = list(chained(ledger.head, rows))
            stored.append(linked)
            ledger.take([[row.get(name) for name in COLUMNS] for row in linked], audit=False)

        def keep_and_judge(some: list[Event]) -> None:
            """What had waited for one of these is judged before the next. Nothing waits for an import."""
            waited_for = ledger.waits and any(event["kind"] not in events.IMPORTS for event in some)
            for part in [[event] for event in some] if waited_for else [some]:
                if part:
                    keep(part)
                while (found := ledger.bring_in()) is not None:
                    keep([events.implausible(*found)])

        keep_and_judge(decided)
        if ledger.anew != anew:
            keep_and_judge(recalls_in(ledger, decided[0]["number"]))
        if following := alarms_in(ledger) + end_of(ledger):
            keep(following)
        answer = step.conclude(ledger, before)
        if step.keyed:
            keep([step.keyed.event(answer)])
        self._ledger = ledger
        return answer

    def forget_after_fork(self) -> None:
        """In a forked child: another thread of the parent may have held the lock, or been at work on the ledger."""
        self.lock = RLock()
        self._ledger = None


_open_here: WeakSet[Handle] = WeakSet()


def _begin_anew_in_child() -> None:
    for handle in list(_open_here):
        handle.forget_after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew_in_child)


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
