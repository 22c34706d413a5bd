"""A storage in a folder that belongs to somebody else, seen by a user who may read it and write nothing there."""

import os
import pickle
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from small_studies import begun, driven

import surefoot as sf
from surefoot.errors import StorageIncomplete, StorageReadOnly

NOBODY = 65_534


@pytest.fixture
def shelf() -> Iterator[Path]:
    """A folder that everybody can reach, unlike those of the tests."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


def for_reading(folder: Path) -> str:
    """The address of the storage in the folder, in which from now on nobody but root may write."""
    for path in folder.iterdir():
        os.chmod(path, 0o444)
    os.chmod(folder, 0o555)
    return f"sqlite:///{folder / 'studies.db'}"


def seen_by_a_stranger(look: Callable[[], Any]) -> Any:
    """What the look gives, or the error that it raises, in a process of another user: root may write everywhere."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            try:
                found = look()
            except Exception as error:
                found = (type(error).__name__, str(error))
            os.write(write, pickle.dumps(found))
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as answer:
        content = answer.read()
    os.waitpid(child, 0)
    return pickle.loads(content)


def test_a_closed_storage_is_read_and_nothing_is_left_beside_it(shelf: Path) -> None:
    driven(begun(f"sqlite:///{shelf / 'studies.db'}"), 5)._handle.store.close()
    address = for_reading(shelf)
    assert seen_by_a_stranger(lambda: [each["name"] for each in sf.list_studies(address)]) == ["power"]
    assert seen_by_a_stranger(lambda: sf.load_study("power", address).pulls) == 5
    assert os.listdir(shelf) == ["studies.db"]
    assert stat.S_IMODE(shelf.stat().st_mode) == 0o555
    kind, _ = seen_by_a_stranger(lambda: sf.load_study("power", address).ask())
    assert kind == StorageReadOnly.__name__


@pytest.mark.parametrize("beside", [[], ["studies.db-queue"]])
def test_a_copy_without_its_log_is_refused_there_too(shelf: Path, tmp_path: Path, beside: list[str]) -> None:
    """Read as a file that does not change, it would be taken for all there is."""
    study = driven(begun(f"sqlite:///{tmp_path / 'studies.db'}"), 60)
    for name in ("studies.db", *beside):
        shutil.copy(tmp_path / name, shelf / name)
    address = for_reading(shelf)
    for look in (lambda: sf.load_study("power", address).pulls, lambda: sf.list_studies(address)):
        kind, said = seen_by_a_stranger(look)
        assert (kind, "studies.db-wal" in said) == (StorageIncomplete.__name__, True)
    assert sorted(os.listdir(shelf)) == sorted(["studies.db", *beside])
    assert study.pulls == 60


def test_a_copy_with_its_log_but_without_its_index_is_refused_by_name(shelf: Path, tmp_path: Path) -> None:
    study = driven(begun(f"sqlite:///{tmp_path / 'studies.db'}"), 5)
    for name in ("studies.db", "studies.db-wal"):
        shutil.copy(tmp_path / name, shelf / name)
    address = for_reading(shelf)
    kind, said = seen_by_a_stranger(lambda: sf.load_study("power", address).pulls)
    assert (kind, "write-ahead log" in said) == (StorageReadOnly.__name__, True)
    assert study.pulls == 5
