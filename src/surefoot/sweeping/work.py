"""What is missing is run and kept, whoever works; a worker that is lost costs its stretch of runs, no more."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar

from surefoot.errors import WorkersLost, WorldBreaksStatement
from surefoot.sweeping.cells import Playable
from surefoot.sweeping.engines import Engine, Task
from surefoot.sweeping.store import Store
from surefoot.worlds.statements import warn_of_broken_statements

ATTEMPTS = 3  # in a row that finish nothing, before the workers are given up
NOT_OURS = (  # what joblib says of work that is broken off or done again, which is no news here
    "A worker stopped while some jobs were given to the executor",
    r"\d+ tasks (have been successfully executed|which were still being processed)",
)

Some = TypeVar("Some", bound=Playable)
Watch = Callable[[int, int], None]  # runs done, runs in all


def carry_out(store: Store, cells: Mapping[Some, int], engine: Engine, watch: Watch = lambda done, total: None) -> None:
    """The store holds so many runs of each cell: those that are missing are run.

    What a worker was at when it was lost is run again. After three attempts in a row that finish nothing it is given
    up with `WorkersLost`; what is finished stays.
    """
    total, todo = sum(cells.values()), missing(store, cells)
    done = total - sum(stretch.length for _, stretch in todo)
    for cell in dict.fromkeys(cell for cell, _ in todo):
        warn_of_broken_statements(cell.world, cell.problem)
    watch(done, total)
    in_vain, lost = 0, None
    while todo:
        if in_vain == ATTEMPTS:
            raise WorkersLost(engine.name, ATTEMPTS, len(todo), str(lost or "nothing was said")) from lost
        before = done
        try:
            with quiet(), closing(engine.finished(todo, store.seed)) as results:
                for place, columns in results:
                    cell, stretch = todo[place]
                    store.keep(cell, stretch, columns)
                    done += stretch.length
                    watch(done, total)
        except engine.losses as error:
            lost = error
        in_vain = 0 if done > before else in_vain + 1
        todo = missing(store, cells)


def missing(store: Store, cells: Mapping[Some, int]) -> list[Task]:
    """Every stretch of runs that the store does not hold."""
    return [(cell, stretch) for cell, count in cells.items() for stretch in store.missing(cell, count)]


@contextmanager
def quiet() -> Iterator[None]:
    """Inside, nobody is warned again of what was told before; for the process, since warnings know no threads."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WorldBreaksStatement)
        for words in NOT_OURS:
            warnings.filterwarnings("ignore", words)
        yield


def kept_in(folder: Path) -> str:
    """What who interrupts is told."""
    return f"Interrupted: every finished run is kept in {folder}. The same command continues from there."


@contextmanager
def keeping(folder: Path) -> Iterator[None]:
    """Inside, whoever interrupts, and whatever fails on the disk, is told that what is finished stays."""
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(kept_in(folder)) from None
    except OSError as error:
        error.add_note(f"what is finished stays in {folder}; once that is mended, the same command continues")
        raise
