"""What a world is made of, checked: each function returns the clean value or raises InvalidInput."""

from numbers import Integral

import numpy as np

from surefoot.errors import ABSENT, InvalidInput, counted
from surefoot.problem.checks import Floats, frozen, number, vector

DISTRIBUTIONS = ("gaussian", "uniform", "rademacher")  # the position is the code that worlds.response reads
MOST_FEATURES = 160_000_000  # of all arms together, more than a gigabyte


def whole(field: str, value: object, remedy: str, *, at_least: int) -> int:
    """The value as an int of at least `at_least`."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral) or int(value) < at_least:
        raise InvalidInput(field, value, f"must be a whole number, at least {at_least}", remedy)
    return int(value)


def check_size(field: str, value: int, features: int) -> None:
    """Refuses a world with so many features of all arms together that nobody can have meant it."""
    if features > MOST_FEATURES:
        reason = f"makes {features:,} features of all arms together, and {MOST_FEATURES:,} are the most"
        raise InvalidInput(field, value, reason, "Give a smaller one, or make the arms yourself: sf.worlds.Linear.")


def weights(field: str, value: object, count: int, remedy: str) -> Floats:
    """One finite number for each of the `count` features, or other things that are counted."""
    result = vector(field, value, remedy)
    if len(result) != count:
        raise InvalidInput(field, value, f"has {len(result)} numbers where {count} are needed", remedy)
    for place, item in enumerate(result):
        number(f"{field}[{place}]", item, remedy)
    return frozen(result + 0.0)


def weight_rows(field: str, value: object, count: int, limits: int | None = None) -> Floats:
    """The weights of the safety signals (m, D), from one row of numbers or one row per signal, or per given limit;
    none where nothing must keep a limit."""
    if not limits and (value is None or (isinstance(value, list | tuple) and not value)):
        return frozen(np.zeros((0, count)))
    remedy = f"Give {count} numbers, one per feature, or one such row per safety signal."
    if value is None:
        raise InvalidInput(field, ABSENT, f"is needed for the {counted(limits or 0, 'limit')} of the problem", remedy)
    listed: object = value
    if hasattr(value, "__array__"):
        listed = list(np.asarray(value)) if np.ndim(value) else None
    if not isinstance(listed, list | tuple) or not listed:
        raise InvalidInput(field, value, "must be a row of numbers, or a list of rows", remedy)
    if np.ndim(listed[0]) == 0:
        rows = weights(field, value, count, remedy)[np.newaxis]
    else:
        rows = np.array([weights(f"{field}[{s}]", row, count, remedy) for s, row in enumerate(listed)])
    if limits is not None and len(rows) != limits:
        reason = f"has {len(rows)} rows where the problem has {limits} safety limits"
        raise InvalidInput(field, value, reason, "Give one row per limit, in the problem's order.")
    return frozen(rows)


def per_signal(
    field: str, value: object, signals: int, remedy: str, *, above: float | None = None, below: float | None = None
) -> Floats:
    """One number per safety signal, from one number for all or a sequence of as many."""
    if isinstance(value, list | tuple) or (hasattr(value, "__array__") and np.ndim(value) > 0):
        result = vector(field, value, remedy)
        if len(result) != signals:
            reason = f"has {len(result)} numbers where there are {signals} safety signals"
            raise InvalidInput(field, value, reason, remedy)
        checked = [number(f"{field}[{s}]", item, remedy, above=above, below=below) for s, item in enumerate(result)]
    else:
        checked = [number(field, value, remedy, above=above, below=below)] * signals
    return frozen(np.array(checked, dtype=np.float64))


def distribution_code(value: object) -> int:
    """The position of the noise distribution in DISTRIBUTIONS."""
    if not isinstance(value, str) or value not in DISTRIBUTIONS:
        allowed = ", ".join(f'"{name}"' for name in DISTRIBUTIONS)
        raise InvalidInput("distribution", value, "is not a noise that can be drawn", f"Use one of {allowed}.")
    return DISTRIBUTIONS.index(value)
