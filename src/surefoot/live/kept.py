"""What a ledger keeps of very many pulls, in columns of plain numbers: a million of them take up some fifty megabytes
and not a gigabyte."""

from array import array
from bisect import bisect_right
from typing import NamedTuple, Self, TypeAlias

import numpy as np

from surefoot.core.loop import LEARNED
from surefoot.core.records import Script
from surefoot.live.readings import internal
from surefoot.live.scripts import as_script
from surefoot.problem import Problem
from surefoot.problem.checks import Floats

Told: TypeAlias = tuple[float, float, bytes]  # level, reward, readings


class HistoryNeeded(Exception):
    """What is asked about lies before all that is at hand: the whole history is to be read for it."""


class Kept(NamedTuple):
    """A result that was entered."""

    arm: int
    result: Told
    since: int  # the last pull that was asked for without it


class Runs:
    """Whole numbers that were added in rising order, as runs without a gap: a table of a million rows is one."""

    def __init__(self) -> None:
        self.first, self.after = array("q"), array("q")

    def begin(self, first: int, count: int) -> None:
        """A run of its own, of so many numbers."""
        self.first.append(first)
        self.after.append(first + count)

    def add(self, number: int) -> None:
        """One number more, in the run that it goes on with, or in a new one."""
        if self.after and self.after[-1] == number:
            self.after[-1] = number + 1
        else:
            self.begin(number, 1)

    def run_of(self, number: int) -> int | None:
        """The first number of the run that it is in."""
        place = self._place(number)
        return None if place is None else self.first[place]

    def first_outside(self, number: int) -> int:
        """The first number from this one on that is in no run."""
        while (place := self._place(number)) is not None:
            number = self.after[place]
        return number

    def last_outside(self, number: int) -> int:
        """The last number up to this one that is in no run."""
        while (place := self._place(number)) is not None:
            number = self.first[place] - 1
        return number

    def _place(self, number: int) -> int | None:
        place = bisect_right(self.first, number) - 1
        return place if place >= 0 and number < self.after[place] else None

    def __contains__(self, number: int) -> bool:
        return self.run_of(number) is not None

    def __bool__(self) -> bool:
        return bool(self.first)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Runs) and (self.first, self.after) == (other.first, other.after)

    __hash__ = None  # type: ignore[assignment]  # it grows


class KeptResults:
    """The results that were entered, in that order, each also to be found by its number.

    It may hold a part of them alone (`complete` is False then): whoever asks for another is told so by name.
    """

    def __init__(self, limits: int) -> None:
        self._width = 8 * limits
        self.complete = True
        self.numbers = array("q")
        self._arms, self._since = array("q"), array("q")
        self._levels, self._rewards = array("d"), array("d")
        self._readings = bytearray()
        self._places = array("i")  # by number: the place and 1, or 0

    def append(self, number: int, arm: int, result: Told, since: int) -> None:
        """One result more; it is one that can be told (`is_result`)."""
        level, reward, readings = result
        self._put(number, len(self.numbers) + 1)
        self.numbers.append(number)
        self._arms.append(arm)
        self._levels.append(level)
        self._rewards.append(reward)
        self._since.append(since)
        self._readings += readings

    def get(self, number: int) -> Kept | None:
        """The result of this pull, if it is here; HistoryNeeded where it may lie before all that is."""
        place = self._place(number)
        if place is not None:
            return self._at(place)
        if not self.complete:
            raise HistoryNeeded
        return None

    def replace(self, number: int, result: Told) -> None:
        """Another result of the same pull."""
        place = self._place(number)
        if place is None:
            raise HistoryNeeded
        self._levels[place], self._rewards[place], readings = result
        self._readings[self._width * place : self._width * (place + 1)] = readings

    def remove(self, number: int) -> int:
        """Takes one out; at which place it was."""
        place = self._place(number)
        if place is None:
            raise HistoryNeeded
        for column in (self.numbers, self._arms, self._levels, self._rewards, self._since):
            del column[place]
        del self._readings[self._width * place : self._width * (place + 1)]
        self._places[number] = 0
        later = np.frombuffer(self.numbers, np.int64)[place:]
        np.frombuffer(self._places, np.intc)[later] -= 1
        return place

    def cut(self, count: int) -> list[tuple[int, Kept]]:
        """Takes out, and returns, all but the first so many."""
        self.need_all()
        rest = [(self.numbers[place], self._at(place)) for place in range(count, len(self.numbers))]
        for number, _ in rest:
            self._places[number] = 0
        for column in (self.numbers, self._arms, self._levels, self._rewards, self._since):
            del column[count:]
        del self._readings[self._width * count :]
        return rest

    def need_all(self) -> None:
        """Nothing, where every result is at hand."""
        if not self.complete:
            raise HistoryNeeded

    def only(self, numbers: "array[int]") -> Self:
        """Those of these pulls alone, in this order."""
        found = type(self)(self._width // 8)
        found.complete = False
        for number in numbers:
            place = self._place(number)
            if place is not None:
                found.append(number, *self._at(place))
        return found

    def columns(self) -> tuple["array[int]", "array[int]", "array[float]", "array[float]", "array[int]", bytes]:
        """Numbers, arms, levels, rewards, since when each counts, and readings."""
        return self.numbers, self._arms, self._levels, self._rewards, self._since, bytes(self._readings)

    @classmethod
    def of_columns(
        cls, limits: int, numbers: "array[int]", arms: "array[int]", levels: "array[float]", rewards: "array[float]",
        since: "array[int]", readings: bytes,
    ) -> Self:  # fmt: skip
        """A part of the results, from their columns."""
        found = cls(limits)
        found.complete = False
        for i, number in enumerate(numbers):
            its = readings[found._width * i : found._width * (i + 1)]
            found.append(number, arms[i], (levels[i], rewards[i], its), since[i])
        return found

    def script(self, problem: Problem, count: int, but: int = 0) -> tuple[Script, "array[int]"]:
        """The first so many results as a script that takes them in, and their numbers; one may be left out."""
        self.need_all()
        rows = np.arange(count)
        left = self._place(but)
        if left is not None and left < count:
            rows = np.delete(rows, left)
        readings = internal(problem, bytes(self._readings), len(self.numbers))
        observed = np.column_stack([self._floats(self._rewards)[rows], readings[rows]])
        levels, arms = self._floats(self._levels)[rows], np.array(self._arms, np.int64)[rows]
        steps = np.full(len(rows), LEARNED, np.int64)
        numbers = array("q", np.array(self.numbers, np.int64)[rows].tobytes())
        return as_script(steps, np.arange(len(rows)), arms, levels, levels, observed), numbers

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KeptResults) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]  # it grows

    @staticmethod
    def _floats(column: "array[float]") -> Floats:
        return np.array(column, np.float64)

    def _place(self, number: int) -> int | None:
        place = self._places[number] - 1 if 0 <= number < len(self._places) else -1
        return place if place >= 0 else None

    def _put(self, number: int, place: int) -> None:
        missing = number + 1 - len(self._places)
        if missing > 0:
            self._places.frombytes(bytes(self._places.itemsize * missing))
        self._places[number] = place

    def _at(self, place: int) -> Kept:
        readings = bytes(self._readings[self._width * place : self._width * (place + 1)])
        return Kept(self._arms[place], (self._levels[place], self._rewards[place], readings), self._since[place])
