"""Numbers and readings in words, as the report's tables and sentences write them."""

from math import isfinite, isnan

from surefoot.reproduction.protocols import CONFIDENCES, Row
from surefoot.reproduction.resampling import Position
from surefoot.results import Interval, MeanInterval


def pulls(value: float | None) -> str:
    """A number of pulls."""
    if value is None or isnan(value):
        return "-"
    return f"{value:,.0f}" if isfinite(value) else "never"


def mean_pulls(mean: MeanInterval) -> str:
    """A mean of pulls with its interval."""
    if mean.lower is None:
        return pulls(mean.estimate)
    return f"{pulls(mean.estimate)} [{pulls(mean.lower)}, {pulls(mean.upper)}]"


def percent(share: float | None) -> str:
    """A share with one decimal, as the paper prints it; more decimals where these would hide that it is not 0 or 1."""
    if share is None or isnan(share):
        return "-"
    if 0.0 < share < 0.001 or 0.999 < share < 1.0:
        return f"{100 * share:.2f} %"
    return f"{100 * share:.1f} %"


def rate(interval: Interval) -> str:
    """A share with its exact interval."""
    return f"{percent(interval.estimate)} [{percent(interval.lower)}, {percent(interval.upper)}]"


def central(position: Position, confidence: float = 0.95) -> str:
    """The central part of the means of ten."""
    tail = round((1.0 - confidence) / 2.0, 6)
    return f"{pulls(position.quantiles[tail])} to {pulls(position.quantiles[1.0 - tail])}"


def fit(row: Row | None) -> str:
    """In which central part both printed numbers lie: the narrowest that holds them, or none."""
    if row is None:
        return ""
    return next((f"{100 * confidence:g} %" for confidence in CONFIDENCES if row.fits(confidence)), "no")


def exploration(row: Row) -> str:
    """How LinGapE explores."""
    level = row.cell.described()["explored_at"]
    return "none" if level is None else f"{row.cell.explored} at level {level:g}"


def reading(row: Row) -> str:
    """The reading of a row in one phrase."""
    return ", ".join(reading_words(row))


def reading_words(row: Row) -> list[str]:
    """The choices that make up the reading of a row."""
    columns = row.cell.described()
    chosen = [f"D = {columns['D']:g}", f"{columns['reward_radius']} radius for rewards"]
    if columns["policy"] == "lingape":
        chosen.append("no exploration" if not row.cell.explored else f"exploration {exploration(row)}")
    else:
        chosen += [f"{columns['safety_radius']} radius for safety", columns["levels"], columns["selection"]]
    if row.cell.explored:
        chosen.append("exploration counted" if row.counted else "exploration not counted")
    return chosen
