"""Safe-LinGapE: gap-based exploration inside certified safe levels.

explore   rounds at the known safe level                               (S0)
levels    the largest level of each arm certified safe                 (S1-S4)
leader    the best certified pull by theta_hat                         (G1)
rival     the one that might beat it by most; B(t) says by how much    (G2)
stop      when B(t) <= epsilon                                         (G3)
pull      what shrinks the uncertainty between the two most            (G4-G6)
"""

from dataclasses import dataclass
from math import inf
from typing import ClassVar, NamedTuple

from surefoot.core.explore import Exploration, explored_arm, explores
from surefoot.core.kernel import kernel
from surefoot.core.levels import certify, known_levels_hold, reachable, stepped
from surefoot.core.parts import bound_leads, bound_safety
from surefoot.core.pulls import choose_pull
from surefoot.core.race import OPTIMISTIC, find_leader, find_race_with_ties, verdict
from surefoot.core.rounding import begin_shares, new_shares
from surefoot.core.state import State, Work
from surefoot.core.types import CONTRADICTION, DECIDING, EXPLORING, NULL, PULL, Decision, Instance
from surefoot.policies import options, radii
from surefoot.policies.exploration import EXPLORE, Explore, check_explore, planned
from surefoot.policies.guarantee import PROPOSITION_1, WITHIN_EPSILON, Guarantee, promise
from surefoot.policies.options import option
from surefoot.policies.protocol import Plan
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
    levels = state.levels
    exploring = explores(inst, rules.explore, state, work)  # (S0)
    bound_safety(inst, state, work)  # (S1)
    if exploring:
        k = explored_arm(rules.explore, state, work, seed, run)
        status = PULL if known_levels_hold(inst, work.bounds) else CONTRADICTION
        level = stepped(inst.dial, levels, k, rules.explore.level[k])
        return Decision(status, EXPLORING, k, level, NULL, 0.0, NULL, inf)
    optimistic = rules.selection == OPTIMISTIC
    sets_agree = certify(inst, levels, work.bounds, rules.levels, optimistic)  # (S2, S3)
    i, level_i = find_leader(state, work, rules.null_pull)  # (G1)
    bound_leads(inst, state, work, i, level_i, optimistic)
    race = find_race_with_ties(state, work, i, level_i, optimistic, rules.null_pull, inst.ties)  # (G2)
    status = verdict(inst, state, race, sets_agree)  # (G3)
    k, level = 0, 0.0
    if status == PULL:
        reachable(inst.dial, levels, work.reach)  # (S4)
        k = choose_pull(inst, state, work, state.own, rules.pull, rules.selection, race)  # (G4-G6)
        level = work.reach[k]
    return Decision(status, DECIDING, k, level, race.leader, race.leader_level, race.challenger, race.gap)


@dataclass(frozen=True)
class SafeLinGapE:
    """The paper's policy: no pull above the certified level, stops when no rival can be better by more than epsilon."""

    name: ClassVar[str] = "safe-lingape"
    version: ClassVar[int] = 1
    levels: options.Levels = option("dynamic", "When certified levels are computed.", options.LEVELS)
    selection: options.Selection = option(
        "conservative", "Who competes at which level: conservative (Proposition 1) or optimistic (within epsilon).",
        options.SELECTIONS,
    )  # fmt: skip
    pull: options.Pull = option("greedy", "Which arm teaches most about leader and challenger.", options.PULLS)
    explore: Explore = EXPLORE
    reward_radius: radii.Radius = option("determinant", "The confidence set of the reward.", radii.RADII)
    safety_radius: radii.SafetyRadius = option("norm", "The confidence set of each limit.", radii.SAFETY_RADII)
    null_pull: bool = option(False, "Whether doing nothing may be the answer.")

    def __post_init__(self) -> None:
        options.rename(self, "reward_radius", radii.RENAMED)
        options.rename(self, "safety_radius", radii.RENAMED)
        options.check_choice("levels", self.levels, options.LEVELS)
        options.check_choice("selection", self.selection, options.SELECTIONS)
        options.check_choice("pull", self.pull, options.PULLS)
        options.check_choice("reward_radius", self.reward_radius, radii.RADII)
        options.check_choice("safety_radius", self.safety_radius, radii.SAFETY_RADII)
        options.check_flag("null_pull", self.null_pull)
        check_explore(self.explore)

    def guarantee(self, problem: Problem) -> Guarantee:
        """Proposition 1, or with optimistic selection (b), which needs the reward's event and the limits' too."""
        if self.selection == "optimistic":
            both = 1.0 - problem.delta - problem.delta_safety
            return promise(problem, WITHIN_EPSILON, confidence=both, null_pull=self.null_pull)
        return promise(problem, PROPOSITION_1, confidence=1.0 - problem.delta, null_pull=self.null_pull)

    def plan(self, problem: Problem) -> Plan:
        """The sets that the options name."""
        options.warn_if_it_may_never_stop(self.levels, self.selection)
        grams, sets = radii.sets_for(problem, self.reward_radius, self.safety_radius)
        known = problem.safe_level
        rules = Rules(
            levels=options.LEVELS[self.levels],
            selection=options.SELECTIONS[self.selection],
            pull=options.PULLS[self.pull],
            null_pull=self.null_pull,
            explore=planned(self.explore, problem, default_level=known, highest=known, features=grams.features),
        )
        return Plan(decide, rules, grams, sets, own=new_shares(*problem.features.shape), begin_own=begin_shares,
                    candidates=True)  # fmt: skip
