"""The numbers behind each picture, as data frames: what is drawn can be had, and a frame of it can be drawn.

A source is a session, a study, the trace of one, or a data frame with the columns that its function here names.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from surefoot import frames
from surefoot.errors import InvalidInput
from surefoot.frames import columns_in, frame_from, is_frame
from surefoot.live.trace import NOBODY, Trace, named

Columns = dict[str, Any]
SOURCE = "Pass a session, a study, the trace of one, or a data frame of the function with _frame in its name."
COLUMNS = {
    "levels": ("round", "name", "certified", "possible", "known_safe"),
    "gap": ("round", "gap", "epsilon"),
    "readings": ("round", "limit", "reading", "worst_mean", "allowed", "mean_allowed", "side"),
    "pulls": ("name", "pulls"),
    "rewards": ("name", "level", "reward", "low", "high", "role"),
}  # what each picture needs; frames have more
FEW = range(8)  # arms that stay in the order of the problem
STATES_DRAWN = 600  # rounds whose numbers of arms are drawn: more cannot be told apart


def levels_frame(source: object, *, arms: Sequence[int | str] | None = None, kind: str = frames.PANDAS) -> Any:
    """For each kept round and arm: the certified level, the highest still possible one, and the known start.

    Columns: round, name, certified, possible, known_safe. `kind` is "pandas" or "polars", here and below.
    """
    return frame_from(levels_columns(source, arms), kind)


def gap_frame(source: object, *, kind: str = frames.PANDAS) -> Any:
    """For each round: the gap (missing while exploring), epsilon, leader and challenger."""
    return frame_from(gap_columns(source), kind)


def readings_frame(source: object, *, kind: str = frames.PANDAS) -> Any:
    """For each round and limit: what was read, the worst mean that was possible for this pull when it was made, and
    what is allowed, for single readings or means (allowed) and for means (mean_allowed).

    Columns: round, name, level, limit, reading, worst_mean, allowed, mean_allowed, side, covers.
    """
    return frame_from(readings_columns(source), kind)


def pulls_frame(source: object, *, kind: str = frames.PANDAS) -> Any:
    """How often each arm was pulled, in the order of the problem, or of a history by first pull; columns name, pulls.

    Of more than 20 arms, those that were pulled.
    """
    return frame_from(pulls_columns(source), kind)


def rewards_frame(source: object, *, arms: Sequence[int | str] | None = None, kind: str = frames.PANDAS) -> Any:
    """For each arm, after the last result: the certified level, the estimated reward there, and the range of means
    that are still possible (infinite where nothing is known).

    Columns: name, level, reward, low, high, role ("leads", "challenges" or empty).
    """
    return frame_from(rewards_columns(source, arms), kind)


# -- the same as plain columns ----------------------------------------------------------------------------------------


def levels_columns(source: object, arms: Sequence[int | str] | None = None) -> Columns:
    """The columns of `levels_frame`."""
    if is_frame(source):
        return some_arms(drawn_from(source, "levels"), arms)
    trace = trace_in(source, arms)
    if arms is None and len(trace.arms) > len(FEW):
        trace = trace.of_arms(trace.weightiest())  # of many only the first are drawn
    found = trace.by_arm()
    return {name: found[name] for name in COLUMNS["levels"]}


def gap_columns(source: object) -> Columns:
    """The columns of `gap_frame`."""
    if is_frame(source):
        return drawn_from(source, "gap")
    found = trace_in(source, ()).rounds()
    return {name: found[name] for name in ("round", "gap", "epsilon", "leader", "challenger")}


def readings_columns(source: object) -> Columns:
    """The columns of `readings_frame`."""
    if is_frame(source):
        return drawn_from(source, "readings")
    trace = trace_in(source, ())
    limits, rounds = trace.problem.safety, np.arange(1, len(trace) + 1)
    each, several = len(rounds), np.repeat
    worst = [(trace.mean_low if x.sign > 0 else trace.mean_high)[1:, s] for s, x in enumerate(limits, start=1)]
    return {
        "round": np.tile(rounds, len(limits)),
        "name": np.tile(named(trace.problem, trace.arm[1:]), len(limits)),
        "level": np.tile(trace.level[1:], len(limits)),
        "limit": several(np.array([x.name for x in limits], object), each),
        "reading": trace.readings[1:].T.ravel(),
        "worst_mean": np.concatenate([*worst, np.zeros(0)]),
        "allowed": several([x.limit for x in limits], each),
        "mean_allowed": several([x.mean_limit for x in limits], each),
        "side": several(np.array(["at least" if x.sign > 0 else "at most" for x in limits], object), each),
        "covers": several(np.array([x.covers for x in limits], object), each),
    }


def pulls_columns(source: object) -> Columns:
    """The columns of `pulls_frame`."""
    if is_frame(source):
        return drawn_from(source, "pulls") if "pulls" in columns_of(source) else counted_in(source)
    trace = trace_in(source, ())
    names, counts = np.unique(trace.arm[1:], return_counts=True)
    if trace.problem.size <= 20:
        every = np.bincount(trace.arm[1:], minlength=trace.problem.size)
        return {"name": np.array(list(trace.problem.names), object), "pulls": every}
    return {"name": named(trace.problem, names), "pulls": counts}


def rewards_columns(source: object, arms: Sequence[int | str] | None = None) -> Columns:
    """The columns of `rewards_frame`."""
    if is_frame(source):
        return some_arms(drawn_from(source, "rewards"), arms)
    trace = trace_in(source, arms, states=1)
    roles = {int(trace.challenger[-1]): "challenges", int(trace.leader[-1]): "leads", NOBODY: ""}
    return {
        "name": np.array(trace.names, object),
        "level": trace.certified[-1],
        "reward": trace.middle[-1, :, 0],
        "low": trace.low[-1, :, 0],
        "high": trace.high[-1, :, 0],
        "role": np.array([roles.get(k, "") for k in trace.arms.tolist()], object),
    }


# -- where they come from ---------------------------------------------------------------------------------------------


def trace_in(source: Any, arms: Sequence[int | str] | None = None, states: int | None = STATES_DRAWN) -> Trace:
    """The trace of the source; of a trace, itself."""
    if isinstance(source, Trace):
        return source if arms is None or not len(arms) else source.of_arms(arms)
    if not callable(getattr(source, "trace", None)) or not hasattr(source, "problem"):  # an array has a trace too
        raise InvalidInput("source", source, "has no course that could be drawn", SOURCE)
    found: Trace = source.trace(arms=arms if arms is None else list(arms), states=states)
    return found


def columns_of(frame: Any) -> list[str]:
    """The names of the columns of a frame."""
    return [str(name) for name in frame.columns]


def drawn_from(frame: Any, picture: str) -> Columns:
    """The columns of a frame from which this picture is drawn."""
    needed, there = COLUMNS[picture], columns_of(frame)
    known = [name for name in ("leader", "challenger", "covers", "level") if name in there and name not in needed]
    return columns_in("source", frame, [*needed, *known], f"Pass what plots.{picture}_frame gives, or a study.")


def counted_in(frame: Any) -> Columns:
    """The pulls of each arm in a history: a row for each pull, with the column name."""
    names = columns_in("source", frame, ["name"], "Pass what plots.pulls_frame gives, a history, or a study.")["name"]
    told = [str(name) for name in names.tolist() if isinstance(name, str)]
    found = dict.fromkeys(told, 0)
    for name in told:
        found[name] += 1
    return {"name": np.array(list(found), object), "pulls": np.array(list(found.values()), np.int64)}


def some_arms(columns: Columns, arms: Sequence[int | str] | None) -> Columns:
    """The rows of these arms, which a frame knows by their names alone."""
    if arms is None:
        return columns
    there = list(dict.fromkeys(columns["name"].tolist()))
    missing = next((arm for arm in arms if arm not in there), None)
    if missing is not None:
        raise InvalidInput("arms", missing, "is not the name of an arm in the frame", f"There are {', '.join(there)}.")
    rows = np.isin(columns["name"].astype(str), [str(arm) for arm in arms])
    return {name: values[rows] for name, values in columns.items()}
