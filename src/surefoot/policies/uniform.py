"""Uniform: the arms in turn at their certified levels, with Safe-LinGapE's stopping rule; the simplest safe policy.

It is Safe-LinGapE (S0-S4, G1-G3) with another choice of the arm to pull, and shares its compiled code.
"""

from dataclasses import dataclass
from typing import ClassVar

from surefoot.core.play import Engine
from surefoot.core.pulls import IN_TURN
from surefoot.core.types import Instance
from surefoot.policies import options, safe_lingape
from surefoot.policies.exploration import Explore
from surefoot.problem import Problem


@dataclass(frozen=True)
class Uniform:
    """The arms in turn at their certified levels until no rival can be better by more than epsilon."""

    name: ClassVar[str] = "uniform"
    keeps_limits: ClassVar[bool] = True
    delta_covers_levels: ClassVar[bool] = False
    levels: options.Levels = "dynamic"
    selection: options.Selection = "conservative"
    explore: Explore = None
    reward_radius: options.Radius = "determinant"
    safety_radius: options.SafetyRadius = "norm"
    null_pull: bool = False

    def __post_init__(self) -> None:
        self._greedy()  # whose checks are the ones that hold here

    def engine(self) -> Engine:
        """The compiled parts."""
        return safe_lingape.engine()

    def instance(self, problem: Problem) -> Instance:
        """The problem with this policy's confidence sets."""
        return self._greedy().instance(problem)

    def rules(self, problem: Problem, inst: Instance) -> safe_lingape.Rules:
        """The options as the compiled code reads them."""
        return self._greedy().rules(problem, inst)._replace(pull=IN_TURN)

    def _greedy(self) -> safe_lingape.SafeLinGapE:
        """Safe-LinGapE with the same options."""
        return safe_lingape.SafeLinGapE(
            levels=self.levels,
            selection=self.selection,
            explore=self.explore,
            reward_radius=self.reward_radius,
            safety_radius=self.safety_radius,
            null_pull=self.null_pull,
        )
