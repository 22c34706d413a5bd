"""A plan in words: aligned tables that fit a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isinf
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np

from surefoot.characters import in_one_line
from surefoot.planning.scenarios import MIDDLE
from surefoot.problem import Problem
from surefoot.problem.knowable import said_of_error
from surefoot.problem.norms import noise_laws
from surefoot.results import Interval

if TYPE_CHECKING:
    from surefoot.planning.prospects import Plan, Saving

WIDTH = 80
HARDLY = 0.1  # the share of decided runs below which it is said first
GRID = f"Trials within which half of the runs are certain, {MIDDLE} scenario, by delta"
SAVINGS = f"What a better statement would save, {MIDDLE} scenario, same worlds and noise"
UNSAFE = "Unsafe: a mean crossed a limit at least once. "
HEAD = ("trials until certainty", "10 %", "50 %", "90 %", "undecided", "unsafe runs")


def told(plan: Plan) -> str:
    """The whole plan."""
    parts = [paragraph(warning) for warning in plan.first]
    parts += [title(plan), aligned(scenario_rows(plan)), f"{GRID}\n{aligned(grid_rows(plan))}"]
    parts.append(f"{SAVINGS}\n{aligned([(str(each), saved(each)) for each in plan.savings])}")
    parts.append("\n".join(paragraph(note) for note in notes(plan)))
    return "\n\n".join(parts)


def title(plan: Plan) -> str:
    """What was done."""
    return (
        f"Plan for {in_one_line(plan.policy.name)}: {plan.runs:,} worlds a scenario, budget {plan.budget:,} trials, "
        f"seed {plan.seed}"
    )


def said_first(plan: Plan) -> tuple[str, ...]:
    """What is to be known first: what no number of trials decides, and what this budget hardly decides."""
    return (*beyond_knowing(plan), *hardly_decided(plan))


def beyond_knowing(plan: Plan) -> list[str]:
    """What the stated errors of the linear law leave open, and in how many worlds that is more than epsilon.    (W6)"""
    said = said_of_error(plan.problem)
    below = {name: int((floors > plan.problem.epsilon).sum()) for name, floors in plan.floors.items()}
    if not any(below.values()):
        return said
    worlds = {name: f"{count:,} of {plan.runs:,}" for name, count in below.items() if count}
    counted = " and ".join(f"{share} in the {name} scenario" for name, share in worlds.items())
    worst = max(below, key=lambda name: below[name])
    half = float(np.quantile(plan.floors[worst], 0.5, method="inverted_cdf"))
    possible = f" In half of the {worst} ones about {half:.3g} is possible." if half > plan.problem.epsilon else ""
    return [
        *said,
        f"Epsilon {plan.problem.epsilon:g} is below what can be known in some worlds, and no number of trials decides "
        f"it there: {counted}.{possible}",
    ]


def hardly_decided(plan: Plan) -> tuple[str, ...]:
    """Scenarios that hardly any run decides within the budget."""
    rare = [each for each in plan.scenarios if 1.0 - each.undecided.estimate < HARDLY]
    if not rare:
        return ()
    decided = " and ".join(
        f"{round((1.0 - each.undecided.estimate) * plan.runs):,} of {plan.runs:,} in the {each.name} scenario"
        for each in rare
    )
    said = f"Hardly any run decides epsilon {plan.problem.epsilon:g} within {plan.budget:,} trials: {decided}."
    enough = [cell for row in plan.grid for cell in row if cell.delta == plan.problem.delta and not isinf(cell.median)]
    larger = [cell for cell in enough if cell.epsilon > plan.problem.epsilon]
    if MIDDLE in [each.name for each in rare] and larger:
        said += f" With epsilon {larger[0].epsilon:g} half of them need {larger[0].median:,.0f} trials at most."
    else:
        said += " Ask for a larger epsilon, allow more trials, or see below what would save most."
    return (said,)


def scenario_rows(plan: Plan) -> list[tuple[str, ...]]:
    """A row for each scenario, under a head."""
    rows: list[tuple[str, ...]] = [HEAD]
    for each in plan.scenarios:
        trials = [count(value, plan.budget) for value in each.quantiles.values()]
        rows.append((each.name, *trials, rate(each.undecided), rate(each.unsafe)))
    return rows if plan.problem.safety else [row[:-1] for row in rows]


def grid_rows(plan: Plan) -> list[tuple[str, ...]]:
    """Medians by epsilon and delta, under a head."""
    rows: list[tuple[str, ...]] = [("", *(f"delta {cell.delta:g}" for cell in plan.grid[0]))]
    for row in plan.grid:
        rows.append((f"epsilon {row[0].epsilon:g}", *(count(cell.median, plan.budget) for cell in row)))
    return rows


def notes(plan: Plan) -> list[str]:
    """How it is to be read, and how the worlds were drawn."""
    found = [plan.drawn]
    found += [f"{each.name.capitalize()}: {each.words}" for each in plan.scenarios]
    found.append(
        f"{noise_in_words(plan.problem)} {UNSAFE if plan.problem.safety else ''}Brackets: exact "
        "95 % intervals. Savings: geometric mean and its standard error; runs that are cut off count with the budget."
    )
    if plan.pilot_rows is not None:
        found.append(
            f"The pilot rows ({plan.pilot_rows:,}) shaped these worlds alone. They are not counted as data: the trials "
            "above come after them, and nothing is certified from them."
        )
    return found


def noise_in_words(problem: Problem) -> str:
    """What the noise of the drawn worlds is like."""
    laws, said = noise_laws(problem), "Noise is Gaussian and as large as stated."
    if any(law.unknown for law in laws):
        said = said.removesuffix(".") + "; where it is unknown, as large as guessed."
    if any(law.high < inf for law in laws):
        said += " Yes/no and bounded readings have Gaussian noise of half their range in its place."
    return said


def count(trials: float, budget: int) -> str:
    """So many trials, or more than there are."""
    return f"> {budget:,}" if isinf(trials) else f"{trials:,.0f}"


def rate(share: Interval) -> str:
    """The share with its interval, in per cent."""
    return f"{100 * share.estimate:.3g} % [{100 * share.lower:.1f}, {100 * share.upper:.1f}]"


def saved(saving: Saving) -> str:
    """What it saves."""
    if saving.share is None or saving.error is None:
        return f"true in only {saving.worlds} worlds"
    at_least = "at least " if saving.at_least and saving.share > 0.0 else ""
    return f"{at_least}{round(100 * saving.share)} % ± {round(100 * saving.error)}"


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """The rows with their columns under each other: the first to the left, numbers to the right."""
    shown = [[in_one_line(cell) for cell in row] for row in rows]
    widths = [max(len(row[k]) for row in shown) for k in range(len(shown[0]))]
    lines = []
    for first, *others in shown:
        numbers = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        lines.append("  ".join([first.ljust(widths[0]), *numbers]))
    return "\n".join(lines)


def paragraph(words: str) -> str:
    """The words, broken into lines."""
    return "\n".join(wrap(in_one_line(words), WIDTH, subsequent_indent="  "))
