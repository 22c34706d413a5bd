"""Implausible results in a study: held with their pull, shown, and settled by a person."""

import pytest
from small_studies import begun, driven, itself, measured

import surefoot as sf
from surefoot.errors import Held, HeldWarning, Implausible, ModelAlarm, PullHeld

TYPO = {"reward": 0.5, "safety": {"safety1": -40.0, "safety2": 0.0}}  # 40 for 0.4, far beyond the limit
TOO_GOOD = {"reward": 0.5, "safety": {"safety1": 40.0, "safety2": 0.0}}


@pytest.fixture
def study(storage: str) -> sf.Study:
    return driven(begun(storage), 12)


def test_a_typo_is_not_taken_in_and_not_lost(study: sf.Study, storage: str) -> None:
    pull = study.ask(worker="north")
    with pytest.raises(Implausible, match=r"safety1 = -40, where .* was to be expected.* no pull is given to anyone"):
        study.tell(pull, **TYPO)
    again = sf.load_study("power", storage)
    assert (again.pulls, again.status().states["held"], again.open_pulls) == (12, 1, ())
    (held,) = again.held
    assert (held.number, held.worker, held.safety, held.unsafe) == (13, "north", TYPO["safety"], True)
    assert again.status().to_dict()["held"][0]["number"] == 13
    row = again.history.set_index("number").loc[13]
    assert row["state"] == "held"
    assert "held reward 0.5, safety1 -40, safety2 0 (" in row["changes"]


def test_on_the_unsafe_side_nobody_is_given_a_pull_in_any_process(study: sf.Study, storage: str) -> None:
    first, second = study.ask(2, worker="north")
    with pytest.raises(Implausible):
        study.tell(first, **TYPO)
    with pytest.raises(Held, match=r"pull 13, which north told, is held as implausible .* on the unsafe side"):
        sf.load_study("power", storage).ask(worker="south")
    with pytest.raises(Held):
        study.ask(worker="north")  # not even what it has open
    study.tell(second, **measured(second))
    study.tell(first, **measured(first))
    again = sf.load_study("power", storage)
    assert (again.pulls, again.held) == (14, ())
    assert study.ask(worker="south") == again.ask(worker="south")
    assert again.audit().clean


def test_the_value_that_was_replaced_stays_in_the_history(study: sf.Study) -> None:
    pull = study.ask()
    for typo in (TYPO, TYPO, TOO_GOOD):
        with pytest.raises(Implausible):
            study.tell(pull, **typo)
    study.tell(pull, **measured(pull))
    changes = study.history["changes"].tolist()[12]
    assert changes.count("held ") == 2  # the same typo once more is no news
    assert study.status().states["told"] == 13


def test_a_confirmed_result_is_recorded_as_such(study: sf.Study, storage: str) -> None:
    pull = study.ask()
    with pytest.raises(Implausible):
        study.tell(pull, **TOO_GOOD)
    with pytest.warns(ModelAlarm):  # no wonder
        study.tell(pull, **TOO_GOOD, confirm=True)
    study.tell(pull, **TOO_GOOD)  # once more is accepted silently
    again = sf.load_study("power", storage)
    assert (again.pulls, again.held) == (13, ())
    assert again._handle.view(itself).confirmed == [13]
    assert "confirmed reward 0.5" in again.history["changes"].tolist()[12]


def test_on_the_safe_side_others_go_on(study: sf.Study) -> None:
    pull = study.ask(worker="north")
    with pytest.raises(Implausible):
        study.tell(pull, **TOO_GOOD)
    following = study.ask(worker="north")
    assert following.number == 14  # what is held was applied: it is not given out again
    study.tell(following, **measured(following))
    assert (study.pulls, study.status().held_back) == (12, 1)
    study.tell(pull, **measured(pull))
    assert study.pulls == 14


def test_a_result_that_waited_is_judged_in_its_turn_and_the_one_who_brought_it_about_is_warned(
    study: sf.Study, storage: str
) -> None:
    first, second, third, fourth = study.ask(4)
    study.tell(fourth, **measured(fourth))
    study.tell(third, **TYPO)
    study.tell(second, **measured(second))
    with pytest.warns(HeldWarning, match="pull 15, which waited for an earlier one"):
        study.tell(first, **measured(first))
    again = sf.load_study("power", storage)
    for each in (study, again):
        assert (each.pulls, [held.number for held in each.held], each.status().held_back) == (14, [15], 1)
        with pytest.raises(Held):
            each.ask()
    again.tell(third, **measured(third))
    assert (again.pulls, again.held) == (16, ())
    third_time = sf.load_study("power", storage)
    assert (third_time.pulls, third_time.audit().clean) == (16, True)
    assert third_time.results() == study.results()
    assert third_time.results()[14].readings == list(measured(third)["safety"])


def test_giving_up_an_earlier_pull_brings_it_out_too(study: sf.Study) -> None:
    first, second, third = study.ask(3)
    study.tell(third, **TYPO)
    study.expire(older_than=0.0, not_because_of_result=True)
    assert (study.pulls, [held.number for held in study.held]) == (12, [15])
    assert [first.number, second.number] == [13, 14]


def test_with_intake_on_arrival_it_is_judged_on_arrival(storage: str) -> None:
    study = driven(begun(storage, intake="on-arrival"), 12)
    first, second = study.ask(2)
    with pytest.raises(Implausible):
        study.tell(second, **TOO_GOOD)
    study.tell(first, **measured(first))
    assert study.pulls == 13
    study.tell(second, **measured(second))
    assert study.pulls == 14


def test_a_held_result_is_not_given_up_without_a_word(study: sf.Study) -> None:
    pull = study.ask()
    with pytest.raises(Implausible):
        study.tell(pull, **TYPO)
    for verb in (study.cancel, study.fail, study.expire):
        with pytest.raises(PullHeld, match="void"):
            verb(pull, reason="never mind", not_because_of_result=True)
    assert study.expire(older_than=0.0, not_because_of_result=True) == []
    with pytest.raises(PullHeld):
        study.correct(pull, reward=0.1, reason="typo", by="Ada")
    study.void(pull, reason="the gauge was found unplugged", by="Ada")
    assert (study.held, study.status().states["voided"]) == ((), 1)
    assert study.ask().number == 14


@pytest.mark.parametrize("waited", [False, True])
def test_a_held_pull_may_be_said_to_have_looked_unsafe(study: sf.Study, storage: str, waited: bool) -> None:
    first, second = study.ask(2)
    which = second if waited else first
    if waited:
        study.tell(second, **TYPO)
        with pytest.warns(HeldWarning):
            study.tell(first, **measured(first))
    else:
        with pytest.raises(Implausible):
            study.tell(first, **TYPO)
    study.abort(which, "it smoked", by="Eva")
    again = sf.load_study("power", storage)
    assert (again.frozen, again.held) == (True, ())


def test_a_function_that_returns_the_implausible_ends_by_name_and_loses_nothing(study: sf.Study) -> None:
    def measure(pull: sf.Pull) -> object:
        return TYPO if pull.number == 15 else measured(pull)

    with pytest.raises(Implausible):
        study.run(measure)
    assert (study.pulls, [held.number for held in study.held]) == (14, [15])
    with pytest.raises(Held):
        study.run(measure)
    study.tell(15, **measured_again(study))
    study.run(measured, max_pulls=3)
    assert study.pulls == 18


def measured_again(study: sf.Study) -> object:
    """What pull 15 returned in truth."""
    row = study.history.set_index("number").loc[15]
    return measured(
        sf.Pull(15, int(row["arm"]), row["name"], float(row["asked_level"]), "decide", 0.0, None, None, None)
    )


def test_warm_start_leaves_out_what_is_held(study: sf.Study, storage: str) -> None:
    pull = study.ask()
    with pytest.raises(Implausible):
        study.tell(pull, **TYPO)
    after = sf.create_study(study.problem, name="after", storage=storage, warm_start=study)
    assert after.pulls == 12
