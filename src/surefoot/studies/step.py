"""What a verb does to a study, as one step that is kept whole or not at all."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from surefoot.storage.protocol import Events
from surefoot.studies.entries import StudyLedger
from surefoot.studies.events import Event
from surefoot.studies.keys import Keyed

Decide = Callable[[StudyLedger, Events], list[Event]]
Found = TypeVar("Found")


class Before(NamedTuple):
    """How a study stood before a verb."""

    sequence: int
    pulls: int
    alarms: int
    held: frozenset[int]


def nothing() -> None:
    """Nothing is to be done before."""


@dataclass(frozen=True)
class Step(Generic[Found]):
    """What a verb does to a study: the events that it decides on, and what it answers once they are entered.

    All of it may happen several times, when the storage was lost on the way: `begin` takes back what an attempt left.
    """

    decide: Decide
    conclude: Callable[[StudyLedger, Before], Found]
    begin: Callable[[], object] = nothing
    keyed: Keyed[Found] | None = None
