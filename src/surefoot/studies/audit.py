"""The audit: what was asked for, against what should have been, recomputed from the events before it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from surefoot.core.replay import Answers, Script
from surefoot.core.types import PULL
from surefoot.errors import counted
from surefoot.studies.replaying import mismatches

SHOWN = 3  # mismatches that a message names


@dataclass(frozen=True)
class Mismatch:
    """A pull that was not the one due; it stays as stored, because it happened."""

    number: int
    stored_name: str
    stored_level: float
    name: str | None  # None: nothing was due, the study had ended
    level: float | None

    def __str__(self) -> str:
        due = "no pull at all" if self.name is None else f"{self.name} at level {self.level!r}"
        return f"pull {self.number} was {self.stored_name} at level {self.stored_level!r}, and {due} was due"


@dataclass(frozen=True)
class AuditReport:
    """What an audit found."""

    study: str
    events: int
    pulls: int
    mismatches: tuple[Mismatch, ...]

    @property
    def clean(self) -> bool:
        """Whether every stored decision is the one recomputed."""
        return not self.mismatches

    @property
    def statement(self) -> str:
        """The finding in a sentence."""
        recomputed = f"{counted(self.pulls, 'pull')} of {self.study!r} recomputed"
        if self.clean:
            return f"{recomputed}, and each is the one that was due."
        return f"{recomputed}, {len(self.mismatches):,} not as due: {first_few(self.mismatches)}."

    def to_dict(self) -> dict[str, Any]:
        """The report as a table."""
        found = [vars(mismatch) for mismatch in self.mismatches]
        return {"study": self.study, "events": self.events, "pulls": self.pulls, "clean": self.clean,
                "mismatches": found, "statement": self.statement}  # fmt: skip


def mismatches_in(names: Sequence[str], numbers: Sequence[int], script: Script, answers: Answers) -> list[Mismatch]:
    """The pulls of the script, one number a row, whose stored arm or level is not the one recomputed."""
    found = []
    for row in mismatches(script, answers).tolist():
        due = answers.status[row] == PULL
        found.append(
            Mismatch(
                numbers[row],
                names[script.arm[row]],
                float(script.asked[row]),
                names[answers.arm[row]] if due else None,
                float(answers.level[row]) if due else None,
            )
        )
    return found


def first_few(mismatches: Sequence[Mismatch]) -> str:
    """Some of the mismatches in words."""
    words = "; ".join(str(mismatch) for mismatch in mismatches[:SHOWN])
    more = len(mismatches) - SHOWN
    return f"{words}; and {more:,} more" if more > 0 else words
