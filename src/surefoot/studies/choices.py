"""Several pulls, chosen before the storage is locked: to choose a thousand may take long, and others must not wait.

What was chosen holds for the study as it stood then. If others have changed it meanwhile, it is chosen anew; who loses
that race again and again is content with fewer, and a single pull is chosen with the storage in hand.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from surefoot.core.types import Decision
from surefoot.studies.entries import StudyLedger
from surefoot.studies.handle import Handle

Answer = TypeVar("Answer")
TRIES = 3  # to choose all that are wanted, before fewer will do


@dataclass
class NotChosen(Exception):
    """So many pulls are to be chosen, and the storage is not to be held meanwhile."""

    count: int


class Choice:
    """The pulls for one question."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._place = (-1, 0)  # after which event, and how many
        self._chosen: list[tuple[Decision, float]] = []
        self._tries = 0

    def of(self, ledger: StudyLedger, wanted: int) -> list[tuple[Decision, float]]:
        """The decisions for the next pulls; NotChosen where they are not the ones that were prepared."""
        count = max(1, wanted >> max(0, self._tries - TRIES))
        if self._place == (ledger.sequence, count):
            return self._chosen
        if count == 1:
            return ledger.learner.choose(ledger.anticipated, 1)
        raise NotChosen(count)

    def settled(self, step: Callable[[], Answer]) -> Answer:
        """Takes the step, which asks `of`, until what it needs is prepared."""
        while True:
            try:
                return step()
            except NotChosen as wish:
                self._prepare(wish.count)

    def _prepare(self, count: int) -> None:
        """Chooses so many for the study as it stands now."""

        def choose(ledger: StudyLedger) -> tuple[int, list[tuple[Decision, float]]]:
            chosen = ledger.learner.choose(ledger.anticipated, count) if ledger.outcome is None else []
            return ledger.sequence, chosen

        sequence, self._chosen = self._handle.view(choose)
        self._place = (sequence, count) if self._chosen else (-1, 0)
        self._tries += 1
