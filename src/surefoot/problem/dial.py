"""The dial in real units: what is set on it, such as 20 mg, and the level that the model sees, from 0 to 1.

A dial is proportional, `Dial("mg", full=40)`, or follows a curve that is known: a table of settings and their effects,
with straight lines between the entries. The effect is the level: means are linear in it.

Rounding goes one way. The setting of a level is one whose own level is not above it, to the last bit; so is every
shorter text of it (`units`), because the curve rises.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, overload

import numpy as np

from surefoot.errors import ABSENT, InvalidInput, counted
from surefoot.problem.checks import LARGEST, Floats, known_keys, number, positive, vector
from surefoot.problem.units import checked_unit, same_unit, setting_in_words

MOST_ENTRIES = 10_000  # of a table
LEAST_RISE = 1e-9  # from one entry to the next, as a share of all: below, rounding decides what is set
MEANT = 4.5e-16  # by so little a level may lie above that of a short setting, and be taken for it
TIDY = 12  # digits of a setting that was meant to be short

_FORMS = "Give full = the setting at full strength, or settings and effects: two lists, one entry each."
_SETTINGS = "List what is set on the dial, ascending, for example [0, 5, 10, 20, 40]."
_EFFECTS = "List the share of the full effect at each setting, ascending up to 1, for example [0, 0.4, 0.6, 0.8, 1]."


@dataclass(frozen=True)
class Dial:
    """What is set in real units, and the level that it has.

    unit      of the settings, as it stands on the dial: "mg", "% open", "rpm"
    full      the setting of level 1, where the effect is proportional to the setting, and 0 has none
    settings  where it is not: settings, ascending,
    effects   and the share of the full effect that each has, ascending up to 1; in between, straight lines. The first
              effect is 0, or that of the lowest setting, below which the dial is off; then the problem needs a
              level_grid, or no max_step
    """

    unit: str
    full: float | None = None
    settings: tuple[float, ...] | None = None
    effects: tuple[float, ...] | None = None
    _points: tuple[Floats, Floats] = field(init=False, repr=False, compare=False)  # settings and effects

    def __post_init__(self) -> None:
        if self.unit is None:
            raise InvalidInput("dial.unit", ABSENT, "is required", "Write unit = 'mg', or whatever is set.")
        object.__setattr__(self, "unit", checked_unit("dial.unit", self.unit))
        if (self.full is None) == (self.settings is None and self.effects is None):
            given = ABSENT if self.full is None else self.full
            raise InvalidInput("dial.full", given, "either full is needed, or settings and effects", _FORMS)
        if self.full is not None:
            full = positive("dial.full", self.full, "Give the setting at full strength, for example 40.")
            object.__setattr__(self, "full", full)
            points = np.array([0.0, full]), np.array([0.0, 1.0])
        else:
            points = _checked_table(self.settings, self.effects)
            object.__setattr__(self, "settings", tuple(points[0].tolist()))
            object.__setattr__(self, "effects", tuple(points[1].tolist()))
        object.__setattr__(self, "_points", points)

    @property
    def is_curve(self) -> bool:
        """Whether a step of the same size has another effect elsewhere."""
        return len(self._points[0]) > 2 or self.lowest_level > 0.0

    @property
    def lowest_level(self) -> float:
        """The level of the lowest setting: 0, or that below which the dial is off."""
        return float(self._points[1][0])

    # -- there and back ---------------------------------------------------------------------------------------

    def level_of(self, setting: object, where: str = "setting") -> float:
        """The level of a setting: of a number in the dial's unit, or of text such as "20 mg"."""
        return float(self._levels(np.array([self.checked(where, setting)]))[0])

    def levels_of(self, settings: Iterable[object]) -> list[float]:
        """The level of each setting, for example for a level_grid."""
        return [self.level_of(each, f"settings[{i}]") for i, each in enumerate(settings)]

    @overload
    def setting_of(self, level: float) -> float | None: ...
    @overload
    def setting_of(self, level: Floats) -> Floats: ...
    def setting_of(self, level: Any) -> Any:
        """The setting of a level, in the dial's unit: its own level is not above this one. Below the level of the
        lowest setting there is none (None; NaN in an array)."""
        levels = np.atleast_1d(np.asarray(level, dtype=np.float64))
        found = self._settings(levels)
        if np.ndim(level):
            return found
        return float(found[0]) if np.isfinite(found[0]) else None

    def set_to(self, level: float) -> tuple[float | None, str]:
        """The setting of a level, None for off, and its unit."""
        return (self.setting_of(level) if isfinite(level) else None), self.unit

    def checked(self, where: str, setting: object) -> float:
        """The setting as a number in the dial's unit, which lies on it."""
        lowest, highest = float(self._points[0][0]), float(self._points[0][-1])
        value = self.amount(where, setting)
        if not lowest <= value <= highest:
            ends = [setting_in_words(end, self.unit, 12) for end in (lowest, highest)]
            reason = f"must lie from {ends[0]} to {ends[1]}, the ends of the dial"
            raise InvalidInput(where, setting, reason, "Give a setting of the dial.")
        return value

    def amount(self, where: str, setting: object) -> float:
        """The number of units: of a number, or of text that names the unit."""
        remedy = f"Write the number with the unit of the dial, for example '20 {self.unit}'."
        if not isinstance(setting, str):
            return number(where, setting, remedy)
        word = setting.strip()
        cut = next((i for i in range(len(word)) if same_unit(word[i:], self.unit)), None)
        if cut is None:
            raise InvalidInput(where, setting, f"is not given in {self.unit!r}, the unit of the dial", remedy)
        digits = word[:cut].strip()
        try:
            value = float("not a number" if "_" in digits else digits)
        except ValueError:
            raise InvalidInput(where, setting, "must be a number and a unit", remedy) from None
        return number(where, value, remedy)

    def steps(self, step: float) -> tuple[Floats, Floats]:
        """Levels, and the highest level that a step of so many units reaches from each; in between, straight lines.

        Both the level of s and that of s + step are made of straight lines between these settings, so this is exact.
        """
        settings, effects = self._points
        known = np.unique(np.concatenate([settings, settings - step]))
        known = known[(known >= settings[0]) & (known <= settings[-1])]
        before, after = self._levels(known), self._levels(np.minimum(known + step, settings[-1]))
        if effects[0] > 0.0:  # from off, as far as the lowest setting
            before = np.concatenate([[0.0, np.nextafter(effects[0], 0.0)], before])
            after = np.concatenate([[effects[0], effects[0]], after])
        distinct = np.concatenate([[True], np.diff(before) > 0.0])
        return before[distinct], after[distinct]

    def to_dict(self) -> dict[str, object]:
        """The dial as a table for a file."""
        if self.full is not None:
            return {"unit": self.unit, "full": self.full}
        return {"unit": self.unit, "settings": list(self.settings or ()), "effects": list(self.effects or ())}

    # -- within -----------------------------------------------------------------------------------------------

    def _levels(self, settings: Floats) -> Floats:
        """The level of each setting; never falls where settings rise, and exact at the entries."""
        known, effects = self._points
        found = _between(settings, known, effects)
        return np.where(settings == known[-1], 1.0, found)

    def _settings(self, levels: Floats) -> Floats:
        """The setting of each level: the short one that was meant, where its level is not above, or the next below."""
        known, effects = self._points
        on_it = (levels >= effects[0]) & (levels <= 1.0)
        wanted = np.where(on_it, levels, effects[0])
        found = _between(wanted, effects, known)
        tidy = np.clip(_tidy(found), known[0], known[-1])
        missed = wanted - self._levels(tidy)
        found = np.where((missed >= 0.0) & (missed <= MEANT), tidy, found)
        back = np.spacing(np.maximum(np.abs(found), np.abs(known).max() * 1e-12))
        while (above := self._levels(found) > wanted).any():
            found = np.where(above, np.maximum(found - back, known[0]), found)
            back = 2.0 * back
        return np.where(on_it, found, np.nan)


def dial_in(table: object) -> Dial:
    """The dial that a table of a file describes."""
    if isinstance(table, Dial):
        return table
    if not isinstance(table, Mapping):
        raise InvalidInput("dial", table, "must be a table", "Write [dial] with unit = 'mg' and full = 40 under it.")
    known_keys("dial", table, ("unit", "full", "settings", "effects"), {"max": "'full'", "table": "'settings'"})
    if "unit" not in table:
        raise InvalidInput("dial.unit", ABSENT, "is required", "Write unit = 'mg', or whatever is set.")
    return Dial(**table)


def _checked_table(settings: object, effects: object) -> tuple[Floats, Floats]:
    """Settings and effects, both rising, of equal number."""
    for which, value, remedy in (("settings", settings, _SETTINGS), ("effects", effects, _EFFECTS)):
        if value is None:
            raise InvalidInput(f"dial.{which}", ABSENT, "is needed beside the other list", remedy)
    set_, has = vector("dial.settings", settings, _SETTINGS), vector("dial.effects", effects, _EFFECTS)
    if len(set_) != len(has):
        reason = f"holds {counted(len(has), 'entry', 'entries')} for {counted(len(set_), 'setting')}"
        raise InvalidInput("dial.effects", effects, reason, _FORMS)
    if not 2 <= len(set_) <= MOST_ENTRIES:
        reason = f"has {counted(len(set_), 'entry', 'entries')}, and must have from 2 to {MOST_ENTRIES:,}"
        raise InvalidInput("dial.settings", settings, reason, "Between entries, straight lines are drawn.")
    for where, values in (("dial.settings", set_), ("dial.effects", has)):
        wrong = np.flatnonzero(~(np.abs(values) <= LARGEST))
        if wrong.size:
            place = int(wrong[0])
            reason = f"must be a finite number, at most {LARGEST:g} in size"
            raise InvalidInput(f"{where}[{place}]", values[place], reason, "Give plain numbers.")
        _check_rising(where, values)
    if has[0] < 0.0:
        raise InvalidInput("dial.effects[0]", has[0], "must be at least 0", _EFFECTS)
    if 0.0 < has[0] < LEAST_RISE:
        raise InvalidInput("dial.effects[0]", has[0], f"must be 0, or at least {LEAST_RISE:g}", _EFFECTS)
    if has[-1] != 1.0:
        reason = "must be 1: full strength is the effect of the highest setting"
        raise InvalidInput(f"dial.effects[{len(has) - 1}]", has[-1], reason, "Divide every effect by the last.")
    return set_ + 0.0, has + 0.0


def _check_rising(where: str, values: Floats) -> None:
    """Refuses a list that does not rise from each entry to the next, by more than rounding can blur."""
    least = LEAST_RISE * float(np.abs(values).max())
    wrong = np.flatnonzero(~(np.diff(values) > 0.0))
    if not wrong.size:
        wrong = np.flatnonzero(np.diff(values) < least)
    if wrong.size:
        place = int(wrong[0])
        reason = f"must be above the entry before it, {values[place]:g}, by at least {least:.3g}"
        remedy = "Settings and effects must both rise; turn a falling scale around, and leave out what is flat."
        raise InvalidInput(f"{where}[{place + 1}]", values[place + 1], reason, remedy)


def _between(at: Floats, known: Floats, values: Floats) -> Floats:
    """The values at these places, on straight lines between the known ones; rounded, it still never falls."""
    i = np.clip(np.searchsorted(known, at, side="right") - 1, 0, len(known) - 2)
    share = (at - known[i]) / (known[i + 1] - known[i])
    return np.clip(values[i] + share * (values[i + 1] - values[i]), values[i], values[i + 1])


def _tidy(values: Floats) -> Floats:
    """The values with a dozen digits: 5.000000000000001 was meant as 5."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        size = np.floor(np.log10(np.abs(values)))
        scale = 10.0 ** np.clip(TIDY - 1 - size, 0, 22)
        found = np.rint(values * scale) / scale
    return np.where(np.isfinite(found), found, values)
