"""Backups that are storages themselves, taken while work goes on, and a look at what is wrong."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from threading import Event, Thread

import pytest

import surefoot as sf
from surefoot.errors import InvalidInput, StorageDamaged
from surefoot.storage import tables
from surefoot.storage.maintenance import backup, check, upgrade


def begun(storage: str, name: str = "power", pulls: int = 5) -> sf.Study:
    study = sf.create_study(sf.worlds.hard().paper_problem(), name=name, storage=storage)
    for _ in range(pulls):
        study.tell(study.ask(), reward=0.5, safety=0.01)
    return study


def test_a_backup_is_a_storage_that_holds_the_same(storage: str, tmp_path: Path) -> None:
    studies = [begun(storage), begun(storage, "pumps", 3)]
    path = backup(storage, tmp_path / "copy.db")
    assert sorted(each.name for each in tmp_path.iterdir() if each.name.startswith(("copy", ".copy"))) == ["copy.db"]
    copy = f"sqlite:///{path}"
    for study in studies:
        again = sf.load_study(study.name, copy)
        assert again.status() == study.status()
        assert again.audit().clean
        again.ask()
    assert studies[0].open_pulls == ()
    assert begun(copy, "new").pulls == 5


def test_a_backup_never_replaces_a_file(storage: str, tmp_path: Path) -> None:
    begun(storage)
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(InvalidInput, match="exists already"):
        backup(storage, tmp_path / "thesis.tex")
    with pytest.raises(InvalidInput, match="folder"):
        backup(storage, tmp_path / "no" / "folder.db")
    assert (tmp_path / "thesis.tex").read_text() == "years of work"


KILLED = """
import sys
from surefoot.storage.maintenance import backup
print("begun", flush=True)
backup(sys.argv[1], sys.argv[2])
"""


def test_a_backup_that_is_killed_leaves_nothing_of_it(tmp_path: Path) -> None:
    """In its first instant there may be an empty file, which the next one sweeps."""
    study = begun(f"sqlite:///{tmp_path / 'studies.db'}", pulls=400)
    folder = tmp_path / "backups"
    folder.mkdir()
    for wait in (0.0, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.2):
        words = [sys.executable, "-c", KILLED, study.storage, str(folder / "copy.db")]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(wait)
            process.kill()
        if (folder / "copy.db").exists():
            assert sf.load_study("power", f"sqlite:///{folder / 'copy.db'}").pulls == 400
            (folder / "copy.db").unlink()
        assert [path.stat().st_size for path in folder.iterdir()] in ([], [0])
    backup(study.storage, folder / "copy.db")
    assert [path.name for path in folder.iterdir()] == ["copy.db"]


IN_THE_FIRST_INSTANT = """
import os, signal, sqlite3, sys
from surefoot.storage.maintenance import backup
connect = sqlite3.connect

def stopped(place, *arguments, **named):
    if ".part" in str(place):
        print("here", flush=True)
        os.kill(os.getpid(), signal.Signals[sys.argv[3]])
    return connect(place, *arguments, **named)

sqlite3.connect = stopped
backup(sys.argv[1], sys.argv[2])
"""


def in_the_first_instant(storage: str, path: Path, blow: str) -> "subprocess.Popen[str]":
    """A backup that is killed, or stopped, before SQLite has opened its file."""
    words = [sys.executable, "-c", IN_THE_FIRST_INSTANT, storage, str(path), blow]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "here\n"
    return process


def test_what_a_killed_backup_leaves_in_its_first_instant_is_swept_by_the_next_at_once(tmp_path: Path) -> None:
    study = begun(f"sqlite:///{tmp_path / 'studies.db'}")
    folder = tmp_path / "backups"
    folder.mkdir()
    for _ in range(2):
        with in_the_first_instant(study.storage, folder / "copy.db", "SIGKILL") as process:
            assert process.wait(60) == -signal.SIGKILL
        assert [path.stat().st_size for path in folder.iterdir()] in ([], [0])
    backup(study.storage, folder / "copy.db")
    assert [path.name for path in folder.iterdir()] == ["copy.db"]


def test_a_backup_that_is_at_work_is_not_swept_by_another(tmp_path: Path) -> None:
    study = begun(f"sqlite:///{tmp_path / 'studies.db'}")
    folder = tmp_path / "backups"
    folder.mkdir()
    with in_the_first_instant(study.storage, folder / "copy.db", "SIGSTOP") as process:
        backup(study.storage, folder / "copy.db")
        (folder / "copy.db").rename(folder / "first.db")
        process.send_signal(signal.SIGCONT)
        assert process.wait(60) == 0
    assert sorted(path.name for path in folder.iterdir()) == ["copy.db", "first.db"]
    for name in ("copy.db", "first.db"):
        assert sf.load_study("power", f"sqlite:///{folder / name}").pulls == 5


def test_where_every_file_has_a_name_a_backup_leaves_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "O_TMPFILE")
    study = begun(f"sqlite:///{tmp_path / 'studies.db'}")
    backup(study.storage, tmp_path / "copy.db")
    assert [path.name for path in tmp_path.iterdir() if "copy" in path.name] == ["copy.db"]
    assert sf.load_study("power", f"sqlite:///{tmp_path / 'copy.db'}").pulls == 5


def test_an_unfinished_backup_of_an_older_version_is_swept_by_the_next(tmp_path: Path) -> None:
    study = begun(f"sqlite:///{tmp_path / 'studies.db'}")
    left = tmp_path / ".copy.db.0123456789abcdef.part"
    for ending in ("", "-wal", "-shm"):
        left.with_name(left.name + ending).touch()
        os.utime(left.with_name(left.name + ending), (1, 1))
    backup(study.storage, tmp_path / "copy.db")
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_failed_backup_names_the_one_that_failed(tmp_path: Path) -> None:
    study = begun(f"sqlite:///{tmp_path / 'studies.db'}", pulls=200)
    limit = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))\n"
    tail = (
        "try:\n    backup(sys.argv[1], sys.argv[2])\nexcept Exception as error:\n    print(type(error).__name__, error)"
    )
    code = f"{limit}from surefoot.storage.maintenance import backup\n{tail}"
    words = [sys.executable, "-c", code, study.storage, str(tmp_path / "copy.db")]
    said = subprocess.run(words, capture_output=True, text=True, timeout=100, check=True).stdout
    assert said.startswith(f"StorageFull sqlite:///{tmp_path / 'copy.db'} ")
    assert not list(tmp_path.glob("*copy*"))
    study._handle.store.close()
    with (tmp_path / "studies.db").open("r+b") as file:
        file.seek(20 * 4096)
        file.write(b"\xff" * ((tmp_path / "studies.db").stat().st_size - 20 * 4096))
    with pytest.raises(StorageDamaged, match=r"studies\.db") as caught:
        backup(study.storage, tmp_path / "copy.db")
    assert caught.value.storage == study.storage
    assert not list(tmp_path.glob("*copy*"))


def test_a_backup_holds_what_is_known_of_deleted_studies(storage: str, tmp_path: Path) -> None:
    begun(storage)
    sf.delete_study("power", storage, key="once")
    copy = f"sqlite:///{backup(storage, tmp_path / 'copy.db')}"
    begun(copy)
    sf.delete_study("power", copy, key="once")  # it was done before, and is not done again
    assert len(sf.list_studies(copy)) == 1


@pytest.mark.parametrize(
    "storage", ["sqlite", pytest.param("postgres", marks=pytest.mark.xdist_group("postgres"))], indirect=True
)
def test_a_backup_under_load_is_of_one_moment(storage: str, tmp_path: Path) -> None:
    study, finish = begun(storage), Event()

    def work() -> None:
        mine = sf.load_study("power", storage)
        while not finish.is_set():
            mine.tell(mine.ask(), reward=0.5, safety=0.01)

    worker = Thread(target=work)
    worker.start()
    try:
        copies = [backup(storage, tmp_path / f"{i}.db") for i in range(4)]
    finally:
        finish.set()
        worker.join()
    pulls = [sf.load_study("power", f"sqlite:///{path}").audit() for path in copies]
    assert all(report.clean for report in pulls)
    assert sorted(report.pulls for report in pulls) == [report.pulls for report in pulls]
    assert study.pulls >= pulls[-1].pulls


def test_a_sound_storage_has_no_faults(storage: str) -> None:
    begun(storage)
    found = check(storage)
    assert (found.studies, found.events, found.faults, found.revision) == (1, 10, (), tables.REVISIONS[-1])
    assert not upgrade(storage).changed


def test_a_gap_and_an_orphan_are_faults(tmp_path: Path) -> None:
    study = begun(f"sqlite:///{tmp_path / 'studies.db'}")
    with sqlite3.connect(tmp_path / "studies.db") as connection:
        connection.execute("DELETE FROM surefoot_events WHERE sequence = 4")
        connection.execute("DELETE FROM surefoot_arms")
    connection.close()
    faults = "\n".join(check(study.storage).faults)
    assert "study 'power': 9 events that count from 1 to 10" in faults
    assert "surefoot_arms" in faults


def test_a_damaged_index_is_a_fault(tmp_path: Path) -> None:
    study = begun(f"sqlite:///{tmp_path / 'studies.db'}", pulls=60)
    study._handle.store.close()
    with sqlite3.connect(tmp_path / "studies.db") as connection:
        name = "sqlite_autoindex_surefoot_events_2"
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", [name]).fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    connection.close()
    with (tmp_path / "studies.db").open("r+b") as file:
        file.seek((page - 1) * size + size - 200)
        file.write(b"\x01" * 100)
    assert check(study.storage).faults
