"""A comparison in words and numbers: the cells of its table, and what stands below it."""

from __future__ import annotations

from collections.abc import Sequence

from surefoot.comparing.matching import stops_by
from surefoot.comparing.rows import Row
from surefoot.errors import counted
from surefoot.policies.guarantee import PROPOSITION_1, WITHIN_EPSILON, WITHOUT_LIMITS
from surefoot.results import MeanInterval

HEAD = ("policy", "sets", "delta", "pulls", "to the first", "of bound", "wrong", "unsafe", "seconds", "promise")
TEXT_COLUMNS = 2  # what stands on the left
PROMISES = {WITHIN_EPSILON: "best safe", PROPOSITION_1: "Prop. 1", WITHOUT_LIMITS: "best"}
NO_PROMISE = "none"


def cells_of(row: Row) -> list[str]:
    """One line of the table; of a policy that refuses, only who it is."""
    if row.refused is not None:
        return [row.contender.label, stops_by(row.contender.policy), *[""] * (len(HEAD) - TEXT_COLUMNS)]
    return [
        row.contender.label, stops_by(row.contender.policy), f"{row.problem.delta:g}", pulls(row),
        difference(row), "-" if row.of_bound is None else f"{row.of_bound:.2f}x", rate(row, "wrong"),
        rate(row, "unsafe"), seconds(row.seconds), promised(row),
    ]  # fmt: skip


def once(rows: Sequence[Row]) -> list[Row]:
    """The rows, a refusal of the same for the same reason at every delta only once."""
    seen: set[tuple[str, str, str]] = set()
    found = []
    for row in rows:
        place = (row.arena.label, row.contender.label, row.refused or "")
        if row.refused is None or place not in seen:
            found.append(row)
        seen.add(place)
    return found


def promised(row: Row) -> str:
    """What its certificate says of the answer, in a word or two."""
    if not row.certifies:
        return NO_PROMISE
    if not row.problem.safety and row.promise in (WITHIN_EPSILON, WITHOUT_LIMITS):
        return PROMISES[WITHOUT_LIMITS]
    return PROMISES.get(row.promise, row.promise)


def pulls(row: Row) -> str:
    """Mean pulls with their interval, and how many runs they are of, if not of all."""
    found = row.summary or {}
    if found.get("pulls_mean") is None:
        return f"- (0 of {row.runs:,})" if row.runs else "-"
    half = "" if found["pulls_upper"] is None else f" ± {found['pulls_upper'] - found['pulls_mean']:,.0f}"
    some = "" if row.whole else f" ({row.ended:,} of {row.runs:,})"
    return f"{found['pulls_mean']:,.0f}{half}{some}"


def difference(row: Row) -> str:
    """How many pulls more or fewer than the first policy in the same runs."""
    mean, _, upper = row.difference
    if mean is None:
        return "-"
    return f"{mean:+,.0f}" if upper is None else f"{mean:+,.0f} ± {upper - mean:,.0f}"


def rate(row: Row, name: str) -> str:
    """How many runs, and the upper end of the exact interval of their share."""
    if row.summary is None:
        return "-"
    count, low, high = (row.summary[f"{name}_{part}"] for part in ("runs", "lower", "upper"))
    return f"{count:,} [{100 * low:.3g}, {100 * high:.3g} %]"


def seconds(found: MeanInterval) -> str:
    """Seconds of a run, in a unit that suits them."""
    if found.estimate is None:
        return "-"
    unit, size = ("s", 1.0) if found.estimate >= 1.0 else ("ms", 1e-3)
    half = "" if found.upper is None else f" ± {(found.upper - found.estimate) / size:.2g}"
    return f"{found.estimate / size:.3g}{half} {unit}"


def note_of(rows: Sequence[Row], runs: int, confidence: float) -> str:
    """What the reader must know of the table."""
    said = [
        f"{counted(runs, 'run')} each, the same noise for all, {100 * confidence:g} % intervals. Pulls: mean of the "
        "runs that stopped by themselves. To the first: the difference to the first policy of the world in the same "
        "runs. Of bound: multiple of the lower bound (T9), that of methods which keep the limits for those who do, and "
        "that without limits for the others. Wrong: not within epsilon of the best safe option, or unsafe. Unsafe: "
        "runs with a pull whose mean crosses a limit. Seconds: of a run, on one core. Promise: the best safe option "
        "and no unsafe pull, or the best whether it is safe or not."
    ]
    if any(not row.certifies for row in rows if row.refused is None):
        said.append("Promise none: stopped by a threshold that nobody has proved.")
    return " ".join(said)


def headline_of(rows: Sequence[Row]) -> str | None:
    """Who was quickest in one world at one delta: with both promises, and who was quicker without them."""
    played = sorted((row for row in rows if row.whole), key=mean_of)
    if not played:
        return None
    limits = bool(played[0].problem.safety)
    safe = [row for row in played if row.certifies and (not limits or is_both(row))]
    words = f"{played[0].arena.label}, delta {played[0].problem.delta:g}: "
    what = "both promises" if limits else "a proof"
    words += f"fewest pulls with {what} {listed(safe[:1])}." if safe else f"nobody has {what} here."
    if len(safe) > 1:
        words += f" After it {listed(safe[1:])}."
    quicker = [row for row in played if row not in safe and (not safe or mean_of(row) < mean_of(safe[0]))]
    if quicker:
        words += f" {'Quicker' if safe else 'Pulls'}, without that: {listed(quicker, errors=True)}."
    return words


def is_both(row: Row) -> bool:
    """Whether every pull is safe with a promise, and the answer is the best safe one."""
    return row.keeps_limits and row.promise == WITHIN_EPSILON


def listed(rows: Sequence[Row], errors: bool = False) -> str:
    """Policies with their pulls, and if asked for what went wrong."""
    return "; ".join(f"{row.contender.label} {pulls(row)}" + (errors_of(row) if errors else "") for row in rows)


def errors_of(row: Row) -> str:
    """What went wrong in these runs, and whether anything was proved."""
    found = row.summary or {}
    said = [
        f"{name} in {found[f'{name}_runs']:,} of {row.runs:,}"
        for name in ("wrong", "unsafe")
        if found.get(f"{name}_runs")
    ]
    said += [] if row.certifies else ["no proof"]
    return f" ({', '.join(said)})" if said else ""


def mean_of(row: Row) -> float:
    """Mean pulls."""
    return float((row.summary or {}).get("pulls_mean") or 0.0)
