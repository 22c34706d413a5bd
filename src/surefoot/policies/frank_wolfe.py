"""Frank-Wolfe sampling: the shares climb, one step a round, what they are worth against the nearest alternative.

start     every arm once
leader    the best arm by theta_hat                                                        (G1)
step      evenly over the arms when t/K is a square; else towards the arms that raise
          what the shares are worth, against all rivals that are nearest up to r_t         (F1)
pull      the arm with the fewest pulls for its share
stop      by the printed threshold, by that of Kaufmann and Koolen, or by our sets         (F5-F7)

Wang, Tzeng, Proutiere: Fast pure exploration via Frank-Wolfe, NeurIPS 2021. Limits play no part.
"""

from dataclasses import dataclass
from math import inf
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from surefoot.core.kernel import kernel, rare
from surefoot.core.levels import fix_at_ceiling, tried_arms
from surefoot.core.logarithm import exp, log
from surefoot.core.match import Match, best_reply, meet, moves, new_match
from surefoot.core.parts import bound_leads
from surefoot.core.pulls import reached
from surefoot.core.race import find_leader, find_race, verdict
from surefoot.core.state import State, Work
from surefoot.core.tracking import Chosen, begin_even, choose, is_chosen, is_square, new_chosen, untried
from surefoot.core.types import DECIDING, EXPLORING, NULL, PULL, ROUND, Decision, Instance, Matrix, Nothing, Vector
from surefoot.policies import stopping
from surefoot.policies.options import option
from surefoot.policies.protocol import Plan
from surefoot.policies.stopping import OfTheField
from surefoot.problem import Problem

Stop = Literal["own", "theorem", "ours"]
STOPS = {"own": stopping.LOG_LOG, "theorem": stopping.BY_COUNTS, "ours": stopping.OURS}
MOST_NEAR = 8  # rivals that are climbed against together
REPLIES = 200  # in the little game against them: its value is then off by a few per cent of the payoffs


class Own(NamedTuple):
    """What the steps remember."""

    chosen: Chosen
    shares: Vector  # (K,) x(t)
    step: Vector  # (K,) z(t)
    slopes: Matrix  # (near, K) of what the shares are worth against each near rival
    by_arm: Vector  # (K,) room: payoffs of each arm so far
    by_rival: Vector  # (near,) room: payoffs of each rival so far
    match: Match


@kernel
def decide(inst: Instance, rules: Nothing, state: State, work: Work, seed: int, run: int) -> Decision:
    """The pull of round t + 1, or the decision to stop."""
    fix_at_ceiling(inst.dial, state.levels, work.reach)
    k = untried(state.estimate, work.reach)
    if k != NULL:
        return Decision(PULL, EXPLORING, k, work.reach[k], NULL, 0.0, NULL, inf)
    i, level_i = find_leader(state, work, False)  # (G1)
    bound_leads(inst, state, work, i, level_i, False)
    race = find_race(state, work, i, level_i, False, False)  # (G2)
    status, k = verdict(inst, state, race, True), 0  # (G3, F5)
    if status == PULL:
        k = climb(inst, state, work, state.own, i)
    return Decision(status, DECIDING, k, work.reach[k], race.leader, race.leader_level, race.challenger, race.gap)


@kernel
def climb(inst: Instance, state: State, work: Work, own: Own, i: int) -> int:
    """The arm to pull with arm i in the lead; the shares take one step in a round.                          (F1)"""
    if not is_chosen(own.chosen, state.clock):
        K, t = len(work.reach), state.clock[ROUND]
        arms = tried_arms(inst.dial)
        even = is_square(t // arms) or not towards_nearest(inst, state, work, own, i)
        share = 1.0 / float(t)
        best = reached(work.reach, 0)
        for k in range(K):
            step = (1.0 / arms if work.reach[k] > 0.0 else 0.0) if even else own.step[k]
            own.shares[k] = (1.0 - share) * own.shares[k] + share * step
            ahead = own.shares[k] * state.estimate.pulls[best] > own.shares[best] * state.estimate.pulls[k]
            best = k if ahead else best
        choose(own.chosen, state.clock, best)
    return int(own.chosen.arm[0])


@kernel
def towards_nearest(inst: Instance, state: State, work: Work, own: Own, i: int) -> bool:
    """Whether there is anybody to climb against; then own.step holds where to. Rivals within r_t = t^-0.9 / K of the
    nearest count as near.                                                                                   (F1)"""
    match, K = own.match, len(work.reach)
    nearest = meet(inst, state, match, own.shares, work.reach, i)
    if nearest == NULL or match.worth[nearest] <= 0.0:
        return False
    within = match.worth[nearest] + exp(-0.9 * log(float(state.clock[ROUND]))) / K
    near = 0
    for j in range(K):
        if match.worth[j] < within and near < len(own.slopes):
            moves(inst, state, match, work.reach, i, j)
            for k in range(K):
                own.slopes[near, k] = 0.5 * match.move[k] * match.move[k]
            near += 1
    if near > 1:
        answer_all(own, work.reach, near)
        return True
    moves(inst, state, match, work.reach, i, nearest)
    best = best_reply(match, work.reach)
    for k in range(K):
        own.step[k] = 1.0 if k == best else 0.0
    return True


@rare
def answer_all(own: Own, reach: Vector, near: int) -> None:
    """The shares of arms that gain most against all near rivals at once, into own.step: arms and rivals reply to what
    the other side has done so far (fictitious play), since compiled code cannot call a linear program."""
    K = len(own.step)
    for k in range(K):
        own.step[k] = own.by_arm[k] = 0.0
    for j in range(near):
        own.by_rival[j] = 0.0
        for k in range(K):  # a step of length one in z loses what the shares have
            own.by_rival[j] -= REPLIES * own.shares[k] * own.slopes[j, k]
    for _ in range(REPLIES):
        rival = 0
        for j in range(1, near):
            rival = j if own.by_rival[j] < own.by_rival[rival] else rival
        best = reached(reach, 0)
        for k in range(K):
            own.by_arm[k] += own.slopes[rival, k]
            best = k if own.by_arm[k] > own.by_arm[best] else best
        own.step[best] += 1.0 / REPLIES
        for j in range(near):
            own.by_rival[j] += own.slopes[j, best]


@dataclass(frozen=True)
class FrankWolfe(OfTheField):
    """Shares of pulls that climb by Frank-Wolfe steps against the nearest alternative; limits ignored."""

    name: ClassVar[str] = "frank-wolfe"
    version: ClassVar[int] = 1
    stops: ClassVar = STOPS
    stop: Stop = option(
        "own", "When it stops: own (log((1 + log t)/delta), unproved), theorem (Kaufmann and Koolen's) or ours.", STOPS
    )

    def plan(self, problem: Problem) -> Plan:
        """The sets of the stopping rule, and even shares to begin with."""
        found, (K, d) = self.stopping(problem), problem.features.shape
        near = min(K, MOST_NEAR)
        own = Own(
            new_chosen(), np.zeros(K), np.zeros(K), np.zeros((near, K)), np.zeros(K), np.zeros(near), new_match(K, d)
        )
        return Plan(decide, Nothing(), found.grams, found.sets, own=own, begin_own=begin_even, candidates=True)
