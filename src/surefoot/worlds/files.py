"""What a file poses: a problem, and perhaps a world to simulate it in and the table of a policy.

A file's [world] table names a world of the package, or states a truth in the units that the user reads. Its names are
those of `make` and `Linear.for_problem`.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

from surefoot.errors import ABSENT, InvalidInput
from surefoot.problem import Problem
from surefoot.problem.checks import known_keys
from surefoot.problem.files import read_table
from surefoot.problem.norms import noise_laws
from surefoot.worlds.bounded import Bounded
from surefoot.worlds.gallery import make
from surefoot.worlds.linear import Linear
from surefoot.worlds.nearly_linear import NearlyLinear
from surefoot.worlds.protocol import World

BENDING = ("power", "error", "pattern")  # keys of a world whose means are only nearly linear
NOT_OF_THE_PROBLEM = ("world", "policy")


@dataclass(frozen=True)
class Posed:
    """What a file says, or what is there without one: a problem, and perhaps a world to simulate and a policy."""

    problem: Problem
    world: World | None = None
    policy: Mapping[str, Any] | None = None  # its table; `choosing` makes the policy of it
    file: Path | None = None


def posed_in(file: Path) -> Posed:
    """What the file says."""
    table = read_table(file)
    with reading(file):
        policy = section(table, "policy") if "policy" in table else None
        own = {key: value for key, value in table.items() if key not in NOT_OF_THE_PROBLEM}
        if "world" not in table:
            return Posed(Problem.from_dict(own, folder=file.parent), None, policy, file)
        setting = section(table, "world")
        pose = named_world if "name" in setting else stated_world
        world, problem = pose(setting, own, file.parent)
        return Posed(problem, world, policy, file)


def named_world(setting: Mapping[str, Any], own: Mapping[str, Any], folder: Path) -> tuple[Linear, Problem]:
    """A world of the package, with its own problem as far as the file does not change it."""
    parameters = dict(setting)
    name = parameters.pop("name")
    if not isinstance(name, str):
        raise InvalidInput("world.name", name, "must be text", "See `surefoot worlds`.")
    world = make(name, **parameters)
    posed = world.default_problem().to_dict()
    if "arms_file" in own:
        del posed["arms"]
    problem = Problem.from_dict({**posed, **own}, folder=folder)
    world.matches(problem)
    return world, problem


def stated_world(setting: Mapping[str, Any], own: Mapping[str, Any], folder: Path) -> tuple[World, Problem]:
    """The file's own problem, and the world with the truth that the file states."""
    problem = Problem.from_dict(own, folder=folder)
    allowed = {
        name: parameter for name, parameter in inspect.signature(Linear.for_problem).parameters.items()
        if name != "problem"
    }  # fmt: skip
    known_keys("world", setting, (*allowed, *BENDING))
    needed = {name for name, parameter in allowed.items() if parameter.default is inspect.Parameter.empty}
    for name in allowed:
        if name not in setting and (name in needed or (name == "mu_star" and problem.safety)):
            raise InvalidInput(f"world.{name}", ABSENT, "is required without a name", "See `surefoot run --help`.")
    if any(key in setting for key in BENDING):
        return NearlyLinear.for_problem(problem, **setting), problem
    has_ends = any(law.high < inf for law in noise_laws(problem))
    return (Bounded if has_ends else Linear).for_problem(problem, **setting), problem


def section(table: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """The table under this key."""
    found = table[key]
    if not isinstance(found, Mapping):
        raise InvalidInput(key, found, "must be a table", f"Write [{key}] and its keys below it.")
    return found


@contextmanager
def reading(file: Path | str | None) -> Iterator[None]:
    """Inside, what is refused and was not typed is noted as read from the file, or from this part of it."""
    try:
        yield
    except InvalidInput as error:
        if file is not None and not error.field.startswith("--"):
            error.add_note(f"while reading {file}")
        raise
