"""The history of a study as a data frame: one row a pull, with what was asked, what came back, and why."""

from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from surefoot.errors import MissingExtra
from surefoot.live.ledger import HELD, OPEN, TOLD, VOIDED
from surefoot.live.readings import unpacked
from surefoot.problem import Problem
from surefoot.studies import events
from surefoot.studies.corrections import values_in_words
from surefoot.studies.events import Event
from surefoot.studies.import_order import Statement
from surefoot.studies.listing import as_time

if TYPE_CHECKING:
    import pandas as pd

TIMES = ("asked_at", "told_at")
WHOLE = ("number", "arm")
REAL = ("level", "reward", "asked_level", "margin", "gap")


BRINGS = (*events.TELLS, events.ADD, events.CORRECT)  # a result
STATE_AFTER = {**events.CLOSES, **dict.fromkeys(events.HOLDS, HELD), events.VOID: VOIDED}
CHANGES = {
    events.HOLD: "held", events.HOLD_ALL: "held", events.CONFIRM: "confirmed", events.CORRECT: "corrected",
    events.VOID: "voided",
}  # fmt: skip
TAKES = (*events.HOLDS, events.VOID)  # it away


class Result(NamedTuple):
    """What a pull returned, in the user's units."""

    number: int
    arm: int
    level: float  # really applied
    reward: float
    readings: list[float]  # in the order of the limits


def results_in(happened: Iterable[Event]) -> list[Result]:
    """The results that count, in order of number: as they were corrected, without those that are held or voided."""
    arms: dict[int, int] = {}
    found: dict[int, Result] = {}
    for event in happened:
        number = event["number"]
        if event["step"] == events.OPENING:
            arms[number] = event["arm"]
        if event["kind"] in BRINGS:
            readings = unpacked(event["safety"]).tolist()
            found[number] = Result(number, arms[number], event["level"], event["reward"], readings)
        elif event["kind"] in TAKES:
            found.pop(number, None)
    return sorted(found.values())


def frame_of(problem: Problem, happened: Iterable[Event]) -> "pd.DataFrame":
    """One row for each number, in order; what is not known yet is missing.

    `level` is the level really applied once the result is told; the safety columns hold readings in the user's units;
    `measured` is the time stamp with which a result was taken over, if it had one. Values are those of now; `changes`
    says what was held, confirmed, corrected or taken out before, when and by whom.
    """
    try:
        pandas = import_module("pandas")
    except ImportError:
        raise MissingExtra("pandas", "frames") from None
    signals = safety_columns(problem)
    columns = [
        "number", "arm", "name", "level", "reward", *signals, "state", "worker", "asked_at", "told_at", "asked_level",
        "phase", "margin", "leader", "challenger", "gap", "imported", "measured", "reason", "by",
        "changes",
    ]  # fmt: skip
    frame = pandas.DataFrame(rows_of(problem, happened, signals), columns=columns)
    for name in TIMES:
        frame[name] = pandas.to_datetime(frame[name].astype("Int64"), unit="us", utc=True).astype("datetime64[us, UTC]")
    kinds = dict.fromkeys(WHOLE, "int64") | dict.fromkeys((*REAL, *signals), "float64") | {"imported": "bool"}
    found: pd.DataFrame = frame.astype(kinds)
    return found


def safety_columns(problem: Problem) -> list[str]:
    """The column of each limit: "safety", or "safety_" and its name when there are several."""
    names = [limit.name for limit in problem.safety]
    return ["safety"] if len(names) == 1 else [f"safety_{name}" for name in names]


def rows_of(problem: Problem, happened: Iterable[Event], signals: list[str]) -> list[dict[str, Any]]:
    """The rows by column, from the events in order."""
    rows: dict[int, dict[str, Any]] = {}
    stamps: list[str] = []  # of the rows of a table that are to come, the next one last
    for event in happened:
        if event["step"] == events.OPENING:
            rows[event["number"]] = opened(problem, event) | {"measured": stamps.pop() if stamps else None}
        elif event["kind"] == events.TABLE:
            stamps = list(reversed(Statement.from_json(event["reason"]).stamps))
        elif event["number"] is not None and event["kind"] in STATE_AFTER:
            row = rows[event["number"]]
            row |= {"state": STATE_AFTER[event["kind"]], "reason": event["reason"], "by": event["by"]}
        if event["kind"] in CHANGES:
            row = rows[event["number"]]
            row["changes"] = "; ".join(filter(None, [row["changes"], change_in_words(problem, event, row, signals)]))
        if event["kind"] in BRINGS:
            readings = unpacked(event["safety"]).tolist()
            told = {"level": event["level"], "reward": event["reward"], "told_at": event["at"]}
            if event["kind"] == events.CORRECT:
                del told["told_at"]
            rows[event["number"]] |= told | dict(zip(signals, readings, strict=True))
        elif event["kind"] in events.HOLDS:
            rows[event["number"]] |= {"reward": np.nan, "told_at": None} | dict.fromkeys(signals, np.nan)
    return list(rows.values())


def change_in_words(problem: Problem, event: Event, row: dict[str, Any], signals: list[str]) -> str:
    """What became of the result, with the values before and after."""
    when = as_time(event["at"])[:16].replace("T", " ")
    words = [CHANGES[event["kind"]]]
    if event["kind"] in (events.CORRECT, events.VOID) and not np.isnan(row["reward"]):
        words.append(values_in_words(problem, row["reward"], [row[signal] for signal in signals]))
    if event["kind"] == events.CORRECT:
        words.append("to")
    if event["safety"] is not None:
        words.append(values_in_words(problem, event["reward"], unpacked(event["safety"]).tolist()))
    who = f" by {event['by']}" if event["by"] else ""
    why = f": {event['reason']}" if event["reason"] else ""
    return f"{' '.join(words)} ({when} UTC{who}{why})"


def opened(problem: Problem, event: Event) -> dict[str, Any]:
    """The row of a pull that was just asked for, or was imported."""
    imported = event["kind"] == events.ADD

    return {
        "number": event["number"], "arm": event["arm"], "name": problem.names[event["arm"]], "level": event["level"],
        "reward": np.nan, "state": TOLD if imported else OPEN, "worker": event["worker"],
        "asked_at": None if imported else event["at"], "told_at": None, "asked_level": event["level"],
        "phase": event["phase"], "margin": event["margin"], "leader": events.name_of(problem, event["leader"]),
        "challenger": events.name_of(problem, event["challenger"]), "gap": event["gap"], "imported": imported,
        "reason": event["reason"], "by": event["by"], "changes": "",
    }  # fmt: skip
