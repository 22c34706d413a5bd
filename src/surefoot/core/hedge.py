"""Exponential weights that set their own rate (AdaHedge): shares for whoever was rewarded most so far.        (F3)

The rate is log(n) / loss, where `loss` is how much the shares fell short of the rate's own soft maximum up to now.
"""

from typing import NamedTuple

import numpy as np

from surefoot.core.kernel import kernel
from surefoot.core.logarithm import exp, log
from surefoot.core.types import Indices, Matrix, Vector

FIRST = 0.01  # the loss at the beginning: the first rewards may turn the shares at once
LEAST = 1e-300  # of a sum that is divided by, or whose logarithm is taken


class Hedge(NamedTuple):
    """One learner in each row."""

    reward: Matrix  # (m, n) sums
    loss: Vector  # (m,) beyond FIRST
    shares: Vector  # (n,) of the learner that was asked last
    closed: Indices  # (n,) 1 for what is no choice: it never has a share


def new_hedge(learners: int, choices: int) -> Hedge:
    """Learners that have seen nothing."""
    return Hedge(np.zeros((learners, choices)), np.zeros(learners), np.zeros(choices), np.zeros(choices, np.int64))


@kernel
def choices(hedge: Hedge) -> int:
    """Among how many the learners choose."""
    count = 0
    for k in range(len(hedge.closed)):
        count += 1 - hedge.closed[k]
    return count


@kernel
def spread(hedge: Hedge, i: int) -> None:
    """The shares of learner i, into hedge.shares.                                                           (F3)"""
    reward, shares = hedge.reward[i], hedge.shares
    n = len(shares)
    rate = log(float(choices(hedge))) / (FIRST + hedge.loss[i])
    most = reward[0]
    for k in range(1, n):
        most = reward[k] if reward[k] > most else most
    total = 0.0
    for k in range(n):
        shares[k] = exp(rate * (reward[k] - most)) if hedge.closed[k] == 0 else 0.0
        total += shares[k]
    for k in range(n):
        shares[k] /= total


@kernel
def rewarded(hedge: Hedge, i: int, gains: Vector) -> None:
    """Learner i after these gains, with the shares that it gave last.                                       (F3)"""
    reward, shares = hedge.reward[i], hedge.shares
    n, open_ones = len(shares), choices(hedge)
    rate = log(float(open_ones)) / (FIRST + hedge.loss[i])
    most, mean = gains[0], 0.0
    for k in range(n):
        most = gains[k] if gains[k] > most else most
        mean += shares[k] * gains[k]
    soft = 0.0
    for k in range(n):
        soft += shares[k] * exp(rate * (gains[k] - most))
        reward[k] += gains[k]
    if open_ones > 1:
        hedge.loss[i] += max(most + log(max(soft, LEAST)) / rate - mean, 0.0)
