"""What every store promises, on every store of ours: memory, SQLite, and a real PostgreSQL."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from surefoot.storage import store
from surefoot.storage.maintenance import create
from surefoot.storage.protocol import Store
from surefoot.testing import StoreContract


class OurContract(StoreContract):
    """The contract of a store at an address."""

    place: str

    def open(self) -> Store:
        return store.open_store(self.place, create=True)


class TestMemory(OurContract):
    readers_beside_writers = False  # there is one connection: a writer waits for the reader

    @pytest.fixture(autouse=True)
    def memory(self) -> Iterator[None]:
        store._in_memory.clear()
        self.place = "memory"
        yield
        store._in_memory.clear()


class TestSQLite(OurContract):
    @pytest.fixture(autouse=True)
    def file(self, tmp_path: Path) -> None:
        self.place = f"sqlite:///{tmp_path / 'studies.db'}"


class TestSQLiteWithoutLog(OurContract):
    readers_beside_writers = False  # a writer waits for the reader

    @pytest.fixture(autouse=True)
    def file(self, tmp_path: Path) -> None:
        self.place = f"sqlite:///{tmp_path / 'studies.db'}"
        create(self.place, journal="truncate")


@pytest.mark.xdist_group("postgres")
class TestPostgreSQL(OurContract):
    @pytest.fixture(autouse=True)
    def server(self, database: Callable[[], str]) -> None:
        self.place = database()
