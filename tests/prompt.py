"""A command line without the start of a process."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from surefoot.cli import main


class Done(NamedTuple):
    """What a command did."""

    status: int
    out: str
    err: str


def prompt_in(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], width: int = 100
) -> Callable[..., Done]:
    """What typed words do in this folder, on a screen of so many columns, where no storage is named."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.delenv("SUREFOOT_STORAGE", raising=False)

    def typed(*words: str) -> Done:
        capsys.readouterr()
        status = main(list(words))
        return Done(status, *capsys.readouterr())

    return typed
