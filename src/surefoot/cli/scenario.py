"""What is to be simulated: a world, the problem posed in it, and the policy that faces it.

A file's [world] table names a world of the package, or states a truth in the units that the user reads. Its names are
those of `worlds.make` and `Linear.for_problem`: nothing here looks at the truth.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from surefoot import policies, worlds
from surefoot.errors import ABSENT, InvalidInput
from surefoot.policies import Policy, default_policy
from surefoot.problem import Problem
from surefoot.problem.checks import known_keys
from surefoot.problem.files import read_table
from surefoot.worlds import Linear, World, check_world

NOT_OF_THE_PROBLEM = ("world", "policy")


@dataclass(frozen=True)
class Scenario:
    """A world, a problem that is posed in it, and a policy."""

    world: World
    problem: Problem
    policy: Policy

    def __post_init__(self) -> None:
        check_world(self.world)

    def with_policy(self, wishes: Mapping[str, Any]) -> Scenario:
        """The same with the wished-for policy."""
        return replace(self, policy=wished_policy(self.policy, wishes))


def wished_policy(policy: Policy, wishes: Mapping[str, Any]) -> Policy:
    """The policy with these options; wishes that are None leave the option as it is.

    A policy of another name starts from its own defaults.
    """
    table = policies.to_dict(policy)
    given = {key: value for key, value in wishes.items() if value is not None}
    if given.get("name", table["name"]) != table["name"]:
        table = {"name": given["name"]}
    if "explore" in given:
        given["explore"] = exploration(given["explore"])
    return policies.from_dict({**table, **given})


def scenario_of(file: Path | None, world: str | None) -> Scenario:
    """The scenario in the file or of the named world; without either the paper's."""
    if file is not None and world is not None:
        raise InvalidInput("--world", world, f"is given beside the file {file}", "Choose one of the two.")
    if file is not None:
        table = read_table(file)
        try:
            return scenario_in(table, file.parent)
        except InvalidInput as error:
            error.add_note(f"while reading {file}")
            raise
    if world is not None:
        found = worlds.make(world)
        return Scenario(found, found.default_problem(), default_policy())
    papers = worlds.hard()
    return Scenario(papers, papers.paper_problem(), default_policy())


def posed_in(file: Path) -> tuple[Problem, Policy | None, World | None]:
    """The problem in the file, with the policy and the world if there are any."""
    table = read_table(file)
    if "world" in table:
        scenario = scenario_of(file, None)
        problem, world = scenario.problem, scenario.world
    else:
        problem, world = Problem.load(file), None
    return problem, policies.from_dict(section(table, "policy")) if "policy" in table else None, world


def scenario_in(table: Mapping[str, Any], folder: Path) -> Scenario:
    """The scenario that the table of a file describes."""
    if "world" not in table:
        remedy = (
            "Add one: with name = one of `surefoot worlds`, or with a truth as `surefoot run --help` shows. To check "
            "the file alone, use `surefoot show`; for a real experiment, use sf.Session in Python."
        )
        raise InvalidInput("[world]", ABSENT, "run and simulate need a world that answers the pulls", remedy)
    setting = section(table, "world")
    own = {key: value for key, value in table.items() if key not in NOT_OF_THE_PROBLEM}
    world, problem = named_world(setting, own, folder) if "name" in setting else stated_world(setting, own, folder)
    policy = policies.from_dict(section(table, "policy")) if "policy" in table else default_policy()
    return Scenario(world, problem, policy)


def named_world(setting: Mapping[str, Any], own: Mapping[str, Any], folder: Path) -> tuple[Linear, Problem]:
    """A world of the package, with its own problem as far as the file does not change it."""
    parameters = dict(setting)
    name = parameters.pop("name")
    if not isinstance(name, str):
        raise InvalidInput("world.name", name, "must be text", "See `surefoot worlds`.")
    world = worlds.make(name, **parameters)
    posed = world.default_problem().to_dict()
    if "arms_file" in own:
        del posed["arms"]
    problem = Problem.from_dict({**posed, **own}, folder=folder)
    world.matches(problem)
    return world, problem


def stated_world(setting: Mapping[str, Any], own: Mapping[str, Any], folder: Path) -> tuple[Linear, Problem]:
    """The file's own problem, and the world with the truth that the file states."""
    problem = Problem.from_dict(own, folder=folder)
    allowed = {
        name: parameter for name, parameter in inspect.signature(Linear.for_problem).parameters.items()
        if name != "problem"
    }  # fmt: skip
    known_keys("world", setting, allowed)
    for name, parameter in allowed.items():
        if parameter.default is inspect.Parameter.empty and name not in setting:
            raise InvalidInput(f"world.{name}", ABSENT, "is required without a name", "See `surefoot run --help`.")
    return Linear.for_problem(problem, **setting), problem


def section(table: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """The table under this key."""
    found = table[key]
    if not isinstance(found, Mapping):
        raise InvalidInput(key, found, "must be a table", f"Write [{key}] and its keys below it.")
    return found


def exploration(text: str) -> dict[str, Any] | None:
    """The table of an exploration that is written KIND:ROUNDS@LEVEL, the last two optional; None for "none"."""
    if text == "none":
        return None
    plan, _, level = text.partition("@")
    kind, _, rounds = plan.partition(":")
    try:
        return {
            "kind": kind,
            **({"rounds": int(rounds)} if rounds else {}),
            **({"level": float(level)} if level else {}),
        }
    except ValueError:
        raise InvalidInput(
            "--explore", text, "must read KIND:ROUNDS@LEVEL", "For example round-robin:800@0.2, or none."
        ) from None
