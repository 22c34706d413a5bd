"""Everything surefoot raises or warns about: one base class, the facts as attributes, one paragraph as message.

Every message says what is, what was expected, and what to do next. `to_dict` gives an error to programs. The file is
long because it is the one list of what can go wrong, to be read in one piece.
"""

from __future__ import annotations

import enum
import json
import reprlib
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypedDict

from surefoot.plain_data import plain

PACKAGE = str(Path(__file__).parent)

LARGEST_FACT = 4_000  # characters of JSON; what is longer is told as one short line


class Absent(enum.Enum):
    """The value of a field that was not given at all."""

    ABSENT = "not given"


ABSENT = Absent.ABSENT


class ErrorDocument(TypedDict):
    """An error or a warning as plain data, for programs to read."""

    kind: str  # the name of its class
    message: str  # one paragraph
    field: str | None  # which input was refused, where one was
    value: Any  # what that input held; None if it was not given, and for NaN and infinity
    remedy: str | None  # what to do, where the message says it in a sentence of its own
    facts: dict[str, Any]  # every attribute by its name


class Documented:
    """What has a name, a message and facts, all of which its document holds."""

    def to_dict(self) -> ErrorDocument:
        """The document of this error or warning."""
        facts = {name: as_fact(value) for name, value in vars(self).items() if not name.startswith("_")}
        return ErrorDocument(
            kind=type(self).__name__,
            message=with_notes(self, str(self)),
            field=facts.get("field"),
            value=facts.get("value"),
            remedy=getattr(self, "remedy", None),
            facts=facts,
        )


class SurefootError(Documented, Exception):
    """The base of every error of this package."""

    def __reduce__(self) -> tuple[Any, ...]:
        """As any exception: its class, its `args` and its facts. Dask mends those that do not say so, and not well."""
        return type(self), self.args, self.__dict__


class Advised:
    """An error whose message is what is, then what to do: the command line puts its own advice in the second place."""

    said: Any  # what is, in a sentence or two
    remedy: Any  # what to do, for one who writes Python

    def __str__(self) -> str:
        return f"{self.said} {self.remedy}"


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


class WorkersLost(SurefootError):
    """Workers that were lost again and again; what they had finished is kept."""

    remedy = (
        "Look at the workers: killed for memory, or without the files they need? What is finished is kept, and the "
        "same command continues; fewer workers need less memory."
    )

    def __init__(self, engine: str, attempts: int, missing: int, detail: str) -> None:
        super().__init__(engine, attempts, missing, detail)
        self.engine = engine
        self.attempts = attempts
        self.missing = missing  # stretches of runs
        self.detail = detail

    def __str__(self) -> str:
        left = counted(self.missing, "stretch", "stretches")
        detail = " ".join(self.detail.split()).rstrip(".")
        return (
            f"The workers of {self.engine} were lost {self.attempts} times in a row without finishing anything "
            f"({detail}), and {left} of runs are left. {self.remedy}"
        )


class Finished(Advised, SurefootError):
    """A question to an experiment that has ended."""

    remedy = "Check session.stopped before asking, and read session.recommendation for the answer."

    def __init__(self, outcome: str, pulls: int) -> None:
        super().__init__(outcome, pulls)
        self.outcome = outcome
        self.pulls = pulls

    @property
    def said(self) -> str:
        """How it ended."""
        ended = f"The experiment ended as {self.outcome!r} after {counted(self.pulls, 'pull')}"
        return f"{ended}, so there is no further pull to ask for."


class BudgetOpen(SurefootError):
    """A question for a pull while every pull of the budget is handed out and results are awaited."""

    def __init__(self, max_pulls: int, open_numbers: Iterable[int]) -> None:
        self.max_pulls = max_pulls
        self.open_numbers = tuple(open_numbers)
        super().__init__(max_pulls, self.open_numbers)

    def __str__(self) -> str:
        return (
            f"All of the {counted(self.max_pulls, 'pull')} of the budget are handed out, so there is none to ask for. "
            f"Tell the results of those that are open ({shown(self.open_numbers)}) first."
        )


class NotOpen(Advised, SurefootError):
    """A result for a pull that is not waiting for one."""

    def __init__(self, number: object, open_numbers: Iterable[int]) -> None:
        self.number = number
        self.open_numbers = tuple(open_numbers)
        super().__init__(number, self.open_numbers)

    @property
    def said(self) -> str:
        """Which pull is not open."""
        return f"Pull {shown(self.number)} is not open, because it was never asked for or was told already."

    @property
    def remedy(self) -> str:
        """Which ones are."""
        if not self.open_numbers:
            return "No pull is waiting for a result: call ask() first."
        if len(self.open_numbers) == 1:
            return f"Only pull {self.open_numbers[0]} is waiting for a result: tell that one."
        return f"The pulls waiting for a result are {shown(self.open_numbers)}: tell one of those."


class NotEnoughMemory(SurefootError, MemoryError):
    """A problem whose state does not fit into the memory that is left."""

    remedy = "Leave out arms, take fewer workers, or use a machine with more memory."

    def __init__(self, arms: int, needed: int, available: int) -> None:
        super().__init__(arms, needed, available)
        self.arms = arms
        self.needed = needed
        self.available = available

    def __str__(self) -> str:
        return (
            f"{counted(self.arms, 'arm')} need about {in_bytes(self.needed)} of memory, "
            f"and {in_bytes(self.available)} are left here. Nothing was begun. {self.remedy}"
        )


class Implausible(SurefootError):
    """A result with a chance below 1e-9 under everything that the problem and the data still allow."""

    remedy = (
        "Check the number, its unit and its sign, and tell it again: the right value, or the same with confirm=True "
        "(--confirm) if that is what was measured."
    )

    def __init__(
        self, number: int | None, name: str, level: float, surprises: Iterable[str], unsafe: bool, held: bool,
        at: str | None = None,
    ) -> None:  # fmt: skip
        self.number = number  # of the pull; None for a result that was to be imported
        self.name = name
        self.level = level
        self.surprises = tuple(surprises)  # value, expected range and unit of each signal
        self.unsafe = unsafe
        self.held = held
        self.at = at or f"level {level:.4g}"  # in words, with the setting of the dial if there is one
        super().__init__(number, name, level, self.surprises, unsafe, held, *([] if at is None else [at]))

    def __str__(self) -> str:
        which = "A result" if self.number is None else f"The result of pull {self.number}"
        far = f"{which} ({self.name} at {self.at}) is implausible: {'; '.join(self.surprises)}."
        kept = "It is not taken in and not lost: the pull is held with it." if self.held else "Nothing is taken in."
        if self.held and self.unsafe:
            kept += " It lies on the unsafe side, so no pull is given to anyone until this is settled."
        return f"{far} {kept} {self.remedy}"


class Held(SurefootError):
    """A question for a pull while an implausible result waits for a person."""

    def __init__(self, number: int, surprises: str, worker: str | None, unsafe: bool) -> None:
        super().__init__(number, surprises, worker, unsafe)
        self.number = number
        self.surprises = surprises
        self.worker = worker
        self.unsafe = unsafe

    def __str__(self) -> str:
        whose = f", which {self.worker} told," if self.worker else ""
        side = (
            "on the unsafe side, so no pull is given to anyone" if self.unsafe else "so there is no pull to go on with"
        )
        return (
            f"The result of pull {self.number}{whose} is held as implausible ({self.surprises}), {side}. Tell pull "
            f"{self.number} again: the right value, or the same with confirm=True (--confirm) if that is what was "
            "measured."
        )


class PullHeld(SurefootError):
    """Something that cannot be done with a pull whose result is held."""

    def __init__(self, number: int, surprises: str) -> None:
        super().__init__(number, surprises)
        self.number = number
        self.surprises = surprises

    def __str__(self) -> str:
        return (
            f"Pull {self.number} has a result that is held as implausible ({self.surprises}), and was not taken in. "
            "Tell the right value, confirm it with confirm=True (--confirm), or take it out with "
            "void(number, reason, by)."
        )


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


class StudyNotFound(SurefootError, LookupError):
    """A study that the storage does not hold."""

    def __init__(self, name: object, storage: str, known: Iterable[str] = ()) -> None:
        self.name = name
        self.storage = storage
        self.known = tuple(known)
        super().__init__(name, storage, self.known)

    def __str__(self) -> str:
        held = f"It holds {shown(list(self.known))}" if self.known else "It holds no study"
        return f"There is no study {shown(self.name)} in {self.storage}. {held}: check the name and the storage."


class StudyExists(Advised, SurefootError):
    """A name that is taken."""

    remedy = "Choose another name, open it with load_study, or pass load_if_exists=True."

    def __init__(self, name: str, storage: str) -> None:
        super().__init__(name, storage)
        self.name = name
        self.storage = storage

    @property
    def said(self) -> str:
        """Which name is taken."""
        return f"There is a study {self.name!r} in {self.storage} already."


class KeyUsed(SurefootError):
    """A key that was used for another step."""

    def __init__(self, key: str, step: str) -> None:
        super().__init__(key, step)
        self.key = key
        self.step = step

    def __str__(self) -> str:
        return (
            f"The key {shown(self.key)} was used before, to {self.step}, and this is another step: nothing was done. "
            "Use a new key for every step, and the same one only to repeat it."
        )


class StudyDiffers(Advised, SurefootError):
    """A study that was to be continued with another problem or other settings than it was begun with."""

    remedy = "Open it with load_study, or give the new study another name."

    def __init__(self, name: str, what: str) -> None:
        super().__init__(name, what)
        self.name = name
        self.what = what

    @property
    def said(self) -> str:
        """What differs."""
        return f"The study {self.name!r} was begun with another {self.what}, which never changes while it runs."


class Frozen(Advised, SurefootError):
    """A question to a study that an emergency stop holds."""

    remedy = "No pull is given to anyone until a person releases it with release(reason, by)."

    def __init__(self, name: str, reason: str, by: str) -> None:
        super().__init__(name, reason, by)
        self.name = name
        self.reason = reason
        self.by = by

    @property
    def said(self) -> str:
        """Who froze it, and why."""
        return f"The study {self.name!r} is frozen by {self.by}: {self.reason.rstrip('.')}."


class PolicyNeeded(Advised, SurefootError):
    """A study with a policy that is not part of surefoot, opened without it."""

    def __init__(self, study: str, policy: str, home: str) -> None:
        super().__init__(study, policy, home)
        self.study = study
        self.policy = policy
        self.home = home

    @property
    def said(self) -> str:
        """Which policy is missing."""
        return (
            f"The study {self.study!r} decides by the policy {self.policy!r} ({self.home}), which is not part of "
            "surefoot, and code that is named in stored data is never imported by itself."
        )

    @property
    def remedy(self) -> str:
        """How to hand it in."""
        return f"Hand it in: load_study(..., policy={self.home.rpartition(':')[2]})."


class OtherVersion(Advised, SurefootError):
    """A study that was begun with other versions of what decides, and can only be read here."""

    remedy = (
        "Go on with the release that made it, or carry its data into a new study: create_study(..., warm_start=study)."
    )

    def __init__(self, study: str, differences: Iterable[str]) -> None:
        super().__init__(study, tuple(differences))
        self.study = study
        self.differences = tuple(differences)

    @property
    def said(self) -> str:
        """What differs."""
        return (
            f"The study {self.study!r} goes on only with the versions that it was begun with: "
            f"{'; '.join(self.differences)}. Other sets in the middle of a study would spend its delta twice."
        )


class Alarmed(Frozen):
    """A question to a session whose data contradict the model."""

    remedy = "Find the cause; if the data are sound all the same, go on with release(reason)."

    def __init__(self, reason: str) -> None:
        super().__init__("session", reason, "the alarm")
        self.args = (reason,)

    @property
    def said(self) -> str:
        """What is wrong."""
        return (
            f"The alarm has ended the session: {self.reason.rstrip('.')}. Nothing is certified, and no pull is given."
        )


class NotFrozen(SurefootError):
    """A release of a study that nothing holds."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        return f"The study {self.name!r} is not frozen, so there is nothing to release. It takes questions as it is."


class AlreadyTold(SurefootError):
    """Another result for a pull that has one."""

    def __init__(self, number: int, stored: object, told: object) -> None:
        super().__init__(number, stored, told)
        self.number = number
        self.stored = stored
        self.told = told

    def __str__(self) -> str:
        return (
            f"Pull {self.number} has a result already: stored is {shown(self.stored)}, and {shown(self.told)} is "
            "something else. The stored one stays. Repeat the very same numbers, tell another pull, or put a mistake "
            "right with correct(number, ..., reason, by)."
        )


class PullClosed(Advised, SurefootError):
    """A result for a pull that was given up."""

    remedy: Any = "If it was measured after all, record it with add(arm, level, reward, safety)."

    def __init__(self, number: int, state: str, reason: str, kept: bool = False) -> None:
        super().__init__(number, state, reason, kept)
        if state == "voided":
            self.remedy = "What is voided stays out."
        self.number = number
        self.state = state
        self.reason = reason
        self.kept = kept  # whether the result is stored, as one that came late and does not count

    @property
    def said(self) -> str:
        """What became of it."""
        return f"{self._why}, so it takes no result and cannot be closed again.{self._late}"

    @property
    def _why(self) -> str:
        return f"Pull {self.number} is {self.state} ({self.reason.rstrip('.')})"

    @property
    def _late(self) -> str:
        return " Its result is kept as one that came late, and does not count." if self.kept else ""


class Recalled(PullClosed):
    """A result for a pull that was recalled: corrected results do not certify its level."""

    remedy = "If it is not applied yet, leave it. If it was, record it with add(arm, level, reward, safety)."

    @property
    def said(self) -> str:
        """What became of it."""
        why = f"Pull {self.number} was recalled ({self.reason.rstrip('.')})"
        return f"{why}: corrected results do not certify its level.{self._late}"


class NotTold(SurefootError):
    """A correction of a pull without a result."""

    def __init__(self, number: int, state: str) -> None:
        super().__init__(number, state)
        self.number = number
        self.state = state

    def __str__(self) -> str:
        remedy = {
            "open": "Tell its result, or give it up with cancel or fail.",
            "voided": "What is voided stays so; a result that counts after all is recorded with add(...).",
        }.get(self.state, "If it was measured after all, record it with add(arm, level, reward, safety).")
        return f"Pull {self.number} is {self.state}, so there is no result to correct or to void. {remedy}"


class StorageError(SurefootError):
    """A storage that does not do what it should; nothing that was acknowledged is lost."""

    remedy = "Check the storage and try again."
    _passing = False  # whether a server went away, and may come back

    def __init__(self, storage: str, detail: str) -> None:
        super().__init__(storage, detail)
        self.storage = storage
        self.detail = detail

    def __str__(self) -> str:
        return f"{self.storage} {' '.join(self.detail.split()).rstrip('.')}. {self.remedy}"


class StorageUnavailable(StorageError):
    """A storage that cannot be reached or opened."""

    remedy = "Check the address, that the database is up, and that its folder exists; then try again."


class StorageUncertain(StorageUnavailable):
    """A storage that was lost while it kept a step: nobody can tell from here whether it did."""

    remedy = (
        "It is UNKNOWN whether this step was kept. Once the storage is back, look (status, history) before you do it "
        "again, or repeat it with the same key, which does it once."
    )


class StorageIncomplete(StorageError):
    """A storage without the log that holds its newest results."""

    remedy = (
        "Stop every program that uses it. Put the log back beside it, or go on from a copy made with `surefoot storage "
        "backup`, which needs no log; or accept what is in the file with `surefoot storage accept`."
    )


class StorageBusy(StorageError):
    """A storage that others kept locked for too long."""

    remedy = "Nothing was written. Try again; if it stays so, look for a program that holds a transaction open."


class StorageFull(StorageError):
    """A storage without room."""

    remedy = "Nothing of this step was written, and all before it is safe. Make room and try again."


class StorageReadOnly(StorageError):
    """A storage that may be read and not written."""

    remedy = "Nothing was written. Allow writing to the file and its folder, or use a copy."


class StorageDamaged(StorageError):
    """A storage whose content cannot be what surefoot wrote."""

    remedy = "Keep the file, run `surefoot storage check`, and continue from a backup."


class StorageNewer(StorageError):
    """A storage that a later version of surefoot has arranged."""

    remedy = "Install that version or a later one; this one changes nothing in it."


class StorageOutdated(StorageError):
    """A storage that an earlier version of surefoot has arranged."""

    remedy = "Back it up and run `surefoot storage upgrade`."


class SurefootWarning(Documented, UserWarning):
    """The base of every warning of this package."""


class LogRescued(SurefootWarning):
    """The log of a storage was removed while it was open; what was in it is safe."""


class AuditWarning(SurefootWarning):
    """A stored decision, or a snapshot, that is not what the events before it lead to."""


class OtherVersionWarning(SurefootWarning):
    """A study was begun with other versions of what decides, and opens for reading only."""


class UnreadableWarning(SurefootWarning):
    """A study in a storage that cannot be read; the others can."""


class ModelAlarm(SurefootWarning):
    """Data that contradict the model; the study is frozen."""


class HeldWarning(SurefootWarning):
    """A result that had waited for an earlier one turned out implausible when its turn came, and is held."""


class RecalledWarning(SurefootWarning):
    """Open pulls were recalled: corrected results do not certify their levels."""


class NeverStopsWarning(SurefootWarning):
    """The chosen policy may never stop on this problem by itself."""


class RenamedWarning(SurefootWarning):
    """A word of an earlier version, which goes on working; the message says what it is called now."""


class InterpretedWarning(SurefootWarning):
    """A part of a policy or a world is plain Python, so every round waits for the interpreter."""


class WorldBreaksStatement(SurefootWarning):
    """A simulated world does not keep what the problem states: a norm, a noise, or the known safe level."""


class NotSpanningWarning(SurefootWarning):
    """The arms span fewer dimensions than they have features; the work is done in their span."""


class LevelExceeded(SurefootWarning):
    """A pull was applied above the level that was certified safe."""


def outside() -> int:
    """The stack level, for a warning of whoever calls this, of the first caller outside the package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        level, frame = level + 1, frame.f_back
    return level


def as_fact(value: object) -> Any:
    """The value as plain data; as one short line where it is large or no data at all."""
    if value is ABSENT:
        return None
    try:
        data = plain(value)
        fits = len(json.dumps(data, allow_nan=False)) <= LARGEST_FACT
    except Exception:  # a stranger's object may fail in any way; the error about it must not
        fits = False
    return data if fits else shown(value)


def with_notes(error: object, text: str) -> str:
    """The text in one line, with what was noted on the error's way up."""
    return " ".join([*text.split(), *(f"({note})" for note in getattr(error, "__notes__", ()))])


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """The number with its noun, "1 pull" or "2,500 pulls"."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def in_bytes(count: int) -> str:
    """The number of bytes as people say it."""
    units = ("bytes", "kB", "MB", "GB", "TB", "PB", "EB")
    power = min((len(str(count)) - 1) // 3, len(units) - 1)
    return f"{count / 1000**power:.3g} {units[power]}"


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
