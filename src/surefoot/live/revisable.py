"""A ledger whose results can be put right afterwards: corrected, or taken out.

What was decided stays as it was decided, on the values known then: everything entered so far is settled, and audited,
before a value changes. Then all is learned anew, in the same order, with the values of now. Results that came in after
an end wait again for their turn, since the end may be none any more.

To learn anew takes as long as all that was learned. Of revisions that follow each other, only the last one is learned
from, as long as no result waits: nothing was decided in between.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.live.kept import Kept, KeptResults, Told
from surefoot.live.learner import Learner
from surefoot.live.ledger import ON_ARRIVAL, TOLD, VOIDED, Impossible, Ledger, Outstanding
from surefoot.live.model_checks import ModelChecks
from surefoot.live.readings import is_result


@dataclass(frozen=True)
class Revision:
    """A result that was corrected, or taken out: who, when, why, and the values before and after."""

    number: int
    by: str
    reason: str
    at: int  # microseconds since 1970, UTC
    old: Told
    new: Told | None  # None: taken out
    misled: tuple[int, int]  # the first and the last pull that were asked for while the old value counted, or (1, 0)


class RevisableLedger(Ledger):
    """The account of one experiment, every result at hand.

    One that was not kept from the first event on (`is_whole` is False) has the later ones alone: what needs others
    raises HistoryNeeded.
    """

    def __init__(self, *args: Any, **settings: Any) -> None:
        self.revisions: list[Revision] = []
        self.anew = 0  # how often all was to be learned anew
        self._to_learn: int | None = None  # how many results are to be learned anew before anything else happens
        super().__init__(*args, **settings)
        self.results = KeptResults(len(self.problem.safety))  # that were entered; the first ones were taken in

    @property
    def is_whole(self) -> bool:
        """Whether every result is at hand, because all was entered from the first event on."""
        return self.results.complete

    @property
    def unsettled(self) -> bool:
        """Whether results were entered, or revised, and not taken in."""
        return self._to_learn is not None or super().unsettled

    # -- entries ----------------------------------------------------------------------------------------------

    def corrected(self, number: int, result: Told, reason: str, by: str, at: int) -> bool:
        """A result is another than it was told; whether all is learned anew."""
        if not is_result(*result, len(self.problem.safety)):
            raise Impossible(f"corrects pull {number} by numbers that nobody can have told", number)
        taken = self._settled_for(number)
        self._revised(number, result, reason, by, at)
        self.confirmed = [each for each in self.confirmed if each != number]
        pull = self.outstanding.get(number)
        if pull is not None:
            self.outstanding[number] = pull._replace(result=result, confirmed=number in self._elsewhere)
            return False
        self.results.replace(number, result)
        self._to_learn_anew(taken)
        return True

    def voided(self, number: int, reason: str, by: str, at: int) -> bool:
        """A result does not count; whether all is learned anew. In the budget it was a pull all the same."""
        taken = self._settled_for(number)
        self._revised(number, None, reason, by, at)
        pull = self.outstanding.get(number)
        if pull is not None:
            self._untell(number, pull)
            self._pass_over(number, VOIDED)
            return False
        self.results.need_all()
        place = self.results.remove(number)
        self.counts[TOLD] -= 1
        self.counts[VOIDED] += 1
        self.confirmed = [each for each in self.confirmed if each != number]
        self._to_learn_anew(taken - (place < taken))
        return True

    def learn_revised(self) -> None:
        """Learns anew if a revision is to be learned from; to be called before anything else is entered or asked."""
        if self._to_learn is not None:
            taken, self._to_learn = self._to_learn, None
            self._learn_anew(taken)

    # -- what follows -----------------------------------------------------------------------------------------

    def result_of(self, number: int) -> Told | None:
        """The result of this pull as it counts now, or will in its turn; None where there is none."""
        pull = self.outstanding.get(number)
        if pull is not None:
            return pull.result
        kept = self.results.get(number)
        return None if kept is None else kept.result

    def arm_of(self, number: int) -> int:
        """The arm of this pull, which has a result or may still have one; -1 where it has none."""
        found = self.outstanding.get(number) or self.results.get(number)
        return -1 if found is None else found.arm

    def is_imported(self, number: int) -> bool:
        """Whether nobody asked for this result here."""
        return number in self._elsewhere

    def revision_of(self, number: int) -> Revision | None:
        """The last revision of this pull."""
        return next((each for each in reversed(self.revisions) if each.number == number), None)

    def learner_without(self, number: int) -> Learner:
        """What would be known if this pull had no result."""
        script, _ = self.results.script(self.problem, self.learner.pulls, but=number)
        found = Learner(self.problem, self.learner.policy, self.learner.seed)
        found.replay(script)
        return found

    @property
    def too_high_now(self) -> list[int]:
        """Open pulls above the level that the results of now certify, if the policy keeps limits."""
        if not self.learner.guarantee.keeps_limits:
            return []
        levels = self.learner.levels
        pulls = ((number, self.outstanding[number]) for number in self.open_numbers)
        return [number for number, pull in pulls if not pull.level <= levels[pull.arm]]

    # -- within -----------------------------------------------------------------------------------------------

    def _learn(self, number: int, arm: int, level: float, reward: float, readings: bytes) -> None:
        """Enters a result that is due, and keeps it at hand."""
        if not is_result(level, reward, readings, len(self.problem.safety)):
            raise Impossible(f"holds numbers of pull {number} that nobody can have told", number)
        self.results.append(number, arm, (level, reward, readings), self.last_number)
        super()._learn(number, arm, level, reward, readings)

    def _revised(self, number: int, new: Told | None, reason: str, by: str, at: int) -> None:
        """Notes a revision."""
        pull, kept = self.outstanding.get(number), None
        if pull is None:
            kept = self.results.get(number)
        elif pull.result or (pull.held and new is None):
            old = pull.result or pull.held.result  # type: ignore[union-attr]
            kept = Kept(pull.arm, old, self.last_number)  # it has misled nobody
        if kept is None:
            raise Impossible(f"revises pull {number}, which has no result", number)
        first, last = self._elsewhere.first_outside(kept.since + 1), self._elsewhere.last_outside(self.last_number)
        misled = (first, last) if first <= last else (1, 0)
        self.revisions.append(Revision(number, by, reason, at, kept.result, new, misled))

    def _settled_for(self, number: int) -> int:
        """How many results are taken in, once all is settled that is to be before this pull is revised."""
        if self._to_learn is not None and number not in self.outstanding:
            return self._to_learn  # all was settled before the last revision, and nothing has happened since
        self.learn_revised()
        self.settle()
        return self.learner.pulls

    def _to_learn_anew(self, taken: int) -> None:
        """The first so many results are to be learned anew: at once if others wait, whose turn depends on it."""
        self.results.need_all()
        self._to_learn = taken
        self.anew += 1
        if self.waits or self._moved or len(self.results.numbers) > taken:
            self.learn_revised()

    def _learn_anew(self, taken: int) -> None:
        """Forgets all that was learned and learns the first so many results anew, as they are now; the others wait."""
        script, numbers = self.results.script(self.problem, taken)
        sound = np.isfinite(script.observed).all(axis=1) & (script.applied >= 0.0) & (script.applied <= 1.0)
        if not sound.all():
            broken = numbers[int(np.argmin(sound))]
            raise Impossible(f"holds numbers of pull {broken} that nobody can have told", broken)
        self.learner.begin_anew()
        self.learner.replay(script)
        if self.checks is not None:
            self.checks = ModelChecks(self.problem, self.learner.guarantee, self.checks.level)
            self._watch(numbers, (script.arm, script.applied, script.observed))
            self.known &= {finding.message for finding in self.checks.findings}
        self._last = numbers[-1] if numbers else 0
        self._wait_again(taken)
        self.begin_page()

    def _wait_again(self, taken: int) -> None:
        """Results that came in after the end wait for their turn, in the order in which they came in."""
        rest = self.results.cut(taken)
        for number, kept in rest:
            confirmed = number in self.confirmed or number in self._elsewhere
            self.outstanding[number] = Outstanding(
                kept.arm, kept.result[0], None, kept.result, confirmed=confirmed
            )  # fmt: skip
        if rest and self.intake != ON_ARRIVAL:
            numbers = [number for number, _ in rest]
            self._passed |= set(range(numbers[0], self.due)) - set(numbers)
            self.due = numbers[0]
        self._moved = self._moved or bool(rest)
