"""Noise of unknown size: what its residuals show of it, and how a set reads that in place of R.             (C8)

Where the size is unknown, the same supermartingale that makes the set is multiplied by
one that small residuals make large, and no size is left out that both together allow. What they allow is a bound that
grows with the size up to a point and falls from there on; between the points where it bends it is largest at one of
them. So a bound is the largest of a few, each for one size of the noise and with a *discount* on what the set asks,

    size sqrt(square - discount)        in place of        R sqrt(square).
"""

from collections.abc import Callable
from math import inf, sqrt
from typing import Any, NamedTuple

import numpy as np

from surefoot.core.estimate import diagonal
from surefoot.core.kernel import kernel, rare
from surefoot.core.logarithm import exp, log
from surefoot.core.state import State
from surefoot.core.types import Indices, Instance, Matrix, Vector
from surefoot.problem import Problem
from surefoot.problem.norms import noise_laws
from surefoot.sets.boundaries import Boundary
from surefoot.sets.sizes import NAMES

# The rates l of the mixture over residuals and their weights. What a bound pays for not knowing the size is the weight
# of all rates up to about one over the root of the pulls: most lies at rates that serve some hundred pulls.
RATES = (0.0, 0.004, 0.01, 0.025, 0.0625, 0.16, 0.4, 1.0, 2.5)
WEIGHTS = (0.4, 0.14, 0.12, 0.11, 0.09, 0.06, 0.04, 0.02, 0.02)
# Where the bounds are sharpest: at squares of this size and, in roots of twice the pulls, further out, where it is
# decided which sizes are possible at all.
ASKED = (0.0, 0.0, 7.0, 13.0, 19.0, 25.0, 31.0, 38.0, 50.0, 70.0, 70.0, 70.0, 70.0, 70.0)
BEYOND = (-1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.5, 4.5, 8.0)
PREDICTED = 0.25  # a result counts if its prediction adds no more than this share to the variance of the noise
LEAST_DIGITS = 1e-9  # residuals below this share of a reading are rounding, and are taken for as much
# (C3) with a mixture cut off at zero: what its root is too small by, as squares, above FEW and at all.
FEW, CUT_FAR, CUT_NEAR = 6.0, 0.06, 1.3863
STATED = -1.0  # in place of a count: the size of this signal's noise is stated


class Mixture(NamedTuple):
    """What was fixed in advance about unknown noise."""

    rate: Vector  # (J,) l
    growth: Vector  # (J,) log(1 + 2 l)
    log_weight: Vector  # (J,)
    asked: Vector  # (T,) squares at which the bounds are sharpest
    beyond: Vector  # (T,) and how far beyond them, in roots of twice the pulls
    predicted: float  # see PREDICTED
    cap: Vector  # (n,) what the size surely does not exceed; infinite where nothing is stated
    unknown: Indices  # (n,) whether the size of the signal's noise is to be learned


class Sizes(NamedTuple):
    """What the residuals have shown."""

    counted: Vector  # (n,) results that were predicted well enough to count; STATED where the size is stated
    squares: Vector  # (n,) the sum of their squared errors of prediction
    size: Matrix  # (n, T + 1) sizes of the noise at which bounds bend, ascending
    discount: Matrix  # (n, T + 1) what the residuals take off the squares there
    ceiling: Vector  # (n,) the square from which on nothing is known; infinite under a cap


def mixture_for(problem: Problem) -> Mixture:
    """The mixture for the noise of this problem."""
    rate, laws = np.array(RATES), noise_laws(problem)
    return Mixture(
        rate=rate, growth=np.log1p(2.0 * rate), log_weight=np.log(WEIGHTS), asked=np.array(ASKED),
        beyond=np.array(BEYOND), predicted=PREDICTED, cap=np.array([law.bound for law in laws]),
        unknown=np.array([law.unknown for law in laws], np.int64),
    )  # fmt: skip


def new_sizes(n: int) -> Sizes:
    """Room for n signals."""
    rows = n, len(ASKED) + 1
    return Sizes(np.zeros(n), np.zeros(n), np.zeros(rows), np.zeros(rows), np.zeros(n))


# -- kernels -----------------------------------------------------------------------------------------------------------


@rare
def begin_unknown(inst: Instance, mixture: Mixture, sizes: Sizes) -> None:
    """Nothing is known but what is stated."""
    for s in range(len(mixture.cap)):
        sizes.counted[s] = 0.0 if mixture.unknown[s] == 1 else STATED
        know_only(sizes, s, mixture.cap[s])


@rare
def know_only(sizes: Sizes, s: int, cap: float) -> None:
    """The noise of signal s is no larger than the cap, and nothing else is known of it."""
    sizes.ceiling[s] = inf if cap < inf else -inf
    for b in range(sizes.size.shape[1]):
        sizes.size[s, b], sizes.discount[s, b] = cap, 0.0


@rare
def learn_unknown(
    inst: Instance, mixture: Mixture, sizes: Sizes, state: State, k: int, gamma: float, observed: Vector
) -> None:  # fmt: skip
    """One residual more of each signal, as far as the result was predicted; whether it counts was known before it."""
    for s in range(len(mixture.cap)):
        g = inst.gram_of[s]
        if mixture.unknown[s] == 0 or state.estimate.spanned[g] == 0:
            continue
        if not gamma * gamma * diagonal(state.estimate, g)[k] <= mixture.predicted:
            continue
        expected = gamma * state.estimate.est[s, k]
        off, rounding = observed[s] - expected, LEAST_DIGITS * max(abs(observed[s]), abs(expected))
        sizes.counted[s] += 1.0
        sizes.squares[s] += off * off + rounding * rounding
        bend(mixture, sizes, s)


@rare
def bend(mixture: Mixture, sizes: Sizes, s: int) -> None:
    """The sizes at which the bounds of signal s bend, and their discounts, from the residuals so far.           (C8)

    The discount is convex in the reciprocal of the squared size, so its tangents lie below it; each is touched where
    a bound that asks for a certain square is largest. It bends where two neighbours meet.
    """
    n, squares, cap, last = sizes.counted[s], sizes.squares[s], mixture.cap[s], len(mixture.asked)
    if not squares > 0.0:
        return
    least, root = squares / (cap * cap), sqrt(2.0 * n)
    start, slope, before = 2.0 * mixture.log_weight[0], 0.0, inf  # the first line: rate 0 alone
    for b in range(last + 1):
        ratio = n * exp(-(mixture.asked[b] + root * mixture.beyond[b]) / n) if b < last else 0.0
        value, rate = weighed(mixture, n, ratio)
        start_b, slope_b = value + 2.0 * rate * ratio, 2.0 * rate
        meet = (start_b - start) / (slope_b - slope) if slope_b > slope else ratio
        meet = min(max(meet, ratio), before)
        meet = max(meet, least)  # no further than the cap: its own line is followed up to there
        sizes.size[s, b] = sqrt(squares / meet) if meet > least else cap
        sizes.discount[s, b] = start - slope * meet
        if meet > least:
            start, slope, before = start_b, slope_b, ratio
    sizes.ceiling[s] = inf if cap < inf else start


@kernel
def weighed(mixture: Mixture, n: float, ratio: float) -> tuple[float, float]:
    """Twice the logarithm of the mixture where the squared residuals are `ratio` times the squared size, and the mean
    rate there."""
    largest = -inf
    for j in range(len(mixture.rate)):
        largest = max(largest, mixture.log_weight[j] + 0.5 * n * mixture.growth[j] - mixture.rate[j] * ratio)
    total, rates = 0.0, 0.0
    for j in range(len(mixture.rate)):
        part = exp(mixture.log_weight[j] + 0.5 * n * mixture.growth[j] - mixture.rate[j] * ratio - largest)
        total += part
        rates += part * mixture.rate[j]
    return 2.0 * (largest + log(total)), rates / total


@kernel
def unknown_radius(inst: Instance, sizes: Sizes, s: int, square: float) -> float:
    """The largest of size sqrt(square - discount).                                                      (C2, C8)"""
    if square > sizes.ceiling[s]:
        return inf
    highest = 0.0
    for b in range(sizes.size.shape[1]):
        size = sizes.size[s, b]
        highest = max(highest, size * size * (square - sizes.discount[s, b]))
    return sqrt(highest)


@kernel
def unknown_height(
    inst: Instance, sizes: Sizes, s: int, edge: Boundary, information: float, growth: float
) -> float:  # fmt: skip
    """The largest boundary over all sizes, the offset in units of the size.                             (C3, C8)"""
    rho, square, offset = edge.rho, growth + edge.constant, edge.offset / inst.R[s]
    last = sizes.size.shape[1] - 1
    if sizes.counted[s] == STATED:
        return sizes.size[s, 0] * (sqrt((information + rho) * square) - offset)  # type: ignore[no-any-return]
    if square + CUT_NEAR > sizes.ceiling[s]:
        return inf
    capped = sizes.ceiling[s] == inf
    cut = CUT_FAR if capped and square - sizes.discount[s, last] >= FEW else CUT_NEAR
    highest = 0.0
    for i in range(last + 1):
        b = last - i
        left = square - sizes.discount[s, b]
        if left + cut > 0.0:
            highest = max(highest, sizes.size[s, b] * (sqrt((information + rho) * (left + cut)) - offset))
        cut = CUT_FAR if left >= FEW else CUT_NEAR  # of the stretch below this size
    return highest


@kernel
def unknown_size(inst: Instance, sizes: Sizes, s: int) -> float:
    """The root of the mean squared residual; the guess before there is one."""
    if sizes.counted[s] > 0.0:
        return sqrt(sizes.squares[s] / sizes.counted[s])
    return float(inst.R[s])


@rare
def largest_size(sizes: Sizes, s: int, square: float) -> float:
    """The largest size that the event behind a bound with this square allows.                               (C9)"""
    if sizes.counted[s] == STATED:
        return float(sizes.size[s, 0])
    if square > sizes.ceiling[s]:
        return inf
    last = sizes.size.shape[1] - 1
    at, left = sizes.size[s, 0] ** 2, square - sizes.discount[s, 0]
    for b in range(1, last + 1):
        next_at, next_left = sizes.size[s, b] ** 2, square - sizes.discount[s, b]
        if next_left <= 0.0 < left:
            here, there = at * left, next_at * next_left
            return sqrt(at + (next_at - at) * here / (here - there))
        at, left = next_at, next_left
    if sizes.ceiling[s] == inf or left <= 0.0:
        return sqrt(at)
    return sqrt(at + at * left / max(sizes.ceiling[s] - square, 1e-300))


UNKNOWN_NOISE: dict[str, Callable[..., Any]] = dict(
    zip(NAMES, (begin_unknown, learn_unknown, unknown_radius, unknown_height, unknown_size), strict=True)
)
