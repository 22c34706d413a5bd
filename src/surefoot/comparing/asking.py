"""What is compared: policies, worlds and deltas as they are named, and who can face what.

A policy is a name, a table with its options, or an object; a world is a name, a table, an object or a problem file.
Names, tables and their lists are read as in the plan of a sweep.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple

from surefoot.comparing.matching import STOPS_BY, matched
from surefoot.errors import InvalidInput, SurefootError
from surefoot.policies import Policy, to_dict
from surefoot.policies.bound import faced
from surefoot.problem import Problem
from surefoot.problem.checks import number
from surefoot.sweeping.grids import Grid, values_of
from surefoot.sweeping.plans import (
    LISTED_SETTINGS,
    POLICY_FORM,
    SETTINGS,
    entries,
    policies_in,
    policy_grid,
    posed_by,
    world_grid,
)
from surefoot.worlds import WORLDS as GALLERY
from surefoot.worlds import World
from surefoot.worlds.files import reading

POLICIES = (
    "safe-gap", {"name": "safe-lingape", "selection": "optimistic", "null_pull": True}, "lingape", "frank-wolfe",
    "lazy-track-and-stop",
)  # fmt: skip
WORLDS = (
    {"name": "hard", "dim": [3, 10], "epsilon": 0.0}, {"name": "hard", "omega": 0.2, "epsilon": 0.0}, "limited",
    "doses",
)  # fmt: skip
MATCHED = ("delta", "delta_safety")  # the same for all
FORM = 'Write "hard", {"name": "hard", "omega": 0.2, "epsilon": 0}, a world, or {"file": "problem.toml"}.'
A_DELTA = "For example 0.05, or [0.1, 0.01, 0.001]."


class Contender(NamedTuple):
    """A policy, and how it is called in tables."""

    label: str
    policy: Policy


class Arena(NamedTuple):
    """A world with a problem, how it is called, and what tells it from others of the same name."""

    label: str
    world: World
    problem: Problem
    name: str
    settings: dict[str, Any]  # all of them, those that nobody gave too


# -- policies ---------------------------------------------------------------------------------------------------------


def contenders_in(policies: object, radius: str) -> list[Contender]:
    """Every policy that is named, with the sets that all are to have; one that is handed in stays as it is."""
    found: list[Contender] = []
    for place, entry in enumerate(entries(policies, "policies", POLICY_FORM)):
        where = f"policies[{place}]"
        named = {"name": entry} if isinstance(entry, str) else entry
        grid = policy_grid(where, matched(named, radius) if isinstance(named, Mapping) else named)
        found += [Contender(called(policy), policy) for policy, _ in policies_in(where, grid)]
    short = [called(one.policy, STOPS_BY) for one in found]  # tables say what each stops by
    labels = [one.label if short.count(said) > 1 else said for one, said in zip(found, short, strict=True)]
    return [Contender(label, one.policy) for label, one in zip(apart(labels), found, strict=True)]


def called(policy: Policy, silent: Sequence[str] = ()) -> str:
    """The name of the policy, with the options that are not as they come; on some it is silent."""
    usual: dict[str, Any] = {option.name: option.default for option in fields(policy)} if is_dataclass(policy) else {}
    said = [
        f"{key} {' '.join(str(part) for part in value.values() if part is not None)}" if isinstance(value, Mapping)
        else key if value is True else f"{key} {value}"
        for key, value in to_dict(policy).items()
        if key not in ("name", *silent) and value != usual.get(key, MISSING)
    ]  # fmt: skip
    return f"{policy.name} ({', '.join(said)})" if said else policy.name


# -- worlds -----------------------------------------------------------------------------------------------------------


def arenas_in(worlds: object, changes: Mapping[str, Any]) -> list[Arena]:
    """Every world that is named, with its own problem and these changes."""
    found: list[Arena] = []
    for place, entry in enumerate(entries(worlds, "worlds", FORM)):
        where = f"worlds[{place}]"
        own, posed = split(where, entry)
        for setting in world_grid(where, own):
            with reading(where):
                world, problem, told = posed_by(setting, Path())
            for change in Grid(where, {**changes, **posed}, LISTED_SETTINGS):
                with reading(where):
                    changed = problem.with_(**change)
                world.matches(changed)
                name = str(told["world"])
                given = {key.removeprefix("world_"): value for key, value in told.items() if key != "world"}
                given |= {key: change[key] for key in posed}
                found.append(Arena(named(name, given), world, changed, name, {**usual(setting), **given}))
    return [one._replace(label=label) for label, one in zip(apart([one.label for one in found]), found, strict=True)]


def usual(setting: Mapping[str, Any]) -> dict[str, Any]:
    """What a world of the package has where nobody says anything."""
    if "name" not in setting:
        return {}
    return {name: each.default for name, each in signature(GALLERY[setting["name"]]).parameters.items()}


def split(where: str, entry: Any) -> tuple[Any, dict[str, Any]]:
    """What an entry says of the world, and what of its problem. Deltas are the same for all worlds."""
    if not isinstance(entry, Mapping):
        return entry, {}
    both = next((key for key in MATCHED if key in entry), None)
    if both is not None:
        remedy = f"Give it once for all: {both}={entry[both]!r}."
        raise InvalidInput(f"{where}.{both}", entry[both], "is not of one world: a comparison is at one delta", remedy)
    posed = {key: value for key, value in entry.items() if key in SETTINGS}
    return {key: value for key, value in entry.items() if key not in posed}, posed


def named(name: str, settings: Mapping[str, Any]) -> str:
    """A world with what was set in it."""
    said = ", ".join(f"{key} {value:g}" if isinstance(value, float) else f"{key} {value}" for key, value in
                     settings.items())  # fmt: skip
    return f"{name} ({said})" if said else name


def apart(labels: Sequence[str]) -> list[str]:
    """The labels, with a number where the same one stands twice."""
    return [
        label if labels.count(label) == 1 else f"{label} #{1 + labels[:place].count(label)}"
        for place, label in enumerate(labels)
    ]


# -- deltas -----------------------------------------------------------------------------------------------------------


def deltas_in(delta: object, field: str = "delta") -> list[float]:
    """The deltas, the largest first."""
    found = [number(field, each, A_DELTA, above=0.0, below=1.0) for each in values_of(field, delta)]
    return sorted(found, reverse=True)


def at_delta(problem: Problem, delta: float, delta_safety: float | None) -> Problem:
    """The problem at these errors; without one of its own the limits get the same. Where there are none, none."""
    if not problem.safety:
        return problem.with_(delta=delta)
    return problem.with_(delta=delta, delta_safety=delta if delta_safety is None else delta_safety)


def refusal(policy: Policy, problem: Problem) -> str | None:
    """Why the policy cannot face the problem; None if it can."""
    try:
        policy.guarantee(problem)
        faced(policy, problem)
    except SurefootError as error:
        return str(error)
    return None
