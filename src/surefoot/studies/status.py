"""What one who only looks sees of a study: where it stands, what is open and who has it, what happened last."""

from dataclasses import dataclass
from typing import Any

from surefoot.live.session import Session
from surefoot.problem import Problem
from surefoot.studies import events
from surefoot.studies.events import Event
from surefoot.studies.study import Study

OPEN_SHOWN = 10
LATEST_SHOWN = 6
DONE = {
    events.CANCEL: "cancelled", events.FAIL: "failed", events.EXPIRE: "expired", events.ABORT: "aborted as unsafe",
    events.FREEZE: "frozen", events.RELEASE: "released", events.ALARM: "frozen",
}  # fmt: skip


@dataclass(frozen=True)
class Waiting:
    """A pull that waits for its result."""

    number: int
    name: str
    level: float
    worker: str | None
    asked_at: int  # microseconds since 1970, UTC


@dataclass(frozen=True)
class Glance:
    """A study at one moment."""

    status: dict[str, Any]
    session: Session  # to be read only
    waiting: tuple[Waiting, ...]  # the oldest few
    latest: tuple[tuple[int, str], ...]  # when and what, the last few events, newest first


def glance(study: Study) -> Glance:
    """The study as it is now; nothing is written, and nobody is held up."""
    status = study.status()
    with study._lock, study._store.read(study._identity, study.name) as stored:
        fold = study._catch_up(stored)
        opened = [stored.of_pull(number)[0] for number in fold.open_numbers[:OPEN_SHOWN]]
        last = range(fold.sequence, max(fold.sequence - LATEST_SHOWN, 0), -1)
        latest = [event for sequence in last if (event := stored.at(sequence)) is not None]
    names = study.problem.names
    waiting = (Waiting(e["number"], names[e["arm"]], e["level"], e["worker"], e["at"]) for e in opened)
    told = tuple((event["at"], in_words(study.problem, event)) for event in latest)
    return Glance(status, fold.session, tuple(waiting), told)


def in_words(problem: Problem, event: Event) -> str:
    """The event in one line."""
    kind, number = event["kind"], event["number"]
    if kind in (events.ASK, events.ADD):
        verb = "asked for" if kind == events.ASK else "imported"
        by = f" by {event['worker']}" if event["worker"] else ""
        return f"pull {number} {verb}{by}: {problem.names[event['arm']]} at level {event['level']:.4g}"
    if kind == events.TELL:
        readings = zip(problem.safety, events.unpacked(event["safety"]).tolist(), strict=True)
        shown = ", ".join(f"{limit.name} {reading:.4g}" for limit, reading in readings)
        return f"pull {number} told: reward {event['reward']:.4g}, {shown}"
    if kind in events.CLOSES:
        return f"pull {number} {DONE[kind]}: {event['reason']}"
    return f"{DONE.get(kind, kind)} by {event['by']}: {event['reason']}"
