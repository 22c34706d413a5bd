"""The nearest alternatives that reject answers: the inner problem of (T9).

An answer (k, gamma) says "arm k at level gamma is safe and within epsilon of the best safe value". An alternative
truth rejects it in one of three ways:

unsafe    some signal at gamma x_k lies below its limit; only above the known safe level can that be
null      even doing nothing beats gamma x_k by more than epsilon
rival     some arm j is safe at a level g and beats gamma x_k by more than epsilon

Null and rival make the answer *worse* and count against delta, unsafe counts against delta_safety: each has its own
amount of evidence. An alternative is a truth like any other, so it obeys what the method is told: the known levels are
safe in it, and where norms are told its weights are no longer than they. It is found as the nearest point of a
polyhedron and a ball; for a rival one search over g remains (see `rivals`).

What w collects against an alternative, in units of the evidence needed, is *linear* in w: `Alternative.row`. So any
set of alternatives bounds from above what an allocation can do. Each is checked by its definition before it is used:
an inexact solution makes the bound weaker, never wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.theory.nearest_point import Nearest, nearest_point

Array = NDArray[np.float64]

CLOSE = 1e-9  # what rounding may take from a constraint, relative
MOST_WAYS = 32  # in which several answers can be made unsafe by several signals


class Setting(NamedTuple):
    """What (T9) knows of the world, in internal units, and what methods are told of it."""

    arms: Array  # (K, d) x_k
    theta: Array  # (d,)
    mu: Array  # (m, d)
    eta0: Array  # (m,) limits, all negative
    noise: float  # R
    safety_noise: Array  # (m,) R_s
    epsilon: float
    pulls_at: Array  # (K,) p_k, the level at which arm k is pulled
    best_level: Array  # (K,) gamma_k*, within the cap and on the grid
    cap: Array  # (K,) the highest level that a rival may use
    grid: Array  # (n,) the levels there are, ascending; empty: all of (0, cap]
    known: Array  # (K,) gamma0_k, told to be safe; 0 where nothing is told
    norm: float  # |theta| is told to be at most this; infinite where nothing is told
    safety_norm: Array  # (m,)
    worse: float  # evidence needed against a truth in which the answer is worse; 0: none
    unsafe: float  # and against one in which it is unsafe

    @property
    def values(self) -> Array:
        """The mean rewards x_k.theta (K,)."""
        return np.asarray(self.arms @ self.theta)

    @property
    def safety(self) -> Array:
        """The mean signals x_k.mu^s (m, K)."""
        return np.asarray(self.mu @ self.arms.T)


class Span(NamedTuple):
    """The answers of one arm from one level to another; level 0 is doing nothing."""

    arm: int
    low: float
    high: float


class Alternative(NamedTuple):
    """Another truth, and the linear function of w that says how much of the evidence against it w collects."""

    row: Array  # (K,)
    values: Array  # (K,) x_k.theta'
    safety: Array  # (m, K) x_k.mu'^s
    worth: float  # a safe pull is worth this much; -inf: the answer is unsafe here

    def rejects(self, setting: Setting, span: Span) -> bool:
        """Whether every answer of the span is worse than epsilon here, or every one unsafe."""
        arm, low, high = span
        if self.worth > -np.inf:
            least = max(low * self.values[arm], high * self.values[arm]) + setting.epsilon
            scale = abs(self.worth) + setting.epsilon + high * float(np.abs(self.values).max())
            return bool(least <= self.worth + CLOSE * scale)
        at_low = low * self.safety[:, arm] <= setting.eta0 * (1.0 - CLOSE)
        return may_be_unsafe(setting, span) and bool(at_low.any())

    def rejects_all(self, setting: Setting, spans: Sequence[Span]) -> bool:
        """Whether it rejects every one of the spans, all in the same way."""
        return all(self.rejects(setting, span) for span in spans)


class Metric(NamedTuple):
    """The axes in which the information of an allocation is a weighted sum of squares."""

    axes: Array  # (d, d) orthonormal rows
    weight: Array  # (d,) eigenvalues of Lam = sum_k w_k p_k^2 x_k x_k^T
    arms: Array  # (K, d) x_k in these axes
    theta: Array  # (d,)
    mu: Array  # (m, d)


def metric_of(setting: Setting, w: Array) -> Metric:
    """The axes of an allocation that spans."""
    # through the singular values of the root of Lam: half the digits of Lam's condition number are kept
    scaled = setting.arms * (np.sqrt(w) * setting.pulls_at)[:, None]
    _, sizes, axes = np.linalg.svd(scaled, full_matrices=False)
    weight = np.maximum(sizes, 1e-150) ** 2
    return Metric(axes, weight, setting.arms @ axes.T, axes @ setting.theta, setting.mu @ axes.T)


def information_scale(setting: Setting) -> float:
    """What one pull can tell about the arm it pulls, in the units of the rate."""
    signal = (setting.values / setting.noise) ** 2 + (setting.epsilon / setting.noise) ** 2
    signal = signal + ((setting.safety / setting.safety_noise[:, None]) ** 2).sum(axis=0)
    return float((setting.pulls_at**2 * signal / 2.0).max()) / max(setting.worse, setting.unsafe)


def may_be_unsafe(setting: Setting, span: Span) -> bool:
    """Whether an alternative can make the whole span unsafe: not at and below what is known to be safe."""
    known = setting.known[span.arm] * (1.0 - CLOSE)
    return span.low > 0.0 and span.low >= known and span.high > setting.known[span.arm] * (1.0 + CLOSE)


def reward_point(setting: Setting, metric: Metric, rows: Array) -> Nearest | None:
    """The nearest theta' for which each row is worth epsilon at least."""
    if not rows.any(axis=1).all():  # a pull is never better than itself
        return None
    needed = np.full(len(rows), setting.epsilon)
    return nearest_point(metric.theta, metric.weight, rows, needed, setting.norm)


def safety_point(setting: Setting, metric: Metric, signal: int, rows: Array, needed: Array) -> Nearest | None:
    """The nearest mu' of one signal that meets these rows and in which every known level is safe."""
    known = setting.known > 0.0
    floor = setting.eta0[signal] / setting.known[known]
    rows, needed = np.vstack([rows, metric.arms[known]]), np.append(needed, floor)
    return nearest_point(metric.mu[signal], metric.weight, rows, needed, setting.safety_norm[signal])


def answer_ends(spans: Sequence[Span]) -> list[tuple[int, float]]:
    """The answers (arm, level) that must be beaten: with both ends of a span its whole is beaten."""
    return sorted({(arm, level) for arm, low, high in spans for level in (low, high)})


def make_alternative(
    setting: Setting, metric: Metric, theta: Array | None, mu: dict[int, Array], worth: tuple[int, float] | None
) -> Alternative | None:
    """The alternative with these weights (in the metric's axes) in place of the true ones.

    `worth` names the safe pull that is better there, None where the answers are unsafe. None if it breaks what
    methods are told, or if the pull is not safe.
    """
    change = np.zeros((1 + len(setting.eta0), len(metric.theta)))
    if theta is not None:
        change[0] = theta - metric.theta
    for signal, weights in mu.items():
        change[1 + signal] = weights - metric.mu[signal]
    moved = change @ metric.arms.T  # (1 + m, K)
    noise = np.append(setting.noise, setting.safety_noise)[:, None]
    needed = setting.unsafe if worth is None else setting.worse
    row = setting.pulls_at**2 * ((moved / noise) ** 2).sum(axis=0) / (2.0 * needed)
    values, safety = setting.values + moved[0], setting.safety + moved[1:]
    if not _lawful(setting, metric, change, safety):
        return None
    if worth is None:
        return Alternative(row, values, safety, -np.inf)
    arm, level = worth
    if (level * safety[:, arm] < setting.eta0 * (1.0 + CLOSE)).any() and level > setting.best_level[arm]:
        return None
    return Alternative(row, values, safety, level * float(values[arm]))


def _lawful(setting: Setting, metric: Metric, change: Array, safety: Array) -> bool:
    """Whether what methods are told is true in the changed world."""
    lengths = np.linalg.norm(np.vstack([metric.theta, metric.mu]) + change, axis=1)
    told = np.append(setting.norm, setting.safety_norm)
    known = setting.known * safety >= setting.eta0[:, None] * (1.0 + CLOSE)
    return bool(known.all() and (lengths <= told * (1.0 + CLOSE)).all())


class Candidate(NamedTuple):
    """A way of rejecting: what it costs, what it costs at least, and the alternative that does it (None: inexact)."""

    cost: float
    proved: float
    alternative: Alternative | None


def own_candidates(setting: Setting, metric: Metric, spans: Sequence[Span]) -> Iterator[Candidate]:
    """The nearest alternatives in which all the answers are unsafe, and the one in which nothing beats them."""
    if setting.unsafe > 0.0 and all(may_be_unsafe(setting, span) for span in spans):
        yield from _unsafe_candidates(setting, metric, spans)
    if setting.worse > 0.0:
        rows = np.array([-level * metric.arms[arm] for arm, level in answer_ends(spans)])
        found = reward_point(setting, metric, rows)
        if found is not None:
            price = setting.noise**2 * setting.worse
            other = make_alternative(setting, metric, found.point, {}, (0, 0.0))
            yield Candidate(found.value / price, found.proved / price, other)


def _unsafe_candidates(setting: Setting, metric: Metric, spans: Sequence[Span]) -> Iterator[Candidate]:
    """Every answer is unsafe for some signal; each way of choosing the signals is one polyhedron per signal."""
    signals = range(len(setting.eta0))
    lowest = sorted({(arm, min(s.low for s in spans if s.arm == arm)) for arm, _, _ in spans})
    ways: list[tuple[int, ...]] = [(signal,) * len(lowest) for signal in signals]
    if len(signals) ** len(lowest) <= MOST_WAYS:
        ways = list(product(signals, repeat=len(lowest)))
    for way in ways:
        points: dict[int, Array] = {}
        cost = proved = 0.0
        for signal in sorted(set(way)):
            told = [(arm, level) for (arm, level), s in zip(lowest, way, strict=True) if s == signal]
            rows = np.array([-metric.arms[arm] for arm, _ in told])
            needed = np.array([-setting.eta0[signal] / level for _, level in told])
            found = safety_point(setting, metric, signal, rows, needed)
            if found is None:
                break
            price = setting.safety_noise[signal] ** 2 * setting.unsafe
            cost, proved = cost + found.value / price, proved + found.proved / price
            points[signal] = found.point
        else:
            yield Candidate(cost, proved, make_alternative(setting, metric, None, points, None))
