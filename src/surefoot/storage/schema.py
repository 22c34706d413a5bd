"""Which arrangement of the tables a database has, and how it comes to have the present one."""

from pathlib import Path

from sqlalchemy import Connection, inspect, text

from surefoot.errors import StorageDamaged, StorageNewer, StorageOutdated, StorageUnavailable
from surefoot.storage.addresses import Address
from surefoot.storage.databases import Database
from surefoot.storage.tables import REVISIONS, VERSION_TABLE

MIGRATIONS = Path(__file__).parent / "migrations"
ONE_AT_A_TIME = 7_305_117_442_001  # the number of PostgreSQL's lock: any, but always the same


def revision_of(connection: Connection) -> str | None:
    """The arrangement of the tables; None where there are none yet."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    found = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalars().all()
    return str(found[0]) if found else None


def check_revision(revision: str, address: Address) -> None:
    """Nothing, when the tables are those that this version reads and writes."""
    if revision == REVISIONS[-1]:
        return
    detail = f"has the arrangement {revision} of tables, and this version of surefoot knows {REVISIONS[-1]}"
    if revision in REVISIONS:
        raise StorageOutdated(str(address), detail)
    if revision.isdigit() and revision > REVISIONS[-1]:
        raise StorageNewer(str(address), detail)
    raise StorageDamaged(str(address), f"says that its tables have the arrangement {revision!r}, which never was")


def prepare(database: Database) -> None:
    """The tables are there, made now if need be; others than the present ones are refused."""
    with database.reading() as connection:
        revision = revision_of(connection)
    if revision is not None:
        check_revision(revision, database.address)
    if revision is None:
        with database.writing() as connection:
            one_at_a_time(connection)
            revision = revision_of(connection)  # another process may have been faster
            if revision is None:
                migrate(connection)
                revision = REVISIONS[-1]
        check_revision(revision, database.address)
    database.settle()


def check_prepared(database: Database) -> None:
    """Nothing, when the database holds the tables that this version knows."""
    with database.reading() as connection:
        revision = revision_of(connection)
    if revision is None:
        raise StorageUnavailable(str(database.address), "holds no studies: it has none of surefoot's tables")
    check_revision(revision, database.address)
    database.settle()


def upgraded(database: Database) -> tuple[str | None, str]:
    """The arrangement of the tables before and after everything was done to make it the present one."""
    with database.reading() as connection:
        _check_known(revision_of(connection), database.address)
    with database.writing() as connection:
        one_at_a_time(connection)
        before = revision_of(connection)
        _check_known(before, database.address)
        migrate(connection)
    return before, REVISIONS[-1]


def _check_known(revision: str | None, address: Address) -> None:
    """Refuses what never was, and what is newer, before anything is touched."""
    if revision is not None and revision not in REVISIONS:
        check_revision(revision, address)


def migrate(connection: Connection) -> None:
    """Runs the steps that the database has not seen yet, inside the connection's transaction."""
    from alembic import command  # only here: it takes a while to load
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, REVISIONS[-1])


def one_at_a_time(connection: Connection) -> None:
    """Waits for others that change more than the events of one study; on SQLite the transaction has waited already."""
    if connection.dialect.name == "postgresql":
        connection.execute(text(f"SELECT pg_advisory_xact_lock({ONE_AT_A_TIME})"))
