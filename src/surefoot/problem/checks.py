"""Checked values: what a user passed, as the plain value that was meant, or an `InvalidInput` that names it."""

from __future__ import annotations

import difflib
import io
import math
import numbers
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.characters import is_printable
from surefoot.errors import ABSENT, InvalidInput, counted

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

LARGEST = 1e100  # squares and their sums stay far from overflow below this,
SMALLEST = 1e-100  # and far from vanishing above this
LONGEST_NAME = 200
ROWS = 16_384  # of a large table that are worked on at a time
MOST_WORKERS, A_CORE = 64, 4  # of any machine, and for each core where that is more: others would only wait

_PLAIN_NUMBERS = {int, float, np.float64}  # exact types: a bool is an int by inheritance only


def number(
    field: str,
    value: object,
    remedy: str,
    *,
    above: float | None = None,
    at_least: float | None = None,
    below: float | None = None,
    at_most: float | None = None,
) -> float:
    """The value as a float inside the bounds; booleans, text, complex and non-finite numbers are refused."""
    result = _as_float(value)
    fits = (
        math.isfinite(result)
        and (above is None or result > above)
        and (at_least is None or result >= at_least)
        and (below is None or result < below)
        and (at_most is None or result <= at_most)
    )
    if not fits:
        words = {"above": above, "at least": at_least, "below": below, "at most": at_most}
        bounds = " and ".join(f"{word} {bound:g}" for word, bound in words.items() if bound is not None)
        raise InvalidInput(field, value, "must be a finite number" + (f", {bounds}" if bounds else ""), remedy)
    if abs(result) > LARGEST:
        raise InvalidInput(field, value, f"is beyond {LARGEST:g}, where squares overflow", "Change the units.")
    return result + 0.0  # minus zero becomes zero, so that equal values have equal bytes


def positive(field: str, value: object, remedy: str) -> float:
    """The value as a float above 0, neither so small nor so large that its square is lost."""
    result = number(field, value, remedy, above=0.0)
    if result < SMALLEST:
        raise InvalidInput(field, value, f"is below {SMALLEST:g}, where squares vanish", "Change the units.")
    return result


def vector(field: str, value: object, remedy: str) -> Floats:
    """The value, a flat sequence or array of numbers, as a float array; finiteness is the caller's to check."""
    if isinstance(value, list | tuple) and set(map(type, value)) <= _PLAIN_NUMBERS:
        try:
            return np.array(value, dtype=np.float64)
        except OverflowError:
            pass  # an integer beyond every float: the careful way below names it
    if isinstance(value, list | tuple | range):
        remedy_each = "Give plain numbers only."
        return np.array([number(f"{field}[{i}]", item, remedy_each) for i, item in enumerate(value)], dtype=np.float64)
    return array(field, value, remedy, dimensions=1)


def array(field: str, value: object, remedy: str, *, dimensions: int) -> Floats:
    """The numpy array, or what converts itself to one, as floats with the wanted number of dimensions."""
    with np.errstate(over="ignore"):  # a wider float may become infinite here; the caller refuses that by name
        return real_numbers(field, value, remedy, dimensions=dimensions).astype(np.float64)


def real_numbers(field: str, value: object, remedy: str, *, dimensions: int) -> NDArray[Any]:
    """The numpy array, or what converts itself to one, of real numbers of whatever type, and not copied."""
    if not hasattr(value, "__array__"):
        raise InvalidInput(field, value, "must be a sequence of numbers", remedy)
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise InvalidInput(field, value, "has masked entries, which hold no number", "Fill or drop them first.")
    try:
        result = np.asarray(value)
    except Exception as error:  # foreign arrays may refuse in their own ways, for example when they live on a GPU
        raise InvalidInput(field, value, f"does not convert to a numpy array ({error})", remedy) from error
    if result.ndim != dimensions:
        raise InvalidInput(field, value, f"has {counted(result.ndim, 'dimension')}, not {dimensions}", remedy)
    if result.dtype.kind not in "iuf":
        raise InvalidInput(field, value, f"holds {result.dtype} where real numbers are needed", "Convert it to floats.")
    return result


def per_arm(field: str, value: object, names: Sequence[str], remedy: str) -> Floats:
    """One number per arm, from one number for all, a sequence in the order of the arms, or a mapping by name."""
    if isinstance(value, Mapping):
        known_keys(field, value, names)
        missing = next((name for name in names if name not in value), None)
        if missing is not None:
            raise InvalidInput(f"{field}[{missing!r}]", ABSENT, "a mapping must hold every arm", remedy)
        return vector(field, [value[name] for name in names], remedy)
    if (isinstance(value, Sequence) and not isinstance(value, str | bytes)) or getattr(value, "shape", ()) != ():
        result = vector(field, value, remedy)
        if len(result) != len(names):
            reason = f"holds {counted(len(result), 'entry', 'entries')} for {counted(len(names), 'arm')}"
            raise InvalidInput(field, value, reason, remedy)
        return result
    return np.full(len(names), number(field, value, remedy), dtype=np.float64)


def flag_per_arm(field: str, value: object, names: Sequence[str], remedy: str) -> Flags:
    """True or False per arm, from one for each in the order of the arms, or a mapping by name that may leave out arms
    for which it is True."""
    if isinstance(value, Mapping):
        known_keys(field, value, names)
        value = [value.get(name, True) for name in names]
    listed = value.tolist() if isinstance(value, np.ndarray) else value
    if not isinstance(listed, list | tuple) or len(listed) != len(names):
        raise InvalidInput(field, value, f"must hold True or False for each of {counted(len(names), 'arm')}", remedy)
    for name, each in zip(names, listed, strict=True):
        if not isinstance(each, bool | np.bool_):
            raise InvalidInput(f"{field} of arm {name!r}", each, "must be True or False", remedy)
    return np.array(listed, dtype=np.bool_)


def check_count(field: str, value: object, remedy: str = "For example 1000.", most: int = 10**15) -> int:
    """The value as a whole number of at least 1, and not more than anybody can mean."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise InvalidInput(field, value, "must be a whole number, at least 1", remedy)
    if value > most:
        raise InvalidInput(field, value, f"must be at most {most:,}", remedy)
    return int(value)


def check_workers(workers: object, field: str = "workers") -> int | None:
    """How many threads or processes work; None for as many as there are cores."""
    if workers is None:
        return None
    most = max(MOST_WORKERS, A_CORE * (os.cpu_count() or 1))
    return check_count(field, workers, "For example 4; leave it out for all cores.", most)


def check_seed(seed: object, field: str = "seed") -> int:
    """The seed as a whole number that compiled code can read."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed < 2**62:
        raise InvalidInput(field, seed, "must be a whole number, at least 0 and below 2^62", "For example 7.")
    return int(seed)


def text(field: str, value: object, remedy: str) -> str:
    """The value as a name: not empty, at most 200 characters, no line breaks, no space at either end."""
    if not isinstance(value, str):
        raise InvalidInput(field, value, "must be text", remedy)
    name = str(value)
    if not name or name != name.strip() or len(name) > LONGEST_NAME or not is_printable(name):
        reason = (
            f"must be 1 to {LONGEST_NAME} characters, without line breaks or other control characters, "
            "and without space at either end"
        )
        raise InvalidInput(field, value, reason, remedy)
    return name


def known_keys(
    where: str, table: Mapping[str, object], allowed: Collection[str], hints: Mapping[str, str] | None = None
) -> None:
    """Nothing, when every key is an allowed one; otherwise the first that is not is refused, with the likely word."""
    unknown = next((key for key in table if not isinstance(key, str) or key not in allowed), None)
    if unknown is not None:
        field = f"{where}[{unknown!r}]" if where else key_as_field(unknown)
        raise InvalidInput(field, table[unknown], "is not a known key", did_you_mean(unknown, allowed, hints))


def did_you_mean(word: object, allowed: Collection[str], hints: Mapping[str, str] | None = None) -> str:
    """A sentence that offers the nearest allowed word, or a few of those that exist."""
    if hints and isinstance(word, str) and word in hints:
        return f"Did you mean {hints[word]}?"
    if isinstance(word, str) and len(allowed) <= 5_000:
        folded = {candidate.casefold(): candidate for candidate in allowed}
        near = difflib.get_close_matches(word.casefold(), folded, n=1)
        if near:
            return f"Did you mean {folded[near[0]]!r}?"
    some = [repr(candidate) for candidate in islice(allowed, 20)]
    return f"Known: {', '.join(some)}{', ...' if len(allowed) > len(some) else ''}."


def key_as_field(key: object) -> str:
    """The key as an error shows it: bare when it is a plain word."""
    return key if isinstance(key, str) and key.isidentifier() else repr(key)


def frozen(values: Floats) -> Floats:
    """A copy that nobody can write to: its memory is a bytes object."""
    return in_one_piece([np.asarray(values, np.float64)], values.shape)


def some_rows(table: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """The table, some rows after the other."""
    return (table[first : first + ROWS] for first in range(0, len(table), ROWS))


def in_one_piece(parts: Iterable[Floats], shape: tuple[int, ...]) -> Floats:
    """The rows of these parts, one after the other, as an array that nobody can write to. Each part is gone before the
    next is asked for, so no more than one of them is there beside the whole."""
    content = io.BytesIO()  # what it holds in the end is handed over and not copied
    for part in parts:
        content.write(np.ascontiguousarray(part).data)
    return np.frombuffer(content.getvalue(), dtype=np.float64).reshape(shape)


def _as_float(value: object) -> float:
    """The real number as a float, NaN for what is none, infinity for integers beyond every float."""
    if isinstance(value, np.ndarray) and value.shape == () and value.dtype.kind in "iuf":
        value = value.item()
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        return math.nan
    try:
        return float(value)
    except (OverflowError, ValueError):
        return math.inf
