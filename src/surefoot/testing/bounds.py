"""What the confidence sets of an experiment say, asked from outside, and whether it is true."""

from typing import Any, NamedTuple

import numpy as np

from surefoot.core.kernel import plain
from surefoot.core.levels import Bounds, level_at, new_bounds
from surefoot.core.state import State, copy_words
from surefoot.core.types import DECIDING, NULL, Instance
from surefoot.live.learner import Learner
from surefoot.policies import Policy
from surefoot.policies.bound import Faced, faced, parts_of
from surefoot.problem import Problem
from surefoot.problem.checks import Floats
from surefoot.worlds import Linear

ROUNDING = 1e-9
LOWER, UPPER, UPPER_AT_BEST, LEAD, LEAD_OF_BEST = range(5)  # what can be false


class Seen(NamedTuple):
    """A policy that faces a problem, the state of an experiment, and what the sets say of it."""

    found: Faced
    state: State
    bounds: Bounds


def copied(found: Faced, state: State) -> State:
    """A copy of the state."""
    copy = found.new_state()
    copy_words(state.whole, copy.whole)
    return copy


def bounds_of(found: Faced, inst: Instance, state: State) -> Bounds:
    """The bounds of every safety signal at every arm, and of every arm's lead over arm 0 at its certified level."""
    parts, bounds = parts_of(found.plan, inst.few_columns), new_bounds(inst)
    plain(found.plan.sets.bound_safety, parts)(inst, inst.sets, state.sets, state, bounds)
    level = float(state.levels.low[0])
    plain(found.plan.sets.bound_leads, parts)(inst, inst.sets, state.sets, state, bounds, 0, level, False)
    return bounds


class Certified:
    """The level of each arm that the sets of a policy have certified so far, computed beside it."""

    def __init__(self, policy: Policy, problem: Problem) -> None:
        self.problem, self._found = problem, faced(policy, problem)
        self._best: Floats = np.full((len(problem.safety), problem.size), -np.inf)  # lower bounds seen so far

    def levels(self, learner: Learner) -> Floats:
        """The highest level of each arm that today's bounds, or earlier ones, show to be safe; or the known one."""
        inst = self._found.inst
        bounds = bounds_of(self._found, inst, copied(self._found, learner.state))  # what a set writes does not stay
        self._best = np.maximum(self._best, bounds.lower)
        eta0 = (inst.eta0 + inst.within[1:]).tolist()  # (W3)
        shown = [min(map(level_at, column, eta0)) for column in self._best.T.tolist()]
        return np.maximum(shown, self.problem.safe_level)


def broken_bounds(policy: Policy, world: Linear, problem: Problem, runs: int, rounds: int) -> Any:
    """(runs, 5) flags: which bounds were ever false within so many rounds, while the policy chose the pulls.

    Lower or upper bounds of a safety signal at some arm, upper ones at the best arm, leads over the leader of some
    candidate, of the best one. Noise is normal in even runs, and of one size and either sign in odd ones.
    """
    truth = np.vstack([world.values, world.safety_values])
    size = np.array([world.noise, *world.safety_noise])
    broken = np.zeros((runs, 5), bool)
    for run in range(runs):
        rng = np.random.default_rng([11, run])
        learner = Learner(problem, policy, seed=run)
        for _ in range(rounds):
            broken[run] |= false_ones(learner, truth, world.best_arm(problem))
            if learner.ending is not None:
                break
            arm, level = learner.decision.arm, learner.decision.level
            noise = rng.standard_normal(len(size)) if run % 2 == 0 else rng.choice([-1.0, 1.0], len(size))
            learner.take(arm, level, (level * truth[:, arm] + size * noise).tolist())
    return broken


def false_ones(learner: Learner, truth: Floats, best: int) -> list[bool]:
    """Which of the bounds that the last decision rests on are false."""
    bounds, decision, K = learner.work.bounds, learner.decision, truth.shape[1]
    upper: Any = (bounds.upper < truth[1:] - ROUNDING).any(axis=0)
    i, high = decision.leader, learner.state.levels.high
    led = decision.leader_level * truth[0, i] if i != NULL else 0.0
    lead = np.append(high * truth[0], 0.0) - led
    races: Any = np.append(high > np.where(np.arange(K) == i, decision.leader_level, -1.0), i != NULL)
    false: Any = races & (bounds.lead < lead - ROUNDING) & (decision.phase == DECIDING)
    return [
        bool((bounds.lower > truth[1:] + ROUNDING).any()), bool(upper.any()), bool(best != NULL and upper[best]),
        bool(false.any()), bool(false[best]),  # the null pull, arm -1, comes last
    ]  # fmt: skip
