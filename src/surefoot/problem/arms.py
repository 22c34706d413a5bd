"""Arms from whatever holds them: an array, a mapping of names, a data frame, or a file.

A table of arms has one column "name" and may have columns "pullable" and "safe_level" with marks; every other column is
a feature, in the order of the columns.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import InvalidInput, counted
from surefoot.problem.arm_files import is_npy, mapped_rows, read_arms_file, stays
from surefoot.problem.arm_frames import Held, is_frame, read_frame
from surefoot.problem.checks import LARGEST, SMALLEST, Floats, in_one_piece, real_numbers, some_rows, text, vector
from surefoot.problem.marked_arms import Marks, unmarked
from surefoot.problem.names import Given, Names, Numbered, repeated_in

_FORMS = "Pass one row of features for each arm, for example [[1, 0], [0, 1]] or {'low': [1, 0], 'high': [0, 1]}."
_NAMING = "Give every arm a short name of its own."


class ArmTable(NamedTuple):
    """The arms: K names and as many rows of features."""

    names: Names
    features: NDArray[Any]  # (K, D) real numbers; once they are checked, floats that nobody can write to
    marks: Marks = Marks()


def read_arms(source: object, names: object = None) -> ArmTable:
    """The arms that the source holds, checked: named, finite, of equal length, not all zero. Marks are not checked."""
    source, marks = unmarked(source)
    if is_npy(source):
        source = mapped_rows(source)
    if names is not None and (isinstance(source, Mapping | str | os.PathLike) or is_frame(source)):
        raise InvalidInput("names", names, "must be left out when the arms bring their own names", "Drop names=.")
    if isinstance(source, str | os.PathLike):
        table = _of_table(read_arms_file(source))
    elif isinstance(source, Mapping):
        table = _from_mapping(source)
    elif is_frame(source):
        table = _of_table(read_frame(source))
    else:
        table = _from_rows(source, names)
    return _checked(table if table.marks != Marks() else table._replace(marks=marks))


def renamed(table: ArmTable, names: object) -> ArmTable:
    """The same arms under other names."""
    return table._replace(names=_given_names(names, len(table.names)))


def _of_table(held: Held) -> ArmTable:
    """The arms of a table that brings their names."""
    return ArmTable(_distinct(held.names), held.features, held.marks)


def _from_mapping(source: Mapping[object, object]) -> ArmTable:
    """The arms of a mapping from name to features."""
    names = _distinct(list(source))
    return ArmTable(names, _stacked(list(source.values()), [f"arms[{name!r}]" for name in names]))


def _from_rows(source: object, names: object) -> ArmTable:
    """The arms of a two-dimensional array or a sequence of rows; without names they are a1, a2, ..."""
    if isinstance(source, Sequence) and not isinstance(source, str | bytes | bytearray | memoryview):
        features = _stacked(list(source), [f"arms[{i}]" for i in range(len(source))])
    else:
        features = real_numbers("arms", source, _row_advice(source), dimensions=2)
    if names is None:
        return ArmTable(Numbered(len(features)), features)
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


def _given_names(names: object, count: int) -> Names:
    """The names that were passed beside the arms, one for each."""
    if isinstance(names, Names) and len(names) == count:
        return names
    if isinstance(names, str) or not (isinstance(names, Sequence) or getattr(names, "ndim", 0) == 1):
        raise InvalidInput("names", names, "must be a list of texts", _NAMING)
    listed = list(names)  # type: ignore[call-overload]
    if len(listed) != count:
        raise InvalidInput("names", names, f"holds {counted(len(listed), 'name')} for {counted(count, 'arm')}", _NAMING)
    return _distinct(listed)


def _distinct(names: list[object]) -> Names:
    """The names, each a proper one and none twice."""
    checked = [text(f"name of arm {i}", name, _NAMING) for i, name in enumerate(names, start=1)]
    repeated = repeated_in(checked)
    if repeated is not None:
        raise InvalidInput("names", repeated, "names two arms", _NAMING)
    return Given(checked)


def _checked(table: ArmTable) -> ArmTable:
    """The same arms, once it is sure that their numbers can be computed with; minus zero becomes zero."""
    features = table.features
    if features.shape[0] == 0:
        raise InvalidInput("arms", [], "a problem needs at least one arm", _FORMS)
    if features.shape[1] == 0:
        raise InvalidInput("arms", table.names, "have no features", _FORMS)
    largest = max(float(features.max()), -float(features.min()))  # NaN and infinity come through both
    if not largest <= LARGEST:
        arm, column, value = _first_wrong(features)
        reason = f"must be a finite number, at most {LARGEST:g} in size"
        field = f"arms[{table.names[arm]!r}][{column}]"
        raise InvalidInput(field, value, reason, "Correct it, or leave the arm out.")
    if largest < SMALLEST:
        reason = f"is the largest feature in size; at least one must be {SMALLEST:g} or more"
        raise InvalidInput("arms", largest, reason, "Give at least one arm a feature other than zero.")
    return table._replace(features=_held(features))


def _first_wrong(features: NDArray[Any]) -> tuple[int, int, float]:
    """Arm, column and value of the first number that cannot be computed with."""
    first = 0
    for rows in some_rows(features):
        values = _as_floats(rows)
        wrong = np.argwhere(~(np.abs(values) <= LARGEST))
        if len(wrong):
            arm, column = wrong[0].tolist()
            return first + arm, column, float(values[arm, column])
        first += len(rows)
    raise ValueError("there is none")


def _held(features: NDArray[Any]) -> Floats:
    """The features as nobody can change them: where they are, or copied once."""
    if stays(features):
        return np.asarray(features)
    return in_one_piece((_as_floats(rows) + 0.0 for rows in some_rows(features)), features.shape)


def _as_floats(rows: NDArray[Any]) -> Floats:
    """The rows as floats; a wider one may become infinite."""
    with np.errstate(over="ignore"):
        return np.asarray(rows, dtype=np.float64)
