"""Safe levels: how far up each dial may be turned.                                                          (S)"""

from math import inf

from surefoot.core.confidence import arm_width, open_set
from surefoot.core.kernel import kernel
from surefoot.core.types import FROZEN, Instance, State, Vector, Work

STATIC, DYNAMIC, DYNAMIC_MAX = 0, 1, 2
CROSSING = 1e-9  # levels that cross by more than rounding prove the confidence event wrong


@kernel
def certify(inst: Instance, state: State, work: Work, mode: int, optimistic: bool) -> bool:
    """The certified level of every arm, and the optimistic one if asked for, by the bounds in `work`.   (S2, S3)

    False if the bounds contradict each other or a level that was said to be safe.
    """
    if mode == STATIC and state.clock[FROZEN] == 1:
        return known_levels_hold(inst, work)
    agree = True
    for k in range(len(state.low)):
        lowest, highest = inst.ceiling[k], inst.ceiling[k]
        for s in range(len(inst.eta0)):
            low = level_at(work.lower[s, k], inst.eta0[s])
            agree = agree and may_be_safe(work.upper[s, k], inst.gamma0[k], inst.eta0[s])
            if mode == DYNAMIC_MAX:  # the sets hold for all rounds at once, so the best ever seen is valid
                low = max(low, state.low_of[s, k])
            state.low_of[s, k] = low
            lowest = min(lowest, low)
            if optimistic or mode == DYNAMIC_MAX:
                high = level_at(work.upper[s, k], inst.eta0[s])
                if mode == DYNAMIC_MAX:
                    high = state.high_of[s, k] = min(high, state.high_of[s, k])
                    agree = agree and low <= high + CROSSING
                highest = min(highest, high)
        state.low[k] = max(inst.gamma0[k], round_down(inst.grid, lowest))
        if optimistic:
            state.high[k] = max(state.low[k], round_down(inst.grid, highest))
    state.clock[FROZEN] = 1
    return agree


@kernel
def may_be_safe(bound: float, level: float, eta0: float) -> bool:
    """Whether a signal of at most `bound` per unit level can keep its limit at this level."""
    return level * bound >= eta0 * (1.0 + CROSSING)


@kernel
def known_levels_hold(inst: Instance, work: Work) -> bool:
    """Whether the bounds still allow that every arm is safe at its known level, as was promised."""
    hold = True
    for s in range(len(inst.eta0)):
        for k in range(len(inst.gamma0)):
            hold = hold and may_be_safe(work.upper[s, k], inst.gamma0[k], inst.eta0[s])
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
def reach(inst: Instance, state: State, work: Work) -> None:
    """The level at which each arm may be pulled now: certified, and not too large a step.                   (S4)"""
    for k in range(len(state.low)):
        work.reach[k] = stepped(inst, state, k, state.low[k])


@kernel
def stepped(inst: Instance, state: State, k: int, level: float) -> float:
    """The level, or as much of it as one step from the arm's last level allows (its known level, before any pull)."""
    allowed = state.last[k] + inst.step
    if level <= allowed:
        return level
    lowered = round_down(inst.grid, allowed)
    return lowered if lowered > 0.0 or len(inst.grid) == 0 else inst.grid[0]


@kernel
def fix_at_ceiling(inst: Instance, state: State, work: Work) -> None:
    """Every arm at the top of its dial, safe or not: the levels of a policy that knows no limits."""
    for k in range(len(state.low)):
        state.low[k] = state.high[k] = work.reach[k] = inst.ceiling[k]


@kernel
def margin(inst: Instance, state: State, k: int, level: float) -> float:
    """The certified distance to the nearest limit when arm k is pulled at this level, in units of the signal.

    The better of what today's set says and of what follows from the level that was certified, maybe in an earlier
    round: a signal that keeps its limit at level l is at least eta0 * level / l here. A level known to be safe in
    advance has a margin of at least 0 whatever the sets say.
    """
    smallest = inf
    for s in range(1, len(inst.R)):
        eta0, certified = inst.eta0[s - 1], state.low_of[s - 1, k]
        distance = level * (state.est[s, k] - arm_width(state, open_set(inst, state, s), k)) - eta0
        if level <= certified:
            distance = max(distance, eta0 * (level / certified - 1.0))
        smallest = min(smallest, distance)
    return max(smallest, 0.0) if level <= inst.gamma0[k] else smallest
