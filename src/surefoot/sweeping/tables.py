"""The tables of a sweep: one row for each cell, its setting first, then what its runs say."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from surefoot.files import write_whole
from surefoot.results import Runs
from surefoot.sweeping.cells import Cell
from surefoot.sweeping.parquet import rows_in, table_as_bytes

CELLS, SUMMARY = "cells", "summary"


def settings_of(cell: Cell) -> dict[str, Any]:
    """The setting of a cell in columns; `cell` is its key, which the folders of its runs are named by."""
    plain = {"world": cell.world.name, "policy": cell.policy.name, "max_pulls": cell.max_pulls}
    return {"cell": cell.key, **plain, **cell.settings}


def summary_of(cell: Cell, runs: Runs, confidence: float) -> dict[str, Any]:
    """The setting, and means and rates with exact intervals, as `Runs.summary` has them; quantiles in columns."""
    found = runs.summary(confidence)
    quantiles = found.pop("pulls_quantiles") or {}
    shares = {f"pulls_{float(share):.0%}".rstrip("%"): pulls for share, pulls in quantiles.items()}
    return {**settings_of(cell), **{key: value for key, value in found.items() if key != "policy"}, **shares}


def with_other_plans(folder: Path, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The settings, and behind them those that other plans have left in the folder: runs of theirs are there too."""
    known = {row["cell"] for row in rows}
    earlier = [row for row in rows_in(folder / f"{CELLS}.parquet") if row.get("cell") not in known]
    return [*rows, *({key: value for key, value in row.items() if value is not None} for row in earlier)]


def write_table(folder: Path, name: str, rows: Sequence[dict[str, Any]]) -> None:
    """Writes the rows as Parquet and as CSV."""
    parquet, comma_separated = table_as_bytes(rows)
    write_whole(folder / f"{name}.parquet", parquet)
    write_whole(folder / f"{name}.csv", comma_separated)
