"""Means that follow the linear law within a stated error: how far that lets the sets be off.                (W1, W2)

The mean of a pull z is z . weights + e with |e| <= within, and nothing else is known of e. Beside the noise, least
squares then carries the sum of (y . V^-1 z) e over the pulls along y, and so much is added to what the sets say.

Whether means are exactly linear is bound into the loops with the policy: compiled code for those that are holds nothing
of this.
"""

from collections.abc import Callable
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from surefoot.core.estimate import column, diagonal, square_of
from surefoot.core.kernel import bound_in, kernel, thin
from surefoot.core.state import Bounds, State
from surefoot.core.types import NULL, ROUND, Instance, Vector

UNBOUND = "it is not said whether means are linear: make the set with surefoot.sets.directional"
NAMES = (
    "count_level", "drift_of", "widen_safety", "beyond_arm", "beyond_aim", "widen_leads", "beyond_lead",
)  # fmt: skip
DIGITS = 1e-9  # of an aim's information: what is lost where nearly all of it cancels


class Drift(NamedTuple):
    """How far means that are not quite linear can have led least squares astray, for an error of 1."""

    levels: Vector  # (K,) sum of the levels of the arm's pulls
    arm: Vector  # (K,) of the signal of each arm at full level
    lead: Vector  # (K + 1,) of the lead of each arm, and last of the null pull, over the leader


def new_drift(K: int) -> Drift:
    """Nothing pulled yet."""
    return Drift(np.zeros(K), np.zeros(K), np.zeros(K + 1))


@bound_in
def count_level(drift: Any, k: int, gamma: float) -> None:
    """The memory after a pull of arm k at this level."""
    raise TypeError(UNBOUND)


@bound_in
def drift_of(inst: Instance, state: State, s: int) -> float:
    """By how much |y| in V^-1 counts besides, for whoever has no better bound along y."""
    raise TypeError(UNBOUND)


@bound_in
def widen_safety(
    inst: Instance, drift: Any, state: State, s: int, lower: Vector, upper: Vector, most: Vector
) -> None:  # fmt: skip
    """The bounds of safety signal s at every arm, wider by what least squares can be off."""
    raise TypeError(UNBOUND)


@bound_in
def beyond_arm(inst: Instance, drift: Any, s: int, k: int, width: float) -> float:
    """The half-width of signal s at arm k, with what least squares can be off there."""
    raise TypeError(UNBOUND)


@bound_in
def beyond_aim(inst: Instance, state: State, s: int, information: float, fit: float, bound: float) -> float:
    """The bound of an aim on the noise of least squares, with what the means can have added to it."""
    raise TypeError(UNBOUND)


@bound_in
def widen_leads(
    inst: Instance, drift: Any, state: State, bounds: Bounds, levels: Vector, i: int, level_i: float
) -> None:  # fmt: skip
    """The leads over arm i, which are those of the linear law, as leads of the means."""
    raise TypeError(UNBOUND)


@bound_in
def beyond_lead(inst: Instance, drift: Any, i: int, j: int, lead: float) -> float:
    """The same of one lead."""
    raise TypeError(UNBOUND)


# -- where means are linear --------------------------------------------------------------------------------------------


@thin
def nothing_counted(drift: Vector, k: int, gamma: float) -> None:
    """Nothing is remembered."""


@thin
def no_drift(inst: Instance, state: State, s: int) -> float:
    """Nothing."""
    return 0.0


@thin
def nothing_wider(
    inst: Instance, drift: Vector, state: State, s: int, lower: Vector, upper: Vector, most: Vector
) -> None:  # fmt: skip
    """They stay as they are."""


@thin
def same_width(inst: Instance, drift: Vector, s: int, k: int, width: float) -> float:
    """The width itself."""
    return width


@thin
def same_bound(inst: Instance, state: State, s: int, information: float, fit: float, bound: float) -> float:
    """The bound itself."""
    return bound


@thin
def same_leads(
    inst: Instance, drift: Vector, state: State, bounds: Bounds, levels: Vector, i: int, level_i: float
) -> None:  # fmt: skip
    """They stay as they are."""


@thin
def same_lead(inst: Instance, drift: Vector, i: int, j: int, lead: float) -> float:
    """The lead itself."""
    return lead


LINEAR: dict[str, Callable[..., Any]] = dict(
    zip(
        NAMES,
        (nothing_counted, no_drift, nothing_wider, same_width, same_bound, same_leads, same_lead),
        strict=True,
    )
)


# -- where they are within an error ------------------------------------------------------------------------------------


@thin
def counted(drift: Drift, k: int, gamma: float) -> None:
    """One level more of arm k."""
    drift.levels[k] += gamma


@thin
def crude_drift(inst: Instance, state: State, s: int) -> float:
    """within sqrt(t): by Cauchy and Schwarz, sum |y . V^-1 z| <= sqrt(t) |y| in V^-1.                        (W2)"""
    return float(inst.within[s] * sqrt(float(state.clock[ROUND])))


@kernel
def wider_safety(
    inst: Instance, drift: Drift, state: State, s: int, lower: Vector, upper: Vector, most: Vector
) -> None:  # fmt: skip
    """The bounds of safety signal s, wider by within sum |x_k . V^-1 z| over the pulls.                     (W2)"""
    if s == 1 or inst.gram_of[s] != inst.gram_of[s - 1]:
        drift_at_arms(inst, drift, state, inst.gram_of[s])
    error, arm = inst.within[s], drift.arm
    for k in range(len(arm)):
        lower[k] -= error * arm[k]
    for k in range(len(arm)):
        upper[k] += error * arm[k]
    for k in range(len(arm)):
        most[k] += error * arm[k]


@kernel
def drift_at_arms(inst: Instance, drift: Drift, state: State, g: int) -> None:
    """sum |x_k . V^-1 z| over the pulls, for every arm: exactly where all columns are at hand, else at most.    (W2)"""
    estimate, arm = state.estimate, drift.arm
    if inst.few_columns:
        v, t = diagonal(estimate, g), float(state.clock[ROUND])
        for k in range(len(arm)):
            arm[k] = sqrt(t * max(v[k], 0.0))
        return
    for k in range(len(arm)):
        arm[k] = 0.0
    for j in range(len(arm)):
        total = drift.levels[j]
        if total > 0.0:
            column_j = column(inst, estimate, g, j)
            for k in range(len(arm)):
                arm[k] += total * abs(column_j[k])


@thin
def wider_arm(inst: Instance, drift: Drift, s: int, k: int, width: float) -> float:
    """The width and what least squares can be off."""
    return width + inst.within[s] * drift.arm[k]  # type: ignore[no-any-return]


@thin
def wider_aim(inst: Instance, state: State, s: int, information: float, fit: float, bound: float) -> float:
    """The bound and within sum |h - q . V^-1 z|, which is at most within sqrt(t (Q - q . V^-1 q)).          (W2)"""
    stray = max(information - fit, 0.0) + DIGITS * information
    return bound + inst.within[s] * sqrt(state.clock[ROUND] * stray)  # type: ignore[no-any-return]


@kernel
def wider_leads(
    inst: Instance, drift: Drift, state: State, bounds: Bounds, levels: Vector, i: int, level_i: float
) -> None:  # fmt: skip
    """The most by which the mean of each arm might beat that of the leader.                             (W2, W4)"""
    if inst.within[0] == 0.0:
        return
    drift_of_leads(inst, drift, state, levels, max(i, 0), level_i)
    for j in range(len(levels)):
        bounds.lead[j] = wider_lead(inst, drift, i, j, bounds.lead[j])
    if i != NULL:
        bounds.lead[len(levels)] = wider_lead(inst, drift, i, len(levels), bounds.lead[len(levels)])


@kernel
def drift_of_leads(inst: Instance, drift: Drift, state: State, levels: Vector, i: int, level_i: float) -> None:
    """sum |y . V^-1 z| over the pulls, for the difference y of each arm and the leader at their levels.     (W2)"""
    estimate, lead, K, g = state.estimate, drift.lead, len(levels), inst.gram_of[0]
    if inst.few_columns:
        v, column_i, t = diagonal(estimate, g), column(inst, estimate, g, i), float(state.clock[ROUND])
        for k in range(K):
            lead[k] = sqrt(t * square_of(levels[k], v[k], level_i, v[i], column_i[k]))
        lead[K] = level_i * sqrt(t * max(v[i], 0.0))
        return
    for k in range(K + 1):
        lead[k] = 0.0
    for j in range(K):
        total = drift.levels[j]
        if total > 0.0:
            column_j = column(inst, estimate, g, j)
            of_leader = level_i * column_j[i]
            for k in range(K):
                lead[k] += total * abs(levels[k] * column_j[k] - of_leader)
            lead[K] += total * abs(of_leader)


@kernel
def wider_lead(inst: Instance, drift: Drift, i: int, j: int, lead: float) -> float:
    """The lead of the linear law, what least squares can be off, and what each of the two means can be beside it. (W4)

    An arm at a level near 0 may be worth `within` where the law has next to nothing: the null pull stands for these,
    and beside a leader that does nothing every arm does.
    """
    if inst.within[0] == 0.0:
        return lead
    error, wide = inst.within[0], lead + inst.within[0] * drift.lead[j]
    if i == NULL:
        return max(wide, 0.0) + error  # type: ignore[no-any-return]
    return (max(wide, 0.0) if j == len(drift.arm) else wide) + 2.0 * error  # type: ignore[no-any-return]


NEARLY_LINEAR: dict[str, Callable[..., Any]] = dict(
    zip(
        NAMES,
        (counted, crude_drift, wider_safety, wider_arm, wider_aim, wider_leads, wider_lead),
        strict=True,
    )
)
