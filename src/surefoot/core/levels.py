"""Safe levels: how far up each dial may be turned.                                                          (S)"""

from math import inf
from typing import NamedTuple

import numpy as np

from surefoot.core.kernel import kernel, thin
from surefoot.core.types import Dial, Indices, Instance, Matrix, Vector

STATIC, DYNAMIC, DYNAMIC_MAX = 0, 1, 2
CROSSING = 1e-9  # levels that cross by more than rounding prove the confidence event wrong


class Levels(NamedTuple):
    """The levels of every arm, and what they follow from."""

    last: Vector  # (K,) level last applied to the arm, gamma0 before its first pull
    low: Vector  # (K,) certified level g-
    high: Vector  # (K,) optimistic level g+, where the selection asks for it
    low_of: Matrix  # (m, K) pessimistic level by each limit (its running maximum, where asked for); 0 before
    high_of: Matrix  # (m, K) running minimum of the optimistic level by each limit, where asked for
    most_of: Matrix  # (m, K) running minimum of what each signal can be at most, where asked for; 0 before
    frozen: Indices  # (1,) whether static levels have been computed
    remember: Indices  # (1,) whether the best ever certified is kept


class Bounds(NamedTuple):
    """What the confidence sets say in this round."""

    lower: Matrix  # (m, K) lower bounds of the safety signals at full level
    upper: Matrix  # (m, K) upper bounds
    most: Matrix  # (m, K) upper bounds that hold for all arms together, and may contradict; 0 if no set fills them in
    lead: Vector  # (K + 1,) the most by which each arm, and last the null pull, might beat the leader
    room: Vector  # (K + 1,) for a set to work in


def new_levels(inst: Instance) -> Levels:
    """Levels of zeros, which `begin_levels` fills in."""
    m, K = len(inst.eta0), len(inst.X)
    return Levels(
        last=np.zeros(K), low=np.zeros(K), high=np.zeros(K), low_of=np.zeros((m, K)), high_of=np.zeros((m, K)),
        most_of=np.zeros((m, K)), frozen=np.zeros(1, np.int64), remember=np.zeros(1, np.int64),
    )  # fmt: skip


def new_bounds(inst: Instance) -> Bounds:
    """Room for the bounds."""
    m, K = len(inst.eta0), len(inst.X)
    return Bounds(np.zeros((m, K)), np.zeros((m, K)), np.zeros((m, K)), np.zeros(K + 1), np.zeros(K + 1))


@thin
def begin_levels(inst: Instance, levels: Levels) -> None:
    """The levels before the first pull; they come filled with zeros."""
    for k in range(len(levels.low)):
        levels.last[k] = levels.low[k] = inst.dial.gamma0[k]
        levels.high[k] = inst.dial.ceiling[k]
        for s in range(len(inst.eta0)):
            levels.high_of[s, k] = 1.0


@kernel
def certify(inst: Instance, levels: Levels, bounds: Bounds, mode: int, optimistic: bool) -> bool:
    """The certified level of every arm, and the optimistic one if asked for, by the bounds.             (S2, S3)

    False if the bounds contradict each other or a level that was said to be safe.
    """
    if mode == STATIC and levels.frozen[0] == 1:
        return known_levels_hold(inst, bounds)
    agree, m, dial, low = True, len(inst.eta0), inst.dial, levels.low
    if m > 0:
        agree = learn_limit(inst, levels, bounds, mode, 0, dial.ceiling)
    else:
        for k in range(len(low)):
            low[k] = max(dial.gamma0[k], dial.ceiling[k])
    for s in range(1, m):
        agree = learn_limit(inst, levels, bounds, mode, s, low) and agree
    if len(dial.grid) > 0:
        floor_levels(dial, low, dial.gamma0)
    if optimistic:
        certify_above(inst, levels, bounds, mode)
    levels.frozen[0], levels.remember[0] = 1, 1 if mode == DYNAMIC_MAX else 0
    return agree


@kernel
def learn_limit(inst: Instance, levels: Levels, bounds: Bounds, mode: int, s: int, others: Vector) -> bool:
    """Certifies what the others allow and limit s does, and never less than is known to be safe; False if the bounds
    contradict each other or a level that is claimed."""
    surely, possibly = inst.eta0[s] + inst.within[s + 1], inst.eta0[s] - inst.within[s + 1]  # (W3)
    gamma0, low, K = inst.dial.gamma0, levels.low, len(levels.low)
    lower, upper, most = bounds.lower[s], bounds.upper[s], bounds.most[s]
    low_of, high_of, most_of = levels.low_of[s], levels.high_of[s], levels.most_of[s]
    crossing = 0
    if mode == DYNAMIC_MAX:  # the sets hold for all rounds at once, so the best ever seen is valid
        for k in range(K):
            high_of[k] = min(level_at(upper[k], possibly), high_of[k])
        for k in range(K):
            level = max(level_at(lower[k], surely), low_of[k])
            least = min(most[k], most_of[k])
            low_of[k], most_of[k], low[k] = level, least, max(gamma0[k], min(others[k], level))
            crossing += 0 if may_be_safe(least, max(level, gamma0[k]), possibly) else 1
    else:
        for k in range(K):
            level = level_at(lower[k], surely)
            low_of[k], low[k] = level, max(gamma0[k], min(others[k], level))
            crossing += 0 if may_be_safe(most[k], gamma0[k], possibly) else 1
    return crossing == 0


@kernel
def certify_above(inst: Instance, levels: Levels, bounds: Bounds, mode: int) -> None:
    """The optimistic level of every arm, which is never below the certified one."""
    high, ceiling = levels.high, inst.dial.ceiling
    for k in range(len(high)):
        high[k] = ceiling[k]
    for s in range(len(inst.eta0)):
        possibly, upper, high_of = inst.eta0[s] - inst.within[s + 1], bounds.upper[s], levels.high_of[s]
        if mode == DYNAMIC_MAX:
            for k in range(len(high)):
                high[k] = min(high[k], high_of[k])
        else:
            for k in range(len(high)):
                high[k] = min(high[k], level_at(upper[k], possibly))
    floor_levels(inst.dial, high, levels.low)


@kernel
def floor_levels(dial: Dial, level: Vector, least: Vector) -> None:
    """Every level at a setting of the dial that is not above it; but not below what is known already."""
    if len(dial.grid) > 0:
        for k in range(len(level)):
            level[k] = round_down(dial.grid, level[k])
    for k in range(len(level)):
        level[k] = max(least[k], level[k])


@thin
def may_be_safe(bound: float, level: float, eta0: float) -> bool:
    """Whether a signal of at most `bound` per unit level can keep its limit at this level."""
    return level * bound >= eta0 * (1.0 + CROSSING)


@kernel
def known_levels_hold(inst: Instance, bounds: Bounds) -> bool:
    """Whether the bounds still allow that every arm is safe at its known level, as was promised."""
    gamma0, crossing = inst.dial.gamma0, 0
    for s in range(len(inst.eta0)):
        most, possibly = bounds.most[s], inst.eta0[s] - inst.within[s + 1]
        for k in range(len(gamma0)):
            crossing += 0 if may_be_safe(most[k], gamma0[k], possibly) else 1
    return crossing == 0


@kernel
def level_at(bound: float, eta0: float) -> float:
    """The largest level at which a signal of `bound` per unit level stays above eta0 < 0.              (S2, S3)"""
    below = eta0 / bound if bound < eta0 else 0.0  # not a number: certify nothing
    return 1.0 if bound >= eta0 else below


@kernel
def round_down(grid: Vector, level: float) -> float:
    """The highest setting of the dial that is not above the level; 0 if there is none."""
    if len(grid) == 0:
        return level
    below, above = -1, len(grid)
    while above - below > 1:
        middle = (below + above) // 2
        if grid[middle] <= level:
            below = middle
        else:
            above = middle
    return grid[below] if below >= 0 else 0.0


@thin
def can_be_tried(dial: Dial, k: int) -> bool:
    """Whether the arm can be pulled at all, and is not only a candidate for the answer.                       (P2)"""
    return len(dial.pullable) == 0 or dial.pullable[k] > 0.0


@kernel
def tried_arms(dial: Dial) -> int:
    """How many arms can be tried."""
    count = 0
    for k in range(len(dial.ceiling)):
        count += 1 if can_be_tried(dial, k) else 0
    return count


@kernel
def reachable(dial: Dial, levels: Levels, reach: Vector) -> None:
    """The level at which each arm may be pulled now: certified, and not too large a step; 0 where it cannot be tried,
    so that nothing is learned from it.                                                                  (S4, P2)"""
    low = levels.low
    if dial.step == inf:
        for k in range(len(low)):
            reach[k] = low[k] if can_be_tried(dial, k) else 0.0
        return
    for k in range(len(low)):
        reach[k] = stepped(dial, levels, k, low[k]) if can_be_tried(dial, k) else 0.0


@kernel
def stepped(dial: Dial, levels: Levels, k: int, level: float) -> float:
    """The level, or as much of it as one step from the arm's last level allows (its known level, before any pull)."""
    allowed = highest_step(dial, levels.last[k])
    if level <= allowed:
        return level
    lowered = round_down(dial.grid, allowed)
    return lowered if lowered > 0.0 or len(dial.grid) == 0 else dial.grid[0]


@kernel
def highest_step(dial: Dial, last: float) -> float:
    """How far one step reaches from the last level: by the same everywhere, or as the curve of the dial has it."""
    known, reach = dial.step_from, dial.step_to
    if len(known) == 0:
        return last + dial.step
    below, above = 0, len(known) - 1
    highest: float = reach[above]
    if last >= known[above]:
        return highest
    while above - below > 1:
        middle = (below + above) // 2
        if known[middle] <= last:
            below = middle
        else:
            above = middle
    share = max(last - known[below], 0.0) / (known[above] - known[below])
    between: float = reach[below] + share * (reach[above] - reach[below])
    return between


@thin
def fix_at_ceiling(dial: Dial, levels: Levels, reach: Vector) -> None:
    """Every arm at the top of its dial, safe or not: the levels of a policy that knows no limits. One that cannot be
    tried competes there, and is reached at level 0.                                                         (P2)"""
    for k in range(len(levels.low)):
        levels.low[k] = levels.high[k] = dial.ceiling[k]
        reach[k] = dial.ceiling[k] if can_be_tried(dial, k) else 0.0
