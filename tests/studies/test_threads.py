"""Threads that share one handle: what one reads is one moment, whatever the others do."""

import threading
import time
from typing import Any

from small_studies import begun, measured

import surefoot as sf


def inconsistencies(study: sf.Study) -> list[str]:
    """What cannot be true of one moment."""
    status, found = study.status(), []
    states = status.states
    if status.pulls + status.held_back + status.unused != states["told"]:
        found.append(f"{status.pulls} taken in, {status.held_back} held back, {states['told']} told")
    if sum(states.values()) != status.asked + status.imported:
        found.append(f"{states} of {status.asked} pulls")
    if len(status.open) != states["open"] or sum(status.pulls_per_arm.values()) != status.pulls:
        found.append(f"{status.open} open, {status.pulls_per_arm} of {status.pulls}")
    if status.events < status.asked + states["told"]:
        found.append(f"{status.events} events of {status.asked} asked and {states['told']} told")
    return found


def test_what_is_read_from_a_shared_handle_is_one_moment(storage: str) -> None:
    study = begun(storage)
    errors: list[str] = []
    done = threading.Event()

    def work(name: str) -> None:
        try:
            while not done.is_set() and not study.stopped:
                pull = study.ask(worker=name)
                study.tell(pull, **measured(pull))
        except sf.errors.Finished:
            pass
        except BaseException as error:
            errors.append(repr(error))

    def look() -> None:
        readings: list[Any] = []
        try:
            while not done.is_set():
                errors.extend(inconsistencies(study))
                readings[:] = [study.open_pulls, study.held, study.recommendation, study.statement, repr(study)]
                errors.extend("open twice" for _ in range(len(readings[0]) - len({p.number for p in readings[0]})))
        except BaseException as error:
            errors.append(repr(error))

    workers = [threading.Thread(target=work, args=(f"w{i}",)) for i in range(3)]
    threads = [*workers, *(threading.Thread(target=look) for _ in range(2))]
    for thread in threads:
        thread.start()
    time.sleep(1.5)
    done.set()
    for thread in threads:
        thread.join(60)
    assert errors == []
    assert study.audit().clean
