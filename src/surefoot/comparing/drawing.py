"""The numbers behind the pictures of a comparison, as columns: what `sf.plots` draws and gives as frames."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from surefoot.comparing.asking import Arena
from surefoot.comparing.rows import Row
from surefoot.worlds import Linear

Columns = dict[str, Any]
POLICY, BOUND = "policy", "bound"  # whose numbers: measured ones, or what no method can do without
WITH_LIMITS, WITHOUT_LIMITS = "lower bound, limits kept", "lower bound, no limits"
ORACLES = {WITH_LIMITS: "oracle, limits kept", WITHOUT_LIMITS: "oracle, no limits"}


def by_delta(rows: Sequence[Row]) -> Columns:
    """Pulls against delta in each world, and the bound there; of rows in which every run stopped."""
    found = [
        (row.arena.label, who, row.problem.delta, *numbers, kind)
        for row in rows for who, numbers, kind in measured(row)
    ]  # fmt: skip
    return columns_of(("world", "policy", "delta", "pulls", "lower", "upper", "kind"), dict.fromkeys(found))


def by_features(rows: Sequence[Row]) -> Columns:
    """Pulls against the number of features, in worlds that differ in it; at the smallest delta."""
    return by_axis(rows, "features", lambda arena: float(arena.problem.rank), lambda arena: None)


def by_gap(rows: Sequence[Row]) -> Columns:
    """Pulls against the lead of the best safe arm, in worlds that differ in it and not in their features."""
    return by_axis(rows, "gap", lead_of, lambda arena: arena.problem.rank)


def by_axis(
    rows: Sequence[Row], axis: str, place: Callable[[Arena], float | None], same: Callable[[Arena], Any]
) -> Columns:
    """Pulls along an axis, in each family of worlds that differ in one setting alone, and with it along the axis."""
    found: dict[tuple[Any, ...], None] = {}
    last = smallest_delta(rows)
    for name, members in families([row.arena for row in last], place, same):
        at = {arena.label: place(arena) for arena in members}
        for row in last:
            if row.arena.label in at:
                found |= dict.fromkeys((name, who, at[row.arena.label], *numbers, kind) for who, numbers, kind in
                                       measured(row))  # fmt: skip
    return columns_of(("worlds", "policy", axis, "pulls", "lower", "upper", "kind"), found)


def families(
    arenas: Sequence[Arena], place: Callable[[Arena], float | None], same: Callable[[Arena], Any]
) -> Iterator[tuple[str, list[Arena]]]:
    """Worlds of one name that are alike but for one setting, each at a place of its own along the axis."""
    every = {arena.label: arena for arena in arenas}.values()
    seen: set[frozenset[str]] = set()
    for name in dict.fromkeys(arena.name for arena in every):
        mine = [arena for arena in every if arena.name == name]
        for key in dict.fromkeys(key for arena in mine for key in (*arena.settings, None)):
            groups: dict[str, list[Arena]] = {}
            for arena in mine:
                rest = {each: value for each, value in arena.settings.items() if each != key}
                groups.setdefault(repr((sorted(rest.items(), key=str), same(arena))), []).append(arena)
            for members in groups.values():
                places = [place(arena) for arena in members]
                labels = frozenset(arena.label for arena in members)
                if len(members) > 1 and None not in places and len(set(places)) == len(places) and labels not in seen:
                    seen.add(labels)
                    yield f"{name}, {key} varied" if key else name, members


def lead_of(arena: Arena) -> float | None:
    """How far the best safe arm is ahead of the next, rounded so that equal ones are equal."""
    return float(f"{arena.world.lead(arena.problem):.9g}") if isinstance(arena.world, Linear) else None


def shares(rows: Sequence[Row]) -> Columns:
    """The share of its pulls that each policy gave each arm, and the oracle's; at the smallest delta."""
    found: dict[tuple[Any, ...], None] = {}
    for row in smallest_delta(rows):
        if row.shares is None:
            continue
        given = [(row.contender.label, row.shares, POLICY)]
        if row.bound is not None:
            given.insert(0, (ORACLES[bound_of(row)], row.bound.allocation, BOUND))
        for who, each, kind in given:
            names = row.problem.names
            found |= dict.fromkeys((row.arena.label, who, names[k], float(each[k]), kind) for k in range(len(each)))
    return columns_of(("world", "policy", "arm", "share", "kind"), found)


DRAWN: dict[str, Callable[[Sequence[Row]], Columns]] = {
    "pulls_by_delta": by_delta, "pulls_by_features": by_features, "pulls_by_gap": by_gap, "shares": shares,
}  # fmt: skip


# -- parts ------------------------------------------------------------------------------------------------------------


def measured(row: Row) -> Iterator[tuple[str, tuple[float, float, float], str]]:
    """The pulls of a row with their interval, and the bound for such a policy."""
    if row.bound is not None:
        yield bound_of(row), (row.bound.pulls,) * 3, BOUND
    if row.whole and row.summary is not None:
        found = row.summary
        ends = [found["pulls_mean"] if found[end] is None else found[end] for end in ("pulls_lower", "pulls_upper")]
        yield row.contender.label, (found["pulls_mean"], *ends), POLICY


def bound_of(row: Row) -> str:
    """How the bound of the row is called."""
    return WITH_LIMITS if row.keeps_limits else WITHOUT_LIMITS


def smallest_delta(rows: Sequence[Row]) -> list[Row]:
    """The rows at the smallest delta."""
    least = min(row.problem.delta for row in rows)
    return [row for row in rows if row.problem.delta == least]


def columns_of(names: Sequence[str], rows: Any) -> Columns:
    """The rows as columns."""
    listed = list(rows)
    return {name: column([row[place] for row in listed]) for place, name in enumerate(names)}


def column(values: Sequence[Any]) -> Any:
    """Numbers as numbers, missing ones as NaN; anything else as it is."""
    if any(isinstance(value, str) for value in values) or all(value is None for value in values):
        return np.array(values, object)
    if all(isinstance(value, int) for value in values):
        return np.array(values, np.int64)
    return np.array([np.nan if value is None else float(value) for value in values])
