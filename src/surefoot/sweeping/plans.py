"""What is asked for: worlds x problems x policies x budgets, how many runs of each, from which seed.

A plan is written as a TOML or JSON file, or as the same table in Python, where worlds and policies may be objects. All
of it is checked when it is read, and refused by the name of the field, before anything is run.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from surefoot import policies, worlds
from surefoot.errors import ABSENT, InvalidInput, counted
from surefoot.policies import Policy, check_policy, default_policy
from surefoot.problem import Problem
from surefoot.problem.checks import check_count, check_seed, did_you_mean, known_keys
from surefoot.problem.files import read_table
from surefoot.simulation import checked_alarm
from surefoot.sweeping.cells import MAX_PULLS, Cell
from surefoot.sweeping.grids import Grid, values_of
from surefoot.worlds import WORLDS, World, check_world
from surefoot.worlds.files import posed_in, reading, section

KEYS = ("worlds", "problem", "policies", "runs", "seed", "max_pulls", "alarm")
SETTINGS = (
    "epsilon", "delta", "delta_safety", "safe_level", "max_level", "level_grid", "max_step", "regularization",
)  # fmt: skip  # of a problem
LISTED_SETTINGS = ("level_grid",)
RUNS = 100
MOST_CELLS, MOST_RUNS = 100_000, 10_000_000_000
FORM = 'Write worlds = ["hard"], or a table [[worlds]] with name = "hard" for each.'
POLICY_FORM = 'Write policies = ["safe-gap"], or a table [[policies]] with name = "safe-gap" for each.'


@dataclass(frozen=True)
class Plan:
    """Cells, and how many runs of each from which seed."""

    cells: tuple[Cell, ...]
    runs: int = RUNS
    seed: int = 0

    def __post_init__(self) -> None:
        check_count("runs", self.runs)
        check_seed(self.seed)
        if not self.cells:
            raise InvalidInput("cells", self.cells, "holds no cell", "Name a world and a policy.")
        check_size(len(self.cells), self.runs)
        check_alike(self.cells)

    @property
    def counts(self) -> dict[Cell, int]:
        """How many runs each cell gets."""
        return dict.fromkeys(self.cells, self.runs)

    @property
    def size(self) -> str:
        """How much it is, in words."""
        runs = counted(len(self.cells) * self.runs, "run")
        return f"{counted(len(self.cells), 'cell')} x {counted(self.runs, 'run')} = {runs}"


class Posed(NamedTuple):
    """A problem in a world, and what tells it from the others."""

    world: World
    problem: Problem
    settings: dict[str, Any]


def plan_of(source: Any, *, runs: int | None = None, seed: int | None = None) -> Plan:
    """The plan: itself, in a file, or in a table of the same form; other runs or another seed take the plan's place."""
    if isinstance(source, Plan):
        return replace(source, runs=source.runs if runs is None else runs, seed=source.seed if seed is None else seed)
    runs = None if runs is None else check_count("runs", runs)  # here, since these are not of the file
    seed = None if seed is None else check_seed(seed)
    if isinstance(source, str | PathLike):
        path = Path(source)
        table = read_table(path)
        with reading(path):
            return from_table(table, path.parent, runs, seed)
    if not isinstance(source, Mapping):
        remedy = 'For example "plan.toml", or {"worlds": ["hard"], "policies": ["safe-gap"], "runs": 100}.'
        raise InvalidInput("plan", source, "must be a path, a table or a Plan", remedy)
    return from_table(source, Path(), runs, seed)


def from_table(table: Mapping[str, Any], folder: Path, runs: int | None, seed: int | None) -> Plan:
    """The plan that the table describes; files of problems are relative to the folder."""
    known_keys("", table, KEYS, {"world": "worlds", "policy": "policies", "problems": "problem"})
    wished = check_count("runs", table.get("runs", RUNS) if runs is None else runs)
    first = check_seed(table.get("seed", 0) if seed is None else seed)
    budgets = [check_count("max_pulls", each) for each in values_of("max_pulls", table.get("max_pulls", MAX_PULLS))]
    alarms = [checked_alarm(each) or False for each in values_of("alarm", table.get("alarm", False))]
    changes = section(table, "problem") if "problem" in table else {}
    known_keys("problem", changes, SETTINGS)
    of_problem = Grid("problem", changes, LISTED_SETTINGS)
    of_worlds = entries(table.get("worlds", ABSENT), "worlds", FORM)
    of_policies = entries(table.get("policies", [default_policy()]), "policies", POLICY_FORM)
    world_grids = [world_grid(f"worlds[{place}]", entry) for place, entry in enumerate(of_worlds)]
    policy_grids = [policy_grid(f"policies[{place}]", entry) for place, entry in enumerate(of_policies)]
    size = sum(map(len, world_grids)) * len(of_problem) * sum(map(len, policy_grids)) * len(budgets) * len(alarms)
    check_size(size, wished)
    chosen = [each for place, grid in enumerate(policy_grids) for each in policies_in(f"policies[{place}]", grid)]
    cells = []
    for place, grid in enumerate(world_grids):
        for posed in posed_of(f"worlds[{place}]", grid, of_problem, folder):
            for policy, options in chosen:
                check_faces(policy, posed)
                for budget in budgets:
                    for alarm in alarms:
                        settings = {**posed.settings, **options, "max_pulls": budget, "alarm": alarm}
                        cells.append(Cell(posed.world, posed.problem, policy, budget, alarm, settings))
    return Plan(tuple(cells), wished, first)


# -- worlds and their problems ----------------------------------------------------------------------------------------


def world_grid(where: str, entry: Any) -> Grid:
    """The worlds that one entry stands for."""
    if isinstance(entry, str):
        entry = {"name": entry}
    if entry is None or isinstance(entry, int | float | list | tuple):
        raise InvalidInput(where, entry, "must be the name of a world, a table or a world", FORM)
    if not isinstance(entry, Mapping):
        return Grid(where, {"world": check_world(entry)})
    if "file" in entry:
        if "name" in entry:
            reason = f"is given beside file = {entry['file']!r}, which names its own world"
            raise InvalidInput(f"{where}.name", entry["name"], reason, "Give one of the two.")
        known_keys(where, entry, ("file",))
        for path in values_of(f"{where}.file", entry["file"]):
            if not isinstance(path, str):
                raise InvalidInput(f"{where}.file", path, "must be the path of a problem file", FORM)
        return Grid(where, entry)
    name = entry.get("name", ABSENT)
    if not isinstance(name, str):
        raise InvalidInput(f"{where}.name", name, "must be the name of a world, or file = a problem file", FORM)
    if name not in WORLDS:
        raise InvalidInput(f"{where}.name", name, "is not the name of a world", did_you_mean(name, WORLDS))
    parameters = inspect.signature(WORLDS[name]).parameters
    known_keys(where, entry, ("name", *parameters))
    return Grid(where, entry, [each for each, kind in parameters.items() if isinstance(kind.default, tuple | list)])


def posed_of(where: str, grid: Grid, changes: Grid, folder: Path) -> Iterator[Posed]:
    """Every problem in every world of the grid."""
    for setting in grid:
        with reading(where):
            world, own, told = posed_by(setting, folder)
        for change in changes:
            with reading("problem"):
                problem = own.with_(**change)
            world.matches(problem)
            yield Posed(world, problem, {**told, **described(problem), **change})


def posed_by(setting: Mapping[str, Any], folder: Path) -> tuple[World, Problem, dict[str, Any]]:
    """A world, the problem that suits it, and what tells it from other worlds."""
    if "world" in setting:
        world = setting["world"]
        if not hasattr(world, "default_problem"):
            remedy = "Make the cells yourself: Plan([Cell(world, problem, policy), ...])."
            raise InvalidInput("world", world.name, "has no problem of its own (default_problem)", remedy)
        return world, world.default_problem(), {"world": world.name}
    if "file" in setting:
        found = posed_in(folder / str(setting["file"]))
        if found.world is None:
            remedy = "Add one: with name = one of `surefoot worlds`, or with a truth as `surefoot run --help` shows."
            raise InvalidInput("[world]", ABSENT, "a sweep needs a world that answers the pulls", remedy)
        return found.world, found.problem, {"world": found.world.name, "world_file": str(setting["file"])}
    parameters = {key: value for key, value in setting.items() if key != "name"}
    made = worlds.make(setting["name"], **parameters)
    told = {f"world_{key}": value for key, value in parameters.items()}
    return made, made.default_problem(), {"world": setting["name"], **told}


def described(problem: Problem) -> dict[str, Any]:
    """What a table of cells says of every problem."""
    names = ("epsilon", "delta", "delta_safety")
    return {"arms": problem.size, "features": problem.rank, **{name: getattr(problem, name) for name in names}}


# -- policies ---------------------------------------------------------------------------------------------------------


def policy_grid(where: str, entry: Any) -> Grid:
    """The policies that one entry stands for."""
    if isinstance(entry, str):
        entry = {"name": entry}
    if not isinstance(entry, Mapping):
        return Grid(where, {"policy": check_policy(entry)})
    name = entry.get("name", ABSENT)
    if not isinstance(name, str) or name not in policies.POLICIES:
        reason = f"must be one of {', '.join(policies.POLICIES)}"
        remedy = did_you_mean(name, policies.POLICIES) if isinstance(name, str) else POLICY_FORM
        raise InvalidInput(f"{where}.name", name, reason, remedy)
    return Grid(where, entry)


def policies_in(where: str, grid: Grid) -> Iterator[tuple[Policy, dict[str, Any]]]:
    """Every policy of the grid, and what tells it from the others."""
    for options in grid:
        if "policy" in options:
            policy = options["policy"]
            told = {key: value for key, value in policies.to_dict(policy).items() if key != "name"}
        else:
            with reading(where):
                policy = policies.from_dict(options)
            told = {key: value for key, value in options.items() if key != "name"}
        yield policy, {"policy": policy.name, **{f"policy_{key}": value for key, value in told.items()}}


def check_faces(policy: Policy, posed: Posed) -> None:
    """Refuses a policy that cannot face the problem, as one that needs a norm which is not stated."""
    with reading(f"{policy.name} in world {posed.world.name}"):
        policy.plan(posed.problem)


# -- checks -----------------------------------------------------------------------------------------------------------


def check_size(cells: int, runs: int) -> None:
    """Refuses what nobody can have meant."""
    if cells > MOST_CELLS:
        reason = f"makes {cells:,} cells, one for each choice from every list, and {MOST_CELLS:,} are the most"
        raise InvalidInput("plan", f"{cells:,} cells", reason, "Shorten a list, or make several plans.")
    if cells * runs > MOST_RUNS:
        reason = f"makes {cells * runs:,} runs in {counted(cells, 'cell')}, and {MOST_RUNS:,} are the most"
        raise InvalidInput("runs", runs, reason, "Ask for fewer runs, or make several plans.")


def check_alike(cells: Sequence[Cell]) -> None:
    """Refuses two cells of the same content, whose runs would be the same."""
    seen: dict[str, Cell] = {}
    for place, cell in enumerate(cells):
        if cell.key in seen:
            reason = f"is cell {place + 1}, and the same setting as cell {list(seen).index(cell.key) + 1}"
            shown = dict(cell.settings) or cell.policy.name
            raise InvalidInput("plan", shown, reason, "Keep one of the two: their runs would be the same.")
        seen[cell.key] = cell


def entries(value: Any, field: str, form: str) -> Sequence[Any]:
    """The entries of a list of worlds or of policies; one alone stands for a list of one."""
    if value is ABSENT:
        raise InvalidInput(field, ABSENT, "is required", form)
    found = value if isinstance(value, list | tuple) else [value]
    if not found:
        raise InvalidInput(field, value, "is empty", form)
    return found
