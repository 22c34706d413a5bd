"""The tables that benchmarks put into the documentation are made of what they have measured."""

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "storage.md"


@pytest.mark.parametrize("name", ["company", "journals", "studies"])
def test_a_table_about_storage_is_the_one_that_was_measured(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    _, _, rest = PAGE.read_text("utf-8").partition(f"<!-- {name}:start -->\n")
    shown, end, _ = rest.partition(f"\n<!-- {name}:end -->")
    assert end
    stored = ROOT / "benchmarks" / f"{name}.json"
    assert shown == importlib.import_module(name).markdown(json.loads(stored.read_text()))


@pytest.mark.parametrize("words", [("studies.py", "200x4"), ("journals.py", "--smoke")], ids=lambda words: words[0])
def test_a_benchmark_of_storage_runs_small_and_writes_nothing(words: tuple[str, str]) -> None:
    script, *rest = words
    before = PAGE.read_bytes()
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / script), *rest], capture_output=True, text=True, timeout=500
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    found = report[rest[0]] if script == "studies.py" else report["wal"]
    assert found["ask_ms"] > 0.0
    assert found["tell_ms"] > 0.0
    assert PAGE.read_bytes() == before


@pytest.mark.parametrize("name", ["field", "field-paper"])
def test_a_table_of_the_field_is_the_one_that_was_measured(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    _, _, rest = (ROOT / "docs" / "field.md").read_text("utf-8").partition(f"<!-- {name}:start -->\n")
    shown, end, _ = rest.partition(f"\n<!-- {name}:end -->")
    field, stored = importlib.import_module("field"), json.loads((ROOT / "benchmarks/field.json").read_text())
    made = field.markdown(stored) if name == "field" else field.markdown_of_paper(stored["the paper's instance"])
    assert end
    assert shown == made


def test_the_table_of_pulls_without_limits_is_the_one_that_was_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    _, _, rest = (ROOT / "README.md").read_text("utf-8").partition("<!-- pulls-field:start -->\n")
    shown, end, _ = rest.partition("\n<!-- pulls-field:end -->")
    assert end
    pulls = importlib.import_module("pulls")
    stored = json.loads((ROOT / "benchmarks" / "pulls_field.json").read_text())
    assert shown == pulls.pulls_field.markdown(stored, pulls.SEED)


def test_the_tables_of_methods_that_know_limits_are_those_that_were_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    script, page = importlib.import_module("field_safe"), (ROOT / "docs" / "field.md").read_text("utf-8")
    stored = json.loads((ROOT / "benchmarks" / "field_safe.json").read_text())
    tables = {"field-safe": (script.ROWS, script.WORLDS), "field-rising": (script.RISING, script.BENDS)}
    for name, (rows, columns) in tables.items():
        _, _, rest = page.partition(f"<!-- {name}:start -->\n")
        shown, end, _ = rest.partition(f"\n<!-- {name}:end -->")
        assert end
        assert shown == script.markdown(stored, rows, columns)
        assert len(shown.splitlines()) == 2 + len(rows)
