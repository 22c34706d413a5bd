"""Safe levels: how far up each dial may be turned.                                                          (S)"""

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


class Bounds(NamedTuple):
    """What the confidence sets say in this round."""

    lower: Matrix  # (m, K) lower bounds of the safety signals at full level
    upper: Matrix  # (m, K) upper bounds
    most: Matrix  # (m, K) upper bounds that hold for all arms together, and may contradict; 0 if no set fills them in
    lead: Vector  # (K + 1,) the most by which each arm, and last the null pull, might beat the leader


def new_levels(inst: Instance) -> Levels:
    """Levels of zeros, which `begin_levels` fills in."""
    m, K = len(inst.eta0), len(inst.X)
    return Levels(
        last=np.zeros(K), low=np.zeros(K), high=np.zeros(K), low_of=np.zeros((m, K)), high_of=np.zeros((m, K)),
        most_of=np.zeros((m, K)), frozen=np.zeros(1, np.int64),
    )  # fmt: skip


def new_bounds(inst: Instance) -> Bounds:
    """Room for the bounds."""
    m, K = len(inst.eta0), len(inst.X)
    return Bounds(np.zeros((m, K)), np.zeros((m, K)), np.zeros((m, K)), np.zeros(K + 1))


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
    agree = True
    for k in range(len(levels.low)):
        lowest, highest = inst.dial.ceiling[k], inst.dial.ceiling[k]
        for s in range(len(inst.eta0)):
            low, most = level_at(bounds.lower[s, k], inst.eta0[s]), bounds.most[s, k]
            if mode == DYNAMIC_MAX:  # the sets hold for all rounds at once, so the best ever seen is valid
                low = max(low, levels.low_of[s, k])
                most = levels.most_of[s, k] = min(most, levels.most_of[s, k])
            levels.low_of[s, k] = low
            lowest = min(lowest, low)
            if optimistic or mode == DYNAMIC_MAX:
                high = level_at(bounds.upper[s, k], inst.eta0[s])
                if mode == DYNAMIC_MAX:
                    high = levels.high_of[s, k] = min(high, levels.high_of[s, k])
                highest = min(highest, high)
            claimed = max(low, inst.dial.gamma0[k]) if mode == DYNAMIC_MAX else inst.dial.gamma0[k]
            agree = agree and may_be_safe(most, claimed, inst.eta0[s])
        levels.low[k] = max(inst.dial.gamma0[k], round_down(inst.dial.grid, lowest))
        if optimistic:
            levels.high[k] = max(levels.low[k], round_down(inst.dial.grid, highest))
    levels.frozen[0] = 1
    return agree


@thin
def may_be_safe(bound: float, level: float, eta0: float) -> bool:
    """Whether a signal of at most `bound` per unit level can keep its limit at this level."""
    return level * bound >= eta0 * (1.0 + CROSSING)


@kernel
def known_levels_hold(inst: Instance, bounds: Bounds) -> bool:
    """Whether the bounds still allow that every arm is safe at its known level, as was promised."""
    hold = True
    for s in range(len(inst.eta0)):
        for k in range(len(inst.dial.gamma0)):
            hold = hold and may_be_safe(bounds.most[s, k], inst.dial.gamma0[k], inst.eta0[s])
    return hold


@kernel
def level_at(bound: float, eta0: float) -> float:
    """The largest level at which a signal of `bound` per unit level stays above eta0 < 0.              (S2, S3)"""
    if bound >= eta0:
        return 1.0
    return eta0 / bound if bound < eta0 else 0.0  # not a number: certify nothing


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


@kernel
def reachable(dial: Dial, levels: Levels, reach: Vector) -> None:
    """The level at which each arm may be pulled now: certified, and not too large a step.                   (S4)"""
    for k in range(len(levels.low)):
        reach[k] = stepped(dial, levels, k, levels.low[k])


@kernel
def stepped(dial: Dial, levels: Levels, k: int, level: float) -> float:
    """The level, or as much of it as one step from the arm's last level allows (its known level, before any pull)."""
    allowed = levels.last[k] + dial.step
    if level <= allowed:
        return level
    lowered = round_down(dial.grid, allowed)
    return lowered if lowered > 0.0 or len(dial.grid) == 0 else dial.grid[0]


@thin
def fix_at_ceiling(dial: Dial, levels: Levels, reach: Vector) -> None:
    """Every arm at the top of its dial, safe or not: the levels of a policy that knows no limits."""
    for k in range(len(levels.low)):
        levels.low[k] = levels.high[k] = reach[k] = dial.ceiling[k]
