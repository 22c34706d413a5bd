"""Grids: a table in which a list stands for its values in turn, and every choice of one value from each list."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import product
from math import prod
from typing import Any

from surefoot.errors import InvalidInput
from surefoot.plain_data import plain


class Grid:
    """The tables that a table with lists stands for.

    `listed` are the keys whose single value is itself a list: there a list of lists stands for its lists in turn.
    """

    def __init__(self, where: str, table: Mapping[str, Any], listed: Collection[str] = ()) -> None:
        self._values = {key: values_of(f"{where}.{key}" if where else key, table[key], key in listed) for key in table}

    def __len__(self) -> int:
        return prod(len(values) for values in self._values.values())

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for chosen in product(*self._values.values()):
            yield dict(zip(self._values, chosen, strict=True))


def values_of(field: str, value: Any, listed: bool = False) -> list[Any]:
    """The values in turn: those of a list, or the one that is given."""
    if not isinstance(value, list | tuple) or (listed and not all(isinstance(item, list | tuple) for item in value)):
        return [value]
    if not value:
        raise InvalidInput(field, value, "is a list without a value to try", "Give one or more, or leave it out.")
    seen: list[Any] = []
    for item in value:
        same = plain_or_itself(item)
        if any(type(same) is type(other) and same == other for other in seen):
            raise InvalidInput(field, value, f"holds {item!r} twice", "Keep one of the two.")
        seen.append(same)
    return list(value)


def plain_or_itself(value: Any) -> Any:
    """The value as plain data where it is that, so that equal ones compare equal."""
    try:
        return plain(value)
    except TypeError:
        return value
