"""The state of a study as the fold of its events; every process that has the study open folds the same ones.

Results are taken in by number (`fold="order"`): one that comes late holds back those behind it, so that what is learned
does not depend on which came first, and a pull that was given up is passed over. With `fold="arrival"` a result is
taken in when it comes. What comes in after the end is kept and changes nothing.

The events of a reopened study become a script for the session, which goes through it in compiled code and says for
each pull what should have been asked for. That is the audit: it costs no second pass.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from surefoot.core.replay import ASKED, FOLDED, OPENED
from surefoot.errors import StorageDamaged
from surefoot.live.model_checks import Finding, Residuals
from surefoot.live.scripts import Story
from surefoot.live.session import Alarm, Session
from surefoot.policies import Policy
from surefoot.problem import Problem
from surefoot.studies import events
from surefoot.studies.audit import Mismatch, mismatches_in

Order: TypeAlias = Literal["order", "arrival"]
BY_NUMBER: Order = "order"
BY_ARRIVAL: Order = "arrival"


class Outstanding(NamedTuple):
    """A pull that was given out and whose result is not taken in."""

    arm: int
    level: float
    worker: str | None
    result: tuple[float, float, bytes] | None  # level, reward, readings, where it is told and waits for an earlier one


class Stop(NamedTuple):
    """Why nobody is given a pull."""

    reason: str
    by: str
    sequence: int


class Fold:
    """The state after some events; `take` goes on with the next ones."""

    def __init__(
        self, problem: Problem, policy: Policy, seed: int, max_pulls: int | None, order: Order, alarm_level: float,
        where: str,
    ) -> None:  # fmt: skip
        self.session = Session(problem, policy, seed=seed, max_pulls=max_pulls)
        self.residuals = Residuals(problem, alarm_level)
        self.order = order
        self.sequence = 0  # of the last event
        self.last_number = 0
        self.outstanding: dict[int, Outstanding] = {}
        self.counts: Counter[str] = Counter()  # of the states that pulls ended in
        self.imported = 0
        self.stop: Stop | None = None
        self.alarms: list[Alarm] = []  # pulls that were applied above their certified level
        self.raised: list[str] = []  # every way in which the data were found to contradict the model
        self.mismatches: list[Mismatch] = []
        self._where = where
        self._arms = problem.size
        self._due = 1  # the number whose result is taken in next
        self._passed: set[int] = set()  # numbers from there on that were given up

    # -- what the verbs read --------------------------------------------------------------------------------

    @property
    def open_numbers(self) -> list[int]:
        """The pulls that wait for a result."""
        return [number for number, pull in self.outstanding.items() if pull.result is None]

    def open_of(self, worker: str) -> list[int]:
        """The pulls that this worker has open."""
        return [n for n, pull in self.outstanding.items() if pull.worker == worker and pull.result is None]

    @property
    def anticipated(self) -> list[tuple[int, float]]:
        """Arm and level of every pull whose information is under way."""
        return [(pull.arm, pull.level) for pull in self.outstanding.values()]

    @property
    def held_back(self) -> int:
        """Results that wait for an earlier one; none do once the end has come."""
        return 0 if self.session.stopped else len(self.outstanding) - len(self.open_numbers)

    @property
    def unused(self) -> int:
        """Results that came in after the end."""
        return self.counts[events.TOLD] - self.session.pulls - self.held_back

    @property
    def findings(self) -> list[Finding]:
        """Contradictions that nobody has raised the alarm over yet; a policy without limits need not keep them."""
        keeps = self.session.policy.keeps_limits
        return [
            finding
            for finding in self.residuals.findings
            if finding.message not in self.raised and (keeps or finding.test != "limit")
        ]

    # -- the fold -------------------------------------------------------------------------------------------

    def take(self, rows: Iterable[Sequence[Any]], *, audit: bool = True) -> None:
        """Goes on with these events, each in the order of `storage.FOLDED`; with `audit` decisions are recomputed."""
        story = Story()
        for number, pull in self.outstanding.items():
            story.opened(number, pull.arm, pull.level, OPENED)
        for sequence, kind, number, arm, level, reward, safety, worker, reason, by in rows:
            if sequence != self.sequence + 1:
                raise self._damaged(f"misses event {self.sequence + 1}", number)
            self.sequence = sequence
            if kind == events.ASK:
                self._opened(number, Outstanding(arm, level, worker, None))
                story.opened(number, arm, level, ASKED if audit else OPENED)
            elif kind == events.TELL:
                self._told(story, number, level, reward, safety)
            elif kind == events.ADD:
                self._opened(number, Outstanding(arm, level, worker, None))
                story.opened(number, arm, level, OPENED)
                self.imported += 1
                if self.session.max_pulls is not None:
                    self.session.max_pulls += 1  # the budget is one of pulls that are asked for
                self._told(story, number, level, reward, safety)
            elif kind in events.CLOSES:
                self._given_up(story, number, events.CLOSES[kind])
                if kind == events.ABORT:
                    self.stop = Stop(reason, by, sequence)
            elif kind in (events.FREEZE, events.ALARM):
                self.stop = Stop(reason, by, sequence)
                if kind == events.ALARM:
                    self.raised.append(reason)
            elif kind == events.RELEASE:
                self.stop = None
            else:
                raise self._damaged(f"holds an event of the unknown kind {kind!r}", number)
        self._play(story)

    def _opened(self, number: int, pull: Outstanding) -> None:
        """A number is used for the first time."""
        if number != self.last_number + 1:
            raise self._damaged(f"goes from pull {self.last_number} to pull {number}", number)
        if not (isinstance(pull.arm, int) and 0 <= pull.arm < self._arms):
            raise self._damaged(f"names the arm {pull.arm!r}, which the problem does not have", number)
        if not (isinstance(pull.level, float) and 0.0 <= pull.level <= 1.0):
            raise self._damaged(f"holds numbers of pull {number} that nobody can have asked for", number)
        self.last_number = number
        self.outstanding[number] = pull

    def _told(self, story: Story, number: int, level: float, reward: float, readings: bytes) -> None:
        """A result has come; it is taken in now or when it is due."""
        pull = self._open(number)
        self.counts[events.TOLD] += 1
        if level != pull.level and self._too_high(level, pull):
            self.alarms.append(Alarm(number, self.session.problem.names[pull.arm], pull.level, level))
        if self.order == BY_NUMBER and number != self._due:
            self.outstanding[number] = pull._replace(result=(level, reward, readings))
            return
        del self.outstanding[number]
        story.folded(number, level, reward, readings)
        self._due += 1
        if self.outstanding or self._passed:
            self._fold_what_is_due(story)

    def _too_high(self, level: object, pull: Outstanding) -> bool:
        """Whether the pull was applied above the level that was certified."""
        return isinstance(level, float) and level > pull.level and self.session.policy.keeps_limits

    def _given_up(self, story: Story, number: int, state: str) -> None:
        """A pull will have no result."""
        self._open(number)
        del self.outstanding[number]
        self.counts[state] += 1
        story.dropped(number)
        self._passed.add(number)
        self._fold_what_is_due(story)

    def _fold_what_is_due(self, story: Story) -> None:
        """Takes in the results that waited for an earlier one, as far as they are next."""
        while self.order == BY_NUMBER:
            pull = self.outstanding.get(self._due)
            if pull is not None and pull.result is not None:
                del self.outstanding[self._due]
                story.folded(self._due, *pull.result)
            elif self._due in self._passed:
                self._passed.remove(self._due)
            else:
                return
            self._due += 1

    def _open(self, number: int) -> Outstanding:
        """The open pull of this number."""
        pull = self.outstanding.get(number)
        if pull is None or pull.result is not None:
            raise self._damaged(f"closes pull {number}, which is not open", number)
        return pull

    def _play(self, story: Story) -> None:
        """Goes through what happened, and compares decisions.

        The end can only come after the last pull that was asked for: up to there compiled code takes everything in at
        once, and from there on one result at a time is, until the end.
        """
        if not story.matters:
            return
        session = self.session
        script, broken = story.script(session.problem)
        if broken is not None:
            raise self._damaged(f"holds numbers of pull {broken} that nobody can have told", broken)
        asked = np.flatnonzero(script.step == ASKED)
        head = int(asked[-1]) + 1 if len(asked) else 0
        if head:
            answers = session.replay(script._replace(step=script.step[:head], pull=script.pull[:head]))
            self.mismatches += mismatches_in(session.problem.names, story.numbers, script, answers)
        taken = script.pull[:head][script.step[:head] == FOLDED].tolist()
        for row in script.pull[head:][script.step[head:] == FOLDED].tolist():
            if session.stopped:
                break
            session.take(int(script.arm[row]), float(script.applied[row]), script.observed[row].tolist())
            taken.append(row)
        self.residuals.take_all(script.arm[taken], script.applied[taken], script.observed[taken])

    def _damaged(self, detail: str, number: object) -> StorageDamaged:
        return StorageDamaged(self._where, f"{detail} (at event {self.sequence}, pull {number})")
