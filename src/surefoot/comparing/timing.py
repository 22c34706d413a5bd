"""What a pull costs: runs of a cell once more, one after the other on one core, with nothing compiled meanwhile.

Runs in a sweep are the same bit for bit whoever plays them, so no time is kept with them.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np

from surefoot.files import write_whole
from surefoot.live.model_checks import simulated_watch
from surefoot.plain_data import json_text
from surefoot.policies.bound import faced, play_of
from surefoot.progress import compiling
from surefoot.results import MeanInterval, mean_interval
from surefoot.simulation import played
from surefoot.sweeping import Cell

LONGEST, MOST, LEAST = 0.2, 20, 2  # seconds for a cell, and runs
FILE = "seconds.json"


def seconds_per_pull(cell: Cell, runs: int, seed: int) -> list[float]:
    """The seconds of each pull, on average over each of some runs."""
    found, response = faced(cell.policy, cell.problem), cell.world.response()
    watch = simulated_watch(cell.problem, cell.policy.guarantee(cell.problem), None)
    play, cancel = play_of(found, response, watch, compiling), np.zeros(1, np.int64)
    played(play, found, response, watch, seed, 1, 0, 1, cancel)  # what is loaded once is not timed
    paces: list[float] = []
    begun = time.perf_counter()
    for run in range(min(runs, MOST)):
        before = time.perf_counter()
        _, records = played(play, found, response, watch, seed, cell.max_pulls, run, 1, cancel)
        after = time.perf_counter()
        paces.append((after - before) / max(int(records.pulls[0]), 1))
        if after - begun > LONGEST and len(paces) >= LEAST:
            break
    return paces


class Clock:
    """The times of cells, kept in the folder of their runs: what was timed there is not timed again."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / FILE
        try:
            self._known: dict[str, list[float]] = dict(json.loads(self._file.read_text("utf-8")))
        except (OSError, ValueError, TypeError):
            self._known = {}

    def pace(self, cell: Cell, runs: int, seed: int, confidence: float) -> MeanInterval:
        """The seconds of a pull, with Student's interval over runs."""
        if cell.key not in self._known:
            self._known[cell.key] = seconds_per_pull(cell, runs, seed)
            write_whole(self._file, json_text(self._known).encode())
        return mean_interval(np.array(self._known[cell.key]), confidence)
