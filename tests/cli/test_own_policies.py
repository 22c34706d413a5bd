"""Policies of the user's own on the command line: handed in by --policy, and never imported because data name them."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from surefoot.cli import main
from surefoot.policies import POLICIES

Typed = Callable[..., Any]
Write = Callable[[str, str], str]

MINE = '''
from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import surefoot as sf
from beside import ROUNDS


@dataclass(frozen=True)
class Patient:
    """Safe-LinGapE that explores for a while."""

    name: ClassVar[str] = "patient"
    version: ClassVar[int] = 1
    rounds: int = ROUNDS
    mood: Literal["calm", "bold"] = "calm"
    loud: bool = False
    seed: int = 0

    def __post_init__(self):
        if self.rounds > 100:
            raise ValueError("that is not patient any more")

    def guarantee(self, problem):
        return sf.SafeLinGapE().guarantee(problem)

    def plan(self, problem):
        if self.mood == "bold":
            raise ZeroDivisionError("too bold")
        return sf.SafeLinGapE(explore=sf.RoundRobin(self.rounds)).plan(problem)


class Plain:
    """A policy that is no dataclass."""

    name, version = "plain", 1
    guarantee = Patient.guarantee

    def plan(self, problem):
        return sf.SafeLinGapE().plan(problem)


class Half:
    name = "half"


SHORT = Patient(rounds=2)
'''
OWN = '[policy]\nname = "patient"\nrounds = 6\n'
PROBE = "from pathlib import Path\nPath('imported').touch()\nclass Patient: pass\n"


class Done(NamedTuple):
    """What a command did."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def lab(typed: Typed, write: Write, pumps_in_a_world: str, tmp_path: Path) -> Typed:
    """What a command does, typed in a folder with policies and files; interpreted, since nothing runs for long."""
    write("mine.py", MINE)
    write("beside.py", "ROUNDS = 4\n")
    (tmp_path / "pack").mkdir()
    write("pack/__init__.py", "")
    write("pack/inner.py", "from mine import Patient\n")
    write("pumps.toml", pumps_in_a_world)
    write("own.toml", pumps_in_a_world + OWN)

    def run(*words: str) -> Any:
        return typed(*words, SUREFOOT_INTERPRET="1", SUREFOOT_STORAGE="")

    return run


@pytest.fixture
def here(lab: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Typed:
    """The same without the start of a process: what is imported meanwhile is forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in ("mine", "mine.py", "beside", "pack"):
        monkeypatch.delitem(sys.modules, name, raising=False)

    for name, value in {"SUREFOOT_INTERPRET": "1", "SUREFOOT_STORAGE": "", "NO_COLOR": "1", "COLUMNS": "100"}.items():
        monkeypatch.setenv(name, value)

    def run(*words: str) -> Done:
        capsys.readouterr()
        return Done(main(list(words)), *capsys.readouterr())

    return run


SHORT_RUN = ("--max-pulls", "8", "--no-compare", "--json")


@pytest.mark.parametrize("place", ["mine:Patient", "mine.py:Patient", "./mine.py:Patient", "pack.inner:Patient"])
def test_a_policy_in_a_users_own_file_runs(lab: Typed, place: str) -> None:
    done = lab("run", "pumps.toml", "--policy", place, "--rounds", "3", "--loud", "--policy-seed", "9", *SHORT_RUN)
    found = json.loads(done.stdout)
    assert (done.returncode, found["pulls"]) == (3, 8)
    assert found["policy"] == {"name": "patient", "rounds": 3, "mood": "calm", "loud": True, "seed": 9}


def test_an_object_is_taken_as_it_is_and_its_options_can_be_changed(here: Typed) -> None:
    found = json.loads(here("run", "pumps.toml", "--policy", "mine:SHORT", *SHORT_RUN).stdout)
    assert found["policy"]["rounds"] == 2
    changed = json.loads(here("run", "pumps.toml", "--policy", "mine:SHORT", "--loud", *SHORT_RUN).stdout)
    assert (changed["policy"]["rounds"], changed["policy"]["loud"]) == (2, True)


def test_a_policy_that_is_no_dataclass_has_no_options_and_runs(lab: Typed) -> None:
    found = json.loads(lab("run", "pumps.toml", "--policy", "mine:Plain", *SHORT_RUN).stdout)
    assert found["policy"] == {"name": "plain"}
    assert "plain has no options" in lab("run", "pumps.toml", "--policy", "mine:Plain", "--policy", "mine:Patient",
                                         "--policy", "mine:Plain", "--rounds", "3").stderr  # fmt: skip


def test_own_policies_are_compared_with_ours(lab: Typed) -> None:
    words = ("--policy", "uniform", "--policy", "mine.py:Patient", "--runs", "2", "--max-pulls", "5", "--workers", "1")
    done = lab("simulate", "pumps.toml", *words, "--json")
    assert [each["options"]["name"] for each in json.loads(done.stdout)["policies"]] == ["uniform", "patient"]
    refused = lab("simulate", "pumps.toml", *words, "--rounds", "3").stderr
    assert "uniform does not have it. It belongs to mine.py:Patient" in refused


def test_the_help_shows_the_options_that_a_policy_brings_along(lab: Typed) -> None:
    shown = lab("run", "--policy", "mine.py:Patient", "--help").stdout
    for option in ("--rounds NUMBER", "--mood WORD", "calm or bold", "--loud / --no-loud", "--policy-seed NUMBER"):
        assert option in shown
    assert "--rounds" not in lab("run", "--help").stdout


BAD = {
    "nowhere:Patient": "there is no module nowhere, neither installed nor in",
    "pack.nowhere:Patient": "there is no module pack.nowhere",
    "nowhere.py:Patient": "there is no file",
    "mine:Nobody": "there is no Nobody in mine. The policies there are Patient, Plain.",
    "mine.py:Half": "is not a policy: it has no version, guarantee, plan",
    "json:JSONDecoder": "is not a policy: it has no name, version, guarantee, plan",
    "mine:": "names no module or nothing in it",
    "mine": f"must be one of {', '.join(POLICIES)}, or say where a policy of your own is",
    "broken:Patient": "its import fails with ModuleNotFoundError: No module named 'nowhere_else'",
    "zero.py:Patient": "its import fails with ZeroDivisionError: division by zero",
    "syntax.py:Patient": "its import fails with SyntaxError",
    "leaves:Patient": "its import fails with SystemExit: 3",
}


@pytest.mark.parametrize(("place", "reason"), BAD.items(), ids=BAD)
@pytest.mark.parametrize("words", [("run", "pumps.toml"), ("study", "show", "pumps")], ids=["run", "study"])
def test_what_cannot_be_loaded_is_refused_in_one_line(
    here: Typed, write: Write, words: tuple[str, ...], place: str, reason: str
) -> None:
    write("broken.py", "import nowhere_else\n")
    write("zero.py", "1 / 0\n")
    write("syntax.py", "def (\n")
    write("leaves.py", "raise SystemExit(3)\n")
    done = here(*words, "--policy", place)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith(f"error: --policy = '{place}': ")
    assert reason in done.stderr
    told = json.loads(here(*words, "--policy", place, "--json").stdout)["error"]
    assert (told["field"], told["value"]) == ("--policy", place)


BAD_OPTIONS = {
    ("--mood", "wild"): "--mood = 'wild': must be one of calm, bold",
    ("--rounds", "many"): "--rounds = 'many': must be a whole number",
    ("--rounds", "101"): "refuses its options with ValueError: that is not patient any more",
    ("--levels", "static"): "patient does not have it. It belongs to safe-lingape and uniform",
    ("--mood", "bold"): "mine.py, line 31, failed (ZeroDivisionError: too bold)",
}


@pytest.mark.parametrize(("words", "reason"), BAD_OPTIONS.items(), ids=str)
def test_what_a_policy_cannot_do_is_its_own_failure(here: Typed, words: tuple[str, ...], reason: str) -> None:
    done = here("run", "pumps.toml", "--policy", "mine.py:Patient", *words, "--quiet")
    assert done.returncode == (5 if "failed" in reason else 2)
    assert done.stderr.count("\n") == 1
    assert reason in done.stderr


# -- data that name code ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [("run",), ("simulate",), ("show",), ("study", "create", "p")], ids=" ".join)
@pytest.mark.parametrize("name", ["patient", "mine:Patient", "mine.py:Patient"])
def test_a_file_does_not_bring_code_along(
    lab: Typed, write: Write, tmp_path: Path, pumps_in_a_world: str, command: tuple[str, ...], name: str
) -> None:
    write("mine.py", PROBE)
    write("patient.py", PROBE)
    done = lab(*command, write("bad.toml", pumps_in_a_world + f'[policy]\nname = "{name}"\n'))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "code that a file names is never imported by itself. Hand it in with --policy MODULE:NAME" in done.stderr
    assert "(while reading bad.toml)" in done.stderr
    assert not (tmp_path / "imported").exists()


def test_a_files_table_is_heeded_once_the_policy_is_handed_in(here: Typed) -> None:
    found = json.loads(here("run", "own.toml", "--policy", "mine:Patient", "--loud", *SHORT_RUN).stdout)
    assert (found["policy"]["rounds"], found["policy"]["loud"]) == (6, True)
    assert "patient (rounds=6," in here("show", "own.toml", "--policy", "mine.py:Patient").stdout


def test_a_study_of_an_own_policy_needs_it_for_every_verb(here: Typed) -> None:
    handed = ("--policy", "mine.py:Patient")
    assert here("study", "create", "p", "own.toml", *handed).returncode == 0
    sure = "--not-because-of-result"
    verbs = [
        ("ask", "p"), ("tell", "p", "1", "--reward", "0.3", "--safety", "5.5"), ("ask", "p", "-n", "4"),
        ("cancel", "p", "2", "--reason", "rain", sure), ("fail", "p", "3", "--reason", "rain", sure),
        ("expire", "p", "4", sure), ("abort", "p", "5", "--reason", "smoke"), ("release", "p", "--reason", "toast"),
        ("freeze", "p", "--reason", "smoke"), ("add", "p", "pump A", "0.2", "--reward", "0", "--safety", "5.4", sure),
        ("show", "p"), ("watch", "p", "--once"), ("audit", "p"), ("export", "p", "p.study"),
        ("import", "p.study", "--name", "q"),
    ]  # fmt: skip
    for words in verbs:
        refused = here("study", *words)
        assert (refused.returncode, refused.stderr.count("\n")) == (2, 1), words
        assert "which is not part of surefoot" in refused.stderr
        assert "Hand it in: --policy mine.py:Patient." in refused.stderr
        done = here("study", *words, *handed)
        assert (done.returncode, done.stderr) == (0, ""), words
    assert [row["name"] for row in json.loads(here("study", "list", "--json").stdout)["studies"]] == ["p", "q"]
    assert here("storage", "check").returncode == 9
    assert here("storage", "check", *handed).returncode == 0
    assert here("study", "delete", "p", "--yes").returncode == 0


def test_another_policy_than_the_studys_own_is_refused_by_name(here: Typed) -> None:
    here("study", "create", "p", "own.toml", "--policy", "mine:Patient")
    for other in ("mine:SHORT", "mine:Plain", "safe-gap", "uniform"):
        done = here("study", "ask", "p", "--policy", other)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert "is not the one that the study 'p' was begun with, patient (rounds=6," in done.stderr
    here("study", "create", "ours", "pumps.toml")
    assert "was begun with, safe-gap" in here("study", "ask", "ours", "--policy", "mine:Plain").stderr
    assert here("study", "ask", "ours", "--policy", "safe-gap").returncode == 0


def test_history_is_taken_over_into_and_from_a_study_of_an_own_policy(here: Typed) -> None:
    handed = ("--policy", "mine:Patient")
    here("study", "create", "ours", "pumps.toml")
    here("study", "ask", "ours")
    here("study", "tell", "ours", "1", "--reward", "0.3", "--safety", "5.5")
    assert here("study", "create", "mine", "own.toml", "--warm-start", "ours", *handed).returncode == 0
    assert here("study", "create", "next", "own.toml", "--warm-start", "mine", *handed).returncode == 0
    assert json.loads(here("study", "show", "next", "--json", *handed).stdout)["status"]["imported"] == 1
