"""Snapshots: where a study stood after some event, so that whoever opens it replays only what came since.

They are a cache. They lie in the user's own folder beside the compiled code, one file for each study, and not in the
storage: whoever may write to that could otherwise make others believe a state. One is used only if it was written by
this very source and the study has just that event, by its hash, in that place; whatever else is found there is thrown
away without a word, and so is nothing ever said because a snapshot could not be written or read. Nothing is proven by
one either: certificates, ends and audits replay everything (`Handle.proven`).

    magic    "surefoot snapshot 1" and a line end
    digest   SHA-256 of all that follows, 32 bytes
    length   of the header, 8 bytes, little-endian
    header   JSON: source, origin, sequence and head, the plain values of the ledger, and the sizes of the blocks
    blocks   bytes, one after the other
"""

import json
import os
import stat
import struct
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from surefoot import __version__
from surefoot.core.kernel_cache import cache_root, folder_name, source_digest
from surefoot.errors import AuditWarning, outside
from surefoot.files import beside, forget_unfinished
from surefoot.live.snapshots import NotPlain, Packed, pack, unpack
from surefoot.policies import Policy
from surefoot.storage.protocol import Events
from surefoot.studies.entries import StudyLedger
from surefoot.studies.import_order import Statement

MAGIC = b"surefoot snapshot 1\n"
LENGTH = struct.Struct("<Q")
FOLDER = "snapshots"
LARGEST = 256 * 2**20  # bytes of one snapshot: a study whose state is larger has none
ALL = 2**30  # bytes of all snapshots together; the oldest go first
EVENTS = 5_000  # that are entered before a snapshot is written
FEW = 2_000  # events that are worth one if it took long to enter them
LONG = 0.5  # seconds
SHARE = 0.01  # of the time, at most, is spent on writing snapshots
DECIDES = ("core", "live", "policies", "problem", "sets", "storage", "studies")  # what a state depends on
_source_at_start = source_digest(DECIDES)


@cache
def this_source() -> str:
    """What a snapshot can only be read by: the source, the machine and the libraries that computed it."""
    return f"{__version__} {_source_at_start} {folder_name()} {sys.byteorder}"


class Snapshots:
    """The snapshot of one study."""

    def __init__(self, origin: bytes, policy: Policy) -> None:
        self._origin, self._policy = origin, policy
        self._kept_at = 0  # the sequence of the last one that was read or written
        self._seconds = 0.0  # that entering the events since has taken
        self._not_before = 0.0  # by the clock of the process: so seldom that it costs next to nothing
        self._doubted = False

    def begun(self, new: Callable[[], StudyLedger], stored: Events) -> StudyLedger:
        """The ledger from the snapshot, if there is one that fits; otherwise one before the first event."""
        ledger = new()
        self._kept_at = 0
        found = self._found(ledger)
        if found is None:
            return ledger
        header, blocks = found
        event = stored.at(header["sequence"])
        if event is None or event["hash"] is None or bytes(event["hash"]).hex() != header["head"]:
            self.drop()
            return ledger
        try:
            unpack(ledger, Packed(header["ledger"], blocks), (Statement,))
            if (ledger.sequence, ledger.head.hex()) != (header["sequence"], header["head"]):
                raise ValueError("it is not where it says")
        except Exception:  # whatever it is: it is only a cache
            self.drop()
            return new()
        self._kept_at = ledger.sequence
        return ledger

    def _found(self, ledger: StudyLedger) -> tuple[dict[str, Any], list[bytes]] | None:
        """What the file holds, if it is of this study and this source."""
        if not self._can_be(ledger):
            return None
        try:
            found = read(self._path())
            if found is None:
                return None
            said = {name: found[0][name] for name in (*self._named(), "sequence")}
            if said == {**self._named(), "sequence": said["sequence"]} and type(said["sequence"]) is int:
                return found
        except Exception:  # whatever it is: it is only a cache
            pass
        self.drop()
        return None

    def took(self, seconds: float) -> None:
        """So long it took to enter events."""
        self._seconds += seconds

    def keep_if_due(self, lock: AbstractContextManager[Any], ledger_now: Callable[[], StudyLedger | None]) -> None:
        """Writes one, if enough has happened since the last; the ledger is locked only while it is read."""
        began = time.monotonic()
        with lock:
            ledger = ledger_now()
            content = self._packed(ledger) if ledger is not None and self._is_due(ledger) else None
        if content is not None:
            self._keep(content)
            now = time.monotonic()
            self._not_before = now + (now - began) / SHARE

    def _is_due(self, ledger: StudyLedger) -> bool:
        since = ledger.sequence - self._kept_at
        return (since >= EVENTS or (since >= FEW and self._seconds > LONG)) and time.monotonic() >= self._not_before

    def _packed(self, ledger: StudyLedger) -> bytes | None:
        """The snapshot of this ledger; None where there can be none."""
        self._kept_at, self._seconds = ledger.sequence, 0.0
        if not self._can_be(ledger):
            return None
        try:
            plain, blocks = pack(ledger, ledger.in_doubt, (Statement,))
        except NotPlain:  # an interruption came amid a step
            return None
        if sum(map(len, blocks)) > LARGEST:
            return None
        header = {**self._named(), "sequence": ledger.sequence, "head": ledger.head.hex(), "ledger": plain}
        return written(header, blocks)

    def _keep(self, content: bytes) -> None:
        """Writes the snapshot, if that is possible."""
        with suppress(OSError):
            folder = self._path().parent
            folder.parent.mkdir(parents=True, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
            if is_own_folder(folder):
                write(self._path(), content)
                make_room(folder)

    def doubt(self) -> None:
        """It was not where the events lead to."""
        self.drop()
        self._doubted = True

    def say_doubts(self, name: str) -> None:
        """Warns of a snapshot that was wrong, once."""
        if self._doubted:
            self._doubted = False
            warnings.warn(
                f"A snapshot of the study {name!r} was not what its events lead to, and is thrown away. Pulls that "
                "were given out by it may not be those that were due: `audit` tells by number.",
                AuditWarning,
                stacklevel=outside(),
            )

    def drop(self) -> None:
        """Forgets it."""
        self._kept_at = 0
        with suppress(OSError):
            self._path().unlink(missing_ok=True)

    def _path(self) -> Path:
        return cache_root() / FOLDER / f"{self._origin.hex()}.snapshot"

    def _named(self) -> dict[str, Any]:
        return {"source": this_source(), "origin": self._origin.hex()}

    def _can_be(self, ledger: StudyLedger) -> bool:
        """Whether the source names everything that decides: a policy of the user's own may change unseen."""
        return type(ledger) is StudyLedger and type(self._policy).__module__.startswith("surefoot.policies.")


def differs(restored: StudyLedger, whole: StudyLedger) -> bool:
    """Whether a ledger that began with a snapshot is not where all events lead to; nobody can tell if one of them has
    entered events that the other has not."""
    if restored.sequence != whole.sequence:
        return False
    facts = ("head", "outstanding", "counts", "raised", "releases", "stop", "end", "outcome")
    words, *rest = restored.learner.remembered()
    others, *same = whole.learner.remembered()
    learned = np.array_equal(words, others) and repr(rest) == repr(same)  # repr: what is not a number is itself
    return not learned or any(getattr(restored, fact) != getattr(whole, fact) for fact in facts)


# -- files ----------------------------------------------------------------------------------------------------------


def written(header: dict[str, Any], blocks: list[bytes]) -> bytes:
    """The content of the file."""
    text = json.dumps({**header, "blocks": [len(block) for block in blocks]}).encode()
    rest = b"".join([LENGTH.pack(len(text)), text, *blocks])
    return MAGIC + sha256(rest).digest() + rest


def read(path: Path) -> tuple[dict[str, Any], list[bytes]] | None:
    """What the file holds; None where there is none, and ValueError or OSError where it is not what was written."""
    try:
        if not is_own_folder(path.parent):
            return None
        place = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except FileNotFoundError:
        return None
    with open(place, "rb") as file:
        about = os.fstat(place)
        if not stat.S_ISREG(about.st_mode) or about.st_size > 2 * LARGEST or not is_own(about):
            raise ValueError("it is not a file of ours")
        content = file.read(2 * LARGEST)
    start = len(MAGIC) + 32
    if content[: len(MAGIC)] != MAGIC or sha256(memoryview(content)[start:]).digest() != content[len(MAGIC) : start]:
        raise ValueError("it is not whole")
    (length,) = LENGTH.unpack_from(content, start)
    at = start + LENGTH.size
    header = json.loads(content[at : at + length])
    at += length
    blocks = []
    for size in header["blocks"]:
        blocks.append(content[at : at + size])
        at += size
    if at != len(content):
        raise ValueError("its blocks are not as long as they say")
    return header, blocks


def is_own(about: os.stat_result) -> bool:
    """Whether the file or folder is this user's, and nobody else may write to it."""
    mine = not hasattr(os, "geteuid") or about.st_uid == os.geteuid()
    return mine and (os.name == "nt" or not about.st_mode & 0o022)


def is_own_folder(folder: Path) -> bool:
    """Whether it is a folder of this user's, no link to one, and nobody else may write to it."""
    about = folder.lstat()
    return stat.S_ISDIR(about.st_mode) and is_own(about)


def write(path: Path, content: bytes) -> None:
    """Puts the whole file in place at once. It need not survive a crash: then it is not whole, and is thrown away."""
    with beside(path) as part:
        place = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(place, "wb") as file:
            file.write(content)
        part.replace(path)


def make_room(folder: Path) -> None:
    """Removes the oldest snapshots until the rest are not too much, and what killed processes left."""
    forget_unfinished(folder)
    found = []
    for path in folder.glob("*.snapshot"):
        try:
            about = path.lstat()
            found.append((about.st_mtime, about.st_size, path))
        except OSError:
            continue  # another process was faster
    total = 0
    for _, size, path in sorted(found, reverse=True):
        total += size
        if total > ALL:
            path.unlink(missing_ok=True)
