"""Whether results can be in the order in which they were measured.

Every proof takes results in that order, and a table that was sorted by its results breaks it without a trace in the
totals. What sorting leaves behind is a trend: residuals that rise or fall with their place in the table.

ranks    within each arm, Kendall's count of rising pairs less falling ones, for every slope that the readings of the
         arm allow, so that levels which rise with time explain what they can                                      (O1)
trend    within each arm, and over all arms for those with few rows: the effect of the place in the table, beside
         that of level and features                                                                                (O2)

Both are held for the whole table and for its halves. In an honest order the chance that any of them finds something, at
whatever number of rows one looks, is at most LEVEL, whoever chose arms and levels: (O1) if the noise of an arm is alike
in all its rows and of the stated size, (O2) if it is Gaussian, of whatever size. Where no size is stated only (O2) is
held, and neither of a signal whose mean is linear only within a stated error.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from math import exp, inf, lgamma, log, log1p, sqrt

import numpy as np

from surefoot.core.types import Indices
from surefoot.problem import Problem
from surefoot.problem.checks import Floats
from surefoot.problem.norms import noise_laws, noise_sizes, signals_of

LEVEL = 1e-6  # the chance that an honest table is suspected
FOR_RANKS, FOR_SLOPES, FOR_TREND = 0.5, 0.25, 0.25  # the shares of its parts
PARTS = 3  # the whole, its first half, its second half
COMPARED = 300  # rows of a part whose pairs are counted: more are thinned out evenly
FEWEST = 8  # rows: 1/8! is far above every level
SCALES = tuple(10.0**power for power in range(-4, 3))  # of the mixtures, squared noise per squared effect
PRIOR, SMALL = 0.5, 0.01  # of the noise in (O2): half a reading's worth of belief in a hundredth of the stated square
SLANTS = np.geomspace(1e-4, 20.0, 120)  # the exponents of Chernoff's bound


@dataclass(frozen=True)
class Suspicion:
    """A trend that an honest order hardly ever has."""

    signal: str  # "reward", or the name of a limit
    arm: str | None  # None: over all arms
    rows: int
    message: str


def suspicions(
    problem: Problem, arms: Indices, levels: Floats, observed: Floats, level: float = LEVEL
) -> list[Suspicion]:  # fmt: skip
    """Every trend in these results, (P,) and (P, signals) as the core sees them, in the order in which they came."""
    names = ["reward", *(limit.name for limit in problem.safety)]
    plain, found = whitened(problem)[arms], []
    for s, (signal, law) in enumerate(zip(names, noise_laws(problem), strict=True)):
        if signals_of(problem)[s].within > 0.0:
            continue  # means that may drift with the level, or with time, are a trend of their own
        values = observed[:, s] / noise_sizes(problem)[s]
        for k in np.flatnonzero(np.bincount(arms, minlength=problem.size) >= FEWEST):
            mine, share = arms == k, level / (problem.size * len(names))
            at, seen = levels[mine], values[mine]
            ranked = not law.unknown and has_ranked_trend(at, seen, share)
            if ranked or has_linear_trend(explained(at[:, np.newaxis], at), seen, share / 2):
                found.append(suspicion(signal, problem.names[k], int(mine.sum())))
        if has_linear_trend(explained(levels[:, np.newaxis] * plain, levels), values, level / (2 * len(names))):
            found.append(suspicion(signal, None, len(arms)))
    return found


def suspicion(signal: str, arm: str | None, rows: int) -> Suspicion:
    """The trend in words."""
    of_what = f"of {arm!r}" if arm is not None else "of all arms together"
    what = f"{signal}: the {rows:,} results {of_what} rise or fall with their place, more than their levels explain"
    return Suspicion(signal, arm, rows, what)


def halves(rows: int) -> Iterator[slice]:
    """The whole, its first half and its second half."""
    yield from (slice(0, rows), slice(0, rows // 2), slice(rows // 2, rows))


# -- within an arm ----------------------------------------------------------------------------------------------------


def has_ranked_trend(levels: Floats, values: Floats, share: float) -> bool:
    """Whether the results of one arm, in units of their noise, are suspicious, at this share of the level.     (O1)"""
    rows = len(values)
    slopes = slope_interval(levels, values, share * FOR_SLOPES)
    allowed = log(share * FOR_RANKS / (PARTS * 2 * rows * (rows + 1)))
    for part in halves(rows):
        places = thinned(part)
        if len(places) >= FEWEST:
            least, most = concordance(levels[places], values[places], slopes)
            if log_tail(max(least, -most), len(places)) <= allowed:
                return True
    return False


def thinned(part: slice) -> Indices:
    """The places of the part, or COMPARED of them, evenly apart."""
    rows = part.stop - part.start
    if rows <= COMPARED:
        return np.arange(part.start, part.stop)
    return np.asarray(part.start + (np.arange(COMPARED) * rows) // COMPARED)


def slope_interval(levels: Floats, values: Floats, level: float) -> tuple[float, float]:
    """The slopes through the origin that the results of one arm allow at every number of rows, but for the level."""
    V = float(levels @ levels)
    if V == 0.0:
        return 0.0, 0.0  # all at level 0: no slope changes anything
    middle = float(levels @ values) / V
    wide = min(sqrt((V + c) * (2.0 * log(len(SCALES) / level) + log1p(V / c))) for c in SCALES) / V
    wide *= scatter(values - middle * levels, 1)
    return middle - wide, middle + wide


def scatter(residuals: Floats, weights: int) -> float:
    """The size of residuals around a fit of so many weights, at least 1, the size of the stated noise: where that is
    too small, results are scattered, which is another alarm's business, and not sorted."""
    return max(1.0, sqrt(float(residuals @ residuals) / max(len(residuals) - weights, 1)))


def concordance(levels: Floats, values: Floats, slopes: tuple[float, float]) -> tuple[int, int]:
    """The least and the most, over all slopes in the interval, of rising pairs less falling pairs of residuals."""
    first, second = pairs(len(values))
    rise, run = values[second] - values[first], levels[second] - levels[first]
    low, high = slopes
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        turns = rise / run  # the slope at which a pair changes from rising to falling, or the reverse
    inside = (run != 0.0) & (turns >= low) & (turns <= high)
    start = np.where(inside, np.sign(run), np.sign(rise - low * run)).sum()
    changes = -2.0 * np.sign(run[inside])[np.argsort(turns[inside])]
    counts = start + np.concatenate(([0.0], np.cumsum(changes)))
    return int(counts.min()), int(counts.max())


@cache
def pairs(rows: int) -> tuple[Indices, Indices]:
    """The places of each two rows, the earlier one first."""
    first, second = np.triu_indices(rows, 1)
    return first, second


def log_tail(count: float, rows: int) -> float:
    """A bound on the logarithm of the chance that rising pairs exceed falling ones by so many, in an honest order."""
    return 0.0 if count <= 0 else float((log_moments(rows) - SLANTS * count).min())


@cache
def log_moments(rows: int) -> Floats:
    """The logarithm of E[exp(l S)] for each slant l. The j-th row adds to S one of 1 - j, 3 - j, ..., j - 1, each as
    likely as the others and whatever the earlier ones added."""
    j = np.arange(2, rows + 1)[:, np.newaxis]
    return np.asarray((log_sinh(j * SLANTS) - np.log(j) - log_sinh(SLANTS)).sum(axis=0))


def log_sinh(x: Floats) -> Floats:
    """log(2 sinh(x)) for x > 0, without overflow."""
    return np.asarray(x + np.log(-np.expm1(-2.0 * x)))


# -- over all arms ----------------------------------------------------------------------------------------------------


def whitened(problem: Problem) -> Floats:
    """The features in coordinates without units, (K, rank), fixed before any result is seen."""
    X = problem.features
    left, sizes, _ = np.linalg.svd(X, full_matrices=False)
    if not sizes[-1] > sizes[0] * 1e-10:  # by their units: the arms span
        left, sizes, _ = np.linalg.svd(X / np.abs(X).max(axis=0), full_matrices=False)
    return np.asarray(left[:, sizes > sizes[0] * 1e-10] * sqrt(len(X)))


def explained(pulls: Floats, levels: Floats) -> Floats:
    """What may explain results without their place: the pulls (P, d), and an offset and a bend of the response, which
    break the model and are no sign of sorting."""
    return np.column_stack([pulls, np.ones(len(pulls)), levels**2])


def has_linear_trend(pulls: Floats, values: Floats, share: float) -> bool:
    """Whether results in units of their noise, of pulls (P, d), follow their place, at this share of the level.(O2)"""
    rows, d = pulls.shape
    needed = log(PARTS * rows * (rows + 1) / (share * FOR_TREND))
    return any(
        part.stop - part.start >= d + FEWEST and trend_evidence(pulls[part], values[part]) >= needed
        for part in halves(rows)
    )


def trend_evidence(pulls: Floats, values: Floats) -> float:
    """The logarithm of how much likelier the results are with an effect of their place than without one, at the very
    best weights and noise without one."""
    rows = len(values)
    weights, *_ = np.linalg.lstsq(pulls, values, rcond=None)
    without = float(np.square(values - pulls @ weights).sum())
    if without == 0.0:
        return -inf
    fixed = lgamma(PRIOR + rows / 2) - lgamma(PRIOR) + PRIOR * log(PRIOR * SMALL)
    fixed += rows / 2 * (log(without / rows) + 1.0)
    bets = []
    for shape in shapes(rows):
        seen = np.column_stack([pulls, *shape])
        sizes, axes = np.linalg.eigh(seen.T @ seen)
        sizes, along = np.maximum(sizes, 0.0), axes.T @ (seen.T @ values)
        for c in SCALES:
            left = float(values @ values - (along**2 / (sizes + c)).sum())
            spread = PRIOR * SMALL + max(left, 0.0) / 2.0
            bets.append(fixed - (PRIOR + rows / 2) * log(spread) - float(np.log1p(sizes / c).sum()) / 2.0)
    best = max(bets)
    return float(best + log(sum(exp(bet - best) for bet in bets) / len(bets)))


def shapes(rows: int) -> Iterator[tuple[Floats, ...]]:
    """What an effect of the place may look like: a climb, or the steeper ends that sorted noise has."""
    place = (np.arange(rows) + 0.5) / rows
    climb = 2.0 * place - 1.0
    yield (climb,)
    yield climb, np.log(place / (1.0 - place)) / 2.0
