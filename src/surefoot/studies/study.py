"""A study: ask and tell, kept in a storage. Every verb is one transaction, so any number of processes may take part.

The file is long because these are the verbs that users have, each with what it promises; what they do is elsewhere.
"""

import warnings
from collections.abc import Iterable
from contextlib import nullcontext, suppress
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, overload

from surefoot.errors import BudgetOpen, Finished, InvalidInput, ModelAlarm, NotFrozen, NumericalBreakdown, SurefootError
from surefoot.live.audit import AuditReport
from surefoot.live.certificate import NOTHING, Certificate
from surefoot.live.pulls import Outcome, Pull, Recommendation, check_batch, pull_of
from surefoot.live.readings import APPLIED, Safety, measured
from surefoot.live.session import warn_of_level
from surefoot.problem.checks import number, text
from surefoot.storage.protocol import Events, Store
from surefoot.studies import events
from surefoot.studies.certificates import certificate_of
from surefoot.studies.choices import Choice
from surefoot.studies.entries import StudyLedger
from surefoot.studies.events import Event, as_pull
from surefoot.studies.handle import Handle, Settings, alarms_in, end_of
from surefoot.studies.history import Result, frame_of, results_in
from surefoot.studies.inputs import (
    arm_index,
    closing_reason,
    confirm,
    pull_number,
    said_name,
    said_reason,
)
from surefoot.studies.refusals import events_of, refuse_if_closed, refuse_if_stopped, refuse_unless_same
from surefoot.studies.running import Callback, Measure, run_study
from surefoot.studies.status import StudyStatus, status_of
from surefoot.studies.transfer import export_place, write_study

if TYPE_CHECKING:
    import pandas as pd


class Study:
    """One experiment in a storage. Made by `create_study` and `load_study`."""

    def __init__(self, store: Store, identity: int, name: str, settings: Settings) -> None:
        self.name = name
        self.problem = settings.problem
        self.policy = settings.policy
        self.seed = settings.seed
        self.max_pulls = settings.max_pulls
        self.intake = settings.intake
        self.alarm_level = settings.alarm_level
        self._handle = Handle(store, identity, name, settings)
        self._index = {name: k for k, name in enumerate(settings.problem.names)} | {NOTHING: -1}

    # -- ask and tell ---------------------------------------------------------------------------------------

    @overload
    def ask(self, n: None = None, *, worker: str | None = None) -> Pull: ...
    @overload
    def ask(self, n: int, *, worker: str | None = None) -> list[Pull]: ...
    def ask(self, n: int | None = None, *, worker: str | None = None) -> Pull | list[Pull]:
        """The next pull, or the next n to be applied side by side.

        A named worker that asks again is given back what it has open; without a name every ask is a new pull. n is at
        most 1,000. Where fewer are left of max_pulls, so many are given; and while others keep changing the study
        faster than n pulls are chosen, fewer, at least one. The storage is not held while they are chosen.
        """
        wanted = 1 if n is None else check_batch(n)
        who = None if worker is None else text("worker", worker, "Give the worker a short name.")

        def decide(ledger: StudyLedger, stored: Events) -> list[Event]:
            refuse_if_stopped(self.name, ledger)
            mine = [] if who is None else ledger.open_of(who)[:wanted]
            given.extend(self._stored_pull(stored, held) for held in mine)
            with suppress(BudgetOpen) if mine else nullcontext():
                missing = ledger.allowance(wanted - len(mine)) if wanted > len(mine) else 0
                chosen = choice.of(ledger, missing) if missing else []
                first = ledger.last_number + 1
                fresh = [pull_of(self.problem, first + i, *each) for i, each in enumerate(chosen)]
                given.extend(fresh)
                return [events.asked(pull, pull.number, who, self._index) for pull in fresh]
            return []

        given: list[Pull] = []
        choice = Choice(self._handle)
        choice.settled(lambda: self._handle.write(decide, begin=given.clear))
        return given[0] if n is None else given

    def tell(self, pull: Pull | int, *, reward: float, safety: Safety, level: float | None = None) -> None:
        """Takes the result of an open pull; `level` is the level really applied, where it differs.

        The same numbers once more are accepted silently; other numbers are refused, and both are shown.
        """
        told = pull_number(pull)
        value, readings = measured(self.problem, reward, safety)
        applied = None if level is None else number("level", level, APPLIED, at_least=0.0, at_most=1.0)

        def decide(ledger: StudyLedger, stored: Events) -> list[Event]:
            opened, closing = events_of(ledger, stored, told)
            if isinstance(pull, Pull) and (pull.arm, pull.level) != (opened["arm"], opened["level"]):
                reason = "is not the pull that this study asked for"
                raise InvalidInput("pull", pull, reason, "Tell the study its own pull, or its number.")
            at = opened["level"] if applied is None else applied
            event = events.told(told, at, value, readings)
            if closing is not None:
                refuse_unless_same(self.problem, told, closing, event)
                return []
            if ledger.is_too_high(opened["level"], at):
                too_high.append((as_pull(self.problem, opened), at))
            return [event]

        too_high: list[tuple[Pull, float]] = []
        ledger, before = self._handle.write(decide, begin=too_high.clear)
        if ledger.outcome == "breakdown" and ledger.learner.pulls != before.pulls:
            raise NumericalBreakdown("the estimates", ledger.learner.pulls)
        for asked, at in too_high:  # after all is kept: a warning may be an error here
            warn_of_level(asked, at)
        self._warn_of_alarms(ledger.raised[before.alarms :])

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

        def decide(ledger: StudyLedger, stored: Events) -> list[Event]:
            if ledger.outcome is not None:
                raise Finished(ledger.outcome, ledger.learner.pulls)
            made[:] = [ledger.last_number + 1]
            return [events.added(made[0], which, at, value, readings, origin)]

        made: list[int] = []
        ledger, before = self._handle.write(decide)
        self._warn_of_alarms(ledger.raised[before.alarms :])
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

        def decide(ledger: StudyLedger, stored: Events) -> list[Event]:
            latest = events.now() - 1_000_000 * age
            old = [each for each in ledger.open_numbers if stored.of_pull(each)[0]["at"] <= latest]
            expired[:] = old
            return [events.closed(events.EXPIRE, each, said) for each in old]

        expired: list[int] = []
        self._handle.write(decide)
        return expired

    def abort(self, pull: Pull | int, reason: str, by: str) -> None:
        """Records that an open pull was stopped while it was applied because it looked unsafe; freezes the study."""
        self._close(events.ABORT, pull, reason, True, said_name(by))

    # -- emergency stop -------------------------------------------------------------------------------------

    def freeze(self, reason: str, by: str) -> None:
        """Stops the study at once: nobody is given a pull until a person releases it. Open pulls may still be told."""
        said, who = said_reason(reason), said_name(by)
        self._handle.write(lambda ledger, stored: [events.held(events.FREEZE, said, who)])

    def release(self, reason: str, by: str) -> None:
        """Lets a frozen study go on; the reason is kept."""
        said, who = said_reason(reason), said_name(by)

        def decide(ledger: StudyLedger, stored: Events) -> list[Event]:
            if ledger.stop is None:
                raise NotFrozen(self.name)
            return [events.held(events.RELEASE, said, who)]

        self._handle.write(decide)

    # -- where it stands ------------------------------------------------------------------------------------

    @property
    def storage(self) -> str:
        """The address of its storage, without a password."""
        return str(self._handle.store.address)

    @property
    def pulls(self) -> int:
        """How many results have been taken in."""
        return self._handle.caught_up().learner.pulls

    @property
    def outcome(self) -> Outcome | None:
        """None while it runs; then how it ended, as in a session."""
        return self._handle.caught_up().outcome

    @property
    def stopped(self) -> bool:
        """Whether it has ended, in whatever way. A frozen study has not ended."""
        return self.outcome is not None

    @property
    def frozen(self) -> bool:
        """Whether an emergency stop holds it."""
        return self._handle.caught_up().stop is not None

    @property
    def open_pulls(self) -> tuple[Pull, ...]:
        """The pulls that wait for a result."""
        handle = self._handle
        with handle.lock, handle.store.read(handle.identity, self.name) as stored:
            return tuple(self._stored_pull(stored, each) for each in handle.catch_up(stored).open_numbers)

    @property
    def recommendation(self) -> Recommendation | None:
        """The answer, only if it is certified and certified safe; otherwise None."""
        return self._handle.caught_up().recommendation

    @property
    def certificate(self) -> Certificate | None:
        """The answer with its promise and the data it rests on; None unless it ended in certainty."""
        return certificate_of(self._handle.caught_up())

    def status(self) -> StudyStatus:
        """Where the study stands."""
        return status_of(self.name, self.max_pulls, self.alarm_level, self._handle.caught_up())

    @property
    def history(self) -> "pd.DataFrame":
        """Every pull as a row of a pandas frame: what was asked, what came back, its state, who, when and why."""
        with self._handle.store.read(self._handle.identity, self.name) as stored:
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

    def export(self, path: str | Path, *, overwrite: bool = False) -> None:
        """A new file, .study or .zip, that holds the whole study with checksums; `import_study` reads it.

        With `overwrite` it may replace one that is there.
        """
        export_place(path, overwrite)  # before a long study is read
        _, row, arms = self._handle.store.find(self.name)
        with self._handle.store.read(self._handle.identity, self.name) as stored:
            write_study(path, row, arms, stored.all(), overwrite=overwrite)

    def results(self) -> list[Result]:
        """Every result that was told or imported, in order of number."""
        with self._handle.store.read(self._handle.identity, self.name) as stored:
            return results_in(stored.all())

    def audit(self) -> AuditReport:
        """Every stored decision, recomputed from the events before it, from the first one on."""
        ledger = self._handle.new_ledger()
        with self._handle.store.read(self._handle.identity, self.name) as stored:
            ledger.take(stored.after(0))
        asked = ledger.last_number - ledger.imported
        return AuditReport(self.name, ledger.sequence, asked, tuple(ledger.mismatches))

    def __repr__(self) -> str:
        with suppress(SurefootError):  # a storage that is away must not break a debugger's view
            ledger = self._handle.caught_up()
            state = "frozen" if ledger.stop else ledger.outcome or "running"
            return f"Study({self.name!r}, {self.policy.name}, {ledger.learner.pulls} pulls, {state})"
        return f"Study({self.name!r}, {self.policy.name})"

    def raise_alarms(self) -> None:
        """Freezes the study if the history that it was begun with contradicts the model."""
        ledger, before = self._handle.write(lambda ledger, stored: alarms_in(ledger) + end_of(ledger))
        self._warn_of_alarms(ledger.raised[before.alarms :])

    # -- within ---------------------------------------------------------------------------------------------

    def _close(self, kind: str, pull: Pull | int, reason: str, confirmed: object, by: str | None = None) -> None:
        """Gives up an open pull."""
        closing, said = pull_number(pull), closing_reason(reason, confirmed)

        def decide(ledger: StudyLedger, stored: Events) -> list[Event]:
            refuse_if_closed(closing, events_of(ledger, stored, closing)[1])
            return [events.closed(kind, closing, said, by)]

        self._handle.write(decide)

    def _warn_of_alarms(self, messages: list[str]) -> None:
        """Warns of what the data were just found to contradict."""
        for message in messages:
            warnings.warn(
                f"The data contradict the model ({message}), so the study {self.name!r} is frozen. The chance of a "
                f"false alarm in its whole life is {self.alarm_level:g}. Find the cause, then release it.",
                ModelAlarm,
                stacklevel=3,
            )

    def _stored_pull(self, stored: Events, which: int) -> Pull:
        """The pull as it was given out."""
        return as_pull(self.problem, stored.of_pull(which)[0])
