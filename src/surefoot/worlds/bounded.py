"""Worlds whose readings have ends: yes or no, or anything between two numbers.

The means are linear as ever. A yes/no reading is 1 as often as its mean says; one between two ends is spread evenly
about its mean, as far as the nearer end lets it. Signals without ends have Gaussian noise.
"""

from collections.abc import Sequence
from functools import cached_property
from math import inf
from typing import NamedTuple, Self

import numpy as np

from surefoot.core.kernel import kernel
from surefoot.core.parts import Response
from surefoot.core.random import normal
from surefoot.core.types import Indices, Matrix, Vector
from surefoot.errors import InvalidInput
from surefoot.problem import Problem
from surefoot.problem.checks import Floats, frozen
from surefoot.problem.norms import noise_laws
from surefoot.worlds.linear import Linear
from surefoot.worlds.response import GAUSSIAN, Room, Truth, crosses, draw_uniform, new_room

BOUNDED = "bounded"  # the distribution of such a world
INSIDE = "Change the truth, or the ends between which readings lie: at level 0 every signal is at its baseline."
SLACK = 1e-9  # a mean at an end may lie beyond it by rounding


class Ends(NamedTuple):
    """What only nature knows."""

    value: Matrix  # (n, K) x_k . theta* in row 0, x_k . mu* of each limit below
    scale: Vector  # (n,) size of Gaussian noise, where there are no ends
    low: Vector  # (n,) the least reading, as the core sees it
    high: Vector  # (n,) the largest
    binary: Indices  # (n,) whether there are no readings but these two
    eta0: Vector  # (m,)


@kernel
def respond_within(
    truth: Ends, room: Room, seed: int, run: int, number: int, arm: int, level: float, observed: Vector
) -> None:
    """The reward and the safety signals of pull `number`, into `observed`."""
    draw_uniform(room, seed, run, number, observed)
    for s in range(len(observed)):
        mean, u = level * truth.value[s, arm], observed[s]
        low, high = truth.low[s], truth.high[s]
        if truth.binary[s] == 1:
            observed[s] = high if u * (high - low) < mean - low else low
        elif high < inf:
            observed[s] = mean + (2.0 * u - 1.0) * max(min(mean - low, high - mean), 0.0)
        else:
            observed[s] = mean + truth.scale[s] * normal(u)


class Bounded(Linear):
    """A linear world with ends: one for each signal, the reward first, in internal units; infinite for none."""

    low: Floats  # (1 + m,)
    high: Floats  # (1 + m,)
    binary: tuple[bool, ...]  # whether there are no readings but the ends

    def __init__(
        self,
        arms: object,
        *,
        theta_star: object,
        mu_star: object = None,
        low: Sequence[float] | Floats,
        high: Sequence[float] | Floats,
        binary: Sequence[bool],
        noise: float = 1.0,
        safety_noise: object = 0.1,
        limit: object = -0.5,
        names: Sequence[str] | None = None,
        name: str = BOUNDED,
    ) -> None:
        super().__init__(arms, theta_star=theta_star, mu_star=mu_star, noise=noise, safety_noise=safety_noise,
                         limit=limit, names=names, name=name)  # fmt: skip
        ends = (frozen(np.array(end, dtype=np.float64)) for end in (low, high))
        self._set(distribution=BOUNDED, binary=tuple(bool(each) for each in binary))
        self._set(**dict(zip(("low", "high"), ends, strict=True)))
        self._check_ends()

    @classmethod
    def for_problem(
        cls,
        problem: Problem,
        *,
        theta_star: object,
        mu_star: object = None,
        noise: float | None = None,
        safety_noise: object | None = None,
        distribution: str = BOUNDED,
        name: str = BOUNDED,
    ) -> Self:
        """The world in which this problem is posed, with the ends that it states; see `Linear.for_problem`."""
        if distribution != BOUNDED:
            reason = "cannot be chosen where the problem states what readings can be"
            raise InvalidInput("distribution", distribution, reason, "Leave it out.")
        plain = Linear.for_problem(
            problem, theta_star=theta_star, mu_star=mu_star, noise=noise, safety_noise=safety_noise, name=name
        )
        laws = noise_laws(problem)
        ends = [[laws[0].low, laws[0].high]]
        for limit, law in zip(problem.safety, laws[1:], strict=True):
            ends.append(sorted((limit.internal(law.low), limit.internal(law.high))))
        world = cls(
            problem.arms, theta_star=plain.theta_star, mu_star=plain.mu_star, noise=plain.noise,
            safety_noise=plain.safety_noise, limit=plain.limit, names=problem.names, name=name,
            low=[low for low, _ in ends], high=[high for _, high in ends], binary=[law.binary for law in laws],
        )  # fmt: skip
        return world._set(_default=problem)

    def response(self) -> Response:
        """How the simulator asks this world: a kernel, and the numbers that it reads."""
        plain = self._truth
        truth = Ends(
            plain.value, plain.scale, np.array(self.low), np.array(self.high), np.array(self.binary, np.int64),
            plain.eta0,
        )  # fmt: skip
        return Response(respond_within, crosses, truth, new_room(), 1 + self.signals)

    @cached_property
    def _truth(self) -> Truth:
        return Truth(
            value=np.ascontiguousarray(np.vstack([self.values, self.safety_values])),
            scale=np.concatenate([[self.noise], self.safety_noise]), noise=GAUSSIAN, eta0=np.array(self.limit),
        )  # fmt: skip

    def _check_ends(self) -> None:
        """Refuses a mean that no readings between the ends can have."""
        signals = ["reward", *(f"safety[{s}]" for s in range(self.signals))]
        if not len(self.low) == len(self.high) == len(self.binary) == len(signals):
            reason = f"must have one for each of the {len(signals)} signals, the reward first"
            raise InvalidInput(
                "low, high and binary", (len(self.low), len(self.high), len(self.binary)), reason, INSIDE
            )
        means = np.vstack([self.values, self.safety_values])
        for signal, row, low, high, binary in zip(signals, means, self.low, self.high, self.binary, strict=True):
            if not low < high or (binary and not np.isfinite(high - low)):
                raise InvalidInput(signal, (low, high), "must have its lower end below its upper one", INSIDE)
            slack = SLACK * (high - low) if np.isfinite(high - low) else 0.0
            least, most = min(0.0, float(row.min())), max(0.0, float(row.max()))
            if least < low - slack or most > high + slack:
                reason = f"has means from {least:g} to {most:g} as the core sees it, beyond what readings can be"
                raise InvalidInput(signal, (low, high), reason, INSIDE)

    def _content(self) -> tuple[object, ...]:
        return (*super()._content(), self.low.tobytes(), self.high.tobytes(), self.binary)
