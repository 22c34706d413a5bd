"""`surefoot storage`: bring up to date, copy, look through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from surefoot.cli import exit_codes
from surefoot.cli.loading import policy_named
from surefoot.cli.output import Output
from surefoot.errors import counted
from surefoot.storage.maintenance import backup, upgrade
from surefoot.studies.integrity import check_storage
from surefoot.studies.listing import heads_in

UNCHAINED = "0001"  # the arrangement of tables that had no chain yet


def upgrade_storage(output: Output, storage: str | None) -> int:
    """Brings the tables to the arrangement of this version."""
    done = upgrade(storage)
    words = f"{done.storage}: from {done.before or 'nothing'} to {done.after}."
    heads: dict[str, str] = {}
    if not done.changed:
        words = f"{done.storage} is up to date ({done.after})."
    elif done.before == UNCHAINED:
        heads = heads_in(storage)
        words += " The studies that were there are chained from now on; what was done to them before is not covered."
    return output.answer({**vars(done), "changed": done.changed, "heads": heads}, with_heads(words, heads))


def back_up(output: Output, storage: str | None, path: Path) -> int:
    """Copies everything into a new file."""
    place = backup(storage, path)
    heads = heads_in(f"sqlite:///{place}")
    words = f"Everything is in {place}: use it with --storage sqlite:///{place}"
    return output.answer({"path": str(place), "heads": heads}, with_heads(words, heads))


def with_heads(words: str, heads: Mapping[str, str]) -> str:
    """The words, and below them the head of each study: who keeps them can prove later what was in it."""
    width = max(map(len, heads), default=0)
    return "\n".join([words, *(f"  {name:{width}}  {head}" for name, head in heads.items())])


def check_whole(output: Output, storage: str | None, policies: Sequence[str]) -> int:
    """Looks through everything; studies with a policy of the user's own need it handed in."""
    found = check_storage(storage, [policy_named(word) for word in policies])
    if not output.json:
        for fault in found.faults:
            output.out.print(f"- {fault}", soft_wrap=True, markup=False)
    verdict = "nothing is wrong" if found.sound else f"{counted(len(found.faults), 'fault')}"
    words = (
        f"{found.storage}: {counted(found.studies, 'study', 'studies')}, {counted(found.events, 'event')}, {verdict}."
    )
    return output.answer(found.to_dict(), words, exit_codes.OK if found.sound else exit_codes.FAULTS)
