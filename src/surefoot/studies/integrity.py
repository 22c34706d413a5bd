"""A whole storage looked through: its file, its rows, and every study replayed and audited."""

import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from surefoot.characters import in_one_line
from surefoot.errors import AuditWarning, InvalidInput, PolicyNeeded, StorageDamaged, SurefootError
from surefoot.storage import maintenance
from surefoot.storage.protocol import Store
from surefoot.storage.store import open_store
from surefoot.studies.lifecycle import opened
from surefoot.studies.listing import as_listed
from surefoot.studies.study import Study


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


def check_storage(storage: str | None = None, policies: Sequence[object] = ()) -> Checkup:
    """Everything that is wrong with the storage or with one of its studies, in words.

    Studies with policies that are not part of surefoot need those handed in, as objects or as classes.
    """
    condition = maintenance.check(storage)
    faults = list(condition.faults)
    store = open_store(storage)
    try:
        listed = [as_listed(row) for row in store.listed()]
    except StorageDamaged as error:
        listed = []
        faults.append(f"the list of studies: {error.detail}")
    for row in listed:
        said = [row["unreadable"]] if row["unreadable"] else faults_of(store, row["name"], policies)
        faults += [f"study {in_one_line(row['name'])!r}: {fault}" for fault in said]
    return Checkup(condition.storage, condition.revision, condition.studies, condition.events, tuple(faults))


def faults_of(store: Store, name: str, policies: Sequence[object] = ()) -> list[str]:
    """What is wrong with this study."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AuditWarning)
            return [str(mismatch) for mismatch in opened_with(store, name, policies).audit().mismatches]
    except SurefootError as error:
        return [str(error)]


def opened_with(store: Store, name: str, policies: Sequence[object]) -> Study:
    """The study, with whichever of the policies at hand is its own."""
    try:
        return opened(store, name)
    except PolicyNeeded:
        for policy in policies:
            with suppress(InvalidInput):  # it is another study's
                return opened(store, name, policy)
        raise
