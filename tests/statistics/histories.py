"""Tables of results that were measured elsewhere, honest ones and tampered ones, and what becomes of a study that takes
them over."""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

import surefoot as sf
from surefoot.live.learner import Learner
from surefoot.live.order_check import suspicions
from surefoot.policies import check_policy

THETA, MU = np.array([1.0, 0.6]), np.array([-4.0, -2.0])
REWARD_NOISE, SAFETY_NOISE = 0.5, 0.3


class History(NamedTuple):
    """Results as the core sees them."""

    arms: Any
    levels: Any
    observed: Any  # reward, safety

    def taken(self, order: Any) -> "History":
        return History(*(column[order] for column in self))

    @property
    def suspicious(self) -> bool:
        return bool(suspicions(plant()[1], *self))

    def suspicious_at(self, level: float) -> bool:
        return bool(suspicions(plant()[1], *self, level=level))


@cache
def plant() -> tuple[sf.worlds.Linear, sf.Problem]:
    """Three pumps and one pressure."""
    problem = sf.Problem(
        arms={"A": [1.0, 0.0], "B": [0.0, 1.0], "C": [0.7, 0.7]}, reward=sf.Reward(noise=REWARD_NOISE, norm=2.0),
        safety=[sf.Limit("pressure", at_most=8.0, baseline=5.0, noise=SAFETY_NOISE, norm=5.0)], safe_level=0.2,
        epsilon=0.15, delta=0.05, delta_safety=0.05,
    )  # fmt: skip
    return sf.worlds.Linear.for_problem(problem, theta_star=THETA, mu_star=[-MU]), problem


def results_of(arms: Any, levels: Any, noise: Any) -> History:
    """What pulls return with this noise, (P, 2) in units of the stated one."""
    features = plant()[1].arms[arms]
    means = levels[:, np.newaxis] * np.column_stack([features @ THETA, features @ MU])
    return History(np.asarray(arms, np.int64), levels, means + noise * [REWARD_NOISE, SAFETY_NOISE])


def random_arms(rng: np.random.Generator, rows: int) -> Any:
    return rng.integers(0, 3, rows)


def at_known_level(rng: np.random.Generator, noise: Any) -> History:
    return results_of(random_arms(rng, len(noise)), np.full(len(noise), 0.2), noise)


def at_many_levels(rng: np.random.Generator, noise: Any) -> History:
    return results_of(random_arms(rng, len(noise)), rng.uniform(0.02, 0.2, len(noise)), noise)


def ramped_up(rng: np.random.Generator, noise: Any) -> History:
    return results_of(random_arms(rng, len(noise)), np.linspace(0.02, 1.0, len(noise)), noise)


def grouped_by_arm(rng: np.random.Generator, noise: Any) -> History:
    return results_of(np.sort(random_arms(rng, len(noise))), rng.uniform(0.05, 0.3, len(noise)), noise)


def following_results(rng: np.random.Generator, noise: Any) -> History:
    """Whoever measures goes on with the arm that looks best, and higher after a good result."""
    rows = len(noise)
    arms, levels = np.arange(rows) % 3, np.full(rows, 0.2)
    products, squares, reward = np.zeros(3), np.full(3, 1e-9), 0.0
    for t in range(rows):
        if t >= 3:
            arms[t], levels[t] = np.argmax(products / squares), min(1.0, max(0.05, 0.3 + 0.4 * reward))
        reward = results_of(arms[t : t + 1], levels[t : t + 1], noise[t : t + 1]).observed[0, 0]
        products[arms[t]] += levels[t] * reward
        squares[arms[t]] += levels[t] ** 2
    return results_of(arms, levels, noise)


HONEST: dict[str, Callable[[np.random.Generator, Any], History]] = {
    "known level": at_known_level, "many levels": at_many_levels, "ramp-up": ramped_up, "by arm": grouped_by_arm,
    "adaptive": following_results,
}  # fmt: skip
NOISES: dict[str, Callable[[np.random.Generator, int], Any]] = {
    "gaussian": lambda rng, rows: rng.normal(size=(rows, 2)),
    "uniform": lambda rng, rows: rng.uniform(-1.0, 1.0, (rows, 2)),
    "signs": lambda rng, rows: rng.choice([-1.0, 1.0], (rows, 2)),
    "rounded": lambda rng, rows: np.round(rng.normal(size=(rows, 2))),
    "skew": lambda rng, rows: rng.exponential(size=(rows, 2)) - 1.0,
    "five times": lambda rng, rows: 5.0 * rng.normal(size=(rows, 2)),
    "tiny": lambda rng, rows: 0.01 * rng.normal(size=(rows, 2)),
}
TAMPERED: dict[str, Callable[[History], Any]] = {  # the order of the rows
    "by reward, rising": lambda h: np.argsort(h.observed[:, 0]),
    "by reward, falling": lambda h: np.argsort(-h.observed[:, 0]),
    "by safety, safest first": lambda h: np.argsort(-h.observed[:, 1]),
    "by safety, worst first": lambda h: np.argsort(h.observed[:, 1]),
    "first half by reward": lambda h: np.concatenate(
        [np.argsort(h.observed[: len(h.arms) // 2, 0]), np.arange(len(h.arms) // 2, len(h.arms))]
    ),
    "by arm, then reward": lambda h: np.lexsort((h.observed[:, 0], h.arms)),
}


def made(kind: str, noise: str, rows: int, seed: int) -> History:
    """The honest history of this seed."""
    rng = np.random.default_rng((seed, rows))
    return HONEST[kind](rng, NOISES[noise](rng, rows))


class Fate(NamedTuple):
    """What became of a study that took a history over."""

    wrong_amid: bool  # it ended amid the rows, if it could, with a wrong answer
    unsafe: bool  # some level that it certified, amid the rows or after them, is unsafe


def fate_of(history: History) -> Fate:
    """The history taken over row by row and looked at after each, as nobody should."""
    world, problem = plant()
    judge, learner, every = world.judge(problem), Learner(problem, check_policy(None), 0), np.arange(problem.size)
    ended = wrong = unsafe = False
    for arm, level, observed in zip(*history, strict=True):
        learner.take(int(arm), float(level), observed.tolist())
        unsafe = unsafe or not judge.is_safe(every, learner.levels).all()
        if learner.ending is not None and not ended:
            ended, answer = True, learner.decision
            wrong = learner.ending == "certified" and bool(judge.is_wrong(answer.leader, answer.leader_level))
    return Fate(wrong, unsafe)
