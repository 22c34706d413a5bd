"""Runs and tables as Parquet, bit for bit: every number comes back as it was, and a changed byte is noticed."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.errors import MissingExtra
from surefoot.plain_data import plain
from surefoot.results import OUTCOMES
from surefoot.sweeping.cells import PER_ARM, Columns

MAGIC = b"PAR1"  # what the format begins and ends with
CODES = {word: code for code, word in OUTCOMES.items()}


def check_installed() -> None:
    """Refuses by name, before any work, where Parquet cannot be written."""
    if find_spec("pyarrow") is None:
        raise MissingExtra("pyarrow", "frames")


def runs_as_bytes(columns: Columns) -> bytes:
    """The columns of some runs, a row for each; what there is for each arm is a list in its row."""
    pa = import_module("pyarrow")

    def column(name: str, values: Any) -> Any:
        if name == "outcome":
            return pa.array([OUTCOMES[int(code)] for code in values], pa.string())
        if name in PER_ARM:
            rows, arms = values.shape
            offsets = pa.array(np.arange(rows + 1, dtype=np.int32) * arms, pa.int32())
            return pa.ListArray.from_arrays(offsets, pa.array(values.reshape(-1)))
        return pa.array(values)

    return as_bytes(pa.table({name: column(name, values) for name, values in columns.items()}))


def runs_in(path: Path, names: Sequence[str]) -> Columns:
    """These columns of the runs in the file; ValueError, KeyError or OSError where it is not as it was written."""
    # In this thread, by a file of Arrow: its threads may still read a file of Python as the process ends, and abort it.
    file = import_module("pyarrow.parquet").ParquetFile(str(path), page_checksum_verification=True)
    with file:
        table = file.read(columns=list(names), use_threads=False)
    found: Columns = {}
    for name in names:
        values = table.column(name).combine_chunks()
        if name == "outcome":
            found[name] = np.array([CODES[word] for word in values.to_pylist()], np.int64)
        elif name in PER_ARM:
            flat = values.flatten().to_numpy(zero_copy_only=False)
            found[name] = flat.reshape(len(values), -1)
        else:
            found[name] = values.to_numpy(zero_copy_only=False)
    return found


def table_as_bytes(rows: Sequence[Mapping[str, Any]]) -> tuple[bytes, bytes]:
    """Rows of numbers and texts as Parquet and as CSV, with a column for every name that some row has."""
    pa, csv = import_module("pyarrow"), import_module("pyarrow.csv")
    names = list(dict.fromkeys(name for row in rows for name in row))
    table = pa.table({name: column_of([row.get(name) for row in rows]) for name in names})
    text = pa.BufferOutputStream()
    csv.write_csv(table, text)
    return as_bytes(table), text.getvalue().to_pybytes()


def rows_in(path: Path) -> list[dict[str, Any]]:
    """The rows of such a table again; none where there is no table, or something else has damaged it."""
    try:
        with import_module("pyarrow.parquet").ParquetFile(str(path), page_checksum_verification=True) as file:
            found: list[dict[str, Any]] = file.read(use_threads=False).to_pylist()
    except (ValueError, OSError):
        return []
    return found


def column_of(values: Sequence[Any]) -> Any:
    """The values as one column; lists, tables, and words among numbers are written as JSON."""
    pa = import_module("pyarrow")
    simple = [plain(value) for value in values]
    kinds = {type(value) for value in simple if value is not None}
    if kinds <= {int, float} or (len(kinds) == 1 and kinds <= {bool, str}):
        return pa.array(simple, pa.float64() if kinds == {int, float} else None)
    texts = [value if value is None or isinstance(value, str) else json.dumps(value) for value in simple]
    return pa.array(texts, pa.string())


def as_bytes(table: Any) -> bytes:
    """The table as the content of a file; the same table gives the same bytes."""
    content = import_module("pyarrow").BufferOutputStream()
    import_module("pyarrow.parquet").write_table(table, content, compression="zstd", write_page_checksum=True)
    found: bytes = content.getvalue().to_pybytes()
    return found


def is_whole(path: Path) -> bool:
    """Whether the file begins and ends as the format says: one that breaks off does not."""
    try:
        with path.open("rb") as file:
            begins = file.read(len(MAGIC)) == MAGIC
            file.seek(-len(MAGIC), io.SEEK_END)
            return begins and file.read() == MAGIC
    except OSError:  # gone, or shorter than that
        return False
