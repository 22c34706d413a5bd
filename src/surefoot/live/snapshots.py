"""A ledger as plain values and blocks of bytes, and back: all that it knows but the results that were taken in, which
only a correction needs again.

Every attribute is kept, whichever there are: what a ledger knows is whatever is in it, and one that cannot be put into
plain values is an error here and not a forgotten fact. What is built from the settings alone is not kept.
"""

from array import array
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from surefoot.core.types import Decision
from surefoot.live.audit import Mismatch
from surefoot.live.kept import KeptResults, Runs
from surefoot.live.ledger import Holding, Outstanding, Stop
from surefoot.live.model_checks import Finding
from surefoot.live.pulls import Overshoot
from surefoot.live.revisable import RevisableLedger, Revision

STATED = {"problem", "where"}  # by whoever opens it
OF_PAGES = {"_page", "_replayed", "_before", "_to_learn"}  # what was entered and is not settled: nothing
PARTS = {"learner", "checks", "results"}  # each in a way of its own
CLASSES = (Mismatch, Holding, Outstanding, Stop, Finding, Overshoot, Revision)


class Packed(NamedTuple):
    """A ledger in a form that can be written to a file."""

    plain: dict[str, Any]  # what JSON holds
    blocks: list[bytes]


class NotPlain(Exception):
    """A value that is none of those that a ledger is known to hold, or not what was packed."""


def pack(ledger: RevisableLedger, needed: "array[int]", classes: tuple[type, ...] = ()) -> Packed:
    """All that a settled ledger knows, with those results alone that are needed; `classes` are further ones whose
    objects it holds."""
    if ledger.unsettled:
        raise NotPlain("it is not settled")
    packer = Packer((*CLASSES, *classes))
    learner, checks = ledger.learner, ledger.checks
    kept = {name: value for name, value in vars(ledger).items() if name not in STATED | OF_PAGES | PARTS}
    plain = {
        "kept": {name: packer.packed(value) for name, value in kept.items()},
        "learner": packer.packed(learner.remembered()),
        "checks": None if checks is None else packer.packed(checks.remembered()),
        "results": packer.packed(ledger.results.only(needed).columns()),
    }
    return Packed(plain, packer.blocks)


def unpack(ledger: RevisableLedger, found: Packed, classes: tuple[type, ...] = ()) -> None:
    """Brings a ledger before its first event to where the packed one was; NotPlain, or any other error, where that
    cannot be, and then the ledger is to be thrown away."""
    packer = Packer((*CLASSES, *classes), found.blocks)
    kept = {name: packer.unpacked(value) for name, value in found.plain["kept"].items()}
    if set(kept) != set(vars(ledger)) - STATED - OF_PAGES - PARTS:
        raise NotPlain("it has other attributes")
    if (found.plain["checks"] is None) != (ledger.checks is None):
        raise NotPlain("it has another alarm")
    for name, value in kept.items():
        if type(value) is not type(vars(ledger)[name]) and name not in ("max_pulls", "stop", "end"):
            raise NotPlain(name)
        setattr(ledger, name, value)
    ledger.learner.remember(*packer.unpacked(found.plain["learner"]))
    if ledger.checks is not None:
        ledger.checks.remember(*packer.unpacked(found.plain["checks"]))
    limits = len(ledger.problem.safety)
    ledger.results = KeptResults.of_columns(limits, *packer.unpacked(found.plain["results"]))
    ledger.begin_page()


class Packer:
    """Values as JSON holds them: what it has no word for is a list that begins with one of ours."""

    def __init__(self, classes: tuple[type, ...], blocks: list[bytes] | None = None) -> None:
        self.blocks = [] if blocks is None else blocks
        self._classes = {each.__name__: each for each in (*classes, Decision)}

    def packed(self, value: Any) -> Any:
        """The value in plain words."""
        if value is None or type(value) in (bool, int, float, str):
            return value
        pack = _PACKED.get(type(value))
        if pack is not None:
            return pack(self, value)
        if isinstance(value, np.integer | np.floating | np.bool_):
            return value.item()
        if self._classes.get(type(value).__name__) is type(value):
            fields = value if isinstance(value, tuple) else vars(value).values()
            return ["object", type(value).__name__, *map(self.packed, fields)]
        raise NotPlain(type(value).__name__)

    def unpacked(self, plain: Any) -> Any:
        """The value that was packed."""
        if not isinstance(plain, list):
            return plain
        word, *rest = plain
        if word == "object":
            name, *fields = rest
            return self._classes[name](*map(self.unpacked, fields))
        return _UNPACKED[word](self, rest)

    def block(self, content: bytes) -> int:
        """The place of a block among all."""
        self.blocks.append(content)
        return len(self.blocks) - 1

    def each(self, values: Any) -> list[Any]:
        """Each of the values in plain words."""
        return [self.packed(value) for value in values]

    def each_of(self, values: list[Any]) -> list[Any]:
        """Each of the values that were packed."""
        return [self.unpacked(value) for value in values]

    def pairs(self, values: dict[Any, Any]) -> list[Any]:
        """The pairs of a table, in its order."""
        return [[self.packed(key), self.packed(value)] for key, value in values.items()]

    def pairs_of(self, values: list[Any]) -> dict[Any, Any]:
        """The table of these pairs."""
        return {self.unpacked(key): self.unpacked(value) for key, value in values}

    def runs_of(self, columns: list[Any]) -> Runs:
        """The runs with these columns."""
        found = Runs()
        found.first, found.after = self.each_of(columns)
        return found


_PACKED: dict[type, Callable[[Packer, Any], Any]] = {
    bytes: lambda packer, value: ["bytes", packer.block(value)],
    list: lambda packer, value: ["list", *packer.each(value)],
    tuple: lambda packer, value: ["tuple", *packer.each(value)],
    set: lambda packer, value: ["set", *packer.each(sorted(value))],
    dict: lambda packer, value: ["dict", *packer.pairs(value)],
    Counter: lambda packer, value: ["counts", *packer.pairs(value)],
    array: lambda packer, value: ["numbers", value.typecode, packer.block(value.tobytes())],
    Runs: lambda packer, value: ["runs", *packer.each((value.first, value.after))],
    np.ndarray: lambda packer, value: ["array", value.dtype.str, list(value.shape), packer.block(value.tobytes())],
}
_UNPACKED: dict[str, Callable[[Packer, list[Any]], Any]] = {
    "bytes": lambda packer, rest: packer.blocks[rest[0]],
    "list": lambda packer, rest: packer.each_of(rest),
    "tuple": lambda packer, rest: tuple(packer.each_of(rest)),
    "set": lambda packer, rest: set(packer.each_of(rest)),
    "dict": lambda packer, rest: packer.pairs_of(rest),
    "counts": lambda packer, rest: Counter(packer.pairs_of(rest)),
    "numbers": lambda packer, rest: array(rest[0], packer.blocks[rest[1]]),
    "runs": lambda packer, rest: packer.runs_of(rest),
    "array": lambda packer, rest: np.frombuffer(packer.blocks[rest[2]], rest[0]).reshape(rest[1]),
}
