"""The ledger of an experiment: which pulls are open, in which order results count, what was applied too high, and what
was found to contradict the model. Sessions in memory and studies in a storage keep the same one.

Results are taken in by number: one that comes late holds back those behind it, so that what is learned does not depend
on which came first, and a pull that was given up is passed over. On arrival, a result is taken in when it comes. What
comes in after the end is kept and changes nothing. A result that is implausible when its turn comes is held: not taken
in, and not lost.

What happened is entered first and then settled: the learner goes through it, in compiled code, and where decisions are
to be audited says for each pull what should have been asked for. That costs no second pass.

The file is long because an account has to be kept in one place: what is open, waits or is held moves together.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from surefoot.core.loop import ASKED, OPENED
from surefoot.core.types import DECIDING
from surefoot.errors import BudgetOpen, Held
from surefoot.live.audit import Mismatch, mismatches_in
from surefoot.live.by_arm import ByArm
from surefoot.live.certificate import Certificate, certify_answer
from surefoot.live.dialled import set_to
from surefoot.live.kept import Runs
from surefoot.live.kept import Told as Told
from surefoot.live.learner import Learner
from surefoot.live.model_checks import Finding, ModelChecks, Results
from surefoot.live.plausible import Surprise, surprises_in
from surefoot.live.pulls import (
    HeldResult,
    Outcome,
    Overshoot,
    Recommendation,
    Status,
    arm_name,
    overshoot_of,
)
from surefoot.live.readings import unpacked
from surefoot.live.scripts import ScriptWriter
from surefoot.policies import Policy
from surefoot.problem import Problem

Intake: TypeAlias = Literal["by-number", "on-arrival"]
BY_NUMBER: Intake = "by-number"
ON_ARRIVAL: Intake = "on-arrival"

OPEN, TOLD, STALE, FAILED, CANCELLED, ABORTED = "open", "told", "stale", "failed", "cancelled", "aborted-unsafe"
HELD, VOIDED, RECALLED = "held", "voided", "recalled"
STATES = (OPEN, TOLD, STALE, FAILED, CANCELLED, ABORTED, HELD, VOIDED, RECALLED)


class Holding(NamedTuple):
    """An implausible result, and why it is."""

    result: Told
    surprises: str
    unsafe: bool


class Outstanding(NamedTuple):
    """A pull that was given out and whose result is not taken in."""

    arm: int
    level: float
    worker: str | None
    result: Told | None = None  # where it is told and waits for an earlier one
    confirmed: bool = False  # it is to be taken in whatever it is
    held: Holding | None = None


class Stop(NamedTuple):
    """Why nobody is given a pull."""

    reason: str
    by: str
    sequence: int


@dataclass
class Impossible(Exception):
    """An entry that cannot follow the ones before it."""

    detail: str
    number: object


class Ledger:
    """The account of one experiment."""

    def __init__(
        self, problem: Problem, policy: Policy, *, seed: int = 0, max_pulls: int | None = None,
        intake: Intake = BY_NUMBER, alarm_level: float | None = None, learner: Learner | None = None,
    ) -> None:  # fmt: skip
        self.problem = problem
        self.learner = learner or Learner(problem, policy, seed)
        self.checks = None if alarm_level is None else ModelChecks(problem, self.learner.guarantee, alarm_level)
        self.max_pulls = max_pulls
        self.intake = intake
        self.last_number = 0
        self.outstanding: dict[int, Outstanding] = {}
        self.counts: Counter[str] = Counter()  # of the states that pulls ended in
        self.imported = 0
        self.stop: Stop | None = None
        self.overshoots: list[Overshoot] = []
        self.raised: list[str] = []  # every way in which the data were found to contradict the model
        self.known: set[str] = set()  # those of them that the data show now
        self.confirmed: list[int] = []  # pulls whose results a person confirmed
        self.releases: dict[str, str] = {}  # for which reason a person let it go on after each of them
        self.mismatches: list[Mismatch] = []
        self._elsewhere = Runs()  # numbers of results that nobody asked for here
        self.due = 1  # the number whose result is taken in next
        self._passed: set[int] = set()  # numbers from there on that were given up
        self.tables = Runs()  # numbers of results that were taken over together
        self._last = 0  # the number of the result that was taken in last
        self._moved = False  # whether the turn of results that waited may have come
        self.begin_page()

    # -- entries ----------------------------------------------------------------------------------------------

    def opened(self, number: int, arm: int, level: float, worker: str | None = None, *, audited: bool = False) -> None:
        """A pull is given out; if it is audited, what should have been is recomputed."""
        self._enter_what_is_due()
        if number != self.last_number + 1:
            raise Impossible(f"goes from pull {self.last_number} to pull {number}", number)
        if not (isinstance(arm, int) and 0 <= arm < self.problem.size):
            raise Impossible(f"names the arm {arm!r}, which the problem does not have", number)
        if not (isinstance(level, float) and 0.0 <= level <= 1.0):
            raise Impossible(f"holds numbers of pull {number} that nobody can have asked for", number)
        self.last_number = number
        self.outstanding[number] = Outstanding(arm, level, worker)
        self._page.opened(number, arm, level, ASKED if audited else OPENED)

    def told(
        self, number: int, level: float, reward: float, readings: bytes, *, confirmed: bool = False, judged: bool = True
    ) -> None:
        """A result has come, perhaps in place of one that is held; it is taken in now or when it is due, and judged
        then unless it is confirmed."""
        self._enter_what_is_due()
        pull = self._open(number)
        self.counts[TOLD] += 1
        if confirmed:
            self.confirmed.append(number)
        if level != pull.level and isinstance(level, float) and self.is_too_high(pull.level, level):
            self.overshoots.append(overshoot_of(self.problem, number, pull.arm, pull.level, level))
        if self.intake == BY_NUMBER and number != self.due:
            result = level, reward, readings
            self.outstanding[number] = pull._replace(result=result, confirmed=confirmed or not judged, held=None)
            return
        self._learn(number, pull.arm, level, reward, readings)

    def added(self, number: int, arm: int, level: float, reward: float, readings: bytes) -> None:
        """A result is taken over that nobody asked for here; the budget is one of pulls that are asked for."""
        self.opened(number, arm, level)
        self.imported += 1
        self._elsewhere.add(number)
        if self.max_pulls is not None:
            self.max_pulls += 1
        self.told(number, level, reward, readings, judged=False)  # whoever imports has judged it

    def given_up(self, number: int, state: str) -> None:
        """A pull will have no result."""
        self._enter_what_is_due()
        self._open(number)
        self._pass_over(number, state)

    def held(self, number: int, holding: Holding) -> None:
        """A result is implausible: one that was just told, or that had waited until now."""
        pull = self.outstanding.get(number)
        if pull is None:
            raise Impossible(f"holds pull {number}, which is not open", number)
        self._untell(number, pull)
        self.outstanding[number] = pull._replace(result=None, confirmed=False, held=holding)

    # -- what follows from them -------------------------------------------------------------------------------

    def settle(self) -> None:
        """Lets the learner go through what was entered since the last time, and through what is due by then."""
        self._enter_what_is_due()
        self.settle_page()

    def bring_in(self) -> tuple[int, Holding] | None:
        """Takes in what is due, one result at a time, up to the first that had waited and is implausible now: that is
        to be held. None once all is taken in."""
        self.settle_page()
        while self._moved:
            number = self._next_waiting()
            if number is None:
                self._moved = False
                break
            pull = self.outstanding[number]
            if pull.result is not None and not pull.confirmed:
                found = self.judged(number, *pull.result)
                if found is not None:
                    return number, found
            self._take_waiting(number)
            self.settle_page()
        return None

    def judged(self, number: int, level: float, reward: float, readings: bytes) -> Holding | None:
        """Why this result of an outstanding pull, whose turn it is, is to be held; None where it is plausible."""
        found = self.surprises(self.outstanding[number].arm, level, reward, readings)
        if not found:
            return None
        return Holding((level, reward, readings), "; ".join(map(str, found)), any(each.unsafe for each in found))

    def surprises(self, arm: int, level: float, reward: float, readings: bytes) -> list[Surprise]:
        """What is implausible in a result by all that was taken in so far; after the end nothing is taken in."""
        if self.outcome is not None:
            return []
        return surprises_in(self.learner, arm, level, reward, unpacked(readings).tolist())

    def is_due(self, number: int) -> bool:
        """Whether a result of this pull would be taken in at once."""
        return self.intake == ON_ARRIVAL or number == self.due

    def settle_page(self) -> None:
        """Lets the learner go through what was entered since the last time.

        The end can only come after the last pull that was asked for: up to there compiled code takes everything in at
        once, and from there on one result at a time is, until the end, which does not come amid a table, however many
        pages that fills. Who was interrupted may settle again.
        """
        page = self._page
        if page.audited and not self._replayed:
            self._replay(page.audited)
        alone: list[tuple[int, float, list[float]]] = []
        while (done := self._taken) < len(page.learned) and (self.outcome is None or self._is_amid(page, done)):
            found = page.result(self.problem, done)
            if found is None:
                number = page.numbers[page.learned[done]]
                raise Impossible(f"holds numbers of pull {number} that nobody can have told", number)
            self.learner.take(*found)
            alone.append(found)
        if self.checks is not None and done:
            rows = page.learned[:done]
            results: Results
            if len(alone) == done:  # as when one result is told, for which a script would be long
                arms, levels, signals = zip(*alone, strict=True)
                results = arms, levels, signals
            else:
                script = page.script(self.problem, page.steps)[0]
                results = script.arm[rows], script.applied[rows], script.observed[rows]
            self._watch([page.numbers[row] for row in rows], results)
        self._last = page.last_of(done) or self._last
        self.begin_page()

    @property
    def unsettled(self) -> bool:
        """Whether results were entered and not taken in, as after an interruption."""
        return self._taken < len(self._page.learned) or self._moved

    def allowance(self, wanted: int) -> int:
        """How many of so many pulls may be given out; none left is refused by name."""
        if self.max_pulls is None:
            return wanted
        left = self.max_pulls - self.spent - len(self.outstanding)
        if left <= 0:
            if not self.open_numbers:
                self.refuse_if_held(self.holding)
            raise BudgetOpen(self.max_pulls, self.open_numbers)
        return min(wanted, left)

    def refuse_if_held(self, numbers: Iterable[int]) -> None:
        """Nothing, when none of these pulls is held; otherwise the first of them is named."""
        for number in numbers:
            pull = self.outstanding.get(number)
            if pull is not None and pull.held is not None:
                raise Held(number, pull.held.surprises, pull.worker, pull.held.unsafe)

    def is_too_high(self, certified: float, applied: float) -> bool:
        """Whether a pull was applied above the level that was certified."""
        return applied > certified and self.learner.guarantee.keeps_limits

    # -- where it stands --------------------------------------------------------------------------------------

    @property
    def outcome(self) -> Outcome | None:
        """None while it runs; then "certified", "measured" (by a threshold without a proof), "undecided" (the budget is
        spent), "contradiction" or "breakdown"."""
        ending = self.learner.ending
        spent = ending is None and self.max_pulls is not None and self.spent >= self.max_pulls
        return "undecided" if spent else ending

    @property
    def spent(self) -> int:
        """How much of the budget is used up: a voided result was a pull all the same."""
        return self.learner.pulls + self.counts[VOIDED]

    @property
    def open_numbers(self) -> list[int]:
        """The pulls that wait for a result."""
        return [number for number, pull in self.outstanding.items() if pull.result is None and pull.held is None]

    @property
    def holding(self) -> list[int]:
        """The pulls whose results are held."""
        return [number for number, pull in self.outstanding.items() if pull.held is not None]

    @property
    def holding_all(self) -> list[int]:
        """Those of them that lie on the unsafe side: nobody is given a pull meanwhile."""
        return [number for number, pull in self.outstanding.items() if pull.held is not None and pull.held.unsafe]

    @property
    def waits(self) -> bool:
        """Whether some result waits for an earlier one."""
        return any(pull.result is not None for pull in self.outstanding.values())

    def open_of(self, worker: str) -> list[int]:
        """The pulls that this worker has open."""
        return [number for number in self.open_numbers if self.outstanding[number].worker == worker]

    @property
    def anticipated(self) -> list[tuple[int, float]]:
        """Arm and level of every pull whose information is under way."""
        return [(pull.arm, pull.level) for pull in self.outstanding.values()]

    @property
    def held_back(self) -> int:
        """Results that wait for an earlier one; none do once the end has come."""
        return 0 if self.outcome is not None else sum(pull.result is not None for pull in self.outstanding.values())

    @property
    def unused(self) -> int:
        """Results that came in after the end."""
        return self.counts[TOLD] - self.learner.pulls - self.held_back

    @property
    def findings(self) -> list[Finding]:
        """Contradictions that nobody has raised the alarm over yet."""
        found = self.checks.findings if self.checks is not None else ()
        return [finding for finding in found if finding.message not in self.known]

    def alarm(self, message: str) -> None:
        """The data are found to contradict the model; what a person said about an earlier such alarm is past."""
        self.raised.append(message)
        self.known.add(message)
        self.releases.pop(message, None)

    @property
    def ringing(self) -> list[str]:
        """The alarms after which nobody has let it go on: until then nothing is certified."""
        return [message for message in dict.fromkeys(self.raised) if message not in self.releases]

    def release(self, reason: str) -> None:
        """A person has looked into the alarms, and lets it go on."""
        self.releases |= dict.fromkeys(self.ringing, reason)

    @property
    def gap(self) -> float | None:
        """B(t), the most by which a challenger might beat the leader; None while exploring."""
        decision = self.learner.decision
        return float(decision.gap) if decision.phase == DECIDING else None

    @property
    def certificate(self) -> Certificate | None:
        """The answer with its promise; None unless it ended in certainty, and while an alarm rings."""
        learner, decision = self.learner, self.learner.decision
        if self.outcome != "certified" or self.ringing:
            return None
        return certify_answer(
            learner.guarantee, self.problem, int(decision.leader), float(decision.leader_level), float(decision.gap),
            learner.pulls, len(self.overshoots), self.releases,
        )  # fmt: skip

    @property
    def recommendation(self) -> Recommendation | None:
        """The answer, only if it is certified and certified safe, and nothing is frozen; otherwise None."""
        found = self.certificate
        if found is None or self.stop is not None or (self.learner.margin < 0.0 and not found.keeps_limits):
            return None
        value = self.learner.state.estimate.est[0, found.arm] if found.arm >= 0 else 0.0
        estimate = float(found.level * value)
        return Recommendation(found.arm, found.name, found.level, estimate, found.setting, found.unit)

    def status(self) -> Status:
        """Where it stands, as a table."""
        learner, names = self.learner, self.problem.names
        deciding = learner.decision.phase == DECIDING
        return Status(
            pulls=learner.pulls,
            phase="decide" if deciding else "explore",
            outcome=self.outcome,
            gap=self.gap,
            epsilon=self.problem.epsilon,
            leader=arm_name(self.problem, learner.decision.leader) if deciding else None,
            challenger=arm_name(self.problem, learner.decision.challenger) if deciding else None,
            best_estimate=self._best_estimate(),
            levels=ByArm(names, learner.levels),
            pulls_per_arm=ByArm(names, learner.pulls_per_arm),
            overshoots=len(self.overshoots),
            held=[self.held_result(number) for number in self.holding],
            dial=self.problem.dial,
        )

    def _best_estimate(self) -> str | None:
        """The name of the arm whose estimated reward at full level is highest, once anything is known."""
        estimates = self.learner.estimates
        best = int(np.argmax(estimates))
        return self.problem.names[best] if self.learner.pulls and np.isfinite(estimates[best]) else None

    def held_result(self, number: int) -> HeldResult:
        """The held result of this pull, in the user's words."""
        pull = self.outstanding[number]
        if pull.held is None:
            raise Impossible(f"holds no result of pull {number}", number)
        level, reward, readings = pull.held.result
        safety = dict(zip((limit.name for limit in self.problem.safety), unpacked(readings).tolist(), strict=True))
        name = self.problem.names[pull.arm]
        return HeldResult(
            number, name, level, reward, safety, pull.worker, pull.held.surprises, pull.held.unsafe,
            **set_to(self.problem, level),
        )  # fmt: skip

    # -- within -----------------------------------------------------------------------------------------------

    def begin_page(self) -> None:
        """A new page for what is entered from now on; it begins with the pulls that are open."""
        page = ScriptWriter()
        for number, pull in self.outstanding.items():
            page.opened(number, pull.arm, pull.level, OPENED)
        self._page, self._replayed, self._before = page, False, self.learner.pulls

    @property
    def _taken(self) -> int:
        """How many results of this page have been taken in."""
        return self.learner.pulls - self._before

    def _is_amid(self, page: ScriptWriter, done: int) -> bool:
        """Whether the result after the first so many of a page is of the same table as the one before it."""
        following = page.numbers[page.learned[done]]
        table = self.tables.run_of(page.last_of(done) or self._last)
        return table is not None and table == self.tables.run_of(following)

    def _watch(self, numbers: Sequence[int], results: Results) -> None:
        """Lets the alarm see these results, which are of pulls of these numbers."""
        if self.checks is not None:
            elsewhere = self._elsewhere
            asked = [number not in elsewhere for number in numbers] if elsewhere else [True] * len(numbers)
            self.checks.take_all(*results, asked)

    def _open(self, number: int) -> Outstanding:
        """The open pull of this number."""
        pull = self.outstanding.get(number)
        if pull is None or pull.result is not None:
            raise Impossible(f"closes pull {number}, which is not open", number)
        return pull

    def _enter_what_is_due(self) -> None:
        """Enters the results that waited for an earlier one, as far as they are next.

        Only what happens next brings them in: a result that was found implausible when its turn came is held by then.
        """
        while self._moved:
            number = self._next_waiting()
            if number is None:
                self._moved = False
            else:
                self._take_waiting(number)

    def _next_waiting(self) -> int | None:
        """The pull whose result has waited and is due; those that were given up are passed over."""
        if self.intake == ON_ARRIVAL:
            return next((number for number, pull in self.outstanding.items() if pull.result is not None), None)
        while self.due in self._passed:
            self._passed.remove(self.due)
            self.due += 1
        pull = self.outstanding.get(self.due)
        return self.due if pull is not None and pull.result is not None else None

    def _take_waiting(self, number: int) -> None:
        """Enters the result of this pull, which has waited."""
        pull = self.outstanding[number]
        if pull.result is None:
            raise Impossible(f"takes in pull {number}, which has no result", number)
        self._learn(number, pull.arm, *pull.result)

    def _learn(self, number: int, arm: int, level: float, reward: float, readings: bytes) -> None:
        """Enters a result that is due."""
        self._page.told(number, level, reward, readings)
        del self.outstanding[number]
        self.due += 1
        self._moved = bool(self.outstanding or self._passed)

    def _pass_over(self, number: int, state: str) -> None:
        """An outstanding pull is so no more, and has no result."""
        del self.outstanding[number]
        self.counts[state] += 1
        self._page.dropped(number)
        self._passed.add(number)
        self._moved = True

    def _untell(self, number: int, pull: Outstanding) -> None:
        """Takes back that an outstanding pull was told, if it was."""
        if pull.result is not None:
            self.counts[TOLD] -= 1
            self.overshoots = [each for each in self.overshoots if each.number != number]
            self.confirmed = [each for each in self.confirmed if each != number]

    def _replay(self, steps: int) -> None:
        """Goes through the first steps of the page at once, and compares the decisions."""
        script, broken = self._page.script(self.problem, steps)
        if broken is not None:
            raise Impossible(f"holds numbers of pull {broken} that nobody can have told", broken)
        answers = self.learner.replay(script)
        self._replayed = True
        self.mismatches += mismatches_in(self.problem, self._page.numbers, script, answers)
