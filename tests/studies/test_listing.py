"""The list of studies: one that cannot be read is named, and hides no other."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from small_studies import begun

import surefoot as sf
from surefoot.errors import UnreadableWarning
from surefoot.studies.integrity import check_storage

DAMAGE = {
    "policy": ("not json", "[]", "[" * 100_000, '{"name": 7}', '{"name": "\x1b[2J"}', 7, b"\xff", "null"),
    "created_at": (10**30, -(10**18), "yesterday", 1e300, b"\x00", b"\xff"),
    "created_by": (b"\xff\xfe", "a\x07", "\x1b]0;owned\x07"),
    "fold": ("sideways", b"\xff", 3),
    "name": ("a\x1b[2Jb", "b\nstudy c", b"\xff\xfe", "\x9b31m", "\ud7ff\u2028"),
}


@pytest.mark.parametrize(("column", "value"), [(column, value) for column in DAMAGE for value in DAMAGE[column]])
def test_one_bad_study_hides_no_other(tmp_path: Path, column: str, value: object) -> None:
    storage = f"sqlite:///{tmp_path / 'some.db'}"
    for name in ("first", "last", "middle"):
        begun(storage, name)
    with closing(sqlite3.connect(tmp_path / "some.db")) as connection, connection:
        content = "CAST(? AS TEXT)" if isinstance(value, bytes) else "?"  # which need not be text for that
        held = value if not isinstance(value, int) or abs(value) < 2**63 else float(value)
        connection.execute(f"UPDATE surefoot_studies SET {column} = {content} WHERE name = 'last'", [held])
    with pytest.warns(UnreadableWarning) as warned:
        found = sf.list_studies(storage)
    (said,) = [str(each.message) for each in warned]
    assert said.isprintable()
    (odd,) = [row for row in found if row["unreadable"]]
    assert {"first", "middle"} == {row["name"] for row in found if row is not odd}
    assert all(row["policy"] == "safe-gap" and row["events"] == 0 for row in found if row is not odd)
    assert column == "name" or odd["name"] == "last"
    assert any(odd["unreadable"] in fault for fault in check_storage(storage).faults)


def test_a_good_list_warns_of_nothing(storage: str) -> None:
    begun(storage, "good")
    (row,) = sf.list_studies(storage)
    assert row["unreadable"] is None
