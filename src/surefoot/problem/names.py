"""The names of the arms, which cost next to nothing until they are used: there may be a million of them.

Arms that were given none are called a1, a2, ..., and each such name is made when it is asked for. Names that were given
are one text, cut where it is asked. Both are read like a tuple.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

FIRST = "a"  # of a name that nobody gave
SHOWN = 20  # names in a representation


class Names(Sequence[str]):
    """K names, each of its own, in the order of the arms."""

    __slots__ = ()

    @abstractmethod
    def find(self, name: object) -> int | None:
        """The place of this name, from 0; None where no arm has it."""

    @abstractmethod
    def _at(self, place: int) -> str:
        """The name in this place, which exists."""

    @overload
    def __getitem__(self, place: SupportsIndex) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[str, ...]: ...
    def __getitem__(self, place: SupportsIndex | slice) -> str | tuple[str, ...]:
        places = range(len(self))[place]
        return self._at(places) if isinstance(places, int) else tuple(map(self._at, places))

    def __iter__(self) -> Iterator[str]:
        return map(self._at, range(len(self)))

    def __contains__(self, name: object) -> bool:
        return self.find(name) is not None

    def index(self, name: Any, start: int = 0, stop: int | None = None) -> int:
        """The place of this name, from 0; ValueError where no arm has it."""
        found = self.find(name)
        if found is None or found not in range(len(self))[start:stop]:
            raise ValueError(f"{name!r} is not among the names")
        return found

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Names | tuple):
            return NotImplemented
        return len(self) == len(other) and all(one == another for one, another in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        few = ", ".join(repr(name) for name in islice(self, SHOWN))
        return f"({few}, ... {len(self):,} in all)" if len(self) > SHOWN else f"({few}{',' * (len(self) == 1)})"


class Numbered(Names):
    """a1, a2, ... as far as there are arms."""

    __slots__ = ("_count",)

    def __init__(self, count: int) -> None:
        self._count = count

    def __len__(self) -> int:
        return self._count

    def _at(self, place: int) -> str:
        return f"{FIRST}{place + 1}"

    def find(self, name: object) -> int | None:
        """The place that the name says."""
        if not isinstance(name, str) or len(name) > len(self._at(self._count)):
            return None
        digits = name.removeprefix(FIRST)
        place = int(digits) - 1 if digits.isascii() and digits.isdecimal() else -1
        return place if 0 <= place < self._count and name == self._at(place) else None

    def __eq__(self, other: object) -> bool:
        return self._count == other._count if isinstance(other, Numbered) else Names.__eq__(self, other)

    __hash__ = Names.__hash__


class Given(Names):
    """Names that somebody gave; which name is where is sorted out when the first is looked up."""

    __slots__ = ("_ends", "_found", "_text")

    def __init__(self, names: Sequence[str]) -> None:
        written = [name.encode("utf-8", "surrogatepass") for name in names]
        self._text = b"".join(written)
        self._ends: NDArray[np.int64] = np.cumsum(np.fromiter(map(len, written), np.int64, len(written)))
        self._found: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None

    def __len__(self) -> int:
        return len(self._ends)

    def _at(self, place: int) -> str:
        first = int(self._ends[place - 1]) if place else 0
        return self._text[first : int(self._ends[place])].decode("utf-8", "surrogatepass")

    def find(self, name: object) -> int | None:
        """The place of this name, by its hash."""
        if not isinstance(name, str):
            return None
        if self._found is None:
            hashes = hashes_of(self)
            order = np.argsort(hashes, kind="stable")
            self._found = hashes[order], order
        hashes, order = self._found
        its = hash(str(name))
        first, after = np.searchsorted(hashes, its, "left"), np.searchsorted(hashes, its, "right")
        return next((int(place) for place in order[first:after] if self._at(int(place)) == name), None)

    def __reduce__(self) -> tuple[Any, ...]:
        return Given, (tuple(self),)  # hashes are others in another process


def hashes_of(names: Sequence[str]) -> NDArray[np.int64]:
    """The hash of each name; equal names have equal ones in one process."""
    return np.fromiter(map(hash, names), np.int64, len(names))


def repeated_in(names: Sequence[str]) -> str | None:
    """The first name that stands there for the second time, if there is one."""
    hashes = np.sort(hashes_of(names))
    if not (hashes[1:] == hashes[:-1]).any():
        return None
    seen: set[str] = set()
    return next((name for name in names if name in seen or seen.add(name)), None)  # type: ignore[func-returns-value]
