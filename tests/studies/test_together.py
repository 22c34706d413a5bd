"""What holds, corrections, imports and alarms do to each other."""

import warnings
from typing import Any

import numpy as np
import pytest
from small_studies import begun, driven, itself, measured

import surefoot as sf
from scenes import arena
from surefoot.errors import AlreadyTold, Frozen, Held, HeldWarning, Implausible, InvalidInput, ModelAlarm
from surefoot.studies.past import Past

TYPO = {"reward": 0.5, "safety": [-1.5, 0.0]}  # beyond the limit, and implausible
SURE: dict[str, Any] = {"not_because_of_result": True}
STATED: dict[str, Any] = {"order": "as measured", **SURE}
WHO = {"reason": "typed -1.5 for -0.15", "by": "Ada"}


def table(count: int, first: int = 1, seed: int = 9) -> list[dict[str, Any]]:
    """Results of the arena, as they were measured elsewhere."""
    problem, found = arena()[1], []
    for number in range(first, first + count):
        pull = sf.Pull(number, number % problem.size, "", 0.2, "decide", 0.0, None, None, None)
        found.append({"arm": pull.arm, "level": pull.level, **measured(pull, seed=seed)})
    return found


def learned(study: sf.Study) -> np.ndarray:
    """All that the study knows."""
    return study._handle.view(itself).learner.state.whole.copy()


# -- held results and alarms --------------------------------------------------------------------------------------


def test_what_is_held_on_the_unsafe_side_rings_no_alarm_until_it_is_taken_in(storage: str) -> None:
    study = driven(begun(storage), 12)
    first, second = study.ask(2, worker="north")
    with pytest.raises(Implausible):
        study.tell(first, **TYPO)
    assert (study.frozen, study.status().alarms) == (False, [])
    with pytest.raises(Held):
        study.ask(worker="south")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        study.tell(first, **TYPO, confirm=True)
    assert [each.category for each in said] == [ModelAlarm] * len(study.status().alarms)
    assert "safety1: a reading lies further beyond the limit" in str(said[-1].message)
    again = sf.load_study("power", storage)
    assert (again.frozen, again.held, again.confirmed) == (True, (), (13,))
    study.tell(second, **measured(second))  # what is open may be told
    with pytest.raises(Frozen):
        again.ask(worker="south")
    again.release("the pump was at fault, and is replaced", by="Ada")
    assert study.ask(worker="south").number == 15


def test_a_release_does_not_settle_what_is_held_and_settling_it_does_not_release(storage: str) -> None:
    study = driven(begun(storage), 12)
    pull = study.ask()
    with pytest.raises(Implausible):
        study.tell(pull, **TYPO)
    study.freeze("smoke", by="Ada")
    study.release("it was steam", by="Ada")
    with pytest.raises(Held):
        study.ask()
    study.freeze("smoke again", by="Ada")
    study.tell(pull, **measured(pull))
    with pytest.raises(Frozen):
        study.ask()
    assert sf.load_study("power", storage).held == ()


@pytest.mark.parametrize("verb", ["void", "correct"])
def test_what_clears_the_cause_of_an_alarm_still_needs_the_release(storage: str, verb: str) -> None:
    study = driven(begun(storage), 12)
    pull = study.ask()
    with pytest.warns(ModelAlarm):
        study.tell(pull, **TYPO, confirm=True)
    (said,) = {each for each in study.status().alarms if "beyond the limit" in each}
    if verb == "void":
        study.void(pull, **WHO)
    else:
        study.correct(pull, **measured(pull), **WHO)
    again = sf.load_study("power", storage)
    for each in (study, again):
        assert each._handle.view(itself).findings == []
        assert each.frozen
        assert said in each.status().alarms
        assert each.certificate is None
        with pytest.raises(Frozen):
            each.ask()
    again.release("the result was mistyped, and is put right", by="Ada")
    driven(study, 3)
    assert (study.status().alarms, study.frozen) == ([], False)
    assert said in study.status().contradictions  # it was raised, for all to see
    assert sf.load_study("power", storage).audit().clean


def test_the_same_alarm_rings_again_after_its_cause_was_cleared(storage: str) -> None:
    study = driven(begun(storage), 12)
    pull = study.ask()
    with pytest.warns(ModelAlarm):
        study.tell(pull, **TYPO, confirm=True)
    study.void(pull, **WHO)
    study.release("the result was mistyped", by="Ada")
    with pytest.warns(ModelAlarm):
        study.tell(study.ask(), **TYPO, confirm=True)
    again = sf.load_study("power", storage)
    assert again.frozen
    assert len(again.status().alarms) == len(set(again.status().alarms))  # each is told once


def test_a_norm_that_is_too_small_rings_once_however_long_the_study_goes_on(storage: str) -> None:
    """Whoever replays it sees many results at once, and finds the very same."""
    problem = sf.Problem(
        arms={"a": [1, 0], "b": [0, 1]}, reward=sf.Reward(noise=1.0, norm=0.5),
        safety=[sf.Limit("qos", at_least=-0.5, noise=0.1, norm=1.0)], safe_level=0.2, epsilon=0.0, delta=0.05,
        delta_safety=0.05,
    )  # fmt: skip
    world = sf.worlds.Linear.for_problem(problem, theta_star=[1.0, 1.0], mu_star=[[-0.1, -0.2]])
    study = sf.create_study(problem, sf.SafeLinGapE(), name="norm", storage=storage)

    def measure(pull: sf.Pull) -> Any:
        return world.measure(pull, seed=2, problem=problem)

    def go_on(which: sf.Study, pulls: int) -> None:
        for _ in range(pulls):
            if not which.frozen:
                pull = which.ask()
                which.tell(pull, **measure(pull), confirm=True)

    with pytest.warns(ModelAlarm, match=r"reward: norm 0.5 is stated"):
        go_on(study, 1000)
    said = study.status().contradictions
    study.release("known, and wanted", by="Ada")
    go_on(study, 200)
    again = sf.load_study("norm", storage)
    go_on(again, 1)
    assert again.status().contradictions == said
    assert not again.frozen


# -- tables and corrections ---------------------------------------------------------------------------------------


def test_a_row_of_a_table_is_corrected(storage: str) -> None:
    rows = table(20)
    wrong = [row | {"reward": row["reward"] + 0.5} if place == 4 else row for place, row in enumerate(rows)]
    study, right = begun(storage), begun(storage, "right")
    study.add(wrong, **STATED)
    right.add(rows, **STATED)
    with pytest.raises(Implausible) as refused:
        study.correct(5, safety=TYPO["safety"], **WHO)
    assert (refused.value.unsafe, refused.value.held, study.corrections) == (True, False, ())
    study.correct(5, reward=rows[4]["reward"], **WHO)
    np.testing.assert_array_equal(learned(study), learned(right))
    again = sf.load_study("power", storage)
    np.testing.assert_array_equal(learned(again), learned(right))
    assert (again.ask(), again.status().imported) == (right.ask(), 20)
    with pytest.raises(AlreadyTold):
        study.tell(5, reward=0.0, safety=[0.0, 0.0])


def test_rows_of_a_table_are_not_pulls_that_a_wrong_row_misled(storage: str) -> None:
    study = sf.create_study(arena()[1].with_(epsilon=0.5), name="misled", storage=storage)
    first = study.ask()
    study.tell(first, **measured(first))
    study.add(table(20, first=2), **STATED)
    later = study.ask(3)
    study.correct(5, reward=table(20, first=2)[3]["reward"] + 0.01, **WHO)
    study.correct(1, reward=measured(first)["reward"] + 0.01, **WHO)
    assert [each.misled for each in study.corrections] == [(22, 24), (22, 24)]
    for pull in later:
        study.tell(pull, **measured(pull))
    study.run(measured)
    certificate = study.certificate
    assert certificate is not None
    assert any(each.startswith("3 pulls asked for while other values stood") for each in certificate.assumptions)


def test_a_row_that_waits_is_judged_when_it_is_corrected(storage: str) -> None:
    study, rows = begun(storage), table(20)
    pull = study.ask()
    study.add(rows, **STATED)
    with pytest.raises(Implausible):
        study.correct(6, safety=TYPO["safety"], **WHO)
    study.correct(6, reward=rows[4]["reward"] + 0.01, **WHO)
    study.tell(pull, **measured(pull))
    assert (study.pulls, study.held, study.confirmed) == (21, (), ())


def test_what_was_confirmed_and_waits_is_judged_anew_once_it_is_corrected(storage: str) -> None:
    study = driven(begun(storage), 12)
    first, second = study.ask(2)
    study.tell(second, **TYPO, confirm=True)
    study.correct(second, safety=[-1.4, 0.0], **WHO)
    with pytest.warns(HeldWarning, match="safety1 = -1.4"):
        study.tell(first, **measured(first))
    again = sf.load_study("power", storage)
    assert (again.pulls, [each.number for each in again.held], again.confirmed) == (13, [14], ())


def test_a_table_that_waited_is_taken_in_whole_by_everybody(storage: str) -> None:
    """It is enough for an answer amid its rows; the end comes after the last, live and replayed."""
    source = sf.create_study(arena()[1].with_(epsilon=0.05), name="long", storage=storage, seed=4)
    source.run(measured, max_pulls=400)
    rows = [row._asdict() | {"safety": row.readings} for row in source.results()]
    study = sf.create_study(arena()[1].with_(epsilon=0.5), name="waits", storage=storage)
    first, later = study.ask(2)
    study.add(rows, **STATED)
    study.tell(later, **measured(later))
    study.tell(first, **measured(first))
    again = sf.load_study("waits", storage)
    assert (study.pulls, study.outcome) == (again.pulls, again.outcome) == (len(rows) + 2, "certified")
    np.testing.assert_array_equal(learned(study), learned(again))


def test_the_end_comes_after_the_last_row_that_is_not_voided(storage: str) -> None:
    source = sf.create_study(arena()[1].with_(epsilon=0.05), name="long", storage=storage, seed=4)
    source.run(measured, max_pulls=400)
    rows = [row._asdict() | {"safety": row.readings} for row in source.results()]
    study = sf.create_study(arena()[1].with_(epsilon=0.5), name="waits", storage=storage)
    first = study.ask()
    numbers = study.add(rows, **STATED)
    last = study.ask()
    study.tell(last, **measured(last))  # it waits behind the table, and does not belong to it
    study.void(numbers[-1], reason="the wrong bottle", by="Ada")
    study.tell(first, **measured(first))
    again = sf.load_study("waits", storage)
    assert study.outcome == again.outcome == "certified"
    assert study.pulls == again.pulls == len(rows)
    assert study.status().unused == 1


def test_the_order_is_looked_at_with_the_values_of_now(storage: str) -> None:
    """A table that looked sorted by a slip is put right, and what follows is looked at together with that."""
    rows, slips = table(60), sorted(each["reward"] + 1e-6 for each in table(60))
    study = begun(storage)
    sorted_rows = [row | {"reward": reward} for row, reward in zip(rows, slips, strict=True)]
    with pytest.raises(InvalidInput, match="rise or fall with their place"):
        study.add(sorted_rows, **STATED)
    study.add(sorted_rows[:20], **STATED)  # so few do not show it
    with pytest.raises(InvalidInput, match="rise or fall with their place"):
        study.add(sorted_rows[20:], **STATED)
    for number, row in enumerate(rows[:20], start=1):
        study.correct(number, reward=row["reward"], **WHO)
    study.void(20, reason="the wrong bottle", by="Ada")
    found = sf.load_study("power", storage)
    assert [row[2] for row in found._handle.view(itself).rows_in_doubt()] == [row["reward"] for row in rows[:19]]
    study.add(rows[20:], **STATED)
    assert study.pulls == 59


# -- implausible rows ---------------------------------------------------------------------------------------------


def test_an_implausible_row_is_refused_with_its_table_and_recorded_when_confirmed(storage: str) -> None:
    study, rows = begun(storage), table(20)
    rows[11] |= {"safety": [1.5, 0.0]}
    with pytest.raises(Implausible, match=r"spring, row 12: .* safety1 = 1.5, where .* was to be expected") as refused:
        study.add(rows, source="spring", **STATED)
    assert (refused.value.held, study.status().events, study.held) == (False, 0, ())
    with pytest.warns(ModelAlarm):
        study.add(rows, source="spring", confirm=True, **STATED)
    again = sf.load_study("power", storage)
    (statement,) = again.statements()
    assert [each.partition(":")[0] for each in statement.implausible] == ["spring, row 12"]
    assert again.status().imports[0].endswith("1 implausible one confirmed")
    assert again.pulls == 20


def test_a_warm_start_does_not_wash_off_what_was_confirmed(storage: str) -> None:
    study, rows = begun(storage), table(20)
    rows[11] |= {"safety": [1.5, 0.0]}
    with pytest.warns(ModelAlarm):
        study.add(rows, source="spring", confirm=True, **STATED)
    study.release("it was 1.5 indeed", by="Ada")
    pull = study.ask()
    with pytest.warns(ModelAlarm):
        study.tell(pull, reward=6.0, safety=measured(pull)["safety"], confirm=True)
    with pytest.warns(ModelAlarm):
        after = begun(storage, "after", warm_start=study)
    assert after.status().imports[0].endswith("2 implausible ones confirmed")


# -- who looks only now and then ----------------------------------------------------------------------------------


def test_one_who_looks_at_the_past_sees_what_had_waited(storage: str) -> None:
    study = begun(storage)
    past, pulls = Past(study._handle), study.ask(6)
    for pull in reversed(pulls):
        study.tell(pull, **measured(pull))
    *_, now = past.moments(4)
    assert now.pulls == study.pulls == 6
    pull = study.ask()
    study.tell(pull, **measured(pull))
    assert past.moments(4)[-1].pulls == 7
