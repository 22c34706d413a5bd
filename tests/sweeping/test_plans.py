"""Plans: lists make cells, every bad field is refused by its name, and nothing is begun before that."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import surefoot as sf
from surefoot.errors import InvalidInput
from surefoot.sweeping import Cell, Plan
from surefoot.sweeping.plans import plan_of

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
TOML = """
runs = 12
seed = 3
max_pulls = [1000, 2000]

[[worlds]]
name = "hard"
omega = [0.1, 0.2]

[[worlds]]
name = "doses"
efficacy = [0.4, 0.8]
toxicity = [[0.3, 0.9], [0.3, 0.4]]

[problem]
delta = [0.05, 0.1]
level_grid = [0.05, 0.1, 0.2, 0.4, 0.8, 1.0]

[[policies]]
name = "safe-gap"

[[policies]]
name = "safe-lingape"
selection = ["conservative", "optimistic"]
explore = { kind = "round-robin", rounds = 40 }
"""


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    (tmp_path / "plan.toml").write_text(TOML)
    return plan_of(tmp_path / "plan.toml")


def test_every_choice_from_the_lists_is_a_cell(plan: Plan) -> None:
    assert len(plan.cells) == (2 + 2) * 2 * 3 * 2
    assert plan.size == "48 cells x 12 runs = 576 runs"
    assert (plan.runs, plan.seed) == (12, 3)
    assert {cell.max_pulls for cell in plan.cells} == {1000, 2000}
    assert {cell.problem.delta for cell in plan.cells} == {0.05, 0.1}
    assert len({cell.key for cell in plan.cells}) == 48
    doses = [cell for cell in plan.cells if cell.world.name == "doses"]
    assert {tuple(cell.settings["world_toxicity"]) for cell in doses} == {(0.3, 0.9), (0.3, 0.4)}
    assert {tuple(cell.settings["world_efficacy"]) for cell in doses} == {(0.4, 0.8)}
    explored = sf.SafeLinGapE(explore=sf.RoundRobin(40))
    assert {cell.policy for cell in plan.cells} == {
        sf.SafeGap(), explored, replace(explored, selection="optimistic")
    }  # fmt: skip


def test_settings_tell_what_was_asked_for_and_the_problem_that_came_of_it(plan: Plan) -> None:
    settings = dict(plan.cells[-1].settings)
    assert settings["policy_explore"] == {"kind": "round-robin", "rounds": 40}
    assert settings["policy_selection"] == "optimistic"
    assert (settings["delta"], settings["max_pulls"], settings["arms"]) == (0.1, 2000, 2)
    assert plan.cells[-1].problem.level_grid == (0.05, 0.1, 0.2, 0.4, 0.8, 1.0)


def test_a_table_in_python_takes_worlds_and_policies_as_they_are() -> None:
    world = sf.worlds.limited()
    plan = plan_of({"worlds": [world, "hard"], "policies": [sf.SafeGap(), "lingape"], "problem": {"epsilon": 0.3}})
    assert [(cell.world.name, cell.policy.name) for cell in plan.cells] == [
        ("limited", "safe-gap"), ("limited", "lingape"), ("hard", "safe-gap"), ("hard", "lingape")
    ]  # fmt: skip
    assert plan.cells[0].problem == world.default_problem().with_(epsilon=0.3)


def test_the_same_setting_has_the_same_key_however_it_is_written(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text(json.dumps({"worlds": {"name": "hard", "omega": 0.1}}))
    world = sf.worlds.hard()
    by_hand = Cell(world, world.paper_problem(), sf.SafeGap())
    (written,), (named,) = plan_of(tmp_path / "plan.json").cells, plan_of({"worlds": "hard"}).cells
    assert written.key == named.key == by_hand.key
    for other in (
        Cell(world, world.paper_problem(), sf.SafeLinGapE()),
        Cell(world, world.paper_problem(delta=0.01), sf.SafeGap()),
        Cell(world, world.paper_problem(), sf.SafeGap(), max_pulls=7),
        Cell(world, world.paper_problem(), sf.SafeGap(), alarm=0.01),
        Cell(sf.worlds.hard(distribution="uniform"), world.paper_problem(), sf.SafeGap()),
    ):
        assert other.key != by_hand.key


def test_a_problem_file_is_a_world_too(tmp_path: Path) -> None:
    (tmp_path / "pumps.toml").write_text((EXAMPLES / "pumps.toml").read_text())
    (tmp_path / "plan.toml").write_text('[[worlds]]\nfile = "pumps.toml"\n[problem]\nepsilon = [0.2, 0.4]')
    plan = plan_of(tmp_path / "plan.toml", runs=5, seed=9)
    assert [cell.problem.epsilon for cell in plan.cells] == [0.2, 0.4]
    assert plan.cells[0].problem.names == ("pump A", "pump B", "both")
    assert (plan.runs, plan.seed) == (5, 9)


HARD: dict[str, Any] = {"worlds": ["hard"]}
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({}, "worlds is not given: is required. Write worlds"),
    ({"worlds": []}, r"worlds = \[\]: is empty"),
    ({"world": ["hard"]}, "world = .*: is not a known key. Did you mean worlds"),
    ({"worlds": ["doses", "hrad"]}, r"worlds\[1\].name = 'hrad': .*Did you mean 'hard'"),
    ({"worlds": [{"name": "hrad"}]}, r"worlds\[0\].name = 'hrad': is not the name of a world. Did you mean 'hard'"),
    ({"worlds": ["doses", {"omega": 0.1}]}, r"worlds\[1\].name is not given"),
    ({"worlds": [7]}, r"worlds\[0\] = 7: must be the name of a world"),
    ({"worlds": [{"name": "hard", "omga": 0.1}]}, r"worlds\[0\]\['omga'\] = 0.1: .*Did you mean 'omega'"),
    ({"worlds": [{"name": "hard", "omega": []}]}, r"worlds\[0\].omega = \[\]: is a list without a value"),
    ({"worlds": [{"name": "hard", "omega": [0.1, 0.2, 0.1]}]}, r"worlds\[0\].omega = .*: holds 0.1 twice"),
    ({"worlds": [{"name": "hard", "omega": [0.1, 9.0]}]}, r"omega = 9.0: .*while reading worlds\[0\]"),
    ({"worlds": [{"file": 3}]}, r"worlds\[0\].file = 3: must be the path of a problem file"),
    ({"worlds": [{"file": "a.toml", "name": "hard"}]}, r"worlds\[0\].name = 'hard': is given beside file.*Give one"),
    ({"worlds": ["hard", 1]}, r"worlds\[1\] = 1: must be the name of a world"),
    ({"worlds": [{"name": "hard", "dim": 10**9}]}, r"dim.*features of all arms together"),
    ({"worlds": [{"file": "nowhere.toml"}]}, r"nowhere.toml.*cannot be read.*while reading worlds\[0\]"),
    ({**HARD, "problem": {"epsilom": 1}}, r"problem\['epsilom'\] = 1: .*Did you mean 'epsilon'"),
    ({**HARD, "problem": {"arms": [[1.0]]}}, r"problem\['arms'\]"),
    ({**HARD, "problem": {"delta": [0.1, 1.5]}}, "delta = 1.5: .*while reading problem"),
    ({**HARD, "problem": 0.1}, "problem = 0.1: must be a table"),
    ({**HARD, "policies": ["safe-gab"]}, r"policies\[0\].name = 'safe-gab': .*Did you mean 'safe-gap'"),
    ({**HARD, "policies": []}, r"policies = \[\]: is empty"),
    ({**HARD, "policies": [sf.SafeGap]}, "is a class, not an object"),
    ({**HARD, "policies": [{"name": "safe-gap", "levels": "static"}]}, r"policy.levels = 'static': is not an option"),
    ({**HARD, "policies": [{"name": "safe-lingape", "selection": ["optimistic", "bold"]}]}, "selection = 'bold'"),
    ({**HARD, "policies": [{"name": "lingape", "explore": {"kind": "rond"}}]}, "policy.explore.kind = 'rond'"),
    ({**HARD, "policies": ["lingape", sf.LinGapE()]}, "is cell 2, and the same setting as cell 1. Keep one"),
    ({**HARD, "runs": 0}, "runs = 0"),
    ({**HARD, "runs": [1, 2]}, r"runs = \[1, 2\]"),
    ({**HARD, "runs": "many"}, "runs = 'many'"),
    ({**HARD, "runs": 10**12}, "runs = 1000000000000: makes 1,000,000,000,000 runs in 1 cell"),
    ({**HARD, "seed": -1}, "seed = -1"),
    ({**HARD, "max_pulls": [100, 0]}, "max_pulls = 0"),
    ({**HARD, "alarm": 2}, "alarm = 2"),
    (
        {"worlds": [{"name": "hard", "omega": [k / 999 for k in range(1, 1001)], "noise": list(range(1, 200))}]},
        "plan = '199,000 cells': makes 199,000 cells.*100,000 are the most. Shorten a list",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("table", "words"), REFUSED, ids=[words for _, words in REFUSED])
def test_every_bad_field_is_refused_by_name(table: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as caught:
        sf.sweep(table, out=tmp_path / "new")
    said = " ".join([str(caught.value), *getattr(caught.value, "__notes__", [])])
    assert re.search(words, said), said
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("plan", [None, 7, ["hard"]])
def test_what_is_no_plan_is_refused(plan: Any, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="must be a path, a table or a Plan"):
        sf.sweep(plan, out=tmp_path)


def test_a_policy_that_cannot_face_a_problem_is_refused_before_anything_is_run(tmp_path: Path) -> None:
    problem = sf.Problem.load(EXAMPLES / "pumps.toml")
    world = sf.worlds.Linear.for_problem(problem, theta_star=[1.5, 0.3], mu_star=[[4.0, 2.0]])
    with pytest.raises(InvalidInput, match="norm") as caught:
        sf.sweep({"worlds": [world], "policies": ["safe-gap", "safe-lingape"]}, out=tmp_path / "new")
    assert "while reading safe-lingape in world linear" in caught.value.__notes__
    assert not (tmp_path / "new").exists()
