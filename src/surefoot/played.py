"""The courses of simulated runs: each is played once more when it is looked at, from the same seed and number."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import InvalidInput
from surefoot.live.learner import Learner
from surefoot.live.trace import Trace
from surefoot.live.tracing import Results, arms_that_matter, followed_arms, in_units, traced
from surefoot.policies import Policy
from surefoot.problem import Problem
from surefoot.worlds import World
from surefoot.worlds.measuring import callable_form


@dataclass(frozen=True, eq=False, repr=False)
class Traces(Sequence[Trace]):
    """The course of each run, in their order. Nothing is held: every look plays the run again."""

    world: World
    problem: Problem
    policy: Policy
    seed: int
    run: NDArray[np.int64]  # the numbers of the runs
    pulls: NDArray[np.int64]  # how many rounds each had

    def __len__(self) -> int:
        return len(self.run)

    def __repr__(self) -> str:
        return f"Traces({len(self):,} runs of {self.policy.name})"

    @overload
    def __getitem__(self, place: int) -> Trace: ...
    @overload
    def __getitem__(self, place: slice) -> "Traces": ...
    def __getitem__(self, place: int | slice) -> "Trace | Traces":
        """The course of the run at this place."""
        if isinstance(place, slice):
            return Traces(self.world, self.problem, self.policy, self.seed, self.run[place], self.pulls[place])
        return self.trace(place)

    def trace(self, place: int, *, arms: Sequence[int | str] | None = None, states: int | None = None) -> Trace:
        """The course of the run at this place, with the choices of `Session.trace`."""
        if isinstance(place, bool) or not isinstance(place, int | np.integer):
            raise InvalidInput("place", place, "must be the place of a run", "Count from 0, as in a list.")
        run = int(self.run[place])
        learner, results = self._play(run, int(self.pulls[place]))
        followed = followed_arms(self.problem, arms, arms_that_matter(learner))
        return traced(self._learner(run), results, followed, states)

    def _learner(self, run: int) -> Learner:
        return Learner(self.problem, self.policy, self.seed, run)

    def _play(self, run: int, pulls: int) -> tuple[Learner, Results]:
        """The run once more: what was learned in so many rounds, and what the world answered."""
        learner, response = self._learner(run), self.world.response()
        respond: Any = callable_form(response)
        arms, levels = np.zeros(pulls, np.int64), np.zeros(pulls)
        observed = np.zeros((pulls, response.signals))
        for i in range(pulls):
            arm, level = learner.decision.arm, learner.decision.level
            arms[i], levels[i] = arm, level
            respond(response.truth, response.room, self.seed, run, i + 1, arm, level, observed[i])
            learner.take(arm, level, observed[i].tolist())
        told = in_units(self.problem, observed)[:, 1:]
        return learner, Results(np.arange(1, pulls + 1), arms, levels, observed, told)
