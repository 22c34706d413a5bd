"""Results measured elsewhere, on their way into a study: checked whole, put in order, then taken in as one step."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from surefoot.errors import ABSENT, Implausible, InvalidInput, counted
from surefoot.live.order_check import suspicions
from surefoot.live.plausible import surprises_in, surprises_in_rows
from surefoot.live.readings import internal, packed
from surefoot.problem import Problem
from surefoot.problem.checks import text
from surefoot.problem.pilots import marked_rows
from surefoot.problem.units import level_in_words
from surefoot.studies import events
from surefoot.studies.entries import StudyLedger
from surefoot.studies.events import Event
from surefoot.studies.import_order import MEASURED, Statement, in_order, stated_order
from surefoot.studies.import_tables import Row, cells_in, checked_row, checked_rows
from surefoot.studies.inputs import confirm

HISTORY = "history may be taken over only if none of it was picked by its result"
PILOT = (
    "Add fresh rows only. To have these as data, make a study of the problem as it was stated before they were looked "
    "at, without calibrated_by."
)
NAMED = 3  # trends that a refusal tells; the others are counted
ALL_LOOKED_AT = 64  # rows added one by one, up to which every one is a reason to look; later one in fifty or so
SUSPICIOUS = (
    "Results in the order measured look so once in a million tables; sorted ones do, and a promise from sorted ones is "
    "void. Add them in the order measured. If they are in it, something drifted or is not proportional to the level: "
    "confirm=True (--confirm) takes them in all the same, and that is shown with every answer."
)


class Taken(NamedTuple):
    """Results that are to be taken over together, in their order."""

    rows: list[Row]
    statement: Statement | None  # None for one row, which comes when it comes
    confirmed: bool  # although their order is suspicious
    sources: list[str | None]  # of each row


def one_row(
    problem: Problem, row: tuple[object, object, object, object], order: object, time: object, source: object,
    confirmed: object,
) -> Taken:  # fmt: skip
    """One result; rows that are added one by one are in the order in which they are added."""
    if order is not None or time is not None:
        reason = "is stated about tables; results that are added one by one count in the order in which they are added"
        raise InvalidInput("order" if order is not None else "time", order or time, reason, "Leave it out.")
    if not problem.safety and row[3] is ABSENT:
        row = *row[:3], ()
    for field, value in zip(("arm", "level", "reward", "safety"), row, strict=True):
        if value is ABSENT:
            reason = "a result has an arm, a level, a reward and a reading"
            raise InvalidInput(field, ABSENT, reason, "Give all four; or, for a table in a file, its Path.")
    checked = checked_row(problem, *row)  # type: ignore[arg-type]
    return Taken([checked], None, checked_flag(confirmed), [said_source(source)])


def whole_table(
    problem: Problem, table: object, order: object, time: object, source: object, confirmed: object
) -> Taken:  # fmt: skip
    """All rows of a table, checked before any is taken in, in the order that is stated about them."""
    word, said = stated_order(order, time), said_source(source)
    cells = cells_in(table)
    rows = checked_rows(problem, cells)
    refuse_pilot(problem, rows)
    places, stamps = in_order(cells, word, time)
    statement = Statement(len(rows), word, None if time is None else str(time), stamps, said)
    sources: list[str | None] = [f"{said or 'a table'}, row {place + 1}" for place in places]
    return Taken([rows[place] for place in places], statement, checked_flag(confirmed), sources)


def refuse_pilot(problem: Problem, rows: list[Row]) -> None:
    """Nothing, unless the rows by which the problem was calibrated are among these."""
    told = [(problem.names[row.arm], row.level, row.reward, row.readings) for row in rows]
    found = marked_rows(problem.calibrated_by, told)
    if found is not None:
        reason = (
            f"rows {found.start + 1} to {found.stop} are the pilot rows by which the problem was calibrated: what was "
            "stated by them would count twice"
        )
        raise InvalidInput("table", counted(len(rows), "row"), reason, PILOT)


def said_source(source: object) -> str | None:
    """Where results are from."""
    return None if source is None else text("source", source, "Say in one line where it is from.")


def checked_flag(confirmed: object) -> bool:
    """Whether a suspicious order is confirmed."""
    if not isinstance(confirmed, bool):
        raise InvalidInput("confirm", confirmed, "must be True or False", "Leave it out unless it was asked for.")
    return confirmed


def check_unpicked(not_because_of_result: object) -> None:
    """Refuses history of which nobody says that none of it was picked by its result."""
    confirm(not_because_of_result, HISTORY)


def import_events(problem: Problem, ledger: StudyLedger, taken: Taken) -> list[Event]:
    """The events by which the results become part of the study; what is implausible, and a suspicious order, is refused
    unless confirmed."""
    implausible = implausible_rows(problem, ledger, taken)
    doubts = doubts_about(problem, ledger, taken)
    if doubts and not taken.confirmed:
        more = f"; and {len(doubts) - NAMED:,} more such" if len(doubts) > NAMED else ""
        raise InvalidInput("order", stated_as(taken), "; ".join(doubts[:NAMED]) + more, SUSPICIOUS)
    statement = taken.statement
    if doubts or implausible:
        given = statement or Statement(1, MEASURED, source=taken.sources[0])
        statement = replace(given, confirmed=tuple(doubts), implausible=tuple(implausible))
    first = ledger.last_number + 1
    rows = [
        events.added(first + i, row.arm, row.level, row.reward, row.readings, source)
        for i, (row, source) in enumerate(zip(taken.rows, taken.sources, strict=True))
    ]
    return rows if statement is None else [events.table(statement.to_json()), *rows]


def implausible_rows(problem: Problem, ledger: StudyLedger, taken: Taken) -> list[str]:
    """The rows that nothing explains which the problem, the results so far and the rows before them still allow, in
    words; refused by name unless they are confirmed.                                                        (E6)"""
    rows = [(row.arm, row.level, row.reward, [float(each) for each in row.readings]) for row in taken.rows]
    if taken.statement is None:
        found = {0: far} if (far := surprises_in(ledger.learner, *rows[0])) else {}
    else:
        found = surprises_in_rows(ledger.learner_without(0), rows)
    said = []
    for place, far in found.items():
        name, where = problem.names[rows[place][0]], taken.sources[place]
        words = [str(each) for each in far]
        if not taken.confirmed:
            named = name if taken.statement is None else f"{where}: {name}"
            words += [f"and {len(found) - 1:,} more such rows"] if len(found) > 1 else []
            at = None if problem.dial is None else level_in_words(problem.dial, rows[place][1])
            raise Implausible(None, named, rows[place][1], words, any(each.unsafe for each in far), False, at)
        said.append(f"{where or name}: {'; '.join(words)}")
    return said


def stated_as(taken: Taken) -> str:
    """What was stated, for a refusal."""
    statement = taken.statement
    return "added one by one" if statement is None else ", ".join(statement.claims)


def doubts_about(problem: Problem, ledger: StudyLedger, taken: Taken) -> list[str]:
    """Why the order looks sorted, in words: together with what was taken over before, since a sorted table can come in
    pieces."""
    rows = len(ledger.in_doubt) + len(taken.rows)
    every = max(1, rows // ALL_LOOKED_AT)
    if taken.statement is None and rows % every:
        return []
    new = [(row.arm, row.level, row.reward, packed(row.readings)) for row in taken.rows]
    arms, levels, rewards, readings = zip(*ledger.rows_in_doubt(), *new, strict=True)
    observed = np.column_stack([np.array(rewards), internal(problem, b"".join(readings), len(readings))])
    found = suspicions(problem, np.array(arms, np.int64), np.array(levels), observed)
    return [each.message for each in found]
