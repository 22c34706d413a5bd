"""`surefoot study history`: the rows of `study.history`, in every format, on standard output or in a file."""

import csv
import io
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import surefoot as sf
from surefoot.cli import main
from surefoot.problem.problem import Problem

STORAGE = "sqlite:///lab.db"


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pumps: str) -> sf.Study:
    """A study with results, an open pull, a correction, and words that trouble a CSV file."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SUREFOOT_STORAGE", STORAGE)
    Path("pumps.toml").write_text(pumps)
    study = sf.create_study(Problem.load("pumps.toml"), name="pumps", storage=STORAGE)
    pulls = study.ask(4, worker='"north", or =1+1')
    study.tell(pulls[0], reward=0.25, safety=5.125)
    study.tell(pulls[1], reward=1e-7, safety=5.0)
    study.fail(pulls[2], "a, b; \N{SNOWMAN}", not_because_of_result=True)
    study.correct(1, reward=0.1 + 0.2, reason="typed wrong", by="Ada")
    return study


@pytest.fixture
def here(study: sf.Study, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """What a command line does."""

    def typed(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        status = main(["study", "history", *words])
        return status, *capsys.readouterr()

    return typed


def wanted(study: sf.Study) -> list[dict[str, Any]]:
    """The rows as JSON has them."""
    found = json.loads(study.history.to_json(orient="records", double_precision=15, date_unit="us", date_format="iso"))
    for row, number in zip(found, study.history["reward"].tolist(), strict=True):
        row["reward"] = None if pd.isna(number) else number  # to the last digit
    return found


def test_csv_goes_to_standard_output_and_holds_every_value(study: sf.Study, here: Any) -> None:
    status, out, err = here("pumps")
    assert (status, err) == (0, "")
    rows = list(csv.DictReader(io.StringIO(out)))
    frame = study.history
    assert list(rows[0]) == list(frame.columns)
    assert [float(row["reward"]) if row["reward"] else None for row in rows] == [0.1 + 0.2, 1e-7, None, None]
    assert [row["worker"] for row in rows] == ['"north", or =1+1'] * 4  # as it is, formula or not
    assert rows[2]["reason"] == "a, b; \N{SNOWMAN}"
    assert rows[0]["changes"] == frame["changes"][0] != ""
    assert rows[3]["told_at"] == ""
    assert rows[0]["told_at"] == frame["told_at"][0].strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    assert [row["imported"] for row in rows] == ["false"] * 4


def test_json_is_one_document_and_jsonl_an_object_on_each_line(study: sf.Study, here: Any, strict_json: Any) -> None:
    document = strict_json(here("pumps", "--json")[1])
    assert document["history"] == wanted(study)
    assert (document["study"], document["warnings"]) == ("pumps", [])
    assert strict_json(here("pumps", "--format", "json")[1]) == document
    lines = here("pumps", "--format", "jsonl")[1].splitlines()
    assert [strict_json(line) for line in lines] == document["history"]


def test_parquet_holds_the_frame(study: sf.Study, here: Any) -> None:
    status, out, _ = here("pumps", "--out", "pumps.parquet")
    assert (status, out) == (0, "4 pulls of pumps: pumps.parquet\n")
    both = pd.read_parquet("pumps.parquet"), study.history
    found, frame = (each.astype(object).where(each.notna(), None) for each in both)
    pd.testing.assert_frame_equal(found, frame)
    assert here("pumps", "--format", "parquet")[0] == 2
    assert here("pumps", "--out", "other.db", "--format", "parquet")[0] == 0


@pytest.mark.parametrize("ending", ["csv", "json", "jsonl", "parquet"])
def test_a_file_is_replaced_only_by_force(here: Any, ending: str, strict_json: Any) -> None:
    name = f"pumps.{ending}"
    Path(name).write_text("mine")
    status, _, err = here("pumps", "--out", name)
    assert status == 2
    assert "add --force" in " ".join(err.split())
    assert Path(name).read_text() == "mine"
    done = strict_json(here("pumps", "--out", name, "--force", "--json")[1])
    assert (done["path"], done["format"], done["pulls"]) == (name, ending, 4)
    assert Path(name).read_bytes() != b"mine"
    if ending != "parquet":
        assert Path(name).read_text() == here("pumps", "--format", ending)[1].replace(',\n  "warnings": []', "")


def test_what_cannot_be_is_refused(here: Any, strict_json: Any) -> None:
    for words, field in {
        ("--format", "xml"): "--format", ("--out", "a.xlsx"): "--out", ("--format", "csv", "--json"): "--json",
        ("--out", "no/folder.csv"): "--out",
    }.items():  # fmt: skip
        status, out, err = here("pumps", *words)
        assert status == 2, words
        assert field in out + err
    assert here("nobody")[0] != 0


def test_an_empty_study_has_columns_and_no_rows(here: Any, study: sf.Study) -> None:
    sf.create_study(study.problem, name="empty", storage=STORAGE)
    assert here("empty")[1] == ",".join(study.history.columns) + "\n"
    assert json.loads(here("empty", "--json")[1])["history"] == []
    assert here("empty", "--format", "jsonl")[1] == ""
    assert here("empty", "--out", "empty.parquet")[0] == 0
    assert pd.read_parquet("empty.parquet").empty


def test_damaged_events_are_named(here: Any, study: sf.Study) -> None:
    for change in (
        "number = 77 WHERE sequence = 2",
        "safety = x'00' WHERE kind = 'tell'",
        "arm = 9 WHERE sequence = 1",
    ):
        with closing(sqlite3.connect("lab.db")) as connection, connection:
            connection.execute(f"UPDATE surefoot_events SET {change}")
        status, out, err = here("pumps")
        assert status not in (0, 1)
        assert out == ""
        assert "cannot be read" in " ".join(err.split())


def test_without_the_extra_parquet_is_refused_by_name(study: sf.Study, tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from surefoot.cli import main\n"
        "sys.exit(main(['study', 'history', 'pumps', '--out', 'never.parquet']))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, env=os.environ)
    assert done.returncode != 0
    assert "frames" in done.stderr
    assert not (tmp_path / "never.parquet").exists()


def test_it_needs_neither_the_compiler_nor_frames(study: sf.Study, tmp_path: Path) -> None:
    code = (
        "import sys\nfrom surefoot.cli import main\nmain(['study', 'history', 'pumps'])\n"
        "print([name for name in ('numba', 'pandas', 'pyarrow') if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, env=os.environ)
    assert done.stderr == "[]\n"
