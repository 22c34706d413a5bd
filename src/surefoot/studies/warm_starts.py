"""The results of one study as history for another, under the same truth."""

from typing import TYPE_CHECKING

import numpy as np

from surefoot.errors import InvalidInput
from surefoot.problem import Problem
from surefoot.studies import events
from surefoot.studies.events import Event
from surefoot.studies.import_order import TAKEN_IN, Statement

if TYPE_CHECKING:
    from surefoot.studies.study import Study

OTHERWISE = "Start without it, or add what fits with study.add(...)."


def history_for(problem: Problem, other: "Study") -> list[Event]:
    """Every result that the other study was told, in order of number, as imports into a study of this problem.

    All of them are taken, so nothing is left out because of its result, and the order of numbers is one in which every
    setting depends on earlier results only, however they came in. They are one table: the new study decides after the
    last of them. Arms are found by their features and limits by their names; a result that has no place in the new
    problem is a reason to refuse the whole.
    """
    arms = arms_between(other.problem, problem)
    order = limits_between(other.problem, problem)
    check_same_dial(other.problem, problem)
    found: list[Event] = []
    for row in other.results():
        if arms[row.arm] < 0:
            name, features = other.problem.names[row.arm], other.problem.arms[row.arm]
            there = (problem.arms == features).all(axis=1).any()
            why = "cannot be tried in the new problem" if there else "is not among the arms"
            raise InvalidInput("warm_start", other.name, f"has results of {name!r}, which {why}", OTHERWISE)
        source = f"study {other.name!r}, pull {row.number}"
        readings = [row.readings[s] for s in order]
        found.append(events.added(len(found) + 1, arms[row.arm], row.level, row.reward, readings, source))
    if not found:
        return []
    said, source = other.statements(), f"study {other.name!r}"
    doubts = tuple(doubt for each in said for doubt in each.confirmed)  # they are not washed off
    implausible = (*(row for each in said for row in each.implausible), *(f"pull {one}" for one in other.confirmed))
    statement = Statement(len(found), TAKEN_IN, source=source, confirmed=doubts, implausible=implausible)
    return [events.table(statement.to_json()), *found]


def check_same_dial(old: Problem, new: Problem) -> None:
    """Refuses levels that were settings of another dial: the same level would be another setting now."""
    if old.dial is not None and new.dial is not None and old.dial != new.dial:
        reason = "was measured on another dial, where the same level is another setting"
        raise InvalidInput("warm_start", old.dial.to_dict(), reason, OTHERWISE)


def arms_between(old: Problem, new: Problem) -> list[int]:
    """For each arm of the old problem the arm of the new one with the very same features, -1 where there is none."""
    if old.arms.shape[1] != new.arms.shape[1]:
        reason = f"is about {old.arms.shape[1]} features, and the problem has {new.arms.shape[1]}"
        raise InvalidInput("warm_start", old, reason, OTHERWISE)
    places: dict[bytes, int] = {}
    for k, row in enumerate(np.ascontiguousarray(new.arms)):
        if new.pullable[k]:  # of what cannot be tried there are no results
            places.setdefault(row.tobytes(), k)
    return [places.get(row.tobytes(), -1) for row in np.ascontiguousarray(old.arms)]


def limits_between(old: Problem, new: Problem) -> list[int]:
    """For each limit of the new problem its place in the old one; a signal that means something else is refused."""
    held = {limit.name: s for s, limit in enumerate(old.safety)}
    for limit in new.safety:
        if limit.name not in held:
            raise InvalidInput("warm_start", old, f"has no readings of {limit.name!r}", OTHERWISE)
        before = old.safety[held[limit.name]].baseline
        if before != limit.baseline:
            reason = f"was measured with the baseline {before!r} of {limit.name!r}, which is {limit.baseline!r} now"
            raise InvalidInput("warm_start", old, reason, OTHERWISE)
    return [held[limit.name] for limit in new.safety]
