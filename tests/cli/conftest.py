"""How the tests type: real processes, as a user's shell starts them."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PROGRAM = str(Path(sys.executable).parent / "surefoot")

PUMPS = """
safe_level = 0.2
epsilon = 0.3
delta = 0.05
delta_safety = 0.05
[arms]
"pump A" = [1.0, 0.0]
"pump B" = [0.0, 1.0]
[reward]
noise = 0.5
norm = 2.0
[[safety]]
name = "pressure"
at_most = 8.0
baseline = 5.0
noise = 0.3
norm = 5.0
"""
TRUTH = """
[world]
theta_star = [1.5, 0.3]
mu_star = [[4.0, 2.0]]
"""


@pytest.fixture
def pumps() -> str:
    """A problem file."""
    return PUMPS


@pytest.fixture
def pumps_in_a_world() -> str:
    """A problem file with a truth to simulate."""
    return PUMPS + TRUTH


@pytest.fixture
def typed(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """The finished process of `surefoot` with these words, in an empty folder."""

    def run(*words: str, **settings: str) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "NO_COLOR": "1", "COLUMNS": "100", **settings}
        return subprocess.run([PROGRAM, *words], cwd=tmp_path, capture_output=True, text=True, env=env, timeout=300)

    return run


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], str]:
    """A file of this name and content in the folder where commands are typed; its name."""

    def file(name: str, content: str) -> str:
        (tmp_path / name).write_text(content, "utf-8")
        return name

    return file


@pytest.fixture
def strict_json() -> Callable[[str], Any]:
    """Reads one JSON document; NaN and infinity are refused."""

    def read(text: str) -> Any:
        def refuse(word: str) -> None:
            raise AssertionError(f"{word} is not JSON")

        return json.loads(text, parse_constant=refuse)

    return read
