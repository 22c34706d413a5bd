"""What every store promises, on every store: memory, SQLite, and a real PostgreSQL."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from surefoot.errors import StorageError, StudyExists, StudyNotFound
from surefoot.storage.protocol import ENTERED, Arms, Events, Store, StudyRow
from surefoot.storage.store import open_store

ARMS = Arms(3, 2, np.arange(6.0).astype("<f8").tobytes())
SMALLEST, LARGEST = 5e-324, 1.7976931348623157e308


def row(name: str = "power", **changes: Any) -> StudyRow:
    plain: dict[str, Any] = {
        "name": name, "problem": "{}", "fingerprint": "f" * 64, "policy": "{}", "seed": 2**61, "max_pulls": None,
        "fold": "order", "alarm_level": 0.01, "created_at": 1_700_000_000_000_000, "created_by": "0.1.0",
    }  # fmt: skip
    return StudyRow(**{**plain, **changes})


def event(sequence: int, **fields: Any) -> dict[str, Any]:
    return {"sequence": sequence, "kind": "ask", "at": 1_700_000_000_000_001, "writer": 2**63 - 1, **fields}


@pytest.fixture
def store(storage: str) -> Store:
    return open_store(storage, create=True)


def append(store: Store, study: int, *rows: dict[str, Any]) -> None:
    store.write(study, "power", lambda events: events.append(rows))


def everything(store: Store, study: int) -> list[dict[str, Any]]:
    with store.read(study, "power") as events:
        return list(events.all())


def test_a_study_comes_back_as_it_was_kept(store: Store, storage: str) -> None:
    wanted = row("Größe 功率 " + "x" * 180, problem='{"names": ["ä"]}', max_pulls=10**15)
    identity = store.create(wanted, ARMS)
    assert open_store(storage).find(wanted.name) == (identity, wanted, ARMS)


def test_every_number_of_an_event_comes_back_bit_for_bit(store: Store) -> None:
    study = store.create(row(), ARMS)
    whole = event(
        1, number=2**40, step=0, arm=2, level=0.1 + 0.2, reward=-SMALLEST, safety=np.array([LARGEST, 1 / 3]).tobytes(),
        worker="wörker", phase="decide", margin=LARGEST, leader=-1, challenger=1, gap=2 / 3, reason="why", by="Ada",
    )  # fmt: skip
    append(store, study, whole)
    (found,) = everything(store, study)
    assert {**found, "safety": bytes(found["safety"])} == {"study": study, **whole}
    assert type(found["level"]) is float


def test_events_come_back_in_order_and_from_where_they_are_wanted(store: Store) -> None:
    study = store.create(row(), ARMS)
    append(store, study, *(event(i, number=i, step=0, arm=0, level=0.5) for i in range(1, 2501)))
    with store.read(study, "power") as events:
        assert [found["sequence"] for found in events.all()] == list(range(1, 2501))
        assert [tuple(found)[:5] for found in events.after(2498)] == [(i, "ask", i, 0, 0.5) for i in (2499, 2500)]
        assert list(events.after(2500)) == []
        assert len(next(iter(events.after(0)))) == len(ENTERED)
        assert events.at(7)["number"] == 7  # type: ignore[index]
        assert events.at(9999) is None


def test_the_events_of_a_pull_are_found_by_its_number(store: Store) -> None:
    study = store.create(row(), ARMS)
    append(store, study, event(1, number=1, step=0), event(2, kind="tell", number=1, step=1), event(3, kind="freeze"))
    append(store, study, event(4, kind="alarm", number=1))
    with store.read(study, "power") as events:
        assert [found["kind"] for found in events.of_pull(1)] == ["ask", "tell"]
        assert events.of_pull(2) == []


def test_a_step_that_fails_leaves_nothing(store: Store) -> None:
    study = store.create(row(), ARMS)

    def work(events: Events) -> None:
        events.append([event(1)])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.write(study, "power", work)
    assert everything(store, study) == []
    append(store, study, event(1))


@pytest.mark.parametrize(
    "again",
    [event(2, number=5, step=0), event(1, number=6, step=0), event(3, number=5, step=1), event(3, study=10**6)],
    ids=["number", "sequence", "told twice", "no kind"],
)
def test_the_database_itself_refuses_what_was_used_before(store: Store, again: dict[str, Any]) -> None:
    study = store.create(row(), ARMS)
    append(store, study, event(1, number=5, step=0), event(2, kind="tell", number=5, step=1))
    again = {**again, "kind": None} if "study" in again else again
    with pytest.raises(StorageError):
        append(store, study, again)
    assert len(everything(store, study)) == 2


def test_a_name_is_used_once(store: Store) -> None:
    store.create(row(), ARMS)
    with pytest.raises(StudyExists, match="'power'"):
        store.create(row(), ARMS)
    assert [found["name"] for found in store.listed()] == ["power"]


def test_studies_are_listed_by_name_with_their_events(store: Store) -> None:
    for name in ("b", "a", "c"):
        study = store.create(row(name), ARMS, [event(1)] if name == "c" else [])
    append(store, study, event(2))
    assert [(found["name"], found["events"]) for found in store.listed()] == [("a", 0), ("b", 0), ("c", 2)]


def test_a_deleted_study_is_gone_and_its_arms_stay_as_long_as_they_are_used(store: Store) -> None:
    first, second = store.create(row("one"), ARMS, [event(1)]), store.create(row("two"), ARMS, [event(1)])
    store.delete("one")
    with pytest.raises(StudyNotFound, match=r"'one'.*two"):
        store.find("one")
    assert store.find("two")[2] == ARMS
    with pytest.raises(StudyNotFound), store.read(first, "one"):
        pass
    with pytest.raises(StudyNotFound):
        store.write(first, "one", lambda events: events.append([event(2)]))
    store.delete("two")
    assert store.create(row("one"), ARMS) not in (first, second)  # whoever has the old one open must notice
    with pytest.raises(StudyNotFound):
        store.delete("two")


@pytest.mark.parametrize(  # in memory there is one connection: a writer waits for the reader instead
    "storage", ["sqlite", pytest.param("postgres", marks=pytest.mark.xdist_group("postgres"))], indirect=True
)
def test_a_reader_sees_one_moment(store: Store, storage: str) -> None:
    study = store.create(row(), ARMS, [event(1)])
    with store.read(study, "power") as events:
        before = len(list(events.all()))
        append(open_store(storage), study, event(2))
        assert len(list(events.all())) == before == 1
    assert len(everything(store, study)) == 2


def test_of_two_writers_one_waits_so_no_number_is_used_twice(store: Store, storage: str) -> None:
    study = store.create(row(), ARMS)

    def work(events: Events) -> int:
        following = len(list(events.after(0))) + 1
        events.append([event(following, number=following, step=0)])
        return following

    def writer(_: int) -> list[int]:
        own = open_store(storage)
        return [own.write(study, "power", work) for _ in range(10)]

    with ThreadPoolExecutor(8) as pool:
        given = [number for numbers in pool.map(writer, range(8)) for number in numbers]
    assert sorted(given) == list(range(1, 81))
    assert [found["number"] for found in everything(store, study)] == list(range(1, 81))


def test_two_stores_that_are_made_at_once_are_one(storage: str) -> None:
    with ThreadPoolExecutor(6) as pool:
        stores = list(pool.map(lambda _: open_store(storage, create=True), range(6)))
    stores[0].create(row(), ARMS)
    assert [found["name"] for found in stores[5].listed()] == ["power"]
