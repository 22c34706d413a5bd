"""`surefoot compare` as it is typed: what it says, what it writes, what it refuses."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from surefoot.cli import main
from surefoot.cli.compare import policy_of, world_of

Typed = Callable[..., Any]
WORDS = ("--policies", "safe-gap,lingape:radius=norm,frank-wolfe", "--worlds", "limited", "--delta", "0.1")


def test_a_table_a_page_and_a_folder_are_made_and_gone_on_with(typed: Typed, tmp_path: Path, strict_json: Any) -> None:
    done = typed("compare", *WORDS, "--runs", "4", "-o", "report.html")
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("3 policies, 4 runs each, by threads, seed 0\n")
    title, head, *rows = done.stdout.splitlines()
    assert title == "limited"
    assert head.split()[:4] == ["policy", "sets", "delta", "pulls"]
    assert [row.split()[:2] for row in rows[:3]] == [["safe-gap", "ours"], ["lingape", "norm"], ["frank-wolfe", "ours"]]
    assert "refuses: epsilon" in rows[2]
    assert "Report   report.html" in done.stdout
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "surefoot compare --policies safe-gap,lingape:radius=norm,frank-wolfe --worlds limited --delta 0.1" in page
    again = typed("compare", *WORDS, "--runs", "6", "--json")
    found = strict_json(again.stdout)
    assert (again.returncode, again.stderr) == (0, "")
    assert [row["runs"] for row in found["rows"]] == [6, 6, 0]
    assert found["folder"] == "surefoot-compare"


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (("--policies", "safe-gapp"), "--policies = 'safe-gapp': must be one of"),
        (("--policies", "safe-gap,"), "names nothing between two commas"),
        (("--policies", "lingape:stop=own"), "stop is no option of lingape. Its options are pull, explore, radius."),
        (("--policies", "safe-lingape:null_pull=maybe"), "neither true nor false"),
        (("--policies", "nowhere.py:Mine"), "--policies = 'nowhere.py:Mine': there is no file"),
        (("--worlds", "harder"), "is not the name of a world"),
        (("--worlds", "hard:delta=0.1"), "is not of one world"),
        (("--delta", "small"), "--delta = 'small': must be a number"),
        (("--delta", "2"), "--delta = 2"),
        (("--radius", "our"), "--radius = 'our': must be one of"),
        (("--runs", "0"), "--runs = 0"),
        (("-o", "report.pdf"), "--report = 'report.pdf': is no report"),
        (("-o", "nowhere/report.html"), "is in a folder that is not there"),
    ],
)  # fmt: skip
def test_bad_words_are_refused_before_any_work(
    words: tuple[str, str], refusal: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert main(["compare", *WORDS, *words]) == 2
    assert refusal in " ".join(capsys.readouterr().err.split())
    assert list(tmp_path.iterdir()) == []


def test_words_say_what_tables_say(tmp_path: Path) -> None:
    assert policy_of("frank-wolfe:stop=own") == {"name": "frank-wolfe", "stop": "own"}
    explored = policy_of("safe-lingape:explore=round-robin:8@0.2:null_pull=true")
    assert explored["explore"]["kind"] == "round-robin"
    assert explored["null_pull"] is True
    assert world_of("hard:dim=3/6:omega=0.2:epsilon=0") == {"name": "hard", "dim": [3, 6], "omega": 0.2, "epsilon": 0}
    assert world_of("problem.toml:epsilon=0.1") == {"file": "problem.toml", "epsilon": 0.1}
    file = tmp_path / "mine.py"
    file.write_text("from surefoot import LinGapE\nclass Mine(LinGapE):\n    name = 'mine'\n")
    assert policy_of(f"{file}:Mine:radius=norm").radius == "norm"
