"""Whatever is wrong is told in one paragraph with a status that means something, never in a traceback."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Typed = Callable[..., Any]
Write = Callable[[str, str], str]

PROGRAM = str(Path(sys.executable).parent / "surefoot")

BAD_WORDS = {
    ("run", "missing.toml"): "cannot be read",
    ("run", "--world", "nowhere"): "is not the name of a world",
    ("run", "--policy", "nobody"): "must be one of safe-gap, safe-lingape, lingape, uniform",
    ("run", "--policy", "lingape", "--levels", "static"): "is not an option here",
    ("run", "--policy", "lingape", "--explore", "round-robin:many"): "must read KIND:ROUNDS@LEVEL",
    ("run", "--explore", "round-robin:40"): "belongs to safe-lingape, lingape and uniform",
    ("run", "--selection", "optimistic"): "belongs to safe-lingape and uniform",
    ("run", "--policy", "safe-lingape", "--explore", "round-robin:40@0.9"): "known to be safe",
    ("run", "--max-pulls", "0"): "at least 1",
    ("run", "--seed", "one"): "--seed",
    ("run", "--nonsense"): "No such option",
    ("walk",): "No such command",
    ("simulate", "--runs", "0"): "at least 1",
    ("simulate", "--out", "runs.xlsx"): "ends in .parquet or .csv",
    ("simulate", "--out", "nowhere/runs.csv"): "folder that does not exist",
    ("simulate", "--confidence", "95"): "between 0 and 1",
    ("show", "problem.yaml"): "is of no known format",
    ("show", ""): "is empty",
    ("sweep", "plan.toml", "--out", ""): "'--out': is empty",
    ("study", "history", "lab", "--out="): "'--out': is empty",
}


@pytest.mark.parametrize(("words", "reason"), BAD_WORDS.items(), ids=lambda value: str(value)[:40])
def test_bad_input_is_one_paragraph_and_status_2(typed: Typed, words: tuple[str, ...], reason: str) -> None:
    quiet = ["--quiet"] if words[0] in ("run", "simulate") else []  # it may have to say that it compiles
    done = typed(*words, *quiet)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert reason in done.stderr
    assert "Traceback" not in done.stderr


BAD_FILES = {
    "no world": ("", "surefoot show"),
    "unknown key in the world": ("[world]\ntheta = [1, 0]\n", "is not a known key"),
    "half a truth": ("[world]\ntheta_star = [1.5, 0.3]\n", "world.mu_star is not given"),
    "a truth of the wrong length": ("[world]\ntheta_star = [1.5]\nmu_star = [[4.0, 2.0]]\n", "theta_star"),
    "a world that is no table": ('world = "hard"\n', "must be a table"),
    "another world's arms": ('[world]\nname = "hard"\n', "differ from the arms"),
    "an unknown parameter": ('[world]\nname = "hard"\nomga = 0.1\n', "Did you mean 'omega'?"),
    "a name that is no text": ("[world]\nname = 3\n", "world.name = 3"),
    "a policy that is no table": ('policy = "uniform"\n', "policy = 'uniform': must be a table"),
}


@pytest.mark.parametrize(("content", "reason"), BAD_FILES.values(), ids=BAD_FILES)
def test_a_bad_file_is_named_with_what_is_wrong_in_it(
    typed: Typed, write: Write, pumps: str, content: str, reason: str
) -> None:
    whole = pumps + content if content.startswith("[") or not content else content + pumps
    if content.startswith("policy"):
        whole += "[world]\ntheta_star = [1.5, 0.3]\nmu_star = [[4.0, 2.0]]\n"
    done = typed("run", write("bad.toml", whole))
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert reason in done.stderr
    assert "(while reading bad.toml)" in done.stderr


@pytest.mark.parametrize("words", [("run", "missing.toml"), ("run", "--nonsense"), ("show", "missing.json")])
def test_with_json_an_error_is_the_one_document(
    typed: Typed, words: tuple[str, ...], strict_json: Callable[[str], Any]
) -> None:
    done = typed(*words, "--json")
    found = strict_json(done.stdout)
    assert (done.returncode, done.stderr, found["exit_status"]) == (2, "", 2)
    assert set(found["error"]) == {"kind", "message", "field", "value", "remedy", "facts"}
    assert found["error"]["message"]


def test_errors_are_red_where_colours_are_shown(typed: Typed) -> None:
    done = typed("run", "--world", "nowhere", FORCE_COLOR="1", NO_COLOR="")
    assert "\x1b[31m" in done.stderr


def test_developers_can_see_the_traceback(typed: Typed) -> None:
    assert "Traceback" in typed("run", "--world", "nowhere", SUREFOOT_TRACEBACK="1").stderr


def test_a_reader_who_leaves_early_is_no_error() -> None:
    with subprocess.Popen([PROGRAM, "worlds"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        told = process.stderr.read()
    assert process.returncode == 141
    assert told == ""


def test_ctrl_c_ends_a_run_with_status_130_and_certifies_nothing(tmp_path: Path, pumps_in_a_world: str) -> None:
    (tmp_path / "pumps.toml").write_text(pumps_in_a_world.replace("epsilon = 0.3", "epsilon = 1e-9"))
    unending = ["run", "pumps.toml", "--no-compare", "--max-pulls", "100000000"]
    with subprocess.Popen([PROGRAM, *unending], cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        while " pulls  " not in (line := process.stderr.readline()):
            assert line, "it ended by itself"
        process.send_signal(signal.SIGINT)
        told = process.stderr.read()
    assert process.returncode == 130
    assert "error: Interrupted after" in told
    assert "nothing is certified" in told
    assert "Traceback" not in told


def test_ctrl_c_keeps_the_runs_that_are_finished(
    typed: Typed, tmp_path: Path, strict_json: Callable[[str], Any]
) -> None:
    assert typed("simulate", "--runs", "1").returncode == 0  # nothing is left to compile
    words = ["simulate", "--runs", "100000000", "--json"]
    with subprocess.Popen(
        [PROGRAM, *words], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        time.sleep(8.0)  # at work by now; a signal that came too early would end with the same status
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    found = strict_json(out)
    assert (process.returncode, err) == (130, "")
    assert "error" in found or found["policies"][0]["summary"]["interrupted"] is True
