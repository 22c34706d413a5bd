"""LinGame-C: LinGame with one learner for all leaders, whose shares are of pairs: a leader and an arm to pull.

start     every arm once
shares    exponential weights over all pairs                                               (F3)
nature    the nearest alternative to the leader's own row; other rows need none            (F1)
reward    what each pull would tell against it, as it may be at best                       (F2)
pull      the arm of the pair whose shares so far are furthest ahead of its pulls          (F4)
stop      by the printed threshold, by that of the theorem, or by our sets                 (F5-F7)

Degenne, Menard, Shang, Valko: Gamification of pure exploration for linear bandits, ICML 2020. Limits play no part.
"""

from dataclasses import dataclass
from math import inf
from typing import ClassVar, NamedTuple

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
from surefoot.policies.lingame import STOPS, Stop
from surefoot.policies.options import option
from surefoot.policies.protocol import Plan
from surefoot.policies.stopping import OfTheField
from surefoot.problem import Problem


class Own(NamedTuple):
    """What the game remembers; pair i K + k is arm k while arm i leads."""

    chosen: Chosen
    hedge: Hedge  # one learner
    due: Vector  # (K^2,) sums of shares
    given: Vector  # (K^2,) pulls
    row: Vector  # (K,) the leader's shares, of its row
    match: Match
    gains: Vector  # (K^2,)


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
        K = len(reach)
        spread(own.hedge, 0)
        total = 0.0
        for k in range(K):
            total += shares[i * K + k]
        for k in range(K):
            own.row[k] = shares[i * K + k] / total if total > 0.0 else 1.0 / K  # at level 0 it says nothing
        for pair in range(K * K):
            own.due[pair] += shares[pair]
        j = meet(inst, state, match, own.row, reach, i)
        if j != NULL:
            moves(inst, state, match, reach, i, j)
            v, log_t = diagonal(state.estimate, inst.gram_of[0]), log(float(state.clock[ROUND]))
            for pair in range(K * K):
                k = pair % K
                move = match.move[k] if pair // K == i else 0.0  # where another leads, the estimate is an alternative
                own.gains[pair] = hoped(move, reach[k] * reach[k] * max(v[k], 0.0), log_t)
            rewarded(own.hedge, 0, own.gains)
        best = owed(own.due, own.given)
        own.given[best] += 1.0
        choose(own.chosen, state.clock, best % K)
    return int(own.chosen.arm[0])


@kernel
def begin(inst: Instance, own: Own) -> None:
    """What cannot be tried is no choice, whoever leads."""
    K = len(own.row)
    for pair in range(len(own.due)):
        if not can_be_tried(inst.dial, pair % K):
            own.hedge.closed[pair], own.given[pair] = 1, inf


@dataclass(frozen=True)
class LinGameC(OfTheField):
    """One game of exponential weights over leaders and arms against the nearest alternative; limits ignored."""

    name: ClassVar[str] = "lingame-c"
    version: ClassVar[int] = 1
    stops: ClassVar = STOPS
    stop: Stop = option(
        "own", "When it stops: own (log((1 + log t)/delta), unproved), theorem (its ellipsoid) or ours.", STOPS
    )

    def plan(self, problem: Problem) -> Plan:
        """The sets of the stopping rule, and one learner over all pairs."""
        found, (K, d) = self.stopping(problem), problem.features.shape
        own = Own(
            new_chosen(), new_hedge(1, K * K), np.zeros(K * K), np.zeros(K * K), np.zeros(K), new_match(K, d),
            np.zeros(K * K),
        )  # fmt: skip
        return Plan(decide, Nothing(), found.grams, found.sets, own=own, begin_own=begin, candidates=True)
