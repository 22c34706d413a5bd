"""Levels, rewards and readings as people read them: the one place that knows in which words and units they are said.

Pictures, reports, `study show` and what notebooks show come here. A level is always rounded down, because a printed
level must stay certified; other numbers have the digits that matter.
"""

from math import isfinite

from surefoot.live.certificate import NOTHING, rounded_down
from surefoot.problem import Limit, Problem

UNKNOWN = "not known yet"


def level_in_table(problem: Problem, level: float) -> str:
    """The level where a column says that it is one, rounded down."""
    return rounded_down(level) if isfinite(level) else "unknown"


def level_in_words(problem: Problem, level: float) -> str:
    """The level amid other words."""
    return f"level {level_in_table(problem, level)}" if isfinite(level) else "an unknown level"


def pull_in_words(problem: Problem, name: str, level: float) -> str:
    """An option at its level; doing nothing has none."""
    return "doing nothing" if name == NOTHING else f"{name} at {level_in_words(problem, level)}"


def reward_in_words(problem: Problem, reward: float) -> str:
    """A reward with its unit, if it has one."""
    return with_unit(reward, unit_of(problem.reward))


def reading_in_words(limit: Limit, reading: float) -> str:
    """A reading with its unit, if it has one."""
    return with_unit(reading, unit_of(limit))


def limit_in_words(limit: Limit) -> str:
    """What the limit asks for."""
    side = "at least" if limit.sign > 0 else "at most"
    return f"{limit.name} {side} {reading_in_words(limit, limit.limit)}"


def range_in_words(low: float, high: float, unit: str = "") -> str:
    """What lies between two bounds, of which either may be unknown."""
    if isfinite(low) and isfinite(high):
        return with_unit(f"{short(low)} to {short(high)}", unit)
    if isfinite(low):
        return with_unit(f"at least {short(low)}", unit)
    return with_unit(f"at most {short(high)}", unit) if isfinite(high) else UNKNOWN


def unit_of(signal: object) -> str:
    """The unit of a reward or a limit; empty where none is stated."""
    return str(getattr(signal, "unit", None) or "")


def with_unit(number: float | str, unit: str) -> str:
    """The number and its unit."""
    shown = number if isinstance(number, str) else short(number)
    return f"{shown} {unit}" if unit else shown


def short(number: float) -> str:
    """The number with four digits."""
    return f"{number:.4g}" if isfinite(number) else UNKNOWN
