"""In which order results that are taken over were measured: what is stated about it, how stamps bear it out, and what
is kept of it.

The proofs take results one after the other, and each setting may depend on earlier results only. So the rows of a table
are in the order in which they were measured, or their order and their settings were both fixed without looking at
results. Nobody can compute that from a table: it is stated, and kept with the study.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import pairwise
from typing import Any

import numpy as np

from surefoot.errors import ABSENT, InvalidInput, counted, shown
from surefoot.studies.import_tables import Cells, Text, as_number, missing, refuse

MEASURED, FIXED, TAKEN_IN = "as measured", "fixed beforehand", "as taken in"
WORDS = {
    MEASURED: "in the order measured",
    FIXED: "in an order that was fixed, as their settings were, without looking at results",
    TAKEN_IN: "in the order in which that study numbered them",
}
STATE = (
    f'State order="{MEASURED}" if the rows stand in the order in which they were measured, order="{FIXED}" if their '
    "order and their settings were fixed without looking at results, or name the column of their time stamps with "
    "time=."
)
STAMPS = "Give every row a number, or a date and time such as 2024-05-01T09:30."


@dataclass(frozen=True)
class Statement:
    """What was stated about results that were taken over together."""

    rows: int
    order: str | None  # a key of WORDS; None where stamps alone give the order
    time: str | None = None  # the column of the stamps
    stamps: tuple[str, ...] = ()  # as they are shown to people, one for each row
    source: str | None = None
    confirmed: tuple[str, ...] = ()  # what made the order suspicious, where it was confirmed in spite of that
    implausible: tuple[str, ...] = ()  # rows that nothing explains, where they were confirmed

    def to_json(self) -> str:
        """The statement as it is stored."""
        return json.dumps({key: value for key, value in vars(self).items() if value not in (None, ())})

    @classmethod
    def from_json(cls, stored: str) -> "Statement":
        """The statement that was stored."""
        table = json.loads(stored)
        lists = {key: tuple(map(str, table.get(key, ()))) for key in ("stamps", "confirmed", "implausible")}
        found = cls(table["rows"], table.get("order"), table.get("time"), source=table.get("source"), **lists)
        if type(found.rows) is not int or found.rows < 1 or found.order not in (None, *WORDS):
            raise ValueError(stored[:80])
        if len(found.stamps) != (0 if found.time is None else found.rows):
            raise ValueError("there is not one stamp for each row")
        return found

    @property
    def exempt(self) -> bool:
        """Whether later rows are no longer looked at together with these."""
        return bool(self.confirmed) or self.order == TAKEN_IN

    @property
    def claims(self) -> list[str]:
        """What the order rests on."""
        found = [] if self.order is None else [WORDS[self.order]]
        if self.time is not None:
            found.append(f"by the time stamps in {self.time!r}, {self.stamps[0]} to {self.stamps[-1]}")
        return found

    @property
    def words(self) -> str:
        """What was stated, as people read it."""
        of = f" from {self.source}" if self.source else ""
        said = f"{counted(self.rows, 'result')} taken over{of}; stated: {', '.join(self.claims)}"
        if self.confirmed:
            said += "; their order looked sorted and was confirmed"
        if self.implausible:
            said += f"; {counted(len(self.implausible), 'implausible one')} confirmed"
        return said


def stated_order(order: object, time: object) -> str | None:
    """The word for the order, checked; without any statement the table is refused."""
    if order is None and time is None:
        reason = "the order of rows is part of what the promise rests on, and nothing is stated about it"
        raise InvalidInput("order", ABSENT, reason, STATE)
    word = order.replace("-", " ") if isinstance(order, str) else order
    if word not in (None, MEASURED, FIXED):
        raise InvalidInput("order", order, f"must be {MEASURED!r} or {FIXED!r}", STATE)
    return word


def in_order(cells: list[Cells], order: str | None, time: object) -> tuple[list[int], tuple[str, ...]]:
    """The places of the rows in the order in which they are taken in, and their stamps in that order.

    Stamps alone sort the rows, and must then tell them apart. Beside a stated order they are held against it: no row
    may be stamped before the one above it.
    """
    places = list(range(len(cells)))
    if time is None:
        return places, ()
    if not isinstance(time, str) or not any(time in row for row in cells):
        raise missing(str(time), list(cells[0])) if isinstance(time, str) else no_column(time)
    stamps = checked_stamps(time, [row.get(time, ABSENT) for row in cells])
    if order is None:
        places.sort(key=stamps.__getitem__)
        for one, other in pairwise(places):
            if stamps[one] == stamps[other]:
                reason = f"rows {one + 1} and {other + 1} have the same stamp, {as_text(stamps[one])}"
                remedy = f'State order="{MEASURED}" as well if rows with equal stamps stand in the order measured.'
                raise InvalidInput("time", time, reason, remedy)
    else:
        for one, other in pairwise(places):
            if stamps[other] < stamps[one]:
                reason = f"row {other + 1} is stamped {as_text(stamps[other])}, before row {one + 1} above it"
                remedy = "Leave order= out to have the rows sorted by their stamps."
                raise InvalidInput("time", time, reason, remedy)
    return places, tuple(as_text(stamps[place]) for place in places)


def no_column(time: object) -> InvalidInput:
    """The refusal of what is no name of a column."""
    return InvalidInput("time", time, "must be the name of a column", "Name the column of the time stamps.")


def checked_stamps(column: str, held: Sequence[object]) -> list[Any]:
    """The stamps, all numbers or all times that can be compared; those that are none are named by row."""
    found: list[float | datetime] = []
    faults = []
    for place, value in enumerate(held, start=1):
        stamp = as_stamp(value)
        if stamp is None:
            what = "nothing" if value is ABSENT else shown(value)
            faults.append(f"row {place}, column {column!r} = {what} is no time stamp")
        else:
            found.append(stamp)
    refuse(faults, len(held))
    kinds = {kind_of(stamp) for stamp in found}
    if len(kinds) > 1:
        raise InvalidInput("time", column, f"holds more than one kind of stamp: {', '.join(sorted(kinds))}", STAMPS)
    return found


def kind_of(stamp: float | datetime) -> str:
    """Stamps of one kind can be compared."""
    if isinstance(stamp, float):
        return "numbers"
    return "times without a zone" if stamp.utcoffset() is None else "times with a zone"


def as_stamp(value: object) -> float | datetime | None:
    """The stamp as a number or a time; None if it is neither."""
    if isinstance(value, Text):
        value = as_number(value)
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value.strip())
        except ValueError:
            return None
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[us]").item()
    if isinstance(value, date):
        is_time = isinstance(value, datetime)
        if value != value:  # what pandas holds where there is no time
            return None
        return value if is_time else datetime(value.year, value.month, value.day)  # type: ignore[return-value]
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.integer | np.floating):
        return None
    return float(value) if math.isfinite(value) else None


def as_text(stamp: float | datetime) -> str:
    """The stamp as people read it."""
    return f"{stamp:.15g}" if isinstance(stamp, float) else stamp.isoformat(sep=" ")
