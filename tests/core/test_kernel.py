"""Compilation: parts are not callable by mistake, entries are, and a cache is never stale."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import FunctionType

import numpy as np
import pytest

import surefoot
from surefoot.core import kernel, play, random
from surefoot.core.kernel import entry, specialise

PACKAGE = Path(surefoot.__file__).parent

PROGRAM = """
import numpy as np
from surefoot.core.kernel import entry
from surefoot.core.nature import shape
print(entry(shape)(0, 0.75))
"""  # the normal quantile itself lives in another file, core/random.py


def run(folder: Path, cache: Path, program: str = PROGRAM, **environment: str) -> str:
    """What the program prints with the package in this folder."""
    settings = os.environ | {"PYTHONPATH": str(folder), "SUREFOOT_CACHE": str(cache)} | environment
    done = subprocess.run(
        [sys.executable, "-c", program], env=settings, capture_output=True, text=True, check=True, timeout=120
    )
    return done.stdout.strip()


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    shutil.copytree(PACKAGE, tmp_path / "src" / "surefoot", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "src"


def kernel_folders(cache: Path) -> set[str]:
    return {path.name for path in cache.glob("kernels-*")}


def test_a_changed_formula_in_another_file_is_never_served_stale(copied: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    before = run(copied, cache)
    assert float(before) == pytest.approx(0.6744897501960817)
    assert run(copied, cache) == before
    assert len(kernel_folders(cache)) == 1
    changed = copied / "surefoot" / "core" / "random.py"
    source = changed.read_text()
    assert source.count("q = u - 0.5\n") == 1
    stamp = changed.stat()
    changed.write_text(source.replace("q = u - 0.5\n", "q = u - 0.4\n"))
    os.utime(changed, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))  # not even a forged date may hide it
    assert run(copied, cache, PYTHONDONTWRITEBYTECODE="1") != before
    assert len(kernel_folders(cache)) == 2


def test_a_second_process_compiles_nothing(copied: Path, tmp_path: Path) -> None:
    program = PROGRAM + "f = entry(shape); f(0, 0.5); print(sum(f.stats.cache_hits.values()))"
    hits = [
        run(copied, tmp_path / "cache", program.replace(PROGRAM, PROGRAM[: PROGRAM.index("print")])) for _ in range(2)
    ]
    assert hits == ["0", "1"]


def test_where_nothing_can_be_written_everything_still_works(copied: Path, tmp_path: Path) -> None:
    not_a_folder = tmp_path / "file"
    not_a_folder.write_text("")
    assert float(run(copied, not_a_folder)) == pytest.approx(0.6744897501960817)


def test_a_part_says_how_to_call_it() -> None:
    if kernel.INTERPRETED:
        pytest.skip("nothing is compiled")
    with pytest.raises(TypeError, match="entry"):
        random.normal(0.5)


def test_an_entry_gives_what_the_source_gives() -> None:
    compiled, source = entry(random.normal), random.normal
    assert compiled(0.5) == 0.0
    assert isinstance(getattr(source, "py_func", source), FunctionType)


def test_kernels_that_would_allocate_do_not_compile() -> None:
    if kernel.INTERPRETED:
        pytest.skip("nothing is compiled")

    def wasteful(n: int) -> float:
        return np.zeros(n).sum()

    import numba

    with pytest.raises(numba.core.errors.TypingError):
        numba.njit(**kernel.OPTIONS)(wasteful)(3)


def test_the_template_itself_refuses_to_run() -> None:
    with pytest.raises(TypeError, match="template"):
        play.decide(None, None, None, None, 0, 0)  # type: ignore[arg-type]


def test_specialised_forms_of_one_template_keep_apart() -> None:
    one = specialise(template, "one", chosen=entry_of_one)
    two = specialise(template, "two", chosen=entry_of_two)
    assert (one(1.0), two(1.0)) == (2.0, 3.0)


@kernel.kernel
def entry_of_one(x: float) -> float:
    return x + 1.0


@kernel.kernel
def entry_of_two(x: float) -> float:
    return x + 2.0


def chosen(x: float) -> float:
    raise TypeError


def template(x: float) -> float:
    return chosen(x)


@pytest.mark.parametrize("path", sorted((PACKAGE / "core").glob("*.py")), ids=lambda path: path.name)
def test_fast_mathematics_is_never_asked_for(path: Path) -> None:
    assert "fastmath=" not in path.read_text()
    assert "parallel=True" not in path.read_text()
