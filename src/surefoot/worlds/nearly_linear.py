"""Worlds whose means are only nearly linear: a law, and effects that bend or stray beside it.

The mean of signal s, when arm k is pulled at level g, is

    value_k g^power + stray,        |stray| <= error

where value_k is what the linear law says at full level. A power other than 1 bends the effects of all arms alike. What
strays besides is chosen against whoever trusts the law:

hidden   readings look as safe as can be as long as the pull is safe anyhow, and as bad as can be from where it is not;
         the best arm looks bad and the others good
waves    the sign changes from arm to arm and from time to time, in waves that grow longer; a pull is judged by the
         worst that it could be at any time
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np

from surefoot.core.kernel import kernel
from surefoot.core.logarithm import exp, log
from surefoot.core.parts import Response
from surefoot.core.types import Matrix, Vector
from surefoot.errors import InvalidInput
from surefoot.problem import Problem
from surefoot.problem.checks import Floats, frozen
from surefoot.worlds.judge import TOLERANCE, Judge, judge_of
from surefoot.worlds.linear import Linear
from surefoot.worlds.measuring import measured
from surefoot.worlds.parameters import distribution_code, per_signal
from surefoot.worlds.protocol import Measurement, NumberedPull
from surefoot.worlds.response import Room, draw_noise, new_room

HIDDEN, WAVES = 0, 1
PATTERNS = {"hidden": HIDDEN, "waves": WAVES}
FIRST_WAVE = 8  # pulls; each is twice as long as the one before
SEARCHED = 201  # levels by which the least error of a bent effect is found
POWER = (
    "Give the power of the level that effects grow with, for example 1.3: one for all signals, or the reward's first."
)
STRAY = "Give how far means stray from the law, 0 for not at all: one for all signals, or the reward's first."


class Truth(NamedTuple):
    """What only nature knows."""

    value: Matrix  # (n, K) x_k . theta* in row 0, x_k . mu* of each limit below
    power: Vector  # (n,)
    error: Vector  # (n,)
    pattern: int  # HIDDEN or WAVES
    best: int  # the arm that strays down with its reward
    scale: Vector  # (n,) size of the noise
    noise: int
    eta0: Vector  # (m,)


@kernel
def bent(truth: Truth, s: int, arm: int, level: float) -> float:
    """The mean without what strays."""
    share = level
    if truth.power[s] != 1.0 and level > 0.0:
        share = exp(truth.power[s] * log(level))
    return truth.value[s, arm] * share  # type: ignore[no-any-return]


@kernel
def hidden(truth: Truth, s: int, arm: int, mean: float, level: float) -> float:
    """What strays, by arm and level."""
    if not level > 0.0:
        return 0.0
    if s == 0:
        return -truth.error[0] if arm == truth.best else truth.error[0]  # type: ignore[no-any-return]
    safe = mean - truth.error[s] >= truth.eta0[s - 1]
    return truth.error[s] if safe else -truth.error[s]  # type: ignore[no-any-return]


@kernel
def respond(
    truth: Truth, room: Room, seed: int, run: int, number: int, arm: int, level: float, observed: Vector
) -> None:
    """The reward and the safety signals of pull `number`, into `observed`."""
    draw_noise(room, truth.noise, seed, run, number, observed)
    wave, length = 0, FIRST_WAVE
    while number >= length:
        wave, length = wave + 1, 2 * length
    for s in range(len(observed)):
        mean = bent(truth, s, arm, level)
        if truth.pattern == HIDDEN:
            mean += hidden(truth, s, arm, mean, level)
        elif level > 0.0:
            mean += truth.error[s] if (wave + arm + s) % 2 == 0 else -truth.error[s]
        observed[s] = mean + truth.scale[s] * observed[s]


@kernel
def crosses(truth: Truth, arm: int, level: float) -> bool:
    """Whether the pull truly crosses a limit; of waves, whether it would in one of them."""
    unsafe = False
    for s in range(1, len(truth.value)):
        mean = bent(truth, s, arm, level)
        worst = hidden(truth, s, arm, mean, level) if truth.pattern == HIDDEN else -truth.error[s]
        unsafe = unsafe or (level > 0.0 and mean + worst < truth.eta0[s - 1] * (1.0 + TOLERANCE))
    return unsafe


class NearlyLinear:
    """A linear law with effects that grow like level^power, and means that stray by up to an error besides."""

    law: Linear
    power: Floats  # (1 + m,) the reward first
    error: Floats  # (1 + m,)
    pattern: str
    name: str

    def __init__(
        self,
        law: Linear,
        *,
        power: float | Sequence[float] | Floats = 1.0,
        error: float | Sequence[float] | Floats = 0.0,
        pattern: str = "hidden",
        name: str = "nearly linear",
    ) -> None:
        if not isinstance(law, Linear):
            raise InvalidInput("law", law, "must be a linear world", "Pass sf.worlds.Linear(...).")
        if pattern not in PATTERNS:
            raise InvalidInput("pattern", pattern, "is not a way to stray", f"Use one of {', '.join(PATTERNS)}.")
        self.law, self.pattern, self.name = law, pattern, name
        self.power = per_signal("power", power, 1 + law.signals, POWER, above=0.0)
        self.error = per_signal("error", error, 1 + law.signals, STRAY)
        if (self.error < 0.0).any():
            raise InvalidInput("error", error, "must not be below 0", STRAY)

    @classmethod
    def for_problem(
        cls,
        problem: Problem,
        *,
        theta_star: object,
        mu_star: object = None,
        power: float | Sequence[float] | Floats = 1.0,
        error: float | Sequence[float] | Floats = 0.0,
        pattern: str = "hidden",
        name: str = "nearly linear",
        **rest: Any,
    ) -> Self:
        """The world in which this problem is posed, its law in the units that the user reads, as `Linear.for_problem`
        takes it."""
        law = Linear.for_problem(problem, theta_star=theta_star, mu_star=mu_star, name=name, **rest)
        return cls(law, power=power, error=error, pattern=pattern, name=name)

    def least_error(self) -> Floats:
        """For each signal the least error within which some linear law holds at every arm and level; of what strays
        all of it is counted, so it may be less."""
        levels = np.linspace(0.0, 1.0, SEARCHED)
        found = []
        for s, row in enumerate(np.vstack([self.law.values, self.law.safety_values])):
            means = row[:, np.newaxis] * levels ** self.power[s]
            found.append(
                float(self.error[s]) + (0.0 if self.power[s] == 1.0 else least_misfit(self.law.arms, levels, means))
            )
        return frozen(np.array(found))

    def means(self, arm: Any, level: Any) -> Floats:
        """The means (1 + m, ...) of these arms at these levels; of waves, the lowest that there are."""
        arms, levels = np.broadcast_arrays(np.asarray(arm), np.asarray(level, np.float64))
        full, pulled = self.law.means(arms, 1.0), levels > 0.0
        power, error = (each.reshape(-1, *(1,) * arms.ndim) for each in (self.power, self.error))
        means = full * levels**power
        if PATTERNS[self.pattern] == WAVES:
            return np.asarray(means - error * pulled)
        limits = self.law.limit.reshape(-1, *(1,) * arms.ndim)
        up = np.concatenate([(arms != self._best)[np.newaxis], means[1:] - error[1:] >= limits])
        return np.asarray(means + np.where(up, error, -error) * pulled)

    def judge(self, problem: Problem) -> Judge:
        """The truth about this problem. What is best counts with the most that it can be, the answer with the least."""
        self.matches(problem)
        found = judge_of(problem, self.means)
        if PATTERNS[self.pattern] == WAVES:  # at another time the best may be worth more, and more levels safe
            calm = judge_of(problem, lambda arm, level: self.means(arm, level) + 2.0 * self.error.reshape(-1, 1, 1))
            found = replace(
                found, best_value=max(calm.best_value, 0.0), best_arm=calm.best_arm, best_level=calm.best_level
            )
        return found

    def matches(self, problem: Problem) -> None:
        """Raises InvalidInput when the problem is not posed in this world, naming what differs."""
        self.law.matches(problem)

    def response(self) -> Response:
        """How the simulator asks this world: a kernel, and the numbers that it reads."""
        law = self.law
        truth = Truth(
            value=np.ascontiguousarray(np.vstack([law.values, law.safety_values])), power=np.array(self.power),
            error=np.array(self.error), pattern=PATTERNS[self.pattern], best=self._best,
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
        posed = self.law._default if problem is None else problem
        return measured(self.response(), None if posed is None else posed.safety, self.law.size, pull, seed, run)

    @property
    def _best(self) -> int:
        """The arm that is best by the law."""
        return self.law.best_arm()

    def __repr__(self) -> str:
        strays = f"powers {self.power.tolist()}, errors {self.error.tolist()} in {self.pattern}"
        return f"<world {self.name}: {strays}, of {self.law!r}>"


def least_misfit(arms: Floats, levels: Floats, means: Floats) -> float:
    """The least error within which some weights give the means (K, levels) of all arms."""
    pulls = (arms[:, np.newaxis, :] * levels[np.newaxis, :, np.newaxis]).reshape(-1, arms.shape[1])
    flat, one = means.reshape(-1), np.ones((len(pulls), 1))
    rows = np.block([[pulls, -one], [-pulls, -one]])
    from scipy.optimize import linprog  # slow to load, and seldom needed

    found = linprog(
        np.append(np.zeros(arms.shape[1]), 1.0), A_ub=rows, b_ub=np.concatenate([flat, -flat]),
        bounds=[(None, None)] * arms.shape[1] + [(0.0, None)],
    )  # fmt: skip
    return float(found.fun or 0.0)
