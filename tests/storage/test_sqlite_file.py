"""Who may read an SQLite file, which journal it has, and what happens when its log is missing."""

import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import surefoot as sf
from surefoot.errors import InvalidInput, LogRescued, StorageBusy, StorageIncomplete
from surefoot.storage.headers import header_of
from surefoot.storage.maintenance import accept, backup, change_journal, check, create
from surefoot.storage.sqlite_file import says_log
from surefoot.storage.store import open_store


def begun(path: Path, pulls: int = 5) -> sf.Study:
    study = sf.create_study(sf.worlds.hard().paper_problem(), name="power", storage=f"sqlite:///{path}")
    return told(study, pulls)


def told(study: sf.Study, pulls: int) -> sf.Study:
    for _ in range(pulls):
        study.tell(study.ask(), reward=0.5, safety=0.01)
    return study


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def left_behind(path: Path, pulls: int) -> None:
    """A study that another process made and was killed over, with its log beside it."""
    killed_over(path, f"study = begun(path, {pulls})")
    assert path.with_name(path.name + "-wal").stat().st_size > 0


def killed_over(path: Path, work: str) -> None:
    """Another process does the work and is killed with the file open."""
    code = (
        "import os, sys, signal\nsys.path.insert(0, sys.argv[1])\nfrom pathlib import Path\nimport surefoot as sf\n"
        "from test_sqlite_file import begun, told\npath = Path(sys.argv[2])\n"
        f"{work}\nos.kill(os.getpid(), signal.SIGKILL)\n"
    )
    words = [sys.executable, "-c", code, str(Path(__file__).parent), str(path)]
    assert subprocess.run(words, timeout=300).returncode == -signal.SIGKILL


def closed_by_another_tool(path: Path) -> None:
    """The tool brings what is in the log into the file, removes the log, and leaves the header as it is."""
    tool = sqlite3.connect(path)
    tool.execute("SELECT count(*) FROM surefoot_events").fetchone()
    tool.close()
    assert says_log(path)
    assert not path.with_name(path.name + "-wal").exists()


OPENED = "study = sf.load_study('power', f'sqlite:///{path}')"


# -- permissions ------------------------------------------------------------------------------------------------------


def test_a_new_file_is_for_its_owner_alone_with_all_that_lies_beside_it(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        study = begun(tmp_path / "power.db")
        backup(study.storage, tmp_path / "copy.db")
    finally:
        os.umask(before)
    found = {path.name: oct(mode(path)) for path in tmp_path.iterdir()}
    names = {"power.db", "power.db-wal", "power.db-shm", "power.db-queue", "copy.db"}
    assert found == dict.fromkeys(names, "0o600")


def test_a_file_may_be_shared_with_the_group_and_with_nobody_else(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        create(f"sqlite:///{tmp_path / 'power.db'}", shared_with_group=True)
        study = begun(tmp_path / "power.db")
    finally:
        os.umask(before)
    assert {oct(mode(path)) for path in tmp_path.iterdir()} == {"0o660"}
    assert study.pulls == 5


def test_what_exists_is_not_made_again(tmp_path: Path) -> None:
    begun(tmp_path / "power.db")
    with pytest.raises(InvalidInput, match="exists already"):
        create(f"sqlite:///{tmp_path / 'power.db'}")
    with pytest.raises(InvalidInput, match="journal"):
        create(f"sqlite:///{tmp_path / 'new.db'}", journal="memory")
    assert not (tmp_path / "new.db").exists()


# -- the journal ------------------------------------------------------------------------------------------------------


def test_a_file_without_a_log_is_whole_at_every_moment(tmp_path: Path) -> None:
    """What a plain copy of the one file holds is everything that was acknowledged."""
    assert create(f"sqlite:///{tmp_path / 'power.db'}", journal="truncate").journal == "truncate"
    study = begun(tmp_path / "power.db")
    for pulls in (5, 6, 7):
        assert not (tmp_path / "power.db-wal").exists()
        shutil.copy(tmp_path / "power.db", tmp_path / f"{pulls}.db")
        assert sf.load_study("power", f"sqlite:///{tmp_path / f'{pulls}.db'}").pulls == pulls
        told(study, 1)


def test_the_journal_is_remembered_and_can_be_changed(tmp_path: Path) -> None:
    study = begun(tmp_path / "power.db")
    address = study.storage
    assert change_journal(address).journal == "wal"
    with sqlite3.connect(tmp_path / "power.db") as other:
        other.execute("SELECT * FROM surefoot_studies").fetchall()
        with pytest.raises(StorageBusy, match="another program"):
            change_journal(address, "truncate")
    other.close()
    assert change_journal(address, "truncate").journal == "truncate"
    told(study, 1)
    assert not (tmp_path / "power.db-wal").exists()
    assert change_journal(address).journal == "truncate"
    assert change_journal(address, "wal").journal == "wal"
    study = told(sf.load_study("power", address), 1)
    assert (tmp_path / "power.db-wal").exists()
    assert study.audit().clean


@pytest.mark.parametrize("storage", ["memory"])
def test_only_files_have_a_journal(storage: str) -> None:
    with pytest.raises(InvalidInput, match="no SQLite file"):
        change_journal(storage, "truncate")
    with pytest.raises(InvalidInput, match="no SQLite file"):
        create(storage, journal="truncate")


def test_reading_the_header_keeps_the_locks_of_sqlite(tmp_path: Path) -> None:
    """The system drops a process's locks on a file with the first descriptor of it that is closed."""
    database = open_store(f"sqlite:///{tmp_path / 'power.db'}", create=True)._database  # type: ignore[attr-defined]
    look = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('PRAGMA journal_mode = delete')"
    with database.reading():
        assert len(header_of(tmp_path / "power.db")) == 100
        done = subprocess.run(
            [sys.executable, "-c", look, str(tmp_path / "power.db")], capture_output=True, text=True, timeout=60
        )
    assert "locked" in done.stdout + done.stderr


# -- a log that is missing --------------------------------------------------------------------------------------------


def test_a_copy_without_its_log_is_refused(tmp_path: Path) -> None:
    """A part of 300 results would otherwise be opened as if it were all."""
    study = begun(tmp_path / "power.db", 300)
    shutil.copy(tmp_path / "power.db", tmp_path / "copy.db")
    for attempt in (
        lambda: sf.load_study("power", f"sqlite:///{tmp_path / 'copy.db'}"),
        lambda: sf.list_studies(f"sqlite:///{tmp_path / 'copy.db'}"),
        lambda: backup(f"sqlite:///{tmp_path / 'copy.db'}", tmp_path / "another.db"),
    ):
        with pytest.raises(StorageIncomplete, match="storage backup"):
            attempt()
    shutil.copy(tmp_path / "power.db-wal", tmp_path / "copy.db-wal")
    assert sf.load_study("power", f"sqlite:///{tmp_path / 'copy.db'}").pulls == 300
    assert study.pulls == 300


def test_a_copy_without_its_log_can_be_accepted_as_it_is(tmp_path: Path) -> None:
    study = begun(tmp_path / "power.db", 300)
    shutil.copy(tmp_path / "power.db", tmp_path / "copy.db")
    assert study.pulls == 300
    found = accept(f"sqlite:///{tmp_path / 'copy.db'}")
    assert 0 < found.events < 600
    assert found.faults == ()
    assert 0 < sf.load_study("power", f"sqlite:///{tmp_path / 'copy.db'}").pulls < 300


def test_a_file_that_was_closed_may_be_copied_alone(tmp_path: Path) -> None:
    study = begun(tmp_path / "power.db", 20)
    del study
    assert [path.name for path in tmp_path.iterdir()] == ["power.db"]
    assert not says_log(tmp_path / "power.db")
    shutil.copy(tmp_path / "power.db", tmp_path / "copy.db")
    assert sf.load_study("power", f"sqlite:///{tmp_path / 'copy.db'}").pulls == 20


def test_what_a_killed_process_left_is_opened_with_its_log_and_refused_without(tmp_path: Path) -> None:
    left_behind(tmp_path / "power.db", 10)
    shutil.copytree(tmp_path, tmp_path / "lost")
    (tmp_path / "lost" / "power.db-wal").unlink()
    for lost in ([], ["power.db-queue"]):
        for name in lost:
            (tmp_path / "lost" / name).unlink()
        with pytest.raises(StorageIncomplete, match=r"power\.db-wal"):
            sf.load_study("power", f"sqlite:///{tmp_path / 'lost' / 'power.db'}")
        with pytest.raises(StorageIncomplete, match=r"power\.db-wal"):
            begun(tmp_path / "lost" / "power.db")
    assert sf.load_study("power", f"sqlite:///{tmp_path / 'power.db'}").pulls == 10


def test_a_file_that_another_tool_closed_last_is_complete(tmp_path: Path) -> None:
    left_behind(tmp_path / "power.db", 10)
    closed_by_another_tool(tmp_path / "power.db")
    assert sf.load_study("power", f"sqlite:///{tmp_path / 'power.db'}").pulls == 10


@pytest.mark.parametrize("work", [OPENED, f"{OPENED}\nstudy.history, study.ask"])
def test_a_file_that_a_reader_was_killed_over_is_complete(tmp_path: Path, work: str) -> None:
    """Nothing was written since it was closed, so nothing can be missing, whoever closed or removed the log."""
    path = tmp_path / "power.db"
    begun(path, 10)
    for lose in (closed_by_another_tool, lambda file: file.with_name("power.db-wal").unlink()):
        assert not says_log(path)
        killed_over(path, work)
        lose(path)
        killed_over(path, work)  # which opens it all the same
        lose(path)
        assert sf.load_study("power", f"sqlite:///{path}").pulls == 10


def test_a_new_file_whose_maker_was_killed_is_complete(tmp_path: Path) -> None:
    killed_over(tmp_path / "power.db", "store = sf.storage.store.open_store(f'sqlite:///{path}', create=True)")
    closed_by_another_tool(tmp_path / "power.db")
    assert sf.list_studies(f"sqlite:///{tmp_path / 'power.db'}") == []


@pytest.mark.parametrize("work", ["told(study, 1)", "study.ask()", "sf.delete_study('power', study.storage)"])
def test_what_is_written_after_a_reader_is_missed_with_the_log(tmp_path: Path, work: str) -> None:
    path = tmp_path / "power.db"
    begun(path, 10)
    killed_over(path, OPENED)
    killed_over(path, f"{OPENED}\n{work}")
    shutil.copytree(tmp_path, tmp_path / "whole")
    path.with_name("power.db-wal").unlink()
    with pytest.raises(StorageIncomplete, match=r"power\.db-wal"):
        sf.list_studies(f"sqlite:///{path}")
    closed_by_another_tool(tmp_path / "whole" / "power.db")
    sf.list_studies(f"sqlite:///{tmp_path / 'whole' / 'power.db'}")


@pytest.mark.parametrize("pulls", [1, 10, 200])
def test_a_log_that_is_removed_under_a_running_process_is_rescued(tmp_path: Path, pulls: int) -> None:
    study = begun(tmp_path / "power.db", pulls)
    pull = study.ask()
    (tmp_path / "power.db-wal").unlink()
    with pytest.warns(LogRescued, match="All of it is in the file"):
        study.tell(pull, reward=0.5, safety=0.01)
    told(study, 2)
    shutil.copytree(tmp_path, tmp_path / "crashed", ignore=shutil.ignore_patterns("*-shm", "*-queue"))
    again = sf.load_study("power", f"sqlite:///{tmp_path / 'crashed' / 'power.db'}")
    assert again.pulls == study.pulls == pulls + 3
    assert again.audit().clean
    assert check(study.storage).faults == ()


def test_with_others_at_work_a_removed_log_is_brought_in_and_named(tmp_path: Path) -> None:
    """Nobody can go on with a new log while somebody else writes to the old one; and nothing is lost."""
    study = begun(tmp_path / "power.db", 10)
    other = sqlite3.connect(tmp_path / "power.db")
    other.execute("SELECT * FROM surefoot_studies").fetchall()
    (tmp_path / "power.db-wal").unlink()
    with pytest.raises(StorageIncomplete, match="all that was acknowledged is in the file"):
        study.ask()
    other.close()
    told(study, 1)
    assert sf.load_study("power", study.storage).pulls == 11


def test_a_log_that_is_replaced_is_named(tmp_path: Path) -> None:
    study = begun(tmp_path / "power.db", 10)
    content = (tmp_path / "power.db-wal").read_bytes()
    (tmp_path / "power.db-wal").unlink()
    (tmp_path / "power.db-wal").write_bytes(content)
    for attempt in (study.ask, study.status):
        with pytest.raises(StorageIncomplete, match="replaced while it was open"):
            attempt()


def test_one_who_closes_beside_another_leaves_the_log(tmp_path: Path) -> None:
    """Two processes: the first to leave changes nothing for the second."""
    study = begun(tmp_path / "power.db", 3)
    look = "import sys, surefoot as sf; print(sf.load_study('power', sys.argv[1]).pulls)"
    for pulls in (3, 4):
        done = subprocess.run(
            [sys.executable, "-c", look, study.storage], capture_output=True, text=True, timeout=100, check=True
        )
        assert done.stdout == f"{pulls}\n"
        told(study, 1)
    assert study.pulls == 5
