"""The audit: what was asked for, against what should have been, recomputed from the events before it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.core.records import Answers, Script
from surefoot.core.types import PULL, Indices
from surefoot.errors import counted
from surefoot.problem import Problem
from surefoot.problem.units import level_in_words

SHOWN = 3  # mismatches that a message names
ROUNDING = 1e-9  # by this share a level may differ: the same formulas round differently in another order
DIGITS = 12  # of levels that are told: so many that two which differ by more than rounding look different


@dataclass(frozen=True)
class Mismatch:
    """A pull that was not the one due; it stays as stored, because it happened."""

    number: int
    stored_name: str
    stored_level: float
    name: str | None  # None: nothing was due, the study had ended
    level: float | None
    stored_at: str  # both levels in words, in the units of the dial
    at: str | None

    def __str__(self) -> str:
        due = "no pull at all" if self.name is None else f"{self.name} at {self.at}"
        return f"pull {self.number} was {self.stored_name} at {self.stored_at}, and {due} was due"


@dataclass(frozen=True)
class AuditReport:
    """What an audit found."""

    study: str
    events: int
    pulls: int
    mismatches: tuple[Mismatch, ...]
    not_recomputed: str = ""  # why decisions were not, where they were not
    head: str = ""  # the hash of the last event
    broken: str = ""  # how the events or the settings were changed after they were written, where they were
    noted_at: int | None = None  # after which event the noted head was the head
    unchained: int = 0  # events that were there before they were chained

    @property
    def clean(self) -> bool:
        """Whether nothing was changed, and every stored decision is the one recomputed."""
        return not self.mismatches and not self.broken

    @property
    def statement(self) -> str:
        """The finding in a sentence or two."""
        if self.broken:
            return f"{self.study!r} {self.broken}."
        return " ".join([f"{self._decisions}.", *self._chain])

    @property
    def _decisions(self) -> str:
        if self.not_recomputed:
            read = f"{counted(self.events, 'event')} of {self.study!r} follow each other without a gap"
            return f"{read}; decisions are not recomputed: {self.not_recomputed}"
        recomputed = f"{counted(self.pulls, 'pull')} of {self.study!r} recomputed"
        if not self.mismatches:
            return f"{recomputed}, and each is the one that was due"
        return f"{recomputed}, {len(self.mismatches):,} not as due: {first_few(self.mismatches)}"

    @property
    def _chain(self) -> list[str]:
        told = []
        if self.noted_at is not None:
            told.append(f"Everything up to event {self.noted_at:,}, of {self.events:,}, is as it was under that head.")
        if self.unchained:
            told.append(
                f"The first {counted(self.unchained, 'event')} were chained when the storage was upgraded: what was "
                "done to them before cannot be known."
            )
        return told

    def to_dict(self) -> dict[str, Any]:
        """The report as a table."""
        found = [vars(mismatch) for mismatch in self.mismatches]
        return {"study": self.study, "events": self.events, "pulls": self.pulls, "clean": self.clean,
                "mismatches": found, "head": self.head, "broken": self.broken, "noted_at": self.noted_at,
                "unchained": self.unchained, "statement": self.statement}  # fmt: skip


def mismatches(script: Script, answers: Answers) -> Indices:
    """The pulls that were asked for and differ, in arm or level or in being asked at all, from what is decided now."""
    due = answers.status >= 0
    close = np.abs(answers.level - script.asked) <= ROUNDING * np.abs(script.asked)
    same = (answers.status == PULL) & (answers.arm == script.arm) & close
    return np.flatnonzero(due & ~same)


def mismatches_in(problem: Problem, numbers: Sequence[int], script: Script, answers: Answers) -> list[Mismatch]:
    """The pulls of the script, one number a row, whose stored arm or level is not the one recomputed."""
    found = []
    for row in mismatches(script, answers).tolist():
        due, asked, level = answers.status[row] == PULL, float(script.asked[row]), float(answers.level[row])
        found.append(
            Mismatch(
                number=numbers[row],
                stored_name=problem.names[script.arm[row]],
                stored_level=asked,
                name=problem.names[answers.arm[row]] if due else None,
                level=level if due else None,
                stored_at=level_in_words(problem.dial, asked, DIGITS),
                at=level_in_words(problem.dial, level, DIGITS) if due else None,
            )
        )
    return found


def first_few(mismatches: Sequence[Mismatch]) -> str:
    """Some of the mismatches in words."""
    words = "; ".join(str(mismatch) for mismatch in mismatches[:SHOWN])
    more = len(mismatches) - SHOWN
    return f"{words}; and {more:,} more" if more > 0 else words
