"""`surefoot sweep` as it is typed: what it says, what it refuses, and that an interruption loses nothing."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

Typed = Callable[..., Any]
PROGRAM = str(Path(sys.executable).parent / "surefoot")
PLAN = """
runs = 30
seed = 5
[[worlds]]
name = "hard"
omega = [0.2, 0.3]
[problem]
delta = 0.05
delta_safety = 0.05
[[policies]]
name = "safe-gap"
[[policies]]
name = "safe-lingape"
selection = ["conservative", "optimistic"]
"""


@pytest.fixture
def plan(write: Callable[[str, str], str]) -> str:
    return write("plan.toml", PLAN)


def test_size_progress_and_a_row_for_each_cell_are_told(plan: str, typed: Typed, tmp_path: Path) -> None:
    done = typed("sweep", plan, "--out", "new")
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("6 cells x 30 runs = 180 runs by threads, seed 5\n")
    assert done.stderr.endswith("180 of 180 runs\n")
    head, *rows = done.stdout.splitlines()[:7]
    assert head.split() == ["world", "policy", "omega", "selection", "pulls", "certified", "wrong", "unsafe"]
    assert [row.split()[1] for row in rows] == ["safe-gap", "safe-lingape", "safe-lingape"] * 2
    assert all("30 of 30" in row for row in rows)
    assert len(pd.read_parquet(tmp_path / "new" / "runs")) == 180
    again = typed("sweep", plan, "--out", "new", "--runs", "35")
    assert "180 of 210 runs are there from before" in again.stderr


def test_with_json_the_output_is_one_document(plan: str, typed: Typed, strict_json: Any) -> None:
    done = typed("sweep", plan, "--json", "--confidence", "0.99", "--runs", "10", "--seed", "1")
    found = strict_json(done.stdout)
    assert (done.returncode, done.stderr) == (0, "")
    assert (found["runs"], found["seed"], found["engine"], found["folder"]) == (10, 1, "threads", "surefoot-sweep")
    assert len(found["cells"]) == 6
    assert found["cells"][0]["confidence"] == 0.99
    assert found["cells"][0]["world_omega"] == 0.2


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (("--engine", "threds"), "--engine = 'threds': must be one of threads, processes, dask, ray. Did you mean"),
        (("--scheduler", "tcp://head:8786"), "--scheduler = 'tcp://head:8786': is of no use to threads."),
        (("--workers", "0"), "--workers = 0"),
        (("--runs", "0"), "--runs = 0"),
        (("--seed", "-1"), "--seed = -1"),
        (("--runs", "9999999999999"), "makes 59,999,999,999,994 runs in 6 cells"),
        (("--confidence", "1"), "--confidence = 1"),
        (("--out", "plan.toml"), "--out = 'plan.toml': is a file"),
    ],
)  # fmt: skip
def test_bad_words_are_refused_before_any_work(
    plan: str, typed: Typed, tmp_path: Path, words: tuple[str, ...], refusal: str
) -> None:
    done = typed("sweep", plan, *words)
    assert done.returncode == 2
    assert refusal in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["plan.toml"]


def test_what_a_plan_says_wrong_is_named_with_its_file(write: Any, typed: Typed, tmp_path: Path) -> None:
    done = typed("sweep", write("bad.toml", PLAN.replace('"safe-gap"', '"safe-gab"')))
    assert done.returncode == 2
    assert "policies[0].name = 'safe-gab'" in done.stderr
    assert "Did you mean 'safe-gap'? (while reading bad.toml)" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["bad.toml"]


def test_another_seed_in_the_same_folder_is_refused(plan: str, typed: Typed) -> None:
    typed("sweep", plan, "--runs", "10")
    done = typed("sweep", plan, "--seed", "6")
    assert done.returncode == 2
    assert "Continue with --seed 5, or name another folder with --out." in done.stderr


@pytest.mark.parametrize("engine", ["threads", "processes", "dask"])
def test_ctrl_c_keeps_what_is_finished_and_says_how_to_continue(plan: str, tmp_path: Path, engine: str) -> None:
    words = [PROGRAM, "sweep", plan, "--runs", "400", "--engine", engine, "--workers", "2", "--out", "new"]
    process = subprocess.Popen(
        words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    until = time.monotonic() + 120
    while len(list(tmp_path.rglob("*-*.parquet"))) < 3 and process.poll() is None and time.monotonic() < until:
        time.sleep(0.005)
    os.killpg(process.pid, signal.SIGINT)  # a terminal interrupts everybody, the workers too
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert out == ""
    assert "error: Interrupted: every finished run is kept in new. The same command continues from there." in err
    assert "Traceback" not in err
    assert 3 <= len(list(tmp_path.rglob("*-*.parquet"))) < 48
    assert not list(tmp_path.rglob("*.part"))


def test_help_teaches_by_example(typed: Typed) -> None:
    shown = typed("sweep", "--help").stdout
    for word in ("[[worlds]]", "[problem]", "[[policies]]", "--engine", "--scheduler", "tcp://head:8786", "continues"):
        assert word in shown
