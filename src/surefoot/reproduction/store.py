"""Finished runs in a folder, so that a killed reproduction continues where it was.

    FOLDER/reproduction.json         what this folder is: version, source, seed
    FOLDER/runs/KEY/FIRST-LENGTH.npz  runs FIRST .. FIRST + LENGTH - 1 of the cell with this key

Every run has an address (cell, seed, number), so it does not matter in how many sittings, by how many workers or in
which order runs are made: what is missing is made, and the whole is the same bit for bit. Files are written whole or
not at all, so two processes may even work in one folder.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
import zlib
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import surefoot
from surefoot.errors import InvalidInput
from surefoot.files import forget_unfinished, write_whole
from surefoot.plain_data import json_text
from surefoot.reproduction.cells import Cell
from surefoot.results import Runs

MANIFEST = "reproduction.json"
LAYOUT = 1
CHUNK = 250  # runs in a file: a second or so of work is lost when killed
COLUMNS = tuple(field.name for field in fields(Runs) if field.name not in ("problem", "policy", "seed", "requested"))
DIFFERS = {
    "layout": "another arrangement of files",
    "surefoot": "another version of surefoot",
    "source": "another state of surefoot's source",
    "seed": "another seed",
}


class Stretch(NamedTuple):
    """Runs first .. first + length - 1."""

    first: int
    length: int


class Store:
    """The finished runs in one folder, all of one seed."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.seed = seed
        if folder.exists() and not folder.is_dir():
            raise InvalidInput("--out", str(folder), "is a file", "Name a folder, new or empty.")
        if (folder / MANIFEST).exists():
            self._check_manifest()
            forget_unfinished(folder)
            return
        refuse_other_files(folder)
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / MANIFEST, json_text(self._manifest()).encode())

    def _manifest(self) -> dict[str, Any]:
        return {"layout": LAYOUT, "surefoot": surefoot.__version__, "source": package_digest(), "seed": self.seed}

    def _check_manifest(self) -> None:
        path = self.folder / MANIFEST
        remedy = "Give another folder with --out, or remove this one to start anew."
        try:
            found = json.loads(path.read_text("utf-8"))
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise InvalidInput("--out", str(self.folder), f"holds a {MANIFEST} that cannot be read", remedy)
        found.setdefault("source", found.get("engine"))  # the key's first name, when the digest left files out
        for key, wanted in self._manifest().items():
            if found.get(key) != wanted:
                reason = f"holds runs of {DIFFERS[key]} ({key} {found.get(key)}, not {wanted}), which must not be mixed"
                if key == "seed":
                    remedy = f"Continue with --seed {found.get(key)}, or give another folder with --out."
                raise InvalidInput("--out", str(self.folder), reason, remedy)

    def missing(self, cell: Cell, count: int) -> list[Stretch]:
        """What has yet to be run so that the first `count` runs are there, in pieces of a file each."""
        pieces, next_run = [], 0
        for first, length in [*self._kept(cell), Stretch(count, 0)]:
            for start in range(next_run, min(first, count), CHUNK):
                pieces.append(Stretch(start, min(CHUNK, first - start, count - start)))
            next_run = max(next_run, first + length)
        return pieces

    def keep(self, cell: Cell, runs: Runs) -> None:
        """Writes the runs, which follow each other, to a file of their own."""
        content = io.BytesIO()
        np.savez_compressed(content, **{name: getattr(runs, name) for name in COLUMNS})
        path = self._path(cell, Stretch(int(runs.run[0]), len(runs)))
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content.getvalue())

    def load(self, cell: Cell, count: int) -> Runs:
        """The first `count` runs; all of them must be there."""
        parts: dict[str, list[Any]] = {name: [] for name in COLUMNS}
        next_run = 0
        for stretch in self._kept(cell):
            if next_run >= count:
                break
            wanted = slice(next_run - stretch.first, count - stretch.first)
            for name, column in self._read(cell, stretch).items():
                parts[name].append(column[wanted])
            next_run = max(next_run, stretch.first + stretch.length)
        columns = {name: np.concatenate(arrays) for name, arrays in parts.items()}
        return Runs(problem=cell.problem, policy=cell.policy, seed=self.seed, requested=count, **columns)

    def _read(self, cell: Cell, stretch: Stretch) -> dict[str, Any]:
        """The columns in one file."""
        path = self._path(cell, stretch)
        try:
            with np.load(path, allow_pickle=False) as file:
                return {name: file[name] for name in COLUMNS}
        except (ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error):
            reason = "is damaged; surefoot writes files whole or not at all, so something else has changed it"
            raise InvalidInput("file", str(path), reason, "Remove it: the same command makes it anew.") from None

    def _kept(self, cell: Cell) -> list[Stretch]:
        """The stretches on disk, in order of their first run; a file that breaks off counts as missing."""
        found = []
        for path in (self.folder / "runs" / cell.key).glob("[0-9]*.npz"):
            first, _, length = path.stem.partition("-")
            if zipfile.is_zipfile(path):
                found.append(Stretch(int(first), int(length)))
        return sorted(found)

    def _path(self, cell: Cell, stretch: Stretch) -> Path:
        return self.folder / "runs" / cell.key / f"{stretch.first}-{stretch.length}.npz"


def refuse_other_files(folder: Path) -> None:
    """Nothing, when the folder is new or empty; a folder that is used for something else is refused."""
    held = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    if held:
        some = ", ".join(held[:3]) + (", ..." if len(held) > 3 else "")
        reason = f"already holds other files ({some}) and no reproduction; nothing was written"
        raise InvalidInput("--out", str(folder), reason, "Give a new or empty folder with --out.")


@cache
def package_digest() -> str:
    """A digest of the source that is running: all of it, since any file may hold a formula that runs depend on."""
    return digest_of(Path(surefoot.__file__).parent)


def digest_of(package: Path) -> str:
    """A digest of the names and contents of every Python file in the folder, at any depth."""
    digest = hashlib.sha256()
    for name, path in sorted((path.relative_to(package).as_posix(), path) for path in package.rglob("*.py")):
        digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]
