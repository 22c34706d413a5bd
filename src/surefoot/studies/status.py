"""What one who only looks sees of a study: where it stands, what is open and who has it, what happened last."""

import functools
from dataclasses import dataclass
from typing import TypedDict, cast

from surefoot.live.ledger import HELD, OPEN, STATES, Intake
from surefoot.live.pulls import Status, StatusDocument
from surefoot.live.readings import unpacked
from surefoot.problem import Problem
from surefoot.problem.units import level_in_words, reading_in_words
from surefoot.storage.protocol import Events
from surefoot.studies import events
from surefoot.studies.corrections import revision_in_words
from surefoot.studies.entries import StudyLedger
from surefoot.studies.events import Event
from surefoot.studies.handle import Handle
from surefoot.studies.import_order import Statement

OPEN_SHOWN = 10
LATEST_SHOWN = 6
DONE = {
    events.CANCEL: "cancelled", events.FAIL: "failed", events.EXPIRE: "expired", events.ABORT: "aborted as unsafe",
    events.FREEZE: "frozen", events.RELEASE: "released", events.ALARM: "frozen", events.END: "ended",
    events.RECALL: "recalled", events.VOID: "voided",
}  # fmt: skip
TOLD = {
    events.TELL: "told", events.CONFIRM: "told and confirmed", events.CORRECT: "corrected", events.HOLD: "held",
    events.HOLD_ALL: "held, and with it all pulls", events.LATE: "told late, not counted",
}  # fmt: skip


class StopDocument(TypedDict):
    """Why nobody is given a pull."""

    reason: str
    by: str


class StudyStatusDocument(StatusDocument):
    """The status of a study as plain data."""

    name: str
    events: int
    asked: int
    imported: int
    states: dict[str, int]
    open: list[int]
    held_back: int
    unused: int
    contradictions: list[str]
    alarms: list[str]
    alarm_level: float
    frozen: StopDocument | None
    mismatches: int
    corrections: list[str]
    intake: Intake
    max_pulls: int | None
    imports: list[str]
    late: list[int]
    head: str


@dataclass(frozen=True)
class StudyStatus(Status):
    """Where a study stands."""

    name: str
    events: int
    asked: int  # pulls that were asked for here
    imported: int  # results that were taken over
    states: dict[str, int]  # how many pulls are in each state
    open: list[int]  # the numbers of the pulls that wait for a result
    held_back: int  # results that wait for an earlier one
    unused: int  # results that came in after the end
    contradictions: list[str]  # every way in which the data were found to contradict the model
    alarms: list[str]  # those of them that nobody has released
    alarm_level: float
    frozen: StopDocument | None
    mismatches: int  # pulls that are not the ones recomputed
    corrections: list[str]  # every result that was corrected or taken out: who, when, why, old and new values
    intake: Intake
    max_pulls: int | None
    imports: list[str]  # what was stated about each table that was taken over
    late: list[int]  # pulls whose results came after they had been given up, and do not count
    head: str  # the hash of the last event: whoever keeps it can prove later that nothing was changed

    def to_dict(self) -> StudyStatusDocument:
        """The status as plain data. It names every arm."""
        return cast(StudyStatusDocument, super().to_dict())


def status_of(name: str, max_pulls: int | None, alarm_level: float, ledger: StudyLedger) -> StudyStatus:
    """Where the study with this ledger stands."""
    stop = ledger.stop
    return StudyStatus(
        **vars(ledger.status()),
        name=name,
        events=ledger.sequence,
        asked=ledger.last_number - ledger.imported,
        imported=ledger.imported,
        states={state: ledger.counts[state] for state in STATES}
        | {OPEN: len(ledger.open_numbers), HELD: len(ledger.holding)},
        open=ledger.open_numbers,
        held_back=ledger.held_back,
        unused=ledger.unused,
        contradictions=list(ledger.raised),
        alarms=ledger.ringing,
        alarm_level=alarm_level,
        frozen=None if stop is None else StopDocument(reason=stop.reason, by=stop.by),
        mismatches=len(ledger.mismatches),
        corrections=[revision_in_words(ledger.problem, each) for each in ledger.revisions],
        intake=ledger.intake,
        max_pulls=max_pulls,
        imports=[statement.words for statement in ledger.statements],
        late=[number for number, _ in ledger.late],
        head=ledger.head.hex(),
    )


# -- for one who watches ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Waiting:
    """A pull that waits for its result."""

    number: int
    name: str
    level: float
    at: str  # the level in words, with the setting of the dial if there is one
    worker: str | None
    asked_at: int  # microseconds since 1970, UTC


@dataclass(frozen=True)
class Overview:
    """A study at one moment."""

    status: StudyStatus
    keeps_limits: bool
    waiting: tuple[Waiting, ...]  # the oldest few
    latest: tuple[tuple[int, str], ...]  # when and what, the last few events, newest first


def overview_of(handle: Handle) -> Overview:
    """The study as it is now; nothing is written, and nobody is held up."""
    settings = handle.settings
    names = settings.problem.names

    def see(ledger: StudyLedger, stored: Events) -> Overview:
        opened = [stored.of_pull(number)[0] for number in ledger.open_numbers[:OPEN_SHOWN]]
        last = range(ledger.sequence, max(ledger.sequence - LATEST_SHOWN, 0), -1)
        latest = [event for sequence in last if (event := stored.at(sequence)) is not None]
        status = status_of(handle.name, settings.max_pulls, settings.alarm_level, ledger)
        at = functools.partial(level_in_words, settings.problem.dial)
        waiting = (
            Waiting(e["number"], names[e["arm"]], e["level"], at(e["level"]), e["worker"], e["at"]) for e in opened
        )
        told = tuple((event["at"], in_words(settings.problem, event)) for event in latest)
        return Overview(status, ledger.learner.guarantee.keeps_limits, tuple(waiting), told)

    return handle.look(see)


def in_words(problem: Problem, event: Event) -> str:
    """The event in one line."""
    kind, number = event["kind"], event["number"]
    if kind in (events.ASK, events.ADD):
        verb = "asked for" if kind == events.ASK else "imported"
        by = f" by {event['worker']}" if event["worker"] else ""
        return (
            f"pull {number} {verb}{by}: {problem.names[event['arm']]} at {level_in_words(problem.dial, event['level'])}"
        )
    if kind in TOLD:
        readings = zip(problem.safety, unpacked(event["safety"]).tolist(), strict=True)
        shown = ", ".join(f"{limit.name} {reading_in_words(reading, limit.unit, 4)}" for limit, reading in readings)
        reward = reading_in_words(event["reward"], problem.reward.unit, 4)
        why = f", by {event['by']}: {event['reason']}" if kind == events.CORRECT else ""
        return f"pull {number} {TOLD[kind]}: {', '.join([f'reward {reward}', *([shown] if shown else [])])}{why}"
    if kind in events.CLOSES:
        return f"pull {number} {DONE[kind]}: {event['reason']}"
    if kind == events.TABLE:
        return Statement.from_json(event["reason"]).words
    if kind == events.VOID:
        return f"pull {number} voided by {event['by']}: {event['reason']}"
    if kind == events.END:
        return "the policy has stopped"
    return f"{DONE.get(kind, kind)} by {event['by']}: {event['reason']}"
