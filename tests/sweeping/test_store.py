"""The store: runs are kept whole, found again, and never mixed with others."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from surefoot.reproduction.store import COLUMNS, MANIFEST, Store, Stretch

import surefoot
from surefoot.errors import InvalidInput
from surefoot.reproduction import store as stores
from surefoot.reproduction.cells import Cell, lingape_cell, played

CELL: Cell = lingape_cell(None)


def fill(store: Store, count: int) -> None:
    """Makes what is missing."""
    for stretch in store.missing(CELL, count):
        store.keep(CELL, played(CELL, stretch.first, stretch.length, store.seed, 1))


def test_what_is_missing_is_cut_into_pieces_of_a_file_each(tmp_path: Path) -> None:
    store = Store(tmp_path / "new", 0)
    assert store.missing(CELL, 600) == [Stretch(0, 250), Stretch(250, 250), Stretch(500, 100)]
    fill(store, 30)
    assert store.missing(CELL, 30) == []
    assert store.missing(CELL, 20) == []
    assert store.missing(CELL, 300) == [Stretch(30, 250), Stretch(280, 20)]


def test_runs_made_in_several_sittings_are_those_of_one(tmp_path: Path) -> None:
    once, often = Store(tmp_path / "once", 4), Store(tmp_path / "often", 4)
    fill(once, 40)
    for count in (7, 8, 31, 40):
        fill(often, count)
    for count in (5, 33, 40):
        one, other = once.load(CELL, count), Store(tmp_path / "often", 4).load(CELL, count)
        assert len(one) == count
        assert (one.run == np.arange(count)).all()
        for name in COLUMNS:
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_a_file_that_breaks_off_is_made_anew(tmp_path: Path) -> None:
    store = Store(tmp_path / "new", 0)
    fill(store, 12)
    (path,) = (tmp_path / "new" / "runs").rglob("*.npz")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    assert store.missing(CELL, 12) == [Stretch(0, 12)]
    fill(store, 12)
    assert len(store.load(CELL, 12)) == 12


def test_a_file_that_was_changed_is_refused_by_name(tmp_path: Path) -> None:
    store = Store(tmp_path / "new", 0)
    fill(store, 12)
    (path,) = (tmp_path / "new" / "runs").rglob("*.npz")
    content = bytearray(path.read_bytes())
    content[60:200] = bytes(140)
    path.write_bytes(bytes(content))
    with pytest.raises(InvalidInput, match=r"0-12\.npz.*is damaged.*Remove it"):
        store.load(CELL, 12)


def test_a_folder_with_other_files_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(InvalidInput, match=r"thesis\.tex.*nothing was written"):
        Store(tmp_path, 0)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
    assert (tmp_path / "thesis.tex").read_text() == "years of work"


def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("")
    with pytest.raises(InvalidInput, match="is a file"):
        Store(tmp_path / "results", 0)


def seed(manifest: dict[str, object]) -> None:
    manifest["seed"] = 5


def version(manifest: dict[str, object]) -> None:
    manifest["surefoot"] = "0.0.1"


def source(manifest: dict[str, object]) -> None:
    manifest["source"] = "another"


def first_name_of_source(manifest: dict[str, object]) -> None:
    del manifest["source"]
    manifest["engine"] = "0123456789abcdef"


def layout(manifest: dict[str, object]) -> None:
    del manifest["layout"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (seed, "another seed.*Continue with --seed 5"), (version, "another version.*--out"),
        (source, "another state of surefoot's source.*--out"), (layout, "another arrangement"),
        (first_name_of_source, "another state of surefoot's source.*source 0123456789abcdef, not.*--out"),
    ],
)  # fmt: skip
def test_runs_of_another_kind_are_never_mixed_in(
    tmp_path: Path, change: Callable[[dict[str, object]], None], words: str
) -> None:
    Store(tmp_path, 0)
    manifest = json.loads((tmp_path / MANIFEST).read_text())
    change(manifest)
    (tmp_path / MANIFEST).write_text(json.dumps(manifest))
    with pytest.raises(InvalidInput, match=words):
        Store(tmp_path, 0)


@pytest.mark.parametrize("content", ["", "{", "[1]", "null"])
def test_a_manifest_that_cannot_be_read_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / MANIFEST).write_text(content)
    with pytest.raises(InvalidInput, match="cannot be read"):
        Store(tmp_path, 0)


def test_a_changed_formula_in_any_file_of_the_package_changes_the_digest(tmp_path: Path) -> None:
    package = tmp_path / "surefoot"
    shutil.copytree(Path(surefoot.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    before = stores.digest_of(package)
    assert before == stores.package_digest()
    for path in sorted(package.rglob("*.py")):
        content = path.read_bytes()
        path.write_bytes(content + b"RADIUS = 1.01\n")
        assert stores.digest_of(package) != before, path
        path.write_bytes(content)
    assert stores.digest_of(package) == before


def test_a_file_that_comes_goes_or_moves_changes_the_digest_and_bytecode_does_not(tmp_path: Path) -> None:
    (tmp_path / "problem").mkdir()
    (tmp_path / "problem" / "limits.py").write_text("A = 1")
    before = stores.digest_of(tmp_path)
    (tmp_path / "problem" / "limits.pyc").write_text("compiled")
    assert stores.digest_of(tmp_path) == before
    (tmp_path / "problem" / "limits.py").rename(tmp_path / "limits.py")
    moved = stores.digest_of(tmp_path)
    (tmp_path / "limits.py").unlink()
    assert len({before, moved, stores.digest_of(tmp_path)}) == 3


def test_what_a_killed_process_left_half_written_is_swept_with_the_next_start(tmp_path: Path) -> None:
    store = Store(tmp_path, 0)
    fill(store, 3)
    (kept,) = (tmp_path / "runs").rglob("*.npz")
    left = kept.with_name(".0-3.npz.0123456789abcdef.part")
    left.write_text("half")
    os.utime(left, (0, 0))
    Store(tmp_path, 0)
    assert not left.exists()
    assert kept.exists()
