"""The studies of a storage, as one who looks through it sees them. None is opened, so nothing is computed."""

import json
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from surefoot.storage.store import open_store

if TYPE_CHECKING:
    from surefoot.live.ledger import Intake

STORED_INTAKE: "dict[str, Intake]" = {"order": "by-number", "arrival": "on-arrival"}  # the words of the first version


def list_studies(storage: str | None = None) -> list[dict[str, Any]]:
    """Every study of the storage, in order of name: name, created_at, created_by, policy, intake, events."""
    return [
        {
            "name": row["name"], "created_at": as_time(row["created_at"]), "created_by": row["created_by"],
            "policy": json.loads(row["policy"])["name"], "intake": STORED_INTAKE.get(row["fold"], row["fold"]),
            "events": row["events"],
        }
        for row in open_store(storage).listed()
    ]  # fmt: skip


def as_time(microseconds: int) -> str:
    """The moment in UTC, as ISO 8601 writes it."""
    return (datetime(1970, 1, 1) + timedelta(microseconds=microseconds)).isoformat(timespec="microseconds") + "Z"
