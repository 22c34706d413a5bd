"""What the table of a problem must hold."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from surefoot.errors import ABSENT, InvalidInput
from surefoot.files import as_path
from surefoot.problem.settings import OF_LIMITS

REQUIRED = {
    "reward": "Add a table [reward] with noise.",
    "epsilon": "Choose how far from the best the answer may be, for example 0.01.",
    "delta": "Choose the chance of an answer further off than epsilon, for example 0.05.",
}
ASKED_WITH_LIMITS = {  # what is asked for where something is said of limits; levels may be stated with the arms
    "safety": "Add a table [[safety]] with name, at_least or at_most, and noise; or leave out what belongs to limits.",
    "delta_safety": "Choose the chance of any unsafe pull, for example 0.05.",
}


def check_given(table: Mapping[str, object]) -> None:
    """Refuses a table that lacks something; what belongs to limits is asked for where one of it is there."""
    limited = "safety" in table or any(key in table for key in OF_LIMITS)
    for key, remedy in {**REQUIRED, **(ASKED_WITH_LIMITS if limited else {})}.items():
        if key not in table and (key != "delta_safety" or table.get("safety")):
            raise InvalidInput(key, ABSENT, "is required", remedy)


def arms_in(table: Mapping[str, object], folder: Path) -> object:
    """What the constructor takes as arms, from a table with either `arms` or `arms_file`."""
    remedy = "Write a table [arms] with name = [features], or arms_file = 'arms.csv'."
    if "arms" not in table and "arms_file" not in table:
        raise InvalidInput("arms", ABSENT, "is required", remedy)
    if "arms" in table and "arms_file" in table:
        raise InvalidInput("arms_file", table["arms_file"], "must be left out when there are arms already", remedy)
    if "arms_file" in table:
        return folder / as_path("arms_file", table["arms_file"])
    if isinstance(table["arms"], str):
        raise InvalidInput("arms", table["arms"], "must be features", "To name a file, write arms_file instead.")
    return table["arms"]
