"""Where compiled code is kept between processes.

Numba's own cache looks only at the file of the function it stores and would not notice a changed formula in another
file. This folder is named by a digest of every source file of the package that can hold a kernel, of the versions that
compile it, and of the CPU.
"""

import hashlib
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from pathlib import Path
from threading import get_ident

try:
    import fcntl
except ImportError:  # another system
    fcntl = None  # type: ignore[assignment]

HOLDS_KERNELS = ("core", "sets", "policies", "worlds")
KEPT = 30.0  # days that compiled code of another source stays unused


def cache_root() -> Path:
    """The folder that holds compiled code: SUREFOOT_CACHE, or `surefoot` in the user's cache folder."""
    if chosen := os.environ.get("SUREFOOT_CACHE"):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "surefoot"


def source_digest(folders: tuple[str, ...] = HOLDS_KERNELS) -> str:
    """A digest of every file of ours that can hold a kernel, or of those in other folders, as it is on disk now."""
    digest = hashlib.sha256()
    package = Path(__file__).parent.parent
    for folder in folders:
        for path in sorted((package / folder).glob("*.py")):
            digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


_digest_at_start = source_digest()  # before any kernel is bound


@cache
def folder_name() -> str:
    """The name of the folder: our source, and what compiles it for which machine."""
    from llvmlite import binding

    tools = " ".join(version(package) for package in ("numba", "numpy", "llvmlite"))
    machine = f"{sys.version} {tools} {binding.get_host_cpu_name()} {Path(__file__).parent.parent}"
    return "kernels-" + hashlib.sha256(f"{_digest_at_start} {machine}".encode()).hexdigest()[:20]


def cache_folder() -> Path | None:
    """The folder for this very source, or None where nothing can be kept, and every process compiles anew.

    Nothing is kept either when a source has changed since this process began: what it has loaded may be the old text or
    the new one.
    """
    if source_digest() != _digest_at_start:
        return None
    folder = cache_root() / folder_name()
    try:
        if not folder.is_dir():
            folder.mkdir(parents=True, exist_ok=True)
            _forget_old_folders(folder)
        probe = folder / f".probe-{os.getpid()}-{get_ident()}"
        probe.touch()
        probe.unlink()
    except OSError:
        return None
    return folder


@contextmanager
def only_one(folder: Path | None, name: str) -> Iterator[None]:
    """Inside, no other process compiles what has this name: of several that begin at once one compiles, and the others
    find it done. Who is killed lets the next one in."""
    if folder is None or fcntl is None:
        yield
        return
    try:
        file = (folder / f".{name}.lock").open("w")
    except OSError:  # the folder is full, or gone: each for itself
        yield
        return
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _forget_old_folders(current: Path) -> None:
    """Removes compiled code of other sources that nobody has touched for a month."""
    import shutil

    for other in current.parent.glob("kernels-*"):
        try:
            if other != current and time.time() - other.stat().st_mtime > KEPT * 86_400:
                shutil.rmtree(other, ignore_errors=True)
        except OSError:
            continue  # another process was faster
