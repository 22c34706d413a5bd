"""Many results that are put right one after the other: to open the study again, all is learned anew once."""

import numpy as np
import pytest
from small_studies import begun, driven, itself, measured

import surefoot as sf
from surefoot.live.revisable import RevisableLedger

WHO = {"reason": "a scale was off", "by": "Ada"}
FACTS = ["outstanding", "counts", "known", "raised", "due", "revisions", "confirmed", "mismatches", "end", "anew"]


def put_right(study: sf.Study, first: int, last: int) -> None:
    """The results of these pulls, one after the other; every fifth is taken out."""
    for number in range(first, last + 1):
        key = f"right {number}" if number % 3 == 0 else None
        if number % 5 == 0:
            study.void(number, **WHO, key=key)
        else:
            study.correct(number, reward=study.results()[0].reward + 0.01 * number, **WHO, key=key)


def assert_same_when_opened_again(study: sf.Study) -> None:
    again = sf.load_study(study.name, study.storage)
    mine, other = study._handle.view(itself), again._handle.view(itself)
    np.testing.assert_array_equal(mine.learner.state.whole, other.learner.state.whole)
    for fact in FACTS:
        assert getattr(mine, fact) == getattr(other, fact), fact
    assert again.status() == study.status()
    assert again.audit().clean


def test_corrections_that_follow_each_other_are_learned_from_at_once(
    storage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = driven(begun(storage), 40)
    put_right(study, 1, 20)
    driven(study, 3)
    put_right(study, 21, 26)
    study.ask()
    assert_same_when_opened_again(study)
    learned = list[int]()
    learn = RevisableLedger._learn_anew
    monkeypatch.setattr(
        RevisableLedger, "_learn_anew", lambda ledger, taken: (learned.append(taken), learn(ledger, taken))
    )
    study.audit()
    assert learned == [36, 38]


@pytest.mark.parametrize("intake", ["by-number", "on-arrival"])
def test_with_results_that_wait_each_correction_is_learned_from_in_its_turn(storage: str, intake: str) -> None:
    study = driven(begun(storage, intake=intake), 10)
    pulls = study.ask(4)
    for pull in pulls[1:]:
        study.tell(pull, **measured(pull))
    put_right(study, 1, 6)
    study.correct(pulls[2], reward=0.2, **WHO)
    study.void(pulls[3], **WHO)
    put_right(study, 7, 8)
    assert_same_when_opened_again(study)
    if pulls[0] in study.open_pulls:
        study.tell(pulls[0], **measured(pulls[0]))
    put_right(study, 9, 10)
    assert_same_when_opened_again(study)


def test_corrections_after_the_end_are_learned_from_in_their_turn(storage: str) -> None:
    study = begun(storage, max_pulls=12)
    driven(study, 11)
    first, *late = study.ask(1)
    study.tell(first, **measured(first))
    assert late == []
    assert study.outcome == "undecided"
    study.correct(3, reward=0.3, **WHO)
    study.void(4, **WHO)
    study.correct(5, reward=0.1, **WHO)
    assert_same_when_opened_again(study)
