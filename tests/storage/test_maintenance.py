"""Backups that are storages themselves, taken while work goes on, and a look at what is wrong."""

import sqlite3
from pathlib import Path
from threading import Event, Thread

import pytest

import surefoot as sf
from surefoot.errors import InvalidInput
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
