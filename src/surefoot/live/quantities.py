"""Levels, rewards and readings as people read them: the one place that knows in which words and units they are said.

Pictures, reports, `study show` and what notebooks show come here. A level is always rounded down, because a printed
level must stay certified; other numbers have the digits that matter.
"""

from math import isfinite

from surefoot.live.certificate import NOTHING
from surefoot.problem import Limit, Problem, units
from surefoot.problem.units import rounded_down

UNKNOWN = "not known yet"


def level_in_table(problem: Problem, level: float) -> str:
    """The level where a column says that it is one, rounded down."""
    if not isfinite(level):
        return units.UNKNOWN
    return rounded_down(level) if problem.dial is None else units.level_in_words(problem.dial, level)


def level_in_words(problem: Problem, level: float) -> str:
    """The level amid other words."""
    return units.level_in_words(problem.dial, level) if isfinite(level) else "an unknown level"


def pull_in_words(problem: Problem, name: str, level: float) -> str:
    """An option at its level; doing nothing has none."""
    return "doing nothing" if name == NOTHING else f"{name} at {level_in_words(problem, level)}"


def reward_in_words(problem: Problem, reward: float) -> str:
    """A reward with its unit, if it has one."""
    return with_unit(reward, problem.reward.unit)


def reading_in_words(limit: Limit, reading: float) -> str:
    """A reading with its unit, if it has one."""
    return with_unit(reading, limit.unit)


def limit_in_words(limit: Limit) -> str:
    """What the limit asks for."""
    side = "at least" if limit.sign > 0 else "at most"
    return f"{limit.name} {side} {reading_in_words(limit, limit.limit)}"


def range_in_words(low: float, high: float, unit: str | None = None) -> str:
    """What lies between two bounds, of which either may be unknown."""
    if isfinite(low) and isfinite(high):
        return with_unit(f"{short(low)} to {short(high)}", unit)
    if isfinite(low):
        return with_unit(f"at least {short(low)}", unit)
    return with_unit(f"at most {short(high)}", unit) if isfinite(high) else UNKNOWN


def with_unit(number: float | str, unit: str | None) -> str:
    """The number and its unit."""
    return units.with_unit(number if isinstance(number, str) else short(number), unit)


def short(number: float) -> str:
    """The number with four digits."""
    return f"{number:.4g}" if isfinite(number) else UNKNOWN
