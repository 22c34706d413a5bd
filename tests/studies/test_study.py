"""A study in every storage: what is asked, told, given up and stopped, by one process or by several handles at once."""

import json
import pickle
import re
import warnings
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from small_studies import begun, driven, measured

import surefoot as sf
from scenes import arena
from surefoot.errors import (
    AlreadyTold,
    BudgetOpen,
    Finished,
    Frozen,
    InvalidInput,
    LevelExceeded,
    NotFrozen,
    NotOpen,
    PullClosed,
    RenamedWarning,
    StudyDiffers,
    StudyExists,
    StudyNotFound,
)
from surefoot.simulation import run_session

SURE = {"not_because_of_result": True}


# -- the same experiment as a session -----------------------------------------------------------------------------


def test_a_study_asks_what_a_session_asks(storage: str) -> None:
    study, session = begun(storage), sf.Session(arena()[1], seed=4)
    for _ in range(40):
        pull = session.ask()
        assert study.ask() == pull
        session.tell(pull, **measured(pull))
        study.tell(pull.number, **measured(pull))
    assert study.status().levels == session.status().levels
    assert study.pulls == session.pulls == 40


def test_several_at_once_are_those_of_a_session_in_whatever_order_they_are_told(storage: str) -> None:
    study, session, rng = begun(storage), sf.Session(arena()[1], seed=4), np.random.default_rng(1)
    for _ in range(8):
        pulls = session.ask(4)
        assert study.ask(4) == pulls
        for i in rng.permutation(4):
            session.tell(pulls[i], **measured(pulls[i]))
            study.tell(pulls[i], **measured(pulls[i]))
    assert study.ask() == session.ask()
    assert study.audit().clean


def test_a_study_that_is_opened_again_goes_on_where_it_was(storage: str) -> None:
    study = driven(begun(storage), 30)
    held = study.ask(3)
    again = sf.load_study("power", storage)
    assert again.status() == study.status()
    assert again.open_pulls == tuple(held)
    assert (again.problem, again.policy, again.seed) == (study.problem, study.policy, study.seed)
    for pull in held:
        again.tell(pull.number, **measured(pull))
    assert study.ask() == sf.load_study("power", storage).open_pulls[0]
    assert again.audit().clean


def test_any_number_of_handles_share_one_study(storage: str) -> None:
    handles = [begun(storage), *(sf.load_study("power", storage) for _ in range(3))]
    rng = np.random.default_rng(5)
    waiting: list[sf.Pull] = []
    for _ in range(80):
        handle = handles[rng.integers(4)]
        if len(waiting) < 5:
            waiting.append(handle.ask())
        else:
            pull = waiting.pop(rng.integers(5))
            handle.tell(pull.number, **measured(pull))
    assert [pull.number for pull in waiting] == sorted(pull.number for pull in waiting)
    states = [handle.status() for handle in handles]
    assert all(state == states[0] for state in states)
    report = handles[0].audit()
    assert report.clean
    assert report.pulls == 42


# -- ask and tell -------------------------------------------------------------------------------------------------


def test_a_named_worker_is_given_its_open_pulls_back(storage: str) -> None:
    study = begun(storage)
    first = study.ask(worker="north")
    assert sf.load_study("power", storage).ask(worker="north") == first
    other = study.ask(worker="south")
    assert other.number == 2
    assert [pull.number for pull in study.ask(3, worker="north")] == [1, 3, 4]
    assert [study.ask().number, study.ask().number] == [5, 6]
    study.tell(first, **measured(first))
    assert study.ask(worker="north").number == 3


def test_the_same_result_again_is_accepted_and_another_is_refused_with_both_shown(storage: str) -> None:
    study = begun(storage)
    pull = study.ask()
    result = measured(pull)
    study.tell(pull, **result)
    events = study.status().events
    study.tell(pull.number, **result)
    sf.load_study("power", storage).tell(pull, **result, level=pull.level)
    by_name = dict(zip([limit.name for limit in study.problem.safety], result["safety"], strict=True))
    study.tell(pull, reward=result["reward"], safety=by_name)
    assert study.status().events == events
    for changed in ({**result, "reward": 9.5}, {**result, "level": 0.1}, {**result, "safety": [0.0, 0.0]}):
        with pytest.raises(AlreadyTold, match=re.escape(repr(result["reward"]))) as caught:
            study.tell(pull, **changed)
        assert caught.value.stored != caught.value.told
    assert study.pulls == 1


def test_a_late_result_holds_back_those_behind_it(storage: str) -> None:
    study = begun(storage)
    pulls = study.ask(3)
    study.tell(pulls[2], **measured(pulls[2]))
    study.tell(pulls[1], **measured(pulls[1]))
    assert (study.pulls, study.status().held_back) == (0, 2)
    study.tell(pulls[0], **measured(pulls[0]))
    assert (study.pulls, study.status().held_back) == (3, 0)


def test_results_may_be_taken_in_as_they_arrive(storage: str) -> None:
    study = begun(storage, intake="on-arrival")
    pulls = study.ask(3)
    study.tell(pulls[2], **measured(pulls[2]))
    assert study.pulls == 1
    study.tell(pulls[0], **measured(pulls[0]))
    again = sf.load_study("power", storage)
    assert again.pulls == 2
    assert again.audit().clean


def test_a_pull_applied_too_high_is_kept_and_warned_of(storage: str) -> None:
    study = begun(storage)
    pull = study.ask()
    with pytest.warns(LevelExceeded, match="Pull 1"):
        study.tell(pull, **measured(pull), level=1.0)
    assert study.pulls == 1
    assert sf.load_study("power", storage).status().overshoots == 1


@pytest.mark.parametrize(
    ("result", "field"),
    [
        ({"reward": float("nan"), "safety": [0.0, 0.0]}, "reward"),
        ({"reward": "much", "safety": [0.0, 0.0]}, "reward"),
        ({"reward": 0.0, "safety": [0.0]}, "safety"),
        ({"reward": 0.0, "safety": {"wrong": 1.0}}, "safety"),
        ({"reward": 0.0, "safety": [0.0, float("inf")]}, "safety"),
        ({"reward": 0.0, "safety": [0.0, 0.0], "level": 1.5}, "level"),
        ({"reward": 0.0, "safety": [0.0, 0.0], "level": True}, "level"),
    ],
    ids=["nan", "text", "too few", "names", "infinite", "level", "flag"],
)
def test_a_result_that_cannot_be_is_refused_before_anything_happens(result: dict[str, Any], field: str) -> None:
    study = begun("memory", name=f"bad {field}", load_if_exists=True)
    pull = study.ask(worker="w")
    before = study.status().events
    with pytest.raises(InvalidInput) as caught:
        study.tell(pull, **result)
    assert caught.value.field.startswith(field)
    assert study.status().events == before


def test_only_open_pulls_take_a_result(storage: str) -> None:
    study = begun(storage)
    pull = study.ask()
    for number in (0, 2, -1, 10**12):
        with pytest.raises(NotOpen, match="Only pull 1"):
            study.tell(number, reward=0.0, safety=[0.0, 0.0])
    with pytest.raises(InvalidInput, match="its own pull"):
        study.tell(sf.Session(arena()[1].with_(safe_level=0.1)).ask(), reward=0.0, safety=[0.0, 0.0])
    for wrong in (True, "1", 1.0, None):
        with pytest.raises(InvalidInput, match="pull"):
            study.tell(wrong, reward=0.0, safety=[0.0, 0.0])  # type: ignore[arg-type]
    assert study.open_pulls == (pull,)


# -- the end ------------------------------------------------------------------------------------------------------


def test_the_budget_counts_what_is_asked_and_not_what_is_imported(storage: str) -> None:
    study = begun(storage, max_pulls=3)
    study.add(0, 0.2, 0.1, [0.0, 0.0], **SURE)
    pulls = study.ask(9)
    assert [pull.number for pull in pulls] == [2, 3, 4]
    with pytest.raises(BudgetOpen) as caught:
        study.ask()
    assert caught.value.open_numbers == (2, 3, 4)
    for pull in pulls:
        study.tell(pull, **measured(pull))
    assert sf.load_study("power", storage).outcome == "undecided"
    with pytest.raises(Finished):
        study.ask()
    with pytest.raises(Finished):
        study.add(0, 0.2, 0.1, [0.0, 0.0], **SURE)
    assert study.certificate is None
    assert study.recommendation is None


def test_what_comes_in_after_the_end_is_kept_and_changes_nothing(storage: str) -> None:
    study = sf.create_study(arena()[1].with_(epsilon=1.5), name="short", storage=storage, seed=2)
    while not study.stopped:
        pulls = study.ask(7)
        for pull in pulls:
            study.tell(pull, **measured(pull))
    assert study.outcome == "certified"
    used, told = study.pulls, pulls[-1].number
    assert used < told
    certificate = sf.load_study("short", storage).certificate
    assert certificate == study.certificate
    assert certificate is not None
    assert certificate.pulls == used
    assert f"{told - used} results came in after the end and changed nothing" in certificate.data
    assert study.recommendation is not None
    assert study.audit().clean


# -- pulls that never come back -----------------------------------------------------------------------------------


def test_pulls_are_given_up_in_states_of_their_own_and_the_rest_goes_on(storage: str) -> None:
    study = begun(storage)
    pulls = study.ask(5)
    study.tell(pulls[4], **measured(pulls[4]))
    study.cancel(pulls[0], "the site was closed", **SURE)
    study.fail(2, "the sensor broke", **SURE)
    assert study.expire(pulls[2], **SURE) == [3]
    assert study.pulls == 0
    study.tell(4, **measured(pulls[3]))
    assert study.pulls == 2
    again = sf.load_study("power", storage)
    assert again.status().states == {
        "open": 0, "told": 2, "stale": 1, "failed": 1, "cancelled": 1, "aborted-unsafe": 0, "held": 0,
        "voided": 0, "recalled": 0,
    }  # fmt: skip
    assert again.audit().clean
    for number, state in ((1, "cancelled"), (2, "failed"), (3, "stale")):
        with pytest.raises(PullClosed, match=state):
            study.tell(number, reward=0.0, safety=[0.0, 0.0])
        with pytest.raises(PullClosed, match=state):
            study.cancel(number, "again", **SURE)
    with pytest.raises(PullClosed, match="told"):
        study.cancel(4, "too late", **SURE)


def test_giving_up_must_be_confirmed_as_independent_of_the_result(storage: str) -> None:
    study = begun(storage)
    study.ask()
    for give_up in (study.cancel, study.fail):
        with pytest.raises(InvalidInput, match="not_because_of_result"):
            give_up(1, "it looked bad")
    with pytest.raises(InvalidInput, match="not_because_of_result"):
        study.expire(1)
    with pytest.raises(InvalidInput, match="not_because_of_result"):
        study.expire(older_than=0.0, not_because_of_result=1)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="not_because_of_result"):
        study.add(0, 0.2, 0.1, [0.0, 0.0])
    with pytest.raises(InvalidInput, match="reason"):
        study.cancel(1, "", **SURE)
    assert study.status().events == 1


def test_all_pulls_of_a_certain_age_expire_at_once(storage: str) -> None:
    study = begun(storage)
    study.ask(3)
    assert study.expire(older_than=timedelta(hours=1), **SURE) == []
    assert study.expire(older_than=0.0, **SURE) == [1, 2, 3]
    with pytest.raises(InvalidInput, match="exactly one"):
        study.expire(**SURE)
    with pytest.raises(InvalidInput, match="exactly one"):
        study.expire(1, older_than=1.0, **SURE)
    assert study.ask().number == 4


def test_the_certificate_shows_what_became_of_every_pull(storage: str) -> None:
    study = sf.create_study(arena()[1].with_(epsilon=1.0), name="short", storage=storage, seed=2, intake="on-arrival")
    for _ in range(3):
        study.add("a1", 0.2, 0.2, [-0.1, 0.0], source="a pilot", **SURE)
    study.ask(3)
    study.cancel(4, "never applied", **SURE)
    study.fail(5, "power cut", **SURE)
    study.expire(6, **SURE)
    study.run(measured, max_pulls=3000)
    found = study.certificate
    assert found is not None
    text = "\n".join((*found.data, *found.assumptions))
    for words in (
        "3 results imported", "1 pull cancelled", "1 pull failed", "1 pull stale",
        "3 pulls without a result: not left out because of it", "3 imported results: measured under the same truth",
        "as they arrive",
    ):  # fmt: skip
        assert words in text
    plain = sf.Session(arena()[1].with_(epsilon=1.0), seed=2)
    run_session(arena()[0], plain, seed=3)
    assert plain.certificate is not None
    assert set(plain.certificate.assumptions) < set(found.assumptions)
    assert plain.certificate.data == ()
    json.dumps(found.to_dict(), allow_nan=False)


# -- emergency stop -----------------------------------------------------------------------------------------------


def test_a_frozen_study_gives_nobody_a_pull_until_a_person_releases_it(storage: str) -> None:
    study, other = begun(storage), sf.load_study("power", storage)
    pull = other.ask(worker="north")
    study.freeze("smoke at site 3", "Ada")
    for worker in (None, "north", "south"):
        with pytest.raises(Frozen, match=r"by Ada: smoke at site 3"):
            other.ask(worker=worker)
    other.tell(pull, **measured(pull))
    assert other.pulls == 1
    assert sf.load_study("power", storage).status().frozen == {"reason": "smoke at site 3", "by": "Ada"}
    with pytest.raises(InvalidInput, match="reason"):
        study.release("", "Ada")
    study.release("the fan was replaced", "Grace")
    assert not other.frozen
    assert other.ask(worker="north").number == 2
    with pytest.raises(NotFrozen):
        study.release("once more", "Grace")
    assert study.audit().clean


def test_a_pull_aborted_as_unsafe_freezes_the_study(storage: str) -> None:
    study = begun(storage)
    pull = study.ask()
    study.abort(pull, "the pressure rose too fast", "Ada")
    again = sf.load_study("power", storage)
    assert again.status().states["aborted-unsafe"] == 1
    with pytest.raises(Frozen, match="pressure"):
        again.ask()
    with pytest.raises(PullClosed, match="aborted-unsafe"):
        again.tell(pull, **measured(pull))


# -- alarms -------------------------------------------------------------------------------------------------------


def test_data_that_contradict_the_model_freeze_the_study_for_all(storage: str) -> None:
    study, other = begun(storage), sf.load_study("power", storage)

    def noisier(pull: sf.Pull) -> dict[str, Any]:
        result = measured(pull)
        return {**result, "reward": 8.0 * result["reward"] + 3.0 * (-1) ** pull.number}

    def insisted() -> None:
        for _ in range(300):
            pull = study.ask()
            study.tell(pull, **noisier(pull), confirm=True)

    with pytest.warns(sf.errors.ModelAlarm, match="frozen"), pytest.raises(Frozen, match="the alarm"):
        insisted()
    raised = other.status().contradictions
    assert raised
    with pytest.raises(Frozen, match="the alarm"):
        other.ask()
    other.release("the amplifier was set wrong, and is mended", "Ada")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = sf.load_study("power", storage)
        pull = again.ask()
        again.tell(pull, **measured(pull))
    assert again.status().contradictions[: len(raised)] == raised
    assert len(set(again.status().contradictions)) == len(again.status().contradictions)


def test_history_that_contradicts_the_model_freezes_a_study_before_its_first_pull(storage: str) -> None:
    slow = sf.SafeLinGapE(selection="optimistic", null_pull=True)  # which goes on for a while even so
    pilot = begun("memory", "pilot of a false model", load_if_exists=True, alarm_level=1e-9, policy=slow)
    while pilot.pulls < 60:
        pull = pilot.ask()
        pilot.add(pull.arm, pull.level, 4.0 * (-1) ** pull.number, [0.1, 0.1], confirm=True, **SURE)
        pilot.cancel(pull, "only its setting was wanted", **SURE)
        if pilot.frozen:
            pilot.release("it is only a pilot", "Ada")
    with pytest.warns(sf.errors.ModelAlarm, match="frozen"):
        study = begun(storage, warm_start=pilot)
    with pytest.raises(Frozen, match="the alarm"):
        sf.load_study("power", storage).ask()
    assert study.status().asked == 0
    sf.delete_study("pilot of a false model", "memory")


def test_a_right_model_raises_no_alarm(storage: str) -> None:
    study = driven(begun(storage), 60)
    assert study.status().contradictions == []
    assert not study.frozen


# -- made, found and deleted --------------------------------------------------------------------------------------


def test_a_name_is_taken_once_and_continued_on_request(storage: str) -> None:
    study = begun(storage)
    study.ask()
    with pytest.raises(StudyExists, match="load_if_exists"):
        begun(storage)
    assert begun(storage, load_if_exists=True).open_pulls == study.open_pulls
    for what, changed in (("problem", {}), ("seed", {"seed": 5}), ("intake", {"seed": 4, "intake": "on-arrival"})):
        problem = arena()[1] if changed else arena()[1].with_(epsilon=0.2)
        with pytest.raises(StudyDiffers, match=what):
            sf.create_study(problem, name="power", storage=storage, load_if_exists=True, **{"seed": 4, **changed})  # type: ignore[arg-type]
    for policy in (sf.LinGapE(), sf.SafeLinGapE()):
        with pytest.raises(StudyDiffers, match="policy"):
            sf.create_study(arena()[1], policy, name="power", storage=storage, load_if_exists=True, seed=4)
    named = begun(storage, policy=sf.SafeGap(), load_if_exists=True)
    assert named.open_pulls == study.open_pulls


def test_the_options_of_a_policy_are_part_of_the_study(storage: str) -> None:
    begun(storage, policy=sf.SafeLinGapE(pull="rounding"))
    with pytest.raises(StudyDiffers, match="policy"):
        begun(storage, policy=sf.SafeLinGapE(), load_if_exists=True)
    assert begun(storage, policy=sf.SafeLinGapE(pull="rounding"), load_if_exists=True).policy.pull == "rounding"


def test_the_word_of_the_first_version_for_intake_still_works_with_a_note(storage: str) -> None:
    with pytest.warns(RenamedWarning, match="intake='on-arrival'") as caught:
        study = sf.create_study(arena()[1], name="power", storage=storage, seed=4, fold="arrival")
    assert study.intake == sf.load_study("power", storage).intake == study.status().intake == "on-arrival"
    assert [row["intake"] for row in sf.list_studies(storage)] == ["on-arrival"]
    assert caught[0].filename == __file__
    with pytest.raises(InvalidInput) as refused:
        begun(storage, "other", fold="on-arrival")
    assert refused.value.field == "fold"


def test_a_status_is_typed_and_plain_data_too(storage: str) -> None:
    study = driven(begun(storage, max_pulls=50), 5)
    study.ask(2, worker="north")
    study.freeze("a drill", "Ada")
    status = study.status()
    assert (status.pulls, status.open, status.states["open"], status.asked) == (5, [6, 7], 2, 7)
    assert status.frozen == {"reason": "a drill", "by": "Ada"}
    table = status.to_dict()
    assert json.loads(json.dumps(table, allow_nan=False)) == table
    assert {key: value for key, value in table.items() if key in ("name", "intake", "max_pulls", "mismatches")} == {
        "name": "power", "intake": "by-number", "max_pulls": 50, "mismatches": 0,
    }  # fmt: skip


def test_a_study_is_loaded_by_another_process_and_not_sent_there(storage: str) -> None:
    with pytest.raises(TypeError, match="load it there, 'lab', by its name"):
        pickle.dumps(begun(storage, "lab"))


def test_studies_are_listed_and_deleted(storage: str) -> None:
    begun(storage, "b").ask()
    begun(storage, "a")
    assert [(row["name"], row["events"]) for row in sf.list_studies(storage)] == [("a", 0), ("b", 1)]
    held = sf.load_study("b", storage)
    sf.delete_study("b", storage)
    assert [row["name"] for row in sf.list_studies(storage)] == ["a"]
    for gone in (lambda: sf.load_study("b", storage), held.ask, held.status, lambda: sf.delete_study("b", storage)):
        with pytest.raises(StudyNotFound, match=r"'b'.*\['a'\]"):
            gone()
    begun(storage, "b")
    with pytest.raises(StudyNotFound):
        held.ask()  # another study by the same name


def test_storage_may_come_from_the_environment(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUREFOOT_STORAGE", f"sqlite:///{tmp_path / 'env.db'}")
    sf.create_study(arena()[1], name="power")
    assert [row["name"] for row in sf.list_studies()] == ["power"]
    assert (tmp_path / "env.db").exists()
    monkeypatch.setenv("SUREFOOT_STORAGE", "nonsense")
    with pytest.raises(InvalidInput, match="SUREFOOT_STORAGE"):
        sf.list_studies()
    monkeypatch.delenv("SUREFOOT_STORAGE")
    monkeypatch.chdir(tmp_path)
    sf.create_study(arena()[1], name="here")
    assert (tmp_path / "surefoot.db").exists()


@pytest.mark.parametrize(
    "settings",
    [
        {"name": ""}, {"name": 7}, {"name": "a\nb"}, {"storage": "power.db"}, {"storage": "mysql://x/y"},
        {"storage": 7}, {"storage": "sqlite:///x.db?mode=ro"}, {"seed": -1}, {"max_pulls": 0}, {"intake": "random"},
        {"alarm_level": 0.0}, {"policy": "best"}, {"warm_start": "power"}, {"problem": {}},
    ],
    ids=lambda settings: "-".join(settings) + f"-{next(iter(settings.values()))!r}",
)  # fmt: skip
def test_bad_settings_are_refused_by_name(settings: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as caught:
        sf.create_study(**{"problem": arena()[1], "name": "refused", "storage": "memory", **settings})
    assert caught.value.field == next(iter(settings))
    assert "refused" not in [row["name"] for row in sf.list_studies("memory")]
