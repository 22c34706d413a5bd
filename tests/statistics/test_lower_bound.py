"""(T9) is a bound: on random problems SafeGap's mean pulls lie above it, and not above what it was without its cuts."""

from typing import NamedTuple

import numpy as np
import pytest

import surefoot as sf
from surefoot.theory import lower_bound, uncut_reference

RUNS = 40
PROBLEMS = 40


class Compared(NamedTuple):
    strict: float  # bounds
    rate: float
    uncut: float  # no bound
    above: float  # SafeGap's mean and four standard errors


def posed(seed: int) -> tuple[sf.worlds.Linear, sf.Problem]:
    """A small problem of any kind; in every second the best arm lies just inside its limit at full level, where a
    bound that asks for too much evidence of safety is soon beaten."""
    rng = np.random.default_rng(seed)
    dim, signals = int(rng.integers(1, 4)), int(rng.integers(1, 3))
    arms = max(dim, int(rng.integers(1, 5)))
    x = rng.normal(size=(arms, dim))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    theta, mu = rng.normal(size=dim), rng.normal(size=(signals, dim))
    mu[0] -= 0.7 * theta
    near, values = seed % 2 == 1, x @ theta
    limit = float(rng.choice([0.3, 1.0]))
    if near:
        limit = max(1.02 * float(-(mu @ x[values.argmax()]).min()), 0.05)
    world = sf.worlds.Linear(
        x, theta_star=theta, mu_star=mu, limit=-limit,
        noise=0.1 if near else float(rng.choice([0.1, 0.5])), safety_noise=float(rng.choice([0.05, 0.3])),
    )  # fmt: skip
    return world, world.problem(
        epsilon=float(rng.choice([0.05, 0.2])) * float(np.abs(values).max()),
        delta=float(rng.choice([0.001, 0.05])),
        delta_safety=float(rng.choice([0.001, 0.3])),
        safe_level=np.maximum(float(rng.choice([0.3, 0.8, 1.0])) * world.best_levels(), 1e-3),
    )


@pytest.fixture(scope="module")
def compared() -> list[Compared]:
    found = []
    for seed in range(PROBLEMS):
        world, problem = posed(seed)
        runs = sf.simulate(world, problem, sf.SafeGap(), runs=RUNS, seed=seed, max_pulls=30_000, progress=False)
        above = runs.pulls.mean() + 4.0 * runs.pulls.std(ddof=1) / RUNS**0.5
        strict = lower_bound(world, problem, strict=True, tolerance=0.01).pulls
        rate = lower_bound(world, problem, tolerance=0.05).pulls
        uncut = uncut_reference(world, problem, tolerance=0.05).pulls
        found.append(Compared(strict, rate, uncut, float(above)))
    return found


def test_mean_pulls_lie_above_the_strict_bound(compared: list[Compared]) -> None:
    assert [case for case in compared if case.above < case.strict] == []
    assert sum(case.strict > 1.0 for case in compared) > PROBLEMS / 3  # and it says something


def test_mean_pulls_lie_above_the_quoted_bound_at_these_deltas_too(compared: list[Compared]) -> None:
    assert [case for case in compared if case.above < case.rate] == []


def test_without_its_cuts_it_is_beaten(compared: list[Compared]) -> None:
    assert sum(case.above < case.uncut for case in compared) >= 3
