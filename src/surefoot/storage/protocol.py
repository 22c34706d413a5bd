"""What a store is: whatever keeps studies and their events, and hands them back as they were.

`open_store` makes one from an address. Any object with these verbs can take the place of the address,
`sf.create_study(..., storage=MyStore())`; there is nothing to inherit and nothing to register. Every store promises:

- a step is kept whole or not at all, and what was acknowledged survives the death of every process;
- of two writers of one study one waits for the other, so each decides on everything that happened before;
- sequences, pull numbers and keys are used once; an event is never changed;
- whatever goes wrong leaves as an error of surefoot, named.

`surefoot.testing.StoreContract` holds a store to it.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, runtime_checkable

Result = TypeVar("Result")

# What an event holds, in the order in which `Events.after` hands it over; the ledger of a study reads the first part.
ENTERED = ("sequence", "kind", "number", "arm", "level", "reward", "safety", "worker", "reason", "by", "at")
COLUMNS = (*ENTERED, "step", "phase", "margin", "leader", "challenger", "gap", "writer", "key", "hash")


@dataclass(frozen=True)
class StudyRow:
    """What is stored about a study besides its events."""

    name: str
    problem: str  # JSON, without features
    fingerprint: str
    policy: str  # JSON
    seed: int
    max_pulls: int | None
    fold: str
    alarm_level: float
    created_at: int  # microseconds since 1970, UTC
    created_by: str
    unchained: int = 0  # how many of its events were there before they were chained


@dataclass(frozen=True)
class Arms:
    """A table of features as bytes: float64, little-endian, row by row."""

    count: int
    dimension: int
    content: bytes

    @property
    def digest(self) -> str:
        """SHA-256 of the shape and the content, in hexadecimal."""
        return hashlib.sha256(f"{self.count} {self.dimension}\n".encode() + self.content).hexdigest()


class Events(Protocol):
    """The events of one study within one step. An event is a mapping of the names in `COLUMNS` to whole numbers,
    floats, text, bytes (safety and hash) or None."""

    def after(self, sequence: int) -> Iterable[Sequence[Any]]:
        """What happened since, in order of sequence: the values of `COLUMNS`, in their order."""

    def of_pull(self, number: int) -> list[dict[str, Any]]:
        """The events of this pull in full, in order of step: the one that opened it (step 0) and, if there is one, the
        one that closed it (step 1). What has no step is about the study."""

    def at(self, sequence: int) -> dict[str, Any] | None:
        """The event with this sequence in full; None if there is none."""

    def all(self) -> Iterator[dict[str, Any]]:
        """Every event in full, in order of sequence; what was not given is None."""

    def keyed(self, key: str) -> dict[str, Any] | None:
        """The event with this key in full; None if there is none."""

    def now(self) -> int:
        """Microseconds since 1970, UTC, by the clock of the storage: one clock for all who write to it."""

    def append(self, events: Sequence[Mapping[str, Any]]) -> None:
        """Adds the events. A sequence, a step of a pull or a key that was used before is refused with a StorageError,
        and so is an event without a kind."""


@runtime_checkable
class Store(Protocol):
    """What studies ask of a store."""

    @property
    def address(self) -> object:
        """Where it is; str() of it is shown to people, without a password."""

    def create(self, study: StudyRow, arms: Arms, events: Iterable[Mapping[str, Any]] = ()) -> int:
        """The id of the new study, kept with these events at once; a name that is taken is refused (StudyExists).

        An id is never used again, even after its study was deleted: whoever has that one open must notice.
        """

    def find(self, name: str) -> tuple[int, StudyRow, Arms]:
        """The study of this name, with its id and its arms; StudyNotFound if there is none."""

    def listed(self) -> list[dict[str, Any]]:
        """Every study in order of name: name, created_at, created_by, policy, fold, and events, their number."""

    def delete(self, name: str, key: str | None = None) -> None:
        """Forgets the study and all its events; StudyNotFound if there is none.

        With a key nothing happens if a study of this name was deleted with it before; KeyUsed if another one was.
        """

    def write(
        self, study: int, name: str, work: Callable[[Events], Result], meanwhile: Callable[[], object] | None = None
    ) -> Result:
        """What the work returns, once everything that it appended is kept; nobody else writes meanwhile.

        If the work raises, nothing of it is kept. It may be done anew, so it must begin by reading what happened.
        `meanwhile` may be called, once, while one waits for others: then less is left to do when the turn has come.
        StudyNotFound if the study is gone.
        """

    def read(self, study: int, name: str, work: Callable[[Events], Result]) -> Result:
        """What the work returns, which sees the events of the study as they are at one moment.

        It may be done anew, like that of `write`. StudyNotFound if the study is gone.
        """


VERBS = ("address", "create", "find", "listed", "delete", "write", "read")
