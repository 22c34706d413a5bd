"""The text of a new problem file: every line with a comment that says what it states."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tomli_w

from surefoot.errors import counted
from surefoot.problem import Dial
from surefoot.problem.arms import ArmTable
from surefoot.problem.checks import Floats
from surefoot.problem.dial_settings import in_levels
from surefoot.problem.units import with_unit

ROOM = 2.0  # times the known safe level: there the made-up world reaches its limit
BEST = 10.0  # times epsilon: the best reward of the made-up world


@dataclass(frozen=True)
class StatedLimit:
    """What must keep a limit, and where every arm is known to keep it."""

    name: str
    side: str  # "at_most" or "at_least"
    bound: float
    baseline: float
    noise: float | str
    unit: str | None
    safe_level: float | str | None  # None where every arm of the table says its own
    delta_safety: float


@dataclass(frozen=True)
class Stated:
    """What the user has stated, checked one by one."""

    dial: Dial | None
    noise: float | str
    reward_unit: str | None
    limit: StatedLimit | None  # None where nothing must keep one
    epsilon: float
    delta: float


def written(stated: Stated, arms: Path, place: Path, table: ArmTable) -> str:
    """The text of the file."""
    beside = os.path.relpath(arms.resolve(), place.resolve().parent)
    size = f"{counted(len(table.names), 'arm')} of {counted(table.features.shape[1], 'feature')}"
    lines = [
        "# A problem for surefoot. Check it: surefoot show FILE. Try it: surefoot run FILE.",
        "",
        line("arms_file", Path(beside).as_posix(), size),
        *safely(stated.limit),
        line("epsilon", stated.epsilon, "how far from the best the answer may be, in the units of the reward"),
        line("delta", stated.delta, "the chance of a worse answer"),
        *optional(stated),
        *dial_lines(stated),
        "",
        "[reward]",
        line("noise", stated.noise, "the standard deviation of its noise: rather too large than too small"),
        *unit_line(stated.reward_unit),
        largest_line(best_of(stated)),
        *limit_lines(stated, table),
        "",
        "# Made up, so that `surefoot run` has something to simulate: no real experiment looks at it.",
        "# Put your own guess here, or delete it.",
        "[world]",
        *world_lines(stated, table),
    ]
    return "\n".join(lines) + "\n"


def safely(limit: StatedLimit | None) -> list[str]:
    """The entries that belong to limits, or that there are none."""
    if limit is None:
        return ["safety = []".ljust(28) + "  # nothing must keep a limit: every pull is at full level"]
    known = "every arm is known to be safe at this level: be certain of it"
    return [
        "# safe_level".ljust(28) + "  # each arm's own, in the column of the table: be certain of it"
        if limit.safe_level is None
        else line("safe_level", limit.safe_level, known),
        line("delta_safety", limit.delta_safety, "the chance of any unsafe pull"),
    ]


def limit_lines(stated: Stated, table: ArmTable) -> list[str]:
    """The table of the limit, if there is one."""
    limit = stated.limit
    if limit is None:
        return []
    return [
        "",
        "[[safety]]  # once for each limit",
        line("name", limit.name),
        line(limit.side, limit.bound, "kept by the mean of every pull; single readings scatter about it"),
        line("baseline", limit.baseline, "what it reads when nothing is applied"),
        line("noise", limit.noise, "the standard deviation of a reading"),
        *unit_line(limit.unit),
        largest_line(abs(limit.bound - limit.baseline) / (ROOM * level_of(limit, stated.dial, table))),
    ]


def line(key: str, value: Any, comment: str = "") -> str:
    """The entry with its comment."""
    entry = f"{key} = {json.dumps(value)}" if isinstance(value, list) else tomli_w.dumps({key: value}).strip()
    return f"{entry:<28}  # {comment}" if comment else entry


def unit_line(unit: str | None) -> list[str]:
    """The entry of a unit, or how to write one."""
    return [
        line("unit", unit, "shown with every number of it") if unit else '# unit = "bar"'.ljust(28) + "  # optional"
    ]


def largest_line(size: float) -> str:
    """How to state the most by which an arm changes a signal: half as much again as it does in the made-up world."""
    return f"# largest = {1.5 * size:.3g}".ljust(28) + "  # no arm changes it by more at full strength: a hint"


def optional(stated: Stated) -> list[str]:
    """What may be stated besides, as comments in the units of the dial."""
    dial, shares = stated.dial, (0.25, 0.5, 0.75, 1.0)
    what, rises = ("levels", "an arm's level") if dial is None else ("settings", "a setting")
    grid = ", ".join(quoted(dial, share) for share in shares)
    lines = [
        f"# level_grid = [{grid}]".ljust(28) + f"  # the {what} that there are, where it is not all",
        f"# max_level = {quoted(dial, 0.8)}".ljust(28) + "  # never more than this",
        f"# max_step = {quoted(dial, 0.1)}".ljust(28) + f"  # how much {rises} rises at most from one pull to the next",
    ]
    return lines if stated.limit is not None else lines[:2]  # a step belongs to limits


def quoted(dial: Dial | None, share: float) -> str:
    """So much of the dial, as text of a file."""
    if dial is None:
        return str(share)
    return tomli_w.dumps({"k": with_unit(f"{share * (dial.full or 1.0):g}", dial.unit)}).strip().removeprefix("k = ")


def dial_lines(stated: Stated) -> list[str]:
    """The table of the dial, or how to write one."""
    dial = stated.dial
    if dial is None:
        return [
            "",
            '# [dial]                      # what is set in real units; then levels may be given as "20 mg"',
            '# unit = "mg"',
            "# full = 40                   # the setting at full strength",
        ]
    return [
        "",
        "[dial]",
        line("unit", dial.unit, "of what is set"),
        line("full", dial.full, "at full strength, level 1; or a curve: settings = [...], effects = [...]"),
    ]


# -- a world to try it in ---------------------------------------------------------------------------------------------


def world_lines(stated: Stated, table: ArmTable) -> list[str]:
    """A truth that keeps what is stated: every arm is safe at the known level, and some cross the limit above it."""
    arms, limit = table.features, stated.limit
    direction = middle_of(arms)
    largest = float(np.abs(arms @ direction).max())
    theta = direction * (best_of(stated) / largest)
    reward = line("theta_star", short(theta), "the reward is the features times this, times the level")
    if limit is None:
        return [reward]
    mu = direction * ((limit.bound - limit.baseline) / (ROOM * level_of(limit, stated.dial, table) * largest))
    told = f"{limit.name} is its baseline and the features times this, times the level"
    return [reward, line("mu_star", [short(mu)], told)]


def best_of(stated: Stated) -> float:
    """What the best arm is worth there at full level."""
    return BEST * max(stated.epsilon, 1e-3)


def level_of(limit: StatedLimit, dial: Dial | None, table: ArmTable) -> float:
    """The lowest known safe level, as a level."""
    stated = [*table.marks.safe_level.values(), *([] if limit.safe_level is None else [limit.safe_level])]
    return min(float(in_levels(dial, "safe_level", each)) for each in stated)  # type: ignore[arg-type]


def middle_of(arms: Floats) -> Floats:
    """The mean of the arms, or the longest of them where they cancel out."""
    middle: Floats = np.asarray(arms, dtype=np.float64).mean(axis=0)
    longest: Floats = np.asarray(arms[int(np.abs(arms).max(axis=1).argmax())], dtype=np.float64)
    return middle if np.abs(arms @ middle).max() > 1e-6 * np.abs(arms @ longest).max() else longest


def short(values: Floats) -> list[float]:
    """The values with few digits."""
    return [float(f"{value:.6g}") for value in values.tolist()]
