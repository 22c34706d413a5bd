"""The same source, compiled and interpreted, takes the same pulls and gives the same answers."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from diary import diary, scenes

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def both() -> tuple[dict[str, Any], dict[str, Any]]:
    environment = os.environ | {"SUREFOOT_INTERPRET": "1"}
    done = subprocess.run(
        [sys.executable, str(HERE / "diary.py")],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    compiled = json.loads(json.dumps(diary()))
    return compiled, json.loads(done.stdout)


def compare(ours: Any, theirs: Any, where: str) -> None:
    if isinstance(ours, dict):
        assert ours.keys() == theirs.keys()
        for key in ours:
            compare(ours[key], theirs[key], f"{where}.{key}")
    elif isinstance(ours, list):
        assert len(ours) == len(theirs), where
        for index, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            compare(one, other, f"{where}[{index}]")
    elif isinstance(ours, float) and isinstance(theirs, float):
        assert ours == pytest.approx(theirs, rel=1e-12, abs=1e-12), where
    else:
        assert ours == theirs, where


@pytest.mark.parametrize("name", [scene[0] for scene in scenes()])
def test_interpreter_and_compiler_take_the_same_pulls(both: tuple[dict[str, Any], dict[str, Any]], name: str) -> None:
    compiled, interpreted = both
    assert len(compiled[name]["live"]["pulls"]) >= 10
    compare(compiled[name], interpreted[name], name)


def test_nothing_is_compiled_when_interpreting() -> None:
    program = "import sys, surefoot.live.session, surefoot.simulation; print('numba' in sys.modules)"
    environment = os.environ | {"SUREFOOT_INTERPRET": "1"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
