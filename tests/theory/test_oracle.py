"""The oracle that knows the truth: its shares, and the pulls that it needs all the same."""

from math import cos, log, pi, sin

import numpy as np
import pytest

import surefoot as sf
from surefoot.core.kernel import interpreting
from surefoot.errors import InvalidInput


def close_pair(omega: float = 0.1) -> tuple[sf.worlds.Linear, sf.Problem]:
    arms = np.vstack([np.eye(3), [cos(omega), sin(omega), 0.0]])
    world = sf.worlds.Linear(
        arms, theta_star=[2.0, 0, 0], mu_star=np.full(3, -1e-3), noise=1.0, safety_noise=1.0, limit=-1.0
    )
    return world, world.problem(epsilon=0.0, delta=0.001, delta_safety=0.05, safe_level=1.0)


def test_the_oracle_pulls_along_the_difference_that_matters() -> None:
    """Against the nearly parallel arm alone the shares along its difference are best (T1); the others cost little."""
    world, problem = close_pair()
    oracle = sf.theory.xy_oracle(world, problem)
    y, gap = world.arms[0] - world.arms[3], 2.0 * (1.0 - cos(0.1))
    alone = np.abs(y).sum() ** 2 / gap**2
    assert sum(oracle.shares) == pytest.approx(1.0)
    assert np.argmax(oracle.shares) == 1
    assert alone * 0.999 <= oracle.complexity <= 1.1 * alone


def test_its_complexity_is_that_of_its_shares() -> None:
    world, problem = close_pair(0.5)
    oracle = sf.theory.xy_oracle(world, problem)
    V = (world.arms.T * oracle.shares) @ world.arms
    worst = 0.0
    for rival in (1, 2, 3):
        y = world.arms[0] - world.arms[rival]
        worst = max(worst, float(y @ np.linalg.solve(V, y)) / float(y @ world.theta_star) ** 2)
    assert oracle.complexity == pytest.approx(worst, rel=1e-3)


def test_its_pulls_are_the_least_that_settle_the_worst_rival() -> None:
    world, problem = close_pair()
    oracle = sf.theory.xy_oracle(world, problem)

    def needed(n: int) -> float:
        return 2.0 * oracle.complexity * (log(pi**2 * 4 / (6 * problem.delta)) + 2.0 * log(n))

    n = oracle.pulls(problem)
    assert needed(n) <= n + 1e-6 * n
    assert needed(n - 10) > n - 10


def test_it_plays_in_simulations_and_promises_nothing() -> None:
    world, problem = close_pair(1.2)
    problem = problem.with_(delta=0.1)
    oracle = sf.theory.xy_oracle(world, problem)
    with interpreting():
        runs = sf.simulate(world, problem, oracle, runs=2, seed=1, max_pulls=500)
    assert runs.outcomes == ["measured", "measured"]
    assert not runs.wrong.any()
    with pytest.raises(InvalidInput, match=r"epsilon.*must be 0 for xy-oracle"):
        sf.theory.xy_oracle(world, problem.with_(epsilon=0.1))


def test_what_cannot_be_tried_gets_no_share() -> None:
    """The lower bound asks for the same: twice the oracle's complexity pulls for each unit of evidence."""
    long = [sf.Arm(row, pullable=False) for row in ([5.0, 0.0], [0.0, 5.0])]
    problem = sf.Problem([[1.0, 0.0], [0.0, 1.0], *long], sf.Reward(noise=0.3), epsilon=0.0, delta=0.05)
    world = sf.worlds.Linear.for_problem(problem, theta_star=[1.0, 0.9])
    oracle = sf.theory.xy_oracle(world, problem)
    assert oracle.shares[2:] == (0.0, 0.0)
    assert oracle.complexity == pytest.approx(400.0, rel=1e-2)
    with interpreting():
        runs = sf.simulate(world, problem, oracle, runs=1, seed=1, max_pulls=50)
    assert not runs.pulls_per_arm[:, 2:].any()
