"""A dial in real units on the command line: settings are shown, told and refused in the words that people use."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import surefoot as sf
from surefoot.cli import main

PROBLEM = """
safe_level = "8 mg"
epsilon = 0.3
delta = 0.05
delta_safety = 0.05
max_step = "5 mg"
[dial]
unit = "[b]mg[/b]"
full = 40
[arms]
A = [1.0, 0.0]
B = [0.0, 1.0]
[reward]
noise = 0.5
unit = "€/h"
[[safety]]
name = "pressure"
at_most = 8.0
baseline = 5.0
noise = 0.3
unit = "bar"
[world]
theta_star = [1.5, 0.3]
mu_star = [[4.0, 2.0]]
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> Callable[..., tuple[int, str]]:
    """What a command line does in a folder with a problem file, and what it says in one line."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("SUREFOOT_STORAGE", "sqlite:///lab.db")
    write(tmp_path, PROBLEM.replace("[b]mg[/b]", "mg"))

    def run(*words: str) -> tuple[int, str]:
        status = main(list(words))
        said = capsys.readouterr()
        return status, " ".join((said.out + said.err).split())

    return run


def write(folder: Path, content: str) -> None:
    (folder / "doses.toml").write_text(content)


def test_show_explains_the_dial_and_speaks_in_units(here: Any, tmp_path: Path) -> None:
    said = here("show", "doses.toml")[1]
    for words in (
        "A 8 mg (level 0.2) 40 mg (level 1) 1, 0", "noise 0.5 €/h", "at most 8 bar on the mean, 5 bar when nothing",
        "within 0.3 €/h of the best", "Dial in mg: 40 mg is full strength, level 1", "Steps of 5 mg at most",
    ):  # fmt: skip
        assert words in said
    curve = 'unit = "mg"\nsettings = [0, 10, 40]\neffects = [0, 0.6, 1]\n'
    grid = 'level_grid = ["8 mg", "12 mg", "16 mg", "20 mg", "25 mg"]\n'
    write(tmp_path, grid + PROBLEM.replace('unit = "[b]mg[/b]"\nfull = 40\n', curve))
    said = here("show", "doses.toml")[1]
    assert "a curve of effects, which are the levels: 0 mg has 0, 10 mg has 0.6, 40 mg has 1" in said
    assert "Settings 8 mg, 12 mg, 16 mg, 20 mg, 25 mg" in said


def test_show_tells_the_largest_effects_in_their_units(here: Any, tmp_path: Path) -> None:
    content = (tmp_path / "doses.toml").read_text()
    write(tmp_path, content.replace("noise = ", "largest = 6\nnoise = "))
    said = here("show", "doses.toml")[1]
    assert "noise 0.5 €/h, changed by at most 6 €/h at full strength" in said
    assert "changed by at most 6 bar at full strength" in said


def test_a_unit_that_looks_like_markup_is_shown_as_it_is(here: Any, tmp_path: Path) -> None:
    write(tmp_path, PROBLEM.replace('"8 mg"', "0.2").replace('"5 mg"', "0.125"))
    assert "8 [b]mg[/b] (level 0.2)" in here("show", "doses.toml")[1]
    assert here("study", "create", "doses", "doses.toml")[0] == 0
    assert "A at 8 [b]mg[/b] (level 0.2)" in here("study", "ask", "doses")[1]
    assert "8 [b]mg[/b] (level 0.2)" in here("study", "show", "doses")[1]
    assert "8 [b]mg[/b] (level 0.2)" in here("study", "watch", "doses", "--once")[1]


def test_a_study_is_driven_in_units(here: Any) -> None:
    assert here("study", "create", "doses", "doses.toml")[0] == 0
    assert here("study", "ask", "doses")[1] == "Pull 1: A at 8 mg (level 0.2) (explore)"
    tell = ("study", "tell", "doses", "1", "--reward", "0.4", "--safety", "6.1", "--level")
    for wrong in ("7.5 g", "1_0", "nan", "50 mg", "2"):
        status, said = here(*tell, wrong)
        assert (status, "level" in said) == (2, True)
    assert here(*tell, "7.5mg")[0] == 0
    assert (
        here("study", "add", "doses", "B", "5 mg", "--reward", "0.1", "--safety", "5.2", "--not-because-of-result")[0]
        == 0
    )
    study = sf.load_study("doses", "sqlite:///lab.db")
    assert [each.level for each in study.results()] == [0.1875, 0.125]
    pull = json.loads(here("study", "ask", "doses", "--json")[1])["pull"]
    assert study.problem.dial.level_of(pull["setting"]) <= pull["level"]
    status = json.loads(here("study", "show", "doses", "--json")[1])["status"]
    assert (status["unit"], set(status["settings"])) == ("mg", {"A", "B"})
    assert "told: reward 0.4 €/h, pressure 6.1 bar" in here("study", "watch", "doses", "--once")[1]
    assert "name,level,setting,unit" in here("study", "history", "doses")[1]


def test_run_ends_with_an_answer_in_units(here: Any) -> None:
    said = here("run", "doses.toml", "--seed", "7", "--no-compare")[1]
    assert " mg (level 0." in said.partition("Certificate")[0]
    assert "reward about" in said
    assert "within 0.3 €/h of the best safe option" in said
    document = json.loads(here("run", "doses.toml", "--seed", "7", "--no-compare", "--json", "--quiet")[1])
    answer = document["certificate"]
    assert answer["unit"] == "mg"
    assert sf.Dial("mg", full=40).level_of(answer["setting"]) <= answer["level"]
