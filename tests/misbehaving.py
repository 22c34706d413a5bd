"""Worlds that break what problems state, one thing at a time: for tests of the alarm, its tables and its page.

The truth is that of a linear world, changed in one way; `strength` says how much, and 0 not at all.
"""

from typing import Any, NamedTuple

import numpy as np

import surefoot as sf
from surefoot.worlds import TOLERANCE, Judge, Linear, Measurement, Response, draw_noise, judge_of, measured, new_room
from surefoot.worlds.parameters import distribution_code

HONEST, NOISY, QUADRATIC, SATURATING, THRESHOLD, ODD_ARM, HALVED, DRIFTING, OFFSET = range(9)
KINDS = {
    "honest": HONEST, "noise": NOISY, "quadratic": QUADRATIC, "saturating": SATURATING, "threshold": THRESHOLD,
    "odd arm": ODD_ARM, "change": HALVED, "drift": DRIFTING, "offset": OFFSET,
}  # fmt: skip
REWARD, SAFETY, BOTH = 1, 2, 3  # which signals misbehave


class Truth(NamedTuple):
    full: Any  # (1 + m, K) the means at full level
    noise: Any  # (1 + m,)
    limit: Any  # (m,)
    shape: int  # of the noise
    kind: int
    which: int  # REWARD, SAFETY or BOTH
    strength: float
    since: int  # the pull at which something happens
    arm: int  # the one that does not fit


@sf.kernel
def mean(truth: Any, s: int, arm: int, level: float, number: int) -> float:
    """The mean of signal s in this pull."""
    linear, size = level * truth.full[s, arm], truth.strength
    if (s == 0 and truth.which == SAFETY) or (s > 0 and truth.which == REWARD):
        return linear
    if truth.kind == QUADRATIC:  # strength 1: the square of the level
        return linear * (1.0 - size + size * level)
    if truth.kind == SATURATING:  # half of what there is to have at level 1/(2 + strength)
        return linear * (1.0 + size) / (1.0 + size * level)
    if truth.kind == THRESHOLD:  # nothing below this level, then in proportion to what is above it
        return truth.full[s, arm] * max(0.0, level - size) / (1.0 - size)
    if truth.kind == ODD_ARM and arm == truth.arm:
        return linear + level * size * truth.noise[s]
    if truth.kind == HALVED and number >= truth.since:
        return linear * (1.0 - size)
    if truth.kind == DRIFTING:
        return linear * (1.0 + size * number / truth.since)
    if truth.kind == OFFSET:
        return linear + size * truth.noise[s]
    return linear


@sf.kernel
def respond(truth: Any, room: Any, seed: int, run: int, number: int, arm: int, level: float, observed: Any) -> None:
    draw_noise(room, truth.shape, seed, run, number, observed)
    for s in range(len(observed)):
        watched = truth.which == BOTH or (truth.which == REWARD) == (s == 0)
        times = 1.0 + truth.strength if truth.kind == NOISY and watched else 1.0
        observed[s] = mean(truth, s, arm, level, number) + times * truth.noise[s] * observed[s]


@sf.kernel
def crosses(truth: Any, arm: int, level: float) -> bool:
    """By the means of the first pull, without what only a sensor adds."""
    crossed = False
    for s in range(len(truth.limit)):
        seen = mean(truth, s + 1, arm, level, 1)
        if truth.kind == OFFSET:
            seen = level * truth.full[s + 1, arm]
        crossed = crossed or seen < truth.limit[s] * (1.0 + TOLERANCE)
    return crossed


class Misbehaving:
    """A linear world that breaks one thing."""

    def __init__(
        self, linear: Linear, kind: str, strength: float = 0.0, *, which: int = BOTH, since: int = 150, arm: int = -1
    ) -> None:
        self.name, self.linear = f"{linear.name}, {kind} {strength:g}", linear
        size, noise = linear.size, [linear.noise, *linear.safety_noise]
        shape = distribution_code(linear.distribution)
        self.truth = Truth(
            linear.means(np.arange(size), 1.0), np.array(noise), np.array(linear.limit), shape, KINDS[kind], which,
            strength, since, arm % size,
        )  # fmt: skip

    def matches(self, problem: sf.Problem) -> None:
        self.linear.matches(problem)

    def means(self, arm: Any, level: Any) -> Any:
        arms, levels = np.broadcast_arrays(arm, np.asarray(level, float))
        found = [
            [mean(self.truth, s, k, g, 1) for k, g in zip(arms.ravel(), levels.ravel(), strict=True)]
            for s in range(len(self.truth.noise))
        ]
        return np.array(found).reshape(-1, *arms.shape)

    def judge(self, problem: sf.Problem) -> Judge:
        self.matches(problem)
        return judge_of(problem, self.means)

    def response(self) -> Response:
        return Response(respond, crosses, self.truth, new_room(), len(self.truth.noise))

    def measure(self, pull: Any, seed: int = 0, *, run: int = 0, problem: sf.Problem | None = None) -> Measurement:
        limits = None if problem is None else problem.safety
        return measured(self.response(), limits, self.linear.size, pull, seed, run)
