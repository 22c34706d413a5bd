"""What follows from a step, to be said once it is kept: alarms, results that are held now, and refusals."""

from dataclasses import dataclass
from typing import Any, Self

from surefoot.errors import Implausible, PullClosed, Recalled, SurefootError
from surefoot.live.ledger import Holding
from surefoot.storage.protocol import Events
from surefoot.studies.entries import StudyLedger
from surefoot.studies.step import Before

REFUSALS = {kind.__name__: kind for kind in (Implausible, PullClosed, Recalled)}  # that come after something was kept


@dataclass(frozen=True)
class Followed:
    """What a step has led to."""

    alarms: tuple[str, ...] = ()
    held: tuple[tuple[int, Holding], ...] = ()
    refused: tuple[SurefootError, ...] = ()

    def to_plain(self) -> list[Any]:
        """What one who repeats the step is told again: the refusals."""
        return [[type(each).__name__, list(each.args)] for each in self.refused if type(each).__name__ in REFUSALS]

    @classmethod
    def from_plain(cls, refusals: list[Any], stored: Events) -> Self:
        """The same, from what was stored."""
        return cls(refused=tuple(REFUSALS[name](*arguments) for name, arguments in refusals))


def followed(
    ledger: StudyLedger, before: Before, but: int | None = None, refused: list[SurefootError] | None = None
) -> Followed:
    """What has come since: alarms, and results that are held now, other than that of one pull."""
    new = ((each, ledger.outstanding[each].held) for each in ledger.holding if each not in before.held and each != but)
    held = tuple((each, holding) for each, holding in new if holding is not None)
    return Followed(tuple(ledger.raised[before.alarms :]), held, tuple(refused or ()))


def silent(ledger: StudyLedger, before: Before) -> None:
    """Nothing is to be said."""
