"""The bytes that are hashed: put together by hand for speed, and the same as JSON writes them."""

from hashlib import sha256
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import surefoot as sf
from scenes import arena
from surefoot.live.readings import packed
from surefoot.storage.chain import hashed, line_of
from surefoot.storage.protocol import COLUMNS

VALUES = st.one_of(
    st.none(), st.integers(-(2**63), 2**63 - 1), st.floats(), st.text(),
    st.booleans(),
)  # fmt: skip
READINGS = st.lists(st.floats(allow_nan=False), max_size=4)


@given(st.fixed_dictionaries({name: VALUES for name in COLUMNS if name not in ("safety", "hash")}), READINGS)
def test_the_hash_of_an_event_is_that_of_its_line_of_json(event: dict[str, Any], readings: list[float]) -> None:
    unsigned = {name: value + 0.0 if type(value) is float else value for name, value in event.items()}
    line = line_of({**unsigned, "safety": readings})
    stored = {**event, "safety": packed(readings), "hash": b"not hashed"}
    expected = sha256(b"ab" * 32 + b"\n" + line).digest()
    assert hashed(b"\xab" * 32, [stored[name] for name in COLUMNS]) == expected


@pytest.mark.parametrize("value", [b"bytes", object(), {1, 2}])
def test_what_json_cannot_write_has_no_hash(value: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        hashed(b"\0" * 32, [value if name == "reward" else None for name in COLUMNS])


def test_a_number_of_numpy_is_hashed_like_any_other() -> None:
    rows = ([each if name == "level" else None for name in COLUMNS] for each in (0.1, np.float64(0.1)))
    assert len({hashed(b"\0" * 32, row) for row in rows}) == 1


def test_a_study_with_negative_zeros_opens_again(storage: str) -> None:
    """SQLite keeps no sign of a zero: what was hashed with one would look changed for ever."""
    study = sf.create_study(arena()[1], name="zeros", storage=storage, seed=4)
    pull = study.ask()
    study.tell(pull, reward=-0.0, safety=[-0.0, 0.0], level=-0.0)
    again = sf.load_study("zeros", storage)
    assert again.audit().clean
    assert again.head == study.head
