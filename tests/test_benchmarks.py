"""The tables that benchmarks put into the documentation are made of what they have measured."""

import importlib
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "storage.md"


@pytest.mark.parametrize("name", ["company", "journals"])
def test_a_table_about_storage_is_the_one_that_was_measured(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    _, _, rest = PAGE.read_text("utf-8").partition(f"<!-- {name}:start -->\n")
    shown, end, _ = rest.partition(f"\n<!-- {name}:end -->")
    assert end
    stored = ROOT / "benchmarks" / f"{name}.json"
    assert shown == importlib.import_module(name).markdown(json.loads(stored.read_text()))
