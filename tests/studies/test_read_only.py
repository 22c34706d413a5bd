"""Studies in a folder where nothing may be written: read wherever SQLite can, refused by name where it cannot."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from small_studies import begun, driven, measured

import surefoot as sf
from surefoot.errors import StorageBusy, StorageReadOnly

PROGRAM = str(Path(sys.executable).parent / "surefoot")


@pytest.fixture
def folders(tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    """A folder, and the same folder as one who may not write in it sees it."""
    writable, fixed = tmp_path / "writable", tmp_path / "fixed"
    writable.mkdir()
    fixed.mkdir()
    try:
        subprocess.run(["mount", "--bind", str(writable), str(fixed)], check=True, capture_output=True)
        subprocess.run(["mount", "-o", "remount,ro,bind", str(fixed)], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("file systems may not be mounted here")
    yield writable, fixed
    subprocess.run(["umount", "-l", str(fixed)], check=True)


def address(folder: Path) -> str:
    return f"sqlite:///{folder / 'studies.db'}"


def closed(folder: Path, pulls: int = 5) -> sf.Study:
    """A study whose storage nobody has open."""
    study = driven(begun(address(folder)), pulls)
    study._handle.store.close()
    assert os.listdir(folder) == ["studies.db"]
    return study


def typed(folder: Path, *words: str) -> Any:
    env = {**os.environ, "NO_COLOR": "1", "COLUMNS": "100"}
    return subprocess.run(
        [PROGRAM, *words, "--storage", address(folder)], capture_output=True, text=True, env=env, timeout=300
    )


def test_a_closed_storage_is_listed_shown_and_watched_from_a_folder_that_may_not_be_written(
    folders: tuple[Path, Path],
) -> None:
    writable, fixed = folders
    closed(writable)
    assert "power" in typed(fixed, "study", "list").stdout
    shown = typed(fixed, "study", "show", "power", "--json")
    assert json.loads(shown.stdout)["status"]["pulls"] == 5, shown.stderr
    assert "5 results" in typed(fixed, "study", "watch", "power", "--once").stdout.replace("5 pulls", "5 results")
    assert typed(fixed, "study", "audit", "power").returncode == 0
    refused = typed(fixed, "study", "ask", "power")
    assert (refused.returncode, "may not be written" in refused.stderr) == (8, True)
    assert os.listdir(fixed) == ["studies.db"]


def test_a_live_log_is_read_with_what_it_holds(folders: tuple[Path, Path]) -> None:
    writable, fixed = folders
    study = driven(begun(address(writable)), 5)  # open: the log holds the last results
    assert (writable / "studies.db-wal").stat().st_size > 0
    seen = sf.load_study("power", address(fixed))
    assert seen.pulls == 5
    driven(study, 3)
    assert seen.pulls == 8  # and goes on to be
    with pytest.raises(StorageReadOnly):
        seen.ask()


def test_a_log_without_its_index_is_refused_by_name_and_never_passed_over(folders: tuple[Path, Path]) -> None:
    writable, fixed = folders
    study = driven(begun(address(writable)), 5)
    shutil.copytree(writable, writable.parent / "killed")  # as a killed machine leaves it
    study._handle.store.close()
    shutil.copy(writable.parent / "killed" / "studies.db", writable / "studies.db")
    shutil.copy(writable.parent / "killed" / "studies.db-wal", writable / "studies.db-wal")
    with pytest.raises(StorageReadOnly, match=r"write-ahead log.* or use a copy"):
        sf.load_study("power", address(fixed))


def test_who_reads_a_closed_file_never_gives_out_what_was_overtaken(folders: tuple[Path, Path]) -> None:
    """Somebody goes on with the study while it is looked at: the old view is discarded by name or seen anew."""
    writable, fixed = folders
    closed(writable)
    seen = sf.load_study("power", address(fixed))
    assert seen.pulls == 5
    again = sf.load_study("power", address(writable))
    pull = again.ask()
    again.tell(pull, **measured(pull))
    try:
        found = seen.pulls
    except StorageBusy:
        found = seen.pulls
    assert found == 6
    again._handle.store.close()
    driven(sf.load_study("power", address(writable)), 1)
    try:
        found = seen.pulls
    except StorageBusy:
        found = seen.pulls
    assert found == 7
