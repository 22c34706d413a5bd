"""The references of the documentation are made from the code, and leave nothing out."""

import dataclasses
import importlib
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
import typer

import surefoot as sf
from surefoot.cli.app import app

Made = Callable[[str], ModuleType]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Made:
    monkeypatch.syspath_prepend(str(Path(__file__).parent.parent / "docs" / "building"))
    return importlib.import_module


def test_every_public_name_is_in_the_reference(made: Made) -> None:
    text = made("api").reference()
    listed = re.findall(r":: surefoot\.(\w+)$", text, re.MULTILINE) + re.findall(r"^## surefoot\.(\w+)$", text, re.M)
    assert sorted(listed) == sorted(sf.__all__)
    for module in ("worlds", "plots", "theory", "errors"):
        assert f":: surefoot.{module}." in text


def test_every_command_and_every_option_is_in_the_reference(made: Made) -> None:
    text = made("commands").reference()
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    for name, command in commands.items():
        assert f"\n## surefoot {name}\n" in text
        for nested in getattr(command, "commands", {}):
            assert f"\n## surefoot {name} {nested}\n" in text
    assert "| `--max-pulls <int>` | Give up after so many pulls: undecided." in text
    assert text.count("Exit status:") == 1


def test_every_key_of_a_problem_file_is_in_the_reference(made: Made) -> None:
    text = made("problem_files").reference()
    top = text.partition("## `[dial]`")[0]
    settings = {name for name in sf.Problem.__init__.__annotations__ if name not in ("return", "unknown")}
    assert set(re.findall(r"^\| `(\w+)`", top, re.MULTILINE)) == settings
    for kind in (sf.Dial, sf.Reward, sf.Limit):
        for field in dataclasses.fields(kind):
            assert field.name.startswith("_") or f"| `{field.name}` |" in text
    assert "| `epsilon` | needed | how far from the best the answer may be |" in text
    assert "| `max_step` |  |" in text


def test_a_docstring_is_read_by_its_entries(made: Made) -> None:
    words = made("words")
    text = "First words.\n\nname   what it is\n       and more\nother  *mean* of `x`\n\nLast words\nin two lines."
    assert words.blocks(text) == [
        "First words.", {"name": "what it is and more", "other": "*mean* of `x`"}, "Last words in two lines.",
    ]  # fmt: skip
    lines = text.splitlines()
    made("api").as_rst(lines)
    assert lines[:4] == ["First words.", "", "``name``", "   what it is and more"]
    assert "   *mean* of ``x``" in lines
