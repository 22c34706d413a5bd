"""A number for each arm, to be read by name: one array and the problem's names, however many arms there are."""

from collections.abc import Iterator, Mapping, ValuesView
from itertools import islice
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from surefoot.problem.names import Names

Number = TypeVar("Number", float, int)
SHOWN = 20  # arms in a representation


class ByArm(Mapping[str, Number]):
    """The numbers of K arms, in the order of the problem."""

    __slots__ = ("array", "names")

    def __init__(self, names: Names, array: NDArray[Any]) -> None:
        self.names, self.array = names, array

    def __getitem__(self, name: str) -> Number:
        place = self.names.find(name)
        if place is None:
            raise KeyError(name)
        found: Number = self.array[place].item()
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def values(self) -> ValuesView[Number]:
        """The numbers, without looking up one name after the other."""
        return InOrder(self)

    def plain(self) -> dict[str, Number]:
        """As a dict, which holds every name."""
        return dict(zip(self.names, self.array.tolist(), strict=True))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ByArm):
            same = self.names == other.names
            return same and bool(np.array_equal(self.array, other.array))
        return self.plain() == other

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = zip(islice(self, SHOWN), self.array[:SHOWN].tolist(), strict=True)
        few = ", ".join(f"{name!r}: {number!r}" for name, number in shown)
        return f"{{{few}, ... {len(self):,} in all}}" if len(self) > SHOWN else f"{{{few}}}"


class InOrder(ValuesView[Number]):
    """The numbers in the order of the arms."""

    _mapping: ByArm[Number]

    def __iter__(self) -> Iterator[Number]:
        return iter(self._mapping.array.tolist())
