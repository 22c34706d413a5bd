"""Results measured elsewhere, as people have them in tables, checked row by row before anything is taken in."""

import csv
from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from surefoot.errors import ABSENT, InvalidInput, counted, shown
from surefoot.files import as_path, cause
from surefoot.live.readings import Safety, applied_level, measured
from surefoot.problem import Problem
from surefoot.problem.checks import did_you_mean
from surefoot.studies.inputs import arm_index

ARM, LEVEL, REWARD, SAFETY = "arm", "level", "reward", "safety"
SETTING = "setting"  # in the unit of the dial, in place of the level
FORMS = "Pass a data frame, a mapping of columns, a list of rows (mappings), or the Path of a CSV file."
MEND = "Mend them and add the table once more: nothing of it was taken in."
NAMED = 5  # faults of a table that are told; the others are counted

Cells = dict[str, Any]  # one row, by the names of the columns


class Row(NamedTuple):
    """A result that was measured elsewhere, in the user's units."""

    arm: int
    level: float
    reward: float
    readings: list[float]  # in the order of the limits


def checked_row(problem: Problem, arm: object, level: object, reward: object, safety: Safety) -> Row:
    """One result, or a refusal of what it cannot be. Every row that is taken over comes through here."""
    at = applied_level(problem, level)
    value, readings = measured(problem, reward, safety)
    place = arm_index(problem, arm)
    if not problem.pullable[place]:
        remedy = "Leave the result out, or state the problem with an arm that can be tried."
        raise InvalidInput("arm", problem.names[place], "is stated as an arm that cannot be tried", remedy)
    return Row(place, at, value, readings)


def checked_rows(problem: Problem, cells: list[Cells]) -> list[Row]:
    """The rows of a table; if any cannot be, all of it is refused, and the bad ones are named by row and column."""
    readings = reading_columns(problem, cells)
    rows, faults = [], []
    for place, row in enumerate(cells, start=1):
        try:
            rows.append(
                checked_row(
                    problem, arm_in(problem, row), level_in(problem, row), cell(row, REWARD),
                    readings_of(problem, row, readings),
                )
            )  # fmt: skip
        except InvalidInput as error:
            value = "nothing" if error.value is ABSENT else shown(error.value)
            faults.append(f"row {place}, {column_of(error.field, readings)} = {value} {error.reason}")
    refuse(faults, len(cells))
    return rows


def refuse(faults: list[str], rows: int) -> None:
    """Nothing, when there are no faults; otherwise the whole table is refused, and the first few are named."""
    if faults:
        more = f"; and {counted(len(faults) - NAMED, 'row')} more" if len(faults) > NAMED else ""
        raise InvalidInput("table", f"{counted(rows, 'row')}", "; ".join(faults[:NAMED]) + more, MEND)


def cell(row: Cells, column: str) -> Any:
    """What the row holds in this column; a number that a file holds as text is one."""
    held = row.get(column, ABSENT)
    return as_number(held) if isinstance(held, Text) else held


def level_in(problem: Problem, row: Cells) -> Any:
    """The level as it is given, or that of the setting, where the table has settings in the unit of the dial."""
    if LEVEL in row or problem.dial is None:
        return cell(row, LEVEL)
    return problem.dial.level_of(cell(row, SETTING), SETTING)


def arm_in(problem: Problem, row: Cells) -> Any:
    """The arm as it is given: by its name, or by its place."""
    held = row.get(ARM, ABSENT)
    return str(held) if isinstance(held, Text) and held in problem.names else cell(row, ARM)


def readings_of(problem: Problem, row: Cells, columns: list[tuple[str, str]] | None) -> Any:
    """The readings of a row: of the column of each limit, or of the one that holds them all; none without limits."""
    if columns is not None:
        return {name: cell(row, column) for name, column in columns}
    return cell(row, SAFETY) if problem.safety or SAFETY in row else ()


def column_of(field: str, readings: list[tuple[str, str]] | None) -> str:
    """The column in which the refused field was found."""
    for name, column in readings or []:
        if field == f"safety[{name!r}]":
            return f"column {column!r}"
    return f"column {field.partition('[')[0]!r}"


def reading_columns(problem: Problem, cells: list[Cells]) -> list[tuple[str, str]] | None:
    """For each limit the column of its readings; None where the column "safety" holds them all."""
    columns = list(dict.fromkeys(name for row in cells for name in row))
    for needed in (ARM, LEVEL, REWARD):
        if needed not in columns and not (needed == LEVEL and SETTING in columns and problem.dial is not None):
            raise missing(needed, columns)
    if SAFETY in columns or not problem.safety:
        return None
    found = []
    for limit in problem.safety:
        column = next((name for name in (f"safety_{limit.name}", limit.name) if name in columns), None)
        if column is None:
            only = len(problem.safety) == 1
            raise missing(f"safety_{limit.name}", columns, f"{SAFETY!r} or " if only else "")
        found.append((limit.name, column))
    return found


def missing(column: str, columns: list[str], other: str = "") -> InvalidInput:
    """The refusal of a table without this column, or the other one that would do."""
    return InvalidInput("table", columns, f"has no column {other}{column!r}", did_you_mean(column, columns))


# -- tables of every form ---------------------------------------------------------------------------------------------


class Text(str):
    """A cell of a file, where all is text."""


def as_number(held: str) -> Any:
    """The text as a number; as it is, if it is none."""
    try:
        found = float("no number" if "_" in held else held)
    except ValueError:
        return str(held)
    return int(held) if isfinite(found) and held.strip().isdecimal() else found


def cells_in(table: object) -> list[Cells]:
    """The rows of a data frame, of columns, of a list of rows, or of a CSV file."""
    if isinstance(table, Path):
        found = cells_in_file(table)
    elif isinstance(table, Mapping):
        found = cells_in_columns({str(name): column for name, column in table.items()})
    elif hasattr(table, "columns") and hasattr(table, "__getitem__"):
        names = [str(name) for name in table.columns]
        refuse_twice(names)
        found = cells_in_columns({str(name): table[name] for name in table.columns})
    elif isinstance(table, Sequence) and not isinstance(table, str | bytes):
        for place, row in enumerate(table, start=1):
            if not isinstance(row, Mapping):
                raise InvalidInput("table", row, f"row {place} is no mapping of columns to values", FORMS)
        found = [{str(name): value for name, value in row.items()} for row in table]
    else:
        raise InvalidInput("table", table, "is no table of results", FORMS)
    if not found:
        raise InvalidInput("table", "0 rows", "holds nothing", "Add at least one result.")
    return found


def cells_in_columns(columns: dict[str, Any]) -> list[Cells]:
    """The rows of columns of equal length."""
    for name, column in columns.items():
        if isinstance(column, str | bytes | Mapping) or not hasattr(column, "__len__"):
            raise InvalidInput(f"table[{name!r}]", column, "is not a column of values", FORMS)
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise InvalidInput("table", lengths, "has columns of different lengths", "Give each row a value in each.")
    held = [list(column) for column in columns.values()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*held, strict=True)]


def cells_in_file(path: Path) -> list[Cells]:
    """The rows of a CSV file with a line of names."""
    place = as_path("table", path)
    try:
        with place.open(newline="", encoding="utf-8-sig") as file:
            lines = [line for line in csv.reader(file, strict=True) if any(word.strip() for word in line)]
    except (csv.Error, UnicodeDecodeError) as error:
        raise InvalidInput("table", str(place), f"is no CSV file ({error})", "Save it as CSV in UTF-8.") from error
    except (OSError, ValueError) as error:  # ValueError: a null character in the path
        raise InvalidInput("table", str(place), f"cannot be read ({cause(error)})", "Check the path.") from error
    if not lines:
        raise InvalidInput("table", str(place), "is empty", "Its first line names the columns.")
    names = [name.strip() for name in lines[0]]
    refuse_twice(names)
    if len(names) == 1 and any(mark in names[0] for mark in ";\t"):
        remedy = "Separate the cells by commas, and write numbers with a decimal point."
        raise InvalidInput("table", names[0], "is all one column", remedy)
    wrong = [f"row {i} has {len(line)} cells" for i, line in enumerate(lines[1:], start=1) if len(line) != len(names)]
    refuse([f"{fault}, and there are {counted(len(names), 'column')}" for fault in wrong], len(lines) - 1)
    return [dict(zip(names, map(Text, line), strict=True)) for line in lines[1:]]


def refuse_twice(names: list[str]) -> None:
    """Nothing, when each column has a name of its own."""
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InvalidInput("table", names, f"has two columns {twice!r}", "Keep the one that is meant.")
