"""SafeGap: the whole promise (b) with as few pulls as we know how; the policy for whoever names none.

sets      ellipsoids, cut by one-dimensional mixtures aimed at each question     (C1, C5, C6)
levels    certified for pulling, optimistic for competing; the best ever seen    (S1-S4)
leader    the best certified pull by theta_hat, or doing nothing                 (G1)
rival     whoever might beat it by most at the optimistic level: another arm,
          the null pull, or the leader itself while its own level is unlearned   (G2)
stop      when that is at most epsilon                                           (G3)
pull      what narrows the gap most, by reward and by levels together            (G7)

delta pays for the reward and for the optimistic levels, so the promise holds with probability 1 - delta and does not
lean on delta_safety, which pays for the certified levels alone.
"""

from dataclasses import dataclass
from functools import cache
from typing import ClassVar, NamedTuple

import numpy as np

from surefoot.core.kernel import kernel
from surefoot.core.levels import DYNAMIC_MAX, certify, reach
from surefoot.core.play import Engine, engine_of
from surefoot.core.pulls import decisive_pull
from surefoot.core.race import find_leader, find_race, verdict
from surefoot.core.types import DECIDING, FAR, NEAR, PULL, Decision, Instance, State, Work
from surefoot.policies import options
from surefoot.problem import Problem
from surefoot.sets import mixtures
from surefoot.sets.directional import bound_leads_by_aims, bound_safety_by_aims, remember_race

# Shares of delta: (reward ellipsoid) + (optimistic levels) + (the rest, for the aim at the truly best arm).
REWARD_ELLIPSOID, OPTIMISTIC_LEVELS = 0.05, 0.1
FAR_SHARE = 0.1  # of an aim's error, for differences much larger than epsilon
# Share of delta_safety, and of what is set aside for optimistic levels, that goes to the safety ellipsoids.
SAFETY_ELLIPSOID = 0.2


class Rules(NamedTuple):
    """SafeGap has no options; compiled code cannot take an empty tuple."""

    null_pull: bool


@kernel
def decide(inst: Instance, rules: Rules, state: State, work: Work, seed: int, run: int) -> Decision:
    """The pull of round t + 1, or the decision to stop."""
    bound_safety_by_aims(inst, state, work)  # (S1)
    sets_agree = certify(inst, state, work, DYNAMIC_MAX, True)  # (S2, S3)
    i, level_i = find_leader(state, rules.null_pull)  # (G1)
    bound_leads_by_aims(inst, state, work, i, level_i)
    race = find_race(inst, state, work, i, level_i, True, rules.null_pull)  # (G2)
    remember_race(state, race.leader, race.challenger)
    status = verdict(inst, state, race, sets_agree)  # (G3)
    k, level = 0, 0.0
    if status == PULL:
        reach(inst, state, work)  # (S4)
        k = decisive_pull(inst, state, work, race)  # (G7)
        level = work.reach[k]
    return Decision(status, DECIDING, k, level, race.leader, race.leader_level, race.challenger, race.gap)


@cache
def engine() -> Engine:
    """The compiled parts."""
    return engine_of("safe_gap", decide)


@dataclass(frozen=True)
class SafeGap:
    """No pull above the certified level; stops when the answer is within epsilon of the best safe option."""

    name: ClassVar[str] = "safe-gap"
    keeps_limits: ClassVar[bool] = True
    delta_covers_levels: ClassVar[bool] = True
    selection: ClassVar[str] = "optimistic"
    null_pull: ClassVar[bool] = True

    def engine(self) -> Engine:
        """The compiled parts."""
        return engine()

    def instance(self, problem: Problem) -> Instance:
        """The problem with SafeGap's confidence sets and its split of delta and delta_safety."""
        plain = options.instance_of(problem, "squared-sum", "squared-sum")
        (K, _), m = plain.X.shape, len(plain.eta0)
        levels = problem.delta * OPTIMISTIC_LEVELS / m
        certified = problem.delta_safety / m
        low = np.array([problem.delta * REWARD_ELLIPSOID] + [certified * SAFETY_ELLIPSOID] * m)
        high = np.array([problem.delta * REWARD_ELLIPSOID] + [levels * SAFETY_ELLIPSOID] * m)
        near, far = reward_boundaries(problem)
        boundary = np.array(plain.boundary)
        boundary[NEAR], boundary[FAR] = near, far
        for s, information in enumerate(mixtures.planned_information(problem)):
            if s > 0:  # any arm may be pulled too high, but only the best arm's optimistic level must hold
                too_high = certified * (1.0 - SAFETY_ELLIPSOID) / K
                boundary[2 * s] = mixtures.half_normal(too_high, plain.R[s], information)
                boundary[2 * s + 1] = mixtures.half_normal(levels * (1.0 - SAFETY_ELLIPSOID), plain.R[s], information)
        return plain._replace(
            log_inv_delta=-np.log(low),
            log_inv_delta_high=-np.log(high),
            boundary=boundary,
            switch=mixtures.crossing(near, far, plain.R[0]),
            aims=1 + K + m * K,
        )

    def rules(self, problem: Problem, inst: Instance) -> Rules:
        """The options as the compiled code reads them."""
        return Rules(null_pull=True)


def reward_boundaries(problem: Problem) -> tuple[mixtures.Boundary, mixtures.Boundary]:
    """NEAR, for differences of a few epsilon, and FAR, for larger ones.                                     (C7)"""
    alpha = problem.delta * (1.0 - REWARD_ELLIPSOID - OPTIMISTIC_LEVELS)
    R, epsilon = problem.reward.noise, mixtures.finest_difference(problem)
    near = mixtures.boundary(alpha * (1.0 - FAR_SHARE), R, centre=2.0 * epsilon / R**2, spread=epsilon / R**2)
    planned = mixtures.planned_information(problem)[0]
    return near, mixtures.half_normal(alpha * FAR_SHARE, R, options.PRIOR * planned)
