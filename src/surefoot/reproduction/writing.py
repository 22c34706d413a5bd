"""Files that are either whole or not there: written beside their place, then moved into it."""

import os
import time
from pathlib import Path

UNFINISHED = ".part"
STALE = 600.0  # seconds; younger ones may belong to another process at work in the same folder


def write_whole(path: Path, content: bytes) -> None:
    """Puts the content at this path in one step; what was there stays until then, and a failure leaves nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}{UNFINISHED}")
    try:
        with beside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError as error:
        error.filename = error.filename or str(path)  # a full disk does not say where
        raise
    finally:
        beside.unlink(missing_ok=True)


def forget_unfinished(folder: Path) -> None:
    """Removes what a killed process left half written."""
    for path in folder.rglob(f".*{UNFINISHED}"):
        try:
            if time.time() - path.stat().st_mtime > STALE:
                path.unlink()
        except OSError:
            continue  # another process was faster
