"""Arms with marks of their own: that they cannot be tried, or where they are known to be safe.

`Arm([1, 0], pullable=False)` stands wherever the features of one arm stand, and in a file a table with the same keys. A
table of arms has a column for each mark; an empty cell marks nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from surefoot.errors import ABSENT, InvalidInput
from surefoot.problem.checks import known_keys

MARKS = ("pullable", "safe_level")
KEYS = ("features", *MARKS)
FORM = "Write the features, or a table such as { features = [1, 0], pullable = false }."


@dataclass(frozen=True)
class Arm:
    """One arm: its features, whether it can be tried, and a known safe level of its own where it has one."""

    features: Any
    pullable: bool = True
    safe_level: Any = None  # a level, or text with the unit of the dial; None: as for the others


class Marks(NamedTuple):
    """What is marked, by the place of the arm; nobody changes it."""

    pullable: Mapping[int, object] = {}
    safe_level: Mapping[int, object] = {}


def unmarked(source: object) -> tuple[object, Marks]:
    """The arms as features alone, and their marks."""
    if isinstance(source, Mapping) and any(isinstance(each, Arm | Mapping) for each in source.values()):
        arms = [_arm(f"arms[{name!r}]", value) for name, value in source.items()]
        plain: object = dict(zip(source, (arm.features for arm in arms), strict=True))
    elif isinstance(source, list | tuple) and any(isinstance(each, Arm | Mapping) for each in source):
        arms = [_arm(f"arms[{i}]", value) for i, value in enumerate(source)]
        plain = [arm.features for arm in arms]
    else:
        return source, Marks()
    closed = {k: arm.pullable for k, arm in enumerate(arms) if arm.pullable is not True}
    return plain, Marks(closed, {k: arm.safe_level for k, arm in enumerate(arms) if arm.safe_level is not None})


def marks_in(columns: Mapping[str, Iterable[object]]) -> Marks:
    """The marks in the columns of a table, by their names: cells as they are typed, or as a frame holds them."""
    found = {label: dict(_marked(cells)) for label, cells in columns.items()}
    closed = {k: _WORDS.get(str(cell).lower(), cell) for k, cell in found.get("pullable", {}).items()}
    levels = {k: _number_or_text(cell) for k, cell in found.get("safe_level", {}).items()}
    return Marks({k: cell for k, cell in closed.items() if cell is not True}, levels)


_WORDS = {"true": True, "false": False}


def _marked(cells: Iterable[object]) -> Iterator[tuple[int, object]]:
    """The cells that are not empty, by the place of the arm."""
    for k, cell in enumerate(cells):
        value = cell.strip() if isinstance(cell, str) else cell
        if not _is_empty(value):
            yield k, value


def _is_empty(cell: object) -> bool:
    """Whether there is nothing in the cell, in the words of whichever library made the frame."""
    missing = cell is None or type(cell).__name__ == "NAType" or (isinstance(cell, str) and not cell)
    return missing or (isinstance(cell, float) and cell != cell)


def _number_or_text(cell: object) -> object:
    """A level, or text with the unit of the dial."""
    if not isinstance(cell, str) or "_" in cell:
        return cell
    try:
        return float(cell)
    except ValueError:
        return cell


def _arm(field: str, value: object) -> Arm:
    """The arm that this value describes; features alone are an arm without marks."""
    if isinstance(value, Arm):
        return value
    if not isinstance(value, Mapping):
        return Arm(value)
    known_keys(field, value, KEYS)
    if "features" not in value:
        raise InvalidInput(f"{field}.features", ABSENT, "is required", FORM)
    return Arm(**value)
