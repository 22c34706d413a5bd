"""A confidence set from outside: the plain mean of an arm's own readings, with a bound for each number of pulls.

After n pulls of an arm the sum of their noise is below R sqrt(2 n log(2 n (n + 1) / alpha)) on both sides with
probability 1 - alpha / (n (n + 1)), which sums to alpha over all n. It cuts the safety bounds of the arms; it remembers
what it needs itself: the sum of levels and the sum of readings of each arm.
"""

from dataclasses import dataclass
from math import log, sqrt
from typing import Any, ClassVar, NamedTuple

import numpy as np

import surefoot as sf
from surefoot.building import ConfidenceSet, Grams, Plan, linked, sets_for


class Params(NamedTuple):
    log_inv_alpha: float


class Memory(NamedTuple):
    levels: Any  # (K,) sum of the levels
    readings: Any  # (n, K) sum of the readings


@sf.kernel
def learn(inst: Any, params: Any, memory: Any, state: Any, k: int, gamma: float, observed: Any) -> None:
    memory.levels[k] += gamma
    for s in range(len(observed)):
        memory.readings[s, k] += observed[s]


@sf.kernel
def bound_safety(inst: Any, params: Any, memory: Any, state: Any, bounds: Any) -> None:
    for k in range(len(memory.levels)):
        n = state.estimate.pulls[k]
        if n > 0 and memory.levels[k] > 0.0:
            for s in range(1, len(inst.R)):
                width = inst.R[s] * sqrt(2.0 * n * (log(2.0 * n * (n + 1.0)) + params.log_inv_alpha))
                below = (memory.readings[s, k] - width) / memory.levels[k]
                above = (memory.readings[s, k] + width) / memory.levels[k]
                bounds.lower[s - 1, k] = max(bounds.lower[s - 1, k], below)
                bounds.upper[s - 1, k] = min(bounds.upper[s - 1, k], above)


def plain_mean(problem: sf.Problem, alpha: float) -> ConfidenceSet:
    """The set that fails with probability alpha at most, over all arms and limits."""
    K, m = problem.size, len(problem.safety)
    params = Params(float(np.log(K * m / alpha)))
    memory = Memory(np.zeros(K), np.zeros((1 + m, K)))
    return ConfidenceSet("plain-mean", 1, params, memory, bound_safety=bound_safety, learn=learn)


def build(problem: sf.Problem) -> tuple[Grams, ConfidenceSet]:
    """The ellipsoid with half of the error, cut by the plain means with the other half."""
    half = problem.delta_safety / 2
    grams, sets = sets_for(problem.with_(delta_safety=half), "determinant", "norm")
    return grams, linked(sets, plain_mean(problem, half))


@dataclass(frozen=True)
class WithPlainMeans(sf.SafeLinGapE):
    """Safe-LinGapE with these sets."""

    name: ClassVar[str] = "with-plain-means"
    version: ClassVar[int] = 1

    def plan(self, problem: sf.Problem) -> Plan:
        grams, sets = build(problem)
        return super().plan(problem)._replace(grams=grams, sets=sets)
