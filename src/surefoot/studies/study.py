"""A study: ask and tell, kept in a storage. Every verb is one transaction, so any number of processes may take part.

The file is long because these are the verbs that users have, each with what it promises; what they do is elsewhere.
"""

import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext, suppress
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, overload

import numpy as np

from surefoot import frames
from surefoot.cards import card
from surefoot.errors import (
    ABSENT,
    BudgetOpen,
    Finished,
    InvalidInput,
    NotFrozen,
    NumericalBreakdown,
    RecalledWarning,
    SurefootError,
    outside,
)
from surefoot.live.audit import AuditReport
from surefoot.live.certificate import Certificate
from surefoot.live.learner import Learner
from surefoot.live.notices import warn_of_alarm, warn_of_holding, warn_of_level
from surefoot.live.pulls import HeldResult, Outcome, Pull, Recommendation, check_batch, pull_of
from surefoot.live.readings import Safety, applied_level, measured
from surefoot.live.revisable import Revision
from surefoot.live.showing import status_card
from surefoot.live.statements import statement_of
from surefoot.live.trace import Trace
from surefoot.live.tracing import Results, arms_that_matter, followed_arms, results_kept, traced
from surefoot.problem.checks import number, text
from surefoot.storage.chain import verified
from surefoot.storage.protocol import Events, Store
from surefoot.studies import events
from surefoot.studies.auditing import audit_of
from surefoot.studies.certificates import added_assumptions, certificate_of, data_notes
from surefoot.studies.choices import Choice
from surefoot.studies.consequences import alarms_in, end_of
from surefoot.studies.corrections import Corrected, New, corrected_before, correction, what_changed
from surefoot.studies.entries import StudyLedger
from surefoot.studies.events import Event, as_pull
from surefoot.studies.following import Followed, followed, silent
from surefoot.studies.handle import Handle, Settings
from surefoot.studies.history import Result, columns_of, current_result, results_in
from surefoot.studies.import_order import Statement
from surefoot.studies.imports import check_unpicked, import_events, one_row, whole_table
from surefoot.studies.inputs import closing_reason, pull_number, said_name, said_reason
from surefoot.studies.keys import Keyed, unanswered
from surefoot.studies.refusals import events_of, refuse_if_closed, refuse_if_stopped, result_to_revise
from surefoot.studies.running import Callback, Measure, run_study
from surefoot.studies.signatures import SignedHead, signed_head
from surefoot.studies.status import StudyStatus, status_of
from surefoot.studies.step import Before, Decide, Step
from surefoot.studies.telling import Said, Telling, events_for
from surefoot.studies.transfer import export_study

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from surefoot.bridges.optuna_words import Objective, TrialCallback


Found = TypeVar("Found")


class Study:
    """One experiment in a storage. Made by `create_study` and `load_study`."""

    def __init__(self, store: Store, identity: int, name: str, settings: Settings, origin: bytes) -> None:
        self.name = name
        self.problem = settings.problem
        self.policy = settings.policy
        self.seed = settings.seed
        self.max_pulls = settings.max_pulls
        self.intake = settings.intake
        self.alarm_level = settings.alarm_level
        self._handle = Handle(store, identity, name, settings, origin)

    # -- ask and tell ---------------------------------------------------------------------------------------

    @overload
    def ask(self, n: None = None, *, worker: str | None = None, key: str | None = None) -> Pull: ...
    @overload
    def ask(self, n: int, *, worker: str | None = None, key: str | None = None) -> list[Pull]: ...
    def ask(self, n: int | None = None, *, worker: str | None = None, key: str | None = None) -> Pull | list[Pull]:
        """The next pull, or the next n to be applied side by side.

        A named worker that asks again is given back what it has open; without a name every ask is a new pull. n is at
        most 1,000. Where fewer are left of max_pulls, so many are given; and while others keep changing the study
        faster than n pulls are chosen, fewer, at least one. The storage is not held while they are chosen.

        key  a text of your own for this step, here and for every verb that writes: who repeats it with the same key,
             because a crash left unknown whether it was taken, is given the first answer and nothing happens twice
        """
        wanted = 1 if n is None else check_batch(n)
        who = None if worker is None else text("worker", worker, "Give the worker a short name.")

        def decide(ledger: StudyLedger, stored: Events) -> list[Event]:
            refuse_if_stopped(self.name, ledger)
            recalled[:] = ledger.recalled.get(who, []) if who is not None else []
            mine = [] if who is None else ledger.open_of(who)[:wanted]
            given.extend(self._stored_pull(stored, held) for held in mine)
            with suppress(BudgetOpen) if mine else nullcontext():
                missing = ledger.allowance(wanted - len(mine)) if wanted > len(mine) else 0
                chosen = choice.of(ledger, missing) if missing else []
                first = ledger.last_number + 1
                fresh = [pull_of(self.problem, first + i, *each) for i, each in enumerate(chosen)]
                given.extend(fresh)
                return [events.asked(self.problem, pull, who) for pull in fresh]
            return []

        given: list[Pull] = []
        recalled: list[int] = []
        choice = Choice(self._handle)
        keyed: Keyed[list[Pull]] = Keyed(
            key, "ask", (n, who), lambda pulls: [pull.number for pull in pulls],
            lambda numbers, stored: [self._stored_pull(stored, each) for each in numbers],
        )  # fmt: skip
        step = Step(decide, lambda ledger, before: list(given), given.clear, keyed)
        pulls = choice.settled(lambda: self._handle.write(step))
        if recalled:
            warn_of_recall(sorted(recalled))
        return pulls[0] if n is None else pulls

    def tell(
        self, pull: Pull | int, *, reward: float, safety: Safety = (), level: float | str | None = None,
        confirm: bool = False, key: str | None = None,
    ) -> None:  # fmt: skip
        """Takes the result of an open pull; `level` is the level really applied, where it differs, or as text the
        setting, "18 mg".

        The promise needs that another level was chosen without knowing this pull's own result, any result with a
        larger number, or one still open. The same numbers once more are accepted silently; other numbers are refused,
        and both are shown. What is implausible (chances below 1e-9 under all that is still possible) is refused by name
        and held, until the pull is told again: another value, or the same with `confirm=True`. The result of a pull
        that was given up is kept and does not count, which PullClosed says; if it lies far beyond a limit, the study
        is frozen.
        """
        told = pull_number(pull)
        value, readings = measured(self.problem, reward, safety)
        applied = None if level is None else applied_level(self.problem, level)

        telling = Telling(told, pull if isinstance(pull, Pull) else None, value, readings, applied, confirm)
        said = Said()

        def conclude(ledger: StudyLedger, before: Before) -> Followed:
            broken = ledger.outcome == "breakdown" and ledger.learner.pulls != before.pulls
            failed = [NumericalBreakdown("the estimates", ledger.learner.pulls)] if broken else []
            return followed(ledger, before, but=told, refused=[*failed, *said.refused])

        def decide(ledger: StudyLedger, stored: Events) -> list[Event]:
            return events_for(self.problem, ledger, stored, telling, said)

        request = telling._replace(pull=None)
        keyed = Keyed(key, "tell", request, Followed.to_plain, Followed.from_plain)
        after = self._handle.write(Step(decide, conclude, said.clear, keyed))
        for asked, at in said.too_high:  # after all is kept: a warning may be an error here
            warn_of_level(self.problem, asked, at)
        self._warn_of(after)
        for refusal in after.refused:
            raise refusal

    @overload
    def add(
        self, arm: int | str, level: float | str, reward: float, safety: Safety = (), *,
        not_because_of_result: bool = False, source: str | None = None, confirm: bool = False, key: str | None = None,
    ) -> int: ...  # fmt: skip
    @overload
    def add(
        self, arm: object, *, order: str | None = None, time: str | None = None, not_because_of_result: bool = False,
        source: str | None = None, confirm: bool = False, key: str | None = None,
    ) -> range: ...  # fmt: skip
    def add(
        self, arm: object, level: object = ABSENT, reward: object = ABSENT, safety: object = ABSENT, *,
        order: str | None = None, time: str | None = None, not_because_of_result: bool = False,
        source: str | None = None, confirm: bool = False, key: str | None = None,
    ) -> int | range:  # fmt: skip
        """The number of a result that was measured elsewhere, under the same truth, and is taken over; or, for a whole
        table in place of the arm, the numbers of its rows.

        A table is a data frame, a mapping of columns, a list of rows or the Path of a CSV file, with the columns arm,
        level, reward and safety (or safety_NAME for each limit); where the problem has a dial, a column setting, in its
        unit, may stand in place of the level. It is taken in as one step: all of it or nothing, and
        the study decides after its last row.

        order    "as measured": the rows stand in the order in which they were measured; "fixed beforehand": their
                 order and their settings were fixed without looking at results
        time     the column of time stamps. Alone they sort the rows; beside `order` they must bear it out
        confirm  take in rows that look as if they were sorted by their results

        The promise holds only if nothing was left out because of its result: that is to be confirmed. It holds no
        longer if epsilon, delta or the arms were chosen after looking at the results.
        """
        check_unpicked(not_because_of_result)
        given = any(each is not ABSENT for each in (level, reward, safety))
        one = given or isinstance(arm, str | int | np.integer)
        said = (order, time, source, confirm)
        taken = (
            one_row(self.problem, (arm, level, reward, safety), *said) if one else whole_table(self.problem, arm, *said)
        )

        def decide(ledger: StudyLedger, stored: Events) -> list[Event]:
            if ledger.outcome is not None:
                raise Finished(ledger.outcome, ledger.learner.pulls)
            made[:] = [ledger.last_number + 1]
            return import_events(self.problem, ledger, taken)

        made: list[int] = []
        keyed: Keyed[tuple[int, Followed]] = Keyed(
            key, "add", (taken, confirm), lambda answer: answer[0], lambda first, stored: (int(first), Followed())
        )
        first, after = self._handle.write(
            Step(decide, lambda ledger, before: (made[0], followed(ledger, before)), made.clear, keyed)
        )
        self._warn_of(after)
        return first if one else range(first, first + len(taken.rows))

    # -- pulls that never come back -------------------------------------------------------------------------

    def cancel(
        self, pull: Pull | int, reason: str, *, not_because_of_result: bool = False, key: str | None = None
    ) -> None:
        """Gives up an open pull that was not applied.

        The promise needs that this depends neither on the pull's own result, nor on any result with a larger number,
        nor on one still open. The same holds for `fail` and `expire`.
        """
        self._close(events.CANCEL, pull, reason, not_because_of_result, key=key)

    def fail(
        self, pull: Pull | int, reason: str, *, not_because_of_result: bool = False, key: str | None = None
    ) -> None:
        """Gives up an open pull whose measurement failed, for reasons as independent of results as `cancel` says."""
        self._close(events.FAIL, pull, reason, not_because_of_result, key=key)

    def expire(
        self, pull: Pull | int | None = None, *, older_than: timedelta | float | None = None,
        reason: str = "no result came back", not_because_of_result: bool = False, key: str | None = None,
    ) -> list[int]:  # fmt: skip
        """The numbers of the open pulls given up as stale: this one, or all that were asked for so long ago (seconds
        or a timedelta, by the clock of the storage); for reasons as independent of results as `cancel` says."""
        if (pull is None) == (older_than is None):
            given = (pull, older_than)
            raise InvalidInput("pull or older_than", given, "exactly one of the two is needed", "Name one of them.")
        if pull is not None:
            self._close(events.EXPIRE, pull, reason, not_because_of_result, key=key)
            return [pull_number(pull)]
        said = closing_reason(reason, not_because_of_result)
        seconds = older_than.total_seconds() if isinstance(older_than, timedelta) else older_than
        age = number("older_than", seconds, "Give seconds, at least 0, or a timedelta.", at_least=0.0)

        def decide(ledger: StudyLedger, stored: Events) -> list[Event]:
            latest = stored.now() - 1_000_000 * age
            expired[:] = [each for each in ledger.open_numbers if stored.of_pull(each)[0]["at"] <= latest]
            return [events.closed(events.EXPIRE, each, said) for each in expired]

        expired: list[int] = []
        keyed: Keyed[list[int]] = Keyed(key, "expire", (age, said), list, lambda numbers, stored: list(numbers))
        return self._handle.write(Step(decide, lambda ledger, before: list(expired), keyed=keyed))

    def abort(self, pull: Pull | int, reason: str, by: str, *, key: str | None = None) -> None:
        """Records that an open pull was stopped while it was applied because it looked unsafe; freezes the study."""
        self._close(events.ABORT, pull, reason, True, said_name(by), key=key)

    # -- emergency stop -------------------------------------------------------------------------------------

    def freeze(self, reason: str, by: str, *, key: str | None = None) -> None:
        """Stops the study at once: nobody is given a pull until a person releases it. Open pulls may still be told."""
        said, who = said_reason(reason), said_name(by)
        step = unanswered(key, "freeze", said, who)
        self._handle.write(Step(lambda ledger, stored: [events.held(events.FREEZE, said, who)], silent, keyed=step))

    def release(self, reason: str, by: str, *, key: str | None = None) -> None:
        """Lets a frozen study go on; the reason is kept."""
        said, who = said_reason(reason), said_name(by)

        def decide(ledger: StudyLedger, stored: Events) -> list[Event]:
            if ledger.stop is None:
                raise NotFrozen(self.name)
            return [events.held(events.RELEASE, said, who)]

        self._handle.write(Step(decide, silent, keyed=unanswered(key, "release", said, who)))

    # -- results that are put right -------------------------------------------------------------------------

    def correct(
        self, number: Pull | int, *, reward: float | None = None, safety: Safety | None = None, reason: str, by: str,
        confirm: bool = False, key: str | None = None,
    ) -> Corrected:  # fmt: skip
        """Puts a told result right: what is not given stays as it was told. All is learned anew with it; open pulls
        above what is certified then are recalled, and an answer that no longer stands is reopened.

        The promise needs that whether a result is corrected does not depend on whether it pleased.
        """
        new, said, who = New(self.problem, reward, safety), said_reason(reason), said_name(by)
        told = pull_number(number)
        return self._revise(
            told, lambda ledger, stored: correction(self.problem, ledger, stored, told, new, said, who, confirm),
            corrected_before(key, "correct", (told, new.reward, new.readings and new.readings.hex(), said, who)),
        )  # fmt: skip

    def void(self, number: Pull | int, *, reason: str, by: str, key: str | None = None) -> Corrected:
        """Takes a result out, told or held, for a reason that is not the result; in the budget it was a pull."""
        said, who, told = said_reason(reason), said_name(by), pull_number(number)

        def decide(ledger: StudyLedger, stored: Events) -> list[Event]:
            result_to_revise(ledger, stored, told, held=True)
            return [events.voided(told, said, who)]

        return self._revise(told, decide, corrected_before(key, "void", (told, said, who)))

    @property
    def corrections(self) -> tuple[Revision, ...]:
        """Every result that was corrected or taken out, in order: who, when, why, old and new values."""
        return self._handle.view(lambda ledger: tuple(ledger.revisions))

    @property
    def confirmed(self) -> tuple[int, ...]:
        """The pulls whose implausible results were taken in because a person confirmed them."""
        return self._handle.view(lambda ledger: tuple(ledger.confirmed))

    @property
    def held(self) -> tuple[HeldResult, ...]:
        """Implausible results, which were not taken in and wait to be confirmed or replaced."""
        return self._handle.view(lambda ledger: tuple(ledger.held_result(number) for number in ledger.holding))

    # -- where it stands ------------------------------------------------------------------------------------

    @property
    def storage(self) -> str:
        """The address of its storage, without a password."""
        return str(self._handle.store.address)

    @property
    def pulls(self) -> int:
        """How many results have been taken in."""
        return self._handle.view(lambda ledger: ledger.learner.pulls)

    @property
    def outcome(self) -> Outcome | None:
        """None while it runs; then how it ended, as in a session."""
        return self._handle.view(lambda ledger: ledger.outcome)

    @property
    def stopped(self) -> bool:
        """Whether it has ended, in whatever way. A frozen study has not ended."""
        return self.outcome is not None

    @property
    def frozen(self) -> bool:
        """Whether an emergency stop holds it."""
        return self._handle.view(lambda ledger: ledger.stop is not None)

    @property
    def open_pulls(self) -> tuple[Pull, ...]:
        """The pulls that wait for a result."""
        return self._handle.look(
            lambda ledger, stored: tuple(self._stored_pull(stored, each) for each in ledger.open_numbers)
        )

    @property
    def recommendation(self) -> Recommendation | None:
        """The answer, only if it is certified and certified safe; otherwise None."""
        return self._handle.proven(lambda ledger: ledger.recommendation)

    @property
    def certificate(self) -> Certificate | None:
        """The answer with its promise and the data it rests on; None unless it ended in certainty."""
        return self._handle.proven(certificate_of)

    @property
    def statement(self) -> str:
        """Where it stands in a sentence or two, beginning with what is wrong; at a good end the certificate's."""
        return self._handle.proven(
            lambda ledger: statement_of(ledger.outcome, ledger.learner.pulls, ledger.ringing, certificate_of(ledger))
        )

    @property
    def head(self) -> str:
        """The hash of its last event. Keep it elsewhere: `audit(head=...)` proves that nothing was changed since."""
        return self._handle.view(lambda ledger: ledger.head.hex())

    def status(self) -> StudyStatus:
        """Where the study stands."""
        return self._handle.view(lambda ledger: status_of(self.name, self.max_pulls, self.alarm_level, ledger))

    @property
    def history(self) -> "pd.DataFrame":
        """Every pull as a row of a pandas frame: what was asked, what came back, its state, who, when and why."""
        return frames.to_pandas(self.history_columns())

    def history_columns(self) -> dict[str, Any]:
        """The history as arrays by the names of its columns, which needs no library of data frames."""
        return self._handle.look(
            lambda ledger, stored: columns_of(self.problem, verified(self._handle.origin, stored.after(0)))
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What became of every pull, in words: used, given up, corrected, imported."""
        return self._handle.view(data_notes)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the promise rests on, by the policy and by how the data came in."""
        return self._handle.view(lambda ledger: (*ledger.learner.guarantee.assumptions, *added_assumptions(ledger)))

    def to_pandas(self) -> "pd.DataFrame":
        """The history as a pandas frame."""
        return self.history

    def to_polars(self) -> "pl.DataFrame":
        """The history as a polars frame, with the same columns."""
        return frames.to_polars(self.history_columns())

    def trace(self, *, arms: Sequence[int | str] | None = None, states: int | None = None) -> Trace:
        """The numbers of every round, as `Session.trace` gives them: what was pulled and returned, leader, challenger
        and gap after it, and the levels, estimates and ranges of each arm. All results are replayed for it, through the
        source that decided; where some were corrected, with the values of now."""

        def see(ledger: StudyLedger) -> tuple[list[int], Results]:
            followed = followed_arms(self.problem, arms, arms_that_matter(ledger.learner))
            return followed, results_kept(self.problem, ledger.results, ledger.learner.pulls)

        followed, results = self._handle.view(see)
        return traced(Learner(self.problem, self.policy, self.seed), results, followed, states)

    def run(
        self, function: Measure, *, max_pulls: int | None = None, timeout: float | None = None,
        callbacks: Iterable[Callback] = (), progress: bool = False, worker: str = "run",
    ) -> int:  # fmt: skip
        """How many pulls were made here: asks, calls the function with the pull, tells what it returns, until the study
        ends, so many are made, or after so many seconds no further one is begun.

        The function returns (reward, safety), or a mapping with "reward", "safety" and perhaps "level". If it raises,
        its pull stays open, and the same worker is given it again. Programs that run side by side need a worker's name
        each; who finds the rest of the budget in other hands is done. Callbacks are called with the study and the pull
        after each result is kept.
        """
        return run_study(self, function, max_pulls, timeout, callbacks, progress, worker)

    def optimize(
        self, objective: "Objective", n_trials: int | None = None, timeout: float | None = None, *,
        callbacks: Iterable["TrialCallback"] = (), show_progress_bar: bool = False, worker: str = "run",
    ) -> None:  # fmt: skip
        """`run` in the words of Optuna: the objective takes a trial, with `trial.params` and `trial.number`, and
        returns what `run` asks for: (reward, safety). Callbacks take the study and the trial."""
        from surefoot.bridges.optuna_words import with_trials

        measure, after_each = with_trials(self, objective, callbacks)
        self.run(
            measure, max_pulls=n_trials, timeout=timeout, callbacks=after_each, progress=show_progress_bar,
            worker=worker,
        )  # fmt: skip

    def export(self, path: str | Path, *, overwrite: bool = False) -> None:
        """A new file, .study or .zip, that holds the whole study with checksums; `import_study` reads it.

        With `overwrite` it may replace one that is there.
        """
        export_study(self._handle, path, overwrite=overwrite)

    def results(self) -> list[Result]:
        """Every result that was told or imported, in order of number."""
        return self._handle.look(lambda ledger, stored: results_in(stored.all()))

    def result(self, number: Pull | int) -> Result | None:
        """The result of one pull as it counts now; None where there is none."""
        told = pull_number(number)
        return self._handle.view(lambda ledger: current_result(ledger, told))

    def statements(self) -> tuple[Statement, ...]:
        """What was stated about the order of each table that was taken over."""
        return self._handle.view(lambda ledger: tuple(ledger.statements))

    def audit(self, *, head: str | SignedHead | None = None, signed_by: str | Path | None = None) -> AuditReport:
        """Every event, verified against the hash chain, and every decision, recomputed from the events before it.

        head       the hash that was noted at some time, or a signed one: whether everything up to there is as it was
        signed_by  the public key, a PEM file, that must have signed it
        """
        return audit_of(self._handle, head, signed_by)

    def sign(self, key_file: str | Path) -> SignedHead:
        """The head with the signature of an Ed25519 key from a PEM file, for `audit`."""

        def sign(ledger: StudyLedger, stored: Events) -> SignedHead:
            origin = self._handle.origin.hex()
            return signed_head(ledger.head.hex(), ledger.sequence, origin, stored.now(), key_file)

        return self._handle.look(sign)

    def __repr__(self) -> str:
        with suppress(SurefootError):  # a storage that is away must not break a debugger's view
            pulls, state = self._handle.view(
                lambda ledger: (ledger.learner.pulls, "frozen" if ledger.stop else ledger.outcome or "running")
            )
            return f"Study({self.name!r}, {self.policy.name}, {pulls} pulls, {state})"
        return f"Study({self.name!r}, {self.policy.name})"

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"a study is not copied or sent to another process: load it there, {self.name!r}, by its name")

    def _repr_html_(self) -> str:
        with suppress(SurefootError):  # as above
            status, stop = self.status(), self._handle.view(lambda ledger: ledger.stop)
            said = f"Frozen by {stop.by}: {stop.reason}. " if stop else ""
            return status_card(self.problem, repr(self), status, said + self.statement)
        return card(repr(self))

    def raise_alarms(self) -> None:
        """Freezes the study if the history that it was begun with contradicts the model."""
        self._warn_of(self._handle.write(Step(lambda ledger, stored: alarms_in(ledger) + end_of(ledger), followed)))

    # -- within ---------------------------------------------------------------------------------------------

    def _read(self, see: Callable[[Events], Found]) -> Found:
        """What one sees who reads the events at one moment."""
        return self._handle.store.read(self._handle.identity, self.name, see)

    def _close(
        self, kind: str, pull: Pull | int, reason: str, confirmed: object, by: str | None = None, *, key: str | None
    ) -> None:  # fmt: skip
        """Gives up an open pull."""
        closing, said = pull_number(pull), closing_reason(reason, confirmed)

        def decide(ledger: StudyLedger, stored: Events) -> list[Event]:
            closed_by = events_of(ledger, stored, closing)[1]
            if kind != events.ABORT or closing not in ledger.holding:  # what looked unsafe may always be said
                refuse_if_closed(ledger, closing, closed_by)
            return [events.closed(kind, closing, said, by, step=events.CLOSING if closed_by is None else None)]

        self._handle.write(Step(decide, silent, keyed=unanswered(key, kind, closing, said, by)))

    def _revise(self, number: int, decide: Decide, keyed: Keyed[tuple[Corrected, Followed]]) -> Corrected:
        """Puts a result right, and says what that has changed."""
        outcomes: list[Outcome | None] = []

        def deciding(ledger: StudyLedger, stored: Events) -> list[Event]:
            outcomes.append(ledger.outcome)
            open_before[:] = ledger.open_numbers
            return decide(ledger, stored)

        def conclude(ledger: StudyLedger, before: Before) -> tuple[Corrected, Followed]:
            recalled = [each for each in open_before if each not in ledger.outstanding]
            return what_changed(self.problem, ledger, number, outcomes[0], recalled), followed(ledger, before)

        open_before: list[int] = []
        changed, after = self._handle.write(Step(deciding, conclude, outcomes.clear, keyed))
        self._warn_of(after)
        return changed

    def _warn_of(self, after: Followed) -> None:
        """Warns of alarms, and of results that are held now."""
        self._warn_of_alarms(after.alarms)
        for each, holding in after.held:
            warn_of_holding(each, holding)

    def _warn_of_alarms(self, messages: Iterable[str]) -> None:
        """Warns of what the data were just found to contradict."""
        for message in messages:
            warn_of_alarm(message, f"so the study {self.name!r} is frozen", self.alarm_level)

    def _stored_pull(self, stored: Events, which: int) -> Pull:
        """The pull as it was given out."""
        return as_pull(self.problem, stored.of_pull(which)[0])


def warn_of_recall(numbers: list[int]) -> None:
    """Warns a worker of pulls that it has, and that must not be applied any more."""
    listed = ", ".join(map(str, numbers))
    warnings.warn(
        f"Recalled since you asked last: pull {listed}. Corrected results do not certify that level any more: do not "
        "apply it. If it was applied already, record it with add(arm, level, reward, safety).",
        RecalledWarning,
        stacklevel=outside(),
    )
