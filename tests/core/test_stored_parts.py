"""Parts on disk: the next loop takes up what an earlier one translated, and only what is still the same."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

SHARED = """
from typing import NamedTuple
from surefoot.core.kernel import kernel, rare


class Rules(NamedTuple):
    gain: float
    other: float


@rare
def deep(x):
    return round(x, 1) + int(x) ** 3 + 0.25  # two functions that numba compiles for itself


@kernel
def inner(rules, x):
    return rules.gain * deep(x)


@kernel
def one(rules, x):
    return inner(rules, x) + 1.0


@kernel
def two(rules, x):
    return inner(rules, x) * 2.0
"""
CALLING = """
import sys
from contextlib import contextmanager
import others, shared
from surefoot.core.compiler import compiled

translated = []

@contextmanager
def announce(label, parts):
    yield lambda: translated.append(label)

for word in sys.argv[1:]:
    home, name = word.split(".")
    rules = getattr(sys.modules[home], "Rules")(gain=3.0, other=5.0)
    function = getattr(shared, name)
    found = compiled(function, {}, word, announce, ((rules,),))(rules, 2.5)
    assert found == function(rules, 2.5), (word, found)
print(*translated)
"""
OTHERS = SHARED.replace("gain: float\n    other: float", "other: float\n    gain: float")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One with two files: the fields of their tuples of one name stand in another order."""
    (tmp_path / "shared.py").write_text(SHARED)
    (tmp_path / "others.py").write_text(OTHERS)
    return tmp_path


def translated(folder: Path, *loops: str) -> list[str]:
    """What a process that runs these loops, each with the tuple of one file, had to translate: each once for itself,
    and once for each part that it did not find. What the loops return was compared with plain Python."""
    path = os.pathsep.join([str(folder), *(os.environ.get("PYTHONPATH") or "").split(os.pathsep)])
    settings = os.environ | {"PYTHONPATH": path, "SUREFOOT_CACHE": str(folder / "cache")}
    settings["PYTHONDONTWRITEBYTECODE"] = "1"
    words = [sys.executable, "-c", CALLING, *loops]
    done = subprocess.run(words, env=settings, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def stored(folder: Path) -> list[Path]:
    return list((folder / "cache").rglob("*.part"))


def test_another_loop_takes_up_what_is_translated(folder: Path) -> None:
    assert len(translated(folder, "shared.one")) > 1
    assert len(stored(folder)) == 2  # inner and deep
    assert translated(folder, "shared.two") == ["shared.two"]
    assert len(stored(folder)) == 2


def test_a_tuple_with_other_fields_has_parts_of_its_own(folder: Path) -> None:
    for loops in (["shared.one", "others.one"], ["others.two", "shared.two"]):
        translated(folder, *loops)
        assert len(stored(folder)) == 3  # inner for each, and deep, which knows no tuple


MARKED = SHARED.replace("@rare\ndef deep", "@kernel\ndef deep")


@pytest.mark.parametrize(
    "edited", [SHARED.replace("0.25", "0.5"), OTHERS, MARKED], ids=["a part", "the fields", "a mark"]
)
def test_what_was_edited_is_translated_anew(folder: Path, edited: str) -> None:
    translated(folder, "shared.one")
    (folder / "shared.py").write_text(edited)
    assert len(translated(folder, "shared.two")) > 1
    assert len(stored(folder)) > 2


DAMAGE: dict[str, Callable[[Path], object]] = {
    "cut off": lambda path: path.write_bytes(path.read_bytes()[:-9]),
    "another's": lambda path: path.write_bytes(b"nothing"),
    "gone": Path.unlink,
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_part_that_cannot_be_read_is_translated_anew(folder: Path, damage: Callable[[Path], object]) -> None:
    translated(folder, "shared.one")
    whole = {path: path.stat().st_size for path in stored(folder)}
    damage(max(stored(folder), key=whole.__getitem__))
    assert len(translated(folder, "shared.two")) > 1
    assert {path: path.stat().st_size for path in stored(folder)} == whole


def test_a_part_whose_own_parts_are_called_otherwise_is_translated_anew(folder: Path) -> None:
    """A mark is in the names that compiled code calls a part by: under the key of another it would call nothing."""
    translated(folder, "shared.one")
    ours = {path.name for path in stored(folder)}
    (folder / "shared.py").write_text(MARKED)
    translated(folder, "shared.one")
    deep, marked = (
        max((path for path in stored(folder) if (path.name in ours) is known), key=lambda path: path.stat().st_size)
        for known in (True, False)
    )
    shutil.copy(marked, deep)
    (folder / "shared.py").write_text(SHARED)
    assert len(translated(folder, "shared.two")) > 1


def test_a_part_of_which_a_page_was_lost_is_translated_anew(folder: Path) -> None:
    """The compiler's library would end the process over such code."""
    translated(folder, "shared.one")
    for path in stored(folder):
        content = bytearray(path.read_bytes())
        middle = len(content) // 2
        content[middle : middle + 64] = bytes(64)
        path.write_bytes(content)
    assert len(translated(folder, "shared.two")) > 1
