"""From the names of experiments to files: what is missing is run, then tables, figures and the report are written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from surefoot.errors import MissingExtra
from surefoot.problem.checks import check_workers
from surefoot.reproduction.cells import Cell, played
from surefoot.reproduction.files import write_files
from surefoot.reproduction.findings import Findings, findings_of
from surefoot.reproduction.plans import ALL, Plan, planned
from surefoot.reproduction.store import Store
from surefoot.results import Runs

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
    seed: int = 0, workers: int | None = None, watch: Watch = lambda experiment, done, total: None,
) -> Reproduction:  # fmt: skip
    """The experiments of the paper, run as often as asked for and written to a folder.

    The folder must be new, empty, or one of an earlier reproduction, which is then continued: runs that are there are
    not run again, and the result is the same bit for bit as that of one sitting. Ctrl-C loses a second of work.
    """
    plan = planned(experiments, runs, quick, seed)
    workers = check_workers(workers, "--workers")
    for package, extra in (("matplotlib", "plots"), ("pandas", "frames"), ("pyarrow", "frames")):
        if find_spec(package) is None:
            raise MissingExtra(package, extra)
    folder = Path(out)
    try:
        store = Store(folder, plan.seed)
        done: dict[Cell, Runs] = {}
        for name in plan.experiments:
            done |= carried_out(store, plan, name, workers, watch)
        found = findings_of(plan, done)
        return Reproduction(plan, folder, done, found, tuple(write_files(folder, plan, done, found)))
    except KeyboardInterrupt:
        kept = f"Interrupted: every finished run is kept in {folder}. The same command continues from there."
        raise KeyboardInterrupt(kept) from None
    except OSError as error:
        error.add_note(f"what is finished stays in {folder}; once that is mended, the same command continues")
        raise


def carried_out(store: Store, plan: Plan, experiment: str, workers: int | None, watch: Watch) -> dict[Cell, Runs]:
    """The runs of every cell of an experiment, those in the store and those that were missing."""
    cells = plan.cells(experiment)
    todo = [(cell, stretch) for cell, count in cells.items() for stretch in store.missing(cell, count)]
    total = sum(cells.values())
    finished = total - sum(stretch.length for _, stretch in todo)
    watch(experiment, finished, total)
    for cell, stretch in todo:
        runs = played(cell, stretch.first, stretch.length, store.seed, workers)
        if runs.interrupted:
            raise KeyboardInterrupt
        store.keep(cell, runs)
        finished += stretch.length
        watch(experiment, finished, total)
    return {cell: store.load(cell, count) for cell, count in cells.items()}
