"""Two source trees of surefoot side by side: by how much one is slower or quicker than the other.

    python benchmarks/before_after.py OLD/src NEW/src               time of a round, by policy and world
    python benchmarks/before_after.py OLD/src NEW/src --cold        from nothing compiled to the first round
    python benchmarks/before_after.py OLD/src NEW/src --run         `surefoot run`, with nothing compiled and with all

Machines are noisy, so processes of the two trees alternate and each is compared with the one beside it. Printed is the
median of the ratios new/old, with an interval of 95 % (from fewer than six pairs: all that was seen). Name one tree
twice to see what is noise. Rounds are measured in processor time.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from math import comb
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

HERE = Path(__file__).parent
FIRST_ROUND = """
import surefoot as sf
world = sf.worlds.hard()
sf.simulate(world, world.paper_problem(), sf.{policy}(), runs=1, workers=1, max_pulls=1)
"""
RUN = "import sys; from surefoot.cli import main; sys.argv = ['surefoot', 'run']; main()"

Times = dict[str, float]  # by what was measured


class Found(NamedTuple):
    """What two trees took for the same."""

    what: str
    old: float  # medians
    new: float
    ratio: float
    lower: float
    upper: float


def main() -> None:
    """Measures, prints a table, and writes a file if asked to."""
    wanted = arguments()
    if wanted.cold:
        unit, measure = "s", first_rounds
    elif wanted.run:
        unit, measure = "s", commands
    else:
        unit, measure = "ns", lambda tree: rounds(tree, wanted.only)
        for tree in (wanted.old, wanted.new):
            measure(tree)  # compiled, and found to work
    found = compared(*alternated(wanted.old, wanted.new, wanted.pairs, measure))
    show(found, unit, wanted.pairs)
    if wanted.json:
        table = {"unit": unit, "pairs": wanted.pairs, "measured": [each._asdict() for each in found]}
        wanted.json.write_text(json.dumps(table, indent=1) + "\n")


def arguments() -> argparse.Namespace:
    """What was typed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=source, metavar="OLD_SRC")
    parser.add_argument("new", type=source, metavar="NEW_SRC")
    parser.add_argument("--pairs", type=int, help="how many times each tree is measured (20; when cold, 5)")
    parser.add_argument("--only", default="", metavar="TEXT", help="only rounds with this in their name")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results there too")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--cold", action="store_true", help="measure the way to a first round")
    kind.add_argument("--run", action="store_true", help="measure the command `surefoot run`")
    wanted = parser.parse_args()
    if wanted.pairs is None:
        wanted.pairs = 5 if wanted.cold or wanted.run else 20
    if wanted.pairs < 1:
        parser.error("--pairs must be 1 or more")
    return wanted


def source(text: str) -> Path:
    """The folder that holds the package."""
    folder = Path(text).resolve()
    if not (folder / "surefoot" / "__init__.py").is_file():
        raise argparse.ArgumentTypeError(f"{text} holds no folder surefoot")
    return folder


# -- what is measured, by the tree's folder ---------------------------------------------------------------------------


def rounds(tree: Path, only: str) -> Times:
    """Nanoseconds a round; how many rounds were played is part of the name, so that only like is compared."""
    printed = succeed([sys.executable, str(HERE / "rounds.py"), only], environment(tree))
    table: dict[str, dict[str, Any]] = json.loads(printed)
    return {f"{name} ({each['rounds']:,})": each["ns"] for name, each in table.items()}


def first_rounds(tree: Path) -> Times:
    """Seconds of a new process, nothing compiled before, until a policy's first round is played."""
    found: Times = {}
    for policy in ("SafeGap", "SafeLinGapE"):
        with tempfile.TemporaryDirectory() as cache:
            found |= timed(f"first {policy} round", tree, FIRST_ROUND.format(policy=policy), cache)
    return found


def commands(tree: Path) -> Times:
    """Seconds that `surefoot run` takes with nothing compiled, and once more."""
    with tempfile.TemporaryDirectory() as cache:
        return timed("run, cold", tree, RUN, cache) | timed("run, warm", tree, RUN, cache)


def timed(what: str, tree: Path, program: str, cache: str) -> Times:
    """Seconds of a program on the tree, with compiled code kept in this folder: by the clock, and of the processor."""
    settings = environment(tree) | {"SUREFOOT_CACHE": cache}
    begin, used = time.perf_counter(), processor_time()
    succeed([sys.executable, "-c", program], settings)
    return {f"{what}, clock": time.perf_counter() - begin, f"{what}, processor": processor_time() - used}


def succeed(command: list[str], settings: dict[str, str]) -> str:
    """What the command printed; one that failed ends everything, with what it said."""
    done = subprocess.run(command, env=settings, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{done.stderr}\n{settings['PYTHONPATH']} failed at {' '.join(command)}")
    return done.stdout


def environment(tree: Path) -> dict[str, str]:
    """The environment in which this tree is the one that is imported."""
    return os.environ | {"PYTHONPATH": str(tree)}


def processor_time() -> float:
    """Seconds that processes started from here have taken so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


# -- and how it is compared -------------------------------------------------------------------------------------------


def alternated(old: Path, new: Path, pairs: int, measure: Callable[[Path], Times]) -> tuple[list[Times], list[Times]]:
    """The times of both trees, pair by pair; each goes first in every other pair."""
    before: list[Times] = []
    after: list[Times] = []
    for pair in range(pairs):
        for is_new in (False, True) if pair % 2 == 0 else (True, False):
            (after if is_new else before).append(measure(new if is_new else old))
        print(f"\r{pair + 1} of {pairs} pairs", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return before, after


def compared(before: list[Times], after: list[Times]) -> list[Found]:
    """For everything that both were measured at, the ratio; what only one of them did is named and left out."""
    for only in before[0].keys() ^ after[0].keys():
        print(f"not compared, because only one tree did it: {only}", file=sys.stderr)
    found = []
    for what in before[0]:
        if what in after[0]:
            old, new = [each[what] for each in before], [each[what] for each in after]
            ratios = sorted(y / x for x, y in zip(old, new, strict=True))
            rank = lower_rank(len(ratios))
            ends = ratios[rank], ratios[-1 - rank]
            found.append(Found(what, statistics.median(old), statistics.median(new), statistics.median(ratios), *ends))
    return found


def lower_rank(count: int, error: float = 0.05) -> int:
    """How many of the smallest, and of the largest, are left out of an interval for the median.

    With r left out, the median lies below the interval when at most r of `count` throws of a coin are heads.
    """
    rank, tail = -1, 0.0
    while tail <= error / 2.0:
        rank += 1
        tail += comb(count, rank) / 2.0**count
    return max(rank - 1, 0)


def show(found: list[Found], unit: str, pairs: int) -> None:
    """Prints the table."""
    table = Table("measured (rounds)" if unit == "ns" else "measured", title=f"{pairs} pairs")
    for title in (f"old, {unit}", f"new, {unit}", "new/old", "interval"):
        table.add_column(title, justify="right")
    for each in found:
        numbers = [f"{value:,.0f}" if unit == "ns" else f"{value:.2f}" for value in (each.old, each.new)]
        table.add_row(each.what, *numbers, f"{each.ratio:.3f}", f"{each.lower:.3f} to {each.upper:.3f}")
    Console().print(table)


if __name__ == "__main__":
    main()
