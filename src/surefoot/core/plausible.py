"""What a pull may return: the means that the problem and the results so far still allow.                     (E6)"""

from math import inf

from surefoot.core.estimate import arm_width
from surefoot.core.kernel import rare
from surefoot.core.parts import ball_of, bound_safety, noise_of
from surefoot.core.state import State, Work
from surefoot.core.types import Instance, Vector


def expect(
    inst: Instance, state: State, work: Work, k: int, level: float, low: Vector, high: Vector, noise: Vector
) -> None:  # fmt: skip
    """The lowest and the highest mean of every signal when arm k is pulled at this level, and the size of its noise
    at most.                                                                                                 (E6)

    A template, as the loops are; nothing is changed but the bounds in `work`, which every decision computes anew.
    """
    bound_safety(inst, state, work)
    for s in range(len(inst.R)):
        narrow(inst, state, work, s, k, level, low, high)
        noise[s] = noise_of(inst, state, s)


@rare
def narrow(
    inst: Instance, state: State, work: Work, s: int, k: int, level: float, low: Vector, high: Vector
) -> None:  # fmt: skip
    """The means of signal s: by its ellipsoid and, where it is about safety, by its bounds and the known level.  (E6)

    An ellipsoid that is infinite says nothing. Statements that contradict each other leave all that lies between
    them: that they do is for the policy to say.
    """
    lowest, highest = -inf, inf
    width, middle = arm_width(state.estimate, ball_of(inst, state, s), k), state.estimate.est[s, k]
    if width < inf and abs(middle) < inf:
        lowest, highest = middle - width, middle + width
    if s > 0:
        lower, upper = work.bounds.lower[s - 1, k], work.bounds.upper[s - 1, k]
        known = (inst.eta0[s - 1] - inst.within[s]) / inst.dial.gamma0[
            k
        ]  # what is safe at the known level is at least this at full
        lowest = lower if lower > lowest else lowest  # what is not a number says nothing
        highest = upper if upper < highest else highest
        lowest = known if known > lowest else lowest
    if lowest > highest:
        lowest, highest = highest, lowest
    low[s] = level * lowest - inst.within[s] if level > 0.0 else 0.0
    high[s] = level * highest + inst.within[s] if level > 0.0 else 0.0
