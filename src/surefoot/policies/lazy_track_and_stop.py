"""Lazy Track-and-Stop: the best shares for the estimate, found anew when the rounds have doubled, and tracked.

start     d arms that span                                                                 (S0)
leader    the best arm by theta_hat                                                        (G1)
shares    the best against the nearest alternative, at t = 1, 2, 4, 8, ...                 (F1)
pull      a spanning arm while some direction is known less than c sqrt(t); else the
          arm whose shares so far are furthest ahead of its pulls                          (F4)
stop      by the printed threshold, by its authors' heuristic, or by our sets              (F5, F8)

Jedra, Proutiere: Optimal best-arm identification in linear bandits, NeurIPS 2020. Limits play no part.
"""

from dataclasses import dataclass
from math import inf, sqrt
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from surefoot.core.kernel import kernel, rare, thin
from surefoot.core.levels import fix_at_ceiling
from surefoot.core.linear import add_information, cholesky, dot, fill_diagonal
from surefoot.core.match import Match, best_reply, meet, moves, new_match
from surefoot.core.parts import ball_of, bound_leads
from surefoot.core.race import find_leader, find_race, verdict
from surefoot.core.state import State, Work
from surefoot.core.tracking import Chosen, begin_even, choose, is_chosen, new_chosen, owed
from surefoot.core.types import DECIDING, EXPLORING, NULL, PULL, ROUND, Decision, Indices, Instance, Vector
from surefoot.policies import stopping
from surefoot.policies.options import option
from surefoot.policies.protocol import Plan
from surefoot.policies.stopping import OfTheField
from surefoot.problem import Problem

Stop = Literal["own", "heuristic", "ours"]
STOPS = {"own": stopping.LAZY, "heuristic": stopping.LAZY_HEURISTIC, "ours": stopping.OURS}
MOST_STEPS, CLOSE = 1000, 1e-3  # of the climb to the best shares: its authors' choice


class Rules(NamedTuple):
    """What is pulled while too little is known."""

    spanning: Indices  # (d,) arms
    least: float  # c: every direction is to be known c sqrt(t) at least


class Own(NamedTuple):
    """What tracking remembers."""

    chosen: Chosen
    doubled: Indices  # (1,) the round of the last climb
    turn: Indices  # (1,) how often a spanning arm was pulled because too little was known
    shares: Vector  # (K,)
    due: Vector  # (K,) sums of shares
    given: Vector  # (K,) pulls
    match: Match


@kernel
def decide(inst: Instance, rules: Rules, state: State, work: Work, seed: int, run: int) -> Decision:
    """The pull of round t + 1, or the decision to stop."""
    fix_at_ceiling(inst.dial, state.levels, work.reach)
    if not ball_of(inst, state, 0).radius < inf:  # nothing is known yet
        k = rules.spanning[state.clock[ROUND] % len(rules.spanning)]
        return Decision(PULL, EXPLORING, k, work.reach[k], NULL, 0.0, NULL, inf)
    i, level_i = find_leader(state, work, False)  # (G1)
    bound_leads(inst, state, work, i, level_i, False)
    race = find_race(state, work, i, level_i, False, False)  # (G2)
    status, k = verdict(inst, state, race, True), 0  # (G3, F5)
    if status == PULL:
        k = track(inst, rules, state, work, state.own, i)
    return Decision(status, DECIDING, k, work.reach[k], race.leader, race.leader_level, race.challenger, race.gap)


@kernel
def track(inst: Instance, rules: Rules, state: State, work: Work, own: Own, i: int) -> int:
    """The arm to pull with arm i in the lead; what is due moves on once in a round.                     (F1, F4)"""
    if not is_chosen(own.chosen, state.clock):
        t = state.clock[ROUND]
        if t >= 2 * own.doubled[0]:
            own.doubled[0] = power_below(t)
            climb(inst, state, work, own, i)
        for k in range(len(own.due)):
            own.due[k] += own.shares[k]
            own.given[k] = float(state.estimate.pulls[k]) if work.reach[k] > 0.0 else inf
        if is_known(inst, state, own.match, rules.least * sqrt(float(t))):
            choose(own.chosen, state.clock, owed(own.due, own.given))
        else:
            choose(own.chosen, state.clock, rules.spanning[own.turn[0] % len(rules.spanning)])
            own.turn[0] += 1
    return int(own.chosen.arm[0])


@thin
def power_below(t: int) -> int:
    """The largest power of two that is at most t."""
    power = 1
    while 2 * power <= t:
        power *= 2
    return power


@kernel
def is_known(inst: Instance, state: State, match: Match, least: float) -> bool:
    """Whether V >= least I."""
    fill_diagonal(match.C, -least)
    add_information(inst.X, state.estimate.N, match.C)
    return cholesky(match.C, 0.0)


@rare
def climb(inst: Instance, state: State, work: Work, own: Own, i: int) -> None:
    """The best shares against the nearest alternative, by Frank-Wolfe steps from where they are.            (F1)"""
    for n in range(1, MOST_STEPS + 1):
        j = meet(inst, state, own.match, own.shares, work.reach, i)
        if j == NULL:
            return
        moves(inst, state, own.match, work.reach, i, j)
        best, share = best_reply(own.match, work.reach), 1.0 / (n + 1.0)
        for k in range(len(own.shares)):
            own.shares[k] = (1.0 - share) * own.shares[k] + (share if k == best else 0.0)
        if share < CLOSE * sqrt(dot(own.shares, own.shares)):
            return


@dataclass(frozen=True)
class LazyTrackAndStop(OfTheField):
    """The best shares for the estimate, computed when the rounds have doubled, and tracked; limits ignored."""

    name: ClassVar[str] = "lazy-track-and-stop"
    version: ClassVar[int] = 1
    stops: ClassVar = STOPS
    stop: Stop = option(
        "own", "When it stops: own (its determinant, proved), heuristic (its authors' shortcut, unproved) or ours.",
        STOPS,
    )  # fmt: skip

    def plan(self, problem: Problem) -> Plan:
        """The sets of the stopping rule, and d arms that span."""
        found, (K, d) = self.stopping(problem), problem.features.shape
        Z = found.pulls(problem)
        spanning = stopping.spanning_arms(Z)
        rules = Rules(spanning, stopping.least_eigenvalue(Z[spanning]) / float(np.sqrt(d)))
        counter = np.zeros(1, np.int64)
        own = Own(new_chosen(), counter, counter, np.zeros(K), np.zeros(K), np.zeros(K), new_match(K, d))
        return Plan(decide, rules, found.grams, found.sets, own=own, begin_own=begin_even, candidates=True)
