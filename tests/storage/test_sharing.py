"""One database for each address in a process, shared by all who open it, and by nobody else."""

import os
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import text

import surefoot as sf
from surefoot.errors import StorageUnavailable, StudyNotFound
from surefoot.storage.maintenance import backup
from surefoot.storage.store import open_store


def begun(storage: str) -> sf.Study:
    study = sf.create_study(sf.worlds.hard().paper_problem(), name="power", storage=storage)
    study.tell(study.ask(), reward=0.5, safety=0.01)
    return study


@pytest.mark.xdist_group("postgres")
def test_two_hundred_studies_need_no_more_connections_than_one(database: Callable[[], str]) -> None:
    address = database()
    first = begun(address)
    studies = [first, *(sf.load_study("power", address) for _ in range(199))]
    with ThreadPoolExecutor(8) as pool:
        assert {found.pulls for found in pool.map(lambda study: study.status(), studies)} == {1}
    shared = {id(study._handle.store._database) for study in studies}  # type: ignore[attr-defined]
    assert len(shared) == 1
    with first._handle.store._database.reading() as connection:  # type: ignore[attr-defined]
        count = connection.execute(text("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"))
        assert count.scalar_one() <= 15


def test_one_who_closes_disturbs_nobody(storage: str) -> None:
    study = begun(storage)
    other = sf.load_study("power", storage)
    other._handle.store.close()  # type: ignore[attr-defined]
    study.tell(study.ask(), reward=0.5, safety=0.01)
    assert other.pulls == 2


def test_a_file_in_the_place_of_another_is_opened_anew(tmp_path: Path) -> None:
    study = begun(f"sqlite:///{tmp_path / 'power.db'}")
    copy = backup(study.storage, tmp_path / "copy.db")
    study.tell(study.ask(), reward=0.5, safety=0.01)
    for ending in ("", "-wal", "-shm"):
        (tmp_path / f"power.db{ending}").unlink()
    shutil.move(copy, tmp_path / "power.db")
    assert sf.load_study("power", study.storage).pulls == 1
    with pytest.raises(StorageUnavailable, match="replaced"):
        study.ask()


# Later Pythons warn of threads in the parent; none of them holds a lock here.
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_storage_in_memory_is_refused_in_a_forked_child() -> None:
    """What the child would write there, the parent would never see."""
    study = begun("memory")
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        said = "nothing"
        try:
            study.ask()
        except StorageUnavailable as error:
            said = str(error)
        try:
            sf.load_study("power", "memory")
        except StudyNotFound:
            said += " (and a new one is empty)"
        os.write(write, said.encode())
        os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    said = os.read(read, 10_000).decode()
    os.close(read)
    assert "only a copy" in said
    assert said.endswith("(and a new one is empty)")
    assert study.pulls == 1


def test_a_closed_file_is_left_alone_by_a_forked_child(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path / 'power.db'}", create=True)
    child = os.fork()
    if child == 0:
        del store
        os._exit(0)
    os.waitpid(child, 0)
    assert store.listed() == []
    assert store._database.engine.pool.checkedin() == 1  # type: ignore[attr-defined]
