"""Errors carry their facts, say them in one paragraph, and survive a trip to another process."""

import pickle

import numpy as np
import pytest

from surefoot import errors
from surefoot.errors import (
    ABSENT,
    AlreadyTold,
    Finished,
    Frozen,
    InvalidInput,
    MissingExtra,
    NotFrozen,
    NotOpen,
    NumericalBreakdown,
    PullClosed,
    StorageBusy,
    StorageDamaged,
    StorageFull,
    StorageNewer,
    StorageOutdated,
    StorageReadOnly,
    StorageUnavailable,
    StudyDiffers,
    StudyExists,
    StudyNotFound,
    SurefootError,
)

ALL = [
    InvalidInput("epsilon", -1.0, "must be a finite number, at least 0", "Choose how far the answer may be."),
    InvalidInput("epsilon", ABSENT, "is required", "Choose how far the answer may be."),
    MissingExtra("pandas", "frames"),
    Finished("certified", 4254),
    NotOpen(7, [8]),
    NotOpen(7, []),
    NotOpen("x", range(2, 2000)),
    NumericalBreakdown("the refresh", 1),
    StudyNotFound("power", "sqlite:///lab.db", ["powder", "pumps"]),
    StudyNotFound("power", "sqlite:///lab.db"),
    StudyExists("power", "sqlite:///lab.db"),
    StudyDiffers("power", "problem"),
    Frozen("power", "smoke in the lab.", "Ada"),
    NotFrozen("power"),
    AlreadyTold(7, {"reward": 1.0, "safety": [0.5]}, {"reward": 2.0, "safety": [0.5]}),
    PullClosed(7, "stale", "nobody came back"),
    *(
        kind("sqlite:///lab.db", "does not do this (disk I/O error)")
        for kind in (
            StorageBusy, StorageDamaged, StorageFull, StorageNewer, StorageOutdated, StorageReadOnly, StorageUnavailable
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize("error", ALL, ids=lambda error: type(error).__name__)
def test_an_error_survives_pickling_with_its_facts(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)


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
    for kind in (errors.NeverStopsWarning, errors.NotSpanningWarning, errors.LevelAlarm):
        assert issubclass(kind, errors.SurefootWarning)
        assert issubclass(kind, UserWarning)
