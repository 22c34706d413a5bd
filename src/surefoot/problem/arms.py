"""Arms from whatever holds them: an array, a mapping of names, a data frame, or a CSV or Parquet file.

A table of arms has one column "name"; every other column is a feature, in the order of the columns.
"""

from __future__ import annotations

import csv
import importlib
import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from surefoot.errors import InvalidInput, MissingExtra, counted
from surefoot.files import as_path, read_text
from surefoot.problem.checks import LARGEST, SMALLEST, Floats, array, did_you_mean, text, vector

NAME_COLUMN = "name"
_FORMS = "Pass one row of features for each arm, for example [[1, 0], [0, 1]] or {'low': [1, 0], 'high': [0, 1]}."
_NAMING = "Give every arm a short name of its own."


class ArmTable(NamedTuple):
    """The arms: K names and as many rows of features."""

    names: tuple[str, ...]
    features: Floats  # (K, D)


def read_arms(source: object, names: object = None) -> ArmTable:
    """The arms that the source holds, checked: named, finite, of equal length, not all zero."""
    if names is not None and (isinstance(source, Mapping | str | os.PathLike) or _is_frame(source)):
        raise InvalidInput("names", names, "must be left out when the arms bring their own names", "Drop names=.")
    if isinstance(source, str | os.PathLike):
        table = read_arms_file(source)
    elif isinstance(source, Mapping):
        table = _from_mapping(source)
    elif _is_frame(source):
        table = _from_frame(source)
    else:
        table = _from_rows(source, names)
    return _checked(table)


def read_arms_file(path: object) -> ArmTable:
    """The arms in a CSV or Parquet file, with their names checked but not yet their numbers."""
    place = as_path("arms", path)
    suffix = place.suffix.lower()
    if suffix == ".csv":
        return _from_csv(place)
    if suffix == ".parquet":
        return _from_parquet(place)
    raise InvalidInput("arms", str(path), "is of no known format", "Use a path that ends in .csv or .parquet.")


def renamed(table: ArmTable, names: object) -> ArmTable:
    """The same arms under other names."""
    return ArmTable(_given_names(names, len(table.names)), table.features)


def _from_mapping(source: Mapping[object, object]) -> ArmTable:
    """The arms of a mapping from name to features."""
    names = _distinct(list(source))
    return ArmTable(names, _stacked(list(source.values()), [f"arms[{name!r}]" for name in names]))


def _from_rows(source: object, names: object) -> ArmTable:
    """The arms of a two-dimensional array or a sequence of rows; without names they are a1, a2, ..."""
    if isinstance(source, Sequence) and not isinstance(source, str | bytes | bytearray | memoryview):
        features = _stacked(list(source), [f"arms[{i}]" for i in range(len(source))])
    else:
        features = array("arms", source, _row_advice(source), dimensions=2)
    if names is None:
        return ArmTable(tuple(f"a{k}" for k in range(1, len(features) + 1)), features)
    return ArmTable(_given_names(names, len(features)), features)


def _row_advice(source: object) -> str:
    """What to do about arms that do not come as rows."""
    if getattr(source, "ndim", None) == 1:
        return "For arms of one feature each, pass arms.reshape(-1, 1); for one arm alone, arms.reshape(1, -1)."
    return _FORMS


def _stacked(rows: list[object], fields: list[str]) -> Floats:
    """The rows, each a flat sequence of numbers, as one matrix."""
    vectors = [vector(field, row, _FORMS) for field, row in zip(fields, rows, strict=True)]
    for field, row, values in zip(fields, rows, vectors, strict=True):
        if len(values) != len(vectors[0]):
            reason = f"has {counted(len(values), 'feature')} where {fields[0]} has {len(vectors[0])}"
            raise InvalidInput(field, row, reason, "Give every arm the same number of features.")
    return np.array(vectors, dtype=np.float64).reshape(len(rows), -1 if rows else 0)


def _from_csv(path: Path) -> ArmTable:
    """The arms of a CSV file: a header line with a column "name", then one line for each arm."""
    lines = csv.reader(io.StringIO(read_text("arms", path), newline=""), strict=True)
    try:
        header = next((line for line in lines if line), [])
        columns = [column.strip() for column in header]
        place = _name_column(columns, str(path))
        names: list[object] = []
        rows: list[list[float]] = []
        for line in lines:
            if line:
                names.append(line[place] if place < len(line) else "")
                rows.append(_csv_numbers(line, columns, place, f"{path}, line {lines.line_num}"))
    except csv.Error as error:
        reason = f"is not valid CSV: {error} (line {lines.line_num})"
        raise InvalidInput("arms", str(path), reason, "Mend that line.") from error
    features = np.array(rows, dtype=np.float64).reshape(len(rows), len(columns) - 1)
    return ArmTable(_distinct(names), features)


def _csv_numbers(line: list[str], columns: list[str], place: int, where: str) -> list[float]:
    """The features of one line."""
    if len(line) != len(columns):
        reason = f"has {counted(len(line), 'cell')} where the header has {counted(len(columns), 'column')}"
        raise InvalidInput(where, ",".join(line), reason, "Give every arm a number in every column.")
    cells = [cell for column, cell in enumerate(line) if column != place]
    try:
        if any("_" in cell for cell in cells):
            raise ValueError  # Python reads 1_000 as a number; nobody means that in a table
        return [float(cell) for cell in cells]
    except ValueError:
        column, cell = next((c, x) for c, x in zip(columns, line, strict=True) if c != columns[place] and not _reads(x))
        remedy = "Write numbers with a decimal point; drop columns that are no features."
        raise InvalidInput(f"{where}, column {column!r}", cell, "must be a number", remedy) from None


def _reads(cell: str) -> bool:
    """Whether the cell is a number."""
    try:
        return "_" not in cell and float(cell) is not None
    except ValueError:
        return False


def _name_column(columns: list[str], where: str) -> int:
    """The place of the name column in a header without repeated columns."""
    repeated = next((column for i, column in enumerate(columns) if column in columns[:i]), None)
    if repeated is not None:
        raise InvalidInput("arms", where, f"has two columns {repeated!r}", "Give every column a name of its own.")
    if NAME_COLUMN not in columns:
        near = did_you_mean(NAME_COLUMN, columns) if columns else ""
        remedy = f"Call the column that names the arms {NAME_COLUMN!r}. " + near.replace("Did you mean", "Is it")
        if len(columns) == 1 and ";" in columns[0]:
            remedy = "Separate the columns by commas instead of semicolons."
        raise InvalidInput("arms", where, f"has no column {NAME_COLUMN!r}", remedy.strip())
    return columns.index(NAME_COLUMN)


def _from_parquet(path: Path) -> ArmTable:
    """The arms of a Parquet file."""
    parquet = _extra("pyarrow.parquet")
    try:
        table = parquet.ParquetFile(path).read()  # the file alone, without guessing partitions from its folder
    except (OSError, ValueError) as error:  # what pyarrow raises for broken files are ValueErrors
        remedy = "Check the path and that the file is a Parquet file."
        raise InvalidInput("arms", str(path), f"cannot be read ({error})", remedy) from error
    return _from_frame(table, str(path))


def _is_frame(source: object) -> bool:
    """Whether the source is a data frame of some library, told without importing any."""
    if isinstance(source, np.ndarray | Mapping | Sequence):
        return False
    kind = type(source)  # asking the class computes nothing, where a lazy frame would resolve its schema
    return hasattr(kind, "columns") or hasattr(kind, "__dataframe__") or hasattr(kind, "collect_schema")


def _from_frame(source: object, where: str | None = None) -> ArmTable:
    """The arms of a data frame of any library that narwhals knows."""
    frame, columns = _narwhals_frame(source)
    place = _name_column(columns, where or f"a {type(source).__name__} with columns {columns}")
    names = frame.get_column(NAME_COLUMN).to_list()
    labels = columns[:place] + columns[place + 1 :]
    features = [_frame_column(frame.get_column(label), label, names) for label in labels]
    matrix = np.column_stack(features) if features else np.empty((len(names), 0))
    return ArmTable(_distinct(names), matrix)


def _narwhals_frame(source: object) -> tuple[Any, list[str]]:
    """The frame in narwhals' form, and its columns (which need not be text in pandas)."""
    narwhals = _extra("narwhals")
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


def _given_names(names: object, count: int) -> tuple[str, ...]:
    """The names that were passed beside the arms, one for each."""
    if isinstance(names, str) or not (isinstance(names, Sequence) or getattr(names, "ndim", 0) == 1):
        raise InvalidInput("names", names, "must be a list of texts", _NAMING)
    listed = list(names)  # type: ignore[call-overload]
    if len(listed) != count:
        raise InvalidInput("names", names, f"holds {counted(len(listed), 'name')} for {counted(count, 'arm')}", _NAMING)
    return _distinct(listed)


def _distinct(names: list[object]) -> tuple[str, ...]:
    """The names, each a proper one and none twice."""
    checked = tuple(text(f"name of arm {i}", name, _NAMING) for i, name in enumerate(names, start=1))
    if len(set(checked)) < len(checked):
        seen: set[str] = set()
        repeated = next(name for name in checked if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise InvalidInput("names", repeated, "names two arms", _NAMING)
    return checked


def _checked(table: ArmTable) -> ArmTable:
    """The same arms, once it is sure that their numbers can be computed with; minus zero becomes zero."""
    features = table.features
    if features.shape[0] == 0:
        raise InvalidInput("arms", [], "a problem needs at least one arm", _FORMS)
    if features.shape[1] == 0:
        raise InvalidInput("arms", list(table.names), "have no features", _FORMS)
    largest = max(float(features.max()), -float(features.min()))  # NaN and infinity come through both
    if not largest <= LARGEST:
        arm, column = np.argwhere(~(np.abs(features) <= LARGEST))[0]
        reason = f"must be a finite number, at most {LARGEST:g} in size"
        field = f"arms[{table.names[arm]!r}][{column}]"
        raise InvalidInput(field, features[arm, column], reason, "Correct it, or leave the arm out.")
    if largest < SMALLEST:
        reason = f"is the largest feature in size; at least one must be {SMALLEST:g} or more"
        raise InvalidInput("arms", largest, reason, "Give at least one arm a feature other than zero.")
    return ArmTable(table.names, features + 0.0)


def _extra(module: str) -> ModuleType:
    """The module, which comes with the extra "frames"."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtra(module.partition(".")[0], "frames") from error
