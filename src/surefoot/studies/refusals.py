"""What a verb of a study refuses, by name, before anything is written."""

from surefoot.errors import AlreadyTold, Finished, Frozen, NotOpen, NotTold, PullClosed, PullHeld, Recalled
from surefoot.live.ledger import OPEN, VOIDED, Told
from surefoot.problem import Problem
from surefoot.storage.protocol import Events
from surefoot.studies import events
from surefoot.studies.entries import StudyLedger
from surefoot.studies.events import Event, as_result


def refuse_if_stopped(name: str, ledger: StudyLedger) -> None:
    """Nothing, when a pull may be given out."""
    if ledger.stop is not None:
        raise Frozen(name, ledger.stop.reason, ledger.stop.by)
    if ledger.outcome is not None:
        raise Finished(ledger.outcome, ledger.learner.pulls)
    ledger.refuse_if_held(ledger.holding_all)


def events_of(ledger: StudyLedger, stored: Events, number: int) -> tuple[Event, Event | None]:
    """The events that opened and closed the pull; one that was never given out is refused."""
    rows = stored.of_pull(number) if 1 <= number <= ledger.last_number else []
    if not rows:
        raise NotOpen(number, ledger.open_numbers)
    if rows[0]["kind"] == events.ADD:
        return rows[0], rows[0]
    return rows[0], rows[1] if len(rows) > 1 else None


def refuse_if_closed(ledger: StudyLedger, number: int, closing: Event | None) -> None:
    """Nothing, when the pull is still open and has no result, not even one that is held."""
    refuse_if_held(ledger, number)
    if closing is not None:
        refuse_if_given_up(ledger, number, closing)
        raise PullClosed(number, events.CLOSES[closing["kind"]], closing["reason"] or "it has a result")


def refuse_if_held(ledger: StudyLedger, number: int) -> None:
    """Nothing, when the pull has no result that is held."""
    pull = ledger.outstanding.get(number)
    if pull is not None and pull.held is not None:
        raise PullHeld(number, pull.held.surprises)


def refuse_if_given_up(ledger: StudyLedger, number: int, closing: Event) -> None:
    """Nothing, when the pull has a result that counts, or will in its turn."""
    revision = ledger.revision_of(number)
    if revision is not None and revision.new is None:
        raise PullClosed(number, VOIDED, revision.reason)
    if closing["kind"] == events.RECALL:
        raise Recalled(number, events.CLOSES[closing["kind"]], closing["reason"])
    if closing["kind"] not in (*events.TELLS, events.ADD):
        raise PullClosed(number, events.CLOSES[closing["kind"]], closing["reason"])


def refuse_unless_same(problem: Problem, ledger: StudyLedger, number: int, stored: Event, again: Told) -> None:
    """Nothing, when the pull has this very result already, or had it before it was corrected."""
    refuse_if_given_up(ledger, number, stored)
    if again == (stored["level"], stored["reward"], bytes(stored["safety"])):
        return  # before anything older is looked up
    counts = ledger.result_of(number)
    if again != counts:
        now = stored if counts is None else events.as_told(counts)
        raise AlreadyTold(number, as_result(problem, now), as_result(problem, events.as_told(again)))


def result_to_revise(ledger: StudyLedger, stored: Events, number: int, *, held: bool) -> Told:
    """The result of the pull as it counts now; where there is none, that is refused by name."""
    _, closing = events_of(ledger, stored, number)
    pull = ledger.outstanding.get(number)
    if pull is not None and pull.held is not None:
        if not held:
            raise PullHeld(number, pull.held.surprises)
        return pull.held.result
    found = ledger.result_of(number)
    if found is None:
        revision = ledger.revision_of(number)
        voided = revision is not None and revision.new is None
        raise NotTold(number, VOIDED if voided else OPEN if closing is None else events.CLOSES[closing["kind"]])
    return found
