"""Arms from files: CSV and Parquet tables with a column "name" and columns of marks, and rows in numpy's own form.

Whatever the file, no more is in memory than the arms and a part of the file beside them; rows in a .npy file are not
read at all, but mapped: they stay in the file, and the system fetches what is looked at.
"""

from __future__ import annotations

import csv
import io
import os
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.errors import InvalidInput, counted
from surefoot.files import as_path, read_text
from surefoot.problem.arm_frames import Columns, Held, columns_of, extra, read_frame
from surefoot.problem.checks import Floats, in_one_piece
from surefoot.problem.marked_arms import Marks, marks_in

NPY = ".npy"
BATCH = 65_536  # rows of a Parquet file that are read at a time


def read_arms_file(path: object) -> Held:
    """The arms in a CSV or Parquet file."""
    place = as_path("arms", path)
    suffix = place.suffix.lower()
    if suffix == ".csv":
        return read_csv(place)
    if suffix == ".parquet":
        return read_parquet(place)
    raise InvalidInput("arms", str(path), "is of no known format", "Use a path that ends in .csv, .parquet or .npy.")


# -- numpy's own form -------------------------------------------------------------------------------------------------


def is_npy(source: object) -> bool:
    """Whether the source is the path of a file of rows without names."""
    return isinstance(source, str | os.PathLike) and as_path("arms", source).suffix.lower() == NPY


def mapped_rows(path: object) -> np.memmap[Any, Any]:
    """The numbers in a .npy file, which stay there; nothing in it is ever unpickled."""
    place = as_path("arms", path)
    try:
        return np.lib.format.open_memmap(place, mode="r")
    except Exception as error:  # numpy refuses broken headers in many ways
        detail = " ".join(str(error).split())[:200] or type(error).__name__
        remedy = "Check the path, and write the file with np.save(path, rows), rows of real numbers."
        raise InvalidInput("arms", str(path), f"cannot be read as a .npy file ({detail})", remedy) from error


def stays(features: np.ndarray[Any, Any]) -> bool:
    """Whether the features may stay where they are: nobody can write to them, for they are mapped from a file that is
    only read, or those of a problem."""
    flags, home = features.flags, features
    if features.dtype != np.float64 or not (flags.c_contiguous and flags.aligned) or flags.writeable:
        return False
    while isinstance(home, np.ndarray) and not (isinstance(home, np.memmap) and home.mode == "r"):
        home = home.base  # type: ignore[assignment]
    return isinstance(home, np.memmap | bytes)


# -- tables -----------------------------------------------------------------------------------------------------------


def read_csv(path: Path) -> Held:
    """The arms of a CSV file: a header line with a column "name", then one line for each arm."""
    lines = csv.reader(io.StringIO(read_text("arms", path), newline=""), strict=True)
    try:
        header = next((line for line in lines if line), [])
        columns = [column.strip() for column in header]
        places = columns_of(columns, str(path))
        names: list[object] = []
        marks: dict[str, list[object]] = {label: [] for label in places.marks}
        cells = array("d")
        for line in lines:
            if line:
                cells.extend(_csv_numbers(line, columns, places, f"{path}, line {lines.line_num}"))
                names.append(line[places.name])
                for label, i in places.marks.items():
                    marks[label].append(line[i])
    except csv.Error as error:
        reason = f"is not valid CSV: {error} (line {lines.line_num})"
        raise InvalidInput("arms", str(path), reason, "Mend that line.") from error
    features = np.frombuffer(cells, np.float64).reshape(len(names), len(places.features))
    return Held(names, features, marks_in(marks))


def _csv_numbers(line: list[str], columns: list[str], places: Columns, where: str) -> list[float]:
    """The features of one line."""
    if len(line) != len(columns):
        reason = f"has {counted(len(line), 'cell')} where the header has {counted(len(columns), 'column')}"
        raise InvalidInput(where, ",".join(line), reason, "Give every arm a number in every column.")
    cells = [line[i] for i in places.features]
    try:
        if any("_" in cell for cell in cells):
            raise ValueError  # Python reads 1_000 as a number; nobody means that in a table
        return [float(cell) for cell in cells]
    except ValueError:
        column, cell = next((columns[i], line[i]) for i in places.features if not _reads(line[i]))
        remedy = "Write numbers with a decimal point; drop columns that are no features."
        raise InvalidInput(f"{where}, column {column!r}", cell, "must be a number", remedy) from None


def _reads(cell: str) -> bool:
    """Whether the cell is a number."""
    try:
        return "_" not in cell and float(cell) is not None
    except ValueError:
        return False


def read_parquet(path: Path) -> Held:
    """The arms of a Parquet file, some rows at a time: it holds columns, and arms are rows."""
    parquet = extra("pyarrow.parquet")
    arrow = extra("pyarrow")
    names: list[object] = []
    try:
        file = parquet.ParquetFile(path, memory_map=True)  # the file alone, without guessing partitions from its folder
        places = columns_of(list(file.schema_arrow.names), str(path))
        pullable: dict[int, object] = {}
        safe_level: dict[int, object] = {}

        def parts() -> Iterator[Floats]:
            for batch in file.iter_batches(batch_size=BATCH):
                some, before = read_frame(arrow.Table.from_batches([batch]), str(path)), len(names)
                names.extend(some.names)
                pullable.update({before + k: mark for k, mark in some.marks.pullable.items()})
                safe_level.update({before + k: mark for k, mark in some.marks.safe_level.items()})
                yield some.features + 0.0  # minus zero becomes zero

        features = in_one_piece(parts(), (file.metadata.num_rows, len(places.features)))
        return Held(names, features, Marks(pullable, safe_level))
    except InvalidInput:
        raise
    except (OSError, ValueError) as error:  # what pyarrow raises for broken files are ValueErrors
        remedy = "Check the path and that the file is a Parquet file."
        raise InvalidInput("arms", str(path), f"cannot be read ({error})", remedy) from error
