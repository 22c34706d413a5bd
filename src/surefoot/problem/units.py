"""Numbers as people read them: with their unit, and never rounded to more than is certified.

Whatever shows a level or a reading comes through here: `level_in_words` says "20 mg (level 0.5)" where the problem has
a dial in real units, and "level 0.5" where it has none; `with_unit` puts the unit behind a reading or a limit.
"""

from __future__ import annotations

import unicodedata
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from math import isfinite
from typing import TYPE_CHECKING

from surefoot.characters import in_one_line
from surefoot.errors import InvalidInput
from surefoot.problem.checks import text

if TYPE_CHECKING:
    from surefoot.problem.dial import Dial

LONGEST_UNIT = 40
OFF = "off"  # below the lowest setting of a dial there is only this
UNKNOWN = "unknown"
_UNIT = "Write it as it stands on the gauge, for example 'mg', 'bar' or 'm³/h'."
_LARGEST_WRITTEN_OUT = 1e15  # beyond, and below 1e-5, numbers have exponents


# -- units ------------------------------------------------------------------------------------------------------------


def checked_unit(field: str, value: object) -> str | None:
    """The unit, where one is given: short text that shows on any terminal as it is, and cannot be taken for digits."""
    if value is None:
        return None
    unit = text(field, value, _UNIT)
    hidden = any(unicodedata.category(each) in ("Cf", "Co", "Cn") for each in unit)
    if hidden or in_one_line(unit) != unit or any(each.isspace() and each != " " for each in unit):
        raise InvalidInput(field, value, "holds characters that do not show", _UNIT)
    if len(unit) > LONGEST_UNIT:
        raise InvalidInput(field, value, f"must have at most {LONGEST_UNIT} characters", _UNIT)
    if unit[0] in "+-.,_" or unit[0].isdigit() or _is_number("1" + unit):
        raise InvalidInput(field, value, "reads as a part of the number before it", _UNIT)
    return unit


def same_unit(one: str, another: str) -> bool:
    """Whether both are one unit: there are two characters for micro, and for some others, that look alike."""
    return unicodedata.normalize("NFKC", one) == unicodedata.normalize("NFKC", another)


def _is_number(word: str) -> bool:
    """Whether Python reads the word as a number."""
    try:
        float(word)
    except ValueError:
        return False
    return True


# -- words ------------------------------------------------------------------------------------------------------------


def with_unit(number: str, unit: str | None) -> str:
    """The number, as it is written already, with its unit behind it if there is one."""
    return f"{number} {unit}" if unit else number


def reading_in_words(value: float, unit: str | None, digits: int = 6) -> str:
    """What a gauge reads, "6.1 bar"; without a unit the number alone."""
    return with_unit(f"{value:.{digits}g}", unit)


def level_in_words(dial: Dial | None, level: float, digits: int = 4) -> str:
    """The level as it is set and as the model sees it, "20 mg (level 0.5)"; without a dial "level 0.5".

    Both numbers are rounded down: what is shown is never above the level, however it is read back.
    """
    setting, unit = (None, None) if dial is None else dial.set_to(level)
    return set_in_words(level, setting, unit, digits)


def level_shortly(dial: Dial | None, level: float) -> str:
    """The level in a sentence that speaks of levels: "0.5", or "20 mg (level 0.5)"."""
    return f"{level:g}" if dial is None else level_in_words(dial, level)


def set_in_words(level: float, setting: float | None, unit: str | None, digits: int = 4) -> str:
    """The same, where the setting is known already; without a unit there is none."""
    if not isfinite(level):
        return UNKNOWN
    said = f"level {rounded_down(level, digits)}"
    return said if unit is None else f"{setting_in_words(setting, unit, digits)} ({said})"


def setting_in_words(setting: float | None, unit: str | None, digits: int = 4) -> str:
    """The setting with its unit, "20 mg", rounded down; whole numbers keep all their digits."""
    if setting is None:
        return OFF
    if not isfinite(setting):
        return UNKNOWN
    return with_unit(written_down(setting, digits), unit)


def written_down(value: float, digits: int) -> str:
    """The number with so many digits or as many as stand before the point, never more than it is; no exponent where
    people write none."""
    exact = Decimal(repr(float(value)))
    if exact == 0:
        return "0"
    whole = exact.adjusted() + 1
    plainly = whole <= len(str(int(_LARGEST_WRITTEN_OUT))) and whole > -5
    kept = Context(prec=max(digits, whole) if plainly else digits, rounding=ROUND_FLOOR).plus(exact)
    return format(kept.normalize(), "f" if plainly else "")


def rounded_down(value: float, digits: int = 4) -> str:
    """The number with so many significant digits, never more than it is: a printed level must stay certified."""
    return in_digits(value, digits, ROUND_FLOOR)


def rounded_up(value: float, digits: int = 4) -> str:
    """The number with so many significant digits, never less than it is."""
    return in_digits(value, digits, ROUND_CEILING)


def in_digits(value: float, digits: int, rounding: str) -> str:
    """The number as people write it (0.95, not the nearest binary fraction), with at most so many digits."""
    return f"{float(Context(prec=digits, rounding=rounding).create_decimal(repr(float(value)))):.{digits}g}"
