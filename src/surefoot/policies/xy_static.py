"""XY-static: shares of pulls fixed in advance, so that the worst known difference between two arms is known best.

shares    the XY design over all pairs of arms                                             (F9)
pull      the arm with the fewest pulls for its share                                      (G5)
leader    the best arm by theta_hat                                                        (G1)
stop      by the printed bound for pulls fixed in advance, or by our sets                  (F5, F9)

Soare, Lazaric, Munos: Best-arm identification in linear bandits, NeurIPS 2014. Limits play no part.
"""

from dataclasses import dataclass
from math import inf
from typing import ClassVar, Literal, NamedTuple

from surefoot.core.design import xy_design
from surefoot.core.kernel import kernel
from surefoot.core.levels import fix_at_ceiling
from surefoot.core.parts import ball_of, bound_leads
from surefoot.core.pulls import furthest_behind
from surefoot.core.race import find_leader, find_race, verdict
from surefoot.core.state import State, Work
from surefoot.core.types import DECIDING, EXPLORING, NULL, PULL, Decision, Instance, Vector
from surefoot.policies import stopping
from surefoot.policies.options import option
from surefoot.policies.protocol import Plan
from surefoot.policies.stopping import OfTheField
from surefoot.problem import Problem

Stop = Literal["own", "plain", "ours"]
STOPS = {"own": stopping.FIXED_DESIGN, "plain": stopping.FIXED_DESIGN_PLAIN, "ours": stopping.OURS}


class Rules(NamedTuple):
    """What was fixed in advance."""

    shares: Vector  # (K,) of the pulls


@kernel
def decide(inst: Instance, rules: Rules, state: State, work: Work, seed: int, run: int) -> Decision:
    """The pull of round t + 1, or the decision to stop."""
    fix_at_ceiling(inst.dial, state.levels, work.reach)
    k = furthest_behind(state.estimate, rules.shares, work.reach)  # (G5, F9)
    if not ball_of(inst, state, 0).radius < inf:  # the pulls do not span yet
        return Decision(PULL, EXPLORING, k, work.reach[k], NULL, 0.0, NULL, inf)
    i, level_i = find_leader(state, work, False)  # (G1)
    bound_leads(inst, state, work, i, level_i, False)
    race = find_race(state, work, i, level_i, False, False)  # (G2)
    status = verdict(inst, state, race, True)  # (G3, F5)
    return Decision(status, DECIDING, k, work.reach[k], race.leader, race.leader_level, race.challenger, race.gap)


@dataclass(frozen=True)
class XYStatic(OfTheField):
    """Shares fixed in advance, the best for the worst difference between two arms; limits ignored."""

    name: ClassVar[str] = "xy-static"
    version: ClassVar[int] = 1
    stops: ClassVar = STOPS
    tolerates: ClassVar[bool] = True
    all_pairs: ClassVar[bool] = True
    stop: Stop = option(
        "own",
        "When it stops: own (as printed, for pulls fixed in advance), plain (its smallest constant) or ours.",
        STOPS,
    )

    def plan(self, problem: Problem) -> Plan:
        """The sets of the stopping rule, and the design."""
        found = self.stopping(problem)
        rules = Rules(xy_design(found.arms(problem), problem.pullable))
        return Plan(decide, rules, found.grams, found.sets, candidates=True)
