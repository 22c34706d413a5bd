"""A study as a file: where it is put, and how it is written. `archives` and `carried` read it.

The file is a ZIP archive of

    study.json      the settings of the study, the shape of its arms, and its name
    arms.f8         the features of the arms: float64, little-endian, row by row
    events.jsonl    the events, one on each line: exactly the bytes over which the hash chain is built
    manifest.json   the format, the SHA-256 of the other three, the number of events, and the head of the chain

so that whoever has only the file can compute the chain again. The same study always gives the same bytes. All of it is
written while it is read, so that a study of any length takes little memory.
"""

import hashlib
import json
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from surefoot.errors import InvalidInput, StorageDamaged
from surefoot.files import as_path, exists_already, writing
from surefoot.live.readings import unpacked
from surefoot.storage.chain import ChainBroken, line_of, origin_of, verified
from surefoot.storage.protocol import COLUMNS, Arms, Events, StudyRow
from surefoot.studies.archives import ARMS, EVENTS, FORMAT, FREE, LARGEST_TABLE, MANIFEST, STUDY
from surefoot.studies.handle import Handle

SUFFIXES = (".study", ".zip")
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the date of every member
AT_ONCE = 1_000  # lines that are handed to the compressor together
_HASH, _SAFETY = COLUMNS.index("hash"), COLUMNS.index("safety")


def export_place(path: object, overwrite: bool) -> Path:
    """The place of an export: its ending says its format, and a file that is there stays unless that is allowed."""
    place = as_path("path", path)
    if place.suffix.lower() not in SUFFIXES:
        remedy = f"Use a path that ends in {' or '.join(SUFFIXES)}, which both mean a ZIP archive of the whole study."
        raise InvalidInput("path", str(place), "is of no known format", remedy)
    if not overwrite and place.exists():
        raise exists_already("path", place)
    return place


def export_study(handle: Handle, path: object, *, overwrite: bool = False) -> None:
    """The file holds the whole study, each event verified against the chain; what was in it before stays, or is
    replaced at once where that is allowed."""
    place = export_place(path, overwrite)
    _, row, arms = handle.store.find(handle.name)
    with writing("path", place, overwrite=overwrite) as file:

        def work(stored: Events) -> None:
            file.seek(0)
            file.truncate()  # what an attempt left that lost the storage on the way
            write_archive(file, row, arms, stored.after(0))

        try:
            handle.store.read(handle.identity, handle.name, work)
        except ChainBroken as error:
            detail = f"holds a study {handle.name!r} that {error}"
            raise StorageDamaged(str(handle.store.address), detail) from error


def write_archive(file: BinaryIO, row: StudyRow, arms: Arms, happened: Iterable[Sequence[Any]]) -> None:
    """Writes the study; the events are in the order of `COLUMNS`. ChainBroken where they are not those written once."""
    head, count, digests = origin_of(row, arms.digest), 0, {}
    table = as_json({**vars(row), "arms": {"count": arms.count, "dimension": arms.dimension}})
    if len(table) > LARGEST_TABLE:
        reason = f"is about a problem of {len(table):,} bytes without its features, and files hold {LARGEST_TABLE:,}"
        raise InvalidInput("study", row.name, reason, "Copy the whole storage with `surefoot storage backup`.")
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in ((STUDY, table), (ARMS, arms.content)):
            digests[name] = hashlib.sha256(content).hexdigest()
            archive.writestr(zipfile.ZipInfo(name, LONG_AGO), content, way_for(content))
        digest = hashlib.sha256()
        with archive.open(member(EVENTS), "w", force_zip64=True) as lines:
            for part in in_parts(verified(head, happened)):
                content = b"".join(line_of(as_plain(values)) + b"\n" for values in part)
                digest.update(content)
                lines.write(content)
                head, count = bytes(part[-1][_HASH]), count + len(part)
        digests[EVENTS] = digest.hexdigest()
        manifest = as_json({"format": FORMAT, "sha256": digests, "events": count, "head": head.hex()})
        archive.writestr(zipfile.ZipInfo(MANIFEST, LONG_AGO), manifest, zipfile.ZIP_DEFLATED)


def in_parts(rows: Iterator[Sequence[Any]]) -> Iterator[list[Sequence[Any]]]:
    """The rows, some at a time."""
    part: list[Sequence[Any]] = []
    for row in rows:
        part.append(row)
        if len(part) == AT_ONCE:
            yield part
            part = []
    if part:
        yield part


def member(name: str) -> zipfile.ZipInfo:
    """A member that is compressed while it is written."""
    info = zipfile.ZipInfo(name, LONG_AGO)
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


def way_for(content: bytes) -> int:
    """How a member is kept: a large table of zeros would be packed so well that readers take it for an attack."""
    return zipfile.ZIP_STORED if len(content) > FREE else zipfile.ZIP_DEFLATED


def as_plain(values: Sequence[Any]) -> dict[str, Any]:
    """The event as it is hashed: readings as numbers, zeros without a sign, and without its own hash."""
    held = {name: value + 0.0 if type(value) is float else value for name, value in zip(COLUMNS, values, strict=True)}
    del held["hash"]
    if held["safety"] is not None:
        held["safety"] = unpacked(values[_SAFETY]).tolist()
    return held


def as_json(table: dict[str, Any]) -> bytes:
    """The table as people read it; the format is fixed, so that a study exports to the same bytes for ever."""
    return json.dumps(table, indent=1).encode() + b"\n"
