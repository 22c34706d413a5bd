"""Worlds with ends: yes/no readings and readings between two numbers, as they are drawn, told and kept safe."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

import surefoot as sf
from surefoot.errors import InvalidInput, WorldBreaksStatement
from surefoot.simulation import run_session
from surefoot.testing.worlds import Applied
from surefoot.worlds.files import posed_in

VARIANTS = {"calm": [1.0, 0.0], "bold": [0.0, 1.0], "both": [0.6, 0.6]}


def rollout(noise: Any = "binary", **changes: Any) -> sf.Problem:
    """Shares of traffic: who buys (yes/no), and how many fail, of which at most 12 % may."""
    limit = sf.Limit("failures", at_most=0.12, baseline=0.02, noise="binary")
    settings = {"safe_level": 0.3, "epsilon": 0.2, "delta": 0.1, "delta_safety": 0.1, **changes}
    return sf.Problem(VARIANTS, sf.Reward(noise=noise), limit, **settings)


def world_of(problem: sf.Problem) -> sf.worlds.Bounded:
    return sf.worlds.Bounded.for_problem(problem, theta_star=[0.1, 0.6], mu_star=[[0.02, 0.05]])


def test_yes_no_readings_are_0_or_1_as_often_as_their_mean_says() -> None:
    problem = rollout()
    world, pulls = world_of(problem), [Applied(1, 0.8, number) for number in range(1, 2001)]
    told = [world.measure(pull, seed=3, problem=problem) for pull in pulls]
    rewards = np.array([each["reward"] for each in told])
    failures = np.array([each["safety"][0] for each in told])  # type: ignore[index]
    assert set(rewards) <= {0.0, 1.0}
    assert np.allclose(failures * (1.0 - failures), 0.0, atol=1e-12)
    assert rewards.mean() == pytest.approx(0.48, abs=0.04)
    assert failures.mean() == pytest.approx(0.06, abs=0.02)
    assert world.measure(pulls[0], seed=3, problem=problem) == told[0]


def test_bounded_readings_stay_between_their_ends_around_their_mean() -> None:
    limit = sf.Limit("load", at_most=8.0, baseline=5.0, noise=("bounded", 0.0, 9.0))
    problem = sf.Problem(
        VARIANTS, sf.Reward(noise=0.2), limit, safe_level=0.3, epsilon=0.2, delta=0.1, delta_safety=0.1
    )
    world = sf.worlds.Bounded.for_problem(problem, theta_star=[0.1, 0.6], mu_star=[[1.0, 3.5]])
    told = [world.measure(Applied(1, 1.0, number), problem=problem) for number in range(1, 2001)]
    loads = np.array([each["safety"][0] for each in told])  # type: ignore[index]
    assert 8.0 - 1e-9 <= loads.min() < loads.max() <= 9.0 + 1e-9
    assert loads.mean() == pytest.approx(8.5, abs=0.03)
    assert np.std([each["reward"] for each in told]) == pytest.approx(0.2, rel=0.1)  # Gaussian, where no ends are


def test_a_session_and_a_simulation_see_the_same_readings() -> None:
    problem = rollout(epsilon=0.4)
    world = world_of(problem)
    session = sf.Session(problem, seed=5, max_pulls=300)
    run_session(world, session, seed=5)
    runs = sf.simulate(world, problem, runs=1, seed=5, max_pulls=300)
    assert session.pulls_per_arm.tolist() == runs.pulls_per_arm[0].tolist()


@pytest.mark.filterwarnings("error")
def test_safe_gap_keeps_its_promises_with_yes_no_readings() -> None:
    problem = rollout()
    found = sf.simulate(world_of(problem), problem, runs=100, seed=2, max_pulls=20_000)
    assert found.stopped.mean() > 0.9
    for failed in (found.unsafe_pulls > 0, found.wrong, found.answer_unsafe):
        assert binomtest(int(failed.sum()), 100, alternative="greater").proportion_ci(0.95).low <= 0.1


def test_a_truth_that_readings_cannot_have_is_refused() -> None:
    with pytest.raises(InvalidInput, match="beyond what readings can be"):
        sf.worlds.Bounded.for_problem(rollout(), theta_star=[0.1, 1.6], mu_star=[[0.02, 0.05]])
    with pytest.raises(InvalidInput, match="distribution"):
        sf.worlds.Bounded.for_problem(rollout(), theta_star=[0.1, 0.6], mu_star=[[0.02, 0.05]], distribution="uniform")


def test_a_world_without_ends_breaks_the_statement_that_there_are_some() -> None:
    problem = rollout()
    world = sf.worlds.Linear.for_problem(problem, theta_star=[0.1, 0.6], mu_star=[[0.02, 0.05]])
    with pytest.warns(WorldBreaksStatement, match="yes/no readings"):
        sf.simulate(world, problem, runs=1, max_pulls=5)
    unknown = rollout("unknown").with_(safety=sf.Limit("failures", at_most=0.12, baseline=0.02, noise=0.1))
    uniform = sf.worlds.Linear.for_problem(
        unknown, theta_star=[0.1, 0.6], mu_star=[[0.02, 0.05]], distribution="uniform"
    )
    with pytest.warns(WorldBreaksStatement, match="must be Gaussian"):
        sf.simulate(uniform, unknown, runs=1, max_pulls=5)


def test_a_file_with_yes_no_readings_poses_such_a_world(tmp_path: Path) -> None:
    rollout().save(tmp_path / "rollout.toml")
    with (tmp_path / "rollout.toml").open("a") as file:
        file.write("\n[world]\ntheta_star = [0.1, 0.6]\nmu_star = [0.02, 0.05]\n")
    posed = posed_in(tmp_path / "rollout.toml")
    assert posed.problem == rollout()
    assert posed.world == world_of(rollout())
