"""A world from outside: the effects of a linear world, which level off as the dial is turned up."""

from typing import Any, NamedTuple

import numpy as np

import surefoot as sf
from surefoot.worlds import (
    GAUSSIAN,
    TOLERANCE,
    Judge,
    Linear,
    Measurement,
    Response,
    draw_noise,
    judge_of,
    measured,
    new_room,
)


class Truth(NamedTuple):
    full: Any  # (1 + m, K) the means at full level
    noise: Any  # (1 + m,)
    limit: Any  # (m,)


@sf.kernel
def curve(level: Any) -> Any:
    """The share of its full effect that an arm has at this level."""
    return 1.5 * level / (0.5 + level)


@sf.kernel
def respond(truth: Any, room: Any, seed: int, run: int, number: int, arm: int, level: float, observed: Any) -> None:
    draw_noise(room, GAUSSIAN, seed, run, number, observed)
    for s in range(len(observed)):
        observed[s] = curve(level) * truth.full[s, arm] + truth.noise[s] * observed[s]


@sf.kernel
def crosses(truth: Any, arm: int, level: float) -> bool:
    crossed = False
    for s in range(len(truth.limit)):
        crossed = crossed or curve(level) * truth.full[s + 1, arm] < truth.limit[s] * (1.0 + TOLERANCE)
    return crossed


class Saturating:
    name = "saturating"

    def __init__(self, linear: Linear) -> None:
        self.linear = linear

    def matches(self, problem: sf.Problem) -> None:
        self.linear.matches(problem)

    def means(self, arm: Any, level: Any) -> Any:
        return curve(np.asarray(level)) * self.linear.means(arm, 1.0)

    def judge(self, problem: sf.Problem) -> Judge:
        self.matches(problem)
        return judge_of(problem, self.means)

    def response(self) -> Response:
        world = self.linear
        truth = Truth(
            world.means(np.arange(world.size), 1.0), np.array([world.noise, *world.safety_noise]), world.limit.copy()
        )
        return Response(respond, crosses, truth, new_room(), 1 + world.signals)

    def measure(self, pull: Any, seed: int = 0, *, run: int = 0, problem: sf.Problem | None = None) -> Measurement:
        limits = None if problem is None else problem.safety
        return measured(self.response(), limits, self.linear.size, pull, seed, run)
