"""LinGame: the shares of pulls play against nature, who answers with the nearest truth in which the leader loses.

start     every arm once
leader    the best arm by theta_hat                                                        (G1)
shares    exponential weights of the leader's own learner                                  (F3)
nature    the nearest alternative to these shares                                          (F1)
reward    what each pull would tell against it, as it may be at best                       (F2)
pull      the arm whose shares so far are furthest ahead of its pulls                      (F4)
stop      by the printed threshold, by that of the theorem, or by our sets                 (F5-F7)

Degenne, Menard, Shang, Valko: Gamification of pure exploration for linear bandits, ICML 2020. Limits play no part.
"""

from dataclasses import dataclass
from math import inf
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from surefoot.core.estimate import diagonal
from surefoot.core.hedge import Hedge, new_hedge, rewarded, spread
from surefoot.core.kernel import kernel
from surefoot.core.levels import can_be_tried, fix_at_ceiling
from surefoot.core.logarithm import log
from surefoot.core.match import Match, hoped, meet, moves, new_match
from surefoot.core.parts import bound_leads
from surefoot.core.race import find_leader, find_race, verdict
from surefoot.core.state import State, Work
from surefoot.core.tracking import Chosen, choose, is_chosen, new_chosen, owed, untried
from surefoot.core.types import DECIDING, EXPLORING, NULL, PULL, ROUND, Decision, Instance, Nothing, Vector
from surefoot.policies import stopping
from surefoot.policies.options import option
from surefoot.policies.protocol import Plan
from surefoot.policies.stopping import OfTheField
from surefoot.problem import Problem

Stop = Literal["own", "theorem", "ours"]
STOPS = {"own": stopping.LOG_LOG, "theorem": stopping.BY_DETERMINANT, "ours": stopping.OURS}


class Own(NamedTuple):
    """What the game remembers."""

    chosen: Chosen
    hedge: Hedge  # a learner for each leader
    due: Vector  # (K,) sums of shares
    given: Vector  # (K,) pulls
    match: Match
    gains: Vector  # (K,)


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
        k = play_round(inst, state, work, state.own, i)
    return Decision(status, DECIDING, k, work.reach[k], race.leader, race.leader_level, race.challenger, race.gap)


@kernel
def play_round(inst: Instance, state: State, work: Work, own: Own, i: int) -> int:
    """The arm to pull with arm i in the lead; the learner moves on once in a round.                     (F1-F4)"""
    if not is_chosen(own.chosen, state.clock):
        reach, match, shares = work.reach, own.match, own.hedge.shares
        spread(own.hedge, i)
        for k in range(len(reach)):
            own.due[k] += shares[k]
            own.given[k] = float(state.estimate.pulls[k]) if reach[k] > 0.0 else inf
        j = meet(inst, state, match, shares, reach, i)
        if j != NULL:
            moves(inst, state, match, reach, i, j)
            v, log_t = diagonal(state.estimate, inst.gram_of[0]), log(float(state.clock[ROUND]))
            for k in range(len(reach)):
                own.gains[k] = hoped(match.move[k], reach[k] * reach[k] * max(v[k], 0.0), log_t)
            rewarded(own.hedge, i, own.gains)
        choose(own.chosen, state.clock, owed(own.due, own.given))
    return int(own.chosen.arm[0])


@kernel
def begin(inst: Instance, own: Own) -> None:
    """What cannot be tried is no choice."""
    for k in range(len(own.due)):
        own.hedge.closed[k] = 0 if can_be_tried(inst.dial, k) else 1


@dataclass(frozen=True)
class LinGame(OfTheField):
    """A game of exponential weights for each leader against the nearest alternative; limits ignored."""

    name: ClassVar[str] = "lingame"
    version: ClassVar[int] = 1
    stops: ClassVar = STOPS
    stop: Stop = option(
        "own", "When it stops: own (log((1 + log t)/delta), unproved), theorem (its ellipsoid) or ours.", STOPS
    )

    def plan(self, problem: Problem) -> Plan:
        """The sets of the stopping rule, and a learner for each leader."""
        found, (K, d) = self.stopping(problem), problem.features.shape
        own = Own(new_chosen(), new_hedge(K, K), np.zeros(K), np.zeros(K), new_match(K, d), np.zeros(K))
        return Plan(decide, Nothing(), found.grams, found.sets, own=own, begin_own=begin, candidates=True)
