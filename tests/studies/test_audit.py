"""Reopening recomputes every decision: what was edited or decided by another version is named, and stays."""

import json
from pathlib import Path

import pytest
from small_studies import begun, driven, measured

import surefoot as sf
from forging import edit, forge
from surefoot.errors import AuditWarning, StorageDamaged
from surefoot.storage.maintenance import backup
from surefoot.studies.integrity import check_storage


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A study with pulls one by one, then side by side."""
    study = driven(begun(f"sqlite:///{tmp_path_factory.mktemp('original') / 'studies.db'}"), 20)
    for _ in range(3):
        for pull in study.ask(4):
            study.tell(pull, **measured(pull))
    return study.storage


@pytest.fixture
def study(original: str, tmp_path: Path) -> sf.Study:
    """A copy of it."""
    return sf.load_study("power", f"sqlite:///{backup(original, tmp_path / 'studies.db')}")


def test_a_study_that_nobody_edited_audits_clean(study: sf.Study) -> None:
    report = study.audit()
    assert report.clean
    assert (report.pulls, report.events) == (32, 64)
    assert report.statement == "32 pulls of 'power' recomputed, and each is the one that was due."
    assert check_storage(study.storage).sound


@pytest.mark.parametrize("number", [1, 11, 20, 23, 32])
def test_an_edited_decision_is_named_by_its_number_and_stays(study: sf.Study, number: int) -> None:
    forge(study, f"UPDATE surefoot_events SET level = level / 2 WHERE kind = 'ask' AND number = {number}")
    with pytest.warns(AuditWarning, match=f"pull {number} was "):
        again = sf.load_study("power", study.storage)
    found = again.audit().mismatches
    assert found[0].number == number
    assert found[0].level == 2 * found[0].stored_level
    assert again.history["asked_level"][number - 1] == found[0].stored_level
    assert again.status().mismatches == len(found)
    assert f"pull {number} was" in "\n".join(check_storage(study.storage).faults)


def test_an_edited_decision_is_told_in_the_units_of_the_dial(tmp_path: Path) -> None:
    problem = sf.worlds.limited().default_problem().with_(dial=sf.Dial("mg", 40), safe_level="8 mg")
    study = sf.create_study(problem, name="power", storage=f"sqlite:///{tmp_path / 'doses.db'}", seed=1)
    pull = study.ask()
    study.tell(pull, reward=0.1, safety=0.0)
    forge(study, "UPDATE surefoot_events SET level = level / 2 WHERE kind = 'ask' AND number = 1")
    with pytest.warns(AuditWarning, match="pull 1 was"):
        again = sf.load_study("power", study.storage)
    (found,) = again.audit().mismatches
    assert str(found) == f"pull 1 was {pull.name} at 4 mg (level 0.1), and {pull.name} at 8 mg (level 0.2) was due"
    assert json.loads(json.dumps(again.audit().to_dict()))["mismatches"][0]["stored_at"] == "4 mg (level 0.1)"


def test_an_edited_result_shows_in_the_decisions_after_it(study: sf.Study) -> None:
    forge(study, "UPDATE surefoot_events SET reward = reward + 3 WHERE kind = 'tell' AND number = 7")
    with pytest.warns(AuditWarning):
        again = sf.load_study("power", study.storage)
    assert min(mismatch.number for mismatch in again.audit().mismatches) > 7


def test_another_arm_is_a_mismatch_too(study: sf.Study) -> None:
    forge(study, "UPDATE surefoot_events SET arm = (arm + 1) % 4 WHERE kind = 'ask' AND number = 15")
    with pytest.warns(AuditWarning, match="pull 15 was "):
        sf.load_study("power", study.storage)


def test_a_handle_that_was_open_all_along_sees_the_edit_when_it_audits(study: sf.Study) -> None:
    edit(study, "UPDATE surefoot_events SET level = 0.01 WHERE kind = 'ask' AND number = 5")
    assert not study.audit().clean


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("DELETE FROM surefoot_events WHERE sequence = 9", "misses event 9"),
        ("DELETE FROM surefoot_events WHERE sequence = 1", "misses event 1"),
        ("UPDATE surefoot_events SET kind = 'wish' WHERE sequence = 9", "unknown kind 'wish'"),
        ("UPDATE surefoot_events SET number = 99 WHERE sequence = 9", "goes from pull 4 to pull 99"),
        ("UPDATE surefoot_events SET arm = 4 WHERE sequence = 9", "arm 4, which the problem does not have"),
        ("UPDATE surefoot_events SET arm = NULL WHERE sequence = 9", "arm None"),
        ("UPDATE surefoot_events SET level = NULL WHERE sequence = 9", "numbers of pull 5"),
        ("UPDATE surefoot_events SET level = 'x' WHERE sequence = 9", "pull 5"),
        ("UPDATE surefoot_events SET reward = NULL WHERE sequence = 10", "numbers of pull 5"),
        ("UPDATE surefoot_events SET reward = 'much' WHERE sequence = 10", "numbers of pull 5"),
        ("UPDATE surefoot_events SET level = 2.0 WHERE sequence = 10", "numbers of pull 5"),
        ("UPDATE surefoot_events SET safety = x'' WHERE sequence = 10", "numbers of pull 5"),
        ("UPDATE surefoot_events SET safety = NULL WHERE sequence = 10", "numbers of pull 5"),
        ("UPDATE surefoot_events SET number = 3, step = 2 WHERE sequence = 10", "closes pull 3, which is not open"),
        ("UPDATE surefoot_studies SET problem = '{}'", "cannot be read"),
        ("UPDATE surefoot_studies SET problem = 'x'", "cannot be read"),
        ("UPDATE surefoot_studies SET problem = replace(problem, '0.05', '0.06')", "not the one that it was begun"),
        ("UPDATE surefoot_studies SET policy = '{\"name\": \"luck\"}'", "cannot be read"),
        ("UPDATE surefoot_studies SET fold = 'chance'", "'chance'"),
        ("UPDATE surefoot_studies SET seed = -1", "cannot be read"),
        ("UPDATE surefoot_arms SET content = zeroblob(64)", "not those stored once"),
    ],
)  # fmt: skip
def test_what_cannot_have_happened_is_an_error_by_name_even_in_a_new_chain(
    study: sf.Study, statement: str, words: str
) -> None:
    forge(study, statement)
    with pytest.raises(StorageDamaged, match=words):
        sf.load_study("power", study.storage)
    assert not check_storage(study.storage).sound
