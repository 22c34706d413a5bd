"""The tables of a database: made by migrations, as the code says, and brought up to date with all that is in them."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import inspect, text

import surefoot as sf
from surefoot.errors import StorageDamaged, StorageNewer, StorageOutdated, StorageUnavailable
from surefoot.storage import schema, tables
from surefoot.storage.addresses import address_of
from surefoot.storage.databases import Database
from surefoot.storage.maintenance import upgrade
from surefoot.storage.store import open_store

LATER = '''"""One more column."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """A note to each event."""
    op.add_column("surefoot_events", sa.Column("note", sa.Text))
    {more}
'''


@pytest.fixture
def later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Makes this version the one after the present, with one more migration."""

    def arrive(more: str) -> None:
        folder = tmp_path / "migrations"
        shutil.copytree(schema.MIGRATIONS, folder, ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "versions" / "v0003_note.py").write_text(LATER.format(more=more))
        monkeypatch.setattr(schema, "MIGRATIONS", folder)
        monkeypatch.setattr(schema, "REVISIONS", ("0001", "0002", "0003"))

    return arrive


def begun(storage: str) -> sf.Study:
    study = sf.create_study(sf.worlds.hard().paper_problem(), name="power", storage=storage)
    study.tell(study.ask(), reward=0.5, safety=0.0)
    return study


def test_every_migration_is_known_and_the_last_one_is_this_version() -> None:
    config = Config()
    config.set_main_option("script_location", str(schema.MIGRATIONS))
    script = ScriptDirectory.from_config(config)
    assert [each.revision for each in script.walk_revisions()][::-1] == list(tables.REVISIONS)


def test_migrations_make_the_tables_that_the_code_describes(storage: str) -> None:
    database = open_store(storage, create=True)._database
    with database.reading() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": tables.VERSION_TABLE})
        differences = compare_metadata(context, tables.metadata)
        assert differences == []
        for table in tables.metadata.tables.values():
            found = inspect(connection).get_unique_constraints(table.name)
            assert {each["name"] for each in found} == {
                each.name for each in table.constraints if type(each).__name__ == "UniqueConstraint"
            }


@pytest.mark.parametrize(
    "storage", ["sqlite", pytest.param("postgres", marks=pytest.mark.xdist_group("postgres"))], indirect=True
)
def test_an_older_storage_is_refused_until_it_is_upgraded_and_keeps_all(
    storage: str, later: Callable[[str], None]
) -> None:
    before = begun(storage).status()
    later("")
    with pytest.raises(StorageOutdated, match="storage upgrade"):
        sf.load_study("power", storage)
    with pytest.raises(StorageOutdated):
        begun(storage)
    done = upgrade(storage)
    assert (done.before, done.after, done.changed) == ("0002", "0003", True)
    assert not upgrade(storage).changed
    again = sf.load_study("power", storage)
    assert again.status() == before
    assert again.audit().clean


@pytest.mark.parametrize(
    "storage", ["sqlite", pytest.param("postgres", marks=pytest.mark.xdist_group("postgres"))], indirect=True
)
def test_an_upgrade_that_fails_halfway_changes_nothing(
    storage: str, later: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = begun(storage).status()
    with monkeypatch.context() as patch:
        patch.setattr(schema, "MIGRATIONS", schema.MIGRATIONS)
        later('raise RuntimeError("the power went out")')
        with pytest.raises(RuntimeError, match="power"):
            upgrade(storage)
    monkeypatch.undo()
    database = Database(address_of(storage), create=False)
    with database.reading() as connection:
        assert schema.revision_of(connection) == "0002"
        assert "note" not in [column["name"] for column in inspect(connection).get_columns("surefoot_events")]
    assert sf.load_study("power", storage).status() == before


@pytest.mark.parametrize(("written", "error"), [("0003", StorageNewer), ("head", StorageDamaged)])
def test_what_this_version_does_not_know_is_refused(tmp_path: Path, written: str, error: type[Exception]) -> None:
    storage = f"sqlite:///{tmp_path / 'studies.db'}"
    open_store(storage, create=True)
    database = Database(address_of(storage), create=False)
    with database.writing() as connection:
        connection.execute(text(f"UPDATE surefoot_version SET version_num = '{written}'"))
    for action in (open_store, upgrade, lambda url: open_store(url, create=True)):
        with pytest.raises(error, match=written):
            action(storage)


def test_a_database_without_our_tables_holds_no_studies(tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    with pytest.raises(StorageUnavailable, match="none of surefoot's tables"):
        open_store(f"sqlite:///{tmp_path / 'empty.db'}")
    assert (tmp_path / "empty.db").stat().st_size == 0
