"""`--help` teaches, and costs no more than reading the command line."""

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

import surefoot as sf
from surefoot.cli import exit_codes

Typed = Callable[..., Any]
HEAVY = ("numpy", "numba", "scipy", "pandas", "joblib", "rich")
WITH_POLICIES = tuple(name for name in HEAVY if name != "numpy")  # whose options are read from the policies
PYDANTIC = ("pydantic",)  # some releases of typer load it themselves to read the words of a command


@pytest.mark.parametrize(
    ("words", "heavy"),
    [(["--help"], HEAVY + PYDANTIC), (["--version"], HEAVY + PYDANTIC), (["run", "--help"], WITH_POLICIES)],
)
def test_help_and_version_import_nothing_heavy(words: list[str], heavy: tuple[str, ...]) -> None:
    code = (
        "import sys\n"
        "from surefoot.cli import main\n"
        f"status = main({words!r})\n"
        f"print([name for name in {heavy!r} if name in sys.modules], status, file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ)
    assert done.stderr == "[] 0\n"


def test_the_first_page_shows_every_command_with_examples_and_exit_codes(typed: Typed) -> None:
    done = typed("--help")
    assert (done.returncode, done.stderr) == (0, "")
    for word in ("run", "simulate", "show", "worlds", "policies", "Examples:", "Exit status:"):
        assert word in done.stdout
    for status, meaning in exit_codes.MEANINGS.items():
        assert f"{status:<4} {meaning}" in done.stdout


def test_without_a_command_the_help_is_shown(typed: Typed) -> None:
    assert typed().stdout == typed("--help").stdout


@pytest.mark.parametrize("command", ["run", "simulate", "show"])
def test_commands_teach_by_example(typed: Typed, command: str) -> None:
    shown = typed(command, "--help").stdout
    for word in {"run": ["surefoot run", "[world]"], "simulate": ["--out runs.parquet"], "show": ["[[safety]]"]}[
        command
    ]:
        assert word in shown
    assert "--json" in shown


@pytest.mark.parametrize("command", ["run", "simulate"])
def test_the_words_in_the_help_are_the_words_that_exist(typed: Typed, command: str) -> None:
    shown = " ".join(typed(command, "--help").stdout.split())
    shown = shown.replace("- ", "-")  # lines are broken after a hyphen
    known = [*sf.policies.POLICIES, *sf.policies.exploration.EXPLORATIONS]
    options = sf.policies.options
    known += [*options.LEVELS, *options.SELECTIONS, *options.PULLS, *sf.policies.radii.SAFETY_RADII]
    assert not [word for word in known if word not in shown]


def test_the_version_is_that_of_the_package(typed: Typed) -> None:
    assert typed("--version").stdout == f"surefoot {sf.__version__}\n"


def test_the_package_itself_can_be_run() -> None:
    """For those whose shell does not find the program."""
    done = subprocess.run([sys.executable, "-m", "surefoot", "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"surefoot {sf.__version__}\n")
