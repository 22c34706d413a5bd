"""The history of a study: its results, and every pull as a row of columns."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.live.readings import unpacked
from surefoot.live.revisable import RevisableLedger
from surefoot.problem import Problem
from surefoot.studies import events
from surefoot.studies.events import Event
from surefoot.studies.pull_columns import BRINGS, Column, PullColumns

TAKES = (*events.HOLDS, events.VOID)  # a result away


class Result(NamedTuple):
    """What a pull returned, in the user's units."""

    number: int
    arm: int
    level: float  # really applied
    reward: float
    readings: list[float]  # in the order of the limits


def current_result(ledger: RevisableLedger, number: int) -> Result | None:
    """The result of one pull as it counts now, or will in its turn; None where there is none."""
    found = ledger.result_of(number)
    if found is None:
        return None
    level, reward, readings = found
    return Result(number, ledger.arm_of(number), level, reward, unpacked(readings).tolist())


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


def columns_of(problem: Problem, rows: Iterable[Sequence[Any]]) -> dict[str, NDArray[Any]]:
    """One row for each number, in order; what is not known yet is missing. The events are in the order of `COLUMNS`.

    `level` is the level really applied once the result is told; the safety columns hold readings in the user's units;
    `measured` is the time stamp with which a result was taken over, if it had one. Values are those of now; `changes`
    says what was held, confirmed, corrected or taken out before, when and by whom, and which results came too late.
    """
    pulls = PullColumns(problem)
    pulls.take(rows)

    def values(column: Column) -> NDArray[Any]:
        if column.words is not None:
            words: NDArray[Any] = np.array(column.words, dtype=object)[column.values]
            return words
        return column.values.view("M8[us]") if column.times else column.values

    return {column.name: values(column) for column in pulls.columns()}
