"""Uniform: the arms in turn at their certified levels, with Safe-LinGapE's stopping rule; the simplest safe policy.

It is Safe-LinGapE (S0-S4, G1-G3) with another choice of the arm to pull, and shares its compiled code.
"""

from dataclasses import dataclass
from typing import ClassVar

from surefoot.core.pulls import IN_TURN
from surefoot.policies import options, radii
from surefoot.policies.exploration import EXPLORE, Explore
from surefoot.policies.guarantee import Guarantee
from surefoot.policies.options import option
from surefoot.policies.protocol import Plan
from surefoot.policies.safe_lingape import SafeLinGapE
from surefoot.problem import Problem


@dataclass(frozen=True)
class Uniform:
    """The arms in turn at their certified levels until no rival can be better by more than epsilon."""

    name: ClassVar[str] = "uniform"
    version: ClassVar[int] = 1
    levels: options.Levels = option("dynamic", "When certified levels are computed.", options.LEVELS)
    selection: options.Selection = option(
        "conservative", "Who competes at which level: conservative (Proposition 1) or optimistic (within epsilon).",
        options.SELECTIONS,
    )  # fmt: skip
    explore: Explore = EXPLORE
    reward_radius: radii.Radius = option("determinant", "The confidence set of the reward.", radii.RADII)
    safety_radius: radii.SafetyRadius = option("norm", "The confidence set of each limit.", radii.SAFETY_RADII)
    null_pull: bool = option(False, "Whether doing nothing may be the answer.")

    def __post_init__(self) -> None:
        options.rename(self, "reward_radius", radii.RENAMED)
        options.rename(self, "safety_radius", radii.RENAMED)
        self._greedy()  # whose checks are the ones that hold here

    def guarantee(self, problem: Problem) -> Guarantee:
        """What Safe-LinGapE's stopping rule gives."""
        return self._greedy().guarantee(problem)

    def plan(self, problem: Problem) -> Plan:
        """Safe-LinGapE's, with another choice of the arm."""
        plan = self._greedy().plan(problem)
        return plan._replace(rules=plan.rules._replace(pull=IN_TURN))

    def _greedy(self) -> SafeLinGapE:
        """Safe-LinGapE with the same options."""
        return SafeLinGapE(**vars(self))
