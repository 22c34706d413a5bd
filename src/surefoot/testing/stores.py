"""What studies ask of a store."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from surefoot.errors import KeyUsed, StorageError, StudyExists, StudyNotFound
from surefoot.storage.protocol import COLUMNS, ENTERED, VERBS, Arms, Events, Store, StudyRow
from surefoot.testing.claims import claim, claim_same, refused

ARMS = Arms(3, 2, np.arange(6.0).astype("<f8").tobytes())
SMALLEST, LARGEST = 5e-324, 1.7976931348623157e308
MANY = 2_500  # events


def row(name: str = "power", **changes: Any) -> StudyRow:
    """A study, with these changes."""
    plain: dict[str, Any] = {
        "name": name, "problem": "{}", "fingerprint": "f" * 64, "policy": "{}", "seed": 2**61, "max_pulls": None,
        "fold": "order", "alarm_level": 0.01, "created_at": 1_700_000_000_000_000, "created_by": "0.1.0",
        "unchained": 7,
    }  # fmt: skip
    return StudyRow(**{**plain, **changes})


def event(sequence: int, **fields: Any) -> dict[str, Any]:
    """An event, with these fields."""
    return {"sequence": sequence, "kind": "ask", "at": 1_700_000_000_000_001, "writer": 2**63 - 1, **fields}


def append(store: Store, study: int, *rows: Mapping[str, Any]) -> None:
    """Adds the events to the study."""
    store.write(study, "power", lambda events: events.append(rows))


def everything(store: Store, study: int) -> list[dict[str, Any]]:
    """All events of the study."""
    return store.read(study, "power", everything_of)


def everything_of(events: Events) -> list[dict[str, Any]]:
    """All that one sees within a step."""
    return list(events.all())


class StoreContract:
    """Define `open()`: the store of this test, empty at its start. Every call opens the same one anew, as another
    process would; a fixture that runs for each test, `@pytest.fixture(autouse=True)`, can set the place on self."""

    readers_beside_writers: bool = True  # False: a writer waits until nobody reads

    def open(self) -> Store:
        """The store."""
        raise NotImplementedError("define open(self) in the subclass")

    def test_it_has_what_a_store_has(self) -> None:
        store = self.open()
        claim_same([verb for verb in VERBS if not hasattr(store, verb)], [], "a store has all verbs")
        claim(isinstance(store, Store), "a store fulfils surefoot.storage.protocol.Store", store)
        claim(str(store.address), "a store can say where it is")
        claim_same(store.listed(), [], "open() gives a store that is empty at the start of a test")

    # -- studies ----------------------------------------------------------------------------------------------

    def test_a_study_comes_back_as_it_was_kept(self) -> None:
        wanted = row("Größe 功率 " + "x" * 180, problem='{"names": ["ä"]}', max_pulls=10**15)
        identity = self.open().create(wanted, ARMS)
        claim_same(self.open().find(wanted.name), (identity, wanted, ARMS), "a study comes back as it was kept")

    def test_a_name_is_used_once(self) -> None:
        store = self.open()
        store.create(row(), ARMS)
        with refused(StudyExists, "a name that is taken is refused"):
            self.open().create(row(), ARMS)
        claim_same([found["name"] for found in store.listed()], ["power"], "the first study of the name stays")

    def test_studies_are_listed_by_name_with_their_events(self) -> None:
        store = self.open()
        for name in ("b", "a", "c"):
            study = store.create(row(name), ARMS, [event(1)] if name == "c" else [])
        store.write(study, "c", lambda events: events.append([event(2)]))
        found = self.open().listed()
        claim_same([(each["name"], each["events"]) for each in found], [("a", 0), ("b", 0), ("c", 2)],
                   "studies are listed by name, with the number of their events")  # fmt: skip
        missing = {"name", "created_at", "created_by", "policy", "fold", "events"} - set(found[0])
        claim_same(missing, set(), "a listed study has all that is shown of it")

    def test_a_deleted_study_is_gone_and_the_arms_of_others_stay(self) -> None:
        store, other = self.open(), self.open()
        first, second = store.create(row("one"), ARMS, [event(1)]), store.create(row("two"), ARMS, [event(1)])
        other.delete("one")
        claim_same(store.find("two")[2], ARMS, "the arms stay as long as another study has the same")
        for verb in (lambda: store.find("one"), lambda: store.read(first, "one", everything_of),
                     lambda: store.write(first, "one", lambda events: events.append([event(2)])),
                     lambda: store.delete("one")):  # fmt: skip
            with refused(StudyNotFound, "a deleted study is gone, for those too who have it open"):
                verb()
        store.delete("two")
        claim_same([each["name"] for each in store.listed()], [], "and with it is not listed")
        claim(store.create(row("one"), ARMS) not in (first, second), "an id is never used again")

    def test_who_deletes_again_with_the_same_key_deletes_nothing_more(self) -> None:
        store = self.open()
        store.create(row(), ARMS, [event(1)])
        store.delete("power", "first")
        store.delete("power", "first")
        store.create(row(), ARMS)
        self.open().delete("power", "first")
        claim_same([each["name"] for each in store.listed()], ["power"], "a key deletes one study")
        store.create(row("other"), ARMS)
        with refused(KeyUsed, "a key is used for one study"):
            store.delete("other", "first")

    # -- events -----------------------------------------------------------------------------------------------

    def test_every_number_of_an_event_comes_back_bit_for_bit(self) -> None:
        study = self.open().create(row(), ARMS)
        whole = event(
            1, number=2**40, step=0, arm=2, level=0.1 + 0.2, reward=-SMALLEST,
            safety=np.array([LARGEST, 1 / 3]).tobytes(), worker="wörker", phase="decide", margin=LARGEST, leader=-1,
            challenger=1, gap=2 / 3, reason="why", by="Ada", key="k", hash=bytes(range(32)),
        )  # fmt: skip
        append(self.open(), study, whole)
        (found,) = everything(self.open(), study)
        found = {name: found[name] for name in whole} | {"safety": bytes(found["safety"]), "hash": bytes(found["hash"])}
        claim_same(found, whole, "every field of an event comes back bit for bit")
        claim(type(found["level"]) is float, "a level comes back as a float", found["level"])

    def test_what_an_event_does_not_say_comes_back_as_none(self) -> None:
        study = self.open().create(row(), ARMS, [event(1)])
        (found,) = everything(self.open(), study)
        unsaid = {
            name: found.get(name, "missing") for name in (*ENTERED[2:-1], "step", "phase", "margin", "gap", "key")
        }
        claim_same(set(unsaid.values()), {None}, "what an event does not say comes back as None")

    def test_events_come_back_in_order_and_from_where_they_are_wanted(self) -> None:
        study = self.open().create(row(), ARMS)
        append(self.open(), study, *(event(i, number=i, step=0, arm=0, level=0.5) for i in range(1, MANY + 1)))

        def see(events: Events) -> None:
            claim_same([found["sequence"] for found in events.all()], list(range(1, MANY + 1)), "events are in order")
            last = [tuple(found)[:5] for found in events.after(MANY - 2)]
            claim_same(last, [(i, "ask", i, 0, 0.5) for i in (MANY - 1, MANY)], "after() gives what came since")
            claim_same(list(events.after(MANY)), [], "after the last one there is nothing")
            claim_same(len(next(iter(events.after(0)))), len(COLUMNS), "after() gives all columns")
            at = events.at(7)
            claim(at is not None and at["number"] == 7, "an event is found by its sequence", at)
            claim_same(events.at(10**6), None, "there is no event that was not appended")

        self.open().read(study, "power", see)

    def test_the_events_of_a_pull_are_found_by_its_number(self) -> None:
        store = self.open()
        study = store.create(row(), ARMS)
        append(
            store, study, event(1, number=1, step=0), event(2, kind="tell", number=1, step=1), event(3, kind="freeze")
        )
        append(store, study, event(4, kind="alarm", number=1))

        def see(events: Events) -> None:
            claim_same([found["kind"] for found in events.of_pull(1)], ["ask", "tell"], "a pull has two steps at most")
            claim_same(events.of_pull(2), [], "a pull that nobody asked for has no events")

        store.read(study, "power", see)

    def test_the_event_with_a_key_is_found_by_it(self) -> None:
        store = self.open()
        study, other = store.create(row(), ARMS), store.create(row("other"), ARMS)
        append(store, study, event(1, key="a"), event(2), event(3, key="b"))
        store.write(other, "other", lambda events: events.append([event(1, key="a")]))
        found = store.read(study, "power", lambda events: [events.keyed(key) for key in ("a", "b", "c")])
        claim_same([each and each["sequence"] for each in found], [1, 3, None], "an event is found by its key")

    def test_there_is_one_clock(self) -> None:
        store = self.open()
        study = store.create(row(), ARMS)
        first = store.read(study, "power", lambda events: events.now())
        second = self.open().write(study, "power", lambda events: events.now())
        claim(type(first) is int and 0 <= second - first < 600_000_000, "now() tells microseconds", (first, second))
        claim(first > 1_700_000_000_000_000, "now() counts from 1970", first)

    def test_what_was_used_before_is_refused(self) -> None:
        store = self.open()
        study = store.create(row(), ARMS)
        append(store, study, event(1, number=5, step=0, key="once"), event(2, kind="tell", number=5, step=1))
        for what, again in {
            "a sequence": event(2, number=6, step=0), "a pull's number": event(3, number=5, step=0),
            "a pull's end": event(3, number=5, step=1), "an event without a kind": event(3, kind=None),
            "a key": event(3, key="once"),
        }.items():  # fmt: skip
            with refused(StorageError, f"{what} that was used before, or is missing, is refused by the store itself"):
                append(store, study, again)
            claim_same(len(everything(store, study)), 2, "and nothing of the step is kept")

    # -- steps ------------------------------------------------------------------------------------------------

    def test_a_step_that_fails_leaves_nothing(self) -> None:
        store = self.open()
        study = store.create(row(), ARMS)

        def work(events: Events) -> None:
            events.append([event(1)])
            raise KeyboardInterrupt

        with refused(KeyboardInterrupt, "what goes wrong in a step is not hidden"):
            store.write(study, "power", work)
        claim_same(everything(self.open(), study), [], "a step that fails leaves nothing")
        append(store, study, event(1))
        claim_same(len(everything(self.open(), study)), 1, "and the next one goes on from where it was")

    def test_a_step_sees_what_it_has_appended_itself(self) -> None:
        study = self.open().create(row(), ARMS)

        def work(events: Events) -> list[int]:
            events.append([event(1, number=1, step=0)])
            return [found[0] for found in events.after(0)]

        claim_same(self.open().write(study, "power", work), [1], "a step sees what it has appended itself")

    def test_a_reader_sees_one_moment(self) -> None:
        store = self.open()
        study = store.create(row(), ARMS, [event(1)])
        if self.readers_beside_writers:

            def see(events: Events) -> tuple[int, int]:
                before = len(list(events.all()))
                append(self.open(), study, event(2))
                return before, len(list(events.all()))

            claim_same(store.read(study, "power", see), (1, 1), "a reader sees one moment, whoever writes")
            claim_same(len(everything(store, study)), 2, "and the next reader the next moment")

    def test_of_two_writers_one_waits_so_no_number_is_used_twice(self) -> None:
        study = self.open().create(row(), ARMS)

        def work(events: Events) -> int:
            following = len(list(events.after(0))) + 1
            events.append([event(following, number=following, step=0)])
            return following

        def writer(_: int) -> list[int]:
            own = self.open()
            return [own.write(study, "power", work) for _ in range(10)]

        with ThreadPoolExecutor(8) as pool:
            given = [number for numbers in pool.map(writer, range(8)) for number in numbers]
        claim_same(sorted(given), list(range(1, 81)), "of two writers one waits, so no number is used twice")
        found = [each["number"] for each in everything(self.open(), study)]
        claim_same(found, list(range(1, 81)), "all that was acknowledged is kept, in order")

    def test_stores_that_are_opened_at_once_are_one(self) -> None:
        with ThreadPoolExecutor(6) as pool:
            stores = list(pool.map(lambda _: self.open(), range(6)))
        stores[0].create(row(), ARMS)
        claim_same([found["name"] for found in stores[5].listed()], ["power"], "stores opened at once are one")
