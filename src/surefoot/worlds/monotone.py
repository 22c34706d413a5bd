"""Worlds whose effects rise with the level in whatever way: they saturate, or set in late.

The mean of signal s, when arm k is pulled at level g, is

    value_k shape(g),        shape(g) = (1 - exp(-bend g)) / (1 - exp(-bend)),  and g where bend is 0

where value_k is what the linear law says at full level. It rises from 0 to 1: fast at first where bend is above 0, at
last where it is below.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from surefoot.core.kernel import kernel
from surefoot.core.logarithm import exp
from surefoot.core.parts import Response
from surefoot.core.types import Matrix, Vector
from surefoot.errors import InvalidInput
from surefoot.problem import Problem
from surefoot.problem.checks import Floats
from surefoot.worlds.judge import TOLERANCE, Judge, judge_of
from surefoot.worlds.linear import Linear
from surefoot.worlds.measuring import measured
from surefoot.worlds.parameters import distribution_code, per_signal
from surefoot.worlds.protocol import Measurement, NumberedPull
from surefoot.worlds.response import Room, draw_noise, new_room

STRAIGHT = 1e-6  # a bend closer to 0 is none
MOST = 50.0
BEND = (
    "Give how much effects bend, for example 2 (saturating) or -2 (late): one for all signals, or the reward's first."
)


class Truth(NamedTuple):
    """What only nature knows."""

    value: Matrix  # (n, K) at full level, the reward in row 0
    bend: Vector  # (n,)
    scale: Vector  # (n,) size of the noise
    noise: int
    eta0: Vector  # (m,)


@kernel
def mean(truth: Truth, s: int, arm: int, level: float) -> float:
    """The mean of signal s."""
    share, bend = level, truth.bend[s]
    if abs(bend) > STRAIGHT:
        share = (1.0 - exp(-bend * level)) / (1.0 - exp(-bend))
    return truth.value[s, arm] * share  # type: ignore[no-any-return]


@kernel
def respond(
    truth: Truth, room: Room, seed: int, run: int, number: int, arm: int, level: float, observed: Vector
) -> None:
    """The reward and the safety signals of pull `number`, into `observed`."""
    draw_noise(room, truth.noise, seed, run, number, observed)
    for s in range(len(observed)):
        observed[s] = mean(truth, s, arm, level) + truth.scale[s] * observed[s]


@kernel
def crosses(truth: Truth, arm: int, level: float) -> bool:
    """Whether the pull truly crosses a limit."""
    unsafe = False
    for s in range(len(truth.eta0)):
        unsafe = unsafe or mean(truth, s + 1, arm, level) < truth.eta0[s] * (1.0 + TOLERANCE)
    return unsafe


class Monotone:
    """The arms of a linear world, with effects that rise with the level along a bent curve."""

    law: Linear  # what the effects are at full level
    bend: Floats  # (1 + m,) the reward first
    name: str

    def __init__(
        self, law: Linear, *, bend: float | Sequence[float] | Floats = 2.0, name: str = "monotone"
    ) -> None:  # fmt: skip
        if not isinstance(law, Linear):
            raise InvalidInput("law", law, "must be a linear world", "Pass sf.worlds.doses() or sf.worlds.Linear(...).")
        self.law, self.name = law, name
        self.bend = per_signal("bend", bend, 1 + law.signals, BEND)
        if (np.abs(self.bend) > MOST).any():
            raise InvalidInput("bend", bend, f"must lie between -{MOST:g} and {MOST:g}", BEND)

    def slopes(self) -> Floats:
        """How fast each signal changes at most, over all arms, for a full turn of the dial (1 + m,): what a problem
        has to state as `largest` for a policy that leans on it."""
        bend = np.where(np.abs(self.bend) > STRAIGHT, np.abs(self.bend), 1.0)
        steepest = np.where(np.abs(self.bend) > STRAIGHT, bend / -np.expm1(-bend), 1.0)
        return np.asarray(steepest * np.abs(np.vstack([self.law.values, self.law.safety_values])).max(axis=1))

    def problem(self, **stated: Any) -> Problem:
        """The problem over these arms, as `Linear.problem` poses it, with the true slopes stated as largest effects."""
        reward, *limits = self.slopes().tolist()
        return self.law.problem(**{"reward_largest": reward, "safety_largest": limits, **stated})

    def means(self, arm: Any, level: Any) -> Floats:
        """The means (1 + m, ...) of these arms at these levels."""
        arms, levels = np.broadcast_arrays(np.asarray(arm), np.asarray(level, np.float64))
        bend = self.bend.reshape(-1, *(1,) * arms.ndim)
        straight = np.abs(bend) <= STRAIGHT
        safe = np.where(straight, 1.0, bend)
        shares = np.where(straight, levels, np.expm1(-safe * levels) / np.expm1(-safe))
        return np.asarray(self.law.means(arms, 1.0) * shares)

    def judge(self, problem: Problem) -> Judge:
        """The truth about this problem."""
        self.matches(problem)
        return judge_of(problem, self.means)

    def matches(self, problem: Problem) -> None:
        """Raises InvalidInput when the problem is not posed in this world, naming what differs."""
        self.law.matches(problem)

    def response(self) -> Response:
        """How the simulator asks this world: a kernel, and the numbers that it reads."""
        law = self.law
        truth = Truth(
            value=np.ascontiguousarray(np.vstack([law.values, law.safety_values])), bend=np.array(self.bend),
            scale=np.concatenate([[law.noise], law.safety_noise]), noise=distribution_code(law.distribution),
            eta0=np.array(law.limit),
        )  # fmt: skip
        return Response(respond, crosses, truth, new_room(), 1 + law.signals)

    def measure(
        self, pull: NumberedPull, seed: int = 0, *, run: int = 0, problem: Problem | None = None
    ) -> Measurement:
        """What this pull returns, noise included, as `tell` takes it; see `Linear.measure`."""
        if problem is not None:
            self.matches(problem)
        return measured(self.response(), None if problem is None else problem.safety, self.law.size, pull, seed, run)

    def __repr__(self) -> str:
        return f"<world {self.name}: bends {self.bend.tolist()}, of {self.law!r}>"
