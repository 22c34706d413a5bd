"""The fair queue beside an SQLite file: in order, released by the killed, harmless when it is gone."""

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from sqlalchemy import text

from surefoot.errors import StorageBusy
from surefoot.storage import engines
from surefoot.storage.queue import COUNTER, Queue, TooLong
from surefoot.storage.store import open_store

HOLDER = """
import sys, time
from pathlib import Path
from surefoot.storage.queue import Queue
with Queue(Path(sys.argv[1]), 0o600).turn(60.0):
    print("held", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "power.db"


def holder(path: Path) -> "subprocess.Popen[str]":
    """Another process that stands in the queue, and stays at its head once it is there."""
    return subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE, text=True)


def held(process: "subprocess.Popen[str]") -> bool:
    assert process.stdout is not None
    return process.stdout.readline() == "held\n"


def killed(process: "subprocess.Popen[str]") -> None:
    assert process.stdout is not None
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()


def wait_for(condition: Callable[[], Any], seconds: float = 30.0) -> None:
    give_up = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < give_up, "nothing happened"
        time.sleep(0.005)


def drawn(path: Path) -> int:
    """How many numbers were drawn so far."""
    return int.from_bytes(path.with_name(path.name + "-queue").read_bytes()[:8], "little")


def test_turns_come_in_the_order_in_which_they_were_asked_for(path: Path) -> None:
    queue, order = Queue(path, 0o600), []

    def wait(name: int) -> None:
        with queue.turn(60.0):
            order.append(name)

    with queue.turn(60.0):
        threads = []
        for name in range(12):
            threads.append(Thread(target=wait, args=(name,)))
            threads[-1].start()
            wait_for(lambda name=name: drawn(path) == name + 2)  # type: ignore[misc]
        assert order == []
    for thread in threads:
        thread.join()
    assert order == list(range(12))


def test_a_killed_holder_and_a_killed_waiter_hold_up_nobody(path: Path) -> None:
    first = holder(path)
    assert held(first)
    second = holder(path)
    wait_for(lambda: drawn(path) == 2)
    with pytest.raises(TooLong), Queue(path, 0o600).turn(0.2):
        raise AssertionError("it was not my turn")
    killed(second)  # while it waits
    killed(first)  # while it is served
    with Queue(path, 0o600).turn(30.0) as place:
        assert place is not None


def test_a_stopped_holder_is_waited_for_and_then_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "PATIENCE", 0.3)
    database = open_store(f"sqlite:///{tmp_path / 'power.db'}", create=True)._database  # type: ignore[attr-defined]
    process = holder(tmp_path / "power.db")
    assert held(process)
    with pytest.raises(StorageBusy, match="Nothing was written"), database.writing():
        raise AssertionError("it was not my turn")
    with database.reading() as connection:  # readers do not stand in it
        assert connection.execute(text("SELECT count(*) FROM surefoot_studies")).scalar() == 0
    killed(process)
    with database.writing() as connection:
        connection.execute(text("DELETE FROM surefoot_studies"))


def test_a_queue_that_is_deleted_loses_only_its_order(tmp_path: Path) -> None:
    database = open_store(f"sqlite:///{tmp_path / 'power.db'}", create=True)._database  # type: ignore[attr-defined]
    with database.writing() as connection:
        connection.execute(text("CREATE TABLE counts (n INTEGER)"))
        connection.execute(text("INSERT INTO counts VALUES (0)"))

    def work(_: int) -> None:
        for _ in range(20):
            with database.writing() as connection:
                found = connection.execute(text("SELECT n FROM counts")).scalar_one()
                connection.execute(text("UPDATE counts SET n = :n"), {"n": found + 1})
            (tmp_path / "power.db-queue").unlink(missing_ok=True)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    with database.reading() as connection:
        assert connection.execute(text("SELECT n FROM counts")).scalar() == 80


def test_who_draws_a_number_while_the_queue_is_taken_away_draws_another(path: Path) -> None:
    """Otherwise what was written last would be noted where nobody finds it."""
    queue, another = Queue(path, 0o600), Queue(path, 0o600)
    with another.turn(1.0) as place:
        assert place is not None
    lock = os.open(another.path, os.O_RDWR)
    fcntl.lockf(lock, fcntl.LOCK_EX, 1, COUNTER)

    def write() -> None:
        with queue.turn(30.0) as mine:
            queue.note(mine, 5, 7)

    with ThreadPoolExecutor() as pool:
        writing = pool.submit(write)
        wait_for(lambda: queue._all and not queue._idle)  # it has the file open and waits to draw
        time.sleep(0.05)
        another.path.unlink()
        os.close(lock)
        writing.result(30)
    assert another.noted() == (5, 7)


def test_a_queue_of_nonsense_is_used_all_the_same(path: Path) -> None:
    path.with_name("power.db-queue").write_bytes(b"\xff" * 64)
    with Queue(path, 0o600).turn(5.0) as place:
        assert place is not None


# Later Pythons warn of threads in the parent; none of them holds a lock here.
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_does_not_keep_the_place_of_its_parent(path: Path) -> None:
    """Otherwise a parent that is killed would hold up everybody for as long as a child of it lives."""
    code = (
        "import os, sys, time\nfrom pathlib import Path\nfrom surefoot.storage import databases\n"
        "from surefoot.storage.queue import Queue\n"
        "with Queue(Path(sys.argv[1]), 0o600).turn(60.0):\n"
        "    child = os.fork()\n"
        "    if child == 0:\n        time.sleep(600)\n"
        "    print(child, flush=True)\n    time.sleep(600)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    try:
        time.sleep(0.2)
        killed(parent)
        with Queue(path, 0o600).turn(10.0) as place:
            assert place is not None
    finally:
        os.kill(child, signal.SIGKILL)
