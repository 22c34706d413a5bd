"""A process that forks: parent and child each know what they wrote themselves, and what is stored."""

import faulthandler
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from small_studies import begun, driven, measured

import surefoot as sf
from surefoot.errors import StorageUnavailable, SurefootError

LONGEST = 120.0  # seconds of a child
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")


def forked(work: Callable[[], None]) -> int:
    """A child that does this work; its status tells whether that went well."""
    pid = os.fork()
    if pid:
        return pid
    status = 1
    faulthandler.dump_traceback_later(LONGEST, exit=True, file=sys.__stderr__)  # one that hangs says where
    try:
        work()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def ends_well(pid: int) -> bool:
    """Whether the child has done its work."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def in_a_child(work: Callable[[], None]) -> None:
    """Does the work in a forked child, and fails if it fails."""
    assert ends_well(forked(work))


@pytest.mark.xdist_group("postgres")
def test_a_child_does_not_take_its_parents_events_for_its_own(
    database: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The child's commit is rolled back while the parent writes: what follows is the parent's event."""
    import psycopg

    address = database()
    study = driven(begun(address), 3)
    pulls = study.ask(2)
    told, seen = os.pipe(), os.pipe()

    def child() -> None:
        dialect = study._handle.store._database.engine.dialect  # type: ignore[attr-defined]
        commit, broken = dialect.do_commit, []

        def breaks(connection: Any) -> None:
            if broken:
                return commit(connection)
            broken.append(1)
            connection.dbapi_connection.close()  # and with it the step
            os.write(told[1], b"x")
            os.read(seen[0], 1)  # the parent has written in its place
            raise psycopg.OperationalError("server closed the connection unexpectedly")

        monkeypatch.setattr(dialect, "do_commit", breaks)
        study.tell(pulls[1], **measured(pulls[1]))
        found = sf.load_study("power", address)
        assert [each.number for each in found.open_pulls] == [6], "acknowledged and not kept"

    pid = forked(child)
    os.read(told[0], 1)
    study.tell(pulls[0], **measured(pulls[0]))
    study.ask()
    os.write(seen[1], b"x")
    assert ends_well(pid)
    assert sf.load_study("power", address).pulls == 5


def test_a_child_of_a_process_whose_threads_were_at_work_can_go_on(tmp_path: Path) -> None:
    study = driven(begun(f"sqlite:///{tmp_path / 'studies.db'}"), 3)
    held, release = threading.Event(), threading.Event()

    def hold() -> None:
        with study._handle.lock:
            held.set()
            release.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(60)

    def child() -> None:
        pull = study.ask()
        study.tell(pull, **measured(pull))
        assert study.pulls == 4

    in_a_child(child)
    release.set()
    thread.join()
    assert study.pulls == 4
    assert study.audit().clean


@pytest.mark.xdist_group("postgres")
def test_a_lock_of_a_parent_that_was_killed_is_not_kept_by_its_child(database: Callable[[], str]) -> None:
    """The server sees that the parent is gone although a child of it lives."""
    address = database()
    driven(begun(address), 2)
    reading, writing = os.pipe()
    parent = os.fork()
    if parent == 0:
        study = sf.load_study("power", address)

        def amid(events: Any) -> None:
            child = os.fork()
            if child == 0:
                time.sleep(60)
                os._exit(0)
            os.write(writing, f"{child}\n".encode())
            time.sleep(60)

        study._handle.store.write(study._handle.identity, "power", amid)
        os._exit(0)
    child = int(os.read(reading, 100))
    os.kill(parent, signal.SIGKILL)
    os.waitpid(parent, 0)
    try:
        begun_at = time.monotonic()
        assert sf.load_study("power", address).ask().number == 3
        assert time.monotonic() - begun_at < 25  # not the patience of a server that hears nothing
    finally:
        os.kill(child, signal.SIGKILL)


def test_a_child_that_was_forked_amid_a_step_of_another_thread_is_not_stuck(tmp_path: Path) -> None:
    """SQLite's memory of who holds a lock is copied with the process: the fork waits until nobody does."""
    study = driven(begun(f"sqlite:///{tmp_path / 'studies.db'}"), 3)
    done, errors = threading.Event(), []

    def work(name: str) -> None:
        try:
            own = sf.load_study("power", study.storage)
            while not done.is_set():
                pull = own.ask(worker=name)
                own.tell(pull, **measured(pull))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    try:
        for _ in range(8):

            def child() -> None:
                pull = study.ask()
                study.tell(pull, **measured(pull))

            in_a_child(child)
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert errors == []
    assert study.audit().clean


def test_a_child_does_not_wait_for_a_thread_that_was_loading_compiled_code(tmp_path: Path) -> None:
    study = driven(begun(f"sqlite:///{tmp_path / 'studies.db'}"), 3)
    done = threading.Event()

    def open_again_and_again() -> None:
        while not done.is_set():
            sf.load_study("power", study.storage).status()

    threads = [threading.Thread(target=open_again_and_again) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(10):
            in_a_child(lambda: study.freeze("smoke", "a child"))
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert study.frozen


def test_a_child_that_was_forked_amid_its_own_step_is_refused_by_name(tmp_path: Path) -> None:
    study = driven(begun(f"sqlite:///{tmp_path / 'studies.db'}"), 3)

    def child() -> None:
        for step in (study.ask, lambda: study.pulls, lambda: sf.load_study("power", study.storage)):
            with pytest.raises(StorageUnavailable, match="when this process was forked"):
                step()

    study._handle.look(lambda ledger, stored: in_a_child(child))
    assert study.ask().number == 4


def test_storage_in_memory_is_not_a_childs(tmp_path: Path) -> None:
    study = driven(begun("memory", name="of the parent"), 2)

    def child() -> None:
        for step in (study.ask, lambda: study.pulls, lambda: sf.load_study("of the parent", "memory")):
            with pytest.raises(SurefootError, match="memory"):
                step()

    in_a_child(child)
    assert study.pulls == 2
    sf.delete_study("of the parent", "memory")
