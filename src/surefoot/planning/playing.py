"""Runs in drawn worlds, one in each: the same world and the same noise whatever is stated otherwise."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import NumericalBreakdown
from surefoot.planning.scenarios import Truth
from surefoot.policies import Policy
from surefoot.problem import Problem
from surefoot.problem.checks import Floats
from surefoot.problem.norms import without_ends
from surefoot.simulation import simulate
from surefoot.worlds import Linear, NearlyLinear
from surefoot.worlds.statements import broken_statements


class Setting(NamedTuple):
    """What all runs of a plan have in common."""

    policy: Policy
    seed: int
    budget: int
    workers: int | None
    advance: Callable[[int], None]  # called when so many more are done


class Played(NamedTuple):
    """One entry for each world, in their order."""

    spent: NDArray[np.int64]  # trials, up to the budget
    certain: NDArray[np.bool_]  # ended in certainty
    unsafe: NDArray[np.bool_]  # crossed a limit at least once

    @property
    def trials(self) -> Floats:
        """Trials until certainty, infinite where the budget did not suffice."""
        return np.where(self.certain, self.spent.astype(np.float64), np.inf)


def world_of(problem: Problem, truth: Truth) -> Linear | NearlyLinear:
    """The world in which the truth holds, with Gaussian noise as large as is stated or guessed. Means that stray from
    the law hide what is dangerous as long as they can, and make the best option look worse than the others.

    That holds of yes/no and bounded readings too: linear truths at random seldom have means that such readings can
    have, and what the policy knows of the noise, its size, is the same.
    """
    signs = np.array([limit.sign for limit in problem.safety])
    mu_star = signs[:, np.newaxis] * truth.limits if problem.safety else None
    law = Linear.for_problem(without_ends(problem), theta_star=truth.reward, mu_star=mu_star, name="drawn")
    return NearlyLinear(law, error=truth.strays, name="drawn") if truth.strays.any() else law


def allowed(problem: Problem, truth: Truth) -> bool:
    """Whether all that the problem states is true there: norms, largest effects, and that known levels are safe."""
    return not broken_statements(world_of(problem, truth), without_ends(problem))


def check_allowed(problem: Problem, truths: Sequence[Truth]) -> None:
    """Refuses to go on where rounding has made a truth out of what is not allowed."""
    if not all(allowed(problem, truth) for truth in truths):
        raise NumericalBreakdown("drawing worlds that the problem allows", 0)


def played(setting: Setting, problem: Problem, truths: Sequence[Truth], numbers: Sequence[int]) -> Played:
    """A run in each world; the noise is that of its number, which stays the same when the problem is varied."""

    stated = without_ends(problem)

    def play(place: int) -> tuple[int, bool, bool]:
        runs = simulate(
            world_of(problem, truths[place]), stated, setting.policy, runs=1, first_run=numbers[place],
            seed=setting.seed, max_pulls=setting.budget, workers=1,
        )  # fmt: skip
        if not len(runs):
            raise KeyboardInterrupt
        setting.advance(1)
        return int(runs.pulls[0]), bool(runs.stopped[0]), bool(runs.unsafe_pulls[0])

    # The first alone, in case something must be compiled; then in threads, since compiled code needs no lock.
    found = [play(0)] if truths else []
    pool = ThreadPoolExecutor(setting.workers or os.cpu_count() or 1)
    try:
        found += pool.map(play, range(1, len(truths)))
    finally:
        pool.shutdown(cancel_futures=True)
    columns = [np.array([each[k] for each in found]) for k in range(3)]
    return Played(columns[0].astype(np.int64), columns[1].astype(bool), columns[2].astype(bool))
