"""Steps that are repeated under their key happen once, whoever repeats them."""

from typing import Any

import pytest
from small_studies import begun, driven, measured

import surefoot as sf
from scenes import arena
from surefoot.errors import Implausible, InvalidInput, KeyUsed, NotFrozen, PullClosed, StudyExists, StudyNotFound


def again(study: sf.Study) -> sf.Study:
    """The study, as another process opens it after a crash."""
    return sf.load_study(study.name, study.storage)


def kinds(study: sf.Study) -> list[str]:
    return study._handle.look(lambda ledger, stored: [event["kind"] for event in stored.all()])


def test_who_asks_again_with_the_same_key_is_given_the_same_pulls(storage: str) -> None:
    study = begun(storage)
    first = study.ask(3, key="monday")
    assert study.ask(3, key="monday") == first
    assert again(study).ask(3, key="monday") == first
    for pull in first:
        study.tell(pull, **measured(pull))
    assert again(study).ask(3, key="monday") == first  # even now that they are told
    assert kinds(study).count("ask") == 3
    assert study.ask(key="tuesday").number == 4


def test_a_worker_that_has_a_pull_open_is_given_that_answer_again(storage: str) -> None:
    study = begun(storage)
    first = study.ask(worker="ada")
    assert study.ask(worker="ada", key="k") == first  # nothing new was asked for, and that is the answer
    study.tell(first, **measured(first))
    assert again(study).ask(worker="ada", key="k") == first
    assert study.ask(worker="ada").number == 2


def test_a_result_is_told_once_and_a_refusal_is_repeated(storage: str) -> None:
    study = driven(begun(storage), 12)
    pull = study.ask()
    study.tell(pull, **measured(pull), key="a")
    again(study).tell(pull, **measured(pull), key="a")
    with pytest.raises(KeyUsed, match="'a' was used before, to tell, with other values"):
        study.tell(pull, reward=0.0, safety=measured(pull)["safety"], key="a")
    other = study.ask()
    held = {**measured(other), "reward": 1e6}
    for each in (study, again(study)):
        with pytest.raises(Implausible, match=r"1e\+06|1000000"):
            each.tell(other, **held, key="b")
    assert kinds(study).count("hold") == 1


def test_additions_are_stored_once(storage: str) -> None:
    study = begun(storage)
    row: Any = {"arm": 0, "level": 0.1, "reward": 0.3, "safety": measured(sf.Session(arena()[1]).ask())["safety"]}
    confirmed: Any = {"not_because_of_result": True}
    assert study.add(**row, **confirmed, key="a") == again(study).add(**row, **confirmed, key="a") == 1
    table = [row, row | {"reward": 0.31}]
    made = study.add(table, order="as measured", **confirmed, key="t")
    assert made == again(study).add(table, order="as measured", **confirmed, key="t") == range(2, 4)
    assert study.status().imported == 3
    with pytest.raises(KeyUsed):
        study.add(table[:1], order="as measured", **confirmed, key="t")


def test_corrections_and_voids_say_again_what_they_changed(storage: str) -> None:
    study = driven(begun(storage), 6)
    who: Any = {"reason": "a typo", "by": "Ada"}
    first = study.correct(3, reward=0.4, **who, key="c")
    assert again(study).correct(3, reward=0.4, **who, key="c") == first
    gone = study.void(4, **who, key="v")
    assert again(study).void(4, **who, key="v") == gone
    assert len(study.corrections) == 2
    with pytest.raises(KeyUsed, match="to void"):
        study.correct(3, reward=0.5, **who, key="v")


def test_stops_and_pulls_that_are_given_up(storage: str) -> None:
    study = begun(storage)
    study.freeze("smoke", "Ada", key="f")
    study.release("it was steam", "Ada", key="r")
    again(study).freeze("smoke", "Ada", key="f")
    assert not study.frozen
    again(study).release("it was steam", "Ada", key="r")  # there is nothing to release, and nothing is refused
    with pytest.raises(NotFrozen):
        study.release("it was steam", "Ada", key="another")
    pulls = study.ask(3)
    for _ in range(2):
        study.cancel(pulls[0], "no", not_because_of_result=True, key="x")
    with pytest.raises(PullClosed):
        study.cancel(pulls[0], "no", not_because_of_result=True, key="y")
    closed = study.expire(older_than=0, not_because_of_result=True, key="e")
    assert closed == [2, 3] == again(study).expire(older_than=0, not_because_of_result=True, key="e")
    assert study.expire(older_than=0, not_because_of_result=True, key="late") == []


def test_a_study_is_made_once(storage: str) -> None:
    study = begun(storage, key="make")
    driven(study, 2)
    assert begun(storage, key="make").pulls == 2
    for settings in ({"key": "other"}, {}, {"key": "make", "max_pulls": 7}):
        with pytest.raises((StudyExists, KeyUsed)):
            begun(storage, **settings)


def test_a_study_is_deleted_once_even_if_another_one_has_its_name_now(storage: str) -> None:
    begun(storage)
    sf.delete_study("power", storage, key="d")
    sf.delete_study("power", storage, key="d")
    begun(storage)
    sf.delete_study("power", storage, key="d")
    assert [row["name"] for row in sf.list_studies(storage)] == ["power"]
    sf.delete_study("power", storage, key="e")
    with pytest.raises(StudyNotFound):
        sf.delete_study("power", storage)


@pytest.mark.parametrize("key", ["", "x" * 201, 5, "a\nb"])
def test_what_is_no_key_is_refused_before_anything_happens(key: Any) -> None:
    study = begun("memory", name=f"keys {key!r}"[:40])
    with pytest.raises(InvalidInput, match="key"):
        study.ask(key=key)
    assert kinds(study) == []


def test_a_study_with_keys_audits_clean_and_opens(storage: str) -> None:
    study = begun(storage, key="make")
    for number in range(1, 9):
        pull = study.ask(key=f"ask {number}")
        study.tell(pull, **measured(pull), key=f"tell {number}")
    assert study.audit(head=again(study).head).clean
    assert again(study).status() == study.status()
