"""Tracking: pulls that keep up with shares which change from round to round.                                (F4)

A decision may be asked for more than once in a round, and what is remembered must move on once. So the arm of a round
is kept, and found again.
"""

from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from surefoot.core.estimate import Estimate
from surefoot.core.kernel import kernel, thin
from surefoot.core.levels import can_be_tried, tried_arms
from surefoot.core.types import NULL, ROUND, Indices, Instance, Vector

ONCE = 1.0 - 1e-9  # of a pull at full level: what applied levels may fall short by rounding


class Chosen(NamedTuple):
    """What was chosen in the round that was decided last."""

    round: Indices  # (1,) 1 + its number
    arm: Indices  # (1,)


def new_chosen() -> Chosen:
    """Nothing yet."""
    return Chosen(np.zeros(1, np.int64), np.zeros(1, np.int64))


@thin
def is_chosen(chosen: Chosen, clock: Indices) -> bool:
    """Whether the arm of this round is known."""
    return bool(chosen.round[0] == clock[ROUND] + 1)


@thin
def choose(chosen: Chosen, clock: Indices, k: int) -> None:
    """Keeps the arm of this round."""
    chosen.round[0], chosen.arm[0] = clock[ROUND] + 1, k


@kernel
def untried(estimate: Estimate, reach: Vector) -> int:
    """The first arm without a pull's worth of information; NULL if there is none."""
    found = NULL
    for k in range(len(reach)):
        if found == NULL and estimate.N[k] < ONCE * reach[k] * reach[k]:
            found = k
    return found


@kernel
def begin_even(inst: Instance, own: Any) -> None:
    """The same share for every arm that can be tried, for a policy whose own memory has shares."""
    each = 1.0 / tried_arms(inst.dial)
    for k in range(len(own.shares)):
        own.shares[k] = each if can_be_tried(inst.dial, k) else 0.0


@kernel
def owed(due: Vector, given: Vector) -> int:
    """Where most is due beyond what was given, the first on ties: cumulative tracking.                      (F4)"""
    best = 0
    for k in range(1, len(due)):
        best = k if due[k] - given[k] > due[best] - given[best] else best
    return best


@thin
def is_square(n: int) -> bool:
    """Whether the whole number is the square of one."""
    root = int(sqrt(float(n)) + 0.5)
    return root * root == n
