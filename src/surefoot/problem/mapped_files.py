"""Arms that stay in a file: whether it is still as it was when they were checked.

Who writes into a mapped file changes the arms under a running experiment, and a file that is cut short takes the
process down when its pages are read. So what the system knows of the file is compared before it is read again.
"""

import os
from typing import Any, NamedTuple

import numpy as np

from surefoot.errors import InvalidInput


class MappedFile(NamedTuple):
    """A file that arms are mapped from, as it was when they were checked."""

    path: str
    device: int
    inode: int
    size: int
    changed: int  # nanoseconds


def mapped_file_of(features: np.ndarray[Any, Any]) -> MappedFile | None:
    """The file that the features lie in; None if they are in memory."""
    home: Any = features
    while isinstance(home, np.ndarray) and not isinstance(home, np.memmap):
        home = home.base
    path = getattr(home, "filename", None)
    return None if path is None else as_it_is(os.fspath(path))


def as_it_is(path: str) -> MappedFile | None:
    """What the system says of the file now; None if it has lost its name, and lives on only in who has mapped it."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return MappedFile(path, found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def check_unchanged(was: MappedFile | None) -> None:
    """Refuses a file that somebody has written into. A new file under its name is no matter: the old one is mapped."""
    now = None if was is None else as_it_is(was.path)
    if now is not None and was is not None and now[:3] == was[:3] and now != was:
        reason = "has been written into since the problem was made from it, and its arms are not what they were"
        remedy = "Make the problem anew: from a file that stays as it is, or from np.load(path), which is a copy."
        raise InvalidInput("arms", was.path, reason, remedy)
