"""The same problem stated otherwise: over epsilon and delta, and each statement a little better than it is."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from surefoot.problem import Limit, Problem, Reward
from surefoot.problem.checks import Floats
from surefoot.problem.norms import noise_laws
from surefoot.problem.units import level_shortly, with_unit
from surefoot.sets.mixtures import finest_difference

LESS = 0.6  # of a bound on noise, a norm or an effect: 0.3 in place of 0.5
MORE = 1.5  # of epsilon and of the known level
LOOSER = 2.0  # of a chance of error
EPSILONS = (0.5, 1.0, 2.0)
DELTAS = (0.2, 1.0, 2.0)


class Variation(NamedTuple):
    """One statement, better than it is stated."""

    statement: str
    now: str
    better: str
    problem: Problem


def grid(problem: Problem) -> list[list[Problem]]:
    """The problem over several epsilons (rows) and deltas (columns)."""
    deltas = [x for factor in DELTAS if (x := times(factor, problem.delta)) < 1.0]
    epsilons = [times(factor, problem.epsilon) for factor in EPSILONS]
    if not problem.epsilon:
        epsilons = [0.0, rounded(finest_difference(problem))]
    return [[problem.with_(epsilon=epsilon, delta=delta) for delta in deltas] for epsilon in epsilons]


def variations(problem: Problem) -> Iterator[Variation]:
    """Each statement in turn, better than it is; one that cannot be better is left out."""
    signals: list[Reward | Limit] = [problem.reward, *problem.safety]
    laws = noise_laws(problem)
    for place, signal in enumerate(signals):
        name = "reward" if isinstance(signal, Reward) else signal.name
        if laws[place].unknown:
            size, capped = (
                rounded(laws[place].size or 1.0),
                "at_most" if isinstance(signal, Reward) else "noise_at_most",
            )
            known: dict[str, Any] = {"noise": size, "guess": None, capped: None}
            better = f"known to be {with_unit(f'{size:g}', signal.unit)}"
            yield Variation(f"{name} noise", "unknown", better, restated(problem, place, replace(signal, **known)))
        for field in ("noise", "norm", "largest"):
            now = getattr(signal, field)
            if isinstance(now, float):  # norm or largest may not be stated, and noise in words
                less = rounded(LESS * now)
                changes: dict[str, Any] = {field: less}
                unit = None if field == "norm" else signal.unit
                changed = restated(problem, place, replace(signal, **changes))
                yield Variation(f"{name} {field}", with_unit(f"{now:g}", unit), with_unit(f"{less:g}", unit), changed)
    yield from exacter(problem, signals)
    higher = higher_known(problem) if problem.safety else None
    if higher is not None:
        now, better = known_in_words(problem, problem.safe_level), known_in_words(problem, higher)
        yield Variation("safe level", now, better, problem.with_(safe_level=higher))
    epsilon = rounded(MORE * problem.epsilon or finest_difference(problem))
    yield Variation("epsilon", f"{problem.epsilon:g}", f"{epsilon:g}", problem.with_(epsilon=epsilon))
    for field in ("delta", "delta_safety") if problem.safety else ("delta",):
        now = getattr(problem, field)
        looser = rounded(LOOSER * now)
        if looser < 1.0:
            yield Variation(field, f"{now:g}", f"{looser:g}", problem.with_(**{field: looser}))


def exacter(problem: Problem, signals: list[Reward | Limit]) -> Iterator[Variation]:
    """Each stated error of the linear law, smaller than it is."""
    for place, signal in enumerate(signals):
        if signal.within > 0.0:
            less, name = rounded(LESS * signal.within), "reward" if isinstance(signal, Reward) else signal.name
            changed = restated(problem, place, replace(signal, within=less))
            now, better = (with_unit(f"{error:g}", signal.unit) for error in (signal.within, less))
            yield Variation(f"{name} within", now, better, changed)


def restated(problem: Problem, place: int, signal: Reward | Limit) -> Problem:
    """The problem with another reward (place 0) or another limit."""
    if isinstance(signal, Reward):
        return problem.with_(reward=signal)
    limits = list(problem.safety)
    limits[place - 1] = signal
    return problem.with_(safety=limits)


def higher_known(problem: Problem) -> Floats | None:
    """Known levels half as high again, or the next settings of the dial; None where they can be no higher."""
    known = problem.safe_level
    higher = np.minimum(MORE * known, problem.max_level)
    if problem.level_grid:
        levels = np.array(problem.level_grid)
        following = levels[np.minimum(np.searchsorted(levels, known, side="right"), len(levels) - 1)]
        higher = np.where(following <= problem.max_level, following, known)
    return None if (higher <= known).all() else higher


def known_in_words(problem: Problem, levels: Floats) -> str:
    """The known levels, in the unit of the dial if there is one."""
    low, high = (level_shortly(problem.dial, float(level)) for level in (levels.min(), levels.max()))
    return low if low == high else f"{low} to {high}"


def times(factor: float, stated: float) -> float:
    """So many times what is stated; once is exactly that."""
    return stated if factor == 1.0 else rounded(factor * stated)


def rounded(value: float) -> float:
    """The number with four digits, as people state it."""
    return float(f"{value:.4g}")
