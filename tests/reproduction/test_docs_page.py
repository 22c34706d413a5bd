"""docs/reproduction.md is what the package gives today."""

import re
from pathlib import Path

import pytest

from surefoot.reproduction import formatting as fmt
from surefoot.reproduction.cells import lingape_cell
from surefoot.reproduction.plans import DEFAULT_RUNS
from surefoot.reproduction.report import FIGURES
from surefoot.results import mean_interval
from surefoot.sweeping.cells import played

DOCS = Path(__file__).parent.parent.parent / "docs"


@pytest.fixture(scope="module")
def page() -> str:
    return (DOCS / "reproduction.md").read_text("utf-8")


def test_the_page_has_the_command_and_every_figure(page: str) -> None:
    assert "```text\nsurefoot reproduce all\n```" in page
    for name, title in FIGURES.items():
        assert f"Figure {name[-1]}: {title}" in page
        assert f"](images/reproduction/{name}.svg)" in page
        assert (DOCS / "images" / "reproduction" / f"{name}.svg").stat().st_size > 10_000


def test_links_lead_somewhere(page: str) -> None:
    links = re.findall(r"\]\(([^)]+)\)", page)
    assert {"math.md"} <= set(links)
    assert not [link for link in links if not (DOCS / link).exists()]


def test_the_first_row_is_what_the_package_gives_today(page: str) -> None:
    """After a change of the source that changes runs, `make reproduce` writes the page anew."""
    runs = played(lingape_cell(None), 0, DEFAULT_RUNS, 0, 2)
    assert f"| LinGapE | 1,914.7 | {fmt.mean_pulls(mean_interval(runs.pulls))} |" in page
