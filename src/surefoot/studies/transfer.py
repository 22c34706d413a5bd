"""A study as a file, and back.

The file is a ZIP archive of `study.json`, `arms.f8`, `events.jsonl` and `manifest.json`, which holds the SHA-256 of
the other three. Numbers are written as the shortest text that reads back as the same number, so nothing is lost, and
the same study always gives the same bytes.
"""

import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from surefoot.errors import InvalidInput
from surefoot.files import as_path, exists_already, write_bytes
from surefoot.live.readings import packed, unpacked
from surefoot.storage.protocol import Arms, StudyRow
from surefoot.storage.tables import events as columns
from surefoot.studies.events import Event

FORMAT = "surefoot study 1"
SUFFIXES = (".study", ".zip")
STUDY, ARMS, EVENTS, MANIFEST = "study.json", "arms.f8", "events.jsonl", "manifest.json"
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the date of every member
TYPES = {column.name: column.type.python_type for column in columns.columns if column.name != "study"}
REMEDY = "Export the study once more, or use another copy of the file."


class Carried(NamedTuple):
    """A study as it was read from a file."""

    row: StudyRow
    arms: Arms
    events: list[Event]


def export_place(path: object, overwrite: bool) -> Path:
    """The place of an export: its ending says its format, and a file that is there stays unless that is allowed."""
    place = as_path("path", path)
    if place.suffix.lower() not in SUFFIXES:
        remedy = f"Use a path that ends in {' or '.join(SUFFIXES)}, which both mean a ZIP archive of the whole study."
        raise InvalidInput("path", str(place), "is of no known format", remedy)
    if not overwrite and place.exists():
        raise exists_already("path", place)
    return place


def write_study(
    path: object, row: StudyRow, arms: Arms, happened: Iterable[Event], *, overwrite: bool = False
) -> None:  # fmt: skip
    """The file holds the whole study; what was in it before stays, or is replaced at once where that is allowed."""
    place = export_place(path, overwrite)
    study = {**vars(row), "arms": {"count": arms.count, "dimension": arms.dimension}}
    lines = "".join(json.dumps(as_plain(event), separators=(",", ":")) + "\n" for event in happened)
    members = {STUDY: as_json(study), ARMS: arms.content, EVENTS: lines.encode()}
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in members.items()}
    members[MANIFEST] = as_json({"format": FORMAT, "sha256": digests})
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(zipfile.ZipInfo(name, LONG_AGO), content, zipfile.ZIP_DEFLATED)
    write_bytes("path", place, archive.getvalue(), overwrite=overwrite)


def read_study(path: object) -> Carried:
    """The study in the file; one whose content is not what was written is refused."""
    place = as_path("path", path)
    members = checked_members(place)
    try:
        study = json.loads(members[STUDY])
        shape = study.pop("arms")
        arms = Arms(shape["count"], shape["dimension"], members[ARMS])
        row = StudyRow(**study)
        happened = [as_event(json.loads(line)) for line in members[EVENTS].splitlines()]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise refused(place, f"does not hold a study ({error})") from error
    return Carried(row, arms, happened)


def checked_members(place: Path) -> dict[str, bytes]:
    """The content of the archive, each member with the digest that was written beside it."""
    try:
        with zipfile.ZipFile(place) as file:
            manifest = json.loads(file.read(MANIFEST))
            version = manifest["format"]
            if version != FORMAT:
                raise refused(place, f"is of the format {version!r}, and this version of surefoot reads {FORMAT!r}")
            members = {name: file.read(name) for name in (STUDY, ARMS, EVENTS)}
    except FileNotFoundError as error:
        raise InvalidInput("path", str(place), "does not exist", "Check the path.") from error
    except OSError as error:
        raise InvalidInput("path", str(place), f"cannot be read ({error.strerror})", "Check the path.") from error
    except InvalidInput:
        raise
    except Exception as error:  # a damaged archive may break the reader in any way
        if not isinstance(error, ARCHIVE_FAULTS):
            raise
        raise refused(place, f"is not a whole export of a study ({error})") from error
    for name, content in members.items():
        if manifest["sha256"].get(name) != hashlib.sha256(content).hexdigest():
            raise refused(place, f"holds a member {name} that is not the one that was written")
    return members


ARCHIVE_FAULTS = (
    zipfile.BadZipFile, zlib.error, KeyError, ValueError, TypeError, EOFError, NotImplementedError, RuntimeError,
    AttributeError,
)  # fmt: skip


def refused(place: Path, reason: str) -> InvalidInput:
    """The refusal of a file."""
    return InvalidInput("path", str(place), reason, REMEDY)


def as_plain(event: Event) -> dict[str, Any]:
    """The event for a file: only what it holds, readings as numbers."""
    held = {key: value for key, value in event.items() if value is not None and key != "study"}
    if "safety" in held:
        held["safety"] = unpacked(held["safety"]).tolist()
    return held


def as_event(plain: dict[str, Any]) -> Event:
    """The event that `as_plain` wrote, each value of the type of its column."""
    event = {**plain, "safety": packed(plain["safety"])} if "safety" in plain else plain
    for key, value in event.items():
        if type(value) is not TYPES[key]:
            raise TypeError(f"{key} = {value!r} in event {plain.get('sequence')}")
    return event


def as_json(table: dict[str, Any]) -> bytes:
    """The table as people read it; the format is fixed, so that a study exports to the same bytes for ever."""
    return json.dumps(table, indent=1).encode() + b"\n"
