"""The words that options are written in, and what the compiled code reads in their place."""

import warnings
from collections.abc import Collection, Mapping
from dataclasses import field
from typing import Any, Literal

from surefoot.core import levels, pulls, race
from surefoot.errors import InvalidInput, NeverStopsWarning, RenamedWarning, outside

Levels = Literal["static", "dynamic", "dynamic-max"]
Selection = Literal["conservative", "optimistic"]
Pull = Literal["greedy", "rounding", "rounding-finite"]

LEVELS = {"static": levels.STATIC, "dynamic": levels.DYNAMIC, "dynamic-max": levels.DYNAMIC_MAX}
SELECTIONS = {"conservative": race.CONSERVATIVE, "optimistic": race.OPTIMISTIC}
PULLS = {"greedy": pulls.GREEDY, "rounding": pulls.ROUNDING, "rounding-finite": pulls.ROUNDING_FINITE}


def option(default: Any, words: str, choices: Collection[str] = (), *, quiet: bool = False) -> Any:
    """A field of a policy, with what the command line says about it. A quiet one is not spoken of at its default."""
    return field(default=default, metadata={"help": words, "choices": tuple(choices), "quiet": quiet})


def check_choice(name: str, value: object, choices: Collection[str]) -> None:
    """Refuses a word that is not among the choices."""
    if not isinstance(value, str) or value not in choices:
        allowed = ", ".join(repr(word) for word in choices)
        raise InvalidInput(name, value, f"must be one of {allowed}", "Write one of these words.")


def check_flag(name: str, value: object) -> None:
    """Refuses what is neither True nor False."""
    if not isinstance(value, bool):
        raise InvalidInput(name, value, "must be True or False", "Write one of the two.")


def rename(policy: object, name: str, words: Mapping[str, str]) -> None:
    """Puts today's word in the place of one of an earlier version, with a note."""
    old = getattr(policy, name)
    if isinstance(old, str) and old in words:
        object.__setattr__(policy, name, words[old])
        warnings.warn(f"{name} = {old!r} is called {words[old]!r} now.", RenamedWarning, stacklevel=4)


def warn_if_it_may_never_stop(levels: str, selection: str) -> None:
    """Warns by name about levels that are frozen while the selection waits for them to be learned."""
    if levels == "static" and selection == "optimistic":
        warnings.warn(
            "levels='static' with selection='optimistic' may never stop: the interval between an arm's certified and "
            "its optimistic level is frozen, and one that costs more than epsilon can never be closed. Use "
            "levels='dynamic', or set max_pulls and expect 'undecided'.",
            NeverStopsWarning,
            stacklevel=outside(),
        )
