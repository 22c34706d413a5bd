"""The pages of the documentation that run: every cell works, in order, and the story it tells is true."""

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parent.parent / "docs"
CELL = re.compile(r"^```\{code-cell\} python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run_page(name: str) -> tuple[dict[str, Any], str]:
    """The names that the cells of the page leave behind, and what they print."""
    names: dict[str, Any] = {}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        for cell in CELL.findall((DOCS / name).read_text("utf-8")):
            exec(compile(cell, name, "exec"), names)
    return names, printed.getvalue()


def test_the_two_weeks_at_the_base_station_end_in_a_certificate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    names, printed = run_page("studies.md")
    study, problem, station = names["study"], names["problem"], names["station"]
    assert study.outcome == "certified"
    assert "killed by signal 9" in printed
    assert "40 results of the night are kept;" in printed
    assert "unsafe trials       0 of" in printed
    answer = study.recommendation
    assert not station.judge(problem).is_wrong(answer.arm, answer.level)
    assert study.pulls <= 2016
    assert study.audit().clean
    assert study.status().contradictions == []
