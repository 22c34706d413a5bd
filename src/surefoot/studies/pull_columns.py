"""Every pull of a study as one row of columns, gathered in one pass over the events.

Columns are plain arrays, and words are kept once, so that a pull takes about a hundred bytes however many there are.
"""

import struct
from array import array
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.live.ledger import HELD, OPEN, STATES, TOLD, VOIDED
from surefoot.live.pulls import arm_name
from surefoot.live.readings import STORED, safety_columns
from surefoot.problem import Problem
from surefoot.storage.protocol import COLUMNS
from surefoot.studies import events
from surefoot.studies.corrections import values_in_words
from surefoot.studies.import_order import Statement
from surefoot.studies.listing import as_time

NEVER = -(2**63)  # a moment that has not come; numpy's word for it
NOBODY = -2  # in the place of an arm: -1 is the null pull
AT_ONCE = 1_000  # events; more would be swept by the garbage collector over and over
NAN = float("nan")
USUAL = (events.ASK, events.TELL)
BRINGS = (*events.TELLS, events.ADD, events.CORRECT)  # a result
STATE_AFTER = {**events.CLOSES, **dict.fromkeys(events.HOLDS, HELD), events.VOID: VOIDED}
CHANGES = {
    events.HOLD: "held", events.HOLD_ALL: "held", events.CONFIRM: "confirmed", events.CORRECT: "corrected",
    events.VOID: "voided", events.LATE: "told late and not counted",
}  # fmt: skip
_OPEN, _TOLD = STATES.index(OPEN), STATES.index(TOLD)


class Column(NamedTuple):
    """Some values under a name: numbers as they are, or places in a table of words; `times` are microseconds."""

    name: str
    values: NDArray[Any]
    words: list[str | None] | None = None
    times: bool = False


class Words:
    """Words that occur again and again, each kept once; 0 stands for none."""

    def __init__(self) -> None:
        self.known: list[str | None] = [None]
        self._places: dict[str | None, int] = {None: 0}

    def places(self, words: Sequence[str | None]) -> list[int]:
        """Where the words are kept."""
        found = set(words)
        for word in found - self._places.keys():
            self._places[word] = len(self.known)
            self.known.append(word)
        if len(found) == 1:  # as a rule
            return [self._places[words[0]]] * len(words)
        return [self._places[word] for word in words]


class PullColumns:
    """The pulls of a study, by column; row k is pull k + 1."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._readings = struct.Struct(f"<{len(problem.safety)}d").unpack
        self._words = Words()
        self._arm, self._leader, self._challenger = array("i"), array("i"), array("i")
        self._level, self._reward, self._asked_level, self._margin, self._gap = (array("d") for _ in range(5))
        self._safety = [array("d") for _ in problem.safety]
        self._state, self._imported = bytearray(), bytearray()
        self._asked_at, self._told_at = array("q"), array("q")
        self._worker, self._phase, self._measured, self._reason, self._by = (array("i") for _ in range(5))
        self._changes: dict[int, str] = {}  # by row
        self._stamps: list[str] = []  # of the rows of a table that are to come, the next one last

    def __len__(self) -> int:
        return len(self._arm)

    def take(self, rows: Iterable[Sequence[Any]]) -> None:
        """Enters the events of the study, each in the order of `COLUMNS`."""
        rest = iter(rows)
        while part := list(islice(rest, AT_ONCE)):
            # By far the most are pulls that are asked for and told once: many can be entered at once.
            usual = 0
            for place, row in enumerate(part):
                if row[1] not in USUAL:
                    self._enter_usual(part[usual:place])
                    self._enter(dict(zip(COLUMNS, row, strict=True)), row)
                    usual = place + 1
            self._enter_usual(part[usual:])

    def columns(self, start: int = 0, stop: int | None = None) -> list[Column]:
        """The columns of these rows, or of all."""
        part, problem = slice(start, len(self) if stop is None else stop), self._problem

        def numbers(held: Any, kind: type) -> NDArray[Any]:
            return np.array(held[part], kind)

        def arms(name: str, held: Any) -> Column:
            """The names of arms; of many arms few are named, and only those are made."""
            found, places = np.unique(numbers(held, np.int64), return_inverse=True)
            return Column(name, places, [None if k == NOBODY else arm_name(problem, k) for k in found.tolist()])

        def words(name: str, held: Any) -> Column:
            return Column(name, numbers(held, np.int64), self._words.known)

        def settings(name: str, held: Any) -> list[Column]:
            """The levels as the dial has them, if the problem has one."""
            return [] if dial is None else [Column(name, dial.setting_of(numbers(held, np.float64)))]

        rows, dial = range(part.start, part.stop), problem.dial
        unit = [] if dial is None else [Column("unit", np.zeros(len(rows), np.int64), [dial.unit])]
        changes = ["", *(self._changes[k] for k in rows if k in self._changes)]
        changed = np.zeros(len(rows), np.int64)
        changed[[k - part.start for k in rows if k in self._changes]] = np.arange(1, len(changes))
        return [
            Column("number", np.arange(part.start + 1, part.stop + 1, dtype=np.int64)),
            Column("arm", numbers(self._arm, np.int64)),
            arms("name", self._arm),
            Column("level", numbers(self._level, np.float64)),
            *settings("setting", self._level),
            *unit,
            Column("reward", numbers(self._reward, np.float64)),
            *(
                Column(name, numbers(held, np.float64))
                for name, held in zip(safety_columns(problem), self._safety, strict=True)
            ),
            Column("state", numbers(self._state, np.int64), list(STATES)),
            words("worker", self._worker),
            Column("asked_at", numbers(self._asked_at, np.int64), times=True),
            Column("told_at", numbers(self._told_at, np.int64), times=True),
            Column("asked_level", numbers(self._asked_level, np.float64)),
            *settings("asked_setting", self._asked_level),
            words("phase", self._phase),
            Column("margin", numbers(self._margin, np.float64)),
            arms("leader", self._leader),
            arms("challenger", self._challenger),
            Column("gap", numbers(self._gap, np.float64)),
            Column("imported", numbers(self._imported, np.bool_)),
            words("measured", self._measured),
            words("reason", self._reason),
            words("by", self._by),
            Column("changes", changed, [*changes]),
        ]

    # -- within ---------------------------------------------------------------------------------------------

    def _row(self, number: Any) -> int:
        """The row of this pull."""
        if not 1 <= number <= len(self._arm):
            raise ValueError(f"pull {number} is not open")
        return int(number) - 1

    def _enter_usual(self, rows: list[Sequence[Any]]) -> None:
        """Pulls that were asked for, and results of these or earlier ones."""
        if asked := [row for row in rows if row[1] == events.ASK]:
            self._open(asked)
        if told := [row for row in rows if row[1] == events.TELL]:
            _, _, numbers, _, levels, rewards, safety, _, reasons, by, at, *_ = zip(*told, strict=True)
            k = np.array(numbers, np.int64) - 1
            self._row(min(numbers)), self._row(max(numbers))
            for held, values in ((self._level, levels), (self._reward, rewards)):
                np.frombuffer(held, np.float64)[k] = values
            if set(map(len, safety)) != {8 * len(self._safety)}:
                raise ValueError("there is not one reading for each limit")
            readings = np.frombuffer(b"".join(safety), STORED).reshape(len(k), len(self._safety))
            for s, column in enumerate(self._safety):
                np.frombuffer(column, np.float64)[k] = readings[:, s]
            np.frombuffer(self._told_at, np.int64)[k] = at
            np.frombuffer(self._state, np.uint8)[k] = _TOLD
            for codes, words in ((self._reason, reasons), (self._by, by)):
                np.frombuffer(codes, np.int32)[k] = self._words.places(words)

    def _open(self, rows: list[Sequence[Any]]) -> None:
        """Pulls were asked for, or were imported."""
        (
            _, kinds, numbers, arms, levels, _, _, workers, reasons, by, at, _, phases, margins, leaders, challengers,
            gaps, *_,
        ) = zip(*rows, strict=True)  # fmt: skip
        first, count, places = len(self) + 1, len(rows), self._words.places
        named = {*arms, *leaders, *challengers} - {None}
        if (
            numbers != tuple(range(first, first + count))
            or min(arms) < 0
            or not all(arm in range(-1, self._problem.size) for arm in named)
        ):
            raise ValueError(f"pull {first} is not the next one, or one of an arm that there is not")
        imported = [kind == events.ADD for kind in kinds]
        stamps = [self._stamps.pop() for _ in range(min(count, len(self._stamps)))]
        nan, never = [NAN] * count, [NEVER] * count
        self._state.extend([_TOLD if each else _OPEN for each in imported])
        self._imported.extend(imported)
        entries: tuple[tuple[array[Any], Sequence[Any]], ...] = (
            (self._arm, arms), (self._level, levels), (self._asked_level, levels), (self._reward, nan),
            *((each, nan) for each in self._safety), (self._told_at, never),
            (self._asked_at, [NEVER if each else moment for each, moment in zip(imported, at, strict=True)]),
            (self._margin, [NAN if each is None else each for each in margins]),
            (self._gap, [NAN if each is None else each for each in gaps]),
            (self._leader, [NOBODY if each is None else each for each in leaders]),
            (self._challenger, [NOBODY if each is None else each for each in challengers]),
            (self._worker, places(workers)), (self._phase, places(phases)), (self._reason, places(reasons)),
            (self._by, places(by)), (self._measured, places([*stamps, *[None] * (count - len(stamps))])),
        )  # fmt: skip
        for column, values in entries:
            column.frombytes(np.array(values, column.typecode).tobytes())  # faster than one by one

    def _enter(self, event: dict[str, Any], row: Sequence[Any]) -> None:
        """Whatever else happened."""
        kind, number = event["kind"], event["number"]
        if event["step"] == events.OPENING:
            self._open([row])
        elif kind == events.TABLE:
            self._stamps = list(reversed(Statement.from_json(event["reason"]).stamps))
        elif number is not None and kind in STATE_AFTER:
            k = self._row(number)
            self._state[k] = STATES.index(STATE_AFTER[kind])
            self._reason[k], self._by[k] = self._words.places((event["reason"], event["by"]))
        if kind in CHANGES:
            k = self._row(number)
            before = self._changes.get(k, "")
            self._changes[k] = "; ".join(filter(None, [before, self._change_in_words(event, k)]))
        if kind in BRINGS:
            self._bring(event, self._row(number), [*self._readings(event["safety"])])
        elif kind in events.HOLDS:
            k = self._row(number)
            self._reward[k], self._told_at[k] = NAN, NEVER
            for column in self._safety:
                column[k] = NAN

    def _bring(self, event: dict[str, Any], k: int, readings: list[float]) -> None:
        """A result came in, or is another than it was."""
        self._level[k], self._reward[k] = event["level"], event["reward"]
        if event["kind"] != events.CORRECT:
            self._told_at[k] = event["at"]
        for column, reading in zip(self._safety, readings, strict=True):
            column[k] = reading

    def _change_in_words(self, event: dict[str, Any], k: int) -> str:
        """What became of the result, with the values before and after."""
        when = as_time(event["at"])[:16].replace("T", " ")
        words, reward = [CHANGES[event["kind"]]], self._reward[k]
        if event["kind"] in (events.CORRECT, events.VOID) and reward == reward:
            words.append(values_in_words(self._problem, reward, [column[k] for column in self._safety]))
        if event["kind"] == events.CORRECT:
            words.append("to")
        if event["safety"] is not None:
            words.append(values_in_words(self._problem, event["reward"], [*self._readings(event["safety"])]))
        who = f" by {event['by']}" if event["by"] else ""
        why = f": {event['reason']}" if event["reason"] else ""
        return f"{' '.join(words)} ({when} UTC{who}{why})"
