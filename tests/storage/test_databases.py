"""The settings on which the promises of a store rest, read back from the databases themselves."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import text

from surefoot.storage.engines import PATIENCE
from surefoot.storage.store import open_store


def test_sqlite_keeps_what_it_acknowledges_and_makes_writers_wait(tmp_path: Path) -> None:
    path = tmp_path / "studies.db"
    database = open_store(f"sqlite:///{path}", create=True)._database
    with database.writing() as connection:
        found = {
            name: connection.execute(text(f"PRAGMA {name}")).scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }
        assert found == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 1000 * PATIENCE}
        other = sqlite3.connect(path, timeout=0.0, isolation_level=None)
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("BEGIN IMMEDIATE")  # the lock is there before anything was written
        assert other.execute("SELECT count(*) FROM surefoot_studies").fetchone() == (0,)
    other.execute("BEGIN IMMEDIATE")
    other.close()


def test_a_view_of_sqlite_takes_no_lock(tmp_path: Path) -> None:
    path = tmp_path / "studies.db"
    database = open_store(f"sqlite:///{path}", create=True)._database
    with database.reading() as connection:
        connection.execute(text("SELECT * FROM surefoot_studies"))
        other = sqlite3.connect(path, timeout=0.0, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        other.execute("ROLLBACK")
        other.close()


@pytest.mark.xdist_group("postgres")
def test_postgres_bounds_its_waiting_and_views_cannot_write(database: Callable[[], str]) -> None:
    opened = open_store(database(), create=True)._database
    with opened.writing() as connection:
        assert connection.execute(text("SHOW transaction_isolation")).scalar() == "read committed"
        assert connection.execute(text("SHOW lock_timeout")).scalar() == f"{PATIENCE:g}s"
        assert connection.execute(text("SHOW synchronous_commit")).scalar() == "on"
    with opened.reading() as connection:
        assert connection.execute(text("SHOW transaction_read_only")).scalar() == "on"
        assert connection.execute(text("SHOW transaction_isolation")).scalar() == "repeatable read"
    with opened.writing() as connection:
        assert connection.execute(text("SHOW transaction_read_only")).scalar() == "off"


def test_connections_are_given_back_when_nobody_has_the_store_any_more(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path / 'studies.db'}", create=True)
    store.listed()
    assert (tmp_path / "studies.db-wal").exists()
    del store
    assert [path.name for path in tmp_path.iterdir()] == ["studies.db"]  # the last to leave clears the log
