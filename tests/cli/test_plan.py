"""`surefoot plan`: tables, JSON and a picture, and refusals before anything runs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from surefoot.cli import main

Typed = Callable[..., Any]
Write = Callable[[str, str], str]
FEW = ("--runs", "10", "--budget", "200")


def test_a_problem_without_a_truth_is_planned_and_drawn(typed: Typed, write: Write, pumps: str, tmp_path: Path) -> None:
    done = typed("plan", write("pumps.toml", pumps), *FEW, "-o", "plan.png")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "Plan for safe-gap: 10 worlds a scenario, budget 200 trials, seed 0"
    assert [line.split()[0] for line in lines[3:6]] == ["kind", "middle", "harsh"]
    assert any(line.startswith("epsilon 0.15 ") for line in lines)
    assert any(line.startswith("reward noise 0.3 in place of 0.5") for line in lines)
    assert lines[-1] == "Picture: plan.png"
    assert (tmp_path / "plan.png").read_bytes().startswith(b"\x89PNG")
    again = typed("plan", "pumps.toml", *FEW, "-o", "plan.png")
    assert again.returncode == 2
    assert "--force" in again.stderr


def test_the_truth_in_a_file_is_not_looked_at(
    typed: Typed, write: Write, pumps: str, pumps_in_a_world: str, strict_json: Callable[[str], Any]
) -> None:
    plain = strict_json(typed("plan", write("a.toml", pumps), *FEW, "--json").stdout)
    told = strict_json(typed("plan", write("b.toml", pumps_in_a_world), *FEW, "--json").stdout)
    assert plain == told
    assert [each["name"] for each in plain["scenarios"]] == ["kind", "middle", "harsh"]
    assert plain["warnings"] == []
    assert plain["picture"] is None


def test_a_pilot_shapes_the_worlds(typed: Typed, write: Write, pumps: str) -> None:
    rows = "arm,level,reward,safety_pressure\n" + "pump A,0.2,0.3,5.8\npump B,0.2,0.05,5.4\n" * 10
    done = typed("plan", write("pumps.toml", pumps), *FEW, "--like", write("pilot.csv", rows))
    assert done.returncode == 0, done.stderr
    assert "The pilot rows (20) shaped these worlds alone." in done.stdout
    assert "not counted as data" in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--runs", "0"], ["--runs = 0"]),
        (["--budget", "0"], ["--budget = 0"]),
        (["--seed", "-1"], ["--seed = -1"]),
        (["--like", "none.csv"], ["--like = 'none.csv'", "cannot be read"]),
        (["--like", "empty.csv"], ["--like", "is empty"]),
        (["-o", "plan.gif"], ["--out = 'plan.gif'", ".png"]),
        (["-o", "no/plan.png"], ["--out", "folder"]),
        (["-o", "plan.png", "--theme", "pink"], ["--theme = 'pink'", "light"]),
        (["-o", "plan.png", "--width", "1"], ["--width = 1"]),
        (["--policy", "safegap"], ["safe-gap"]),
    ],
)
def test_what_cannot_be_planned_is_told_in_one_paragraph_before_anything_runs(
    write: Write, pumps: str, tmp_path: Path, words: list[str], told: list[str], monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    def never(*_: object, **__: object) -> None:
        raise AssertionError("something ran")

    monkeypatch.setattr("surefoot.planning.playing.simulate", never)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)
    write("empty.csv", "")
    status = main(["plan", write("pumps.toml", pumps), *words])
    out, err = capsys.readouterr()
    assert (status, out) == (2, "")
    assert len(err.strip().splitlines()) == 1
    for word in told:
        assert word in err
    assert not (tmp_path / "plan.png").exists()


def test_the_progress_bar_is_for_terminals(typed: Typed, write: Write, pumps: str) -> None:
    typed("plan", write("pumps.toml", pumps), *FEW, "--quiet")  # compiles, if nobody has
    assert typed("plan", "pumps.toml", *FEW).stderr == ""
