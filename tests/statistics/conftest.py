"""Lets the tests of this folder import the loops beside them, and print their tables."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def show(capsys: pytest.CaptureFixture[str]) -> Callable[[str], None]:
    """Prints a line even when pytest captures output."""

    def line(text: str) -> None:
        with capsys.disabled():
            print(text)

    return line
