"""From a plan to a folder of runs and tables: what is missing is run by an engine, and everything is kept at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from surefoot.errors import MissingExtra
from surefoot.files import as_path
from surefoot.problem.checks import number
from surefoot.progress import one_bar
from surefoot.results import Runs
from surefoot.sweeping.cells import Cell
from surefoot.sweeping.engines import THREADS, check_engine, engine_of
from surefoot.sweeping.parquet import check_installed
from surefoot.sweeping.plans import Plan, plan_of
from surefoot.sweeping.room import check_room
from surefoot.sweeping.store import Store
from surefoot.sweeping.tables import CELLS, SUMMARY, settings_of, summary_of, with_other_plans, write_table
from surefoot.sweeping.work import Watch, carry_out, keeping

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Sweep:
    """A finished sweep: its plan, and the folder that holds every run.

    folder/runs         Parquet, one row per run; readers of Parquet make a column `cell` of its folders
    folder/cells        .parquet and .csv, one row per cell: its key in the column `cell`, and its setting; behind those
                        of the plan the cells of other plans that were run in the folder
    folder/summary      the rows of the plan with means, rates and exact intervals
    """

    plan: Plan
    folder: Path
    store: Store
    confidence: float = 0.95

    def __repr__(self) -> str:
        return f"Sweep({self.plan.size}, in {self.folder})"

    def __len__(self) -> int:
        return len(self.plan.cells)

    def runs(self, cell: int | Cell) -> Runs:
        """Every run of a cell, which is given by its place in the plan, from 0, or as it stands there."""
        chosen = cell if isinstance(cell, Cell) else self.plan.cells[cell]
        return self.store.load(chosen, self.plan.runs)

    def summary(self, confidence: float | None = None) -> list[dict[str, Any]]:
        """One table per cell: its setting, then means and rates with exact intervals."""
        level = self.confidence if confidence is None else confidence
        return [
            summary_of(cell, self.store.load(cell, self.plan.runs, per_arm=False), level) for cell in self.plan.cells
        ]

    def frame(self, confidence: float | None = None) -> pd.DataFrame:
        """`summary` as a data frame, one row per cell."""
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtra("pandas", "frames") from None
        return pd.DataFrame(self.summary(confidence))


def sweep(
    plan: str | Path | Mapping[str, Any] | Plan,
    *,
    out: str | Path,
    engine: str = THREADS,
    workers: int | None = None,
    scheduler: Any = None,
    runs: int | None = None,
    seed: int | None = None,
    confidence: float = 0.95,
    progress: bool = False,
    watch: Watch | None = None,
) -> Sweep:
    """Worlds x problems x policies x runs, as a plan says, kept run by run in the folder `out`.

    plan       a TOML or JSON file, the same as a table, or a `sweeping.Plan`; docs/sweeps.md has the form
    out        new, empty, or of an earlier sweep, which is then continued: what is there is not run again
    engine     "threads", "processes", "dask" or "ray"; every run is the same whichever it is
    workers    how many; all cores if nobody says, and those of the cluster if there is one
    scheduler  the address of a Dask or Ray cluster, or a Dask client; without it one is made on this machine
    runs, seed in place of the plan's
    watch      called with the runs that are done and the runs in all, as they come

    A worker that is lost costs the stretch of runs that it was at, which is run again. Ctrl-C and crashes keep what is
    finished, and the same call goes on from there, to the same numbers bit for bit.
    """
    check_engine(engine, workers, scheduler)
    check_installed()
    level = number("confidence", confidence, "For example 0.95.", above=0.0, below=1.0)
    folder = as_path("out", out)
    chosen = plan_of(plan, runs=runs, seed=seed)
    with keeping(folder):
        store = Store(folder, chosen.seed)
        done = Sweep(chosen, folder, store, level)
        with store.alone():
            check_room(store, chosen.counts)
            write_table(folder, CELLS, with_other_plans(folder, [settings_of(cell) for cell in chosen.cells]))
            total = len(chosen.cells) * chosen.runs
            with one_bar(progress, "runs", total) as advance:
                follow = watch or bar_of(advance)
                with engine_of(engine, workers, scheduler) as ready:
                    carry_out(store, chosen.counts, ready, follow)
            write_table(folder, SUMMARY, done.summary())
    return done


def bar_of(advance: Any) -> Watch:
    """What moves a bar that wants to be told how many more are done."""
    shown = 0

    def follow(done: int, total: int) -> None:
        nonlocal shown
        advance(done - shown)
        shown = done

    return follow
