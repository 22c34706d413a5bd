"""Everything surefoot raises or warns about: one base class, the facts as attributes, one paragraph as message.

Every message says what is, what was expected, and what to do next.
"""

from __future__ import annotations

import enum
import reprlib
from collections.abc import Iterable


class Absent(enum.Enum):
    """The value of a field that was not given at all."""

    ABSENT = "not given"


ABSENT = Absent.ABSENT


class SurefootError(Exception):
    """The base of every error of this package."""


class InvalidInput(SurefootError, ValueError):
    """An input that was refused: which field, what it held, what is allowed and what to do."""

    def __init__(self, field: str, value: object, reason: str, remedy: str) -> None:
        super().__init__(field, value, reason, remedy)  # the facts are `args`, so the error survives pickling
        self.field = field
        self.value = value
        self.reason = reason
        self.remedy = remedy

    def __str__(self) -> str:
        what = f"{self.field} is not given" if self.value is ABSENT else f"{self.field} = {shown(self.value)}"
        reason = " ".join(self.reason.split()).rstrip(".")  # another library's words may come in lines
        return f"{what}: {reason}. {self.remedy}"


class MissingExtra(SurefootError, ImportError):
    """A package that the wished-for feature needs and that is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(package, extra)
        self.package = package
        self.extra = extra

    def __str__(self) -> str:
        return f"{self.package} is not installed: pip install 'surefoot[{self.extra}]'"


class Finished(SurefootError):
    """A question to a session that has ended."""

    def __init__(self, outcome: str, pulls: int) -> None:
        super().__init__(outcome, pulls)
        self.outcome = outcome
        self.pulls = pulls

    def __str__(self) -> str:
        return (
            f"The session ended as {self.outcome!r} after {counted(self.pulls, 'pull')}, so there is no further pull "
            "to ask for. Check session.stopped before asking, and read session.recommendation for the answer."
        )


class NotOpen(SurefootError):
    """A result for a pull that is not waiting for one."""

    def __init__(self, number: object, open_numbers: Iterable[int]) -> None:
        self.number = number
        self.open_numbers = tuple(open_numbers)
        super().__init__(number, self.open_numbers)

    def __str__(self) -> str:
        if not self.open_numbers:
            waiting = "No pull is waiting for a result: call ask() first."
        elif len(self.open_numbers) == 1:
            waiting = f"Only pull {self.open_numbers[0]} is waiting for a result: tell that one."
        else:
            waiting = f"The pulls waiting for a result are {shown(self.open_numbers)}: tell one of those."
        return f"Pull {shown(self.number)} is not open, because it was never asked for or was told already. {waiting}"


class NumericalBreakdown(SurefootError):
    """A numerical surprise: the numbers can no longer be trusted, so nothing more is pulled."""

    def __init__(self, where: str, pulls: int) -> None:
        super().__init__(where, pulls)
        self.where = where
        self.pulls = pulls

    def __str__(self) -> str:
        return (
            f"The numbers broke down in {self.where} after {counted(self.pulls, 'pull')}, so no level can be certified "
            "and nothing more is pulled. Bring the features to a similar scale or raise regularization, and start anew."
        )


class SurefootWarning(UserWarning):
    """The base of every warning of this package."""


class NeverStopsWarning(SurefootWarning):
    """The chosen policy may never stop on this problem by itself."""


class NotSpanningWarning(SurefootWarning):
    """The arms span fewer dimensions than they have features; the work is done in their span."""


class LevelAlarm(SurefootWarning):
    """A pull was applied above the level that was certified safe."""


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """The number with its noun, "1 pull" or "2,500 pulls"."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def shown(value: object) -> str:
    """The value as one short line."""
    item = getattr(value, "item", None)
    if type(value).__module__ == "numpy" and getattr(value, "shape", None) == () and callable(item):
        value = item()  # 0.5 reads better than np.float64(0.5)
    try:
        text = _SHORT.repr(value)
    except Exception:  # a repr may fail in any way (integers of thousands of digits do); the message must not
        text = f"<{type(value).__name__}>"
    return " ".join(text.split())


_SHORT = reprlib.Repr()
_SHORT.maxstring = 160  # a path should be seen whole
_SHORT.maxother = 80
_SHORT.maxlong = 40
_SHORT.maxlevel = 3
