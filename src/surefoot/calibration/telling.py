"""A calibration in plain words."""

from __future__ import annotations

from math import inf
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np

from surefoot.calibration.bounds import PARABOLA, least_delta
from surefoot.characters import in_one_line
from surefoot.errors import counted
from surefoot.planning.telling import WIDTH, aligned, paragraph
from surefoot.problem.units import level_shortly, rounded_down, rounded_up, with_unit

if TYPE_CHECKING:
    from surefoot.calibration.findings import Calibration, Noise, Signal

CLEARLY = 0.01  # p-values below it are called a contradiction
LOOSE = 1.6  # times the estimate: a bound above that would gain much from more rows
HEAD = ("noise", "stated", "about", "at least", "at most", "by")


def told(found: Calibration) -> str:
    """The whole calibration."""
    parts = [paragraph(f"Calibration by {title(found)}")]
    parts += ["\n".join(paragraph(f"Warning: {each}") for each in found.warnings)] if found.warnings else []
    parts.append(aligned(noise_rows(found)))
    for each in found.signals:
        parts.append("\n".join([in_one_line(each.name), *(point(words) for words in signal_words(found, each))]))
    parts.append("\n".join(["Features of the arms", *(point(words) for words in feature_words(found))]))
    if found.unseen:
        parts.append("\n".join(["What these rows cannot show", *(point(words) for words in found.unseen)]))
    parts.append(paragraph(afterwards(found)))
    return "\n\n".join(parts)


def title(found: Calibration) -> str:
    """What was looked at."""
    levels, dial = found.pilot.level, found.problem.dial
    low, high = (level_shortly(dial, float(level)) for level in (levels.min(), levels.max()))
    at = f"level {low}" if low == high else f"levels {low} to {high}"
    tried = len(np.unique(found.pilot.arm))
    return f"{counted(found.rows, 'pilot row')} of {tried:,} of {counted(found.problem.size, 'arm')} at {at}"


def noise_rows(found: Calibration) -> list[tuple[str, ...]]:
    """A row for each signal, under a head."""
    rows: list[tuple[str, ...]] = [HEAD]
    for each in found.signals:
        noise = each.noise
        figures = ("?", "?", "?", "nothing")
        if noise is not None and each.stated.high < inf:  # what readings can be says more than how they scatter
            figures = (f"{noise.estimate:.3g}", "-", "-", "their ends")
        elif noise is not None:
            by = f"{noise.by}, {noise.freedom:,} df"
            figures = (f"{noise.estimate:.3g}", low(noise), high(noise), by)
        rows.append((each.name, stated_size(each), *figures))
    return rows


def stated_size(each: Signal) -> str:
    """What the problem states about the size, in a word."""
    if each.stated.unknown:
        return "unknown"
    return f"{each.stated.size:g}"


def signal_words(found: Calibration, each: Signal) -> list[str]:
    """All that is said about one signal."""
    return [noise_words(found, each), *size_words(each), *level_words(each), *arm_words(each), *figure_words(each)]


# -- noise ------------------------------------------------------------------------------------------------------------


def noise_words(found: Calibration, each: Signal) -> str:
    """What is stated about the noise, beside what the rows say."""
    law, noise = each.stated, each.noise
    stated = f"Noise: stated {with_unit(stated_size(each), None if law.unknown else each.unit)}"
    if noise is None:
        return f"{stated}; the rows cannot tell it. {why_not(found, each)}"
    sure = f"with {per_cent(found.confidence)} confidence"
    about = f"about {with_unit(f'{noise.estimate:.3g}', each.unit)}, at most {with_unit(high(noise), each.unit)} {sure}"
    if law.high < inf:
        kind = "0 or 1" if law.binary else f"between {law.low:g} and {law.high:g}"
        return f"{stated}, by readings {kind}: that holds without a pilot. They scatter by {noise.estimate:.3g}."
    if each.grain is not None:
        only_two = set(np.unique(found.readings[:, found.signals.index(each)])) <= {0.0, 1.0}
        remedy = 'State noise = "binary".' if only_two else "State a number that is certainly large enough."
        return (
            f"{stated}; {about} if it were Gaussian, but readings come in steps of {each.grain:.3g}, which is coarse "
            f"beside that, and the bound does not hold. {remedy}"
        )
    if law.unknown:
        return f"{stated}; {about}{cap_words(each, noise)}. A guess only tunes: {noise.estimate:.3g} would do."
    size = float(law.bound)
    if size < noise.at_least:
        caveat = " (or the law is not linear: see below)" if noise.by == "fit" else ""
        return f"{stated} is too small: at least {with_unit(low(noise), each.unit)}{caveat}; {about}."
    if size > noise.at_most:
        return f"{stated}; {about}: could be lowered." + loose(found, noise)
    if size < noise.estimate:
        return f"{stated}; {about}: neither contradicted nor confirmed, but on the small side. The bound is safer."
    return f"{stated}; {about}: neither contradicted nor confirmed, so it stands." + loose(found, noise)


def cap_words(each: Signal, noise: Noise) -> str:
    """How the stated cap of unknown noise compares."""
    if each.stated.bound == inf:
        return ""
    if each.stated.bound < noise.at_least:
        return f"; the stated cap {each.stated.bound:g} is too small: at least {low(noise)}"
    return f"; the stated cap {each.stated.bound:g} is in keeping with that"


def why_not(found: Calibration, each: Signal) -> str:
    """Why the noise cannot be told, and what would help."""
    if len(np.unique(found.readings[:, found.signals.index(each)])) == 1 and found.rows > 1:
        return "All readings are the same number: a stuck gauge, copied rows, or rounding that is too coarse."
    rank = min(found.problem.rank, found.rows)
    if found.rows <= found.problem.rank:
        return (
            f"{counted(found.rows, 'row')} can be fitted without any rest by {counted(rank, 'unknown weight')}: repeat "
            f"some arms at the same level, or make more rows; 20 more are a good start."
        )
    return "The rows are fitted without any rest. Are they measured, or computed?"


def loose(found: Calibration, noise: Noise) -> str:
    """That more rows would help, where they would."""
    if noise.at_most <= LOOSE * noise.estimate:
        return ""
    return f" With {counted(noise.freedom, 'degree')} of freedom the bound is loose: more repeats sharpen it."


def size_words(each: Signal) -> list[str]:
    """Whether the noise is of one size."""
    if each.sizes is None or each.stated.high < inf:
        return []
    if each.sizes.p >= CLEARLY:
        return [f"Noise at low and high levels: no difference seen (p = {each.sizes.p:.2g})."]
    grows = "more" if each.sizes.ratio > 1.0 else "less"
    return [
        f"Noise is not of one size: readings at the higher levels scatter {grows}, {each.sizes.ratio:.2g} times as "
        f"much (p = {each.sizes.p:.2g}). State a number that is certainly large enough at full strength."
    ]


# -- the linear law ---------------------------------------------------------------------------------------------------


def level_words(each: Signal) -> list[str]:
    """Whether effects are proportional to the level."""
    found = []
    if each.levels is not None:
        clear = each.levels < CLEARLY
        said = "the rows contradict it" if clear else "nothing seen against it"
        found.append(f"Proportional to the level: {said} (lack of fit, p = {each.levels:.2g}).")
    if each.offset is not None:
        low_end, high_end = each.baseline + each.offset.lower, each.baseline + each.offset.upper
        span = f"{low_end:.3g} to {with_unit(f'{high_end:.3g}', each.unit)}"
        if low_end <= each.baseline <= high_end:
            found.append(f"At level 0 the rows point to {span}, and {each.baseline:g} is stated: in keeping.")
        else:
            found.append(
                f"At level 0 the rows point to {span}, and {each.baseline:g} is stated: the baseline is another one, "
                "or the response bends below the levels of the pilot."
            )
    if each.bend is not None:
        seen = "no bend seen" if each.bend.lower <= 0.0 <= each.bend.upper else "the response bends"
        span = f"{each.bend.lower:.3g} to {with_unit(f'{each.bend.upper:.3g}', each.unit)}"
        found.append(
            f"Reading per level: {seen}. If it changed evenly up to full strength, that would add {span} there for the "
            "most affected arm."
        )
    return found


def arm_words(each: Signal) -> list[str]:
    """Whether arms follow their features."""
    if each.arms is None:
        return []
    if each.arms >= CLEARLY:
        return [f"Arms follow their features: nothing seen against it (p = {each.arms:.2g})."]
    return [
        f"Arms do not follow their features (p = {each.arms:.2g}): effects of arms cannot be told from each other by "
        "these features alone. Add a feature that sets the odd arm apart, or state within."
    ]


def figure_words(each: Signal) -> list[str]:
    """Figures for `within` and `largest`."""
    found = []
    if each.within is not None:
        found.append(
            f"Within: at the settings of the pilot means miss the linear law by {rounded_up(each.within.at_most, 3)} "
            f"at most (about {each.within.estimate:.2g} seen, noise included)."
        )
        further = bend_within(each)
        if further is not None and further > each.within.at_most:
            found[-1] += f" A bend that went on to full strength could miss it by {rounded_up(further, 3)}."
    if each.largest is not None:
        found.append(
            f"Largest effect of an option at full strength, by the linear law: about {each.largest.estimate:.3g}, at "
            f"most {with_unit(rounded_up(each.largest.at_most, 3), each.unit)}."
        )
    return found


def bend_within(each: Signal) -> float | None:
    """By how much a parabola that these rows allow would miss the best line on all levels."""
    return None if each.bend is None else PARABOLA * max(abs(each.bend.lower), abs(each.bend.upper))


def feature_words(found: Calibration) -> list[str]:
    """The range of each feature."""
    arms = found.problem.arms
    ranges = [f"{low_:.4g} to {high_:.4g}" for low_, high_ in zip(arms.min(axis=0), arms.max(axis=0), strict=True)]
    listed = "; ".join(f"{place}: {span}" for place, span in enumerate(ranges[:12], start=1))
    more = f"; and {len(ranges) - 12:,} more" if len(ranges) > 12 else ""
    return [f"Range of each: {listed}{more}. SafeGap does not depend on their units."]


def afterwards(found: Calibration) -> str:
    """What the rows may be used for now."""
    problem, spent = found.problem, f"{found.risk:g}"
    said = (
        "These rows are not counted again: do not add them to the study. The bounds on noise hold all together with "
        f"{per_cent(found.confidence)} confidence, where settings and number of rows were not chosen by results; that "
        f"spends {spent}"
    )
    if found.risk >= least_delta(problem):
        safely = f", delta_safety = {problem.delta_safety:g} leave" if problem.safety else " leaves"
        return (
            f"{said}, and delta = {problem.delta:g}{safely} nothing to spend it "
            "from: whoever states the bounds has no promise left. Ask for a higher confidence."
        )
    if not problem.safety:
        left = less(problem.delta, found.risk)
        return (
            f"{said}: whoever states them runs on fresh rows with delta = {left}, and keeps that of {problem.delta:g}."
        )
    return (
        f"{said}: whoever states them runs on fresh rows with delta = {less(problem.delta, found.risk)} and "
        f"delta_safety = {less(problem.delta_safety, found.risk)}, and keeps the promises of {problem.delta:g} and "
        f"{problem.delta_safety:g}."
    )


# -- small words ------------------------------------------------------------------------------------------------------


def less(stated: float, spent: float) -> str:
    """What is left, never more than it is."""
    return rounded_down(stated - spent, 6)


def low(noise: Noise) -> str:
    """What the noise is at least, rounded down."""
    return rounded_down(noise.at_least, 3)


def high(noise: Noise) -> str:
    """What it is at most, rounded up."""
    return rounded_up(noise.at_most, 3)


def per_cent(share: float) -> str:
    """The share in per cent."""
    return f"{100.0 * share:.6g} %"


def point(words: str) -> str:
    """The words, broken into lines, as one of several."""
    return "\n".join(wrap(in_one_line(words), WIDTH, initial_indent="  ", subsequent_indent="    "))
