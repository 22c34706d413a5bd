"""The store: runs are kept whole, found again, and never mixed with others."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import surefoot
from surefoot.errors import InvalidInput
from surefoot.sweeping import source as sources
from surefoot.sweeping import store as stores
from surefoot.sweeping.cells import COLUMNS, Cell, columns_of
from surefoot.sweeping.store import Store, Stretch, longest_stretch

WORLD = surefoot.worlds.hard()
CELL = Cell(WORLD, WORLD.paper_problem(delta=0.05, delta_safety=0.05), surefoot.SafeLinGapE())
MANIFEST = "sweep.json"


def fill(store: Store, count: int) -> None:
    """Makes what is missing."""
    for stretch in store.missing(CELL, count):
        store.keep(CELL, stretch, columns_of(CELL, *stretch, store.seed))


def test_what_is_missing_is_cut_into_pieces_of_a_file_each(tmp_path: Path) -> None:
    store = Store(tmp_path / "new", 0)
    assert store.missing(CELL, 25) == [Stretch(0, 10), Stretch(10, 10), Stretch(20, 5)]
    fill(store, 25)
    assert store.missing(CELL, 25) == []
    assert store.missing(CELL, 20) == []
    assert store.missing(CELL, 160) == [Stretch(first, 20) for first in range(25, 145, 20)] + [Stretch(145, 15)]


def test_few_runs_are_shared_out_and_millions_make_no_millions_of_files() -> None:
    assert [longest_stretch(count) for count in (1, 40, 200, 1000, 10_000)] == [10, 10, 25, 125, 250]
    assert longest_stretch(10**7) == -(-(10**7) // 256)


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
    fill(store, 10)
    (path,) = (tmp_path / "new" / "runs").rglob("*.parquet")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    assert store.missing(CELL, 10) == [Stretch(0, 10)]
    fill(store, 10)
    assert len(store.load(CELL, 10)) == 10


@pytest.mark.parametrize("change", [30, 60, 200, 900])
def test_a_file_that_was_changed_is_refused_by_name(tmp_path: Path, change: int) -> None:
    store = Store(tmp_path / "new", 0)
    fill(store, 10)
    (path,) = (tmp_path / "new" / "runs").rglob("*.parquet")
    content = bytearray(path.read_bytes())
    content[change] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(InvalidInput, match=r"0-10\.parquet.*is damaged.*Remove it"):
        store.load(CELL, 10)


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
        (seed, "another seed.*Continue with seed=5"), (version, "another version.*Name another folder"),
        (source, "another state of surefoot's source.*Name another folder"), (layout, "another arrangement"),
        (first_name_of_source, "another state of surefoot's source.*source 0123456789abcdef, not.*Name another folder"),
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


def test_of_two_that_begin_at_once_with_different_seeds_one_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one comes between the look at the folder and the first file in it."""
    look, others = stores.refuse_other_files, [7]

    def interrupted(folder: Path, kind: str) -> None:
        look(folder, kind)
        while others:
            Store(folder, others.pop(), kind)

    monkeypatch.setattr(stores, "refuse_other_files", interrupted)
    with pytest.raises(InvalidInput, match=r"another seed.*Continue with seed=7"):
        Store(tmp_path / "new", 8)
    assert json.loads((tmp_path / "new" / MANIFEST).read_text())["seed"] == 7


def test_processes_that_begin_at_once_agree_on_one_seed(tmp_path: Path) -> None:
    """Many times over, with nothing to help them."""
    begin = "import sys, time; from pathlib import Path; from surefoot.sweeping.store import Store\n"
    begin += "from surefoot.errors import InvalidInput\nfolders, seed = Path(sys.argv[1]), int(sys.argv[2])\n"
    begin += "(folders / f'ready{seed}').touch()\n"
    begin += "while len(list(folders.glob('ready*'))) < 2: pass\n"
    begin += "for n in range(200):\n    try: Store(folders / str(n), seed); print(n)\n    except InvalidInput: pass\n"
    both = [
        subprocess.Popen([sys.executable, "-c", begin, str(tmp_path), str(seed)], stdout=subprocess.PIPE, text=True)
        for seed in (1, 2)
    ]
    first, second = (set(map(int, each.communicate(timeout=120)[0].split())) for each in both)
    assert first | second == set(range(200))
    assert not first & second


def test_a_folder_that_was_begun_anew_meanwhile_is_not_worked_on(tmp_path: Path) -> None:
    store = Store(tmp_path, 3)
    (tmp_path / MANIFEST).unlink()
    with pytest.raises(InvalidInput, match="was removed"), store.alone():
        pass
    Store(tmp_path, 4)
    with pytest.raises(InvalidInput, match="another seed"), store.alone():
        pass


@pytest.mark.parametrize("content", ["", "{", "[1]", "null"])
def test_a_manifest_that_cannot_be_read_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / MANIFEST).write_text(content)
    with pytest.raises(InvalidInput, match="cannot be read"):
        Store(tmp_path, 0)


def test_a_changed_formula_in_any_file_of_the_package_changes_the_digest(tmp_path: Path) -> None:
    package = tmp_path / "surefoot"
    shutil.copytree(Path(surefoot.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    before = sources.digest_of(package)
    assert before == sources.package_digest()
    for path in sorted(package.rglob("*.py")):
        content = path.read_bytes()
        path.write_bytes(content + b"RADIUS = 1.01\n")
        assert sources.digest_of(package) != before, path
        path.write_bytes(content)
    assert sources.digest_of(package) == before


def test_a_file_that_comes_goes_or_moves_changes_the_digest_and_bytecode_does_not(tmp_path: Path) -> None:
    (tmp_path / "problem").mkdir()
    (tmp_path / "problem" / "limits.py").write_text("A = 1")
    before = sources.digest_of(tmp_path)
    (tmp_path / "problem" / "limits.pyc").write_text("compiled")
    assert sources.digest_of(tmp_path) == before
    (tmp_path / "problem" / "limits.py").rename(tmp_path / "limits.py")
    moved = sources.digest_of(tmp_path)
    (tmp_path / "limits.py").unlink()
    assert len({before, moved, sources.digest_of(tmp_path)}) == 3


def test_what_a_killed_process_left_half_written_is_swept_with_the_next_start(tmp_path: Path) -> None:
    store = Store(tmp_path, 0)
    fill(store, 3)
    (kept,) = (tmp_path / "runs").rglob("*.parquet")
    left = kept.with_name(".0-3.parquet.0123456789abcdef.part")
    left.write_text("half")
    os.utime(left, (0, 0))
    Store(tmp_path, 0)
    assert not left.exists()
    assert kept.exists()


def test_a_file_of_other_runs_under_this_name_is_refused(tmp_path: Path) -> None:
    store = Store(tmp_path / "new", 0)
    store.keep(CELL, Stretch(0, 3), columns_of(CELL, 1, 3, 0))
    with pytest.raises(InvalidInput, match=r"0-3\.parquet.*is damaged"):
        store.load(CELL, 3)


@pytest.mark.parametrize(("removed", "first"), [("0-10", 0), ("10-10", 10), ("20-5", 20)])
def test_runs_that_are_gone_are_never_passed_over(tmp_path: Path, removed: str, first: int) -> None:
    store = Store(tmp_path / "new", 0)
    fill(store, 25)
    next(tmp_path.rglob(f"{removed}.parquet")).unlink()
    with pytest.raises(InvalidInput, match=f"lacks runs of cell .* from number {first} on"):
        store.load(CELL, 25)
    fill(store, 25)
    assert len(store.load(CELL, 25)) == 25


def test_two_processes_never_work_in_one_folder(tmp_path: Path) -> None:
    first, second = Store(tmp_path, 0), Store(tmp_path, 0)
    with first.alone(), pytest.raises(InvalidInput, match="is being worked on by another process"), second.alone():
        pass
    with second.alone():
        pass


def test_runs_that_are_there_twice_are_counted_once(tmp_path: Path) -> None:
    store = Store(tmp_path, 0)
    for stretch in (Stretch(0, 10), Stretch(5, 10), Stretch(12, 8)):
        store.keep(CELL, stretch, columns_of(CELL, *stretch, 0))
    assert store.load(CELL, 20).run.tolist() == list(range(20))
    assert store.load(CELL, 13, per_arm=False).run.tolist() == list(range(13))
