"""The studies of a storage, as one who looks through it sees them. None is opened, so nothing is computed."""

import json
import struct
import warnings
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from surefoot.characters import in_one_line, is_printable
from surefoot.errors import UnreadableWarning, counted, outside
from surefoot.storage.chain import origin_of
from surefoot.storage.store import open_store

if TYPE_CHECKING:
    from surefoot.live.ledger import Intake

STORED_INTAKE: "dict[str, Intake]" = {"order": "by-number", "arrival": "on-arrival"}  # the words of the first version
FAULTS = (
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    ArithmeticError,
    RecursionError,
    struct.error,
)  # of what is no study; fmt: skip


def list_studies(storage: str | None = None) -> list[dict[str, Any]]:
    """Every study of the storage, in order of name: name, created_at, created_by, policy, intake, events, unreadable.

    What is wrong with a study that cannot be read is said under `unreadable`, and in a warning; what is not known about
    it is None. For all others that is None.
    """
    found = [as_listed(row) for row in open_store(storage).listed()]
    odd = [row for row in found if row["unreadable"]]
    if odd:
        some = "; ".join(f"{in_one_line(row['name'])!r} {row['unreadable']}" for row in odd[:5])
        more = f"; and {len(odd) - 5:,} more" if len(odd) > 5 else ""
        warnings.warn(
            f"{counted(len(odd), 'study', 'studies')} cannot be read: {some}{more}. See `surefoot storage check`.",
            UnreadableWarning,
            stacklevel=outside(),
        )
    return found


def heads_in(storage: str | None = None) -> dict[str, str]:
    """The head of every study in the storage that can be read, by its name: to be noted, not verified."""
    store, found = open_store(storage), {}
    for listed in map(as_listed, store.listed()):
        if listed["unreadable"] is None:
            identity, row, arms = store.find(listed["name"])
            last = store.read(identity, row.name, lambda stored, last=listed["events"]: stored.at(last))  # type: ignore[misc]
            head = origin_of(row, arms.digest) if last is None else bytes(last["hash"])
            found[row.name] = head.hex()
    return found


def as_listed(row: Mapping[str, Any]) -> dict[str, Any]:
    """What is told about a study."""
    faults: list[str] = []

    def known(field: str, meaning: Any) -> Any:
        """What a column means; nothing, where it cannot."""
        try:
            return meaning(row[field])
        except FAULTS:
            faults.append(f"has {field} = {in_one_line(repr(row[field]))[:80]}")
            return None

    name = row["name"] if isinstance(row["name"], str) else repr(row["name"])
    if name is not row["name"] or not is_printable(name):
        faults.append("has a name that nobody can have given it")
    listed = {
        "name": name, "created_at": known("created_at", as_time), "created_by": known("created_by", as_word),
        "policy": known("policy", lambda stored: as_word(json.loads(stored)["name"])),
        "intake": known("fold", lambda stored: STORED_INTAKE[stored]), "events": known("events", as_count),
    }  # fmt: skip
    return {**listed, "unreadable": ", ".join(faults) or None}


def as_time(microseconds: int) -> str:
    """The moment in UTC, as ISO 8601 writes it."""
    return (datetime(1970, 1, 1) + timedelta(microseconds=microseconds)).isoformat(timespec="microseconds") + "Z"


def as_word(stored: object) -> str:
    """A word that can be shown."""
    if not isinstance(stored, str) or not is_printable(stored):
        raise ValueError(stored)
    return stored


def as_count(stored: object) -> int:
    """A number of events."""
    if not isinstance(stored, int):
        raise TypeError(stored)
    return stored
