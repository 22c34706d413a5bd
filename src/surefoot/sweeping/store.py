"""Finished runs in a folder, so that a killed sweep continues where it was.

    FOLDER/sweep.json                           what this folder is: version, source, seed
    FOLDER/runs/cell=KEY/FIRST-LENGTH.parquet   runs FIRST .. FIRST + LENGTH - 1 of the cell with this key

Every run has an address (cell, seed, number), so it does not matter in how many sittings, by how many workers or in
which order runs are made: what is missing is made, and the whole is the same bit for bit. Files are written whole or
not at all, by the one process that leads the work; it locks the folder, so that no run is there twice.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import surefoot
from surefoot.errors import InvalidInput
from surefoot.files import UNFINISHED, forget_unfinished, write_whole
from surefoot.plain_data import json_text
from surefoot.results import Runs
from surefoot.sweeping.cells import COLUMNS, PER_ARM, Columns, Playable
from surefoot.sweeping.parquet import is_whole, runs_as_bytes, runs_in
from surefoot.sweeping.source import package_digest

try:
    import fcntl
except ImportError:  # another system
    fcntl = None  # type: ignore[assignment]

SWEEP = "sweep"
LAYOUT = 2
SHORTEST, USUAL = 10, 250  # runs in a file: a second or so of work is lost when killed
FILES_AT_LEAST, FILES_AT_MOST = 8, 256  # of a cell, as far as these lengths allow
DIFFERS = {
    "layout": "another arrangement of files",
    "surefoot": "another version of surefoot",
    "source": "another state of surefoot's source",
    "seed": "another seed",
}
ANEW = "Name another folder, or remove this one to start anew."


class Stretch(NamedTuple):
    """Runs first .. first + length - 1."""

    first: int
    length: int


class Store:
    """The finished runs in one folder, all of one seed."""

    def __init__(self, folder: Path, seed: int, kind: str = SWEEP) -> None:
        self.folder = folder
        self.seed = seed
        self.manifest = folder / f"{kind}.json"
        if folder.exists() and not folder.is_dir():
            raise InvalidInput("out", str(folder), "is a file", "Name a folder, new or empty.")
        if not self.manifest.exists():
            refuse_other_files(folder, kind)
            folder.mkdir(parents=True, exist_ok=True)
            with suppress(FileExistsError):  # another process was faster, and its seed may be another
                write_whole(self.manifest, json_text(self._described()).encode(), overwrite=False)
        self._check_manifest()
        forget_unfinished(folder)

    def _described(self) -> dict[str, Any]:
        return {"layout": LAYOUT, "surefoot": surefoot.__version__, "source": package_digest(), "seed": self.seed}

    def _check_manifest(self) -> None:
        try:
            found = json.loads(self.manifest.read_text("utf-8"))
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise InvalidInput("out", str(self.folder), f"holds a {self.manifest.name} that cannot be read", ANEW)
        found.setdefault("source", found.get("engine"))  # the key's first name, when the digest left files out
        for key, wanted in self._described().items():
            if found.get(key) != wanted:
                reason = f"holds runs of {DIFFERS[key]} ({key} {found.get(key)}, not {wanted}), which must not be mixed"
                remedy = f"Continue with seed={found.get(key)}, or name another folder." if key == "seed" else ANEW
                raise InvalidInput("out", str(self.folder), reason, remedy)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Inside, no other process puts runs into the folder; who is killed lets the next one in."""
        try:
            file = self.manifest.open()
        except FileNotFoundError:
            reason = f"held a {self.manifest.name} that was removed meanwhile"
            raise InvalidInput("out", str(self.folder), reason, "Begin again.") from None
        with file:
            try:
                if fcntl is not None:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                reason = "is being worked on by another process"
                raise InvalidInput("out", str(self.folder), reason, "Wait for it, or name another folder.") from None
            except OSError:  # a file system without locks: each run is the same whoever makes it
                pass
            self._check_manifest()  # somebody may have removed the folder since, and begun it anew
            yield

    def missing(self, cell: Playable, count: int) -> list[Stretch]:
        """What has yet to be run so that the first `count` runs are there, in pieces of a file each."""
        pieces, next_run, longest = [], 0, longest_stretch(count)
        for first, length in [*self._kept(cell), Stretch(count, 0)]:
            for start in range(next_run, min(first, count), longest):
                pieces.append(Stretch(start, min(longest, first - start, count - start)))
            next_run = max(next_run, first + length)
        return pieces

    def keep(self, cell: Playable, stretch: Stretch, columns: Columns) -> None:
        """Writes the runs to a file of their own."""
        path = self._path(cell, stretch)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, runs_as_bytes(columns))

    def load(self, cell: Playable, count: int, per_arm: bool = True) -> Runs:
        """The first `count` runs, each once; all of them must be there. What there is for each arm may be left out."""
        names = COLUMNS if per_arm else tuple(name for name in COLUMNS if name not in PER_ARM)
        parts: dict[str, list[Any]] = {name: [] for name in names}
        next_run = 0
        for stretch in self._kept(cell):
            if next_run >= count or stretch.first > next_run:
                break
            wanted = slice(max(0, next_run - stretch.first), count - stretch.first)
            for name, column in self._read(cell, stretch, names).items():
                parts[name].append(column[wanted])
            next_run = max(next_run, stretch.first + stretch.length)
        if next_run < count:
            reason = f"lacks runs of cell {cell.key} from number {next_run} on"
            raise InvalidInput("out", str(self.folder), reason, "The same command, or the same call, makes them anew.")
        columns = {name: np.concatenate(arrays) for name, arrays in parts.items()}
        left_out: Columns = {name: np.zeros((count, 0)) for name in COLUMNS if name not in names}
        every: dict[str, Any] = {**columns, **left_out}
        return Runs(problem=cell.problem, policy=cell.policy, seed=self.seed, requested=count, **every)

    def _read(self, cell: Playable, stretch: Stretch, names: tuple[str, ...]) -> Columns:
        """The columns in one file."""
        path = self._path(cell, stretch)
        try:
            columns = runs_in(path, names)
            whole = np.array_equal(columns["run"], np.arange(stretch.first, stretch.first + stretch.length))
        except FileNotFoundError:
            raise
        except (ValueError, KeyError, OSError):
            whole = False
        if not whole:
            reason = "is damaged; surefoot writes files whole or not at all, so something else has changed it"
            raise InvalidInput("file", str(path), reason, "Remove it: the same command makes it anew.")
        return columns

    def _kept(self, cell: Playable) -> list[Stretch]:
        """The stretches on disk, in order of their first run; a file that breaks off counts as missing."""
        found = []
        for path in self._place(cell).glob("[0-9]*-[0-9]*.parquet"):
            first, _, length = path.stem.partition("-")
            if first.isdigit() and length.isdigit() and is_whole(path):
                found.append(Stretch(int(first), int(length)))
        return sorted(found)

    def _place(self, cell: Playable) -> Path:
        return self.folder / "runs" / f"cell={cell.key}"  # readers of Parquet make a column `cell` of it

    def _path(self, cell: Playable, stretch: Stretch) -> Path:
        return self._place(cell) / f"{stretch.first}-{stretch.length}.parquet"


def longest_stretch(count: int) -> int:
    """How many runs of so many are played in one piece: several pieces to share, and not too many files."""
    usual = min(USUAL, -(-count // FILES_AT_LEAST))
    return max(SHORTEST, usual, -(-count // FILES_AT_MOST))


def refuse_other_files(folder: Path, kind: str) -> None:
    """Nothing, when the folder is new or empty, or another process begins there; one that is used for something else is
    refused."""
    held = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    held = [name for name in held if not name.endswith(UNFINISHED)]
    if held and not (folder / f"{kind}.json").exists():
        some = ", ".join(held[:3]) + (", ..." if len(held) > 3 else "")
        reason = f"already holds other files ({some}) and no {kind}; nothing was written"
        raise InvalidInput("out", str(folder), reason, "Name a new or empty folder.")
