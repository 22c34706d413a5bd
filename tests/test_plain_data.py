"""Whatever the package holds becomes JSON that every reader takes, and numbers come back bit for bit."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.plain_data import json_text, plain


class Point(NamedTuple):
    x: float
    y: Any


@dataclass(frozen=True)
class Part:
    name: str
    points: tuple[Point, ...]


class Told:
    def to_dict(self) -> dict[str, Any]:
        return {"gap": np.float64(np.inf), "parts": (Part("a", ()),)}


class Colour(Enum):
    RED = "red"


def test_arrays_become_lists_and_what_is_not_finite_becomes_null() -> None:
    table = {"a": np.array([1.0, np.nan]), "b": np.float64(np.inf), 3: (np.int64(4), None, True), "c": {"d": -np.inf}}
    assert plain(table) == {"a": [1.0, None], "b": None, "3": [4, None, True], "c": {"d": None}}
    assert plain(np.array([[1, 2], [3, 4]])) == [[1, 2], [3, 4]]
    assert plain(np.bool_(True)) is True


def test_records_become_dicts_at_any_depth() -> None:
    assert plain([Part("a", (Point(1.0, np.nan), Point(2.0, Colour.RED)))]) == [
        {"name": "a", "points": [{"x": 1.0, "y": None}, {"x": 2.0, "y": "red"}]}
    ]
    assert plain(Told()) == {"gap": None, "parts": [{"name": "a", "points": []}]}


def test_paths_and_times_become_text() -> None:
    assert plain([Path("a") / "b", datetime(2026, 1, 2, 3, tzinfo=UTC)]) == ["a/b", "2026-01-02T03:00:00+00:00"]


@pytest.mark.parametrize(
    "value", [object(), {1, 2}, b"bytes", 1j, print, Part, iter([])], ids=lambda value: type(value).__name__
)
def test_what_is_no_data_is_an_error_and_not_a_guess(value: Any) -> None:
    with pytest.raises(TypeError):
        plain({"deep": [value]})


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False) | st.integers()))
def test_numbers_come_back_bit_for_bit(numbers: list[float]) -> None:
    assert list(map(repr, json.loads(json_text({"n": numbers}))["n"])) == list(map(repr, numbers))


data = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(data, st.booleans())
def test_json_reads_back_as_the_same_data(value: Any, ascii_only: bool) -> None:
    text = json_text(value, ascii_only=ascii_only)
    assert json.loads(text) == value
    assert text.isascii() or not ascii_only


def test_json_is_laid_out_for_reading() -> None:
    table = {"name": "pumpe ü", "arms": {"a": [1.0, 0.5]}, "safety": [{"noise": 1}, {"noise": 2}], "none": {}, "no": []}
    assert json_text(table, ascii_only=False) == (
        '{\n  "name": "pumpe ü",\n  "arms": {\n    "a": [1.0, 0.5]\n  },\n  "safety": [\n    {\n      "noise": 1\n'
        '    },\n    {\n      "noise": 2\n    }\n  ],\n  "none": {},\n  "no": []\n}\n'
    )
