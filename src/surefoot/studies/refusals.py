"""What a verb of a study refuses, by name, before anything is written."""

from surefoot.errors import AlreadyTold, Finished, Frozen, NotOpen, PullClosed
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


def events_of(ledger: StudyLedger, stored: Events, number: int) -> tuple[Event, Event | None]:
    """The events that opened and closed the pull; one that was never given out is refused."""
    rows = stored.of_pull(number) if 1 <= number <= ledger.last_number else []
    if not rows:
        raise NotOpen(number, ledger.open_numbers)
    if rows[0]["kind"] == events.ADD:
        return rows[0], rows[0]
    return rows[0], rows[1] if len(rows) > 1 else None


def refuse_if_closed(number: int, closing: Event | None) -> None:
    """Nothing, when the pull is still open."""
    if closing is not None:
        raise PullClosed(number, events.CLOSES[closing["kind"]], closing["reason"] or "it has a result")


def refuse_unless_same(problem: Problem, number: int, stored: Event, again: Event) -> None:
    """Nothing, when the pull has this very result already."""
    if stored["kind"] not in (events.TELL, events.ADD):
        raise PullClosed(number, events.CLOSES[stored["kind"]], stored["reason"])
    if any(stored[key] != again[key] for key in ("level", "reward", "safety")):
        raise AlreadyTold(number, as_result(problem, stored), as_result(problem, again))
