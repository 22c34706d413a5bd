"""`surefoot storage create`, `journal` and `accept`: the file of a storage, and where its newest results are."""

from __future__ import annotations

from surefoot.cli.output import Output
from surefoot.errors import counted
from surefoot.storage.maintenance import Made, accept, change_journal, create

MEANING = {
    "wal": "the newest results are in a second file, -wal, while it is open: copy it with `surefoot storage backup`",
    "truncate": "every result is in the one file as soon as it is acknowledged",
    None: "the server looks after its files itself",
}


def make_storage(output: Output, storage: str | None, journal: str, shared_with_group: bool) -> int:
    """Makes a new storage."""
    made = create(storage, journal, shared_with_group)
    return output.answer(vars(made), f"{made.storage} is made; {meaning(made)}.")


def change_storage_journal(output: Output, storage: str | None, journal: str | None) -> int:
    """Says which journal it has, or changes it."""
    found = change_journal(storage, journal)
    return output.answer(vars(found), f"{found.storage} has the journal {found.journal}: {meaning(found)}.")


def accept_storage(output: Output, storage: str | None) -> int:
    """Takes a file without its log as it is."""
    found = accept(storage)
    what = f"{counted(found.studies, 'study', 'studies')} and {counted(found.events, 'event')}"
    words = f"{found.storage} is accepted with what is in it: {what}. What was in its log is given up."
    return output.answer({"storage": found.storage, "studies": found.studies, "events": found.events}, words)


def meaning(made: Made) -> str:
    """What the journal means for one who copies files."""
    return MEANING[made.journal]
