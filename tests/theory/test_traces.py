"""(T3) and (T5) held against the package's own algorithm: traces of a session, and simulated runs."""

import numpy as np
import pytest

import surefoot as sf
from surefoot.theory import complexity, pull_worth, shortest_combination, stopping_bound, width_bound

ROUNDING = {"selection": "conservative", "pull": "rounding"}


@pytest.mark.parametrize("levels", ["static", "dynamic"])
def test_the_width_of_the_direction_stays_below_its_bound_along_a_trace(levels: str) -> None:
    world = sf.worlds.limited()
    problem = world.default_problem()
    policy = sf.SafeLinGapE(levels=levels, explore=sf.RoundRobin(200), **ROUNDING)
    session = sf.Session(problem, policy, seed=3)
    squared, A = np.zeros(problem.size), problem.regularization * np.eye(problem.rank)
    checked = 0
    while not session.stopped and session.pulls < 600:
        pull = session.ask()
        if pull.phase == "decide" and pull.number % 10 == 0:
            today = np.array(session.levels)
            pulls = problem.features * today[:, None]
            y = pulls[problem.index_of(pull.leader)] - pulls[problem.index_of(pull.challenger)]
            bound = width_bound(shortest_combination(pulls, y), pull_worth(squared, today))
            assert y @ np.linalg.solve(A, y) <= bound * (1 + 1e-9)
            checked += 1
        squared[pull.arm] += pull.level**2
        A += pull.level**2 * np.outer(problem.features[pull.arm], problem.features[pull.arm])
        session.tell(pull, **world.measure(pull, seed=3))
    assert checked > 20


@pytest.mark.parametrize("name", ["limited", "hard"])
def test_simulated_runs_stay_below_the_bound_on_pulls(name: str) -> None:
    world = sf.worlds.WORLDS[name]()
    problem = world.default_problem().with_(epsilon=0.1)
    rounds = 400
    policy = sf.SafeLinGapE(levels="static", explore=sf.RoundRobin(rounds), **ROUNDING)
    runs = sf.simulate(world, problem, policy, runs=40, seed=5, workers=1)
    assert runs.stopped.all()
    bounds = []
    for levels in runs.levels:
        hardness = complexity(problem.features * levels[:, None], problem.epsilon, worth=levels * world.values)
        bound = stopping_bound(
            hardness, arms=problem.size, dimension=problem.rank, noise=problem.reward.noise, norm=problem.reward.norm,
            longest=1.0, delta=problem.delta, regularization=problem.regularization,
            explored=rounds * float(problem.safe_level.max()) ** 2,
        )  # fmt: skip
        bounds.append(bound)
    assert (runs.pulls - rounds <= np.array(bounds)).all()
    assert (runs.pulls > rounds).any()
