"""The price of one file at every moment: the two journals of SQLite side by side, on the same disk and in turn.

    python benchmarks/journals.py                 on the disk of temporary files
    python benchmarks/journals.py --folder PLACE  on the disk of that folder
    python benchmarks/journals.py [..] --smoke    a few steps, to see that all of it works

Writes journals.json beside this file, and the table in docs/storage.md; with --smoke nothing.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from company import HERE, bare_commits, machine, said, world
from readme import put_into

import surefoot as sf
from surefoot.storage.maintenance import create

STEPS, ROUNDS = 150, 5


def steps(folder: Path, journal: str, count: int) -> tuple[float, float]:
    """Median milliseconds of an ask and of a tell by one worker."""
    linear, problem = world()
    storage = f"sqlite:///{folder / f'{journal}.db'}"
    create(storage, journal=journal)
    study = sf.create_study(problem, name="steps", storage=storage, seed=1)
    asked, told = [], []
    for _ in range(count):
        begin = time.perf_counter()
        pull = study.ask()
        asked.append(time.perf_counter() - begin)
        result = linear.measure(pull, seed=1, problem=problem)
        begin = time.perf_counter()
        study.tell(pull, **result)
        told.append(time.perf_counter() - begin)
    return 1e3 * statistics.median(asked), 1e3 * statistics.median(told)


def main(words: list[str]) -> None:
    """Measures in turn, because disks are moody, and reports medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder")
    parser.add_argument("--smoke", action="store_true")
    asked = parser.parse_args(words)
    rounds, count, seconds = (1, 10, 0.2) if asked.smoke else (ROUNDS, STEPS, 1.0)
    report: dict[str, Any] = {"machine": machine()}
    found: dict[str, list[tuple[float, float, float]]] = {"wal": [], "truncate": []}
    for turn in range(rounds):
        for journal, rows in found.items():
            said(f"{journal}, {turn + 1} of {rounds}")
            with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
                rows.append((bare_commits(Path(folder), seconds, journal), *steps(Path(folder), journal, count)))
    names = ("bare_commits_per_s", "ask_ms", "tell_ms")
    for journal, rows in found.items():
        report[journal] = dict(zip(names, (statistics.median(each) for each in zip(*rows, strict=True)), strict=True))
    print(json.dumps(report, indent=2))
    if not asked.smoke:
        (HERE / "journals.json").write_text(json.dumps(report, indent=2) + "\n")
        put_into("journals", markdown(report), HERE.parent / "docs" / "storage.md")


def markdown(report: dict[str, Any]) -> str:
    """The table of docs/storage.md."""
    lines = ["| journal | bare commits/s | ask | tell |", "|---|---|---|---|"]
    for journal in ("wal", "truncate"):
        row = report[journal]
        times = f"{row['ask_ms']:.2f} ms | {row['tell_ms']:.2f} ms"
        lines.append(f"| `{journal}` | {row['bare_commits_per_s']:,.0f} | {times} |")
    return "\n".join([*lines, "", f"Measured on {report['machine']}."])


if __name__ == "__main__":
    main(sys.argv[1:])
