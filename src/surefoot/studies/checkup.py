"""A whole storage looked through: its file, its rows, and every study replayed and audited."""

import warnings
from dataclasses import dataclass
from typing import Any

from surefoot.errors import AuditWarning, SurefootError
from surefoot.storage import upkeep
from surefoot.storage.store import open_store
from surefoot.studies.opening import opened


@dataclass(frozen=True)
class Checkup:
    """What was found; no faults is good."""

    storage: str
    revision: str
    studies: int
    events: int
    faults: tuple[str, ...]

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong."""
        return not self.faults

    def to_dict(self) -> dict[str, Any]:
        """The findings as a table."""
        return {**vars(self), "faults": list(self.faults), "sound": self.sound}


def check_storage(storage: str | None = None) -> Checkup:
    """Everything that is wrong with the storage or with one of its studies, in words."""
    condition = upkeep.check(storage)
    store = open_store(storage)
    faults = list(condition.faults)
    for row in store.listed():
        name = row["name"]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", AuditWarning)
                report = opened(store, name).audit()
        except SurefootError as error:
            faults.append(f"study {name!r}: {error}")
        else:
            faults += [f"study {name!r}: {mismatch}" for mismatch in report.mismatches]
    return Checkup(condition.storage, condition.revision, condition.studies, condition.events, tuple(faults))
