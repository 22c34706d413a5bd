"""Events that were carried here in a file, looked at one after the other.

The ledger finds out whether events can follow each other. Here is found out whether they are events at all: that every
kind holds what it holds and nothing else, each value of its type, in its range and fit for its column.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import copysign, inf
from typing import Any, get_args, get_origin, get_type_hints

from surefoot.characters import is_printable
from surefoot.live.certificate import Certificate
from surefoot.live.pulls import Outcome, Recommendation
from surefoot.live.readings import packed
from surefoot.problem.checks import LARGEST, text
from surefoot.studies import events
from surefoot.studies.archives import LONGEST_LINE, Unfit, parsed, whole_number
from surefoot.studies.events import Event
from surefoot.studies.import_order import Statement

LAST_MOMENT = 253_402_300_799_999_999  # microseconds: the end of the year 9999
MOST = 2**63 - 1  # of a whole number in a storage
SHORT = 16  # characters of a phase
OTHER = "It is named in the file."

RESULT = ("level", "reward", "safety")
DECISION = ("worker", "phase", "margin", "leader", "challenger", "gap")
CLOSED = (("number", "reason"), ("step", "by"))
STOPPED = (("reason", "by"), ("number",))
# What an event of each kind holds besides sequence, at and writer, and what it may hold.
HOLDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    events.ASK: (("number", "step", "arm", "level"), DECISION),
    events.ADD: (("number", "step", "arm", *RESULT), ("reason",)),
    **dict.fromkeys(events.TELLS, (("number", *RESULT), ("step",))),
    **dict.fromkeys((events.CANCEL, events.FAIL, events.EXPIRE, events.ABORT, events.RECALL), CLOSED),
    **dict.fromkeys((events.FREEZE, events.RELEASE, events.ALARM), STOPPED),
    **dict.fromkeys(events.HOLDS, (("number", *RESULT, "reason"), ())),
    events.CORRECT: (("number", *RESULT, "reason", "by"), ()),
    events.VOID: (("number", "reason", "by"), ()),
    events.LATE: (("number", *RESULT), ()),
    events.TABLE: (("reason",), ()),
    events.END: (("reason", "by"), ()),
    events.KEY: (("key", "reason"), ()),
}
ALWAYS = frozenset({"sequence", "kind", "at", "writer"})
ALLOWED = {kind: (ALWAYS | set(must), ALWAYS | set(must) | set(may)) for kind, (must, may) in HOLDS.items()}
OPENS = (events.ASK, events.ADD)


@dataclass
class Looking:
    """Looks at one event after the other, and hands each on as it is stored."""

    arms: int
    events: int  # in all

    def __post_init__(self) -> None:
        self._sequence = self._opened = 0
        self._closed = bytearray()  # for each pull that was opened, whether an event with a step has closed it
        self._keys: set[str] = set()

    def __call__(self, event: Event) -> Event:
        kind = event.get("kind")
        if not isinstance(kind, str) or kind not in ALLOWED:
            raise Unfit(f"holds an event of the unknown kind {str(kind)[:60]!r}")
        must, may = ALLOWED[kind]
        if not must <= event.keys() or not event.keys() <= may:
            odd = sorted((must - event.keys()) | (event.keys() - may))
            raise Unfit(f"holds an event {kind!r} that lacks, or should not have, {', '.join(odd)[:100]}")
        self._sequence += 1
        if event["sequence"] != self._sequence:
            raise Unfit(f"misses event {self._sequence}")
        for field, value in event.items():
            if field in FIELDS:
                FIELDS[field](field, value)
        if event.get("arm", 0) >= self.arms or max(event.get("leader", 0), event.get("challenger", 0)) >= self.arms:
            raise Unfit(f"names an arm in event {self._sequence} that the problem does not have")
        self._look_at_number(kind, event)
        if kind in SAID:
            self._look_at_words(kind, event)
        return {**event, "safety": packed(event["safety"])} if "safety" in event else event

    def _look_at_number(self, kind: str, event: Event) -> None:
        """A pull is opened before anything else happens to it, and opened and closed once."""
        number, step = event.get("number"), event.get("step")
        if kind in OPENS:
            if step != events.OPENING or number != self._opened + 1:
                raise Unfit(f"opens pull {number} by event {self._sequence}, where it is not its turn")
            self._opened += 1
            self._closed.append(0)
            return
        if number is None:
            return
        if not (0 if kind in STOPS else 1) <= number <= self._opened:
            raise Unfit(f"is about pull {number} in event {self._sequence}, before it was opened")
        if step is not None:
            if step != events.CLOSING or self._closed[number - 1]:
                raise Unfit(f"closes pull {number} a second time by event {self._sequence}")
            self._closed[number - 1] = 1

    def _look_at_words(self, kind: str, event: Event) -> None:
        """What is kept as JSON is what it is taken for."""
        said = parsed(event["reason"])
        if not isinstance(said, dict):
            raise Unfit(f"holds an event {kind!r} that says nothing")
        if kind == events.TABLE:
            check_statement(event["reason"], said, self.events - self._sequence)
        elif kind == events.END:
            check_end(said)
        elif event["key"] in self._keys or set(said) != {"verb", "request", "answer"}:
            raise Unfit(f"holds a key in event {self._sequence} that was used before, or says nothing")
        else:
            self._keys.add(event["key"])


SAID = (events.TABLE, events.END, events.KEY)
STOPS = (events.FREEZE, events.RELEASE, events.ALARM)


def check_statement(stored: str, said: dict[str, Any], following: int) -> None:
    """What was stated about a table of results that follow."""
    hints = {"rows": int, "order": str | None, "time": str | None, "source": str | None}
    lists = dict.fromkeys(("stamps", "confirmed", "implausible"), tuple[str, ...])
    if not set(said) <= set(hints | lists) or not all(fits(value, (hints | lists)[key]) for key, value in said.items()):
        raise Unfit("holds a statement about a table that cannot be read")
    if not all(map(is_printable, strings_in(list(said.values())))):
        raise Unfit("holds a statement with characters that cannot be shown")
    if Statement.from_json(stored).rows > following:
        raise Unfit("holds a table that breaks off")


def check_end(said: dict[str, Any]) -> None:
    """What was said at an end."""
    if set(said) != {"outcome", "pulls", "certificate", "recommendation"} or said["outcome"] not in get_args(Outcome):
        raise Unfit("holds an end that says nothing")
    whole_number("pulls", said["pulls"], 0, MOST)
    for what, kind in (("certificate", Certificate), ("recommendation", Recommendation)):
        held, hints = said[what], get_type_hints(kind)
        if held is None:
            continue
        if not isinstance(held, dict) or not all(key in hints and fits(held[key], hints[key]) for key in held):
            raise Unfit(f"holds an end with a {what} that is none")
        if not all(map(is_printable, strings_in(list(held.values())))):
            raise Unfit(f"holds an end with a {what} that cannot be shown")
        kind.from_dict(held) if kind is Certificate else kind(**held)  # which refuses one that lacks something


def strings_in(values: list[Any]) -> Iterator[str]:
    """Every text among the values, and in the lists among them."""
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            yield from (each for each in value if isinstance(each, str))


def fits(value: object, hint: Any) -> bool:
    """Whether a value that was read from JSON is what the hint says."""
    if get_origin(hint) is tuple:
        return isinstance(value, list) and all(isinstance(each, str) for each in value)
    if hint is float:
        return type(value) in (int, float) and abs(value) <= LARGEST  # type: ignore[arg-type]
    if get_args(hint):
        return any(value == each if isinstance(each, str) else fits(value, each) for each in get_args(hint))
    return type(value) is hint or (hint is type(None) and value is None)


def short_text(field: str, value: object, most: int) -> None:
    """A text that fits its column."""
    if not isinstance(value, str) or not 1 <= len(value) <= most or not is_printable(value):
        raise Unfit(f"holds {field} = {str(value)[:60]!r}, which must be text of at most {most:,} characters")


def real(field: str, value: object, least: float = -LARGEST, most: float = LARGEST) -> None:
    """A number with a point, within these bounds; in a column a zero has no sign, since not every storage keeps it."""
    if type(value) is not float or not least <= value <= most or (value == 0.0 and copysign(1.0, value) < 0.0):
        raise Unfit(f"holds {field} = {str(value)[:60]}, which must be a number from {least:g} to {most:g}")


def readings(field: str, value: object) -> None:
    """A list of readings; whether they are as many as there are limits is seen when the study is gone through."""
    if not isinstance(value, list):
        raise Unfit(f"holds {field} = {str(value)[:60]}, which must be a list of readings")
    for each in value:
        real(field, abs(each) if type(each) is float else each)  # they are kept as bytes, signs and all


def named(field: str, value: object) -> None:
    """A name that people gave."""
    text(field, value, OTHER)


def whole(least: int, most: int) -> Callable[[str, object], object]:
    """Looks whether a value is a whole number within these bounds."""
    return lambda field, value: whole_number(field, value, least, most)


FIELDS: dict[str, Callable[[str, object], object]] = {
    "sequence": whole(1, MOST),
    "at": whole(0, LAST_MOMENT),
    "writer": whole(0, MOST),
    "number": whole(0, MOST),
    "step": whole(events.OPENING, events.CLOSING),
    "arm": whole(0, 2**31 - 1),
    "leader": whole(-1, 2**31 - 1),
    "challenger": whole(-1, 2**31 - 1),
    "level": lambda field, value: real(field, value, 0.0, 1.0),
    "reward": real,
    "margin": lambda field, value: real(field, value, -inf, inf),
    "gap": lambda field, value: real(field, value, -inf, inf),
    "safety": readings,
    "worker": named,
    "by": named,
    "key": named,
    "phase": lambda field, value: short_text(field, value, SHORT),
    "reason": lambda field, value: short_text(field, value, LONGEST_LINE),
}
