"""Files are whole or as they were, whatever goes wrong, and who is refused is told which field and why."""

import errno
import os
import stat
import sys
import threading
from pathlib import Path

import pytest

import surefoot as sf
from surefoot import files
from surefoot.errors import InvalidInput
from surefoot.files import as_path, beside, forget_unfinished, read_text, write_bytes, write_whole
from surefoot.reproduction.driver import reproduce


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)


def test_a_file_is_made_or_replaced(tmp_path: Path) -> None:
    for content in (b"old", b"newer", b""):
        write_whole(tmp_path / "kept", content)
        assert (tmp_path / "kept").read_bytes() == content
        assert os.listdir(tmp_path) == ["kept"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o200])
def test_permissions_stay_and_are_there_before_the_content(
    tmp_path: Path, mode: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, seen = tmp_path / "kept", []

    def look(descriptor: int) -> None:
        seen.append(stat.S_IMODE(os.fstat(descriptor).st_mode))

    path.write_text("old")
    path.chmod(mode)
    monkeypatch.setattr(os, "fsync", look)
    write_whole(path, b"new")
    assert [stat.S_IMODE(path.stat().st_mode), *seen] == [mode, mode]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder/real")
    write_whole(tmp_path / "link", b"content")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "folder" / "real").read_bytes() == b"content"
    assert os.listdir(tmp_path / "folder") == ["real"]


def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path: Path, full_disk: None) -> None:
    (tmp_path / "kept").write_bytes(b"old")
    with pytest.raises(OSError, match="No space left on device") as caught:
        write_whole(tmp_path / "kept", b"new")
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(tmp_path / "kept"))
    assert (tmp_path / "kept").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["kept"]


def test_what_is_no_bytes_leaves_the_old_file_too(tmp_path: Path) -> None:
    write_whole(tmp_path / "kept", b"old")
    with pytest.raises(TypeError):
        write_whole(tmp_path / "kept", "text is not bytes")  # type: ignore[arg-type]
    assert (tmp_path / "kept").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["kept"]


@pytest.mark.parametrize("name", ["folder", "gone/file", "ring", "folder/ring"])
def test_a_place_that_cannot_be_written_is_named_and_left_alone(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    for ring in ("ring", "folder/ring"):
        (tmp_path / ring).symlink_to(tmp_path / ring)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(OSError) as caught:  # noqa: PT011
        write_whole(tmp_path / name, b"content")
    assert caught.value.filename == str(tmp_path / name)
    assert sorted(tmp_path.rglob("*")) == before
    with pytest.raises(InvalidInput, match=r"cannot be written \(.*folder that exists") as refused:
        write_bytes("--out", tmp_path / name, b"content")
    assert (refused.value.field, refused.value.value) == ("--out", str(tmp_path / name))


@pytest.mark.parametrize("name", ["nul\0", "\ud800"])
def test_a_name_that_no_file_can_have_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        write_bytes("path", tmp_path / name, b"")
    assert caught.value.field == "path"
    with pytest.raises(InvalidInput):
        read_text("path", tmp_path / name)


@pytest.mark.parametrize("letter", ["x", "ü", "🧗"])
def test_the_longest_names_can_be_written(tmp_path: Path, letter: str) -> None:
    name = letter * (255 // len(letter.encode()))
    write_whole(tmp_path / name, b"content")
    assert os.listdir(tmp_path) == [name]


def test_readers_see_the_old_content_or_the_new_and_never_less(tmp_path: Path) -> None:
    path, contents = tmp_path / "read", [bytes([letter]) * 200_000 for letter in b"ab"]
    write_whole(path, contents[0])
    finished = threading.Event()

    def write() -> None:
        for turn in range(40):
            write_whole(path, contents[turn % 2])
        finished.set()

    writer = threading.Thread(target=write)
    writer.start()
    while not finished.is_set():
        assert path.read_bytes() in contents
    writer.join()


def test_what_is_made_beside_is_removed_with_its_companions(tmp_path: Path) -> None:
    with beside(tmp_path / "copy.db", "-wal") as part:
        for ending in ("", "-wal"):
            part.with_name(part.name + ending).write_text("half")
    assert os.listdir(tmp_path) == []


def test_only_what_nobody_can_be_working_on_is_swept(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    left, young = tmp_path / "runs" / ".left.0.part", tmp_path / ".young.0.part"
    for path in (left, young, tmp_path / "mine.part", tmp_path / ".mine"):
        path.write_text("half")
        if path != young:
            os.utime(path, (0, 0))
    forget_unfinished(tmp_path)
    assert sorted(path.name for path in tmp_path.rglob("*")) == [".mine", ".young.0.part", "mine.part", "runs"]


def test_text_is_read_with_or_without_a_mark(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes("\ufeffü".encode())
    assert read_text("arms", tmp_path / "text") == "ü"
    (tmp_path / "text").write_bytes(b"a\xff")
    with pytest.raises(InvalidInput, match=r"arms = .*is not UTF-8 text \(byte 1\)"):
        read_text("arms", tmp_path / "text")
    with pytest.raises(InvalidInput, match=r"No such file.*the working folder is"):
        read_text("arms", tmp_path / "gone")


def test_a_working_folder_that_is_gone_is_no_further_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert files.shown_folder() == "gone"
    with pytest.raises(InvalidInput):
        write_bytes("path", Path("p.toml"), b"")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("value", [5, None, b"p.toml", ["p.toml"]])
def test_what_is_no_path_is_refused(value: object) -> None:
    with pytest.raises(InvalidInput, match="must be a path"):
        as_path("path", value)


def test_an_empty_path_is_not_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shell's variable that was never set, mostly."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInput, match=r"out = '': is empty"):
        sf.sweep({"worlds": ["hard"], "policies": ["safe-gap"], "runs": 1}, out="")
    with pytest.raises(InvalidInput, match=r"out = '': is empty"):
        reproduce(["table1"], out="", quick=True)
    assert os.listdir(tmp_path) == []
    assert as_path("out", ".") == Path()


def test_rows_that_cannot_be_written_leave_the_old_file(tmp_path: Path, full_disk: None) -> None:
    world = sf.worlds.hard()
    runs = sf.simulate(world, world.paper_problem(), runs=1, workers=1, max_pulls=5)
    (tmp_path / "runs.parquet").write_bytes(b"old")
    with pytest.raises(InvalidInput, match=r"path = .*No space left"):
        runs.to_parquet(tmp_path / "runs.parquet")
    with pytest.raises(InvalidInput, match="must be a path"):
        runs.to_parquet(sys.stdout)  # type: ignore[arg-type]
    assert (tmp_path / "runs.parquet").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["runs.parquet"]
