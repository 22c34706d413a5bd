"""Levels that a problem states in the units of its dial: text such as "20 mg" wherever a level stands, and steps.

A number is always a level, from 0 to 1, and text always a setting with its unit; so neither is taken for the other.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from surefoot.errors import InvalidInput
from surefoot.problem.checks import Floats, positive
from surefoot.problem.dial import Dial
from surefoot.problem.names import Names
from surefoot.problem.units import setting_in_words

STEP_SLACK = 1e-9  # 0.4 - 0.3 comes out a little above 0.1, and nobody means that
_NO_DIAL = "State the dial, for example dial = Dial('mg', full=40), or give a level, a number from 0 to 1."


def checked_dial(value: object) -> Dial | None:
    """The dial, where one is stated."""
    if value is not None and not isinstance(value, Dial):
        raise InvalidInput("dial", value, "must be a Dial", "Pass Dial('mg', full=40).")
    return value


def in_levels(dial: Dial | None, field: str, value: object) -> object:
    """The value with every setting in it turned into its level: one, one for each arm, or a mapping by name."""
    if isinstance(value, str):
        return level_in(dial, field, value)
    if isinstance(value, Mapping):
        return {key: in_levels(dial, f"{field}[{key!r}]", each) for key, each in value.items()}
    if isinstance(value, np.ndarray) and value.dtype.kind in "UO":
        value = value.tolist()
    if isinstance(value, list | tuple) and any(isinstance(each, str) for each in value):
        return [
            level_in(dial, f"{field}[{i}]", each) if isinstance(each, str) else each for i, each in enumerate(value)
        ]
    return value


def level_in(dial: Dial | None, field: str, words: str) -> float:
    """The level of a setting that is given as text."""
    if dial is None:
        raise InvalidInput(field, words, "is text, which is a setting with its unit, and there is no dial", _NO_DIAL)
    return dial.level_of(words, field)


def check_on_dial(dial: Dial | None, grid: tuple[float, ...], safe: Floats, names: Names) -> None:
    """Refuses levels below that of the lowest setting: nobody could set them."""
    if dial is None or dial.lowest_level == 0.0:
        return
    lowest = setting_in_words(dial.setting_of(dial.lowest_level), dial.unit, 12)
    reason = f"is below {dial.lowest_level:g}, the level of {lowest}, which is the lowest setting of the dial"
    if grid and grid[0] < dial.lowest_level:
        raise InvalidInput("level_grid", grid[0], reason, "Leave it out.")
    if safe.min() < dial.lowest_level:
        arm = int(safe.argmin())
        raise InvalidInput(f"safe_level of arm {names[arm]!r}", safe[arm], reason, "Give a setting that is safe.")


# -- steps ------------------------------------------------------------------------------------------------------------


def step_in_settings(dial: Dial | None, value: object, grid: tuple[float, ...]) -> float | None:
    """The largest step in the unit of the dial, where it is given so."""
    if value is not None and dial is not None and dial.lowest_level > 0.0 and not grid:
        reason = "could end between off and the lowest setting of the dial, where nothing can be set"
        raise InvalidInput("max_step", value, reason, "Add a level_grid of settings, or leave max_step out.")
    if not isinstance(value, str):
        return None
    if dial is None:
        raise InvalidInput("max_step", value, "is text, which is a step of a setting, and there is no dial", _NO_DIAL)
    remedy = f"Give the largest increase of the setting, for example '5 {dial.unit}'."
    return positive("max_step", dial.amount("max_step", value), remedy)


def stated_step(dial: Dial | None, in_settings: float | None, step: float | None) -> float | str | None:
    """The largest step as it was stated, so that reading it gives the same number to the last bit."""
    return step if dial is None or in_settings is None else f"{in_settings!r} {dial.unit}"


def largest_step(dial: Dial, step: float) -> float:
    """The most by which a step of so many units raises the level, wherever it begins."""
    before, after = dial.steps(step)
    return float((after - before).max())


def steps_in_levels(dial: Dial | None, step: float | None) -> tuple[Floats, Floats]:
    """Levels and how far a step in settings reaches from each, as the core reads them; empty where a step in level is
    the same everywhere."""
    if dial is None or step is None or not dial.is_curve:
        return np.empty(0), np.empty(0)
    return dial.steps(step * (1.0 + STEP_SLACK))


def highest_after(dial: Dial | None, step: float, in_settings: float | None, level: float) -> float:
    """The highest level that one step reaches from this one."""
    before, after = steps_in_levels(dial, in_settings)
    return float(np.interp(level, before, after)) if len(before) else level + step * (1.0 + STEP_SLACK)
