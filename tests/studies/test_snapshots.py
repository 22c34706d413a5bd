"""Snapshots: who begins with one knows what all events say, and nothing is ever proven by one."""

import os
import shutil
import stat
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_studies import begun, driven, measured

import surefoot as sf
from scenes import arena
from surefoot.core.types import CERTIFIED
from surefoot.errors import AuditWarning, Frozen, SurefootError
from surefoot.live.snapshots import NotPlain, pack, unpack
from surefoot.studies import snapshots
from surefoot.studies.entries import StudyLedger

BUILT = {  # by the settings alone, or room to work in
    "problem", "policy", "guarantee", "_faced", "_replay", "work", "_one", "_expect", "_low", "_high",
    "_expected_before", "_read", "_watch", "_names", "where", "results", "_memory", "state",
}  # fmt: skip
WHO = {"reason": "it was misread", "by": "Ada"}


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where snapshots lie; one is written after every step."""
    monkeypatch.setattr(snapshots, "cache_root", lambda: tmp_path / "cache")
    monkeypatch.setattr(snapshots, "EVENTS", 1)
    monkeypatch.setattr(snapshots, "SHARE", float("inf"))
    return tmp_path / "cache" / "snapshots"


@pytest.fixture
def place(tmp_path: Path) -> str:
    """A storage in a file."""
    return f"sqlite:///{tmp_path / 'studies.db'}"


def ledger_of(study: sf.Study) -> StudyLedger:
    return study._handle.view(lambda ledger: ledger)


def opened_whole(study: sf.Study) -> StudyLedger:
    """The ledger of one who replays everything."""
    handle = sf.load_study(study.name, study._handle.store)._handle
    handle._ledger, handle._all = None, True
    return handle.view(lambda ledger: ledger)


def facts(value: Any) -> Any:
    """All that an object holds, down to the last attribute, in a form that can be compared."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, dict):
        return type(value).__name__, [(facts(key), facts(each)) for key, each in value.items()]
    if isinstance(value, list | tuple):
        return type(value).__name__, [facts(each) for each in value]
    if isinstance(value, set):
        return sorted(map(repr, value))
    if hasattr(value, "__dict__"):
        found = {name: facts(each) for name, each in vars(value).items() if name not in BUILT}
        if hasattr(value, "state"):
            found["state"] = facts(value.state.whole)
        if hasattr(value, "_memory"):
            found["memory"] = facts(value._memory.whole)
        return type(value).__name__, found
    return repr(value)


def assert_same(restored: StudyLedger, whole: StudyLedger) -> None:
    """The two know the same, and decide the same."""
    assert not restored.is_whole
    assert whole.is_whole
    (_, one), (_, other) = facts(restored), facts(whole)
    assert one.keys() == other.keys()
    for name in one:
        assert one[name] == other[name], name
    assert repr(restored.status()) == repr(whole.status())
    ahead = [ledger.learner.choose(ledger.anticipated, 4) for ledger in (restored, whole)]
    assert repr(ahead[0]) == repr(ahead[1])
    assert restored.rows_in_doubt() == whole.rows_in_doubt()


# -- what a snapshot holds --------------------------------------------------------------------------------------------


def anything(study: sf.Study, rng: np.random.Generator) -> None:
    """One step, whichever comes."""
    what = str(rng.choice([
        "ask", "ask", "ask", "tell", "tell", "tell", "tell", "typo", "confirm", "correct", "void", "cancel", "abort",
        "add", "table", "late", "freeze", "high",
    ]))  # fmt: skip
    waiting, told = list(study.open_pulls), study.results()
    if what == "ask":
        study.ask(int(rng.integers(1, 4)), worker=str(rng.integers(3)))
    elif what == "correct" and told:
        row = told[int(rng.integers(len(told)))]
        study.correct(row.number, reward=row.reward + float(rng.normal()) / 50, **WHO)
    elif what == "void" and told:
        study.void(told[int(rng.integers(len(told)))].number, **WHO)
    elif what == "add":
        study.add(1, 0.2, 0.1, [-0.05, -0.05], not_because_of_result=True, source="a notebook")
    elif what == "table":
        rows = [{"arm": 1, "level": 0.2, "reward": float(rng.normal()) / 50, "safety": [-0.05, -0.05]} for _ in range(3)]
        study.add(rows, order="measured", not_because_of_result=True)
    elif what == "freeze":
        study.freeze("a look at the pump", by="Ada")
    elif what == "late" and study.status().states["cancelled"]:
        frame = study.history
        number = int(frame.index[frame["state"] == "cancelled"][0]) if frame.index.name == "number" else 1
        study.tell(number, reward=0.1, safety=[-0.05, -0.05])
    elif waiting:
        pull = waiting[int(rng.integers(len(waiting)))]
        result: Any = dict(measured(pull))
        if what in ("typo", "confirm"):
            result["safety"] = [-30.0, 0.0] if rng.random() < 0.5 else [2.0, 0.0]
        if what == "high":
            result["level"] = min(1.0, pull.level + 0.01)
        if what == "cancel":
            study.cancel(pull, "closed", not_because_of_result=True)
        elif what == "abort":
            study.abort(pull, "it smelt", by="Ada")
        else:
            study.tell(pull, **result, confirm=what == "confirm")


@pytest.mark.parametrize("intake", ["by-number", "on-arrival"])
@pytest.mark.parametrize("seed", range(4))
def test_whoever_begins_with_a_snapshot_knows_what_all_events_say(seed: int, intake: Any) -> None:
    rng, name = np.random.default_rng(seed), f"any {seed} {intake}"
    study, compared = begun("memory", name, intake=intake, max_pulls=60), 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for step in range(120):
            try:
                anything(study, rng)
            except Frozen:
                study.release("it was a typo", by="Ada")
            except SurefootError:  # ended, held, implausible
                pass
            if step % 5 == 4 and ledger_of(study).sequence:
                study = sf.load_study(name, "memory")  # whoever goes on does so from the snapshot
                restored = ledger_of(study)
                assert_same(restored, opened_whole(study))
                compared += 1
    assert compared > 20
    assert study.audit().clean
    sf.delete_study(name, "memory")
