"""What is too far out to be taken in unasked: a value that nothing explains which the problem and the data still allow.

Noise takes a reading further than R sqrt(2 log 2e9) from its mean with probability below 1e-9. Whatever lies further
than that from every mean that is still possible (E6) is a slip of the pen, a wrong unit, a broken gauge, or a problem
that was not stated truly; a person says which.

Where the results say nothing yet, as sets without norms do until the pulls span, the norm or the largest effect that
the problem states takes their place: the first gauge in a wrong unit would else look very safe, and raise levels. That
asks a question; no promise rests on it, and what is not stated asks nothing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf, log, sqrt
from typing import TypeAlias

import numpy as np

from surefoot.live.learner import Learner
from surefoot.problem import Problem
from surefoot.problem.checks import Floats
from surefoot.problem.norms import signals_of
from surefoot.problem.units import reading_in_words, with_unit

Row: TypeAlias = tuple[int, float, float, Sequence[float]]  # arm, level, reward and readings, in the user's units
CHANCE = 1e-9
REACH = sqrt(2.0 * log(2.0 / CHANCE))  # of noise, in units of its stated size


@dataclass(frozen=True)
class Surprise:
    """A value that is not plausible, in the user's units."""

    signal: str  # "reward", or the name of the limit
    value: float
    low: float  # what was to be expected of a single result, noise included; infinite where nothing is known
    high: float
    unit: str
    unsafe: bool  # it lies on the side of the limit

    def __str__(self) -> str:
        return f"{self.signal} = {reading_in_words(self.value, self.unit)}, where {self.expected} was to be expected"

    @property
    def expected(self) -> str:
        """The range in words."""
        low, high = f"{self.low:.6g}", reading_in_words(self.high, self.unit)
        if self.low == -inf:
            return f"at most {high}"
        return f"at least {with_unit(low, self.unit)}" if self.high == inf else f"{low} to {high}"


def surprises_in(learner: Learner, arm: int, level: float, reward: float, readings: Sequence[float]) -> list[Surprise]:
    """Every value of this result that is not plausible by what the learner knows, the unsafe ones first.        (E6)"""
    problem, found = learner.problem, []
    low, high, noise = expected(learner, arm, level)
    values = [reward, *(limit.internal(each) for limit, each in zip(problem.safety, readings, strict=True))]
    for s, value in enumerate(values):
        reach = REACH * noise[s]
        if not low[s] - reach <= value <= high[s] + reach:
            told = (reward, *readings)[s]
            found.append(surprise(problem, s, told, low[s] - reach, high[s] + reach, below=bool(value < low[s])))
    return sorted(found, key=lambda each: not each.unsafe)


def surprises_in_rows(learner: Learner, rows: Iterable[Row]) -> dict[int, list[Surprise]]:
    """Every row of a table, by its place, that is not plausible by what the learner knows and the rows before it.

    The learner takes the plausible ones in: it is to be one of the caller's own (`ledger.learner_without(0)`).
    """
    found: dict[int, list[Surprise]] = {}
    for place, (arm, level, reward, readings) in enumerate(rows):
        far = surprises_in(learner, arm, level, reward, readings)
        if far:
            found[place] = far
            continue
        limits = zip(learner.problem.safety, readings, strict=True)
        learner.take(arm, level, [reward, *(limit.internal(each) for limit, each in limits)])
    return found


def expected(learner: Learner, arm: int, level: float) -> tuple[Floats, Floats, Floats]:
    """The lowest and the highest mean of each signal that is possible, by results or else by the stated norm or largest
    effect, and the size of its noise at most.                                                               (E6)"""
    problem = learner.problem
    low, high, noise = learner.expected_with_noise(arm, level)
    length = level * float(np.linalg.norm(problem.arms[arm]))
    for s, signal in enumerate(signals_of(problem)):
        most = None if signal.norm is None else length * signal.norm + signal.within
        most = most if signal.largest is None else level * signal.largest + 2.0 * signal.within
        if most is not None:
            low[s] = -most if low[s] == -inf else low[s]
            high[s] = most if high[s] == inf else high[s]
    return low, high, noise


def surprise(problem: Problem, s: int, value: float, low: float, high: float, *, below: bool) -> Surprise:
    """The value of signal s with the range, which the core sees from low to high, in the user's units."""
    signal = problem.reward if s == 0 else problem.safety[s - 1]
    unit = signal.unit or ""
    if s == 0:
        return Surprise("reward", value, float(low), float(high), unit, unsafe=False)
    limit = problem.safety[s - 1]
    least, most = sorted((float(limit.reading(low)), float(limit.reading(high))))
    return Surprise(limit.name, value, least, most, unit, unsafe=below)
