"""The history of a study, written for reading: a dictionary for each pull, changed by one event after the other."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from surefoot.live.ledger import HELD, OPEN, TOLD, VOIDED
from surefoot.live.readings import safety_columns, unpacked
from surefoot.problem import Problem
from surefoot.studies import events
from surefoot.studies.corrections import values_in_words
from surefoot.studies.events import Event
from surefoot.studies.import_order import Statement
from surefoot.studies.listing import as_time

TIMES = ("asked_at", "told_at")
WHOLE = ("number", "arm")
REAL = ("level", "reward", "asked_level", "margin", "gap")


BRINGS = (*events.TELLS, events.ADD, events.CORRECT)  # a result
STATE_AFTER = {**events.CLOSES, **dict.fromkeys(events.HOLDS, HELD), events.VOID: VOIDED}
CHANGES = {
    events.HOLD: "held", events.HOLD_ALL: "held", events.CONFIRM: "confirmed", events.CORRECT: "corrected",
    events.VOID: "voided", events.LATE: "told late and not counted",
}  # fmt: skip


def plain_frame(problem: Problem, happened: Iterable[Event]) -> pd.DataFrame:
    """The history, row by row: what the one that is gathered by column must be."""
    signals = safety_columns(problem)
    columns = [
        "number", "arm", "name", "level", "reward", *signals, "state", "worker", "asked_at", "told_at", "asked_level",
        "phase", "margin", "leader", "challenger", "gap", "imported", "measured", "reason", "by",
        "changes",
    ]  # fmt: skip
    frame = pd.DataFrame(rows_of(problem, happened, signals), columns=columns)
    for name in TIMES:
        frame[name] = pd.to_datetime(frame[name].astype("Int64"), unit="us", utc=True).astype("datetime64[us, UTC]")
    kinds = dict.fromkeys(WHOLE, "int64") | dict.fromkeys((*REAL, *signals), "float64") | {"imported": "bool"}
    found: pd.DataFrame = frame.astype(kinds)
    return found


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
