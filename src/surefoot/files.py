"""Files: read as text, and written whole or not at all.

A file is made beside its place and moved there in one step, so that who reads it sees the old content or the new one,
and a full disk, a crash or a lost cable leaves the old one. What a killed process left beside it is swept later.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from surefoot.errors import InvalidInput

UNFINISHED = ".part"
STALE = 600.0  # seconds; younger ones may belong to another process at work in the same folder
_WRITABLE = "Choose a file in a folder that exists and that you may write to."


def as_path(field: str, value: object) -> Path:
    """The value as a path."""
    if isinstance(value, str | os.PathLike) and isinstance(os.fspath(value), str):
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


def write_bytes(field: str, path: Path, content: bytes) -> None:
    """As `write_whole`, to a path that someone gave: what goes wrong is a refusal of this field."""
    try:
        write_whole(path, content)
    except (OSError, ValueError) as error:  # ValueError: a null character
        raise InvalidInput(field, str(path), f"cannot be written ({cause(error)})", _WRITABLE) from error


def write_whole(path: Path, content: bytes) -> None:
    """The file holds the content and nothing else: it is replaced in one step or left as it was.

    Its permissions stay, and a link stays a link: what it points to is replaced. An OSError names the path.
    """
    try:
        place = resolved(path)
        with beside(place) as part:
            with part.open("xb") as file:
                if place.exists():
                    shutil.copymode(place, part)  # before there is anything to read in it
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            part.replace(place)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error  # of the file, not its part


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
