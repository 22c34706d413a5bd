"""What a result that is told becomes: taken in, held because nothing explains it, kept as late, or refused by name."""

from typing import NamedTuple

from surefoot.errors import InvalidInput, SurefootError
from surefoot.live.ledger import Told
from surefoot.live.notices import implausible
from surefoot.live.pulls import Pull
from surefoot.live.readings import packed
from surefoot.problem import Problem
from surefoot.storage.protocol import Events
from surefoot.studies import events
from surefoot.studies.entries import StudyLedger
from surefoot.studies.events import Event, as_pull
from surefoot.studies.late import late_events, late_refusal
from surefoot.studies.refusals import events_of, refuse_unless_same


class Telling(NamedTuple):
    """What somebody told."""

    number: int
    pull: Pull | None  # where it was told by pull and not by number
    reward: float
    readings: list[float]
    level: float | None  # really applied; None: as asked for
    confirm: bool


class Said:
    """What is to be said once all is kept."""

    def __init__(self) -> None:
        self.too_high: list[tuple[Pull, float]] = []  # applied above the certified level
        self.refused: list[SurefootError] = []

    def clear(self) -> None:
        """Nothing yet."""
        self.too_high.clear()
        self.refused.clear()


def events_for(problem: Problem, ledger: StudyLedger, stored: Events, told: Telling, said: Said) -> list[Event]:
    """The event that a result makes: none where it is stored already."""
    number = told.number
    opened, closing = events_of(ledger, stored, number)
    if told.pull is not None and (told.pull.arm, told.pull.level) != (opened["arm"], opened["level"]):
        reason = "is not the pull that this study asked for"
        raise InvalidInput("pull", told.pull, reason, "Tell the study its own pull, or its number.")
    at = opened["level"] if told.level is None else told.level
    result: Told = (at, told.reward, packed(told.readings))
    pull = ledger.outstanding.get(number)
    held = None if pull is None else pull.held
    if held is None and closing is not None:
        late = late_refusal(ledger, number, closing)
        if late is not None:
            said.refused.append(late)
            return late_events(problem, ledger, stored, number, result)
        refuse_unless_same(problem, ledger, number, closing, result)
        return []
    due = ledger.is_due(number)
    found = ledger.judged(number, *result) if due else None
    if found is not None and not told.confirm:
        said.refused.append(implausible(problem.dial, as_pull(problem, opened), found))
        return [] if held == found else [events.implausible(number, found)]
    if ledger.is_too_high(opened["level"], at):
        said.too_high.append((as_pull(problem, opened), at))
    confirmed = told.confirm and (found is not None or not due)
    step = events.CLOSING if closing is None else None
    return [events.told(number, result, confirmed=confirmed, step=step)]
