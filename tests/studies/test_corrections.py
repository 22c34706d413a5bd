"""Results that are put right: what was decided stays, what is known is learned anew."""

import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from small_studies import begun, driven, itself, measured

import surefoot as sf
from scenes import arena
from surefoot.errors import (
    AlreadyTold,
    Finished,
    Frozen,
    Implausible,
    InvalidInput,
    NotOpen,
    NotTold,
    PullClosed,
    Recalled,
    RecalledWarning,
)

WHO = {"reason": "typed 56 for 5.6", "by": "Ada"}


def with_typo(storage: str, at: int = 5, pulls: int = 12, **settings: object) -> sf.Study:
    """A study in which one result was told a little too safe, as early sets allow."""
    study = begun(storage, **settings)

    def measure(pull: sf.Pull) -> dict[str, object]:
        found = dict(measured(pull))
        return found | {"safety": [float(each) + 0.3 for each in found["safety"]]} if pull.number == at else found

    study.run(measure, max_pulls=pulls)
    return study


def truth(study: sf.Study, number: int) -> dict[str, object]:
    """What the pull returned in truth."""
    row = study.history.set_index("number").loc[number]
    pull = sf.Pull(number, int(row["arm"]), row["name"], float(row["asked_level"]), "decide", 0.0, None, None, None)
    return dict(measured(pull))


def learned(study: sf.Study) -> np.ndarray:
    """All that the study knows."""
    return study._handle.view(itself).learner.state.whole.copy()


def taught(study: sf.Study, rows: list[tuple[int, float, float, list[float]]]) -> np.ndarray:
    """What is known after just these results."""
    session = sf.Session(study.problem, study.policy, seed=study.seed)
    for arm, level, reward, readings in rows:
        limits = zip(study.problem.safety, readings, strict=True)
        session.ledger.learner.take(arm, level, [reward, *(limit.internal(each) for limit, each in limits)])
    return session.ledger.learner.state.whole


def test_a_correction_learns_everything_anew(storage: str) -> None:
    study = with_typo(storage)
    before = study.results()
    done = study.correct(5, safety=truth(study, 5)["safety"], **WHO)
    assert done.statement == "Pull 5 is corrected."
    after = study.results()
    assert [row for row in after if row.number != 5] == [row for row in before if row.number != 5]
    assert after[4].readings == list(truth(study, 5)["safety"])
    assert after[4].reward == before[4].reward  # what is not given stays
    np.testing.assert_array_equal(learned(study), taught(study, [row[1:] for row in after]))
    again = sf.load_study("power", storage)
    np.testing.assert_array_equal(learned(study), learned(again))
    assert again.audit().clean  # each decision on the values known when it was made
    assert study.ask() == again.open_pulls[0]


def test_a_study_goes_on_after_corrections_and_audits_clean(storage: str) -> None:
    study = with_typo(storage)
    study.correct(5, safety=truth(study, 5)["safety"], **WHO)
    driven(study, 5)
    study.correct(5, reward=truth(study, 5)["reward"] + 0.01, reason="another digit", by="Bo")
    driven(study, 5)
    study.void(9, reason="the wrong bottle", by="Ada")
    driven(study, 5)
    again = sf.load_study("power", storage)
    assert again.audit().clean
    assert (again.pulls, again.status().states["told"], again.status().states["voided"]) == (26, 26, 1)
    np.testing.assert_array_equal(learned(study), learned(again))
    np.testing.assert_array_equal(learned(again), taught(again, [row[1:] for row in again.results()]))
    assert 9 not in [row.number for row in again.results()]


def test_every_correction_is_shown_with_who_when_why_and_both_values(storage: str) -> None:
    study = with_typo(storage)
    old, new = study.results()[4].readings, truth(study, 5)["safety"]
    study.correct(5, safety=new, **WHO)
    study.void(7, reason="the gauge was unplugged", by="Bo")
    first, second = sf.load_study("power", storage).corrections
    assert (first.number, first.by, first.reason) == (5, "Ada", "typed 56 for 5.6")
    assert (first.misled, second.misled) == ((6, 12), (8, 12))
    assert second.new is None
    words, voided = study.status().corrections
    assert words.startswith(f"pull 5: reward {study.results()[4].reward:.6g}, safety1 {old[0]:.6g}")
    assert f"-> reward {study.results()[4].reward:.6g}, safety1 {new[0]:.6g}" in words
    assert "UTC: typed 56 for 5.6)" in words
    assert "-> taken out (by Bo" in voided
    changes = study.history.set_index("number")["changes"]
    assert "corrected reward" in changes[5]
    assert "by Ada: typed 56 for 5.6" in changes[5]
    assert study.history.set_index("number")["state"][7] == "voided"
    assert (changes.drop([5, 7]) == "").all()


def test_a_voided_pull_counts_in_the_budget(storage: str) -> None:
    study = driven(begun(storage, max_pulls=14), 12)
    study.void(3, reason="the wrong bottle", by="Ada")
    assert (study.pulls, study.stopped) == (11, False)
    driven(study, 10)
    assert (study.pulls, study.outcome) == (13, "undecided")
    assert sf.load_study("power", storage).outcome == "undecided"


# -- what is open -----------------------------------------------------------------------------------------------------


def recalled(storage: str) -> tuple[sf.Study, list[sf.Pull]]:
    """A study whose levels rest on readings that were too good, with pulls open at them."""
    study = begun(storage)

    def too_good(pull: sf.Pull) -> dict[str, object]:
        found = dict(measured(pull))
        return found | {"safety": [float(each) + 0.12 for each in found["safety"]]}

    study.run(too_good, max_pulls=40)
    return study, study.ask(3, worker="north")


def test_open_pulls_above_the_certified_level_are_recalled_and_never_given_out_again(storage: str) -> None:
    study, pulls = recalled(storage)
    gone: set[int] = set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(1, 41):
            done = study.correct(number, safety=truth(study, number)["safety"], confirm=True, **WHO)
            gone |= set(done.recalled)
    assert gone
    if study.frozen:
        study.release("the readings were corrected", by="Ada")
    again = sf.load_study("power", storage)
    status, levels = again.status(), again.status().levels
    assert status.states["recalled"] == len(gone)
    assert all(pull.level <= levels[pull.name] for pull in again.open_pulls)
    assert not gone & {pull.number for pull in again.open_pulls}
    with pytest.warns(RecalledWarning, match=f"pull {min(gone)}"):
        following = again.ask(worker="north")
    assert following.number not in gone
    first = next(pull for pull in pulls if pull.number in gone)
    with pytest.raises(Recalled, match="record it with add"):
        again.tell(first, **measured(first))
    assert again.audit().clean
    for pull in again.open_pulls:
        again.tell(pull, **measured(pull))
    assert again.status().held_back == 0  # what was recalled holds nobody back


def test_a_worker_is_told_once_of_what_was_recalled(storage: str) -> None:
    study, _ = recalled(storage)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(1, 41):
            study.correct(number, safety=truth(study, number)["safety"], confirm=True, **WHO)
        if study.frozen:
            study.release("the readings were corrected", by="Ada")
        study.ask(4, worker="north")
    with warnings.catch_warnings():
        warnings.simplefilter("error", RecalledWarning)
        study.ask(worker="north")


# -- the end ----------------------------------------------------------------------------------------------------------


def ended(storage: str, **settings: object) -> sf.Study:
    """A study of the small world that has ended in certainty."""
    world = sf.worlds.limited()
    study = sf.create_study(world.default_problem(), name="limited", storage=storage, seed=1, **settings)
    study.run(lambda pull: world.measure(pull, seed=1))
    assert study.outcome == "certified"
    return study


def test_a_correction_after_the_end_confirms_the_answer_or_ends_anew_and_says_so(storage: str) -> None:
    study = ended(storage)
    first = study.certificate
    row = study.results()[10]
    done = study.correct(11, reward=row.reward + 1e-9, **WHO)
    again = sf.load_study("limited", storage)
    assert (done.before, done.after) == ("certified", "certified")
    assert done.statement in (
        "Pull 11 is corrected. The answer is confirmed.",
        "Pull 11 is corrected. The study has ended anew, as 'certified'.",
    )
    assert again.certificate == study.certificate
    assert first is not None
    assert any("corrected pull 11" in note for note in again.certificate.data)
    assert any("an earlier end, before a correction: certified after" in note for note in again.certificate.data)
    assert any("1 correction: " in each for each in again.certificate.assumptions)
    kinds = events_of(study)
    assert kinds.count("end") == 2


def events_of(study: sf.Study) -> list[str]:
    """The kinds of all that happened."""
    return study._handle.look(lambda ledger, stored: [event["kind"] for event in stored.all()])


def test_a_correction_after_the_end_reopens_the_study(storage: str) -> None:
    world = sf.worlds.limited()
    study = ended(storage)
    pulls = study.pulls
    for number in range(pulls - 30, pulls):
        done = study.void(number, reason="the bench was moved", by="Ada")
    assert (done.after, study.outcome, study.certificate) == (None, None, None)
    reopened = next(words for words in study.status().corrections)
    assert "taken out" in reopened
    again = sf.load_study("limited", storage)
    assert again.outcome is None
    again.run(lambda pull: world.measure(pull, seed=1))
    assert again.outcome == "certified"
    assert again.audit().clean
    assert any("an earlier end" in note for note in again.certificate.data)


def test_results_that_came_after_the_end_count_if_it_is_reopened(storage: str) -> None:
    world = sf.worlds.limited()
    study = sf.create_study(world.default_problem(), name="limited", storage=storage, seed=1)
    while not study.stopped:
        pulls = study.ask(3)
        for pull in reversed(pulls[1:]):
            study.tell(pull, **world.measure(pull, seed=1))
        study.tell(pulls[0], **world.measure(pulls[0], seed=1))
    taken, unused = study.pulls, study.status().unused
    for number in range(taken - 30, taken):
        study.void(number, reason="the bench was moved", by="Ada")
    assert study.outcome is None
    assert (study.status().unused, study.pulls) == (0, taken + unused - 30)
    again = sf.load_study("limited", storage)
    assert again.pulls == study.pulls
    assert again.audit().clean


def test_one_typo_no_longer_ends_a_study_for_good(storage: str) -> None:
    """56 for 5.6, confirmed in haste: a contradiction, which stayed."""
    study = driven(begun(storage), 12)
    pull = study.ask()
    result = measured(pull)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        study.tell(pull, reward=result["reward"], safety=[-5.6, result["safety"][1]], confirm=True)
    with pytest.raises((Frozen, Finished)):
        study.ask()
    study.correct(13, safety=result["safety"], **WHO)
    if study.frozen:  # an alarm that the typo caused still needs its release
        with pytest.raises(Frozen):
            study.ask()
        study.release("it was a typo, corrected", by="Ada")
    driven(study, 10)
    assert study.pulls == 23
    twin = driven(begun(storage, name="twin"), 23)
    np.testing.assert_array_equal(learned(study), learned(twin))
    assert sf.load_study("power", storage).audit().clean


# -- what is refused --------------------------------------------------------------------------------------------------


def test_what_has_no_result_is_refused_by_name(storage: str) -> None:
    study = driven(begun(storage), 3)
    first, second = study.ask(2)
    study.cancel(second, "closed", not_because_of_result=True)
    for verb in (lambda n: study.correct(n, reward=0.1, **WHO), lambda n: study.void(n, **WHO)):
        with pytest.raises(NotOpen):
            verb(99)
        with pytest.raises(NotTold, match="is open"):
            verb(first)
        with pytest.raises(NotTold, match="is cancelled"):
            verb(5)
    study.void(2, **WHO)
    for verb in (lambda n: study.correct(n, reward=0.1, **WHO), lambda n: study.void(n, **WHO)):
        with pytest.raises(NotTold, match="is voided"):
            verb(2)
    with pytest.raises(PullClosed, match="is voided"):
        study.tell(2, reward=0.0, safety=[0.0, 0.0])


def test_a_correction_says_something_new_for_a_reason_in_a_name(storage: str) -> None:
    study = driven(begun(storage), 3)
    row = study.results()[0]
    with pytest.raises(InvalidInput, match="is what counts already"):
        study.correct(1, reward=row.reward, safety=row.readings, **WHO)
    with pytest.raises(InvalidInput, match="Give reward or safety"):
        study.correct(1, **WHO)
    for field in ("reason", "by"):
        with pytest.raises(InvalidInput, match=field):
            study.correct(1, reward=0.1, **{**WHO, field: " "})
        with pytest.raises(InvalidInput, match=field):
            study.void(1, **{**WHO, field: ""})
    with pytest.raises(InvalidInput):
        study.correct(1, reward=float("nan"), **WHO)
    with pytest.raises(InvalidInput):
        study.correct(1, safety=[0.1], **WHO)
    assert study.corrections == ()


def test_a_correction_may_be_a_typo_too(storage: str) -> None:
    study = driven(begun(storage), 12)
    with pytest.raises(Implausible, match="safety1 = -40") as refused:
        study.correct(5, safety=[-40.0, 0.0], **WHO)
    assert not refused.value.held
    assert study.corrections == ()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        study.correct(5, safety=[-40.0, 0.0], confirm=True, **WHO)
    assert len(study.corrections) == 1


def test_telling_again_what_was_told_before_its_correction_is_accepted(storage: str) -> None:
    study = driven(begun(storage), 5)
    row = study.results()[2]
    study.correct(3, reward=row.reward + 0.1, **WHO)
    study.tell(3, reward=row.reward, safety=row.readings)  # a script that repeats itself
    study.tell(3, reward=row.reward + 0.1, safety=row.readings)
    with pytest.raises(AlreadyTold, match=r"correct\(number"):
        study.tell(3, reward=row.reward + 0.2, safety=row.readings)


def test_a_result_that_waits_is_corrected_and_voided_without_learning_anew(storage: str) -> None:
    study = driven(begun(storage), 5)
    first, second, third = study.ask(3)
    study.tell(second, **measured(second))
    study.tell(third, **measured(third))
    study.correct(second, reward=0.25, **WHO)
    study.void(third, **WHO)
    study.tell(first, **measured(first))
    again = sf.load_study("power", storage)
    assert (again.pulls, again.results()[-1].reward) == (7, 0.25)
    assert again.audit().clean


def test_an_imported_result_can_be_corrected(storage: str) -> None:
    study = begun(storage, max_pulls=30)
    study.add("a2", 0.2, 0.5, {"safety1": -0.1, "safety2": 0.0}, not_because_of_result=True)
    driven(study, 4)
    study.correct(1, reward=0.4, **WHO)
    assert study.results()[0].reward == 0.4
    study.void(1, **WHO)
    assert study.pulls == 4
    assert sf.load_study("power", storage).audit().clean
    driven(study, 100)
    assert study.pulls == 30 or study.outcome == "certified"


# -- travelling -------------------------------------------------------------------------------------------------------


def test_corrections_travel_with_the_study(storage: str, tmp_path: Path) -> None:
    study = with_typo(storage)
    study.correct(5, safety=truth(study, 5)["safety"], **WHO)
    study.void(7, **WHO)
    study.export(tmp_path / "power.study")
    there = sf.import_study(tmp_path / "power.study", f"sqlite:///{tmp_path / 'there.db'}")
    assert there.corrections == study.corrections
    assert there.results() == study.results()
    np.testing.assert_array_equal(learned(there), learned(study))
    assert there.audit().clean


def test_warm_start_takes_the_corrected_values_and_leaves_out_the_voided(storage: str) -> None:
    study = with_typo(storage)
    study.correct(5, safety=truth(study, 5)["safety"], **WHO)
    study.void(7, **WHO)
    after = sf.create_study(arena()[1], name="after", storage=storage, warm_start=study, seed=4)
    assert [row[1:] for row in after.results()] == [row[1:] for row in study.results()]


def test_two_who_have_the_study_open_know_the_same(storage: str) -> None:
    study = with_typo(storage)
    other = sf.load_study("power", storage)
    assert other.pulls == 12
    pull = other.ask(worker="other")
    study.correct(5, safety=truth(study, 5)["safety"], **WHO)
    assert other.corrections == study.corrections
    if pull.number in [each.number for each in other.open_pulls]:
        other.tell(pull, **measured(pull))
    np.testing.assert_array_equal(learned(other), learned(study))


def test_workers_who_tell_while_another_corrects_lose_nothing(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'studies.db'}"
    begun(address)

    def work(name: str) -> int:
        study, done = sf.load_study("power", address), 0
        for _ in range(8):
            pull = study.ask(worker=name)
            try:
                study.tell(pull, **measured(pull))
                done += 1
            except Recalled:
                pass
        return done

    def mend() -> int:
        study, done = sf.load_study("power", address), 0
        while done < 4:
            told = study.results()
            if len(told) > done:
                row = told[done]
                study.correct(row.number, reward=row.reward + 0.001, **WHO)
                done += 1
        return done

    with ThreadPoolExecutor(4) as pool:
        told = [pool.submit(work, f"worker {i}") for i in range(3)]
        mended = pool.submit(mend)
        counts = [each.result() for each in told]
    assert mended.result() == 4
    study = sf.load_study("power", address)
    assert len(study.results()) == sum(counts)
    assert len(study.corrections) == 4
    assert study.audit().clean
    np.testing.assert_array_equal(learned(study), taught(study, [row[1:] for row in study.results()][: study.pulls]))
