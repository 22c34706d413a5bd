"""A study: ask and tell, kept in a storage. Every verb is one transaction, so any number of processes may take part.

A verb locks the study, reads what others did meanwhile, decides, appends its events, and returns once they are kept.
What this object holds in memory is only the fold of events that are stored; it is built anew whenever in doubt.
"""

import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from surefoot.errors import (
    AlreadyTold,
    BudgetOpen,
    Finished,
    Frozen,
    InvalidInput,
    ModelAlarm,
    NotFrozen,
    NotOpen,
    NumericalBreakdown,
    PullClosed,
    SurefootError,
)
from surefoot.live.certificate import NOTHING, Certificate
from surefoot.live.ledger import Fold, Order
from surefoot.live.session import APPLIED, Pull, Recommendation, Safety, warn_of_level
from surefoot.policies import Policy
from surefoot.problem import Problem
from surefoot.problem.checks import check_count, number, text
from surefoot.storage.store import FOLDED, Events, Store
from surefoot.studies import events
from surefoot.studies.audit import AuditReport
from surefoot.studies.certificates import certificate_of
from surefoot.studies.events import Event, as_pull, as_result
from surefoot.studies.history import Result, frame_of, results_in
from surefoot.studies.inputs import (
    arm_index,
    closing_reason,
    confirm,
    measured,
    pull_number,
    said_name,
    said_reason,
)
from surefoot.studies.running import Callback, Measure, run_study
from surefoot.studies.transfer import write_study

if TYPE_CHECKING:
    import pandas as pd

ALARM = "the alarm"  # by whom a study is frozen when the data contradict the model


class Before(NamedTuple):
    """How a study stood before a verb."""

    sequence: int
    pulls: int
    alarms: int


class Study:
    """One experiment in a storage. Made by `create_study` and `load_study`."""

    def __init__(
        self, store: Store, identity: int, name: str, problem: Problem, policy: Policy, seed: int,
        max_pulls: int | None, fold: Order, alarm_level: float,
    ) -> None:  # fmt: skip
        self.name = name
        self.problem = problem
        self.policy = policy
        self.seed = seed
        self.max_pulls = max_pulls
        self.fold = fold
        self.alarm_level = alarm_level
        self._store = store
        self._identity = identity
        self._writer = events.new_writer()
        self._lock = RLock()
        self._index = {name: k for k, name in enumerate(problem.names)} | {NOTHING: -1}
        self._folded: Fold | None = None

    # -- ask and tell ---------------------------------------------------------------------------------------

    @overload
    def ask(self, n: None = None, *, worker: str | None = None) -> Pull: ...
    @overload
    def ask(self, n: int, *, worker: str | None = None) -> list[Pull]: ...
    def ask(self, n: int | None = None, *, worker: str | None = None) -> Pull | list[Pull]:
        """The next pull, or the next n to be applied side by side.

        A named worker that asks again is given back what it has open; without a name every ask is a new pull. Where
        fewer than n are left of max_pulls, so many are given.
        """
        wanted = 1 if n is None else check_count("n", n)
        who = None if worker is None else text("worker", worker, "Give the worker a short name.")

        def decide(fold: Fold, stored: Events) -> list[Event]:
            self._refuse_if_stopped(fold)
            mine = [] if who is None else fold.open_of(who)[:wanted]
            given.extend(self._stored_pull(stored, held) for held in mine)
            missing = wanted - len(mine)
            if missing and fold.session.max_pulls is not None:
                left = fold.session.max_pulls - fold.session.pulls - len(fold.outstanding)
                if left <= 0 and not mine:
                    raise BudgetOpen(fold.session.max_pulls, fold.open_numbers)
                missing = min(missing, max(left, 0))
            if not missing:
                return []
            fresh = fold.session.beside(fold.anticipated, missing)
            numbered = [replace(pull, number=fold.last_number + 1 + i) for i, pull in enumerate(fresh)]
            given.extend(numbered)
            return [events.asked(pull, pull.number, who, self._index) for pull in numbered]

        given: list[Pull] = []
        self._write(decide, begin=given.clear)
        return given[0] if n is None else given

    def tell(self, pull: Pull | int, *, reward: float, safety: Safety, level: float | None = None) -> None:
        """Takes the result of an open pull; `level` is the level really applied, where it differs.

        The same numbers once more are accepted silently; other numbers are refused, and both are shown.
        """
        told = pull_number(pull)
        value, readings = measured(self.problem, reward, safety)
        applied = None if level is None else number("level", level, APPLIED, at_least=0.0, at_most=1.0)

        def decide(fold: Fold, stored: Events) -> list[Event]:
            opened, closing = self._found(fold, stored, told)
            if isinstance(pull, Pull) and (pull.arm, pull.level) != (opened["arm"], opened["level"]):
                reason = "is not the pull that this study asked for"
                raise InvalidInput("pull", pull, reason, "Tell the study its own pull, or its number.")
            at = opened["level"] if applied is None else applied
            event = events.told(told, at, value, readings)
            if closing is not None:
                self._refuse_unless_same(told, opened, closing, event)
                return []
            if at > opened["level"] and self.policy.keeps_limits:
                too_high.append((as_pull(self.problem, opened), at))
            return [event]

        too_high: list[tuple[Pull, float]] = []
        fold, before = self._write(decide, begin=too_high.clear)
        if fold.session.outcome == "breakdown" and fold.session.pulls != before.pulls:
            raise NumericalBreakdown("the estimates", fold.session.pulls)
        for asked, at in too_high:  # after all is kept: a warning may be an error here
            warn_of_level(asked, at)
        self._warn_of_alarms(fold.raised[before.alarms :])

    def add(
        self, arm: int | str, level: float, reward: float, safety: Safety, *, not_because_of_result: bool = False,
        source: str | None = None,
    ) -> int:  # fmt: skip
        """The number of a result that was measured elsewhere, under the same truth, and is taken over.

        The promise holds only if nothing was left out because of its result: that is to be confirmed.
        """
        confirm(not_because_of_result, "history may be taken over only if none of it was picked by its result")
        which = arm_index(self.problem, arm)
        at = number("level", level, APPLIED, at_least=0.0, at_most=1.0)
        value, readings = measured(self.problem, reward, safety)
        origin = None if source is None else text("source", source, "Say in one line where it is from.")

        def decide(fold: Fold, stored: Events) -> list[Event]:
            if fold.session.outcome is not None:
                raise Finished(fold.session.outcome, fold.session.pulls)
            made[:] = [fold.last_number + 1]
            return [events.added(made[0], which, at, value, readings, origin)]

        made: list[int] = []
        fold, before = self._write(decide)
        self._warn_of_alarms(fold.raised[before.alarms :])
        return made[0]

    # -- pulls that never come back -------------------------------------------------------------------------

    def cancel(self, pull: Pull | int, reason: str, *, not_because_of_result: bool = False) -> None:
        """Gives up an open pull that was not applied."""
        self._close(events.CANCEL, pull, reason, not_because_of_result)

    def fail(self, pull: Pull | int, reason: str, *, not_because_of_result: bool = False) -> None:
        """Gives up an open pull whose measurement failed."""
        self._close(events.FAIL, pull, reason, not_because_of_result)

    def expire(
        self, pull: Pull | int | None = None, *, older_than: timedelta | float | None = None,
        reason: str = "no result came back", not_because_of_result: bool = False,
    ) -> list[int]:  # fmt: skip
        """The numbers of the open pulls given up as stale: this one, or all that were asked for so long ago (seconds
        or a timedelta)."""
        if (pull is None) == (older_than is None):
            given = (pull, older_than)
            raise InvalidInput("pull or older_than", given, "exactly one of the two is needed", "Name one of them.")
        if pull is not None:
            self._close(events.EXPIRE, pull, reason, not_because_of_result)
            return [pull_number(pull)]
        said = closing_reason(reason, not_because_of_result)
        seconds = older_than.total_seconds() if isinstance(older_than, timedelta) else older_than
        age = number("older_than", seconds, "Give seconds, at least 0, or a timedelta.", at_least=0.0)

        def decide(fold: Fold, stored: Events) -> list[Event]:
            latest = events.now() - 1_000_000 * age
            old = [each for each in fold.open_numbers if stored.of_pull(each)[0]["at"] <= latest]
            expired[:] = old
            return [events.closed(events.EXPIRE, each, said) for each in old]

        expired: list[int] = []
        self._write(decide)
        return expired

    def abort(self, pull: Pull | int, reason: str, by: str) -> None:
        """Records that an open pull was stopped while it was applied because it looked unsafe; freezes the study."""
        self._close(events.ABORT, pull, reason, True, said_name(by))

    # -- emergency stop -------------------------------------------------------------------------------------

    def freeze(self, reason: str, by: str) -> None:
        """Stops the study at once: nobody is given a pull until a person releases it. Open pulls may still be told."""
        said, who = said_reason(reason), said_name(by)
        self._write(lambda fold, stored: [events.held(events.FREEZE, said, who)])

    def release(self, reason: str, by: str) -> None:
        """Lets a frozen study go on; the reason is kept."""
        said, who = said_reason(reason), said_name(by)

        def decide(fold: Fold, stored: Events) -> list[Event]:
            if fold.stop is None:
                raise NotFrozen(self.name)
            return [events.held(events.RELEASE, said, who)]

        self._write(decide)

    # -- where it stands ------------------------------------------------------------------------------------

    @property
    def storage(self) -> str:
        """The address of its storage, without a password."""
        return str(self._store.address)

    @property
    def pulls(self) -> int:
        """How many results have been taken in."""
        return self._caught_up().session.pulls

    @property
    def outcome(self) -> str | None:
        """None while it runs; then how it ended, as in a session."""
        return self._caught_up().session.outcome

    @property
    def stopped(self) -> bool:
        """Whether it has ended, in whatever way. A frozen study has not ended."""
        return self.outcome is not None

    @property
    def frozen(self) -> bool:
        """Whether an emergency stop holds it."""
        return self._caught_up().stop is not None

    @property
    def open_pulls(self) -> tuple[Pull, ...]:
        """The pulls that wait for a result."""
        with self._lock, self._store.read(self._identity, self.name) as stored:
            fold = self._catch_up(stored)
            return tuple(self._stored_pull(stored, each) for each in fold.open_numbers)

    @property
    def recommendation(self) -> Recommendation | None:
        """The answer, only if it is certified and certified safe; otherwise None."""
        return self._caught_up().session.recommendation

    @property
    def certificate(self) -> Certificate | None:
        """The answer with its promise and the data it rests on; None unless it ended in certainty."""
        return certificate_of(self._caught_up())

    def status(self) -> dict[str, Any]:
        """Where the study stands, as a table."""
        fold = self._caught_up()
        stop = fold.stop
        return {
            "name": self.name,
            **fold.session.status(),
            "alarms": len(fold.alarms),
            "events": fold.sequence,
            "asked": fold.last_number - fold.imported,
            "imported": fold.imported,
            "states": {state: fold.counts[state] for state in events.STATES} | {events.OPEN: len(fold.open_numbers)},
            "open": fold.open_numbers,
            "held_back": fold.held_back,
            "unused": fold.unused,
            "contradictions": list(fold.raised),
            "alarm_level": self.alarm_level,
            "frozen": None if stop is None else {"reason": stop.reason, "by": stop.by},
            "mismatches": len(fold.mismatches),
            "fold": self.fold,
            "max_pulls": self.max_pulls,
        }

    @property
    def history(self) -> "pd.DataFrame":
        """Every pull as a row of a pandas frame: what was asked, what came back, its state, who, when and why."""
        with self._store.read(self._identity, self.name) as stored:
            return frame_of(self.problem, stored.all())

    def run(
        self, function: Measure, *, max_pulls: int | None = None, callbacks: Iterable[Callback] = (),
        progress: bool = False, worker: str = "run",
    ) -> int:  # fmt: skip
        """How many pulls were made here: asks, calls the function with the pull, tells what it returns, until the study
        ends or so many are made.

        The function returns (reward, safety), or a mapping with "reward", "safety" and perhaps "level". If it raises,
        its pull stays open, and the same worker is given it again. Programs that run side by side need a worker's name
        each; who finds the rest of the budget in other hands is done. Callbacks are called with the study and the pull
        after each result is kept.
        """
        return run_study(self, function, max_pulls, callbacks, progress, worker)

    def export(self, path: str | Path) -> None:
        """The file holds the whole study, with checksums; `import_study` reads it. What was in it is replaced."""
        _, row, arms = self._store.find(self.name)
        with self._store.read(self._identity, self.name) as stored:
            write_study(path, row, arms, stored.all())

    def results(self) -> list[Result]:
        """Every result that was told or imported, in order of number."""
        with self._store.read(self._identity, self.name) as stored:
            return results_in(stored.all())

    def audit(self) -> AuditReport:
        """Every stored decision, recomputed from the events before it, from the first one on."""
        fold = self._new_fold()
        with self._store.read(self._identity, self.name) as stored:
            fold.take(stored.after(0))
        return AuditReport(self.name, fold.sequence, fold.last_number - fold.imported, tuple(fold.mismatches))

    def __repr__(self) -> str:
        with suppress(SurefootError):  # a storage that is away must not break a debugger's view
            fold = self._caught_up()
            state = "frozen" if fold.stop else fold.session.outcome or "running"
            return f"Study({self.name!r}, {self.policy.name}, {fold.session.pulls} pulls, {state})"
        return f"Study({self.name!r}, {self.policy.name})"

    def raise_alarms(self) -> None:
        """Freezes the study if the history that it was begun with contradicts the model."""
        fold, before = self._write(lambda fold, stored: alarms_in(fold))
        self._warn_of_alarms(fold.raised[before.alarms :])

    # -- the transaction ------------------------------------------------------------------------------------

    def _write(
        self, decide: Callable[[Fold, Events], list[Event]], begin: Callable[[], None] | None = None
    ) -> tuple[Fold, Before]:
        """The fold once the events that were decided on are kept, and how things stood before.

        Where the acknowledgement of a commit was lost, the events are found by who wrote them, not written again.
        """
        attempted: list[Before] = []

        def work(stored: Events) -> tuple[Fold, Before]:
            if attempted:
                self._folded = None  # its last events may not be stored
            fold = self._catch_up(stored)
            if attempted:
                before = attempted.pop()
                first = stored.at(before.sequence + 1)
                if first is not None and first["writer"] == self._writer:
                    return fold, before
            if begin is not None:
                begin()
            before = Before(fold.sequence, fold.session.pulls, len(fold.raised))
            decided = decide(fold, stored)
            if decided:
                attempted.append(before)
                self._append(fold, stored, decided)
            return fold, before

        with self._lock:
            try:
                return self._store.write(self._identity, self.name, work)
            except BaseException:
                if attempted:  # what is in memory may not be what is stored
                    self._folded = None
                raise

    def _append(self, fold: Fold, stored: Events, decided: list[Event]) -> None:
        """Adds the events to the storage and to the fold, and the alarms that they raise."""
        self._folded = None  # until all is kept
        self._keep(fold, stored, decided)
        if alarms := alarms_in(fold):
            self._keep(fold, stored, alarms)
        self._folded = fold

    def _keep(self, fold: Fold, stored: Events, decided: list[Event]) -> None:
        """Adds events to the storage and to the fold."""
        at = events.now()
        rows = [
            {"sequence": fold.sequence + 1 + i, "at": at, "writer": self._writer, **event}
            for i, event in enumerate(decided)
        ]
        stored.append(rows)
        fold.take([[row.get(name) for name in FOLDED] for row in rows], audit=False)

    def _catch_up(self, stored: Events) -> Fold:
        """The fold of all events that are stored now."""
        fold, self._folded = self._folded or self._new_fold(), None
        fold.take(stored.after(fold.sequence))
        self._folded = fold
        return fold

    def _caught_up(self) -> Fold:
        """The same, for those who only look."""
        with self._lock, self._store.read(self._identity, self.name) as stored:
            return self._catch_up(stored)

    def _new_fold(self) -> Fold:
        return Fold(
            self.problem, self.policy, self.seed, self.max_pulls, self.fold, self.alarm_level, self.storage
        )  # fmt: skip

    # -- checks ---------------------------------------------------------------------------------------------

    def _refuse_if_stopped(self, fold: Fold) -> None:
        """Nothing, when a pull may be given out."""
        if fold.stop is not None:
            raise Frozen(self.name, fold.stop.reason, fold.stop.by)
        if fold.session.outcome is not None:
            raise Finished(fold.session.outcome, fold.session.pulls)

    def _close(self, kind: str, pull: Pull | int, reason: str, confirmed: object, by: str | None = None) -> None:
        """Gives up an open pull."""
        closing, said = pull_number(pull), closing_reason(reason, confirmed)

        def decide(fold: Fold, stored: Events) -> list[Event]:
            _, before = self._found(fold, stored, closing)
            if before is not None:
                reason = before["reason"] or "it has a result"
                raise PullClosed(closing, events.CLOSES[before["kind"]], reason)
            return [events.closed(kind, closing, said, by)]

        self._write(decide)

    def _warn_of_alarms(self, messages: list[str]) -> None:
        """Warns of what the data were just found to contradict."""
        for message in messages:
            warnings.warn(
                f"The data contradict the model ({message}), so the study {self.name!r} is frozen. The chance of a "
                f"false alarm in its whole life is {self.alarm_level:g}. Find the cause, then release it.",
                ModelAlarm,
                stacklevel=3,
            )

    def _found(self, fold: Fold, stored: Events, told: int) -> tuple[Event, Event | None]:
        """The events that opened and closed the pull."""
        rows = stored.of_pull(told) if 1 <= told <= fold.last_number else []
        if not rows:
            raise NotOpen(told, fold.open_numbers)
        if rows[0]["kind"] == events.ADD:
            return rows[0], rows[0]
        return rows[0], rows[1] if len(rows) > 1 else None

    def _refuse_unless_same(self, told: int, opened: Event, stored: Event, again: Event) -> None:
        """Nothing, when the pull has this very result already."""
        if stored["kind"] not in (events.TELL, events.ADD):
            raise PullClosed(told, events.CLOSES[stored["kind"]], stored["reason"])
        if any(stored[key] != again[key] for key in ("level", "reward", "safety")):
            raise AlreadyTold(told, as_result(self.problem, stored), as_result(self.problem, again))

    def _stored_pull(self, stored: Events, which: int) -> Pull:
        """The pull as it was given out."""
        return as_pull(self.problem, stored.of_pull(which)[0])


def alarms_in(fold: Fold) -> list[Event]:
    """The alarms that are to be raised over what the fold has found."""
    return [events.held(events.ALARM, found.message, ALARM, fold.last_number) for found in fold.findings]
