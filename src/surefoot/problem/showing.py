"""A problem as a notebook shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from surefoot.cards import card
from surefoot.errors import counted
from surefoot.problem.largest import size_in_words

if TYPE_CHECKING:
    from surefoot.problem.problem import Problem

SHOWN = 10  # arms


def card_of(problem: Problem) -> str:
    """The problem in HTML: what is asked for, the limits, and the first arms."""
    limits = [
        (
            f"limit on {limit.name}",
            f"{'at least' if limit.sign > 0 else 'at most'} {limit.limit:g}, {limit.baseline:g} with nothing applied, "
            f"noise {limit.law.short}{', for single readings' if limit.reading_risk is not None else ''}"
            f"{size_in_words(limit)}{f', linear within {limit.within:g}' if limit.within else ''}",
        )
        for limit in problem.safety
    ]
    low, high = float(problem.safe_level.min()), float(problem.safe_level.max())
    facts = [
        ("options", f"{counted(problem.size, 'arm')} in {counted(problem.rank, 'dimension')}"),
        (
            "reward",
            f"noise {problem.reward.law.short}{size_in_words(problem.reward)}"
            f"{f', linear within {problem.reward.within:g}' if problem.reward.within else ''}",
        ),
        *(limits or [("limits", "none were stated")]),
        *([("known safe", f"level {low:g}" if low == high else f"levels {low:g} to {high:g}")] if limits else []),
        *([("cannot be tried", counted(closed, "arm"))] if (closed := int((~problem.pullable).sum())) else []),
        ("asked for", f"within {problem.epsilon:g} of the best {'safe option' if limits else 'option'}"),
        ("may fail", f"answer {problem.delta:g}" + (f", safety {problem.delta_safety:g}" if limits else "")),
    ]
    few = [problem.names[k] for k in range(min(problem.size, SHOWN))]
    rows = [
        (name, ", ".join(f"{each:g}" for each in problem.arms[k][:6]) + (", …" if problem.arms.shape[1] > 6 else ""))
        for k, name in enumerate(few)
    ]
    more = [(f"and {counted(problem.size - SHOWN, 'more')}".removesuffix("s"), "")] if problem.size > SHOWN else []
    return card("Problem", facts=facts, table=[("arm", "features"), *rows, *more])
