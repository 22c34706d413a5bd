"""The archive of a study that comes from somewhere else. Its parts are handed on only as far as they are what they say
they are, and never more than a part may hold: whoever made the file may have meant harm.

Limits, each refused by name: the members are the four that are written, each once, stored or deflated; `manifest.json`
and `study.json` are small; `arms.f8` is as large as its shape says; beyond `FREE` bytes nothing is packed tighter than
`TIGHTEST` times; a line is not longer than `LONGEST_LINE`; JSON is not nested or branched beyond reason.
"""

import hashlib
import io
import json
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Never

from surefoot.errors import InvalidInput, NotEnoughMemory, PolicyNeeded, SurefootError

FORMAT, FIRST_FORMAT = "surefoot study 2", "surefoot study 1"
STUDY, ARMS, EVENTS, MANIFEST = "study.json", "arms.f8", "events.jsonl", "manifest.json"
MEMBERS = (STUDY, ARMS, EVENTS, MANIFEST)
REMEDY = "Export the study once more, or use another copy of the file."

LARGEST_MANIFEST = 10_000  # bytes
LARGEST_TABLE = 16_000_000  # bytes of study.json: a hundred thousand arms with long names
LARGEST_ARMS = 4_000_000_000  # bytes of arms.f8
LONGEST_LINE = 32_000_000  # bytes of an event: a statement about a million time stamps
MOST_EVENTS = 2**40
FREE = 16_000_000  # bytes that may be packed as tightly as can be
TIGHTEST = 100  # times that larger members may shrink; those of real studies shrink ten times
MOST_BRANCHES = 1_000_000  # opening brackets in one piece of JSON

FAULTS = (
    zipfile.BadZipFile, zlib.error, LookupError, ValueError, TypeError, EOFError, RuntimeError, AttributeError,
    ArithmeticError, OSError, struct.error,
)  # fmt: skip


class Unfit(ValueError):
    """Why a file is refused."""


class Archive:
    """The members of a file that is open, as far as they are sound."""

    def __init__(self, file: zipfile.ZipFile) -> None:
        self._file = file
        self._members = self._checked_members()
        self.manifest = self._read_manifest()
        self.first_format = self.manifest["format"] == FIRST_FORMAT

    @property
    def events(self) -> int | None:
        """How many events there are, as far as that is written."""
        found: int | None = self.manifest.get("events")
        return found

    def table(self) -> Any:
        """What is in study.json."""
        return parsed(self._whole(STUDY, LARGEST_TABLE).decode())

    def arms(self, count: int, dimension: int) -> bytes:
        """The features of so many arms."""
        size = 8 * count * dimension
        if self._members[ARMS].file_size != size:
            raise Unfit(f"holds arms of {self._members[ARMS].file_size:,} bytes, and their shape needs {size:,}")
        return self._whole(ARMS, LARGEST_ARMS)

    def lines(self) -> Iterator[bytes]:
        """The lines of events, without their ends; that they are those that were written is said after the last."""
        digest = hashlib.sha256()
        with self._file.open(EVENTS) as member, io.BufferedReader(member, 1 << 16) as reader:  # type: ignore[type-var]
            while line := reader.readline(LONGEST_LINE + 1):
                if not line.endswith(b"\n"):
                    long = len(line) > LONGEST_LINE
                    raise Unfit("holds an event that is too long" if long else "breaks off amid an event")
                digest.update(line)
                yield line[:-1]
        self._compare(EVENTS, digest.hexdigest())

    # -- within ---------------------------------------------------------------------------------------------

    def _checked_members(self) -> dict[str, zipfile.ZipInfo]:
        found = self._file.infolist()
        if sorted(each.filename for each in found) != sorted(MEMBERS):
            raise Unfit(f"must hold {', '.join(MEMBERS)}, each once and nothing else")
        for each in found:
            if each.flag_bits & 0x1 or each.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise Unfit(f"holds {each.filename} encrypted, or packed in a way that is not used")
            if each.file_size > FREE and each.file_size > TIGHTEST * max(each.compress_size, 1):
                raise Unfit(f"holds {each.filename} packed so tightly that it would burst: {each.file_size:,} bytes")
        return {each.filename: each for each in found}

    def _read_manifest(self) -> dict[str, Any]:
        found = parsed(self._read(MANIFEST, LARGEST_MANIFEST).decode())
        if not isinstance(found, dict):
            raise Unfit(f"must have a {MANIFEST} that is a table")
        version = found.get("format")
        if version not in (FORMAT, FIRST_FORMAT):
            raise Unfit(f"is of the format {str(version)[:60]!r}, and this version of surefoot reads {FORMAT!r}")
        wanted = {"format", "sha256"} | (set() if version == FIRST_FORMAT else {"events", "head"})
        if set(found) != wanted or not isinstance(found["sha256"], dict):
            raise Unfit(f"must have a {MANIFEST} with {', '.join(sorted(wanted))}")
        if version == FORMAT:
            whole_number("events", found["events"], 0, MOST_EVENTS)
            if not isinstance(found["head"], str):
                raise Unfit("must name the head of its chain")
        return found

    def _whole(self, name: str, most: int) -> bytes:
        content = self._read(name, most)
        self._compare(name, hashlib.sha256(content).hexdigest())
        return content

    def _read(self, name: str, most: int) -> bytes:
        if self._members[name].file_size > most:
            raise Unfit(f"holds {name} of {self._members[name].file_size:,} bytes, and {most:,} are the most")
        return self._file.read(name)

    def _compare(self, name: str, digest: str) -> None:
        if self.manifest["sha256"].get(name) != digest:
            raise Unfit(f"holds a member {name} that is not the one that was written")


@contextmanager
def opened_archive(place: Path) -> Iterator[Archive]:
    """The archive at this place, while it is read."""
    try:
        file = place.open("rb")
    except FileNotFoundError as error:
        raise InvalidInput("path", str(place), "does not exist", "Check the path.") from error
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) else error
        raise InvalidInput("path", str(place), f"cannot be read ({said})", "Check the path.") from error
    with file:
        with refusing(place, "is not a whole export of a study"):
            archive = zipfile.ZipFile(file)
            found = Archive(archive)
        with archive:
            yield found


@contextmanager
def refusing(place: Path, verdict: str = "holds what cannot be a study") -> Iterator[None]:
    """Inside, whatever breaks is the fault of the file: what is damaged may break its readers in any way."""
    try:
        yield
    except Unfit as error:
        raise InvalidInput("path", str(place), str(error), REMEDY) from error
    except (PolicyNeeded, NotEnoughMemory):
        raise
    except (SurefootError, *FAULTS) as error:
        reason = f"{verdict} ({str(error)[:400] or type(error).__name__})"
        raise InvalidInput("path", str(place), reason, REMEDY) from error


def parsed(text: str, *, strict: bool = True) -> Any:
    """What the text says in JSON. Strictly, NaN and infinity are none; in events a gap may be infinite."""
    if text.count("[") + text.count("{") > MOST_BRANCHES:
        raise Unfit("holds JSON that is branched beyond reason")
    return (_decode if strict else _decode_event)(text)


def _refuse_constant(word: str) -> Never:
    raise Unfit(f"holds {word}, which is no number")


_decode = json.JSONDecoder(parse_constant=_refuse_constant).decode
_decode_event = json.JSONDecoder().decode


def whole_number(field: str, value: object, least: int, most: int) -> int:
    """The value as a whole number within these bounds."""
    if type(value) is not int or not least <= value <= most:
        raise Unfit(f"holds {field} = {str(value)[:60]}, which must be a whole number from {least:,} to {most:,}")
    return value
