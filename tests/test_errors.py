"""Errors carry their facts, say them in one paragraph, and survive a trip to another process."""

import json
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from surefoot import errors
from surefoot.errors import (
    ABSENT,
    Alarmed,
    AlreadyTold,
    BudgetOpen,
    Finished,
    Frozen,
    Held,
    Implausible,
    InvalidInput,
    KeyUsed,
    MissingExtra,
    NotEnoughMemory,
    NotFrozen,
    NotOpen,
    NotTold,
    NumericalBreakdown,
    OtherVersion,
    PolicyNeeded,
    PullClosed,
    PullHeld,
    Recalled,
    StorageBusy,
    StorageDamaged,
    StorageError,
    StorageFull,
    StorageIncomplete,
    StorageNewer,
    StorageOutdated,
    StorageReadOnly,
    StorageUnavailable,
    StorageUncertain,
    StudyDiffers,
    StudyExists,
    StudyNotFound,
    SurefootError,
    WorkersLost,
)

ALL = [
    InvalidInput("epsilon", -1.0, "must be a finite number, at least 0", "Choose how far the answer may be."),
    InvalidInput("epsilon", ABSENT, "is required", "Choose how far the answer may be."),
    MissingExtra("pandas", "frames"),
    WorkersLost("dask", 3, 12, "a worker was killed"),
    Finished("certified", 4254),
    BudgetOpen(500, [8, 9]),
    NotOpen(7, [8]),
    NotOpen(7, []),
    NotOpen("x", range(2, 2000)),
    NotEnoughMemory(400_000, 10**12, 10**10),
    NumericalBreakdown("the refresh", 1),
    StudyNotFound("power", "sqlite:///lab.db", ["powder", "pumps"]),
    StudyNotFound("power", "sqlite:///lab.db"),
    StudyExists("power", "sqlite:///lab.db"),
    KeyUsed("7d1c", "tell, with other values"),
    StudyDiffers("power", "problem"),
    Frozen("power", "smoke in the lab.", "Ada"),
    Alarmed("reward: its effect is not proportional to the level"),
    PolicyNeeded("power", "in-turn", "in_turn:InTurn"),
    OtherVersion("power", ["policy safe-gap is of version 1, and 2 is here"]),
    NotFrozen("power"),
    AlreadyTold(7, {"reward": 1.0, "safety": [0.5]}, {"reward": 2.0, "safety": [0.5]}),
    PullClosed(7, "stale", "nobody came back"),
    PullClosed(7, "voided", "the wrong bottle"),
    PullClosed(7, "stale", "nobody came back", True),
    Recalled(7, "recalled", "its level is not certified any more"),
    NotTold(7, "open"),
    NotTold(7, "voided"),
    NotTold(7, "stale"),
    Implausible(7, "pump A", 0.25, ["pressure = 56, where 5 to 8 was to be expected"], True, True),
    Implausible(None, "pump A", 0.25, ["reward = 56, where 5 to 8 was to be expected"], False, False),
    Held(7, "pressure = 56, where 5 to 8 was to be expected", "north", True),
    Held(7, "reward = 56, where 5 to 8 was to be expected", None, False),
    PullHeld(7, "pressure = 56, where 5 to 8 was to be expected"),
    *(
        kind("sqlite:///lab.db", "does not do this (disk I/O error)")
        for kind in (
            StorageBusy, StorageDamaged, StorageError, StorageFull, StorageNewer, StorageOutdated, StorageReadOnly,
            StorageUnavailable, StorageIncomplete, StorageUncertain,
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize("error", ALL, ids=lambda error: type(error).__name__)
def test_an_error_survives_pickling_with_its_facts(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)


def test_every_error_survives_the_pickling_of_dask_too():
    program = (
        "import pickle, sys, tblib.pickling_support; found = pickle.load(sys.stdin.buffer); "
        "tblib.pickling_support.install(); again = pickle.loads(pickle.dumps(found)); "
        "print([str(a) for a, b in zip(again, found) if type(a) is not type(b) or str(a) != str(b)])"
    )
    done = subprocess.run([sys.executable, "-c", program], input=pickle.dumps(ALL), capture_output=True, check=True)
    assert done.stdout == b"[]\n"


@pytest.mark.parametrize("error", ALL, ids=lambda error: type(error).__name__)
def test_an_error_is_one_paragraph(error):
    assert isinstance(error, SurefootError)
    assert "\n" not in str(error)
    assert 20 < len(str(error)) < 400


def test_a_refused_input_reads_as_field_value_rule_and_remedy():
    error = InvalidInput("epsilon", np.float64(-1.0), "must be at least 0.", "Choose 0.01.")
    assert str(error) == "epsilon = -1.0: must be at least 0. Choose 0.01."
    assert isinstance(error, ValueError)


def test_a_missing_input_is_said_to_be_missing():
    assert str(InvalidInput("delta", ABSENT, "is required", "Choose 0.05.")).startswith(
        "delta is not given: is required."
    )


def test_a_missing_extra_says_what_to_install():
    error = MissingExtra("pandas", "frames")
    assert str(error) == "pandas is not installed: pip install 'surefoot[frames]'"
    assert isinstance(error, ImportError)


def test_not_open_names_the_pulls_that_are():
    assert "Only pull 8" in str(NotOpen(7, [8]))
    assert "ask() first" in str(NotOpen(7, ()))
    assert "(2, 3)" in str(NotOpen(7, iter([2, 3])))


class Unprintable:
    def __repr__(self):
        raise RuntimeError


@pytest.mark.parametrize(
    "value",
    [10**5000, np.zeros((300, 300)), "x" * 10**6, list(range(10**5)), Unprintable(), "a\nb", {"k": {"k": {"k": {}}}}],
    ids=["integer", "array", "text", "list", "unprintable", "lines", "nested"],
)
def test_any_value_is_shown_short_and_on_one_line(value):
    text = errors.shown(value)
    assert "\n" not in text
    assert 0 < len(text) <= 160


def test_warnings_share_a_base():
    for kind in WARNINGS:
        assert issubclass(kind, errors.SurefootWarning)
        assert issubclass(kind, UserWarning)


# --- for programs


def kinds(base):
    """The class and every class of this package that is made from it."""
    return {kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, base)}


WARNINGS = sorted(kinds(errors.SurefootWarning), key=lambda kind: kind.__name__)


class Endless:
    def tolist(self):
        return self


KEYS = {"kind", "message", "field", "value", "remedy", "facts"}


def test_every_error_of_the_package_is_tested_here():
    assert {type(error) for error in ALL} == kinds(SurefootError) - {SurefootError}
    assert len(WARNINGS) > 5


@pytest.mark.parametrize("error", [*ALL, SurefootError("the words")], ids=lambda error: type(error).__name__)
def test_the_document_of_an_error_holds_its_kind_its_message_and_its_facts(error):
    found = json.loads(json.dumps(error.to_dict(), allow_nan=False))
    assert set(found) == KEYS
    assert found["kind"] == type(error).__name__
    assert found["message"] == str(error)
    assert set(found["facts"]) == set(vars(error))
    for name, value in vars(error).items():
        expected = None if value is ABSENT else list(value) if isinstance(value, tuple) else value
        assert found["facts"][name] in (expected, errors.shown(value))
    for name in ("field", "value", "remedy"):
        assert found[name] == (None if name == "value" and error.args[1:2] == (ABSENT,) else getattr(error, name, None))


@pytest.mark.parametrize("kind", WARNINGS)
def test_the_document_of_a_warning_holds_its_kind_and_its_message(kind):
    assert kind("Watch\nout.").to_dict() == {
        "kind": kind.__name__, "message": "Watch out.", "field": None, "value": None, "remedy": None, "facts": {}
    }  # fmt: skip


@pytest.mark.parametrize(
    ("value", "fact"),
    [
        (np.float64(-1.0), -1.0), (np.array([1, 2]), [1, 2]), (float("nan"), None), (Path("a"), "a"), (ABSENT, None),
        ((1, "x"), [1, "x"]), ("\ud800", "\ud800"),
    ],
    ids=str,
)  # fmt: skip
def test_a_fact_is_plain_data(value, fact):
    document = InvalidInput("field", value, "is wrong", "Mend it.").to_dict()
    assert json.dumps(document, allow_nan=False)
    assert document["value"] == document["facts"]["value"] == fact


@pytest.mark.parametrize(
    "value",
    [10**5000, np.zeros((300, 300)), "x" * 10**6, {"k": {1.5}}, Unprintable(), Unprintable, Endless(), iter([])],
    ids=["integer", "array", "text", "set", "unprintable", "class", "endless", "iterator"],
)
def test_a_fact_that_is_large_or_no_data_is_one_short_line(value):
    document = InvalidInput("field", value, "is wrong", "Mend it.").to_dict()
    assert json.dumps(document, allow_nan=False)
    assert document["value"] == document["facts"]["value"] == errors.shown(value)


def test_a_value_that_holds_itself_is_told_too():
    ring = []
    ring.append(ring)
    assert InvalidInput("field", ring, "is wrong", "Mend it.").to_dict()["value"] == errors.shown(ring)


def test_notes_are_part_of_the_message_and_no_facts():
    error = Finished("certified", 3)
    error.add_note("while reading p.toml")
    assert error.to_dict()["message"] == f"{error} (while reading p.toml)"
    assert error.to_dict()["facts"] == {"outcome": "certified", "pulls": 3}
