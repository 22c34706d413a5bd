"""The certified distance of a pull to the nearest limit.                                                    (S)"""

from math import inf

from surefoot.core.estimate import arm_width
from surefoot.core.kernel import rare
from surefoot.core.parts import ball_of
from surefoot.core.state import State
from surefoot.core.types import Instance


@rare
def margin(inst: Instance, state: State, k: int, level: float) -> float:
    """The certified distance to the nearest limit when arm k is pulled at this level, in units of the signal.

    The better of what today's ellipsoid says and of what follows from the level that was certified, maybe in an earlier
    round: a signal that keeps its limit at level l is at least eta0 * level / l here. A level known to be safe in
    advance has a margin of at least 0 whatever the sets say.
    """
    smallest = inf
    for s in range(1, len(inst.R)):
        eta0, certified = inst.eta0[s - 1] + inst.within[s], state.levels.low_of[s - 1, k]
        width = arm_width(state.estimate, ball_of(inst, state, s), k)
        distance = level * (state.estimate.est[s, k] - width) - eta0 if level > 0.0 else -inst.eta0[s - 1]
        if 0.0 < level <= certified:
            distance = max(distance, eta0 * (level / certified - 1.0))
        smallest = min(smallest, distance)
    return max(smallest, 0.0) if level <= inst.dial.gamma0[k] else smallest
