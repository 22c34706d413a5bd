"""The history of a study as a file: CSV, Parquet, JSON, or JSON lines, written a few thousand rows at a time.

Every format holds the same rows and columns as `Study.history`. Numbers are the shortest text that reads back as the
same number, moments are ISO 8601 in UTC; what is not known is empty in CSV, null in JSON and Parquet. Texts are written
as they are: a text that begins with "=" is a formula to some spreadsheets, and is not changed for them.
"""

import json
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from math import isfinite
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import MissingExtra, StorageDamaged
from surefoot.plain_data import json_text
from surefoot.storage.protocol import Events
from surefoot.storage.store import open_store
from surefoot.studies.listing import FAULTS
from surefoot.studies.pull_columns import NEVER, Column, PullColumns
from surefoot.studies.rows import problem_in

AT_ONCE = 1_000  # rows
Write = Callable[[str], object]


def pulls_of(name: str, storage: str | None = None) -> PullColumns:
    """Every pull of the study of this name, as it is stored. The study is not opened: nothing is recomputed, its policy
    is not needed, and whether something was edited is for the audit to find out."""
    store = open_store(storage)
    identity, row, arms = store.find(name)

    def work(stored: Events) -> PullColumns:
        found = PullColumns(problem_in(row, arms))
        found.take(stored.after(0))
        return found

    try:
        return store.read(identity, name, work)
    except FAULTS as error:
        detail = f"holds a study {name!r} that cannot be read ({error})"
        raise StorageDamaged(str(store.address), detail) from error


def write_csv(pulls: PullColumns, write: Write) -> None:
    """A line of names, and a line for each pull (RFC 4180, but for line ends, which are those of Unix)."""
    for number, part in enumerate(parts_of(pulls)):
        if number == 0:
            write(",".join(fit_for_csv([column.name for column in part])) + "\n")
        write("".join(f"{line}\n" for line in map(",".join, zip(*map(cells, part), strict=True))))


def write_jsonl(pulls: PullColumns, write: Write) -> None:
    """An object for each pull, each on a line of its own."""
    for lines in objects(pulls):
        write("".join(line + "\n" for line in lines))


def write_json(pulls: PullColumns, write: Write, **about: Any) -> None:
    """One document: what there is to say about the study, and the pulls under `history`."""
    head = json_text(about).rstrip().removesuffix("}").rstrip()
    write(f'{head}{"," if about else ""}\n  "history": [')
    between = "\n    "
    for lines in objects(pulls):
        if lines:
            write(between + ",\n    ".join(lines))
            between = ",\n    "
    write("\n  ]\n}\n")


def write_parquet(pulls: PullColumns, file: BinaryIO) -> None:
    """A Parquet file, by pyarrow."""
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise MissingExtra("pyarrow", "frames") from None
    writer = None
    try:
        for part in parts_of(pulls):
            arrays = [arrow_array(arrow, column) for column in part]
            table = arrow.table(arrays, names=[column.name for column in part])
            writer = writer or parquet.ParquetWriter(file, table.schema)
            writer.write_table(table)
    finally:
        if writer is not None:
            writer.close()


def parts_of(pulls: PullColumns) -> Iterator[list[Column]]:
    """The columns of some rows, and of the next; at least one part, which may be empty."""
    for start in range(0, max(len(pulls), 1), AT_ONCE):
        yield pulls.columns(start, min(start + AT_ONCE, len(pulls)))


def cells(column: Column) -> list[str]:
    """The values of a column as CSV has them."""
    if column.words is not None:
        return fit_for_csv([word or "" for word in words_in(column)])
    if column.times:
        return [moment or "" for moment in moments(column)]
    if column.values.dtype == np.bool_:
        return ["true" if value else "false" for value in column.values.tolist()]
    if column.values.dtype == np.float64:
        return floats(column.values)
    return list(map(repr, column.values.tolist()))


def floats(values: NDArray[np.float64]) -> list[str]:
    """The numbers as text, empty for nan. Levels and margins stay the same for a while, and to write a number takes
    longer than to see that it is the one before: each is written once."""
    bits = values.view(np.int64)  # a zero may have a sign
    several = len(bits) > 1 and 2 * np.count_nonzero(bits[1:] != bits[:-1]) <= len(bits)
    if several:
        bits, places = np.unique(bits, return_inverse=True)
    written = list(map(repr, bits.view(np.float64).tolist()))
    if "nan" in written:
        written = ["" if text == "nan" else text for text in written]
    return [written[place] for place in places.tolist()] if several else written


def fit_for_csv(words: list[str]) -> list[str]:
    """The words, with quotes around those that would be taken for several cells or lines."""
    if not _SPECIAL.search("".join(words)):
        return words
    return ['"' + word.replace('"', '""') + '"' if _SPECIAL.search(word) else word for word in words]


_SPECIAL = re.compile('[",\\r\\n]')


def objects(pulls: PullColumns) -> Iterator[list[str]]:
    """The rows as JSON, some at a time."""
    for part in parts_of(pulls):
        names, values = [column.name for column in part], [plain_values(column) for column in part]
        yield [_encode(dict(zip(names, row, strict=True))) for row in zip(*values, strict=True)]


_encode = json.JSONEncoder(allow_nan=False).encode


def plain_values(column: Column) -> list[Any]:
    """The values of a column as JSON has them; numbers that it cannot write are null."""
    if column.words is not None:
        return words_in(column)
    if column.times:
        return moments(column)
    values = column.values.tolist()
    return [value if isfinite(value) else None for value in values] if column.values.dtype == np.float64 else values


def words_in(column: Column) -> list[str | None]:
    """The words of a column."""
    known, places = column.words or [], column.values
    if len(places) and (places == places[0]).all():  # as a rule
        return [known[places[0]]] * len(places)
    return [known[place] for place in places.tolist()]


def moments(column: Column) -> list[str | None]:
    """The moments of a column; None for those that have not come."""
    written = np.datetime_as_string(column.values.view("M8[us]"), timezone="UTC").tolist()
    return [None if value == NEVER else text for value, text in zip(column.values.tolist(), written, strict=True)]


def arrow_array(arrow: Any, column: Column) -> Any:
    """The values of a column as Parquet has them."""
    if column.words is not None:
        return arrow.array(words_in(column), arrow.string())
    if column.times:
        return arrow.array(column.values, arrow.timestamp("us", tz="UTC"), mask=column.values == NEVER)
    if column.values.dtype == np.float64:
        return arrow.array(column.values, mask=np.isnan(column.values))
    return arrow.array(column.values)
