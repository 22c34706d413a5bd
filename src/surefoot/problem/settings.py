"""The settings of a problem, checked against each other and against the arms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from surefoot.errors import ABSENT, InvalidInput, counted
from surefoot.problem.arms import ArmTable
from surefoot.problem.checks import (
    ROWS,
    SMALLEST,
    Flags,
    Floats,
    flag_per_arm,
    frozen,
    number,
    per_arm,
    positive,
    vector,
)
from surefoot.problem.dial import Dial
from surefoot.problem.dial_settings import (
    check_on_dial,
    checked_dial,
    highest_after,
    in_levels,
    largest_step,
    step_in_settings,
)
from surefoot.problem.limits import Limit, Reward, checked_limits
from surefoot.problem.marked_arms import Marks
from surefoot.problem.names import Names
from surefoot.problem.pilots import checked_marks
from surefoot.problem.units import level_shortly

SMALLEST_DELTA = 1e-300  # split over many limits it still has a finite logarithm
LEAST_REGULARIZATION = 1e-9  # times the longest arm squared; below, the first updates cancel nearly all digits

OF_LIMITS = ("delta_safety", "safe_level")  # that are stated only where there are limits

_LEVELS = "Give one level above 0 and up to 1, or one for each arm."
_KNOWN = "Give a level, above 0 and up to 1, at which every arm is known to be safe."
_PULLABLE = "Give False for arms that cannot be tried: a list with one for each arm, or a mapping by name."


def checked_settings(arms: ArmTable, settings: Mapping[str, object]) -> dict[str, object]:
    """The settings as a problem holds them."""
    epsilon = "Choose how far from the best the answer may be, for example 0.01."
    dial = checked_dial(settings.get("dial"))
    grid = _grid(in_levels(dial, "level_grid", settings.get("level_grid")))
    reward, safety = _reward(settings["reward"]), checked_limits(settings.get("safety", ()))
    highest = _levels("max_level", in_levels(dial, "max_level", settings.get("max_level", 1.0)), arms.names)
    if safety:
        stated = _known(dial, settings.get("safe_level"), arms.marks, arms.names)
    else:
        _refuse_of_limits(settings, arms.marks)
        stated = highest
    safe = _rounded_down(dial, stated, grid, arms.names, "safe_level" if safety else "max_level")
    _check_room(dial, safe, highest, arms.names)
    check_on_dial(dial, grid, safe, arms.names)
    step = settings.get("max_step")
    in_settings = step_in_settings(dial, step, grid)
    return {
        "reward": reward,
        "safety": safety,
        "epsilon": number("epsilon", settings["epsilon"], epsilon, at_least=0.0),
        "delta": _chance("delta", settings["delta"], "an answer further off than epsilon"),
        "delta_safety": _delta_safety(settings.get("delta_safety")) if safety else 0.0,
        "regularization": _regularization(settings.get("regularization", 1.0), arms.features, (reward, *safety)),
        "safe_level": _held(safe),
        "pullable": _pullable(settings.get("pullable"), arms.marks, arms.names),
        "max_level": _held(highest),
        "level_grid": grid,
        "max_step": _max_step(dial, step, in_settings, grid, float(safe.min()), float(highest.max())),
        "max_setting_step": in_settings,
        "dial": dial,
        "calibrated_by": checked_marks(settings.get("calibrated_by")),
    }


def with_names(
    settings: Mapping[str, object], changes: Mapping[str, object], names: Names, arms: ArmTable
) -> dict[str, object]:
    """The settings for other arms: what was stated for each arm goes with its name, unless the new arms say it
    themselves. Where names are others it has to be stated anew: by its place it would be another arm's."""
    found = dict(settings)
    for key in ("pullable", "safe_level", "max_level"):
        stated = settings.get(key)
        if key in changes or not isinstance(stated, list):
            continue
        if getattr(arms.marks, key, None):
            found.pop(key)
        elif set(names) == set(arms.names):
            of_arm = dict(zip(names, stated, strict=True))
            found[key] = [of_arm[name] for name in arms.names]
        else:
            reason = f"is stated for each of {counted(len(names), 'arm')}, and the new arms have other names"
            raise InvalidInput(key, stated, reason, f"State {key} for the new arms too.")
    return found


def compact_levels(levels: Floats) -> float | list[float]:
    """The levels as one number when they are all the same, otherwise as a list."""
    return float(levels[0]) if (levels == levels[0]).all() else levels.tolist()


def _known(dial: Dial | None, value: object, marks: Marks, names: Names) -> Floats:
    """The known safe levels: one for all or for each arm, and those that arms have of their own."""
    own = {k: in_levels(dial, f"safe_level of arm {names[k]!r}", level) for k, level in marks.safe_level.items()}
    if value is None:
        missing = next((k for k in range(len(names)) if k not in own), None)
        if missing is not None:
            field = f"safe_level of arm {names[missing]!r}" if own else "safe_level"
            raise InvalidInput(field, ABSENT, "is required", _KNOWN)
        value = 1.0
    levels = _levels("safe_level", in_levels(dial, "safe_level", value), names)
    for k, level in own.items():
        if not np.isscalar(value) and abs(levels[k] - level) > 0.0:
            raise _said_twice("safe_level", names[k], level, levels[k])
        levels[k] = _levels(f"safe_level of arm {names[k]!r}", level, names[k : k + 1])[0]
    return levels


def _said_twice(key: str, name: str, own: object, stated: object) -> InvalidInput:
    """The refusal of two statements about one arm of which one must be wrong."""
    reason = f"is {own} with the arm itself, and {stated} in {key}"
    return InvalidInput(f"{key} of arm {name!r}", own, reason, "State it in one place.")


def _delta_safety(value: object) -> float:
    """The chance of an unsafe pull, which is asked for where there are limits."""
    if value is None:
        remedy = "Choose the chance of any unsafe pull, for example 0.05."
        raise InvalidInput("delta_safety", value, "is required where there are limits", remedy)
    return _chance("delta_safety", value, "any unsafe pull")


def _refuse_of_limits(settings: Mapping[str, object], marks: Marks) -> None:
    """Refuses what is stated for limits where there are none: they may have been forgotten, and nobody should learn
    that from an experiment."""
    stated = {key: settings.get(key) for key in (*OF_LIMITS, "max_step")}
    if marks.safe_level:
        stated["safe_level"] = next(iter(marks.safe_level.values()))
    for key, value in stated.items():
        if value is not None:
            reason = f"holds no limit, and {key} = {value!r} is stated, which belongs to limits"
            remedy = f"State the limits, or leave {key} out where there are none: every pull is then at full level."
            raise InvalidInput("safety", settings.get("safety", ()), reason, remedy)


def _pullable(value: object, marks: Marks, names: Names) -> Flags:
    """Which arms can be tried, at least one."""
    if value is None and not marks.pullable:
        return np.broadcast_to(np.True_, (len(names),))
    found = np.ones(len(names), np.bool_) if value is None else flag_per_arm("pullable", value, names, _PULLABLE)
    for k, each in marks.pullable.items():
        own = flag_per_arm("pullable", [each], names[k : k + 1], _PULLABLE)[0]
        if value is not None and found[k] != own and (not isinstance(value, Mapping) or names[k] in value):
            raise _said_twice("pullable", names[k], each, found[k])
        found[k] = own
    if not found.any():
        raise InvalidInput("pullable", False, "holds for no arm, so nothing could be tried", _PULLABLE)
    found.setflags(write=False)
    return found


def _held(levels: Floats) -> Floats:
    """The levels as nobody can change them; one number for many arms takes up the room of one."""
    if len(levels) > ROWS and (levels == levels[0]).all():
        return np.broadcast_to(frozen(levels[:1]), levels.shape)
    return frozen(levels)


def _reward(value: object) -> Reward:
    """The reward."""
    if not isinstance(value, Reward):
        raise InvalidInput("reward", value, "must be a Reward", "Pass Reward(noise=...).")
    return value


def _chance(field: str, value: object, of_what: str) -> float:
    """A probability strictly between 0 and 1."""
    remedy = f"Choose the chance of {of_what}, for example 0.05."
    chance = number(field, value, remedy, above=0.0, below=1.0)
    if chance < SMALLEST_DELTA:
        raise InvalidInput(field, value, f"must be at least {SMALLEST_DELTA:g}", remedy)
    return chance


def _regularization(value: object, features: Floats, signals: tuple[Reward | Limit, ...]) -> float:
    """The regularization, large enough for the scale of the features where norms are stated, which are in their units;
    else it counts in even coordinates, where no arm is much longer than the root of the dimension."""
    result = positive("regularization", value, "Choose a number above 0, for example 1.0.")
    in_units = any(signal.norm is not None for signal in signals)
    longest = float(np.einsum("kd,kd->k", features, features).max()) if in_units else float(features.shape[1])
    least = LEAST_REGULARIZATION * longest
    if result < least:
        reason = f"must be at least {least:.3g} for arms this long, or rounding errors swamp the first pulls"
        raise InvalidInput("regularization", value, reason, "Raise it, or scale the features down.")
    return result


def _levels(field: str, value: object, names: Sequence[str]) -> Floats:
    """One level for each arm, above 0 and at most 1."""
    levels = per_arm(field, value, names, _LEVELS)
    wrong = np.flatnonzero(~((levels >= SMALLEST) & (levels <= 1.0)))
    if wrong.size:
        arm = int(wrong[0])
        one_for_all = wrong.size == len(names) and np.ptp(levels) == 0.0
        where = field if one_for_all else f"{field} of arm {names[arm]!r}"
        raise InvalidInput(where, levels[arm], "must lie above 0 and at most at 1", _LEVELS)
    return levels


def _grid(value: object) -> tuple[float, ...]:
    """The levels that the dial can take, ascending and each once; empty when it takes them all."""
    if value is None:
        return ()
    remedy = "List the levels that the dial can take, for example [0.25, 0.5, 0.75, 1.0]."
    points = vector("level_grid", value, remedy)
    if not points.size:
        if isinstance(value, tuple):  # as a problem without a grid holds it
            return ()
        reason = "holds no level that the dial could take"
        raise InvalidInput(
            "level_grid", value, reason, "Leave it out where the dial takes every level. Otherwise: " + remedy
        )
    wrong = np.flatnonzero(~((points >= SMALLEST) & (points <= 1.0)))
    if wrong.size:
        field = f"level_grid[{wrong[0]}]"
        raise InvalidInput(field, points[wrong[0]], "must lie above 0 and at most at 1", remedy)
    return tuple(sorted(set(points.tolist())))


def _rounded_down(dial: Dial | None, levels: Floats, grid: tuple[float, ...], names: Names, key: str) -> Floats:
    """The highest level of the grid at or below each of these levels."""
    if not grid:
        return levels
    places = np.searchsorted(np.array(grid), levels, side="right") - 1
    if places.min() < 0:
        arm = int(places.argmin())
        reason = f"lies below every level of level_grid, whose lowest is {level_shortly(dial, grid[0])}"
        remedy = "Add a level to the grid that is at or below it."
        raise InvalidInput(f"{key} of arm {names[arm]!r}", levels[arm], reason, remedy)
    return np.array(grid)[places]


def _check_room(dial: Dial | None, safe: Floats, highest: Floats, names: Names) -> None:
    """Nothing, when no arm's highest level is below its safe one."""
    wrong = np.flatnonzero(highest < safe)
    if wrong.size:
        arm = int(wrong[0])
        reason = f"must not be below the safe level {level_shortly(dial, safe[arm])}, which is pulled first"
        remedy = "Raise max_level, or lower safe_level."
        raise InvalidInput(f"max_level of arm {names[arm]!r}", highest[arm], reason, remedy)


def _max_step(
    dial: Dial | None, value: object, in_settings: float | None, grid: tuple[float, ...], lowest: float, highest: float
) -> float | None:
    """The largest step in level, which must reach from each level of the grid that is used to the next."""
    if value is None:
        return None
    if dial is not None and in_settings is not None:
        step = largest_step(dial, in_settings)
    else:
        step = positive("max_step", value, "Give the largest increase of a level from one pull to the next, or None.")
    used = [level for level in grid if lowest <= level <= highest]
    for below, above in pairwise(used):
        if above > highest_after(dial, step, in_settings, below):
            ends = f"{level_shortly(dial, below)} to {level_shortly(dial, above)}"
            reason = f"is less than the step from {ends} in level_grid, which could never be taken"
            raise InvalidInput("max_step", value, reason, "Raise max_step, or add levels in between.")
    return step
