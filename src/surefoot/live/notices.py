"""What is said about a result as it comes in: that it is held, was applied too high, or contradicts the model."""

import warnings

from surefoot.errors import HeldWarning, Implausible, LevelExceeded, ModelAlarm, outside
from surefoot.live.ledger import Holding
from surefoot.live.pulls import Pull
from surefoot.problem import Dial, Problem
from surefoot.problem.units import level_in_words


def implausible(dial: Dial | None, asked: Pull, found: Holding) -> Implausible:
    """The refusal of a result that is held."""
    level = found.result[0]
    at = None if dial is None else level_in_words(dial, level)
    return Implausible(asked.number, asked.name, level, [found.surprises], found.unsafe, True, at)


def warn_of_holding(number: int, found: Holding) -> None:
    """Warns that a result, told before, is implausible now that its turn has come."""
    everyone = " It lies on the unsafe side, so no pull is given to anyone." if found.unsafe else ""
    warnings.warn(
        f"The result of pull {number}, which waited for an earlier one, is implausible now that its turn has come: "
        f"{found.surprises}. It is held.{everyone} Tell pull {number} again: the right value, or the same with "
        "confirm=True (--confirm).",
        HeldWarning,
        stacklevel=outside(),
    )


def warn_of_level(problem: Problem, asked: Pull, applied: float) -> None:
    """Warns that a pull was applied above its certified level."""
    warnings.warn(
        f"Pull {asked.number} of {asked.name} was applied at {level_in_words(problem.dial, applied, 6)}, above the "
        f"certified {asked.at.removeprefix('level ')}. It is recorded; the promise of safety does not cover it.",
        LevelExceeded,
        stacklevel=outside(),
    )


def warn_of_alarm(message: str, then: str, level: float | None) -> None:
    """Warns of what the data were just found to contradict, and of what follows from it."""
    warnings.warn(
        f"The data contradict the model ({message}), {then}. The chance of a false alarm in the whole life of an "
        f"experiment is {level:g}. Find the cause, then release it.",
        ModelAlarm,
        stacklevel=3,
    )
