"""LinGapE: gap-based exploration that knows no limits; the yardstick for the price of safety.

explore   every arm once, or as told                                   (S0)
levels    the top of every dial, safe or not
leader    the best arm by theta_hat                                    (G1)
rival     the one that might beat it by most; B(t) says by how much    (G2)
stop      when B(t) <= epsilon                                         (G3)
pull      what shrinks the uncertainty between the two most            (G4, G5)
"""

from dataclasses import dataclass
from functools import cache
from math import inf
from typing import ClassVar, NamedTuple

from surefoot.core.confidence import bound_leads
from surefoot.core.explore import Exploration, explored_arm, explores
from surefoot.core.kernel import kernel
from surefoot.core.levels import fix_at_ceiling
from surefoot.core.play import Engine, engine_of
from surefoot.core.pulls import choose_pull
from surefoot.core.race import CONSERVATIVE, find_leader, find_race, verdict
from surefoot.core.types import DECIDING, EXPLORING, NULL, PULL, Decision, Instance, State, Work
from surefoot.policies import options
from surefoot.policies.exploration import Explore, RoundRobin, check_explore, planned
from surefoot.problem import Problem


class Rules(NamedTuple):
    """The options of the policy as the compiled code reads them."""

    pull: int
    explore: Exploration


@kernel
def decide(inst: Instance, rules: Rules, state: State, work: Work, seed: int, run: int) -> Decision:
    """The pull of round t + 1, or the decision to stop."""
    exploring = explores(inst, rules.explore, state, work)  # (S0)
    fix_at_ceiling(inst, state, work)  # after it, since exploration may look at what would be certified
    if exploring:
        k = explored_arm(rules.explore, state, work, seed, run)
        return Decision(PULL, EXPLORING, k, rules.explore.level[k], NULL, 0.0, NULL, inf)
    i, level_i = find_leader(state, False)  # (G1)
    bound_leads(inst, state, work, i, level_i, False)
    race = find_race(inst, state, work, i, level_i, False, False)  # (G2)
    status = verdict(inst, state, race, True)  # (G3)
    k, level = 0, 0.0
    if status == PULL:
        k = choose_pull(inst, state, work, rules.pull, CONSERVATIVE, race)  # (G4, G5)
        level = work.reach[k]
    return Decision(status, DECIDING, k, level, race.leader, race.leader_level, race.challenger, race.gap)


@cache
def engine() -> Engine:
    """The compiled parts."""
    return engine_of("lingape", decide)


@dataclass(frozen=True)
class LinGapE:
    """Best arm identification without limits: every pull at the top of the dial, safe or not."""

    name: ClassVar[str] = "lingape"
    keeps_limits: ClassVar[bool] = False
    delta_covers_levels: ClassVar[bool] = False
    selection: ClassVar[str] = "conservative"
    null_pull: ClassVar[bool] = False
    pull: options.Pull = "greedy"
    explore: Explore = None
    radius: options.Radius = "determinant"

    def __post_init__(self) -> None:
        options.check_choice("pull", self.pull, options.PULLS)
        options.check_choice("radius", self.radius, options.RADII)
        check_explore(self.explore)

    def engine(self) -> Engine:
        """The compiled parts."""
        return engine()

    def instance(self, problem: Problem) -> Instance:
        """The problem with this policy's confidence sets."""
        return options.instance_of(problem, self.radius, self.radius)

    def rules(self, problem: Problem, inst: Instance) -> Rules:
        """The options as the compiled code reads them; without a plan every arm is pulled once."""
        explore = self.explore or RoundRobin(len(problem.names))
        plan = planned(explore, problem, default_level=inst.ceiling, highest=inst.ceiling)
        return Rules(pull=options.PULLS[self.pull], explore=plan)
