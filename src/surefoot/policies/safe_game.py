"""SafeGame: LinGame on certified pulls; nature may also move how far the dials of leader and rival go.

start       d pulls at known levels that span                                            (S0)
sets, levels, leader, rival, stop                       SafeGap's: the whole promise (b)
shares      exponential weights of the learner of whoever leads by the estimates         (F3)
nature      the nearest truth in which a rival wins, by its reward or by a level         (S7)
reward      what each certified pull would tell against it, as it may be at best         (F2)
pull        the arm whose shares so far are furthest ahead of its pulls, at its
            certified level, which grows while the game is played                    (F4, S4)
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from surefoot.core.estimate import diagonal
from surefoot.core.hedge import Hedge, new_hedge, rewarded, spread
from surefoot.core.kernel import kernel
from surefoot.core.levels import reachable
from surefoot.core.logarithm import log
from surefoot.core.match import hoped
from surefoot.core.safe_match import SafeMatch, find_levels, meet_safely, new_safe_match
from surefoot.core.state import State, Work
from surefoot.core.tracking import Chosen, choose, is_chosen, new_chosen, owed
from surefoot.core.types import EXPLORING, NULL, PULL, ROUND, Decision, Instance, Vector
from surefoot.policies.guarantee import Guarantee
from surefoot.policies.protocol import Plan
from surefoot.policies.safe_gap import Rules, SafeGap, contest, exploring
from surefoot.problem import Problem


class Own(NamedTuple):
    """What the game remembers."""

    chosen: Chosen
    hedge: Hedge  # a learner for each leader, and last for doing nothing
    due: Vector  # (K,) sums of shares
    given: Vector  # (K,) pulls
    match: SafeMatch
    gains: Vector  # (K,)


@kernel
def decide(inst: Instance, rules: Rules, state: State, work: Work, seed: int, run: int) -> Decision:
    """The pull of round t + 1, or the decision to stop."""
    status, phase, race = contest(inst, state, work, rules.null_pull)
    if phase == EXPLORING:
        return exploring(inst, state, work)
    k, level = 0, 0.0
    if status == PULL:
        reachable(inst.dial, state.levels, work.reach)  # (S4)
        k = play_round(inst, state, work, state.own)
        level = work.reach[k]
    return Decision(status, phase, k, level, race.leader, race.leader_level, race.challenger, race.gap)


@kernel
def play_round(inst: Instance, state: State, work: Work, own: Own) -> int:
    """The arm to pull; the learner moves on once in a round.                                     (S7, F2, F3, F4)"""
    if not is_chosen(own.chosen, state.clock):
        reach, match, shares, K = work.reach, own.match, own.hedge.shares, len(work.reach)
        i = find_levels(inst, state, match)
        row = i if i != NULL else K
        spread(own.hedge, row)
        for k in range(K):
            own.due[k] += shares[k]
            own.given[k] = float(state.estimate.pulls[k])
        if meet_safely(inst, state, match, shares, reach, i) != NULL:
            v, log_t = diagonal(state.estimate, inst.gram_of[0]), log(float(state.clock[ROUND]))
            for k in range(K):
                own.gains[k] = hoped(match.move[k], reach[k] * reach[k] * max(v[k], 0.0), log_t)
            rewarded(own.hedge, row, own.gains)
        choose(own.chosen, state.clock, owed(own.due, own.given))
    return int(own.chosen.arm[0])


@dataclass(frozen=True)
class SafeGame:
    """A game for the shares of certified pulls against nature, who moves rewards and levels; within epsilon."""

    name: ClassVar[str] = "safe-game"
    version: ClassVar[int] = 1

    def guarantee(self, problem: Problem) -> Guarantee:
        """The whole promise (b): SafeGap's proof does not ask why an arm was pulled."""
        return SafeGap().guarantee(problem)

    def plan(self, problem: Problem) -> Plan:
        """SafeGap's sets, and a learner for each leader."""
        plan, (K, d) = SafeGap().plan(problem), problem.features.shape
        own = Own(new_chosen(), new_hedge(K + 1, K), np.zeros(K), np.zeros(K), new_safe_match(K, d), np.zeros(K))
        return plan._replace(decide=decide, own=own, candidates=False, needs_limits=True)
