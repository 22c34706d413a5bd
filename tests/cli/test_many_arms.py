"""A study with many arms on the command line: what is shown are the arms that matter."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from surefoot.cli import main
from surefoot.cli.study_arms import IN_A_TABLE, MOST_SHOWN

K = 1_200
PROBLEM = """
arms_file = "{file}"
safe_level = 0.2
epsilon = 0.3
delta = 0.05
delta_safety = 0.05
[reward]
noise = 0.5
norm = 3.0
[[safety]]
name = "pressure"
at_most = 8.0
baseline = 5.0
noise = 0.3
norm = 5.0
"""


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """What a command prints, typed in a folder with a problem of many settings in a CSV file and in a .npy file."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
    rows = np.random.default_rng(1).standard_normal((K, 2))
    lines = [f"setting {k},{x!r},{y!r}" for k, (x, y) in enumerate(rows.tolist())]
    (tmp_path / "arms.csv").write_text("\n".join(["name,x,y", *lines]))
    np.save(tmp_path / "arms.npy", rows)
    for kind in ("csv", "npy"):
        (tmp_path / f"{kind}.toml").write_text(PROBLEM.format(file=f"arms.{kind}"))

    def run(*words: str) -> str:
        capsys.readouterr()
        assert main(list(words)) == 0, capsys.readouterr().err
        return capsys.readouterr().out

    return run


def pulled(typed: Callable[..., str], name: str, count: int) -> list[Any]:
    """The pulls of a new study of this problem, each told."""
    typed("study", "create", name, f"{name}.toml")
    pulls = []
    for _ in range(count):
        pulls.append(json.loads(typed("study", "ask", name, "--json"))["pull"])
        typed("study", "tell", name, str(pulls[-1]["number"]), "--reward", "0.1", "--safety", "5.1")
    return pulls


def test_a_study_of_many_settings_shows_those_that_matter(typed: Callable[..., str]) -> None:
    pulls = pulled(typed, "csv", 4)
    tried = {pull["name"] for pull in pulls}
    shown = typed("study", "show", "csv")
    assert all(name in shown for name in tried)
    assert "best estimate" in shown
    assert len(shown.splitlines()) < 15
    document = json.loads(typed("study", "show", "csv", "--json"))["status"]
    listed = set(document["levels"])
    assert tried < listed | {document["best_estimate"]}
    assert f"and {K - len(listed):,} arms never tried" in shown
    assert document["arms"] == K
    assert set(document["pulls_per_arm"]) == listed
    whole = json.loads(typed("study", "show", "csv", "--json", "--all"))["status"]
    assert list(whole["levels"]) == [f"setting {k}" for k in range(K)]
    every = typed("study", "show", "csv", "--all").splitlines()
    assert sum(line.startswith("setting ") for line in every) == K > IN_A_TABLE
    assert not any("never tried" in line for line in every)
    frame = typed("study", "watch", "csv", "--once")
    assert len(frame.splitlines()) < 40
    assert {
        name for name in (f"setting {k}" for k in range(12)) if f"{name} " in frame
    } <= tried  # not the first twelve
    assert len(typed("study", "watch", "csv", "--once", "--json")) < 20_000
    history = json.loads(typed("study", "history", "csv", "--json"))
    assert [row["name"] for row in history["history"]] == [pull["name"] for pull in pulls]


@pytest.mark.parametrize("words", ["show", "run --max-pulls 20", "simulate --runs 1 --max-pulls 9"])
def test_a_document_about_many_settings_says_how_many_there_are(
    typed: Callable[..., str], tmp_path: Path, capsys: pytest.CaptureFixture[str], words: str
) -> None:
    world = "\n[world]\ntheta_star = [1.0, 0.2]\nmu_star = [[0.1, 0.3]]\n"
    (tmp_path / "csv.toml").write_text(PROBLEM.format(file="arms.csv") + world)
    command, *options = words.split()
    assert main([command, "csv.toml", *options, "--json"]) in (0, 3)
    told = capsys.readouterr().out
    assert json.loads(told)["problem"]["arms"] == K
    assert len(told) < 20_000


def test_of_many_that_were_tried_the_busiest_are_listed(typed: Callable[..., str], tmp_path: Path) -> None:
    typed("study", "create", "npy", "npy.toml")
    rows = "\n".join(f"a{k},0.2,0.1,5.1" for k in [*range(1, 81), 60])
    (tmp_path / "results.csv").write_text("arm,level,reward,safety\n" + rows)
    typed("study", "add-table", "npy", "results.csv", "--order", "as measured", "--not-because-of-result")
    shown = typed("study", "show", "npy").splitlines()
    arms = [line.split()[0] for line in shown if line.startswith("a") and not line.startswith(("and", "arm"))]
    assert len(arms) == MOST_SHOWN
    assert "a60" in arms[:4]
    assert any(line.endswith("tried less often") for line in shown)
    assert any(line.endswith("never tried") for line in shown)
