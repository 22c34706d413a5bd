"""Faults that really happen to a storage: each ends in a named error or in recovery, never in silent loss."""

import os
import random
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from servers import restart
from small_studies import begun, driven, measured

import surefoot as sf
from scenes import arena
from surefoot.errors import (
    InvalidInput,
    StorageBusy,
    StorageDamaged,
    StorageError,
    StorageFull,
    StorageNewer,
    StorageReadOnly,
    StorageUnavailable,
    SurefootError,
)
from surefoot.storage import engines, store
from surefoot.storage.maintenance import backup, upgrade
from surefoot.studies.integrity import check_storage


def path_of(study: sf.Study) -> Path:
    return Path(study.storage.removeprefix("sqlite:///"))


# -- the disk ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small disk of its own."""
    folder = tmp_path / "disk"
    folder.mkdir()
    try:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(folder)], check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("file systems may not be mounted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def remount(folder: Path, options: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{options}", str(folder)], check=True)


def test_a_full_disk_is_named_and_the_study_goes_on_once_there_is_room(disk: Path) -> None:
    study = begun(f"sqlite:///{disk / 'studies.db'}")
    (disk / "ballast").write_bytes(bytes(100 * 1024))
    acknowledged: list[int] = []
    with pytest.raises(StorageFull, match="Make room"):
        study.run(measured, max_pulls=20_000, callbacks=[lambda study, pull: acknowledged.append(pull.number)])
    told = len(acknowledged)
    assert 0 < told < 20_000
    (disk / "ballast").unlink()
    remount(disk, "size=64m")
    assert study.pulls == told
    again = sf.load_study("power", study.storage)
    assert again.status() == study.status()
    assert again.audit().clean
    pull = study.ask(worker="w")
    study.tell(pull, **measured(pull))
    assert again.audit().clean
    assert check_storage(study.storage).sound


def test_a_disk_that_is_full_at_once_holds_no_half_made_storage(disk: Path) -> None:
    (disk / "ballast").write_bytes(bytes(480 * 1024))
    with pytest.raises(StorageError):
        begun(f"sqlite:///{disk / 'studies.db'}")
    (disk / "ballast").unlink()
    begun(f"sqlite:///{disk / 'studies.db'}").ask()


@pytest.mark.parametrize("left", [0, 4, 16, 24, 40, 64, 90])
def test_a_full_disk_is_called_so_whichever_file_finds_no_room(disk: Path, left: int) -> None:
    """The file, its log or the index of the log: SQLite itself speaks of I/O errors for some of them."""
    address = f"sqlite:///{disk / 'studies.db'}"
    begun(address)._handle.store.close()
    used = sum(path.stat().st_size for path in disk.iterdir())
    (disk / "ballast").write_bytes(bytes(512 * 1024 - used - used % 4096 - left * 1024))
    with pytest.raises(StorageFull, match="no room left"):
        driven(sf.load_study("power", address), 20_000)
    fresh = f"sqlite:///{disk / 'fresh.db'}"
    with pytest.raises(StorageFull, match="no room left"):
        driven(begun(fresh), 20_000)


def test_a_file_as_large_as_it_may_be_is_called_so(tmp_path: Path) -> None:
    """A limit on the size of files, which every user may set."""
    code = (
        "import resource, sys\n"
        f"sys.path[:0] = {[str(Path(__file__).parent), str(Path(__file__).parent.parent)]!r}\n"
        "from small_studies import begun, driven\n"
        "from surefoot.errors import StorageFull\n"
        f"study = driven(begun('sqlite:///{tmp_path / 'studies.db'}'), 1)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))\n"
        "try:\n    driven(study, 20_000)\nexcept StorageFull as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert "no room left" in done.stdout, done.stderr[-2000:]


def test_a_read_only_disk_is_named_and_nothing_is_lost(disk: Path) -> None:
    study = driven(begun(f"sqlite:///{disk / 'studies.db'}"), 5)
    pull = study.ask(worker="w")
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=False)
    if os.access(disk, os.W_OK):
        # An open file holds the disk writable; let go of it, as a machine that was started again would have.
        study._handle.store.close()
        remount(disk, "ro")
    with pytest.raises(StorageReadOnly, match="Nothing was written"):
        study.tell(pull, **measured(pull))
    with pytest.raises(StorageReadOnly):
        begun(study.storage, "another")
    remount(disk, "rw")
    assert study.open_pulls == (pull,)
    study.tell(pull, **measured(pull))
    assert sf.load_study("power", study.storage).pulls == 6


# -- the file ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a study of some length, closed."""
    path = tmp_path_factory.mktemp("original") / "studies.db"
    study = driven(begun(f"sqlite:///{path}"), 120)
    return backup(study.storage, path.with_name("closed.db"))


def looked_at(path: Path) -> Any:
    """Everything that can be read of the study, or the named error that it ends in."""
    try:
        study = sf.load_study("power", f"sqlite:///{path}")
        return study.history.to_csv(), study.status(), study.audit()
    except SurefootError as error:
        return error


@pytest.mark.filterwarnings("ignore::surefoot.errors.AuditWarning")
def test_a_damaged_file_is_noticed_or_gives_what_it_gave_before(original: Path, tmp_path: Path) -> None:
    content, whole = original.read_bytes(), looked_at(original)
    rng = random.Random(7)
    named, unchanged, audited = 0, 0, 0
    for case in range(60):
        damaged = bytearray(content)
        start = rng.randrange(len(content) - 600)
        damaged[start : start + 512] = rng.randbytes(512)
        path = tmp_path / f"{case}.db"
        path.write_bytes(damaged)
        found = looked_at(path)
        if isinstance(found, SurefootError):
            assert isinstance(found, StorageError)
            named += 1
        elif found == whole:
            unchanged += 1  # an index or a page that nothing is in
        else:
            assert not found[2].clean or not check_storage(f"sqlite:///{path}").sound
            audited += 1
    assert named > 20
    assert named + unchanged + audited == 60


@pytest.mark.parametrize("share", [0.0, 0.001, 0.02, 0.3, 0.7, 0.95, 0.999])
def test_a_truncated_file_is_named(original: Path, tmp_path: Path, share: float) -> None:
    content = original.read_bytes()
    path = tmp_path / "cut.db"
    path.write_bytes(content[: int(share * len(content))])
    size = path.stat().st_size
    assert isinstance(looked_at(path), StorageDamaged if size else StorageUnavailable)
    assert path.stat().st_size == size
    if size:  # an empty file is a new storage
        with pytest.raises(StorageError):
            begun(f"sqlite:///{path}", "new")


def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "thesis.tex"
    path.write_text("years of work " * 1000)
    for attempt in (lambda: begun(f"sqlite:///{path}"), lambda: sf.list_studies(f"sqlite:///{path}")):
        with pytest.raises(StorageDamaged, match="not an SQLite database"):
            attempt()
    assert path.read_text() == "years of work " * 1000


def test_a_database_of_someone_else_is_not_disturbed(tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE orders (id INTEGER)")
    connection.close()
    with pytest.raises(StorageUnavailable, match="none of surefoot's tables"):
        sf.load_study("power", f"sqlite:///{path}")
    begun(f"sqlite:///{path}").ask()
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM orders").fetchone() == (0,)
    connection.close()


def test_what_is_not_there_is_named_and_not_made(tmp_path: Path) -> None:
    for action in (lambda url: sf.load_study("power", url), sf.list_studies, check_storage, upgrade):
        with pytest.raises(StorageUnavailable, match="does not exist"):
            action(f"sqlite:///{tmp_path / 'nothing.db'}")
    with pytest.raises(StorageUnavailable, match="folder exists"):
        begun(f"sqlite:///{tmp_path / 'no' / 'folder.db'}")
    with pytest.raises(StorageUnavailable):
        begun(f"sqlite:///{tmp_path}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("how", ["removed", "replaced"])
def test_a_file_that_is_exchanged_under_an_open_study_is_noticed(tmp_path: Path, how: str) -> None:
    """Otherwise results would go into a file that nobody will ever see again."""
    study = driven(begun(f"sqlite:///{tmp_path / 'studies.db'}"), 3)
    pull = study.ask()
    copy = backup(study.storage, tmp_path / "copy.db")
    path_of(study).unlink()
    if how == "replaced":
        shutil.move(copy, path_of(study))
    with pytest.raises(StorageUnavailable, match=how):
        study.tell(pull, **measured(pull))


def test_a_storage_that_is_locked_for_too_long_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "PATIENCE", 0.3)
    study = begun(f"sqlite:///{tmp_path / 'studies.db'}")
    pull = study.ask()
    other = sqlite3.connect(path_of(study), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StorageBusy, match="Nothing was written"):
        study.tell(pull, **measured(pull))
    assert study.open_pulls == (pull,)  # readers are not held up
    other.execute("ROLLBACK")
    other.close()
    study.tell(pull, **measured(pull))
    assert study.pulls == 1


# -- the clock, the version -------------------------------------------------------------------------------------------


def test_a_clock_that_goes_backwards_changes_nothing(storage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter(range(2_000_000_000_000_000_000, 0, -3_600_000_000_000))
    monkeypatch.setattr("surefoot.studies.events.time.time_ns", lambda: next(ticks))
    study = driven(begun(storage), 12)
    pulls = study.ask(3)
    study.tell(pulls[2], **measured(pulls[2]))
    assert study.history["asked_at"].is_monotonic_decreasing or "postgres" in storage  # a server has its own clock
    again = sf.load_study("power", storage)
    assert again.status() == study.status()
    assert again.history["number"].tolist() == list(range(1, 16))
    assert again.audit().clean
    assert study.expire(older_than=60.0, not_because_of_result=True) == []  # asked for in the future: not old


def test_a_newer_arrangement_of_tables_is_refused_and_left_alone(tmp_path: Path) -> None:
    study = driven(begun(f"sqlite:///{tmp_path / 'studies.db'}"), 3)
    study._handle.store.close()
    with sqlite3.connect(path_of(study)) as connection:
        connection.execute("UPDATE surefoot_version SET version_num = '0099'")
    connection.close()
    before = path_of(study).read_bytes()
    for action in (
        lambda url: sf.load_study("power", url), sf.list_studies, lambda url: begun(url, "new"), upgrade, check_storage,
        lambda url: sf.delete_study("power", url), lambda url: backup(url, tmp_path / "copy.db"),
    ):  # fmt: skip
        with pytest.raises(StorageNewer, match="0099"):
            action(study.storage)
    assert path_of(study).read_bytes() == before
    assert not (tmp_path / "copy.db").exists()


# -- processes and threads --------------------------------------------------------------------------------------------


# Later Pythons warn of threads in the parent; none of them holds a lock here.
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_shares_the_study_and_not_the_connection(tmp_path: Path) -> None:
    study = driven(begun(f"sqlite:///{tmp_path / 'studies.db'}"), 3)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            driven(study, 10)
            status = 0
        finally:
            os._exit(status)
    study.run(measured, max_pulls=10, worker="two")
    assert os.waitpid(child, 0)[1] == 0
    assert study.pulls == 23
    assert study.audit().clean


def test_threads_may_share_a_study(storage: str) -> None:
    study = begun(storage)

    def work(name: str) -> list[int]:
        given = []
        for _ in range(8):
            pull = study.ask(worker=name)
            given.append(pull.number)
            study.tell(pull, **measured(pull))
        return given

    with ThreadPoolExecutor(6) as pool:
        given = [number for numbers in pool.map(work, "abcdef") for number in numbers]
    assert sorted(given) == list(range(1, 49))
    assert study.pulls == 48
    assert study.audit().clean


# -- a server that goes away ------------------------------------------------------------------------------------------


@pytest.mark.xdist_group("postgres")
def test_a_server_that_is_restarted_under_load_loses_nothing(own_server: Any) -> None:
    study = begun(own_server.get_uri())
    acknowledged: dict[str, list[tuple[int, float]]] = {name: [] for name in "abcd"}
    errors: list[BaseException] = []
    finish = threading.Event()

    def work(name: str) -> None:
        try:
            mine = sf.load_study("power", own_server.get_uri())
            while not finish.is_set():
                pull = mine.ask(worker=name)
                result = measured(pull)
                mine.tell(pull, **result)
                acknowledged[name].append((pull.number, result["reward"]))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in acknowledged]
    for thread in threads:
        thread.start()
    try:
        for mode in ("fast", "immediate", "fast"):
            time.sleep(0.5)
            before = sum(map(len, acknowledged.values()))
            restart(own_server, mode)
            wait_for(lambda before=before: sum(map(len, acknowledged.values())) > before + 20 or errors)  # type: ignore[misc]
    finally:
        finish.set()
        for thread in threads:
            thread.join(60)
    assert not errors
    history = sf.load_study("power", own_server.get_uri()).history.set_index("number")
    told = [each for each in acknowledged.values() for each in each]
    assert len(told) > 60
    assert len({number for number, _ in told}) == len(told)
    for number, reward in told:
        assert history.loc[number, "reward"] == reward
    assert (history["state"] == "told").sum() == len(told)
    assert study.audit().clean


def wait_for(condition: Callable[[], Any], seconds: float = 60.0) -> None:
    give_up = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < give_up, "nothing happened"
        time.sleep(0.02)


@pytest.mark.xdist_group("postgres")
@pytest.mark.parametrize("commits", ["k", "l", "kk", "kl", "lk", "ll", "lkk", "kkkk"])
def test_a_step_whose_acknowledgements_were_lost_is_not_made_twice(
    database: Callable[[], str], monkeypatch: pytest.MonkeyPatch, commits: str
) -> None:
    """The connection breaks at one commit after the other: the step was kept (k) or it was lost (l), and either way it
    is made once."""
    import psycopg

    study = driven(begun(database()), 3)
    dialect = study._handle.store._database.engine.dialect
    commit = dialect.do_commit
    to_come: list[str] = []

    def breaks(connection: Any) -> None:
        if not to_come:
            return commit(connection)
        if to_come.pop(0) == "k":
            commit(connection)
        connection.dbapi_connection.close()
        raise psycopg.OperationalError("server closed the connection unexpectedly")

    monkeypatch.setattr(dialect, "do_commit", breaks)
    to_come[:] = commits
    pull = study.ask()  # without a name: asked twice it would be two pulls
    assert (pull.number, to_come) == (4, [])
    assert [each.number for each in study.open_pulls] == [4]
    to_come[:] = commits
    study.tell(pull, **measured(pull))
    to_come[:] = commits
    made = study.add(0, 0.1, 0.3, measured(pull)["safety"], not_because_of_result=True)
    assert (made, study.status().imported, study.status().events) == (5, 1, 9)
    assert sf.load_study("power", study._handle.store.address.url.render_as_string(False)).audit().clean


@pytest.mark.xdist_group("postgres")
def test_a_server_that_stays_away_is_named(own_server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "RECONNECTING", 0.5)
    study = begun(own_server.get_uri())
    pull = study.ask()
    own_server.stop()
    with pytest.raises(StorageUnavailable, match="cannot be reached"):
        study.tell(pull, **measured(pull))
    with pytest.raises(StorageUnavailable):
        sf.load_study("power", own_server.get_uri())
    own_server.start()
    study.tell(pull, **measured(pull))
    assert study.pulls == 1


def test_an_address_without_its_driver_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "find_spec", lambda name: None)
    with pytest.raises(sf.errors.MissingExtra, match=r"surefoot\[postgres\]"):
        sf.create_study(arena()[1], name="x", storage="postgresql://nobody@localhost/x")
    with pytest.raises(InvalidInput):
        sf.create_study(arena()[1], name="x", storage="postgresql://nobody@localhost:port/x")
