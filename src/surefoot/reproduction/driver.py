"""From the names of experiments to files: what is missing is run, then tables, figures and the report are written."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from surefoot.errors import MissingExtra, NeverStopsWarning
from surefoot.files import as_path
from surefoot.reproduction.cells import Cell
from surefoot.reproduction.files import write_files
from surefoot.reproduction.findings import Findings, findings_of
from surefoot.reproduction.plans import ALL, Plan, planned
from surefoot.results import Runs
from surefoot.sweeping.engines import THREADS, Engine, check_engine, engine_of
from surefoot.sweeping.store import Store
from surefoot.sweeping.work import carry_out, keeping

KIND = "reproduction"  # of the folder
Watch = Callable[[str, int, int], None]  # experiment, runs done, runs in all


@dataclass(frozen=True)
class Reproduction:
    """Finished runs of every cell that was asked for, and the files that tell of them."""

    plan: Plan
    folder: Path
    played: dict[Cell, Runs]
    findings: Findings
    files: tuple[Path, ...]


def reproduce(
    experiments: Sequence[str] = (ALL,), *, out: str | Path, runs: int | None = None, quick: bool = False,
    seed: int = 0, engine: str = THREADS, workers: int | None = None, scheduler: str | None = None,
    watch: Watch = lambda experiment, done, total: None,
) -> Reproduction:  # fmt: skip
    """The experiments of the paper, run as often as asked for and written to a folder.

    The folder must be new, empty, or one of an earlier reproduction, which is then continued: runs that are there are
    not run again, and the result is the same bit for bit as that of one sitting. Ctrl-C loses a second of work.
    """
    plan = planned(experiments, runs, quick, seed)
    check_engine(engine, workers, scheduler)
    for package, extra in (("matplotlib", "plots"), ("pandas", "frames"), ("pyarrow", "frames")):
        if find_spec(package) is None:
            raise MissingExtra(package, extra)
    folder = as_path("out", out)
    with keeping(folder):
        store = Store(folder, plan.seed, KIND)
        done: dict[Cell, Runs] = {}
        with store.alone(), engine_of(engine, workers, scheduler) as ready:
            for name in plan.experiments:
                done |= carried_out(store, plan, name, ready, watch)
            found = findings_of(plan, done)
            return Reproduction(plan, folder, done, found, tuple(write_files(folder, plan, done, found)))


def carried_out(store: Store, plan: Plan, experiment: str, engine: Engine, watch: Watch) -> dict[Cell, Runs]:
    """The runs of every cell of an experiment, those in the store and those that were missing."""
    cells = plan.cells(experiment)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NeverStopsWarning)  # some cells are there to show just that
        carry_out(store, cells, engine, lambda done, total: watch(experiment, done, total))
    return {cell: store.load(cell, count) for cell, count in cells.items()}
