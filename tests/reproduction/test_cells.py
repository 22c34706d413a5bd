"""Cells: equal settings share their runs, and a run cut short is the beginning of the whole run."""

from dataclasses import replace

import numpy as np

from surefoot.reproduction import curves, paper, protocols
from surefoot.reproduction.cells import Cell, exploration_alone, lingape_cell, safe_cell
from surefoot.sweeping.cells import played


def test_equal_settings_have_equal_keys_whatever_experiment_asks_for_them() -> None:
    table = safe_cell("dynamic", "conservative")
    assert curves.exploration_cells()[curves.DYNAMIC][paper.EXPLORED].key == table.key
    assert curves.limit_cells()[curves.DYNAMIC][paper.LIMIT].key == table.key
    assert curves.dimension_cells()["conservative, dynamic"][paper.DIM].key == table.key
    assert table in protocols.table_cells()


def test_every_setting_of_every_experiment_has_a_key_of_its_own() -> None:
    cells: set[Cell] = {*protocols.table_cells()}
    for sweep in (curves.exploration_cells(), curves.limit_cells(), curves.violation_cells()):
        cells |= {cell for by_x in sweep.values() for cell in by_x.values()}
    settings = {replace(cell, share=1.0) for cell in cells}
    assert len({cell.key for cell in settings}) == len(settings) > 150


def test_quick_sweeps_are_parts_of_the_full_ones() -> None:
    for grid in (curves.LENGTHS, curves.LIMITS, curves.DIMS):
        assert set(grid.quick) <= set(grid.full)


def test_a_cell_cut_off_at_the_end_of_exploration_is_the_beginning_of_the_same_runs() -> None:
    whole = lingape_cell(1.0)
    beginning, runs = played(exploration_alone(whole), 3, 12, 7, 2), played(whole, 3, 12, 7, 2)
    assert (beginning.pulls == paper.EXPLORED * 4).all()
    assert (beginning.unsafe_pulls == beginning.pulls_per_arm[:, 1]).all()  # only arm 2 is unsafe at level 1
    assert (beginning.unsafe_pulls <= runs.unsafe_pulls).all()
    assert (beginning.pulls_per_arm <= runs.pulls_per_arm).all()


def test_static_levels_are_those_that_exploration_ends_with() -> None:
    frozen = safe_cell("static", "conservative")
    at_the_end = played(frozen, 0, 10, 1, 2).levels
    assert (played(exploration_alone(frozen), 0, 10, 1, 2).levels == at_the_end).all()
    assert (at_the_end[:, 1] > paper.EXPLORED_AT).all()


def test_long_runs_are_fewer_but_never_below_the_papers_ten() -> None:
    assert safe_cell("dynamic", "optimistic").runs_of(1000) == 1000
    assert safe_cell("dynamic", "optimistic", dim=12).runs_of(1000) == 500
    assert safe_cell("dynamic", "conservative", per_arm=5000).runs_of(1000) == 100
    assert safe_cell("static", "optimistic", dim=20).runs_of(20) == 10


def test_a_mean_of_ten_with_a_run_cut_off_is_above_what_is_printed() -> None:
    frozen = safe_cell("static", "optimistic")
    shortest_mean = (frozen.max_pulls - frozen.explored) / 10
    assert shortest_mean > paper.SAFE_LINGAPE.pulls
    assert np.isfinite(shortest_mean)
