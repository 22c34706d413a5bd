"""Arms from data frames of any library that narwhals knows: a column "name", columns of marks, and features."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from surefoot.errors import InvalidInput, MissingExtra
from surefoot.problem.checks import Floats, did_you_mean
from surefoot.problem.marked_arms import MARKS, Marks, marks_in

NAME_COLUMN = "name"


class Held(NamedTuple):
    """What a table holds: names, not yet checked, features and marks."""

    names: list[object]
    features: Floats
    marks: Marks = Marks()


class Columns(NamedTuple):
    """Where the columns of a table stand."""

    name: int
    features: tuple[int, ...]
    marks: Mapping[str, int]


def is_frame(source: object) -> bool:
    """Whether the source is a data frame of some library, told without importing any."""
    if isinstance(source, np.ndarray | Mapping | Sequence):
        return False
    kind = type(source)  # asking the class computes nothing, where a lazy frame would resolve its schema
    return hasattr(kind, "columns") or hasattr(kind, "__dataframe__") or hasattr(kind, "collect_schema")


def read_frame(source: object, where: str | None = None) -> Held:
    """The arms in a data frame."""
    frame, labels = _narwhals_frame(source)
    places = columns_of(labels, where or f"a {type(source).__name__} with columns {labels}")
    names = frame.get_column(NAME_COLUMN).to_list()
    features = [_frame_column(frame.get_column(labels[i]), labels[i], names) for i in places.features]
    marks = marks_in({label: frame.get_column(label).to_list() for label in places.marks})
    return Held(names, np.column_stack(features) if features else np.empty((len(names), 0)), marks)


def columns_of(columns: list[str], where: str) -> Columns:
    """Where everything stands in a header without repeated columns."""
    repeated = next((column for i, column in enumerate(columns) if column in columns[:i]), None)
    if repeated is not None:
        raise InvalidInput("arms", where, f"has two columns {repeated!r}", "Give every column a name of its own.")
    if NAME_COLUMN not in columns:
        near = did_you_mean(NAME_COLUMN, columns) if columns else ""
        remedy = f"Call the column that names the arms {NAME_COLUMN!r}. " + near.replace("Did you mean", "Is it")
        if len(columns) == 1 and ";" in columns[0]:
            remedy = "Separate the columns by commas instead of semicolons."
        reason = f"has no column {NAME_COLUMN!r}" if columns else f"is empty, and has no column {NAME_COLUMN!r}"
        raise InvalidInput("arms", where, reason, remedy.strip())
    for column in columns:
        plain = str(column).strip().lower().replace(" ", "_").replace("-", "_")
        if column not in MARKS and plain.rstrip("s") in MARKS:  # as a feature it would be silently misunderstood
            meant = plain.rstrip("s")
            remedy = f"Call it {meant!r} if it marks arms, and by another name if it is a feature."
            raise InvalidInput("arms", where, f"has a column {column!r}, which may be meant for {meant!r}", remedy)
    marks = {label: columns.index(label) for label in MARKS if label in columns}
    features = tuple(i for i, label in enumerate(columns) if label not in (NAME_COLUMN, *MARKS))
    return Columns(columns.index(NAME_COLUMN), features, marks)


def _narwhals_frame(source: object) -> tuple[Any, list[str]]:
    """The frame in narwhals' form, and its columns (which need not be text in pandas)."""
    narwhals = extra("narwhals")
    try:
        frame = narwhals.from_native(source, eager_only=True)
        return frame, list(frame.columns)
    except Exception as error:  # each frame library has errors of its own
        remedy = "Pass a pandas, polars or pyarrow frame with a column 'name'; collect() a lazy one first."
        detail = " ".join(str(error).split())[:200]
        raise InvalidInput("arms", type(source).__name__, f"is not a readable frame ({detail})", remedy) from error


def _frame_column(column: Any, label: str, names: list[object]) -> Floats:
    """One feature of every arm."""
    dtype = column.dtype
    if not (dtype.is_integer() or dtype.is_float()):
        remedy = "Convert the column to numbers, or drop it when it is no feature."
        raise InvalidInput(f"arms, column {label!r}", str(dtype), "must hold real numbers", remedy)
    if column.null_count():
        row = column.is_null().to_list().index(True)
        raise InvalidInput(f"arms[{names[row]!r}], column {label!r}", None, "must be a number", "Fill or drop the arm.")
    return np.asarray(column.to_numpy(), dtype=np.float64)


def extra(module: str) -> ModuleType:
    """The module, which comes with the extra "frames"."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtra(module.partition(".")[0], "frames") from error
