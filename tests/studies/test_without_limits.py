"""Studies of problems without limits, and with arms that cannot be tried: kept, opened again, audited, carried on."""

import csv
import json
from collections.abc import Callable
from math import inf
from pathlib import Path

import numpy as np
import pytest

import surefoot as sf
from prompt import Done, prompt_in
from surefoot.errors import InvalidInput

FILE = """
epsilon = 0.3
delta = 0.05

[arms]
x = [1.0, 0.0]
y = [0.0, 1.0]
goal = { features = [0.8, 0.8], pullable = false }

[reward]
noise = 0.2

[world]
theta_star = [1.0, 0.6]
"""


@pytest.fixture
def problem(tmp_path: Path) -> sf.Problem:
    (tmp_path / "field.toml").write_text(FILE)
    return sf.Problem.load(tmp_path / "field.toml")


@pytest.fixture
def storage(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'studies.db'}"


def measured(pull: sf.Pull) -> float:
    noise = np.random.default_rng([3, pull.number]).standard_normal()
    return pull.level * {"x": 1.0, "y": 0.6}[pull.name] + 0.2 * float(noise)


def test_a_study_is_kept_opened_audited_and_carried_on(problem: sf.Problem, storage: str, tmp_path: Path) -> None:
    study = sf.create_study(problem, name="field", storage=storage)
    pull = study.ask()
    assert pull.margin == inf
    study.tell(pull, reward=measured(pull))
    study.add("y", 1.0, 0.55, not_because_of_result=True)
    study.add([{"arm": "x", "level": 1.0, "reward": 0.9}], order="as measured", not_because_of_result=True)
    with pytest.raises(InvalidInput, match="cannot be tried"):
        study.add("goal", 1.0, 1.2, not_because_of_result=True)
    again = sf.load_study("field", storage=storage)
    again.run(measured, max_pulls=400)
    assert again.outcome == "certified"
    assert again.certificate is not None
    assert again.certificate.name == "goal"
    assert "No limits were stated." in again.certificate.statement
    assert again.certificate.delta_safety == 0.0
    assert again.audit().clean
    again.correct(1, reward=0.7, reason="typed wrong", by="me")
    assert again.result(1).readings == []
    trace = again.trace()
    assert trace.readings.shape == (len(trace) + 1, 0)
    assert list(sf.plots.readings_frame(trace)["limit"]) == []
    sf.plots.readings(trace)
    again.export(tmp_path / "field.zip")
    copy = sf.import_study(tmp_path / "field.zip", storage=storage, name="copy")
    assert [each.reward for each in copy.results()] == [each.reward for each in again.results()]


@pytest.fixture
def here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], problem: sf.Problem
) -> Callable[..., Done]:
    """What a command line does, in a folder with the problem."""
    return prompt_in(tmp_path, monkeypatch, capsys)


def test_the_command_line_serves_them(here: Callable[..., Done], tmp_path: Path) -> None:
    shown = here("show", "field.toml")
    assert shown.status == 0
    assert "none are stated" in shown.out
    assert "cannot be tried" in shown.out
    done = here("run", "field.toml", "--json")
    found = json.loads(done.out)
    assert found["certificate"]["name"] == "goal"
    assert found["judged"]["unsafe_pulls"] == 0
    simulated = here("simulate", "field.toml", "--runs", "5")
    assert simulated.status == 0
    assert "no limits" in simulated.out
    theory = here("theory", "field.toml")
    assert theory.status == 0
    assert "lower bound" in theory.out
    printed = here("run", "field.toml", "--quiet").out
    assert "best safe" not in printed
    assert here("study", "create", "field", "field.toml").status == 0
    assert here("study", "ask", "field").status == 0
    assert here("study", "tell", "field", "1", "--reward", "0.5").status == 0
    told = here("study", "show", "field")
    assert told.status == 0
    assert "cannot be tried" in told.out
    refused = here("study", "tell", "field", "1", "--reward", "0.5", "--safety", "3")
    assert "the problem states no limits. Leave it out" in refused.err
    assert here("study", "history", "field", "--out", "history.csv").status == 0
    with (tmp_path / "history.csv").open() as file:
        assert "safety" not in next(csv.reader(file))
    assert here("study", "report", "field", "--out", "report.html").status == 0
    report = (tmp_path / "report.html").read_text()
    assert "none were stated" in report
    assert "cannot be tried" in report
    assert "certified safe" not in report


def test_a_plan_of_a_problem_without_limits(problem: sf.Problem) -> None:
    found = sf.plan(problem, runs=3, budget=300, seed=1)
    assert "limited option" not in str(found)
