"""Results of pulls that had been given up. They are kept and do not count: that they were given up was decided without
them, and what was decided since was decided without them too. But a pull that was applied after all, and went far
beyond a limit, is a reason to stop."""

from math import log, sqrt

from surefoot.errors import PullClosed, SurefootError
from surefoot.live.ledger import Told
from surefoot.live.readings import unpacked
from surefoot.problem import Problem
from surefoot.problem.units import reading_in_words
from surefoot.storage.protocol import Events
from surefoot.studies import events
from surefoot.studies.entries import StudyLedger
from surefoot.studies.events import Event
from surefoot.studies.refusals import refuse_if_given_up

GROSS = 1e-4  # the chance, at most, that noise alone takes a reading so far beyond a limit that its mean keeps
BY = "the limit"  # by whom a study is frozen then


def late_refusal(ledger: StudyLedger, number: int, closing: Event) -> SurefootError | None:
    """How the result of a pull that was given up is refused; None for one that counts or did once."""
    try:
        refuse_if_given_up(ledger, number, closing)
    except PullClosed as refusal:
        if closing["kind"] in (*events.TELLS, events.ADD):
            return None
        return type(refusal)(refusal.number, refusal.state, refusal.reason, True)
    return None


def late_events(problem: Problem, ledger: StudyLedger, stored: Events, number: int, result: Told) -> list[Event]:
    """What is kept of a late result: itself, unless it is there already, and a stop where it is one."""
    if (number, result) in ledger.late:
        return []
    kept = [events.late(number, result)]
    beyond = far_beyond(problem, unpacked(result[2]).tolist())
    if beyond:
        said = f"pull {number} had been given up and was applied after all: {beyond}"
        kept.append(events.held(events.FREEZE, said, BY, number))
    return kept


def far_beyond(problem: Problem, readings: list[float]) -> str:
    """The readings that a pull whose mean keeps every limit has with a chance below `GROSS`, in words.       (A6)

    Without a bound on the noise there are none: a result that does not count teaches nothing of its size either.
    """
    found = []
    for limit, reading in zip(problem.safety, readings, strict=True):
        excess = limit.eta0 - float(limit.internal(reading))
        if excess > limit.law.bound * sqrt(2.0 * log(1.0 / GROSS)):
            found.append(f"{limit.name} {reading_in_words(reading, limit.unit)}, far beyond its limit")
    return ", ".join(found)
