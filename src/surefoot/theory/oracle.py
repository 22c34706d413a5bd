"""XY-oracle: how pulls would be shared out by one who knows the truth, a yardstick for methods that do not.      (F16)

It still has to prove what it knows, by pulls in the shares that tell its rivals apart most quickly. Limits play no
part.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import ClassVar

import numpy as np

from surefoot.policies import xy_static
from surefoot.policies.bound import ceiling_of
from surefoot.policies.guarantee import Guarantee, no_promise
from surefoot.policies.protocol import Plan
from surefoot.policies.stopping import fixed_design_of_rivals, log_of_rivals, refuse_epsilon
from surefoot.problem import Problem
from surefoot.problem.norms import noise_sizes
from surefoot.theory.lower_bounds import Evidence, lower_bound_for
from surefoot.worlds import Linear


@dataclass(frozen=True)
class XYOracle:
    """The best shares for one truth, as a policy for simulations; it promises nothing, for it is told the answer."""

    name: ClassVar[str] = "xy-oracle"
    version: ClassVar[int] = 1
    shares: tuple[float, ...]  # (K,) of pulls
    complexity: float  # rho: the least of all max over rivals |z_* - z_j|^2 / gap_j^2

    def guarantee(self, problem: Problem) -> Guarantee:
        """Nothing."""
        refuse_epsilon(problem, self.name)
        return no_promise(problem)

    def plan(self, problem: Problem) -> Plan:
        """XY-static's decision with these shares, and a union over rivals in place of pairs.                  (F16)"""
        found = fixed_design_of_rivals(problem)
        rules = xy_static.Rules(np.array(self.shares))
        return Plan(xy_static.decide, rules, found.grams, found.sets, candidates=True)

    def pulls(self, problem: Problem) -> int:
        """How many pulls it takes where the results have no noise.                                           (F16)"""
        rate, n = 2.0 * noise_sizes(problem)[0] ** 2 * self.complexity, 1.0
        for _ in range(200):  # the right side grows as a logarithm: this settles in a few steps
            n = max(rate * (log_of_rivals(problem) + 2.0 * log(n)), 1.0)
        return int(np.ceil(n))


def xy_oracle(world: Linear, problem: Problem, tolerance: float = 1e-3) -> XYOracle:
    """The oracle's shares in this world, at the top of every dial.                                           (F16)"""
    refuse_epsilon(problem, XYOracle.name)
    world.matches(problem)
    K, top = problem.size, ceiling_of(problem)
    found = lower_bound_for(
        arms=problem.features, values=world.values, safety=np.zeros((0, K)), eta0=np.zeros(0), levels=top,
        noise=1.0, safety_noise=np.zeros(0), epsilon=0.0, evidence=Evidence(1.0, 1.0), tolerance=tolerance,
        max_level=problem.max_level, level_grid=problem.level_grid,
        pull_levels=None if problem.pullable.all() else top * problem.pullable,
    )  # fmt: skip
    return XYOracle(tuple(found.allocation.tolist()), found.t_star_attained / 2.0)
