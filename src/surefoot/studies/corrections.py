"""Results that are put right afterwards, and what that changes: open pulls are recalled, an answer stands or falls.

Events are never changed: a correction is one more, and so is what follows from it.
"""

import json
from dataclasses import asdict, dataclass
from typing import Any

from surefoot.errors import Implausible, InvalidInput, counted
from surefoot.live.ledger import Told
from surefoot.live.plausible import surprises_in
from surefoot.live.pulls import Outcome
from surefoot.live.readings import Safety, measured_readings, measured_reward, packed, unpacked
from surefoot.live.revisable import Revision
from surefoot.problem import Problem
from surefoot.problem.units import level_in_words, reading_in_words
from surefoot.storage.protocol import Events
from surefoot.studies import events
from surefoot.studies.entries import StudyLedger
from surefoot.studies.events import Event, as_result
from surefoot.studies.following import Followed
from surefoot.studies.keys import Keyed
from surefoot.studies.listing import as_time
from surefoot.studies.refusals import events_of, result_to_revise


@dataclass(frozen=True)
class Corrected:
    """What a correction, or a voided result, has changed."""

    number: int
    old: dict[str, Any]
    new: dict[str, Any] | None  # None: it was taken out
    recalled: tuple[int, ...]  # open pulls that must not be applied any more
    before: Outcome | None  # how the study had ended, None if it had not
    after: Outcome | None
    statement: str

    def to_dict(self) -> dict[str, Any]:
        """It as plain data."""
        return asdict(self) | {"recalled": list(self.recalled)}


def corrected_before(key: str | None, verb: str, request: object) -> Keyed[tuple[Corrected, Followed]]:
    """A revision that may have been made before, under a key."""

    def unpacked_answer(said: dict[str, Any], stored: Events) -> tuple[Corrected, Followed]:
        return Corrected(**said | {"recalled": tuple(said["recalled"])}), Followed()

    return Keyed(key, verb, request, lambda answer: answer[0].to_dict(), unpacked_answer)


class New:
    """The values that a correction brings; what is not given stays as it is."""

    def __init__(self, problem: Problem, reward: float | None, safety: Safety | None) -> None:
        if reward is None and safety is None:
            raise InvalidInput("reward", None, "a correction says what the right value is", "Give reward or safety.")
        self.reward = None if reward is None else measured_reward(problem, reward)
        self.readings = None if safety is None else packed(measured_readings(problem, safety))

    def over(self, old: Told) -> Told:
        """The whole result."""
        level, reward, readings = old
        return level, reward if self.reward is None else self.reward, self.readings or readings


def correction(
    problem: Problem, ledger: StudyLedger, stored: Events, number: int, new: New, reason: str, by: str, confirm: bool
) -> list[Event]:
    """The event of a correction, once it is one; a value that nothing explains is asked for twice."""
    old = result_to_revise(ledger, stored, number, held=False)
    result = new.over(old)
    if result == old:
        shown = as_result(problem, events.as_told(old))
        raise InvalidInput("correct", shown, "is what counts already", "Nothing was changed: say what is right.")
    if not confirm and (number not in ledger.outstanding or ledger.is_imported(number)):  # others are in their turn
        refuse_implausible(problem, ledger, number, events_of(ledger, stored, number)[0]["arm"], result)
    return [events.corrected(number, result, reason, by)]


def refuse_implausible(problem: Problem, ledger: StudyLedger, number: int, arm: int, result: Told) -> None:
    """Nothing, when the corrected result is plausible by what all others say."""
    level, reward, readings = result
    found = surprises_in(ledger.learner_without(number), arm, level, reward, unpacked(readings).tolist())
    if found:
        unsafe = any(each.unsafe for each in found)
        at = None if problem.dial is None else level_in_words(problem.dial, level)
        raise Implausible(number, problem.names[arm], level, map(str, found), unsafe, False, at)


def what_changed(
    problem: Problem, ledger: StudyLedger, number: int, before: Outcome | None, recalled: list[int]
) -> Corrected:
    """What the last revision of this pull has changed."""
    revision = [each for each in ledger.revisions if each.number == number][-1]
    done = "corrected" if revision.new is not None else "voided"
    words = [f"Pull {number} is {done}."]
    if before is not None and ledger.outcome is None:
        words.append(f"The study had ended as {before!r} and goes on: that answer no longer stands.")
    elif before is not None and not ledger.earlier_ends:
        words.append("The answer does not rest on it.")
    elif before is not None:
        same = ledger.outcome == before and said_of(ledger.end) == said_of(ledger.earlier_ends[-1])
        words.append("The answer is confirmed." if same else f"The study has ended anew, as {ledger.outcome!r}.")
    if recalled:
        listed = ", ".join(map(str, recalled))
        words.append(f"{counted(len(recalled), 'open pull')} recalled, not to be applied: {listed}.")
    old = as_result(problem, events.as_told(revision.old))
    new = None if revision.new is None else as_result(problem, events.as_told(revision.new))
    return Corrected(number, old, new, tuple(recalled), before, ledger.outcome, " ".join(words))


def said_of(end: str | None) -> tuple[int, float] | None:
    """The answer at an end: arm and level, where there was one."""
    answer = None if end is None else json.loads(end)["recommendation"]
    return None if answer is None else (answer["arm"], answer["level"])


def revision_in_words(problem: Problem, revision: Revision) -> str:
    """Who put right what, when and why."""
    old, new = (
        "taken out" if each is None else values_in_words(problem, each[1], unpacked(each[2]).tolist())
        for each in (revision.old, revision.new)
    )
    when = as_time(revision.at)[:16].replace("T", " ")
    return f"pull {revision.number}: {old} -> {new} (by {revision.by}, {when} UTC: {revision.reason})"


def values_in_words(problem: Problem, reward: float, readings: list[float]) -> str:
    """The reward and the readings."""
    named = zip(problem.safety, readings, strict=True)
    said = [f"{limit.name} {reading_in_words(value, limit.unit)}" for limit, value in named]
    return ", ".join([f"reward {reading_in_words(reward, problem.reward.unit)}", *said])
