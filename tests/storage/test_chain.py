"""The bytes that are hashed are fixed for ever: they are computed here once more, from docs/chain.md alone."""

import json
import re
import struct
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import surefoot as sf
from surefoot.storage.chain import ChainBroken, chained, origin_of, verified
from surefoot.storage.protocol import COLUMNS, StudyRow

ROW = StudyRow(
    name="power", problem='{"a": 1}', fingerprint="f" * 64, policy='{"name": "safe-gap"}', seed=4, max_pulls=None,
    fold="order", alarm_level=0.01, created_at=1_700_000_000_000_000, created_by="0.1.0", unchained=0,
)  # fmt: skip
EVENTS: list[dict[str, Any]] = [
    {"sequence": 1, "kind": "ask", "at": 5, "writer": 7, "number": 1, "step": 0, "arm": 2, "level": 0.1 + 0.2,
     "margin": -0.0, "worker": "Größe"},
    {"sequence": 2, "kind": "tell", "at": 6, "writer": 8, "number": 1, "step": 1, "level": 1.0, "reward": 1e-7,
     "safety": struct.pack("<2d", -0.0, 5e-324)},
]  # fmt: skip


def written_down(before: str, table: dict[str, Any]) -> str:
    """The hash of an event, from what the page says."""
    line = json.dumps(table, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return sha256(f"{before}\n{line}".encode("ascii")).hexdigest()


def test_the_chain_is_the_one_that_is_written_down() -> None:
    settings = json.dumps(
        {"problem": '{"a": 1}', "fingerprint": "f" * 64, "policy": '{"name": "safe-gap"}', "seed": 4, "fold": "order",
         "alarm_level": 0.01, "created_at": 1_700_000_000_000_000, "created_by": "0.1.0", "unchained": 0, "arms": "d"},
        sort_keys=True, separators=(",", ":"),
    )  # fmt: skip
    origin = sha256(b"surefoot chain 1\n" + settings.encode("ascii")).hexdigest()
    assert origin_of(ROW, "d").hex() == origin
    first = written_down(origin, {**EVENTS[0], "margin": 0.0})
    second = written_down(first, {**EVENTS[1], "safety": [-0.0, 5e-324]})
    assert [event["hash"].hex() for event in chained(bytes.fromhex(origin), EVENTS)] == [first, second]
    assert (
        second == "0b2947ba34652d7915a5c0217985effc756bea9808aa4b2888e192c9f0a37b8c"
    )  # this very number, whatever a later version does


def test_a_name_is_not_in_the_chain_and_everything_else_is() -> None:
    assert origin_of(StudyRow(**{**vars(ROW), "name": "other"}), "d") == origin_of(ROW, "d")
    for field, value in vars(ROW).items():
        if field != "name":
            other = StudyRow(**{**vars(ROW), field: "x" if isinstance(value, str) else 12})
            assert origin_of(other, "d") != origin_of(ROW, "d"), field
    assert origin_of(ROW, "e") != origin_of(ROW, "d")


@pytest.mark.parametrize("column", [name for name in COLUMNS if name != "hash"])
def test_every_column_counts(column: str) -> None:
    origin = origin_of(ROW, "d")
    rows = [[event.get(name) for name in COLUMNS] for event in chained(origin, EVENTS)]
    assert len(list(verified(origin, rows))) == 2
    for value in (99, "x", b"12345678", b"1", None):
        place = COLUMNS.index(column)
        if rows[1][place] != value:
            changed = [rows[0], [*rows[1][:place], value, *rows[1][place + 1 :]]]
            with pytest.raises(ChainBroken):
                list(verified(origin, changed))


def test_the_page_verifies_an_export_with_the_standard_library_alone(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "chain.md").read_text("utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(code, "chain.md", "exec"), names)
    study = sf.create_study(sf.worlds.limited().default_problem(), name="größe", storage="memory", max_pulls=9)
    try:
        study.run(sf.worlds.limited().measure, max_pulls=4)
        study.freeze("smoke", "Ada", key="k")
        study.export(tmp_path / "a.study")
        assert names["head_of"](tmp_path / "a.study") == study.head
    finally:
        sf.delete_study("größe", "memory")
