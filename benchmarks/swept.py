"""How the benchmarks run: as one sweep, in a folder that is thrown away, or in one that is kept and continued."""

import argparse
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from tempfile import TemporaryDirectory
from typing import Any

import surefoot as sf
from surefoot.sweeping import ENGINES, Cell, Plan


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options that say who works, and where runs are kept."""
    parser.add_argument("--engine", choices=ENGINES, default="threads")
    parser.add_argument("--workers", type=int)
    parser.add_argument("--scheduler", help="the address of a Dask or Ray cluster")
    parser.add_argument("--out", help="keep every run in this folder, and continue from what is there")


def summaries(
    cells: Sequence[Cell], wishes: argparse.Namespace, seed: int, confidence: float = 0.95
) -> list[dict[str, Any]]:
    """What the runs of each cell say."""
    kept = nullcontext(wishes.out) if wishes.out else TemporaryDirectory()
    with kept as folder:
        done = sf.sweep(
            Plan(tuple(cells), wishes.runs, seed), out=folder, engine=wishes.engine, workers=wishes.workers,
            scheduler=wishes.scheduler, confidence=confidence, progress=sys.stderr.isatty(),
        )  # fmt: skip
        return done.summary()
