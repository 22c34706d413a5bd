"""A whole reproduction with few runs: its files, its numbers, and its page that loads nothing from elsewhere."""

import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from surefoot.errors import InvalidInput, MissingExtra
from surefoot.reproduction import EXPERIMENTS, Reproduction, reproduce
from surefoot.reproduction.plans import planned

PNG, SVG = b"\x89PNG", b"<?xml"


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    return reproduce(out=tmp_path_factory.mktemp("reproduction"), runs=10, quick=True, seed=2, workers=2)


class References(HTMLParser):
    """Everything that a page would load or lead to."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        names = ("src", "href", "srcset", "data", "action", "poster")
        self.found += [value or "" for name, value in attrs if name in names]


def test_every_file_is_there(done: Reproduction) -> None:
    names = {path.name for path in done.files}
    figures = [name for name in EXPERIMENTS if name.startswith("fig-")]
    assert names == {
        "findings.json", "report.html", "report.md",
        *(f"runs-{name}.{kind}" for name in EXPERIMENTS for kind in ("csv", "parquet")),
        *(f"{name}.{kind}" for name in figures for kind in ("png", "svg")),
    }  # fmt: skip
    for path in done.files:
        content = path.read_bytes()
        assert len(content) > 1000
        assert content.startswith({".png": PNG, ".svg": SVG}.get(path.suffix, b""))


def test_the_page_loads_nothing_from_elsewhere(done: Reproduction) -> None:
    page = (done.folder / "report.html").read_text("utf-8")
    seen = References()
    seen.feed(page)
    assert len(seen.found) == 4  # the figures
    assert all(reference.startswith("data:image/svg+xml;base64,") for reference in seen.found)
    assert not seen.tags & {"script", "link", "iframe", "object", "embed"}
    assert not re.search(r"url\(|@import|https?://", page)


def test_the_report_has_table_figures_protocol_seed_versions_and_command(done: Reproduction) -> None:
    page = (done.folder / "report.html").read_text("utf-8")
    for word in (
        "surefoot reproduce all --quick --runs 10 --seed 2", "1,914.7", "4,254.2", "Protocol", "Seed 2.", "numba",
        "Figure a", "Figure b", "Figure c", "Figure d", "What can and what cannot be concluded",
    ):  # fmt: skip
        assert word in page, word


def test_rows_are_the_runs_of_every_setting(done: Reproduction) -> None:
    for name in EXPERIMENTS:
        cells = done.plan.cells(name)
        rows = pd.read_parquet(done.folder / f"runs-{name}.parquet")
        assert len(rows) == sum(cells.values())
        assert rows["pulls"].sum() == sum(int(done.played[cell].pulls.sum()) for cell in cells)
        text = pd.read_csv(done.folder / f"runs-{name}.csv")
        assert list(text.columns) == list(rows.columns)
        np.testing.assert_array_equal(text["suboptimality"], rows["suboptimality"])  # every digit is written


def test_findings_are_json_and_agree_with_the_runs(done: Reproduction) -> None:
    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is not JSON")

    found = json.loads((done.folder / "findings.json").read_text(), parse_constant=refuse)
    curve = found["fig-c"]["pulls"]["optimistic, dynamic"]
    rows = pd.read_parquet(done.folder / "runs-fig-c.parquet")
    chosen = rows.query("selection == 'optimistic' and levels == 'dynamic' and dim == 6")
    (point,) = [point for point in curve if point["x"] == 6]
    assert point["estimate"] == pytest.approx(chosen["pulls"].mean())
    assert point["lower"] < point["estimate"] < point["upper"]
    assert len(found["table1"]["safe_lingape"]) == 64


def test_conservative_static_answers_go_wrong_as_the_dimension_grows(done: Reproduction) -> None:
    wrong = {each.name: each.column("estimate") for each in done.findings.figures["fig-c"]["wrong"]}
    assert wrong["conservative, static"][-1] > 0.5
    assert (wrong["optimistic, dynamic"] == 0.0).all()


def test_one_experiment_by_itself_writes_its_own_files_only_and_the_same_again(tmp_path: Path) -> None:
    found = reproduce(["fig-b"], out=tmp_path, runs=10, quick=True, workers=1)
    assert {path.name for path in found.files} == {
        "fig-b.png", "fig-b.svg", "runs-fig-b.csv", "runs-fig-b.parquet", "findings.json", "report.md", "report.html"
    }  # fmt: skip
    assert found.findings.table is None
    assert "Table 1" not in (tmp_path / "report.md").read_text()
    before = {path: path.read_bytes() for path in found.files}
    seen: list[tuple[str, int, int]] = []
    reproduce(["fig-b"], out=tmp_path, runs=10, quick=True, watch=lambda *progress: seen.append(progress))
    assert seen == [("fig-b", 60, 60)]  # nothing was run again
    assert {path: path.read_bytes() for path in found.files} == before


def test_processes_reproduce_the_same(tmp_path: Path) -> None:
    for engine in ("threads", "processes"):
        reproduce(["fig-b"], out=tmp_path / engine, runs=10, quick=True, engine=engine, workers=2)
    found = {
        engine: {path.relative_to(tmp_path / engine): path.read_bytes() for path in (tmp_path / engine).rglob("*.*")
                 if path.is_file()}
        for engine in ("threads", "processes")
    }  # fmt: skip
    assert found["threads"] == found["processes"]


@pytest.mark.parametrize(
    ("missing", "extra"), [("matplotlib", "plots"), ("pandas", "frames"), ("pyarrow", "frames")]
)  # fmt: skip
def test_a_missing_extra_is_named_before_any_work(
    tmp_path: Path, missing: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(MissingExtra, match=rf"{missing} is not installed: pip install 'surefoot\[{extra}\]'"):
        reproduce(out=tmp_path / "new", runs=10, quick=True)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("runs", [9, 0, -3, True, 2.5, 10**9])
def test_a_bad_number_of_runs_is_refused(runs: int) -> None:
    with pytest.raises(InvalidInput, match="--runs"):
        planned(["all"], runs, False, 0)


def test_the_command_in_the_report_asks_for_the_same_plan() -> None:
    assert planned(["all"], None, False, 0).command == "surefoot reproduce all"
    assert (
        planned(["fig-d", "table1"], 20, True, 3).command
        == "surefoot reproduce table1 fig-d --quick --runs 20 --seed 3"
    )
    assert planned([], None, True, 0).experiments == tuple(EXPERIMENTS)
