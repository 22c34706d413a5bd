"""`surefoot init`: a problem file from a table of arms, by options or by questions, that show and run take at once."""

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import surefoot as sf
from surefoot.cli import init as cli_init
from surefoot.cli import main

ARMS = 'name,speed,flow\nslow,1.0,0.2\nfast,2.0,0.1\n"both, ""tuned""",1.5,0.4\n'
STATED = {
    "--safe-level": "8 mg", "--noise": "0.5", "--limit": "pressure", "--at-most": "8", "--baseline": "5",
    "--limit-noise": "0.3", "--epsilon": "0.15", "--unit": "mg", "--full": "40", "--limit-unit": "bar",
}  # fmt: skip


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> Callable[..., tuple[int, str, str]]:
    """What a command line does in a folder with a table of arms, where nobody can be asked."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arms.csv").write_text(ARMS)

    def run(*words: str) -> tuple[int, str, str]:
        status = main(list(words))
        said = capsys.readouterr()
        return status, said.out, " ".join(said.err.split())

    return run


def options(**changes: str | None) -> list[str]:
    """All answers as options, with these changes."""
    wanted = {**STATED, **{f"--{key.replace('_', '-')}": value for key, value in changes.items()}}
    return [word for key, value in wanted.items() if value is not None for word in (key, value)]


def test_the_file_holds_the_answers_and_is_taken_at_once(here: Any, tmp_path: Path) -> None:
    status, said, _ = here("init", "arms.csv", *options())
    assert status == 0
    assert "surefoot show arms.toml" in said
    problem = sf.Problem.load(tmp_path / "arms.toml")
    assert problem.names == ("slow", "fast", 'both, "tuned"')
    assert problem.safe_level.tolist() == [0.2, 0.2, 0.2]
    assert problem.dial == sf.Dial("mg", full=40)
    assert problem.safety[0].said == "8 bar"
    assert here("show", "arms.toml")[0] == 0
    assert here("run", "arms.toml", "--quiet", "--no-compare", "--max-pulls", "5000")[0] in (0, 3)


def test_every_entry_has_a_comment_and_what_is_optional_is_shown(here: Any, tmp_path: Path) -> None:
    here("init", "arms.csv", *options())
    lines = (tmp_path / "arms.toml").read_text().splitlines()
    entries = [line for line in lines if " = " in line and not line.startswith("#")]
    assert [line for line in entries if "#" not in line] == ['name = "pressure"']
    for optional in ("level_grid", "max_level", "max_step"):
        line = next(line for line in lines if line.startswith(f"# {optional} = "))
        problem = tomllib.loads("\n".join(lines) + "\n")
        stated = tomllib.loads(line.removeprefix("# "))
        sf.Problem.from_dict({**problem, "safe_level": "10 mg", **stated}, folder=tmp_path)  # they can be uncommented


def test_the_largest_effects_that_are_suggested_are_true_in_the_made_up_world(here: Any, tmp_path: Path) -> None:
    here("init", "arms.csv", *options())
    content = (tmp_path / "arms.toml").read_text()
    assert content.count("# largest = ") == 2
    (tmp_path / "arms.toml").write_text(content.replace("# largest = ", "largest = "))
    assert sf.Problem.load(tmp_path / "arms.toml").reward.largest is not None
    status, *said = here("run", "arms.toml", "--quiet", "--policy", "safe-lingape", "--max-pulls", "50")
    assert status in (0, 3)
    assert "breaks what the problem states" not in " ".join(said)


@pytest.mark.parametrize(
    "changes", [{"at_most": None, "at_least": "2"}, {"unit": None, "full": None, "safe_level": "0.2"}]
)
def test_other_sides_and_plain_levels_are_taken_too(here: Any, tmp_path: Path, changes: dict[str, Any]) -> None:
    assert here("init", "arms.csv", *options(**changes))[0] == 0
    assert here("show", "arms.toml")[0] == 0
    assert here("run", "arms.toml", "--quiet", "--no-compare", "--max-pulls", "2000")[0] in (0, 3)


def test_a_file_that_is_there_is_not_replaced_without_force(here: Any, tmp_path: Path) -> None:
    (tmp_path / "arms.toml").write_text("mine")
    status, _, error = here("init", "arms.csv", *options())
    assert (status, (tmp_path / "arms.toml").read_text()) == (2, "mine")
    assert "--force" in error
    assert "--out" in error
    assert here("init", "arms.csv", *options(), "--out", "other.toml")[0] == 0
    assert here("init", "arms.csv", *options(), "--force")[0] == 0
    assert sf.Problem.load(tmp_path / "arms.toml") == sf.Problem.load(tmp_path / "other.toml")


def test_arms_in_another_folder_are_found_from_the_file(here: Any, tmp_path: Path) -> None:
    (tmp_path / "made").mkdir()
    assert here("init", "arms.csv", *options(), "--out", "made/problem.toml")[0] == 0
    assert sf.Problem.load(tmp_path / "made" / "problem.toml").size == 3


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"noise": None}, "--noise"),
        ({"noise": "0"}, "--noise"),
        ({"noise": "nan"}, "--noise"),
        ({"noise": "loud"}, "--noise"),
        ({"safe_level": "8 g"}, "--safe-level"),
        ({"safe_level": "0 mg"}, "--safe-level"),
        ({"safe_level": "2"}, "--safe-level"),
        ({"safe_level": "1_0 mg"}, "--safe-level"),
        ({"unit": None}, "--full"),
        ({"unit": "\x1b[31m"}, "--unit"),
        ({"full": "0"}, "--full"),
        ({"full": "-40"}, "--full"),
        ({"full": None}, "--full"),
        ({"limit": " "}, "--limit"),
        ({"limit": None}, "--limit"),
        ({"limit_unit": "a\nb"}, "--limit-unit"),
        ({"at_most": None}, "--at-most"),
        ({"at_least": "2"}, "--at-most"),
        ({"at_most": "nan"}, "--at-most"),
        ({"epsilon": None}, "--epsilon"),
        ({"epsilon": "inf"}, "--epsilon"),
        ({"baseline": "9"}, "safety['pressure'].at_most"),
        ({"delta": "1"}, "--delta"),
        ({"epsilon": "-1"}, "--epsilon"),
    ],
)
def test_what_cannot_be_is_refused_by_name_and_nothing_is_written(here: Any, tmp_path: Path, changes, field) -> None:
    status, said, _ = here("init", "arms.csv", *options(**changes), "--json")
    assert status == 2
    assert json.loads(said)["error"]["field"] == field
    assert "\x1b" not in said
    assert not (tmp_path / "arms.toml").exists()


def test_arms_without_names_and_other_endings_are_refused(here: Any, tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("who,speed\nslow,1\n")
    assert "has no column 'name'" in here("init", "bad.csv", *options())[2]
    assert here("init", "nowhere.csv", *options())[0] == 2
    assert "must end in .toml" in here("init", "arms.csv", *options(), "--out", "problem.json")[2]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["arms.csv", "bad.csv"]


# -- on a terminal ----------------------------------------------------------------------------------------------------


def on_terminal(folder: Path, words: list[str], answers: list[str], then: int | None = None) -> tuple[int, str]:
    """The exit status of `surefoot` on a terminal where somebody types these answers, and what is seen there; at the
    next question the signal comes, if there is one."""
    ours, theirs = pty.openpty()
    program = str(Path(sys.executable).parent / "surefoot")
    env = {**os.environ, "NO_COLOR": "1", "TERM": "dumb"}
    process = subprocess.Popen([program, *words], cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs, env=env)
    os.close(theirs)
    seen, deadline, waiting = "", time.monotonic() + 120, list(answers)
    while time.monotonic() < deadline:
        if (
            seen.endswith(": ") and not waiting and then is not None
        ):  # again, if it came just before the program waits for an answer
            process.send_signal(then)
        if not select.select([ours], [], [], 2.0)[0]:
            continue
        try:
            part = os.read(ours, 4096).decode()
        except OSError:  # the program has ended
            break
        if not part:
            break
        seen += part
        if seen.endswith(": ") and waiting:
            os.write(ours, waiting.pop(0).encode() + b"\n")
    os.close(ours)
    try:
        return process.wait(timeout=60), seen.replace("\r", "")
    finally:
        process.kill()


def test_questions_are_asked_on_a_terminal_and_again_until_they_are_answered(tmp_path: Path) -> None:
    (tmp_path / "arms.csv").write_text(ARMS)
    answers = [
        "mg", "nought", "40", "0.5", "", "", "pressure", "bar", "8", "at most 8", "5", "0.3", "8 g", "8 mg", "0.01",
        "0.15", "",
    ]  # fmt: skip
    status, seen = on_terminal(tmp_path, ["init", "arms.csv"], answers)
    assert status == 0, seen
    assert "'nought' must be a number" in seen
    assert "is not given in 'mg'" in seen
    assert "must say on which side" in seen
    problem = sf.Problem.load(tmp_path / "arms.toml")
    assert (problem.dial, problem.delta, problem.delta_safety) == (sf.Dial("mg", full=40), 0.05, 0.01)
    assert (problem.safety[0].limit, problem.safety[0].unit, problem.reward.unit) == (8.0, "bar", None)


def test_ctrl_c_at_a_question_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "arms.csv").write_text(ARMS)
    status, seen = on_terminal(tmp_path, ["init", "arms.csv"], ["mg"], signal.SIGINT)
    assert status == 130, seen
    assert "Nothing was written" in seen
    assert not (tmp_path / "arms.toml").exists()


def test_ctrl_c_between_two_questions_writes_nothing_either(here: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer is being looked at, and nobody waits for the next one yet."""

    def pressed(*arguments: Any, **more: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli_init, "answered", pressed)
    status, _, said = here("init", "arms.csv")
    assert status == 130
    assert "Nothing was written" in said


@pytest.mark.parametrize(
    ("content", "words"),
    [("", "is empty"), ("name,a,b\n", "holds no arm"), ("nom,a\nx,1\n", "has no column 'name'")],
)
def test_a_file_without_arms_is_refused_by_the_name_of_the_argument(
    here: Any, tmp_path: Path, content: str, words: str
) -> None:
    (tmp_path / "bad.csv").write_text(content)
    status, _, said = here("init", "bad.csv", *options())
    assert status == 2
    assert f"ARMS = 'bad.csv': {words}" in said


def test_what_is_missing_in_a_script_is_named_with_its_option(here: Any) -> None:
    assert "Add --noise: noise of the reward" in here("init", "arms.csv", "-o", "new.toml")[2]
    words = options(safe_level=None)
    assert "Add --safe-level: known to be safe for every arm" in here("init", "arms.csv", "-o", "new.toml", *words)[2]
    assert "or none." in here("init", "arms.csv", "-o", "new.toml", "--noise", "0.5")[2]


# -- without limits ---------------------------------------------------------------------------------------------------

OF_LIMITS = ("at_most", "baseline", "limit_noise", "limit_unit", "safe_level")


@pytest.mark.parametrize("dial", [{}, {"unit": None, "full": None}], ids=["a dial", "levels"])
def test_nothing_may_have_to_keep_a_limit(here: Any, tmp_path: Path, dial: dict[str, None]) -> None:
    words = options(limit="none", **dict.fromkeys(OF_LIMITS), **dial)
    assert here("init", "arms.csv", *words)[0] == 0
    problem = sf.Problem.load(tmp_path / "arms.toml")
    assert (problem.safety, problem.delta, problem.epsilon) == ((), 0.05, 0.15)
    assert "max_step" not in (tmp_path / "arms.toml").read_text()
    assert here("show", "arms.toml")[0] == 0
    assert here("run", "arms.toml", "--quiet", "--no-compare", "--max-pulls", "5000")[0] in (0, 3)


@pytest.mark.parametrize("left", OF_LIMITS)
def test_what_belongs_to_a_limit_is_refused_beside_none(here: Any, tmp_path: Path, left: str) -> None:
    words = options(limit="None", **{each: None for each in OF_LIMITS if each != left})
    status, _, said = here("init", "arms.csv", *words)
    assert status == 2
    assert f"is given beside --{left.replace('_', '-')}" in said
    assert not (tmp_path / "arms.toml").exists()


def test_known_levels_in_the_table_are_not_asked_for(here: Any, tmp_path: Path) -> None:
    (tmp_path / "arms.csv").write_text("name,speed,flow,safe_level\nslow,1,0.2,0.1\nfast,2,0.1,4 mg\n")
    assert here("init", "arms.csv", *options(safe_level=None))[0] == 0
    assert sf.Problem.load(tmp_path / "arms.toml").safe_level.tolist() == [0.1, 0.1]
    assert here("show", "arms.toml")[0] == 0
    status, _, said = here("init", "arms.csv", "--force", *options(limit="none", **dict.fromkeys(OF_LIMITS)))
    assert status == 2
    assert "have a column safe_level" in said
