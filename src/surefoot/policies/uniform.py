"""Uniform: the arms in turn at their certified levels, with Safe-LinGapE's stopping rule; the simplest safe policy.

explore   rounds at the known safe level, if asked for                 (S0)
levels    the largest level of each arm certified safe                 (S1-S4)
stop      when no rival can be better by more than epsilon             (G1-G3)
pull      the next arm in turn
"""

from dataclasses import dataclass
from functools import cache
from math import inf
from typing import ClassVar, NamedTuple

from surefoot.core.exploring import Exploration, explored_arm, explores
from surefoot.core.gaps import OPTIMISTIC, find_race, verdict
from surefoot.core.kernel import kernel
from surefoot.core.levels import certify, known_levels_hold, reach, stepped
from surefoot.core.play import Engine, engine_of
from surefoot.core.types import CONTRADICTION, DECIDING, EXPLORING, NULL, PULL, ROUND, Decision, Instance, State, Work
from surefoot.policies import options
from surefoot.policies.exploration import Explore, check_explore, planned
from surefoot.problem import Problem


class Rules(NamedTuple):
    """The options of the policy as the compiled code reads them."""

    levels: int
    selection: int
    null_pull: bool
    explore: Exploration


@kernel
def decide(inst: Instance, rules: Rules, state: State, work: Work, seed: int, run: int) -> Decision:
    """The pull of round t + 1, or the decision to stop."""
    if explores(inst, rules.explore, state, work):  # (S0)
        k = explored_arm(rules.explore, state, work, seed, run)
        status = PULL if known_levels_hold(inst, state) else CONTRADICTION
        level = stepped(inst, state, k, rules.explore.level[k])
        return Decision(status, EXPLORING, k, level, NULL, 0.0, NULL, inf)
    sets_agree = certify(inst, state, work, rules.levels, rules.selection == OPTIMISTIC)  # (S1-S3)
    race = find_race(inst, state, rules.selection, rules.null_pull)  # (G1, G2)
    status = verdict(inst, state, race, sets_agree)  # (G3)
    reach(inst, state, work)  # (S4)
    k = state.clock[ROUND] % len(state.N)
    return Decision(
        status, DECIDING, k, work.reach[k], race.leader, race.leader_level, race.challenger, race.gap
    )  # fmt: skip


@cache
def engine() -> Engine:
    """The compiled parts."""
    return engine_of("uniform", decide)


@dataclass(frozen=True)
class Uniform:
    """The arms in turn at their certified levels until no rival can be better by more than epsilon."""

    name: ClassVar[str] = "uniform"
    keeps_limits: ClassVar[bool] = True
    levels: options.Levels = "dynamic"
    selection: options.Selection = "conservative"
    explore: Explore = None
    reward_radius: options.Radius = "determinant"
    safety_radius: options.Radius = "norm"
    null_pull: bool = False

    def __post_init__(self) -> None:
        options.check_choice("levels", self.levels, options.LEVELS)
        options.check_choice("selection", self.selection, options.SELECTIONS)
        options.check_choice("reward_radius", self.reward_radius, options.RADII)
        options.check_choice("safety_radius", self.safety_radius, options.RADII)
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
            null_pull=self.null_pull,
            explore=planned(self.explore, problem, default_level=inst.gamma0, highest=inst.gamma0),
        )
