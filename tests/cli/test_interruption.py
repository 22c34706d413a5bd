"""Ctrl-C at any instant is one line and the status 130: while a process starts, imports, compiles, works and ends."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

PROGRAM = str(Path(sys.executable).parent / "surefoot")

# Runs the program as its script does, and says on a pipe of its own once Ctrl-C is heeded.
SCRIPT = """
import os, sys
from surefoot.cli import interruption, main
heed = interruption.heed
def heeded():
    heed()
    os.write({descriptor}, b"!")
interruption.heed = heeded
sys.argv[0] = "surefoot"
sys.exit(main())
"""


def interrupted(
    words: list[str], delay: float, folder: Path, until: Callable[[], bool] = lambda: False, **env: str
) -> subprocess.CompletedProcess[str]:
    """A process that is interrupted so long after it began to heed that."""
    reading, writing = os.pipe()
    script = SCRIPT.format(descriptor=writing)
    with subprocess.Popen(
        [sys.executable, "-c", script, *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        pass_fds=[writing], env={**os.environ, "NO_COLOR": "1", **env},
    ) as process:  # fmt: skip
        os.close(writing)
        assert os.read(reading, 1) == b"!"
        os.close(reading)
        end = time.monotonic() + delay
        while time.monotonic() < end and process.poll() is None and not until():
            time.sleep(0.002)
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    return subprocess.CompletedProcess(words, process.returncode, out, err)


def check(done: subprocess.CompletedProcess[str]) -> None:
    """One line, or all that was asked for where it came too late."""
    lines = [line for line in done.stderr.splitlines() if "compiling" not in line and " pulls  " not in line]
    lines = [line for line in lines if not line.startswith(("safe-gap on", "warning:"))]
    assert "Traceback" not in done.stderr, done.stderr
    assert "Exception ignored" not in done.stderr, done.stderr
    if done.returncode == 130:
        assert len(lines) == 1, done.stderr
        assert lines[0].startswith("error: Interrupted")
    else:
        assert (done.returncode, lines) == (0, [])
        assert done.stdout


# Instants of a start: from nothing imported to at work. On a slower machine each falls a little earlier in it.
INSTANTS = [0.0, 0.01, 0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8, 1.1, 1.5, 2.0, 3.0]


@pytest.mark.parametrize("delay", INSTANTS)
def test_ctrl_c_while_a_command_starts_works_and_ends_is_one_line(tmp_path: Path, delay: float) -> None:
    check(interrupted(["run", "--seed", "1"], delay, tmp_path))


@pytest.mark.parametrize("delay", [0.0, 0.05, 0.2, 0.5, 1.0])
def test_with_json_it_is_one_document(tmp_path: Path, delay: float) -> None:
    done = interrupted(["run", "--json"], delay, tmp_path)
    assert done.stderr == ""
    found = json.loads(done.stdout)
    assert done.returncode == found.get("exit_status", 0)
    if done.returncode:
        assert (done.returncode, found["error"]["kind"]) == (130, "KeyboardInterrupt")


@pytest.mark.parametrize("delay", [0.0, 0.5, 3.0])
def test_ctrl_c_while_it_compiles_is_one_line(tmp_path: Path, delay: float) -> None:
    """An empty cache; the delay counts from when the compiler has said that it is at work."""
    cache, begun = tmp_path / "kernels", []

    def compiling() -> bool:
        if cache.exists() and not begun:
            begun.append(time.monotonic())
        return bool(begun) and time.monotonic() > begun[0] + delay

    done = interrupted(["run"], 120.0, tmp_path, compiling, SUREFOOT_CACHE=str(cache))
    assert done.returncode == 130
    check(done)


@pytest.mark.parametrize("delay", [0.0, 0.1, 0.3, 0.6, 1.0])
def test_a_study_is_whole_whenever_its_creation_is_interrupted(tmp_path: Path, pumps: str, delay: float) -> None:
    (tmp_path / "pumps.toml").write_text(pumps)
    check(interrupted(["study", "create", "pumps", "pumps.toml"], delay, tmp_path))
    again = subprocess.run(
        [PROGRAM, "study", "create", "pumps", "pumps.toml", "--load-if-exists"], cwd=tmp_path, capture_output=True,
        text=True, env=os.environ, timeout=300,
    )  # fmt: skip
    assert again.returncode == 0, again.stderr


def test_the_program_itself_heeds_it_before_it_imports_anything_that_takes_time() -> None:
    heavy = {"typer", "click", "rich", "numpy"}
    code = f"import sys\nimport surefoot.cli\nprint(sorted({heavy!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ)
    assert done.stdout == "[]\n"


TELLING = """
import os, signal
from surefoot.cli import interruption

interruption.heed()
with interruption.telling("every finished run is kept"):
    pass
with interruption.telling(LINE):
    os.kill(os.getpid(), signal.SIGINT)
"""


@pytest.mark.parametrize("line", ["'it is kept here'", "interruption.LINE"])
def test_work_that_is_kept_says_so_also_where_nothing_is_unwound(line: str) -> None:
    words = [sys.executable, "-c", TELLING.replace("LINE", line, 1)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    said = "it is kept here" if "here" in line else "Interrupted: what was not finished is lost."
    assert (done.returncode, done.stdout, done.stderr) == (130, "", f"error: {said}\n")
