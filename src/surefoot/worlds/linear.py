"""A linear world: the truth that a simulation hides from the policy, and the noise on top of it.

Pulling arm k at level g answers, in internal units (safe means: at or above eta0),

    reward   g x_k . theta*  + noise          safety   g x_k . mu^s + noise      for each safety signal s

Everything that knows the truth lives here and in the theory; policies and sessions never see it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from surefoot.core.parts import Response
from surefoot.errors import InvalidInput
from surefoot.problem import Problem
from surefoot.problem.arms import read_arms
from surefoot.problem.checks import Floats, frozen, positive, text
from surefoot.problem.marked_arms import Marks
from surefoot.problem.names import Names
from surefoot.problem.norms import noise_laws
from surefoot.worlds import posing
from surefoot.worlds.judge import Arms, Judge, Levels, best_with_reserve, keeps_limits
from surefoot.worlds.measuring import measured
from surefoot.worlds.parameters import distribution_code, per_signal, weight_rows, weights
from surefoot.worlds.protocol import Measurement, NumberedPull
from surefoot.worlds.response import Truth, crosses, new_room, respond
from surefoot.worlds.showing import shown


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Linear:
    """A world of known truth: arms, theta_star, mu_star (left out where there are no limits) and the size of noise."""

    arms: Floats  # (K, D)
    names: Names
    theta_star: Floats  # (D,)
    mu_star: Floats  # (m, D) in internal units: the more negative x . mu, the more dangerous the arm
    noise: float  # R
    safety_noise: Floats  # (m,) R_s
    limit: Floats  # (m,) eta0, all below zero
    distribution: str
    name: str
    marks: Marks  # of its arms, for the problems posed here
    _default: Problem | None = None

    def __init__(
        self,
        arms: object,
        *,
        theta_star: object,
        mu_star: object = None,
        noise: float = 1.0,
        safety_noise: object = 0.1,
        limit: object = -0.5,
        distribution: str = "gaussian",
        names: Sequence[str] | None = None,
        name: str = "linear",
    ) -> None:
        labels, features, marks = read_arms(arms, names)
        dim = features.shape[1]
        mu = weight_rows("mu_star", mu_star, dim)
        distribution_code(distribution)
        self._set(
            arms=features,
            names=labels,
            theta_star=weights("theta_star", theta_star, dim, "Give one number per feature."),
            mu_star=mu,
            noise=positive("noise", noise, "Give the size R of the reward noise, for example 1.0."),
            safety_noise=per_signal("safety_noise", safety_noise, len(mu), "Give R_s, for example 0.1.", above=0.0),
            limit=per_signal("limit", limit, len(mu), "Level 0 reads 0 and must be safe: try -0.5.", below=0.0),
            distribution=distribution,
            name=text("name", name, "Give the world a short name."),
            marks=marks,
        )

    @classmethod
    def for_problem(
        cls,
        problem: Problem,
        *,
        theta_star: object,
        mu_star: object = None,
        noise: float | None = None,
        safety_noise: object | None = None,
        distribution: str = "gaussian",
        name: str = "linear",
    ) -> Self:
        """The world in which this problem is posed, its truth given in the units that the user reads.

        Row s of mu_star says what one unit of each feature adds to the reading of limit s, whose direction and baseline
        are the problem's. Noise sizes default to the bounds that the problem states.
        """
        mu = weight_rows("mu_star", mu_star, problem.arms.shape[1], limits=len(problem.safety))
        signs = np.array([limit.sign for limit in problem.safety])
        sizes: list[Any] = [law.size for law in noise_laws(problem)]  # of unknown noise what is guessed
        world = cls(
            problem.arms,
            theta_star=theta_star,
            mu_star=None if not len(signs) else signs[:, np.newaxis] * mu + 0.0,
            noise=sizes[0] if noise is None else noise,
            safety_noise=sizes[1:] if safety_noise is None else safety_noise,
            limit=[limit.eta0 for limit in problem.safety],
            distribution=distribution,
            names=problem.names,
            name=name,
        )
        return world._set(_default=problem, marks=posing.marks_of(problem))

    def _set(self, **values: Any) -> Self:
        """The world itself with these fields filled in; used only while it is being made."""
        for key, value in values.items():
            object.__setattr__(self, key, value)
        return self

    # what is true ---------------------------------------------------------------------------------------------------

    @property
    def size(self) -> int:
        """The number of arms K."""
        return len(self.arms)

    @property
    def signals(self) -> int:
        """The number of safety signals m."""
        return len(self.mu_star)

    @cached_property
    def values(self) -> Floats:
        """The mean reward of each arm at full level (K,)."""
        return frozen(np.einsum("kd,d->k", self.arms, self.theta_star))  # the same digits on every machine

    @cached_property
    def safety_values(self) -> Floats:
        """The mean of each safety signal for each arm at full level (m, K)."""
        return frozen(np.einsum("sd,kd->sk", self.mu_star, self.arms))

    @property
    def reward_norm(self) -> float:
        """The Euclidean norm of theta_star: the smallest bound D that is true."""
        return float(np.linalg.norm(self.theta_star))

    @property
    def safety_norm(self) -> Floats:
        """The Euclidean norm of each mu (m,): the smallest bounds D_s that are true."""
        return frozen(np.linalg.norm(self.mu_star, axis=1))

    @property
    def reward_largest(self) -> float:
        """The most by which an arm changes the reward at full level: the smallest `largest` that is true."""
        return float(np.abs(self.values).max())

    @property
    def safety_largest(self) -> Floats:
        """The same for each safety signal (m,)."""
        return frozen(np.abs(self.safety_values).max(axis=1))

    def best_levels(self, problem: Problem | None = None) -> Floats:
        """The highest safe level of each arm (K,), gamma_k*; with a problem, the highest that its dials allow: at most
        `max_level`, and on its level grid (0 where even the lowest grid point is unsafe)."""
        values, eta0 = self.safety_values, self.limit[:, np.newaxis]
        dangerous = values < eta0
        levels = np.where(dangerous, eta0 / np.where(dangerous, values, -1.0), 1.0).min(axis=0, initial=1.0)
        return frozen(levels if problem is None else posing.on_dial(problem, levels))

    def best_value(self, problem: Problem | None = None) -> float:
        """V*, the highest mean reward of a safe pull; doing nothing is safe and worth 0."""
        return max(0.0, float((self.best_levels(problem) * self.values).max()))

    def best_arm(self, problem: Problem | None = None) -> int:
        """The index of the arm that reaches V* (the lowest on a tie), or -1 when doing nothing is best."""
        worth = self.best_levels(problem) * self.values
        best = int(worth.argmax())
        return best if worth[best] > 0.0 else -1

    def lead(self, problem: Problem | None = None) -> float:
        """How far V* is ahead of the second best arm, or of doing nothing; 0 on a tie."""
        worth = np.append(self.best_levels(problem) * self.values, 0.0)
        second, best = np.sort(worth)[-2:]
        return float(best - second)

    def value(self, arm: int, level: float) -> float:
        """The mean reward of this arm at this level."""
        return float(self.means(arm, level)[0])

    def is_safe(self, arm: int, level: float) -> bool:
        """Whether every safety signal's mean stays at or above its limit, up to 1e-12 of the limit for rounding."""
        return bool(keeps_limits(self.means(arm, level)[1:], self.limit))

    def means(self, arm: Arms, level: Levels) -> Floats:
        """The means (1 + m, ...) of the reward and the safety signals of these arms at these levels."""
        arms = np.asarray(arm)
        if arms.dtype.kind not in "iu" or ((arms < 0) | (arms >= self.size)).any():
            raise InvalidInput("arm", arm, f"must be a position from 0 to {self.size - 1}", "Count arms from 0.")
        return np.asarray(level * self._truth.value[:, arms])

    def judge(self, problem: Problem) -> Judge:
        """The truth about this problem, for judging pulls and answers."""
        self.matches(problem)
        best, highest = self.best_arm(problem), posing.on_dial(problem, np.full(self.size, np.inf))
        return Judge(
            means=self.means,
            limits=self.limit,
            epsilon=problem.epsilon,
            best_arm=best,
            best_level=float(self.best_levels(problem)[best]) if best >= 0 else 0.0,
            best_value=self.best_value(problem),
            best_without_limits=float((highest * self.values).max()),
            with_reserve=lambda share: best_with_reserve(problem, self.means, share),
        )

    # what a policy meets --------------------------------------------------------------------------------------------

    def problem(
        self,
        *,
        epsilon: float,
        delta: float,
        delta_safety: float | None = None,
        safe_level: object = None,
        reward_norm: float | None = None,
        safety_norm: object | None = None,
        reward_largest: float | None = None,
        safety_largest: object | None = None,
        regularization: float = 1.0,
        **rest: Any,
    ) -> Problem:
        """The identification problem over these arms; norm bounds default to the true norms.

        With `reward_largest` or `safety_largest` it states largest effects instead, the true ones where left out. Its
        limits are called "safety", or "safety1", "safety2", ... when there are several. Further keywords (level_grid,
        max_level, max_step, pullable) go to Problem as they are, and so do marks of its arms.
        """
        reward, limits = posing.own_bounds(self, reward_norm, safety_norm, reward_largest, safety_largest)
        return Problem(
            self.arms, posing.own_reward(self, reward), posing.own_limits(self, limits), names=self.names,
            epsilon=epsilon, delta=delta, delta_safety=delta_safety, regularization=regularization,
            **{**posing.marked(self, safe_level), **rest},
        )  # fmt: skip

    def default_problem(self) -> Problem:
        """A problem that suits this world: true norm bounds, a safe level that is truly safe, errors of 5 %.

        The known safe level is half of the lowest gamma_k* (a quarter at most), and epsilon is half of the best arm's
        lead, so that only the best arm is a correct answer; where the lead is nothing, a tenth of the largest value.
        """
        if self._default is not None:
            return self._default
        return self.problem(**posing.default_settings(self))

    def matches(self, problem: Problem) -> None:
        """Raises InvalidInput when the problem is not posed in this world, naming what differs."""
        posing.check_posed(self, problem)

    def response(self) -> Response:
        """How the simulator asks this world: a kernel, and the numbers that it reads."""
        return Response(respond, crosses, self._truth, new_room(), 1 + self.signals)

    @cached_property
    def _truth(self) -> Truth:
        return Truth(
            value=np.ascontiguousarray(np.vstack([self.values, self.safety_values])),
            scale=np.concatenate([[self.noise], self.safety_noise]),
            noise=distribution_code(self.distribution),
            eta0=np.array(self.limit),
        )

    def measure(
        self, pull: NumberedPull, seed: int = 0, *, run: int = 0, problem: Problem | None = None
    ) -> Measurement:
        """What this pull returns, noise included, as `tell` takes it.

        In the units of the problem; without one, of the problem that the world was made for, or else in its own, which
        are those of `world.problem(...)`. Its noise is the simulator's at (seed, run, pull.number): a session is run 0.
        """
        if problem is not None:
            self.matches(problem)
        posed = self._default if problem is None else problem
        limits = None if posed is None else posed.safety
        return measured(self.response(), limits, self.size, pull, seed, run)

    # how it looks ---------------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return shown(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Linear) and self._content() == other._content()

    def __hash__(self) -> int:
        return hash(self._content())

    def _content(self) -> tuple[object, ...]:
        arrays = (self.arms, self.theta_star, self.mu_star, self.safety_noise, self.limit)
        rest = (self.names, self.noise, self.distribution, self.name, repr(self.marks))
        return (*((array.shape, array.tobytes()) for array in arrays), *rest)
