"""Many pulls at once: bounded, with one gap, and chosen while others work on the study."""

from pathlib import Path
from typing import Any

import pytest
from small_studies import begun, driven, measured

import surefoot as sf
from surefoot.errors import InvalidInput
from surefoot.live.pulls import MOST_AT_ONCE
from surefoot.storage import engines


def test_a_question_for_more_than_the_cap_is_refused_by_name(tmp_path: Path) -> None:
    study = begun(f"sqlite:///{tmp_path / 'a.db'}")
    for asked in (study, sf.Session(study.problem)):
        with pytest.raises(InvalidInput, match="1,000 pulls that are given at once"):
            asked.ask(MOST_AT_ONCE + 1)
        with pytest.raises(InvalidInput, match=r"at least 1. For example 4"):
            asked.ask(0)
    assert study.status().asked == 0
    assert len(study.ask(MOST_AT_ONCE)) == MOST_AT_ONCE


def test_never_more_than_the_budget_are_given(tmp_path: Path) -> None:
    study = begun(f"sqlite:///{tmp_path / 'a.db'}", max_pulls=7)
    assert [len(study.ask(4)), len(study.ask(400))] == [4, 3]


def test_pulls_that_are_asked_for_together_show_one_gap(tmp_path: Path) -> None:
    study = driven(begun(f"sqlite:///{tmp_path / 'a.db'}"), 20)
    session = sf.Session(study.problem, seed=4)
    for _ in range(20):
        pull = session.ask()
        session.tell(pull, **measured(pull))
    for given, gap in ((study.ask(6), study.status().gap), (session.ask(6), session.gap)):
        assert {pull.gap for pull in given} == {gap}
        assert gap is not None


def test_nobody_waits_while_many_pulls_are_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever tells a result in the middle of the choice is not kept waiting, and the choice is made anew."""
    from surefoot.live.learner import Learner

    monkeypatch.setattr(engines, "PATIENCE", 0.2)  # seconds until who waits gives up
    storage = f"sqlite:///{tmp_path / 'a.db'}"
    study, other = begun(storage), sf.load_study("power", storage)
    first, second = other.ask(2)
    told: list[int] = []
    choose = Learner.choose

    def interrupted(learner: Learner, *words: Any) -> Any:
        if learner is study._handle._ledger.learner and len(told) < 2:  # type: ignore[union-attr]
            waiting = (first, second)[len(told)]
            told.append(waiting.number)
            other.tell(waiting, **measured(waiting))
        return choose(learner, *words)

    monkeypatch.setattr(Learner, "choose", interrupted)
    given = study.ask(5)
    assert told == [1, 2]
    assert [pull.number for pull in given] == [3, 4, 5, 6, 7]
    assert study.audit().clean


def test_who_always_comes_too_late_is_given_fewer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from surefoot.live.learner import Learner

    storage = f"sqlite:///{tmp_path / 'a.db'}"
    study, other = begun(storage), sf.load_study("power", storage)
    choose = Learner.choose

    def interrupted(learner: Learner, open_pulls: Any, n: int = 1) -> Any:
        if n > 1:
            other.freeze("smoke", "Ada")
            other.release("mended", "Ada")
        return choose(learner, open_pulls, n)

    monkeypatch.setattr(Learner, "choose", interrupted)
    assert len(study.ask(8)) == 1
    assert study.audit().clean
