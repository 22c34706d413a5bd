"""Safe-LinGapE: gap-based exploration inside certified safe levels.

explore   rounds at the known safe level                               (S0)
levels    the largest level of each arm certified safe                 (S1-S4)
leader    the best certified pull by theta_hat                         (G1)
rival     the one that might beat it by most; B(t) says by how much    (G2)
stop      when B(t) <= epsilon                                         (G3)
pull      what shrinks the uncertainty between the two most            (G4-G6)
"""

from dataclasses import dataclass
from functools import cache
from math import inf
from typing import ClassVar, NamedTuple

from surefoot.core.confidence import bound_leads, bound_safety
from surefoot.core.explore import Exploration, explored_arm, explores
from surefoot.core.kernel import kernel
from surefoot.core.levels import certify, known_levels_hold, reach, stepped
from surefoot.core.play import Engine, engine_of
from surefoot.core.pulls import choose_pull
from surefoot.core.race import OPTIMISTIC, find_leader, find_race, verdict
from surefoot.core.types import CONTRADICTION, DECIDING, EXPLORING, NULL, PULL, Decision, Instance, State, Work
from surefoot.policies import options
from surefoot.policies.exploration import Explore, check_explore, planned
from surefoot.problem import Problem


class Rules(NamedTuple):
    """The options of the policy as the compiled code reads them."""

    levels: int
    selection: int
    pull: int
    null_pull: bool
    explore: Exploration


@kernel
def decide(inst: Instance, rules: Rules, state: State, work: Work, seed: int, run: int) -> Decision:
    """The pull of round t + 1, or the decision to stop."""
    exploring = explores(inst, rules.explore, state, work)  # (S0)
    bound_safety(inst, state, work)  # (S1)
    if exploring:
        k = explored_arm(rules.explore, state, work, seed, run)
        status = PULL if known_levels_hold(inst, work) else CONTRADICTION
        level = stepped(inst, state, k, rules.explore.level[k])
        return Decision(status, EXPLORING, k, level, NULL, 0.0, NULL, inf)
    optimistic = rules.selection == OPTIMISTIC
    sets_agree = certify(inst, state, work, rules.levels, optimistic)  # (S2, S3)
    i, level_i = find_leader(state, rules.null_pull)  # (G1)
    bound_leads(inst, state, work, i, level_i, optimistic)
    race = find_race(inst, state, work, i, level_i, optimistic, rules.null_pull)  # (G2)
    status = verdict(inst, state, race, sets_agree)  # (G3)
    k, level = 0, 0.0
    if status == PULL:
        reach(inst, state, work)  # (S4)
        k = choose_pull(inst, state, work, rules.pull, rules.selection, race)  # (G4-G6)
        level = work.reach[k]
    return Decision(status, DECIDING, k, level, race.leader, race.leader_level, race.challenger, race.gap)


@cache
def engine() -> Engine:
    """The compiled parts."""
    return engine_of("safe_lingape", decide)


@dataclass(frozen=True)
class SafeLinGapE:
    """The paper's policy: no pull above the certified level, stops when no rival can be better by more than epsilon."""

    name: ClassVar[str] = "safe-lingape"
    keeps_limits: ClassVar[bool] = True
    delta_covers_levels: ClassVar[bool] = False
    levels: options.Levels = "dynamic"
    selection: options.Selection = "conservative"
    pull: options.Pull = "greedy"
    explore: Explore = None
    reward_radius: options.Radius = "determinant"
    safety_radius: options.SafetyRadius = "norm"
    null_pull: bool = False

    def __post_init__(self) -> None:
        options.check_choice("levels", self.levels, options.LEVELS)
        options.check_choice("selection", self.selection, options.SELECTIONS)
        options.check_choice("pull", self.pull, options.PULLS)
        options.check_choice("reward_radius", self.reward_radius, options.RADII)
        options.check_choice("safety_radius", self.safety_radius, options.SAFETY_RADII)
        options.check_flag("null_pull", self.null_pull)
        check_explore(self.explore)

    def engine(self) -> Engine:
        """The compiled parts."""
        return engine()

    def instance(self, problem: Problem) -> Instance:
        """The problem with this policy's confidence sets."""
        options.warn_if_it_may_never_stop(self.levels, self.selection)
        return options.instance_of(problem, self.reward_radius, self.safety_radius)

    def rules(self, problem: Problem, inst: Instance) -> Rules:
        """The options as the compiled code reads them."""
        return Rules(
            levels=options.LEVELS[self.levels],
            selection=options.SELECTIONS[self.selection],
            pull=options.PULLS[self.pull],
            null_pull=self.null_pull,
            explore=planned(self.explore, problem, default_level=inst.gamma0, highest=inst.gamma0),
        )
