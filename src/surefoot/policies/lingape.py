"""LinGapE: gap-based exploration that knows no limits; the yardstick for the price of safety.

explore   every arm once, or as told                                   (S0)
levels    the top of every dial, safe or not
leader    the best arm by theta_hat                                    (G1)
rival     the one that might beat it by most; B(t) says by how much    (G2)
stop      when B(t) <= epsilon                                         (G3)
pull      what shrinks the uncertainty between the two most            (G4, G5)
"""

from dataclasses import dataclass
from math import inf
from typing import ClassVar, NamedTuple

from surefoot.core.explore import Exploration, explored_arm, explores
from surefoot.core.kernel import kernel
from surefoot.core.levels import fix_at_ceiling
from surefoot.core.parts import bound_leads
from surefoot.core.pulls import choose_pull
from surefoot.core.race import CONSERVATIVE, find_leader, find_race_with_ties, verdict
from surefoot.core.rounding import begin_shares, new_shares
from surefoot.core.state import State, Work
from surefoot.core.types import DECIDING, EXPLORING, NULL, PULL, Decision, Instance
from surefoot.policies import options, radii
from surefoot.policies.bound import ceiling_of
from surefoot.policies.exploration import EXPLORE, Explore, RoundRobin, check_explore, planned
from surefoot.policies.guarantee import WITHOUT_LIMITS, Guarantee, promise
from surefoot.policies.options import option
from surefoot.policies.protocol import Plan
from surefoot.problem import Problem


class Rules(NamedTuple):
    """The options of the policy as the compiled code reads them."""

    pull: int
    explore: Exploration


@kernel
def decide(inst: Instance, rules: Rules, state: State, work: Work, seed: int, run: int) -> Decision:
    """The pull of round t + 1, or the decision to stop."""
    exploring = explores(inst, rules.explore, state, work)  # (S0)
    fix_at_ceiling(inst.dial, state.levels, work.reach)  # after it: exploration may look at what would be certified
    if exploring:
        k = explored_arm(rules.explore, state, work, seed, run)
        return Decision(PULL, EXPLORING, k, rules.explore.level[k], NULL, 0.0, NULL, inf)
    i, level_i = find_leader(state, work, False)  # (G1)
    bound_leads(inst, state, work, i, level_i, False)
    race = find_race_with_ties(state, work, i, level_i, False, False, inst.ties)  # (G2)
    status = verdict(inst, state, race, True)  # (G3)
    k, level = 0, 0.0
    if status == PULL:
        k = choose_pull(inst, state, work, state.own, rules.pull, CONSERVATIVE, race)  # (G4, G5)
        level = work.reach[k]
    return Decision(status, DECIDING, k, level, race.leader, race.leader_level, race.challenger, race.gap)


@dataclass(frozen=True)
class LinGapE:
    """Best arm identification without limits: every pull at the top of the dial, safe or not."""

    name: ClassVar[str] = "lingape"
    version: ClassVar[int] = 1
    pull: options.Pull = option("greedy", "Which arm teaches most about leader and challenger.", options.PULLS)
    explore: Explore = EXPLORE
    radius: radii.Radius = option("determinant", "The confidence set of every signal.", radii.RADII)

    def __post_init__(self) -> None:
        options.rename(self, "radius", radii.RENAMED)
        options.check_choice("pull", self.pull, options.PULLS)
        options.check_choice("radius", self.radius, radii.RADII)
        check_explore(self.explore)

    def guarantee(self, problem: Problem) -> Guarantee:
        """The best at full level, safe or not."""
        return promise(problem, WITHOUT_LIMITS, confidence=1.0 - problem.delta, keeps_limits=False)

    def plan(self, problem: Problem) -> Plan:
        """The sets that the options name; without a plan of exploration every arm is pulled once."""
        grams, sets = radii.sets_for(problem, self.radius, self.radius)
        top = ceiling_of(problem)
        first = self.explore or RoundRobin(int(problem.pullable.sum()))
        explore = planned(first, problem, default_level=top, highest=top, features=grams.features)
        rules = Rules(pull=options.PULLS[self.pull], explore=explore)
        return Plan(decide, rules, grams, sets, own=new_shares(*problem.features.shape), begin_own=begin_shares,
                    candidates=True)  # fmt: skip
