"""The chain of a study's events: each holds a hash over itself and the hash before it, and the first over the settings.

Whoever keeps the last hash, the head, can prove later that nothing was edited, cut or put in another order: one changed
bit anywhere gives another head. What exactly is hashed is written down in docs/chain.md, and is fixed for ever.

    origin   SHA-256 of "surefoot chain 1", a line end, and the settings as a line of JSON
    hash     SHA-256 of the hash before it, 64 hexadecimal digits, a line end, and the event as a line of JSON

A line of JSON has its keys sorted, no spaces, only ASCII, and the shortest text that reads back as the same number; a
zero has no sign, but for readings, which are kept as bytes.
What an event does not say is left out, and so is its own hash. Among the settings is not the name, so that a study
that is renamed or carried elsewhere keeps its chain.
"""

import json
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from operator import itemgetter
from typing import Any

from surefoot.storage.protocol import COLUMNS, StudyRow
from surefoot.storage.quick_lines import quick_line

VERSION = b"surefoot chain 1\n"
HASHED = tuple(sorted(name for name in COLUMNS if name != "hash"))
_values = itemgetter(*(COLUMNS.index(name) for name in HASHED))
_SEQUENCE, _HASH = COLUMNS.index("sequence"), COLUMNS.index("hash")
_KEYS, _SAFETY = [f'"{name}":' for name in HASHED], '"safety":'
_encode = json.JSONEncoder(separators=(",", ":")).encode
_text = json.encoder.encode_basestring_ascii


@dataclass
class ChainBroken(Exception):
    """An event that is not the one that was written, or settings that are not those of its study."""

    sequence: int

    def __str__(self) -> str:
        return (
            f"is not as it was written: event {self.sequence} does not fit the hash chain, so it, one before it, or "
            "the settings of the study were changed"
        )


def origin_of(row: StudyRow, arms_digest: str) -> bytes:
    """The hash that the first event follows: that of the settings."""
    settings = {name: value for name, value in vars(row).items() if name != "name"} | {"arms": arms_digest}
    return sha256(VERSION + line_of(settings)).digest()


def line_of(table: Mapping[str, Any]) -> bytes:
    """The table as a line of JSON, without what is None."""
    return _encode({name: table[name] for name in sorted(table) if table[name] is not None}).encode()


def hashed(before: bytes, values: Sequence[Any]) -> bytes:
    """The hash of the event with these values of `COLUMNS`.

    The line is put together by hand, and not by `line_of`, which is slower.
    """
    parts = []
    for key, value in zip(_KEYS, _values(values), strict=True):
        kind = type(value)
        if value is None:
            continue
        if kind is float and value - value == 0.0:  # what is not finite has other words in JSON
            parts.append(key + repr(value + 0.0))  # a zero has no sign, since not every database keeps it
        elif kind is int:
            parts.append(key + repr(value))
        elif kind is str:
            parts.append(key + _text(value))
        elif key == _SAFETY:
            parts.append(key + _encode(struct.unpack(f"<{len(value) // 8}d", value)))
        else:
            parts.append(key + _encode(value))
    return hashed_line(before, f"{{{','.join(parts)}}}")


def hashed_line(before: bytes, line: str) -> bytes:
    """The hash of an event, given as a line of JSON."""
    return sha256(f"{before.hex()}\n{line}".encode()).digest()


def chained(before: bytes, events: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """The events, each with its hash; a zero has no sign in them, since not every database keeps it."""
    for given in events:
        event = {name: 0.0 if value == 0.0 and isinstance(value, float) else value for name, value in given.items()}
        before = hashed(before, [event.get(name) for name in COLUMNS])
        yield {**event, "hash": before}


def verified(before: bytes, rows: Iterable[Sequence[Any]]) -> Iterator[Sequence[Any]]:
    """The rows as they are read, each once its hash is found to follow from it; ChainBroken where it does not."""
    for row in rows:
        if not follows(before, row):
            raise ChainBroken(row[_SEQUENCE])
        before = row[_HASH]
        yield row


def follows(before: bytes, row: Sequence[Any]) -> bool:
    """Whether the hash in the row is the one of its values after this hash."""
    stored = row[_HASH]
    if type(stored) is not bytes and not isinstance(stored, bytearray | memoryview):
        return False
    try:
        line = quick_line(row)
        if line is not None and hashed_line(before, line) == stored:
            return True
        return hashed(before, row) == bytes(stored)  # it may be written in another way
    except (ValueError, TypeError, struct.error, OverflowError):  # what cannot have been written
        return False
