"""Compiled code on disk: never stale, found by the next process, and no condition for anything to work."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import surefoot
from surefoot.core import kernel_cache

PACKAGE = Path(surefoot.__file__).parent

PROGRAM = """
from surefoot.core.compiler import compiled
from surefoot.worlds.response import shape
form = compiled(shape, {}, "shape")
"""  # the normal quantile itself lives in another file, core/random.py
QUANTILE = PROGRAM + "print(form(0, 0.75))"


def run(folder: Path, cache: Path, program: str = QUANTILE, **environment: str) -> str:
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


@pytest.mark.parametrize("folder", kernel_cache.HOLDS_KERNELS)
def test_a_change_of_any_source_with_kernels_changes_the_folder(copied: Path, tmp_path: Path, folder: str) -> None:
    program = "from surefoot.core.kernel_cache import cache_folder; print(cache_folder())"
    before = run(copied, tmp_path / "cache", program)
    assert run(copied, tmp_path / "cache", program) == before
    (copied / "surefoot" / folder / "one_more.py").write_text("")
    assert run(copied, tmp_path / "cache", program) != before


def test_every_folder_with_kernels_is_in_the_digest() -> None:
    marks = ("@kernel", "@rare", "@thin")
    holding = {
        path.relative_to(PACKAGE).parts[0]
        for path in PACKAGE.rglob("*.py")
        if any(line in marks for line in path.read_text().splitlines())
    }
    assert holding == set(kernel_cache.HOLDS_KERNELS)


def test_a_second_process_compiles_nothing(copied: Path, tmp_path: Path) -> None:
    program = PROGRAM + "form(0, 0.5); print(sum(form._dispatcher.stats.cache_hits.values()))"
    assert [run(copied, tmp_path / "cache", program) for _ in range(2)] == ["0", "1"]


def test_where_nothing_can_be_written_everything_still_works(copied: Path, tmp_path: Path) -> None:
    not_a_folder = tmp_path / "file"
    not_a_folder.write_text("")
    assert float(run(copied, not_a_folder)) == pytest.approx(0.6744897501960817)


def test_a_source_that_changes_while_a_process_runs_keeps_it_from_storing_anything(
    copied: Path, tmp_path: Path
) -> None:
    """What the process has loaded may be the old text or the new one."""
    program = PROGRAM.replace("form =", "open(shape.__code__.co_filename, 'a').write('\\n')\nform =")
    assert float(run(copied, tmp_path / "cache", program + "print(form(0, 0.75))")) == pytest.approx(0.6744897501960817)
    assert not list((tmp_path / "cache").rglob("*.nbi"))


def test_the_folder_is_where_the_user_wants_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SUREFOOT_CACHE", str(tmp_path / "here"))
    assert kernel_cache.cache_root() == tmp_path / "here"
    monkeypatch.delenv("SUREFOOT_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert kernel_cache.cache_root() == tmp_path / "xdg" / "surefoot"


def test_code_of_other_sources_is_kept_for_a_month(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SUREFOOT_CACHE", str(tmp_path))
    for name, days in (("kernels-old", 31), ("kernels-recent", 29), ("not-ours", 400)):
        (tmp_path / name).mkdir()
        then = time.time() - days * 86_400
        os.utime(tmp_path / name, (then, then))
    folder = kernel_cache.cache_folder()
    assert folder is not None
    assert {path.name for path in tmp_path.iterdir()} == {"kernels-recent", "not-ours", folder.name}


def test_of_two_processes_that_compile_the_same_one_waits_until_the_other_is_done_or_dead(tmp_path: Path) -> None:
    code = (
        "import sys, time\nfrom pathlib import Path\nfrom surefoot.core.kernel_cache import only_one\n"
        "with only_one(Path(sys.argv[1]), 'loop'):\n    print('in', flush=True)\n    time.sleep(float(sys.argv[2]))\n"
        "    (Path(sys.argv[1]) / 'done').touch()\n"
    )
    for seconds, done in (("1.0", True), ("600", False)):
        (tmp_path / "done").unlink(missing_ok=True)
        other = subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path), seconds], stdout=subprocess.PIPE, text=True
        )
        assert other.stdout is not None
        assert other.stdout.readline() == "in\n"
        if not done:
            other.kill()
        with kernel_cache.only_one(tmp_path, "loop"):
            assert (tmp_path / "done").exists() is done
        with kernel_cache.only_one(tmp_path, "another loop"), kernel_cache.only_one(None, "loop"):
            pass
        other.wait()
        other.stdout.close()
