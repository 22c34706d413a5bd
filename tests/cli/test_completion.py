"""Completion, as real shells ask for it."""

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

import surefoot as sf
from surefoot.problem.problem import Problem

FOLDER = Path(sys.executable).parent
HOSTILE = (
    "a$(touch owned)", "b`touch owned`", "c;touch owned", "d'e", 'f"g', "h\\i", "j|k", "l&m", "n>o", "*", "~", "-rf",
    "p\x1b[2Jq", "r\ns", "t  u", "${IFS}", "!x", "#y", "(z)",
)  # fmt: skip


@pytest.fixture
def lab(tmp_path: Path, pumps: str) -> Path:
    """A folder with a storage of studies, some of them with names that somebody chose to do harm."""
    (tmp_path / "pumps.toml").write_text(pumps)
    problem, storage = Problem.load(tmp_path / "pumps.toml"), f"sqlite:///{tmp_path / 'surefoot.db'}"
    for name in ("power", "power-2", "Pümpe", "two words"):
        sf.create_study(problem, name=name, storage=storage)
    sf.create_study(problem, name="elsewhere", storage=f"sqlite:///{tmp_path / 'other.db'}")
    for number, name in enumerate(HOSTILE):
        sf.create_study(problem, name=f"hostile {number}", storage=storage)
        with closing(sqlite3.connect(tmp_path / "surefoot.db")) as connection, connection:
            connection.execute("UPDATE surefoot_studies SET name = ? WHERE name = ?", [name, f"hostile {number}"])
    return tmp_path


@pytest.fixture
def bash(lab: Path) -> Callable[..., list[str]]:
    """What bash offers after these words, the last of which is not finished."""

    def offered(*words: str, **settings: str) -> list[str]:
        program = (
            'eval "$(surefoot completion bash)"\n'
            f"COMP_WORDS=({' '.join(words[:-1])} {words[-1] or chr(39) * 2}); COMP_CWORD={len(words) - 1}\n"
            'complete -p surefoot | grep -q _surefoot_completion || echo "not registered"\n'
            '_surefoot_completion surefoot\nprintf "%s\\n" "${COMPREPLY[@]}"'
        )
        path = f"{FOLDER}{os.pathsep}{os.environ['PATH']}"
        env = {name: value for name, value in os.environ.items() if name != "SUREFOOT_STORAGE"}
        done = subprocess.run(
            ["bash", "--norc", "-c", program], cwd=lab, capture_output=True, text=True,
            env={**env, "PATH": path, **settings},
        )  # fmt: skip
        assert done.stderr == ""
        return [line for line in done.stdout.split("\n") if line]

    return offered


needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")


@needs_bash
def test_bash_completes_names_of_studies(bash: Callable[..., list[str]], lab: Path) -> None:
    assert bash("surefoot", "study", "show", "po") == ["power", "power-2"]
    assert bash("surefoot", "study", "show", "P") == ["Pümpe"]
    assert bash("surefoot", "study", "history", "two") == ["two\\ words"]
    assert bash("surefoot", "study", "tell", "--storage", "sqlite:///other.db", "") == ["elsewhere"]
    assert bash("surefoot", "study", "tell", "e", SUREFOOT_STORAGE="sqlite:///other.db") == ["elsewhere"]
    assert bash("surefoot", "study", "create", "new", "pumps.toml", "--warm-start", "power-") == ["power-2"]


@needs_bash
def test_names_that_a_shell_would_act_on_are_not_offered(bash: Callable[..., list[str]], lab: Path) -> None:
    assert bash("surefoot", "study", "show", "") == ["Pümpe", "power", "power-2", "two\\ words"]
    assert not (lab / "owned").exists()


@needs_bash
def test_commands_and_words_are_completed(bash: Callable[..., list[str]]) -> None:
    assert {"list", "show", "history", "export"} <= set(bash("surefoot", "study", ""))
    assert bash("surefoot", "study", "history", "power", "--format", "j") == ["json", "jsonl"]
    assert bash("surefoot", "study", "history", "power", "--fo") == ["--format", "--force"]
    assert bash("surefoot", "completion", "f") == ["fish"]


@needs_bash
@pytest.mark.parametrize(
    "storage",
    ["sqlite:///nowhere.db", "sqlite:///pumps.toml", "nonsense", "postgresql://nobody:secret@127.0.0.1:1/x", "memory"],
)
def test_what_is_wrong_is_not_said(bash: Callable[..., list[str]], lab: Path, storage: str) -> None:
    assert bash("surefoot", "study", "show", "po", SUREFOOT_STORAGE=storage) == []
    assert not (lab / "nowhere.db").exists()


def test_completion_loads_nothing_heavy(lab: Path) -> None:
    code = (
        "import sys\nfrom surefoot.cli import main\nmain([])\n"
        "print([name for name in ('numpy', 'numba', 'scipy', 'pandas') if name in sys.modules], file=sys.stderr)"
    )
    env = {
        **os.environ,
        "_SUREFOOT_COMPLETE": "complete_bash",
        "COMP_WORDS": "surefoot\nstudy\nshow\npo",
        "COMP_CWORD": "3",
    }
    env.pop("SUREFOOT_STORAGE", None)
    done = subprocess.run([sys.executable, "-c", code], cwd=lab, capture_output=True, text=True, env=env)
    assert (done.stdout, done.stderr) == ("power\npower-2\n", "[]\n")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_has_its_script(lab: Path, shell: str) -> None:
    done = subprocess.run([FOLDER / "surefoot", "completion", shell], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "_SUREFOOT_COMPLETE" in done.stdout
    if shutil.which(shell):
        checked = subprocess.run([shell, "-n"], input=done.stdout, capture_output=True, text=True)
        assert (checked.returncode, checked.stderr) == (0, "")


def test_an_unknown_shell_is_refused() -> None:
    done = subprocess.run([FOLDER / "surefoot", "completion", "csh"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "bash, zsh, fish" in " ".join(done.stderr.split())
