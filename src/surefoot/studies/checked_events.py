"""Stored events, of which each one that is looked up is found to fit the chain.

An event fits if its hash follows from the one before it, and the hash of the one after it from its own. Who changes it
has to change all after it, up to the last one, and the ledger knows the hash of that.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from surefoot.storage.chain import ChainBroken, follows, verified
from surefoot.storage.protocol import COLUMNS, Events


class CheckedEvents:
    """The events of one study within one step; ChainBroken where one does not fit."""

    def __init__(self, stored: Events, origin: bytes) -> None:
        self._stored, self._origin = stored, origin

    def after(self, sequence: int) -> Iterable[Sequence[Any]]:
        """As they are stored: the one who enters them knows the hash before them."""
        return self._stored.after(sequence)

    def of_pull(self, number: int) -> list[dict[str, Any]]:
        """The events of this pull."""
        return [self._fitting(event) for event in self._stored.of_pull(number)]

    def at(self, sequence: int) -> dict[str, Any] | None:
        """The event with this sequence."""
        event = self._stored.at(sequence)
        return None if event is None else self._fitting(event)

    def all(self) -> Iterator[dict[str, Any]]:
        """Every event, from the first one on."""
        for row in verified(self._origin, self._stored.after(0)):
            yield dict(zip(COLUMNS, row, strict=True))

    def keyed(self, key: str) -> dict[str, Any] | None:
        """The event with this key."""
        event = self._stored.keyed(key)
        return None if event is None else self._fitting(event)

    def now(self) -> int:
        """The moment."""
        return self._stored.now()

    def append(self, events: Sequence[Mapping[str, Any]]) -> None:
        """Adds the events."""
        self._stored.append(events)

    def _fitting(self, event: dict[str, Any]) -> dict[str, Any]:
        sequence = event["sequence"]
        before, after = self._stored.at(sequence - 1), self._stored.at(sequence + 1)
        previous = self._origin if before is None else before["hash"]
        for hash_before, each in ((previous, event), (event["hash"], after)):
            if each is None:
                continue
            known = isinstance(hash_before, bytes | bytearray | memoryview)
            if not known or not follows(hash_before, [each[name] for name in COLUMNS]):
                raise ChainBroken(each["sequence"])
        return event
