"""Arms from data frames of any library that narwhals knows: one column "name", every other one a feature."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from surefoot.errors import InvalidInput, MissingExtra
from surefoot.problem.checks import Floats, did_you_mean

NAME_COLUMN = "name"


def is_frame(source: object) -> bool:
    """Whether the source is a data frame of some library, told without importing any."""
    if isinstance(source, np.ndarray | Mapping | Sequence):
        return False
    kind = type(source)  # asking the class computes nothing, where a lazy frame would resolve its schema
    return hasattr(kind, "columns") or hasattr(kind, "__dataframe__") or hasattr(kind, "collect_schema")


def read_frame(source: object, where: str | None = None) -> tuple[list[object], Floats]:
    """The names in a data frame, not yet checked, and the features."""
    frame, columns = _narwhals_frame(source)
    place = name_column(columns, where or f"a {type(source).__name__} with columns {columns}")
    names = frame.get_column(NAME_COLUMN).to_list()
    labels = columns[:place] + columns[place + 1 :]
    features = [_frame_column(frame.get_column(label), label, names) for label in labels]
    return names, np.column_stack(features) if features else np.empty((len(names), 0))


def name_column(columns: list[str], where: str) -> int:
    """The place of the name column in a header without repeated columns."""
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
    return columns.index(NAME_COLUMN)


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
