"""What a dial adds to the documents of an experiment: the setting beside each level. Without a dial, nothing."""

from typing import Any

from surefoot.problem import Dial, Problem

OF_A_DIAL = ("setting", "unit", "applied_setting")


def without_unit(document: dict[str, Any]) -> dict[str, Any]:
    """The document without what only a dial brings, where there is none."""
    return document if document["unit"] is not None else {k: v for k, v in document.items() if k not in OF_A_DIAL}


def set_to(problem: Problem, level: float) -> dict[str, Any]:
    """Setting and unit of a level, by name; nothing where the problem has no dial."""
    return {} if problem.dial is None else set_on(problem.dial, level)


def set_on(dial: Dial, level: float) -> dict[str, Any]:
    """Setting and unit of a level on this dial, by name."""
    setting, unit = dial.set_to(level)
    return {"setting": setting, "unit": unit}
