"""`surefoot reproduce` as it is typed: misuse, interruptions, crashes and full disks lose nothing."""

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.xdist_group("reproduction")  # one worker, so that the long work is done once
Typed = Callable[..., Any]
PROGRAM = str(Path(sys.executable).parent / "surefoot")
WORK = ("reproduce", "table1", "--runs", "10", "--workers", "1")  # 48 settings, a file each
FILES = 48
SMALL = ("reproduce", "fig-b", "--quick", "--runs", "10", "--workers", "1")


def finished(folder: Path) -> list[Path]:
    """The files of finished runs."""
    return sorted((folder / "runs").rglob("[0-9]*.parquet"))


def everything(folder: Path) -> dict[str, bytes]:
    """Every file of a reproduction, the runs by their name."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def stopped_in_the_middle(folder: Path, how: signal.Signals) -> subprocess.CompletedProcess[str]:
    """The process, once it was given this signal after its first files."""
    process = subprocess.Popen(
        [PROGRAM, *WORK, "--out", str(folder)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    until = time.monotonic() + 120
    while len(finished(folder)) < 4 and process.poll() is None and time.monotonic() < until:
        time.sleep(0.005)
    process.send_signal(how)
    out, err = process.communicate(timeout=60)
    return subprocess.CompletedProcess(WORK, process.returncode, out, err)


@pytest.fixture(scope="module")
def at_once(tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    """The process that does the work in one sitting; the last of its words is the folder."""
    words = [PROGRAM, *WORK, "--out", str(tmp_path_factory.mktemp("one") / "sitting")]
    return subprocess.run(words, capture_output=True, text=True)


@pytest.fixture
def in_one_sitting(at_once: subprocess.CompletedProcess[str]) -> Path:
    assert at_once.returncode == 0, at_once.stderr
    return Path(at_once.args[-1])


def test_the_table_and_the_conclusions_are_told(at_once: subprocess.CompletedProcess[str]) -> None:
    done = at_once
    assert done.returncode == 0
    for word in ("1,914.7", "4,254.2", "Safe, optimistic", "What cannot be concluded", "report.html"):
        assert word in done.stdout
    assert "table1: 480 runs\n" in done.stderr


def test_with_json_the_output_is_one_document(in_one_sitting: Path, typed: Typed, strict_json: Any) -> None:
    done = typed(*WORK, "--out", str(in_one_sitting), "--json")
    found = strict_json(done.stdout)
    assert (done.returncode, done.stderr) == (0, "")
    assert found["command"] == "surefoot reproduce table1 --runs 10"
    assert "report.html" in found["files"]
    assert len(found["experiments"]["table1"]["lingape"]) == 20
    assert found["experiments"]["table1"]["ours"]["LinGapE"]["means_of_ten"]["pulls"]["printed"] == 1914.7


def test_a_killed_run_continues_and_gives_the_same_bit_for_bit(in_one_sitting: Path, tmp_path: Path) -> None:
    folder = tmp_path / "killed"
    killed = stopped_in_the_middle(folder, signal.SIGKILL)
    kept = finished(folder)
    assert killed.returncode == -signal.SIGKILL
    assert 4 <= len(kept) < FILES
    assert not (folder / "report.html").exists()
    moments = {path: path.stat().st_mtime_ns for path in kept}
    done = subprocess.run([PROGRAM, *WORK, "--out", str(folder)], capture_output=True, text=True)
    assert done.returncode == 0
    assert f"{10 * len(kept)} of 480 runs are there from before" in done.stderr
    assert {path: path.stat().st_mtime_ns for path in kept} == moments  # not made again
    found = {name: content for name, content in everything(folder).items() if not name.endswith(".part")}
    assert found == everything(in_one_sitting)


def test_ctrl_c_says_how_to_continue(tmp_path: Path) -> None:
    folder = tmp_path / "interrupted"
    stopped = stopped_in_the_middle(folder, signal.SIGINT)
    assert stopped.returncode == 130
    assert stopped.stdout == ""
    assert "every finished run is kept" in stopped.stderr
    assert "The same command continues" in stopped.stderr
    assert "Traceback" not in stopped.stderr
    assert 4 <= len(finished(folder)) < FILES
    assert not list(folder.rglob("*.part"))


def test_an_unknown_experiment_is_refused_with_the_likely_one(typed: Typed, tmp_path: Path) -> None:
    done = typed("reproduce", "tabel1")
    assert done.returncode == 2
    assert "Did you mean 'table1'?" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("runs", ["0", "-5", "9", "2.5", "many", "99999999999999999999"])
def test_a_bad_number_of_runs_is_refused_before_any_work(typed: Typed, tmp_path: Path, runs: str) -> None:
    done = typed("reproduce", "--runs", runs)
    assert done.returncode == 2
    assert "--runs" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [("--seed", "-1"), ("--workers", "0")])
def test_other_bad_numbers_are_refused_too(typed: Typed, tmp_path: Path, words: tuple[str, str]) -> None:
    done = typed("reproduce", *words)
    assert done.returncode == 2
    assert words[0] in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_holds_other_files_is_refused_by_name(typed: Typed, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "report.html").write_text("mine")
    done = typed(*SMALL, "--out", "mine")
    assert done.returncode == 2
    assert "mine" in done.stderr
    assert "report.html" in done.stderr
    assert "nothing was written" in done.stderr
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["report.html"]
    assert (tmp_path / "mine" / "report.html").read_text() == "mine"


def test_another_seed_in_the_same_folder_is_refused(in_one_sitting: Path, typed: Typed) -> None:
    before = everything(in_one_sitting)
    done = typed(*WORK, "--out", str(in_one_sitting), "--seed", "9")
    assert done.returncode == 2
    assert "Continue with --seed 0" in done.stderr
    assert everything(in_one_sitting) == before


def test_a_file_that_cannot_grow_is_an_error_and_loses_nothing(tmp_path: Path) -> None:
    """A limit on the size of files stands in for a full disk: every user may set one."""
    folder = tmp_path / "limited"

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    stopped = subprocess.run(
        [PROGRAM, *SMALL, "--out", str(folder)], capture_output=True, text=True, preexec_fn=limit,
        env={**os.environ, "NO_COLOR": "1"},
    )  # fmt: skip
    assert stopped.returncode == 2
    assert "File too large" in stopped.stderr
    assert "the same command continues" in stopped.stderr
    assert "Traceback" not in stopped.stderr
    assert len(finished(folder)) == 6  # the runs were small enough, the figure was not
    assert not [path for path in folder.rglob("*") if path.suffix in (".part", ".svg")]


def mounted(folder: Path, options: str) -> None:
    """Mounts a file system in memory there, or skips where that is not allowed."""
    folder.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    try:
        subprocess.run(words, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("file systems may not be mounted here")


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    mounted(folder, "size=64k")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_is_an_error_and_the_run_continues_once_there_is_space(tiny_disk: Path, typed: Typed) -> None:
    stopped = typed(*WORK, "--out", str(tiny_disk))
    assert stopped.returncode == 2
    assert "No space left on device" in stopped.stderr
    assert str(tiny_disk) in stopped.stderr
    assert "the same command continues" in stopped.stderr
    kept = len(finished(tiny_disk))
    assert 0 < kept < FILES
    assert not list(tiny_disk.rglob("*.part"))
    subprocess.run(["mount", "-o", "remount,size=64m", str(tiny_disk)], check=True)
    done = typed(*WORK, "--out", str(tiny_disk))
    assert done.returncode == 0
    assert f"{10 * kept} of 480 runs are there from before" in done.stderr


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "fixed"
    if os.geteuid() == 0:
        mounted(folder, "ro")
        yield folder
        subprocess.run(["umount", str(folder)], check=True)
    else:
        folder.mkdir(mode=0o500)
        yield folder


@pytest.mark.parametrize("below", [False, True])
def test_a_folder_that_cannot_be_written_is_named(read_only: Path, typed: Typed, below: bool) -> None:
    done = typed(*SMALL, "--out", str(read_only / "new" if below else read_only))
    assert done.returncode == 2
    assert str(read_only) in done.stderr
    assert "Traceback" not in done.stderr


def test_help_teaches_by_example(typed: Typed) -> None:
    shown = typed("reproduce", "--help").stdout
    for word in ("table1", "fig-d", "--quick", "--out", "--runs", "--workers", "--seed", "--json", "continues", "130"):
        assert word in shown
