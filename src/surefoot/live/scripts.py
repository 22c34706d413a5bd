"""Stored events as a script for the session: what was asked, taken in and given up, in columns."""

import numpy as np

from surefoot.core.replay import ASKED, DROPPED, FOLDED, Script
from surefoot.problem import Problem
from surefoot.problem.checks import Floats
from surefoot.studies import events


class Story:
    """Events on their way into a script: columns of plain values, since there may be very many."""

    def __init__(self) -> None:
        self.numbers: list[int] = []  # of each row; the following are its arm and the level that was asked for
        self._arm: list[int] = []
        self._asked: list[float] = []
        self._row: dict[int, int] = {}
        self._step: list[int] = []
        self._pull: list[int] = []
        self._rows: list[int] = []  # those with a result, in the order in which they were taken in
        self._levels: list[float] = []
        self._rewards: list[float] = []
        self._readings: list[bytes] = []

    @property
    def matters(self) -> bool:
        """Whether anything was learned or is to be compared."""
        return bool(self._rows) or ASKED in self._step

    def opened(self, number: int, arm: int, level: float, step: int) -> None:
        """A pull was given out, now or before."""
        row = self._row[number] = len(self.numbers)
        self.numbers.append(number)
        self._arm.append(arm)
        self._asked.append(level)
        self._step.append(step)
        self._pull.append(row)

    def folded(self, number: int, level: float, reward: float, readings: bytes) -> None:
        """A result was taken in."""
        row = self._row[number]
        self._rows.append(row)
        self._levels.append(level)
        self._rewards.append(reward)
        self._readings.append(readings)
        self._step.append(FOLDED)
        self._pull.append(row)

    def dropped(self, number: int) -> None:
        """A pull was given up."""
        self._step.append(DROPPED)
        self._pull.append(self._row[number])

    def script(self, problem: Problem) -> tuple[Script, int | None]:
        """The script, and the first pull whose numbers cannot be, if there is one."""
        count, limits = len(self.numbers), len(problem.safety)
        applied, observed = np.zeros(count), np.zeros((count, 1 + limits))
        rows = np.array(self._rows, np.int64)
        try:
            applied[rows] = self._levels
            observed[rows, 0] = self._rewards
            observed[rows, 1:] = internal(problem, b"".join(self._readings))
            sound = np.isfinite(observed[rows]).all(axis=1) & (applied[rows] >= 0.0) & (applied[rows] <= 1.0)
        except (TypeError, ValueError):
            told = zip(self._levels, self._rewards, self._readings, strict=True)
            sound = np.array([is_result(*each, limits) for each in told])
        broken = None if sound.all() else self.numbers[rows[np.argmin(sound)]]
        step, pull = np.array(self._step, np.int64), np.array(self._pull, np.int64)
        return Script(step, pull, np.array(self._arm, np.int64), np.array(self._asked), applied, observed), broken


def internal(problem: Problem, content: bytes) -> Floats:
    """The readings of some pulls, one row each, as the core sees them."""
    readings = events.unpacked(content).reshape(-1, len(problem.safety))
    columns = [limit.internal(readings[:, s]) for s, limit in enumerate(problem.safety)]
    return np.column_stack(columns)


def is_result(level: object, reward: object, readings: object, limits: int) -> bool:
    """Whether what is stored is of the kind that can be told."""
    numbers = isinstance(level, float) and isinstance(reward, float)
    return numbers and isinstance(readings, bytes) and len(readings) == 8 * limits
