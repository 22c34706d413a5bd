"""The norms of a problem, for whoever leans on them: one that is not stated is asked for by name."""

import numpy as np

from surefoot.errors import ABSENT, InvalidInput
from surefoot.problem.checks import Floats
from surefoot.problem.problem import Problem

REMEDY = "State norm = a bound on the length of its weights that is certainly true, or use SafeGap, which needs none."


def norms_of(problem: Problem) -> Floats:
    """The bound on the weights of the reward and of each limit."""
    stated = [("reward.norm", problem.reward.norm)]
    stated += [(f"safety[{limit.name!r}].norm", limit.norm) for limit in problem.safety]
    found = []
    for field, norm in stated:
        if norm is None:
            raise InvalidInput(field, ABSENT, "is not stated, and what is asked for leans on it", REMEDY)
        found.append(norm)
    return np.array(found)
