"""The price of one file at every moment: the two journals of SQLite side by side, on the same disk and in turn.

python benchmarks/journals.py [FOLDER]
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path

from company import bare_commits, machine, world

import surefoot as sf
from surefoot.storage.maintenance import create

STEPS, ROUNDS = 150, 5


def steps(folder: Path, journal: str) -> tuple[float, float]:
    """Median milliseconds of an ask and of a tell by one worker."""
    linear, problem = world()
    storage = f"sqlite:///{folder / f'{journal}.db'}"
    create(storage, journal=journal)
    study = sf.create_study(problem, name="steps", storage=storage, seed=1)
    asked, told = [], []
    for _ in range(STEPS):
        begin = time.perf_counter()
        pull = study.ask()
        asked.append(time.perf_counter() - begin)
        result = linear.measure(pull, seed=1, problem=problem)
        begin = time.perf_counter()
        study.tell(pull, **result)
        told.append(time.perf_counter() - begin)
    return 1e3 * statistics.median(asked), 1e3 * statistics.median(told)


def main(place: str | None = None) -> None:
    """Measures in turn, because disks are moody, and prints medians."""
    print(machine())
    found: dict[str, list[tuple[float, float, float]]] = {"wal": [], "truncate": []}
    for _ in range(ROUNDS):
        for journal, rows in found.items():
            with tempfile.TemporaryDirectory(dir=place) as folder:
                rows.append((bare_commits(Path(folder), 1.0, journal), *steps(Path(folder), journal)))
    for journal, rows in found.items():
        commits, ask, tell = (statistics.median(column) for column in zip(*rows, strict=True))
        print(f"{journal:9} {commits:7.0f} bare commits/s   ask {ask:6.2f} ms   tell {tell:6.2f} ms")


if __name__ == "__main__":
    main(*sys.argv[1:])
