"""Worlds in which one statement of a problem is wrong, by as much as is said."""

from typing import Any, NamedTuple

import numpy as np

import surefoot as sf
from surefoot.worlds import GAUSSIAN, TOLERANCE, Judge, Response, draw_noise, judge_of, measured, new_room


class Truth(NamedTuple):
    """What is true, as the core sees it."""

    full: Any  # (1 + m, K) effects at full level
    power: Any  # (1 + m,) of the level: 1 where effects are proportional to it
    offset: Any  # (1 + m,) what is read where nothing is applied
    noise: Any  # (1 + m,) at level 0
    growth: float  # by how many times the noise is larger at full level, less one
    limit: Any  # (m,)


@sf.kernel
def mean(truth: Any, s: int, arm: int, level: float) -> float:
    """The mean of signal s."""
    return truth.offset[s] + level ** truth.power[s] * truth.full[s, arm]


@sf.kernel
def respond(truth: Any, room: Any, seed: int, run: int, number: int, arm: int, level: float, observed: Any) -> None:
    """What the pull returns."""
    draw_noise(room, GAUSSIAN, seed, run, number, observed)
    for s in range(len(observed)):
        size = truth.noise[s] * (1.0 + truth.growth * level)
        observed[s] = mean(truth, s, arm, level) + size * observed[s]


@sf.kernel
def crosses(truth: Any, arm: int, level: float) -> bool:
    """Whether a mean crosses its limit."""
    crossed = False
    for s in range(len(truth.limit)):
        crossed = crossed or mean(truth, s + 1, arm, level) < truth.limit[s] * (1.0 + TOLERANCE)
    return crossed


class Wrong:
    """A world of effects (reward, then limits, in the units that are read) that a problem describes wrongly."""

    def __init__(
        self, problem: sf.Problem, effects: Any, noise: Any, *, power: Any = 1.0, offset: Any = 0.0, growth: float = 0.0
    ) -> None:
        self.name, signals = "wrong", 1 + len(problem.safety)
        signs = np.array([1.0, *(limit.sign for limit in problem.safety)])
        self.truth = Truth(
            full=signs[:, np.newaxis] * np.asarray(effects, float), power=np.broadcast_to(power, signals) + 0.0,
            offset=signs * offset, noise=np.broadcast_to(noise, signals) + 0.0, growth=growth,
            limit=np.array([limit.eta0 for limit in problem.safety]),
        )  # fmt: skip

    def matches(self, problem: sf.Problem) -> None:
        """Any problem is posed here: being wrong is the point."""

    def means(self, arm: Any, level: Any) -> Any:
        """The means of all signals."""
        effects = np.asarray(level)[np.newaxis] ** self.truth.power.reshape(-1, *(1,) * np.ndim(level))
        return self.truth.offset.reshape(-1, *(1,) * np.ndim(level)) + effects * self.truth.full[:, arm]

    def judge(self, problem: sf.Problem) -> Judge:
        """The truth about a problem."""
        return judge_of(problem, self.means)

    def response(self) -> Response:
        """How the simulator asks."""
        return Response(respond, crosses, self.truth, new_room(), len(self.truth.noise))

    def measure(self, pull: Any, seed: int = 0, *, run: int = 0, problem: sf.Problem | None = None) -> Any:
        """One result."""
        limits = None if problem is None else problem.safety
        return measured(self.response(), limits, self.truth.full.shape[1], pull, seed, run)
