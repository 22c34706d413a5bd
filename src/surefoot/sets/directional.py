"""Directional sets: the norm-free ellipsoid, cut by half-spaces that are aimed at one question each.     (C5, C6)

An aim, with q = sum h_s z_s over the pulls and a boundary for its weighted noise (`sets.aims`), is a half-space,

    q . (weights - estimate) < boundary + rest       on one side,       > -boundary + rest      on the other,

and together with the ellipsoid (C2) it bounds y . weights for every y: most tightly where q points along y. So the
weights of an aim at y are chosen as least squares would choose them, corrected for what q has strayed from y so far.
Nothing here leans on a bound of the weights' norm; before the pulls span, nothing is said and no aim has any weight.

The reward's target j asks whether arm j beats the leader, target K whether the null pull does; it is opened when first
that arm might beat the leader by most. The safety target k asks for every limit at arm k; it is opened when first that
arm leads, challenges or is pulled, and closed when levels that remember have certified the arm at full level by that
limit. What no aim asks about is bounded by the ellipsoid alone.
"""

from math import inf, sqrt
from typing import Any, NamedTuple

import numpy as np

from surefoot.core.columns import are_many
from surefoot.core.estimate import (
    column,
    diagonal,
    second_column,
    second_diagonal,
    squared_norm,
    width_of,
)
from surefoot.core.kernel import kernel, rare, thin
from surefoot.core.passes import first_largest
from surefoot.core.state import Bounds, State
from surefoot.core.types import NULL, Ball, Indices, Instance, Matrix, Tensor, Vector
from surefoot.sets import norm_free
from surefoot.sets.aims import Aims, new_aims, open_aim
from surefoot.sets.asking import begin, compare_with, learn, refresh
from surefoot.sets.cutting import NEAR, Lead, Radii, cut_leads, cut_limit, square_at_arm
from surefoot.sets.deviations import LINEAR, NEARLY_LINEAR, new_drift, widen_leads, widen_safety
from surefoot.sets.ellipsoid import leads_by
from surefoot.sets.norm_free import ball as uncut
from surefoot.sets.norm_free import radius_at, square_at
from surefoot.sets.one_by_one import ONE_BY_ONE
from surefoot.sets.protocol import ConfidenceSet, stated_noise
from surefoot.sets.side_by_side import SIDE_BY_SIDE
from surefoot.sets.sizes import KNOWN_NOISE, size_now
from surefoot.sets.unknown_noise import UNKNOWN_NOISE, Mixture, largest_size

NAME, NAME_UNKNOWN, NEARLY = "directional", "directional, noise unknown", ", nearly linear"
AT_ONCE, LATE = 2, 3  # versions: all aims are open from the first pull on, or each when it is needed
MOST_OPEN = 4096  # targets of either kind; those that come later are left to the ellipsoid


class Params(NamedTuple):
    """The ellipsoid that is cut, and the boundaries of the aims."""

    ball: norm_free.Params
    reward: Matrix  # (2, 3) NEAR and FAR: rho, constant and offset of each boundary (C3)
    high: Matrix  # (m, 3) the boundary of each limit as far as it bounds from above
    low: Tensor  # (m, room, 3) from below, of the arm that was opened first, second, ...; with the rho of `high`
    switch: float  # information above which the reward's aims use NEAR and not FAR
    within: float  # the width of an aim beside what is to be decided, at which it is opened
    finest: float  # the difference that is planned for: epsilon, or more where that is too small (C7)
    at_once: bool  # whether all are open from the first pull on


class Memory(NamedTuple):
    """What the aims have seen."""

    ball: norm_free.Memory
    reward: Aims  # of the K arms and the null pull
    safety: Aims  # of the K arms, m aims each
    compared: Indices  # (1,) the arm that the aims at the reward compare theirs with; NULL for none
    close: Vector  # (1,) whether the race is close enough for aims to be opened
    image: Vector  # (d,) room: V^-1 x of some arm
    image2: Vector  # (d,) room: V^-2 x of it
    x: Vector  # (d,) room: the arm that is pulled, its features side by side; else the sum of z * observation
    drift: Any  # of means that are not quite linear (W2); else an empty array


def directional(
    params: Params, K: int, d: int, m: int, *, nearly: bool = False, many: bool | None = None
) -> ConfidenceSet:  # fmt: skip
    """The set with these parameters for K arms in d dimensions and m limits; wider where means are only nearly
    linear, by what the instance says of that. `many` says how sums are held, if not as the number of arms does."""
    reward, safety = (K + 1, K) if params.at_once else (min(K + 1, MOST_OPEN), params.low.shape[1])
    unknown, many = isinstance(params.ball.mixture, Mixture), are_many(K) if many is None else many
    memory = Memory(
        ball=norm_free.memory_for(1 + m, d, unknown), reward=new_aims(K + 1, reward, 1, d, many, True),
        safety=new_aims(K, safety, m, d, many, False), compared=np.zeros(1, np.int64), close=np.zeros(1),
        image=np.zeros(d), image2=np.zeros(d), x=np.zeros(d), drift=new_drift(K) if nearly else np.zeros(0),
    )  # fmt: skip
    name = (NAME_UNKNOWN if unknown else NAME) + (NEARLY if nearly else "")
    return ConfidenceSet(
        name, AT_ONCE if params.at_once else LATE, params, memory,
        bound_safety=bound_safety, bound_leads=bound_leads, begin=begin, learn=learn, refresh=refresh, ball=ball,
        parts={
            **(UNKNOWN_NOISE if unknown else KNOWN_NOISE), **(NEARLY_LINEAR if nearly else LINEAR),
            **(SIDE_BY_SIDE if many else ONE_BY_ONE),
        },
        noise=noise if unknown else stated_noise, learns_noise=unknown, bears_error=nearly,
    )  # fmt: skip


# -- what they say ----------------------------------------------------------------------------------------------------


@thin
def ball(inst: Instance, params: Params, memory: Memory, state: State, s: int) -> Ball:
    """The ellipsoid of signal s, uncut.                                                                     (C2)"""
    return uncut(inst, params.ball, memory.ball, state, s)


@kernel
def noise(inst: Instance, params: Params, memory: Memory, state: State, s: int) -> float:
    """The largest size of the noise of signal s that the event of its ellipsoid allows.                     (C9)"""
    return largest_size(memory.ball.sizes, s, square_at(memory.ball, s, params.ball.log_inv_delta[s]))


@kernel
def bound_safety(inst: Instance, params: Params, memory: Memory, state: State, bounds: Bounds) -> None:
    """The bounds of every safety signal at every arm: by the ellipsoid, and cut where an aim asks.      (S1, C6)"""
    estimate = state.estimate
    for s in range(1, len(inst.R)):
        g, c = inst.gram_of[s], params.ball.prior[s]
        v, v2, est = diagonal(estimate, g), second_diagonal(estimate, g), estimate.est[s]
        radius_low = radius_at(inst, memory.ball, state, s, params.ball.log_inv_delta[s])
        radius_high = radius_at(inst, memory.ball, state, s, params.ball.log_inv_delta_high[s])
        radius_most = radius_at(inst, memory.ball, state, s, params.ball.log_inv_delta_most[s])
        lower, upper, most = bounds.lower[s - 1], bounds.upper[s - 1], bounds.most[s - 1]
        if not max(max(radius_low, radius_high), radius_most) < inf:
            know_nothing(v, est, lower, upper, most)
            continue
        for k in range(len(est)):
            length = sqrt(square_at_arm(v, v2, c, k))
            lower[k] = est[k] - radius_low * length
            upper[k] = est[k] + radius_high * length
            most[k] = est[k] + radius_most * length
        widen_safety(inst, memory.drift, state, s, lower, upper, most)
        cut_limit(inst, params, memory, state, bounds, s, Radii(radius_low, radius_high))


@rare
def know_nothing(v: Vector, est: Vector, lower: Vector, upper: Vector, most: Vector) -> None:
    """The bounds before the pulls span: only of an arm of zeros is anything known."""
    for k in range(len(est)):
        width = width_of(inf, v[k])
        lower[k], upper[k] = est[k] - width, est[k] + width
        most[k] = upper[k]


@kernel
def bound_leads(
    inst: Instance, params: Params, memory: Memory, state: State, bounds: Bounds, i: int, level_i: float,
    optimistic: bool,
) -> None:  # fmt: skip
    """The most by which each arm might beat the leader; the null pull comes last.                       (G2, C6)

    First by the ellipsoid. Then those that stand out are cut by their aims: what stays below the largest does not
    matter to anybody. The aim of one that has none and might win by most is opened, once the race is close.
    """
    found = ball(inst, params, memory, state, 0)
    leads_by(inst, state, found, bounds, i, level_i, optimistic)
    levels, aims = state.levels.high if optimistic else state.levels.low, memory.reward
    K = len(levels)
    widen_leads(inst, memory.drift, state, bounds, levels, i, level_i)
    if i != NULL and not levels[i] > level_i:
        bounds.lead[i] = -inf
    # Whoever might win by most of those that no aim asks about. The leader's own level is in question, not another arm:
    # the aim at it asks something else.
    for k in range(K + 1):
        bounds.room[k] = bounds.lead[k] if aims.order[k] == 0 else -inf
    if i != NULL:
        bounds.room[i] = bounds.lead[i]
    far, uncut_lead = first_largest(bounds.room, K + 1)
    compare_with(inst, memory, state, i)
    x_i = max(i, 0)
    column_i, second_i = column(inst, state.estimate, found.g, x_i), second_column(inst, state.estimate, found.g, x_i)
    cut = False
    if found.radius < inf:  # of nothing known no half-space cuts anything off
        lead = Lead(i, level_i, uncut_lead)
        cut = cut_leads(inst, params, memory, state, found, bounds, levels, lead, column_i, second_i)
    memory.close[0] = 1.0 if is_close(inst, params, memory, state, levels, i, level_i, far) else 0.0
    if not cut and far != i and memory.close[0] == 1.0:
        open_aim(memory.reward, far)


@kernel
def is_close(
    inst: Instance, params: Params, memory: Memory, state: State, levels: Vector, i: int, level_i: float, j: int
) -> bool:  # fmt: skip
    """Whether an aim at arm j, or at the null pull, would decide before many times the pulls so far have been made.

    What it misses until then is a small part of what it will have seen, and most of those that might win by most early
    on are out of the race by then.
    """
    estimate, K, x_i = state.estimate, len(levels), max(i, 0)
    if estimate.spanned[inst.gram_of[0]] == 0 or j == NULL:
        return False
    x_j, level_j = (j, levels[j]) if j < K else (x_i, 0.0)
    behind = level_i * estimate.est[0, x_i] - level_j * estimate.est[0, x_j]
    square = squared_norm(inst, estimate, inst.gram_of[0], x_j, level_j, x_i, level_i)
    width = size_now(inst, memory.ball.sizes, 0) * sqrt(params.reward[NEAR, 1] * square)
    return bool(width <= params.within * (params.finest + max(behind, 0.0)))
