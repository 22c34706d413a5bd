"""Files: read as text, and written whole or not at all.

A file is made without a name beside its place and put there in one step, so that who reads it sees the old content or
the new one, and a full disk, a crash or a lost cable leaves the old one. Where files without a name are not to be had,
what a killed process left beside it is swept later.
"""

from __future__ import annotations

import errno
import glob
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from surefoot.errors import InvalidInput

try:
    import fcntl
except ImportError:  # another system
    fcntl = None  # type: ignore[assignment]

UNFINISHED = ".part"
HELD = f".held{UNFINISHED}"  # one that is locked while its maker lives
STALE = 600.0  # seconds; younger ones may belong to another process at work in the same folder
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # a full disk, a used up quota, a file as large as it may be
_ROOM = "The disk is full, or the file as large as it may be: make room, or choose another place."
_WRITABLE = "Choose a file in a folder that exists and that you may write to."


def as_path(field: str, value: object) -> Path:
    """The value as a path."""
    if isinstance(value, str | os.PathLike) and isinstance(os.fspath(value), str):
        if os.fspath(value) == "":  # Path("") is the working folder, which nobody has named
            raise InvalidInput(field, value, "is empty", 'Name a path; "." is the working folder.')
        return Path(value)
    raise InvalidInput(field, value, "must be a path (text or pathlib.Path)", 'For example "problem.toml".')


def read_text(field: str, path: Path) -> str:
    """The whole file as text: UTF-8, with or without a byte order mark."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        reason = f"is not UTF-8 text (byte {error.start})"
        raise InvalidInput(field, str(path), reason, "Save the file in the encoding UTF-8.") from error
    except (OSError, ValueError) as error:  # ValueError: a null character
        remedy = f"Check the path; the working folder is {shown_folder()}."
        raise InvalidInput(field, str(path), f"cannot be read ({cause(error)})", remedy) from error


def write_bytes(field: str, path: Path, content: bytes, *, overwrite: bool = True) -> None:
    """As `write_whole`, to a path that someone gave: what goes wrong is a refusal of this field."""
    with writing(field, path, overwrite=overwrite) as file:
        file.write(content)


@contextmanager
def writing(field: str, path: Path, *, overwrite: bool = True) -> Iterator[BinaryIO]:
    """As `whole`, for a path that someone gave: what goes wrong with the file is a refusal of this field."""
    try:
        with whole(path, overwrite=overwrite) as file:
            yield file
    except FileExistsError as error:
        raise exists_already(field, path) from error
    except OSError as error:
        remedy = _ROOM if error.errno in NO_ROOM else _WRITABLE
        raise InvalidInput(field, str(path), f"cannot be written ({cause(error)})", remedy) from error
    except InvalidInput:
        raise
    except ValueError as error:  # a null character
        raise InvalidInput(field, str(path), f"cannot be written ({cause(error)})", _WRITABLE) from error


def exists_already(field: str, path: Path) -> InvalidInput:
    """The refusal to write over a file."""
    return InvalidInput(field, str(path), "exists already", "Name a new file, or allow it with overwrite=True.")


def write_whole(path: Path, content: bytes, *, overwrite: bool = True) -> None:
    """The file holds the content and nothing else: it is replaced in one step or left as it was."""
    with whole(path, overwrite=overwrite) as file:
        file.write(content)


@contextmanager
def whole(path: Path, *, overwrite: bool = True) -> Iterator[BinaryIO]:
    """A new file to be filled, which takes its place in one step once that went well; until then all is as it was.

    The permissions of an old one stay, and a link stays a link: what it points to is replaced. An OSError names the
    path. Without `overwrite` a file that is there stays, even one that somebody else makes at the same moment.
    """
    try:
        place = resolved(path)
        with unnamed(place) as descriptor:
            if place.exists():
                os.fchmod(descriptor, place.stat().st_mode & 0o7777)  # before there is anything to read in it
            with open(descriptor, "w+b", closefd=False) as file:
                yield file
            os.fsync(descriptor)
            if overwrite:
                with beside(place) as part:
                    give_name(descriptor, part)
                    part.replace(place)
            else:
                give_name(descriptor, place)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error  # of the file, not its part


@contextmanager
def unnamed(place: Path, mode: int = 0o666) -> Iterator[int]:
    """A descriptor of a file in the same folder that has no name until `give_name`: who is killed leaves nothing.

    Where the system cannot do that, it has a name of its own until then.
    """
    with beside(place) as part:
        try:
            if not hasattr(os, "O_TMPFILE") or not os.path.exists("/proc/self/fd"):
                raise OSError(errno.EOPNOTSUPP, "not on this system")
            descriptor = os.open(place.parent, os.O_TMPFILE | os.O_RDWR, mode)
        except OSError as error:
            if error.errno not in (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL):
                raise
            descriptor = os.open(part, os.O_CREAT | os.O_EXCL | os.O_RDWR, mode)
            _names[descriptor] = part
        try:
            yield descriptor
        finally:
            _names.pop(descriptor, None)
            os.close(descriptor)


_names: dict[int, Path] = {}  # of descriptors that need one


def give_name(descriptor: int, place: Path) -> None:
    """Puts the finished file where none is yet; FileExistsError where one is."""
    if descriptor in _names:
        place_new(_names[descriptor], place)
        return
    folder = os.open(place.parent, os.O_RDONLY)
    try:  # with a folder Python makes the one call that follows the link
        os.link(f"/proc/self/fd/{descriptor}", place, src_dir_fd=folder, follow_symlinks=True)
    finally:
        os.close(folder)


def place_new(part: Path, place: Path) -> None:
    """Puts the finished file where none is yet; FileExistsError where one is."""
    try:
        os.link(part, place)  # unlike a move, this never replaces a file
    except FileExistsError:
        raise
    except OSError:  # a file system without links: the place is taken first, and then filled
        place.open("xb").close()
        part.replace(place)


def resolved(path: Path) -> Path:
    """The path that the links lead to; links in a ring are refused as by the system."""
    try:
        place = path.resolve()
    except RuntimeError:  # until Python 3.13
        place = path
    if place.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    return place


@contextmanager
def beside(place: Path, *endings: str) -> Iterator[Path]:
    """A path in the same folder, to make the file at before it is put in place.

    Whatever is left there at the end is removed, also with these endings.
    """
    part = place.with_name(f".{place.name[:40]}.{secrets.token_hex(8)}{UNFINISHED}")
    try:
        yield part
    finally:
        for ending in ("", *endings):
            part.with_name(part.name + ending).unlink(missing_ok=True)


@contextmanager
def held_beside(place: Path, mode: int) -> Iterator[tuple[Path, int]]:
    """A new file in the same folder for those who must be given a path: its name, to be removed as soon as they have
    opened it, and a descriptor. From the first instant of that name it is locked, for as long as its maker lives."""
    part = place.with_name(f".{place.name[:40]}.{secrets.token_hex(8)}{HELD}")
    with unnamed(place, mode) as descriptor:
        with suppress(OSError):  # a file system without locks, on which nobody is taken for dead
            if fcntl is not None:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        try:
            give_name(descriptor, part)
            if descriptor in _names:
                _names[descriptor].unlink(missing_ok=True)
            yield part, descriptor
        finally:
            part.unlink(missing_ok=True)


def forget_unfinished_of(place: Path) -> None:
    """Removes what killed processes left half written beside this file; what may be of one at work is left alone."""
    for path in place.parent.glob(f".{glob.escape(place.name[:40])}.*{UNFINISHED}*"):
        with suppress(OSError):
            if _is_left(path):
                path.unlink()


def _is_left(path: Path) -> bool:
    """Whether the one who made the file is gone: nobody holds it, or, if it never was held, it has not been touched for
    a while."""
    if fcntl is None or not path.name.endswith(HELD):
        return time.time() - path.stat().st_mtime > STALE
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)


def forget_unfinished(folder: Path) -> None:
    """Removes what killed processes left half written, in this folder and below."""
    for path in folder.rglob(f".*{UNFINISHED}"):
        try:
            if time.time() - path.stat().st_mtime > STALE:
                path.unlink()
        except OSError:
            continue  # another process was faster


def cause(error: Exception) -> str:
    """What went wrong, in the system's words, without the path once more."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__


def shown_folder() -> str:
    """The working folder, or a word for it when it has been removed meanwhile."""
    try:
        return os.getcwd()
    except OSError:
        return "gone"
