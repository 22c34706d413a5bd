"""What docs/stating-a-problem.md says of wrong statements is what was measured, and can be measured again."""

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture
def wrong(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The benchmark."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("wrong_statements")


def test_the_table_of_wrong_statements_is_the_one_that_was_measured(wrong: Any) -> None:
    rows = json.loads(wrong.STORED.read_text())
    _, _, rest = wrong.PAGE.read_text("utf-8").partition(wrong.START)
    assert rest.partition(wrong.END)[0] == wrong.markdown(rows)
    assert [(row["statement"], row["words"]) for row in rows] == [(each[0], each[1]) for each in wrong.cases()]


def test_what_the_page_on_stating_a_problem_says_of_wrong_statements_is_what_was_measured(wrong: Any) -> None:
    rows = {(row["statement"], row["words"]): row for row in json.loads(wrong.STORED.read_text())}
    runs = rows["all true", ""]["runs"]
    assert rows["all true", ""]["unsafe"] <= 0.05 * runs
    assert rows["noise of the limit", "twice as stated"]["alarms"] > 0.9 * runs
    assert rows["noise of the limit", "twice as stated"]["unsafe"] > 0
    assert rows["safe level", "0.9, and safe is 0.75"]["unsafe"] == runs
    assert rows["linear in the features", "one arm has 1.6 times the reward"]["wrong"] == runs
    bent = "pressure like level^1.3"
    assert rows["the same, max_step = 0.05", bent]["unsafe"] > rows["linear in the level", bent]["unsafe"]
    usual = rows["all true", ""]["trials"]
    for words in ("a tenth of the truth", "ten times the truth"):
        assert rows["norm, a hint", words]["wrong"] == rows["norm, a hint", words]["unsafe"] == 0
        assert rows["norm, a hint", words]["trials"] < 1.3 * usual


def test_one_case_of_wrong_statements_is_measured_again(wrong: Any) -> None:
    """A few runs of the worst case, as they were stored."""
    (case,) = [each for each in wrong.cases() if each.statement == "safe level"]
    found = wrong.measured(case, 10)
    assert found["unsafe"] == 10
    assert 0.0 < found["furthest"] <= 0.6 + 1e-9
