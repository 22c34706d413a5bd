"""Table 1 under every protocol: what is tried, and how exploration is taken out of the count."""

from math import isclose

import pytest

from surefoot.reproduction import paper
from surefoot.reproduction.cells import Cell, exploration_alone, lingape_cell
from surefoot.reproduction.findings import TableOne, table_one
from surefoot.reproduction.protocols import Played, row_of, table_cells
from surefoot.sweeping.cells import played

pytestmark = pytest.mark.filterwarnings("ignore::surefoot.errors.NeverStopsWarning")  # some are there to show it


@pytest.fixture(scope="module")
def runs() -> Played:
    return {cell: played(cell, 0, 10, 3, 2) for cell in table_cells()}


@pytest.fixture(scope="module")
def table(runs: Played) -> TableOne:
    return table_one(runs)


def test_every_combination_of_what_the_paper_leaves_open_is_tried(table: TableOne) -> None:
    assert len(table.lingape) == 2 * 2 * 5  # D, radius, no exploration or two levels counted or not
    assert len(table.safe) == 2**6  # D, two radii, levels, selection, counting
    assert len(table.protocols) == 2 * 2 * 3 * 2 * 2 * 2 * 2
    for protocol in table.protocols:
        a, b = protocol.lingape.cell.described(), protocol.safe.cell.described()
        assert (a["D"], a["reward_radius"]) == (b["D"], b["reward_radius"])
        assert protocol.lingape.counted == protocol.safe.counted or protocol.lingape.cell.explored == 0


def test_fitting_protocols_fit_in_every_number(table: TableOne) -> None:
    wide = table.fitting(0.99)
    assert {id(each) for each in table.fitting(0.95)} <= {id(each) for each in wide}
    for each in wide:
        for row in (each.lingape, each.safe):
            assert row.pulls_position.tail >= 0.005
            assert row.unsafe_position.tail >= 0.005


def test_safe_lingape_is_never_unsafe_and_lingape_is(table: TableOne) -> None:
    assert all(row.unsafe.estimate == 0.0 for row in table.safe)
    assert all((row.unsafe.estimate or 0.0) > 0.4 for row in table.lingape)


@pytest.mark.parametrize("level", [paper.EXPLORED_AT, 1.0])
def test_exploration_that_is_not_counted_is_taken_out_of_pulls_and_violations(level: float, runs: Played) -> None:
    cell: Cell = lingape_cell(level)
    counted, not_counted = (row_of(cell, way, paper.LINGAPE, runs) for way in (True, False))
    assert counted.pulls.estimate is not None
    assert not_counted.pulls.estimate is not None
    assert isclose(counted.pulls.estimate - not_counted.pulls.estimate, 800.0)
    later = runs[cell].unsafe_pulls.astype(float)
    if level == 1.0:
        later -= runs[exploration_alone(cell)].unsafe_pulls
    assert not_counted.unsafe.estimate == pytest.approx((later / (runs[cell].pulls - 800)).mean())
    assert 0.0 <= (not_counted.unsafe.estimate or 0.0) <= 1.0
