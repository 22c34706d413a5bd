"""Results of pulls that had been given up, and the clock by which pulls grow old."""

from typing import Any

import pytest
from small_studies import begun, driven, measured

import surefoot as sf
from surefoot.errors import Frozen, PullClosed
from surefoot.studies import events

SURE: Any = {"not_because_of_result": True}


def stored(study: sf.Study, kind: str) -> list[dict[str, Any]]:
    return study._handle.look(lambda ledger, stored: [each for each in stored.all() if each["kind"] == kind])


def beyond(study: sf.Study, noises: float) -> list[float]:
    """Readings of which the last lies so many times the noise beyond its limit."""
    *others, last = study.problem.safety
    return [*(limit.reading(0.0) for limit in others), last.reading(last.eta0 - noises * last.noise)]


@pytest.mark.parametrize("close", ["cancel", "fail", "expire"])
def test_a_late_result_is_kept_and_does_not_count(storage: str, close: str) -> None:
    study = driven(begun(storage), 4)
    pull = study.ask()
    {"cancel": study.cancel, "fail": study.fail, "expire": study.expire}[close](pull, reason="no answer", **SURE)
    before = study.status()
    for _ in range(2):  # told again, it is there already
        with pytest.raises(PullClosed, match="kept as one that came late, and does not count"):
            study.tell(pull, **measured(pull))
    (kept,) = stored(study, events.LATE)
    assert (kept["number"], kept["reward"]) == (5, measured(pull)["reward"])
    again = sf.load_study("power", storage)
    assert (again.pulls, again.status().late, again.status().states) == (4, [5], before.states)
    assert not again.frozen
    assert again.audit().clean
    assert again.history["state"][4] != "told"
    assert again.ask().number == 6


def test_a_late_result_far_beyond_a_limit_freezes_the_study(storage: str) -> None:
    study = driven(begun(storage), 4)
    pull = study.ask()
    study.cancel(pull, "lost", **SURE)
    with pytest.raises(PullClosed):
        study.tell(pull, reward=0.1, safety=beyond(study, 6.0))
    again = sf.load_study("power", storage)
    assert again.frozen
    assert "pull 5 had been given up and was applied after all" in (again.status().frozen or {})["reason"]
    with pytest.raises(Frozen):
        again.ask()
    again.release("looked into it", "Ada")
    assert again.ask().number == 6


def test_a_late_result_a_little_beyond_a_limit_is_noise(storage: str) -> None:
    study = driven(begun(storage), 4)
    pull = study.ask()
    study.cancel(pull, "lost", **SURE)
    with pytest.raises(PullClosed):
        study.tell(pull, reward=0.1, safety=beyond(study, 2.0))
    assert not study.frozen


@pytest.mark.xdist_group("postgres")
def test_pulls_grow_old_by_the_clock_of_the_storage(database: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker whose clock is a day behind, or ahead, does not expire what others have just asked for."""
    study = begun(database())
    study.ask()
    real = events.time.time_ns
    for wrong in (86_400, -86_400):
        monkeypatch.setattr("time.time_ns", lambda wrong=wrong: real() + wrong * 1_000_000_000)
        pull = study.ask()
        assert study.expire(older_than=3600, **SURE) == []
        assert abs(stored(study, events.ASK)[-1]["at"] - real() // 1_000) < 3_600_000_000
        monkeypatch.undo()
        assert study.expire(older_than=3600, **SURE) == []
    assert study.expire(older_than=0, **SURE) == [1, 2, pull.number]
