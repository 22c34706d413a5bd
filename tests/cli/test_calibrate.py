"""`surefoot calibrate`: words, JSON, a picture and a file that show takes; and refusals before anything is written."""

import json
import os
import pty
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import surefoot as sf
from surefoot.cli import main

ROW = "pump {arm},{level:g},{reward:.3f},{pressure:.3f}\n"
PILOT = "arm,level,reward,safety_pressure\n" + "".join(
    ROW.format(
        arm="AB"[k % 2], level=0.1 + 0.1 * (k // 2 % 2), reward=0.3 + 0.07 * (k * 7 % 11 - 5),
        pressure=5.6 + 0.05 * (k * 5 % 13 - 6),
    )
    for k in range(40)
)  # fmt: skip
Here = Callable[..., tuple[int, str, str]]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any, pumps: str) -> Here:
    """What a command line does in a folder with a pilot and a problem."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    (tmp_path / "pilot.csv").write_text(PILOT)
    (tmp_path / "pumps.toml").write_text(pumps)

    def run(*words: str) -> tuple[int, str, str]:
        status = main(list(words))
        said = capsys.readouterr()
        return status, said.out, said.err

    return run


def test_a_pilot_is_told_drawn_and_written_and_show_takes_the_file(here: Here, tmp_path: Path) -> None:
    status, said, _ = here(
        "calibrate", "pilot.csv", "pumps.toml", "-o", "suggested.toml", "--plot", "pilot.png", "--confidence", "0.99"
    )
    assert status == 0
    assert said.startswith("Calibration by 40 pilot rows of 2 of 2 arms at levels 0.1 to 0.2\n")
    assert "with 99 % confidence" in said
    assert "surefoot show suggested.toml" in said
    assert (tmp_path / "pilot.png").read_bytes().startswith(b"\x89PNG")
    status, shown, _ = here("show", "suggested.toml")
    assert status == 0
    problem = sf.Problem.load(tmp_path / "suggested.toml")
    assert (problem.delta, problem.delta_safety) == (0.04, 0.04)
    assert f"noise {problem.reward.noise:g}" in shown
    assert isinstance(problem.reward.noise, float)
    assert problem.reward.noise < 0.5
    assert here("plan", "suggested.toml", "--runs", "10", "--budget", "50", "--quiet")[0] == 0


def test_json_has_all_that_is_said(here: Here) -> None:
    status, said, _ = here("calibrate", "pilot.csv", "pumps.toml", "--json")
    assert status == 0
    table = json.loads(said)
    assert [each["name"] for each in table["signals"]] == ["reward", "pressure"]
    assert table["signals"][0]["noise"]["by"] == "repeats"
    assert (table["risk"], table["path"], table["picture"]) == (0.0125, None, None)


def test_what_is_there_is_not_replaced_without_force(here: Here, tmp_path: Path) -> None:
    for option, name in (("-o", "mine.toml"), ("--plot", "mine.png")):
        (tmp_path / name).write_text("mine")
        status, said, error = here("calibrate", "pilot.csv", "pumps.toml", option, name)
        assert (status, said, (tmp_path / name).read_text()) == (2, "", "mine")
        assert "--force" in error
        assert here("calibrate", "pilot.csv", "pumps.toml", option, name, "--force")[0] == 0
        assert (tmp_path / name).read_bytes() != b"mine"


def test_the_file_keeps_the_words_the_arms_file_and_the_world_of_the_one_it_is_made_from(
    here: Here, tmp_path: Path
) -> None:
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "arms.csv").write_text("name,a,b\npump A,1,0\npump B,0,1\n")
    (tmp_path / "lab" / "dial.toml").write_text(
        'arms_file = "arms.csv"\nsafe_level = "8 mg"\nepsilon = 0.3\ndelta = 0.05\ndelta_safety = 0.05\n'
        'max_step = "5 mg"\n[dial]\nunit = "mg"\nfull = 40\n[reward]\nnoise = 0.5\n[[safety]]\nname = "pressure"\n'
        'at_most = 8.0\nbaseline = 5.0\nnoise = 0.3\n[world]\ntheta_star = [1.5, 0.3]\nmu_star = [[4.0, 2.0]]\n'
    )  # fmt: skip
    assert here("calibrate", "pilot.csv", "lab/dial.toml", "-o", "suggested.toml")[0] == 0
    table = tomllib.loads((tmp_path / "suggested.toml").read_text())
    assert (table["arms_file"], table["safe_level"], table["max_step"]) == ("lab/arms.csv", "8 mg", "5 mg")
    assert table["world"]["theta_star"] == [1.5, 0.3]
    status, said, _ = here("show", "suggested.toml")
    assert status == 0
    assert "surefoot run suggested.toml simulates it" in said


def test_a_json_file_and_one_that_names_a_world_are_calibrated_too(here: Here, tmp_path: Path) -> None:
    sf.Problem.load(tmp_path / "pumps.toml").save(tmp_path / "pumps.json")
    assert here("calibrate", "pilot.csv", "pumps.json", "-o", "a.toml")[0] == 0
    assert here("show", "a.toml")[0] == 0
    (tmp_path / "named.toml").write_text('[world]\nname = "limited"\n')
    problem = sf.worlds.limited().default_problem()
    columns = ",".join(["arm", "level", "reward", *(f"safety_{each.name}" for each in problem.safety)])
    rows = "".join(f"{k % 2},0.1,{0.1 * (k % 5)}{f',{0.03 * (k % 7)}' * len(problem.safety)}\n" for k in range(30))
    (tmp_path / "limited.csv").write_text(f"{columns}\n{rows}")
    status, _, error = here("calibrate", "limited.csv", "named.toml", "-o", "b.toml", "--confidence", "0.9999")
    assert status == 0, error
    assert sf.Problem.load(tmp_path / "b.toml").size == problem.size


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["none.csv", "pumps.toml"], ["PILOT = 'none.csv'", "cannot be read"]),
        (["pilot.csv", "none.toml"], ["cannot be read"]),
        (["pilot.csv", "pumps.toml", "-o", "suggested.json"], ["--out", "must end in .toml"]),
        (["pilot.csv", "pumps.toml", "-o", "no/suggested.toml"], ["--out", "folder"]),
        (["pilot.csv", "pumps.toml", "--plot", "pilot.gif"], ["--plot", ".png"]),
        (["pilot.csv", "pumps.toml", "--plot", "pilot.png", "--theme", "pink"], ["--theme"]),
        (["pilot.csv", "pumps.toml", "--confidence", "1"], ["--confidence = 1"]),
        (["pilot.csv", "pumps.toml", "--confidence", "0.95", "-o", "suggested.toml"], ["--confidence", "above 0.95"]),
        (["bad.csv", "pumps.toml", "-o", "suggested.toml"], ["row 1, column 'level'", "row 2, column 'arm'"]),
        (["swapped.csv", "pumps.toml"], ["has no column 'reward'"]),
    ],
)
def test_what_cannot_be_is_told_in_one_paragraph_and_nothing_is_written(
    here: Here, tmp_path: Path, words: list[str], told: list[str]
) -> None:
    (tmp_path / "bad.csv").write_text("arm,level,reward,safety\npump A,7,1,6\npump X,0.2,1,6\n")
    (tmp_path / "swapped.csv").write_text("arm,level,rewards,safety\npump A,0.1,1,6\n")
    before = sorted(path.name for path in tmp_path.iterdir())
    status, said, error = here("calibrate", *words)
    assert (status, said) == (2, "")
    assert len(error.strip().splitlines()) == 1
    for word in told:
        assert word in error
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_names_that_act_on_a_terminal_do_not(here: Here, tmp_path: Path) -> None:
    (tmp_path / "pilot.csv").write_text("arm,level,reward,safety\n\x1b[31mpump,0.2,1,6\n")
    status, _, error = here("calibrate", "pilot.csv", "pumps.toml")
    assert status == 2
    assert "\x1b" not in error


def test_on_a_terminal_the_words_fit(here: Here, tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    program = str(Path(sys.executable).parent / "surefoot")
    env = {**os.environ, "NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "80"}
    done = subprocess.Popen([program, "calibrate", "pilot.csv", "pumps.toml"], cwd=tmp_path, stdout=theirs, env=env)
    os.close(theirs)
    seen = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:
            break
        if not part:
            break
        seen += part
    os.close(ours)
    assert done.wait(timeout=60) == 0
    assert max(map(len, seen.decode().splitlines())) <= 80
