"""Ask/tell in memory: one experiment, driven by a person, a script or a laboratory."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NoReturn, overload

import numpy as np

from surefoot.errors import (
    Alarmed,
    Finished,
    InvalidInput,
    NotFrozen,
    NotOpen,
    NumericalBreakdown,
)
from surefoot.live.certificate import Certificate
from surefoot.live.learner import Learner
from surefoot.live.ledger import Holding
from surefoot.live.model_checks import LEVEL, REMEDY
from surefoot.live.notices import implausible, warn_of_alarm, warn_of_holding, warn_of_level
from surefoot.live.pulls import HeldResult, Outcome, Overshoot, Pull, Recommendation, Status, check_batch, pull_of
from surefoot.live.readings import Safety, applied_level, measured, packed
from surefoot.live.revisable import RevisableLedger
from surefoot.live.showing import status_card
from surefoot.live.statements import statement_of
from surefoot.live.trace import Trace
from surefoot.live.tracing import arms_that_matter, followed_arms, results_kept, traced
from surefoot.policies import Guarantee, Policy, check_policy
from surefoot.problem import Problem
from surefoot.problem.checks import Floats, check_count, check_seed, number, text


class Session:
    """One experiment. `ask` gives the next pull, `tell` takes its result, `certificate` says what is promised."""

    def __init__(
        self, problem: Problem, policy: Policy | None = None, *, seed: int = 0, max_pulls: int | None = None,
        alarm_level: float | None = LEVEL,
    ) -> None:  # fmt: skip
        if not isinstance(problem, Problem):
            raise InvalidInput("problem", problem, "must be a Problem", "Build one with sf.Problem(...).")
        self.problem = problem
        self.policy = check_policy(policy)
        self.seed = check_seed(seed)
        self.max_pulls = None if max_pulls is None else check_count("max_pulls", max_pulls)
        self.alarm_level = (
            None if alarm_level is None else number("alarm_level", alarm_level, REMEDY, above=0.0, below=1.0)
        )
        self.ledger = RevisableLedger(
            problem, self.policy, seed=self.seed, max_pulls=self.max_pulls, alarm_level=self.alarm_level
        )  # fmt: skip
        self._next: tuple[tuple[int, int], Pull] | None = None  # where that was, and the pull that was held ready
        self._given: dict[int, Pull] = {}  # by ask(n); those told and not yet taken in are still among them

    # -- the two verbs --------------------------------------------------------------------------------------

    @overload
    def ask(self) -> Pull: ...
    @overload
    def ask(self, n: int) -> list[Pull]: ...
    def ask(self, n: int | None = None) -> Pull | list[Pull]:
        """The next pull, the same one until its result is told; or n new pulls, to be applied side by side.

        Of several, each is chosen as if the open ones had returned what is expected of them. Levels, and when to
        stop, follow from told results alone. Where fewer than n are left of max_pulls, so many are given; n is at most
        1,000. While an implausible result is held on the unsafe side there is no pull for anyone.
        """
        if self.outcome == "alarm":
            raise Alarmed("; ".join(self.alarms))
        if self.outcome is not None:
            raise Finished(self.outcome, self.pulls)
        self.ledger.refuse_if_held(self.ledger.holding_all)
        if n is None:
            self.ledger.refuse_if_held([self.ledger.due])
            return self._given.get(self.ledger.due) or self._held()
        ledger = self.ledger
        wanted = ledger.allowance(check_batch(n))
        chosen = ledger.learner.choose(ledger.anticipated, wanted)
        first = ledger.last_number + 1
        new = [pull_of(self.problem, first + i, *each) for i, each in enumerate(chosen)]
        for pull in new:
            self._open(pull)
        return new

    def tell(
        self,
        pull: Pull | int,
        *,
        reward: float,
        safety: Safety = (),
        level: float | str | None = None,
        confirm: bool = False,
    ) -> None:
        """Takes the result of an open pull; `level` is the level really applied, where it differs, or as text the
        setting, "18 mg".

        The promise needs that another level was chosen without knowing this pull's own result, any result with a
        larger number, or one still open. What is implausible (chances below 1e-9 under all that is still possible) is
        refused by name and held, until the pull is told again: another value, or the same with `confirm=True`.

        Results are taken in by number: a late one holds back later ones, so that what is learned does not depend on
        which came first. What comes in after the end is accepted and changes nothing.
        """
        self.problem.check_unchanged()  # before anything is written down
        told, expected = pull.number if isinstance(pull, Pull) else pull, self._untold()
        if isinstance(told, bool) or not isinstance(told, int | np.integer) or told not in expected:
            raise NotOpen(told, expected)
        asked = self._given.get(int(told)) or self._held()
        if isinstance(pull, Pull) and pull != asked:
            reason = "is not the pull that this session asked for"
            raise InvalidInput("pull", pull, reason, "Tell the session its own pull, or its number.")
        value, readings = measured(self.problem, reward, safety)
        applied = asked.level if level is None else applied_level(self.problem, level)
        before, known, result = self.pulls, len(self.ledger.raised), (applied, value, packed(readings))
        if asked.number > self.ledger.last_number:
            self._open(asked)
        found = self.ledger.judged(asked.number, *result) if self.ledger.is_due(asked.number) else None
        if found is not None and not confirm:
            self.ledger.held(asked.number, found)
            raise implausible(self.problem.dial, asked, found)
        waits = not self.ledger.is_due(asked.number)
        self.ledger.told(asked.number, *result, confirmed=confirm and (waits or found is not None))
        holdings = self._settle()
        if self.ledger.is_too_high(asked.level, applied):  # after all is recorded: a warning may be an error here
            warn_of_level(self.problem, asked, applied)
        if self.outcome == "breakdown" and self.pulls != before:
            raise NumericalBreakdown("the estimates", self.pulls)
        for message in self.ledger.raised[known:]:
            warn_of_alarm(message, "so the session ends here without an answer", self.alarm_level)
        for each, holding in holdings:
            warn_of_holding(each, holding)

    def release(self, reason: str) -> None:
        """Lets the session go on after an alarm; the certificate will carry the alarm and the reason."""
        said = text("reason", reason, "Say in one line what was found.")
        if not self.alarms:
            raise NotFrozen("session")
        self.ledger.release(said)

    # -- where it stands ------------------------------------------------------------------------------------

    @property
    def pulls(self) -> int:
        """How many results have been taken in."""
        return self.ledger.learner.pulls

    @property
    def open_pulls(self) -> tuple[Pull, ...]:
        """The pulls of `ask(n)` whose results are not told yet."""
        return tuple(self._given[number] for number in self.ledger.open_numbers)

    @property
    def outcome(self) -> Outcome | None:
        """None while it runs; then "certified", "undecided" (the budget is spent), "contradiction" (the data rule out
        every model in the confidence sets), "breakdown" (the numbers failed) or, until it is released, "alarm" (the
        data contradict what the problem states)."""
        if self.ledger.unsettled:  # Ctrl-C came between being told and taking in
            self._settle()
        return "alarm" if self.ledger.ringing else self.ledger.outcome

    @property
    def alarms(self) -> tuple[str, ...]:
        """What the data were found to contradict, as long as nobody has released it."""
        return tuple(self.ledger.ringing)

    @property
    def statement(self) -> str:
        """Where it stands in a sentence or two, beginning with what is wrong; at a good end the certificate's."""
        return statement_of(self.outcome, self.pulls, self.alarms, self.certificate)

    @property
    def stopped(self) -> bool:
        """Whether it has ended, in whatever way."""
        return self.outcome is not None

    @property
    def gap(self) -> float | None:
        """B(t), the most by which a challenger might beat the leader; None while exploring."""
        return self.ledger.gap

    @property
    def levels(self) -> Floats:
        """The level at which each arm may be pulled: certified safe, if the policy keeps limits."""
        return self.ledger.learner.levels

    @property
    def levels_high(self) -> Floats:
        """The highest level of each arm that is still possible, where the selection is optimistic."""
        return self.ledger.learner.levels_high

    @property
    def pulls_per_arm(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """How often each arm was pulled."""
        return self.ledger.learner.pulls_per_arm

    @property
    def estimates(self) -> Floats:
        """The estimated reward of each arm at full level."""
        return self.ledger.learner.estimates

    @property
    def guarantee(self) -> Guarantee:
        """What the policy promises about this problem."""
        return self.ledger.learner.guarantee

    @property
    def overshoots(self) -> tuple[Overshoot, ...]:
        """Every pull that was applied above its certified level."""
        return tuple(self.ledger.overshoots)

    @property
    def certificate(self) -> Certificate | None:
        """The answer with its promise; None unless it ended in certainty."""
        return self.ledger.certificate

    @property
    def recommendation(self) -> Recommendation | None:
        """The answer, only if it is certified and certified safe; otherwise None."""
        return self.ledger.recommendation

    @property
    def held(self) -> tuple[HeldResult, ...]:
        """Implausible results, which were not taken in and wait to be confirmed or replaced."""
        return tuple(self.ledger.held_result(number) for number in self.ledger.holding)

    def status(self) -> Status:
        """Where the session stands."""
        return replace(self.ledger.status(), outcome=self.outcome)

    def trace(self, *, arms: Sequence[int | str] | None = None, states: int | None = None) -> Trace:
        """The numbers of every round: what was pulled and returned, leader, challenger and gap after it, and the
        levels, estimates and ranges of each arm. All results are replayed for it, through the source that decided.

        arms    those whose numbers are kept; unless named: all up to 20, of more the 20 that matter (who lead,
                challenge, look best, or were pulled most)
        states  after how many rounds the numbers of arms are kept, evenly; unless said: after every round, and after
                fewer where that would be more than 200,000 numbers, or take long because there are very many arms
        """
        ledger, problem = self.ledger, self.problem
        followed = followed_arms(problem, arms, arms_that_matter(ledger.learner))
        results = results_kept(problem, ledger.results, self.pulls)
        return traced(Learner(problem, self.policy, self.seed), results, followed, states)

    def __repr__(self) -> str:
        state = "alarm" if self.ledger.ringing else self.ledger.outcome or "running"
        return f"Session({self.policy.name}, {self.pulls} pulls, {state})"

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a session is not copied, and not sent to another process: each of the two would go on by itself. Keep the "
            "experiment as a study (sf.create_study), which any process can load."
        )

    def _repr_html_(self) -> str:
        return status_card(self.problem, repr(self), self.status(), self.statement)

    # -- within ---------------------------------------------------------------------------------------------

    def _held(self) -> Pull:
        """The pull that the state asks for when nothing is open."""
        ledger, learner = self.ledger, self.ledger.learner
        place = ledger.last_number + 1, learner.pulls
        if self._next is None or self._next[0] != place:
            self._next = place, pull_of(self.problem, place[0], learner.decision, learner.margin)
        return self._next[1]

    def _open(self, pull: Pull) -> None:
        """Gives the pull out."""
        self._given[pull.number] = pull
        self.ledger.opened(pull.number, pull.arm, pull.level)

    def _untold(self) -> list[int]:
        """The numbers for which a result may be told."""
        if self.ledger.outstanding:
            return [*self.ledger.open_numbers, *self.ledger.holding]
        return [] if self.stopped else [self.ledger.last_number + 1]

    def _settle(self) -> list[tuple[int, Holding]]:
        """Takes in what is due and plausible, and forgets the pulls that it was about; what is held now."""
        holdings = []
        while (found := self.ledger.bring_in()) is not None:
            self.ledger.held(*found)
            holdings.append(found)
        for finding in self.ledger.findings:
            self.ledger.alarm(finding.message)
        for taken in [each for each in self._given if each not in self.ledger.outstanding]:
            del self._given[taken]
        return holdings
