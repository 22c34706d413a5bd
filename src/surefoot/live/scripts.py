"""What happened to an experiment, on its way into a script for the learner: columns of plain values, since there may
be very many."""

import struct
from math import isfinite

import numpy as np

from surefoot.core.loop import ASKED, DROPPED, LEARNED
from surefoot.core.records import Script
from surefoot.live.readings import internal, is_result
from surefoot.problem import Problem


class ScriptWriter:
    """Steps about pulls, as they are entered."""

    def __init__(self) -> None:
        self.numbers: list[int] = []  # of each row; the following are its arm and the level that was asked for
        self._arm: list[int] = []
        self._asked: list[float] = []
        self._row: dict[int, int] = {}
        self._step: list[int] = []
        self._pull: list[int] = []
        self.learned: list[int] = []  # the rows with a result, in the order in which they are taken in
        self._levels: list[float] = []
        self._rewards: list[float] = []
        self._readings: list[bytes] = []
        self._audited = 0

    def opened(self, number: int, arm: int, level: float, step: int) -> None:
        """A pull was given out, now or before."""
        row = self._row[number] = len(self.numbers)
        self.numbers.append(number)
        self._arm.append(arm)
        self._asked.append(level)
        self._step.append(step)
        self._pull.append(row)
        if step == ASKED:
            self._audited = len(self._step)

    def told(self, number: int, level: float, reward: float, readings: bytes) -> None:
        """A result is taken in."""
        row = self._row[number]
        self._levels.append(level)
        self._rewards.append(reward)
        self._readings.append(readings)
        self._step.append(LEARNED)
        self._pull.append(row)
        self.learned.append(row)

    def dropped(self, number: int) -> None:
        """A pull was given up."""
        self._step.append(DROPPED)
        self._pull.append(self._row[number])

    @property
    def audited(self) -> int:
        """How many steps there are up to the last pull that was asked for and is to be compared."""
        return self._audited

    @property
    def steps(self) -> int:
        """How many steps there are."""
        return len(self._step)

    def learned_within(self, steps: int) -> int:
        """How many of the first steps are results."""
        return self._step[:steps].count(LEARNED)

    def last_of(self, results: int) -> int:
        """The number of the last of the first so many results; 0 if there are none."""
        return self.numbers[self.learned[results - 1]] if results else 0

    def result(self, problem: Problem, i: int) -> tuple[int, float, list[float]] | None:
        """Arm, level and signals of the i-th result; None if its numbers cannot be."""
        told = self._levels[i], self._rewards[i], self._readings[i]
        if not is_result(*told, len(problem.safety)):
            return None
        level, reward, readings = told
        each = zip(problem.safety, struct.unpack(f"<{len(problem.safety)}d", readings), strict=True)
        observed = [reward, *(limit.internal(reading) for limit, reading in each)]
        sound = 0.0 <= level <= 1.0 and all(map(isfinite, observed))
        return (self._arm[self.learned[i]], level, observed) if sound else None

    def script(self, problem: Problem, steps: int) -> tuple[Script, int | None]:
        """The script of the first steps, and the first pull whose numbers cannot be, if there is one."""
        count, limits, told = len(self.numbers), len(problem.safety), self.learned_within(steps)
        applied, observed = np.zeros(count), np.zeros((count, 1 + limits))
        rows = np.array(self.learned[:told], np.int64)
        try:
            applied[rows] = self._levels[:told]
            observed[rows, 0] = self._rewards[:told]
            observed[rows, 1:] = internal(problem, b"".join(self._readings[:told]), told)
            sound = np.isfinite(observed[rows]).all(axis=1) & (applied[rows] >= 0.0) & (applied[rows] <= 1.0)
        except (TypeError, ValueError):
            each = zip(self._levels[:told], self._rewards[:told], self._readings[:told], strict=True)
            sound = np.array([is_result(*one, limits) for one in each])
        broken = None if sound.all() else self.numbers[rows[np.argmin(sound)]]
        step, pull = np.array(self._step[:steps], np.int64), np.array(self._pull[:steps], np.int64)
        return as_script(step, pull, self._arm, self._asked, applied, observed), broken


def as_script(step: object, pull: object, arms: object, asked: object, applied: object, observed: object) -> Script:
    """The script as compiled code reads it: plain arrays of its own, of one type each."""
    return Script(
        step=np.array(step, np.int64),
        pull=np.array(pull, np.int64),
        arm=np.array(arms, np.int64),
        asked=np.array(asked, np.float64),
        applied=np.array(applied, np.float64),
        observed=np.array(observed, np.float64, order="C", ndmin=2),
    )
