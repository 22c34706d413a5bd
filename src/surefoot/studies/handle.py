"""The transaction behind every verb of a study: lock, read what others did meanwhile, decide, append, and return once
it is kept. What is held in memory is only the ledger of events that are stored; it is built anew whenever in doubt.

The threads of this process take turns with `lock`, from before the transaction begins until it is kept: a ledger must
not be seen with events that may still be taken back, nor by one whose view of the storage is older.

The file is long because a transaction, with all that may go wrong in it, is to be read in one piece.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import RLock
from time import perf_counter
from typing import NamedTuple, TypeVar
from weakref import WeakSet

from surefoot.errors import StorageDamaged, SurefootError
from surefoot.live.kept import HistoryNeeded
from surefoot.live.ledger import Intake
from surefoot.policies import Policy
from surefoot.problem import Problem
from surefoot.storage.chain import ChainBroken, chained, origin_of, verified
from surefoot.storage.protocol import COLUMNS, Events, Store
from surefoot.studies import events
from surefoot.studies.checked_events import CheckedEvents
from surefoot.studies.consequences import alarms_in, end_of, recalls_in
from surefoot.studies.entries import StudyLedger
from surefoot.studies.events import Event
from surefoot.studies.snapshots import Snapshots, differs
from surefoot.studies.step import Before, Step

Found = TypeVar("Found")


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

    def __init__(self, store: Store, identity: int, name: str, settings: Settings, origin: bytes) -> None:
        self.store, self.identity, self.name, self.settings, self.origin = store, identity, name, settings, origin
        self.lock = RLock()
        self._ledger: StudyLedger | None = None
        self._seen = (0, origin)  # the last event that was stored, as far as is known here, and its hash
        self._snapshots = Snapshots(origin, settings.policy)
        self._all = False  # whether every event is to be replayed, and no snapshot to be begun with
        _open_here.add(self)

    def write(self, step: Step[Found]) -> Found:
        """The answer of the step, once the events that were decided on are kept.

        Every step has a writer of its own. Where the acknowledgement of a commit was lost, the events are found by it
        and not written again; and that is remembered until an acknowledgement has come, however many are lost.
        """
        writer = events.new_writer()
        attempts: list[Before] = []

        def work(stored: Events) -> Found:
            earlier = len(attempts)
            try:
                return self._stepped(stored, step, writer, attempts)
            except HistoryNeeded:
                del attempts[earlier:]  # nothing of this one will be kept
                raise

        with self.lock:
            try:
                self._be_ready()
                answer = self._written(work)
                if self._ledger is not None:
                    self._seen = (self._ledger.sequence, self._ledger.head)
            except BaseException:
                if attempts:  # what is in memory may not be what is stored
                    self._ledger = None
                raise
        return self.concluded(answer)

    def _written(self, work: Callable[[Events], Found]) -> Found:
        """What the work in a transaction of its own returns; the whole history is read before it, if it is needed."""
        try:
            return self.store.write(self.identity, self.name, work, self._follow)
        except HistoryNeeded:
            self.store.read(self.identity, self.name, self._read_all)
            return self.store.write(self.identity, self.name, work, self._follow)

    def _be_ready(self) -> None:
        """Compiles, and reads a study that is not known yet, before anybody has to wait for it."""
        if self._ledger is None:
            self._follow()
        if self._ledger is not None:
            self._ledger.learner.make_ready()

    def _follow(self) -> None:
        """Catches up with others before the lock; who cannot finds out why with it."""
        with suppress(SurefootError, HistoryNeeded):
            self.store.read(self.identity, self.name, self.catch_up)

    def look(self, see: Callable[[StudyLedger, Events], Found]) -> Found:
        """What one sees who looks at the study at one moment; nothing changes meanwhile."""

        def work(stored: Events) -> Found:
            checked = CheckedEvents(stored, self.origin)
            with self._broken_is_damaged():
                try:
                    return see(self.catch_up(stored), checked)
                except HistoryNeeded:
                    return see(self._read_all(stored), checked)

        with self.lock:
            answer = self.store.read(self.identity, self.name, work)
        return self.concluded(answer)

    def view(self, see: Callable[[StudyLedger], Found]) -> Found:
        """The same, for those who need the ledger alone."""
        return self.look(lambda ledger, stored: see(ledger))

    def proven(self, see: Callable[[StudyLedger], Found]) -> Found:
        """The same, for what is said about an answer: only once all events, and the settings, are found unchanged."""
        self.check_settings()
        read_in: Events | None = None

        def work(ledger: StudyLedger, stored: Events) -> Found:
            nonlocal read_in
            if ledger.outcome is not None and not ledger.is_whole:
                read_in = stored
                raise HistoryNeeded  # a snapshot is no evidence
            if ledger.outcome is not None and read_in is not stored:
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
        ledger, self._ledger = self._ledger, None
        if ledger is None:
            ledger = self.new_ledger() if self._all else self._snapshots.begun(self.new_ledger, stored)
        began = perf_counter()
        try:
            self.enter(ledger, stored)
        except StorageDamaged:
            if ledger.is_whole:
                raise
            self._snapshots.drop()  # it may be the snapshot alone that is wrong
            raise HistoryNeeded from None
        self._snapshots.took(perf_counter() - began)
        self._check_seen(ledger, stored)
        self._ledger = ledger
        return ledger

    def _check_seen(self, ledger: StudyLedger, stored: Events) -> None:
        """Refuses a study in which what was stored once, as this handle has seen, is not there any more."""
        sequence, head = self._seen
        if ledger.head != head:
            found = stored.at(sequence) if 0 < sequence <= ledger.sequence else None
            with self._broken_is_damaged():
                if sequence and (found is None or bytes(found["hash"] or b"") != head):
                    raise ChainBroken(sequence)
        self._seen = (ledger.sequence, ledger.head)

    def enter(self, ledger: StudyLedger, stored: Events) -> None:
        """Enters into a ledger what is stored and it does not know yet; the last event that it knows must be there."""
        with self._broken_is_damaged():
            rows = iter(stored.after(max(ledger.sequence - 1, 0)))
            if ledger.sequence:
                last = next(rows, None)
                if last is None or last[0] != ledger.sequence or bytes(last[-1] or b"") != ledger.head:
                    raise ChainBroken(ledger.sequence)
            ledger.take(verified(ledger.head, rows))

    def distrust(self) -> None:
        """Forgets what is in memory, and the snapshot: something that it rests on was changed."""
        with self.lock:
            self._ledger = None
            self._snapshots.drop()

    @contextmanager
    def _broken_is_damaged(self) -> Iterator[None]:
        try:
            yield
        except ChainBroken as error:
            raise StorageDamaged(str(self.store.address), f"holds a study {self.name!r} that {error}") from error

    def _read_all(self, stored: Events) -> StudyLedger:
        """The ledger of all events from the first one on, which is kept from now on."""
        with suppress(HistoryNeeded):
            self.catch_up(stored)  # to be compared
        if self._ledger is not None and self._ledger.is_whole:
            return self._ledger
        whole = self.new_ledger()
        self.enter(whole, stored)
        return self.adopt(whole)

    def adopt(self, whole: StudyLedger) -> StudyLedger:
        """Goes on with a ledger that was kept from the first event on; the snapshot that led elsewhere is dropped."""
        with self.lock:
            before, self._ledger, self._all = self._ledger, whole, True
            if before is not None and not before.is_whole and differs(before, whole):
                self._snapshots.doubt()
            return whole

    def concluded(self, answer: Found) -> Found:
        """The answer, once what there is to do about snapshots is done, outside of any transaction."""
        self._snapshots.keep_if_due(self.lock, lambda: self._ledger)
        self._snapshots.say_doubts(self.name)
        return answer

    def new_ledger(self) -> StudyLedger:
        """An empty ledger."""
        ledger = StudyLedger(**self.settings._asdict())
        ledger.where, ledger.head = str(self.store.address), self.origin
        return ledger

    def _stepped(self, stored: Events, step: Step[Found], writer: int, attempts: list[Before]) -> Found:
        """One attempt at a step."""
        if attempts:
            self._ledger = None  # its last events may not be stored
        ledger = self.catch_up(stored)
        for before in attempts:
            first = stored.at(before.sequence + 1)
            if first is not None and first["writer"] == writer:
                return step.conclude(ledger, before)
        before = Before(ledger.sequence, ledger.learner.pulls, len(ledger.raised), frozenset(ledger.holding))
        checked = CheckedEvents(stored, self.origin)
        with self._broken_is_damaged():
            if step.keyed is not None:
                for answer in step.keyed.answered(checked):
                    return answer
            step.begin()
            decided = step.decide(ledger, checked)
        if not decided and not step.keyed:
            return step.conclude(ledger, before)
        attempts.append(before)
        return self._append(ledger, stored, decided, step, writer, before)

    def _append(
        self, ledger: StudyLedger, stored: Events, decided: list[Event], step: Step[Found], writer: int,
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
            if any(event["kind"] == events.END for event in following) and not ledger.is_whole:
                raise HistoryNeeded  # a snapshot is no evidence for an answer
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
