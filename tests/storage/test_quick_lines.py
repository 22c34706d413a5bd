"""Lines that are put together quickly: each is the line that is hashed, or one that no event can have."""

import json
import struct
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.storage.chain import ChainBroken, chained, hashed, line_of, verified
from surefoot.storage.protocol import COLUMNS
from surefoot.storage.quick_lines import quick_line

ORIGIN = bytes(32)
ASKED = {
    "sequence": 1, "kind": "ask", "at": 5, "writer": 7, "number": 1, "step": 0, "arm": 2, "level": 0.1 + 0.2,
    "margin": -0.25, "phase": "decide", "leader": 0, "challenger": 1, "gap": 1e300, "worker": "Größe",
}  # fmt: skip
ALONE = {name: value for name, value in ASKED.items() if name not in ("leader", "challenger", "gap", "worker")}
TOLD = {
    "sequence": 1, "kind": "tell", "at": 6, "writer": 8, "number": 1, "step": 1, "level": 1.0, "reward": 1e-7,
    "safety": struct.pack("<2d", -0.0, 5e-324),
}  # fmt: skip
ONE_READING = TOLD | {"safety": struct.pack("<d", 0.1)}
USUAL = [ASKED, ALONE, TOLD, ONE_READING]
ODD = [
    None,
    0,
    1,
    True,
    -1.5,
    0.0,
    -0.0,
    float("nan"),
    float("inf"),
    "",
    "it's",
    'a"b',
    "decide",
    b"",
    bytes(8),
    b"123",
]


def row_of(event: dict[str, Any]) -> list[Any]:
    return [event.get(name) for name in COLUMNS]


def unsigned(event: dict[str, Any]) -> bytes:
    """The line of an event that was read from JSON."""
    return line_of({name: value + 0.0 if type(value) is float else value for name, value in event.items()})


def assert_sound(row: list[Any]) -> None:
    """The quick line has the hash of the event, or is not the line of any."""
    try:
        line = quick_line(row)
    except (TypeError, ValueError, struct.error):
        return  # which is looked at more closely
    if line is None:
        return
    try:
        if sha256(f"{ORIGIN.hex()}\n{line}".encode()).digest() == hashed(ORIGIN, row):
            return
    except (TypeError, ValueError, struct.error):  # what has no hash
        pass
    try:
        table = json.loads(line)
    except ValueError:
        return
    assert unsigned(table) != line.encode()


@pytest.mark.parametrize("event", USUAL)
def test_usual_events_have_a_quick_line_which_is_the_one_that_is_hashed(event: dict[str, Any]) -> None:
    row = row_of(event)
    line = quick_line(row)
    assert line is not None
    assert sha256(f"{ORIGIN.hex()}\n{line}".encode()).digest() == hashed(ORIGIN, row)


@pytest.mark.parametrize("event", USUAL)
@pytest.mark.parametrize("column", [name for name in COLUMNS if name != "hash"])
def test_whatever_is_changed_in_a_usual_event_breaks_the_chain(event: dict[str, Any], column: str) -> None:
    (written,) = chained(ORIGIN, [event])
    assert len(list(verified(ORIGIN, [row_of(written)]))) == 1
    place = COLUMNS.index(column)
    for value in ODD:
        row = row_of(written)
        if type(row[place]) is type(value) and row[place] == value:
            continue
        row[place] = value
        assert_sound(row)
        with pytest.raises(ChainBroken):
            list(verified(ORIGIN, [row]))


@pytest.mark.parametrize("value", [-0.0, 0.0, float("nan"), float("-inf"), 1e22, 5e-324])
def test_numbers_that_need_other_words_are_verified_as_well(value: float) -> None:
    events = [ASKED | {"gap": value}, TOLD | {"sequence": 2, "reward": value}]
    readings = struct.pack("<2d", value, value)
    events.append(TOLD | {"sequence": 3, "safety": readings})
    rows = [row_of(event) for event in chained(ORIGIN, events)]
    rows[0][COLUMNS.index("gap")] = value  # a database may keep the sign of a zero, or not
    assert len(list(verified(ORIGIN, rows))) == 3


@pytest.mark.parametrize("stored", [None, 5, 2**40, 1.5, "text", b"", bytes(32)])
def test_what_is_no_hash_breaks_the_chain(stored: object) -> None:
    (written,) = chained(ORIGIN, [TOLD])
    with pytest.raises(ChainBroken):
        list(verified(ORIGIN, [row_of({**written, "hash": stored})]))
    kept = [row_of({**written, "hash": kind(written["hash"])}) for kind in (bytearray, memoryview)]
    assert [len(list(verified(ORIGIN, [row]))) for row in kept] == [1, 1]


VALUES = st.one_of(st.none(), st.integers(-9, 2**63), st.floats(), st.text(max_size=4), st.booleans(), st.binary())


@given(st.sampled_from(USUAL), st.dictionaries(st.sampled_from(COLUMNS[:-1]), VALUES, max_size=4))
def test_no_event_has_the_quick_line_of_another(event: dict[str, Any], changes: dict[str, Any]) -> None:
    assert_sound(row_of({**event, **changes}))
