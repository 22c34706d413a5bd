"""Worlds whose means are only nearly linear: what they return, how they are judged, and what they break."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import InvalidInput, WorldBreaksStatement
from surefoot.testing.worlds import Applied
from surefoot.worlds.files import posed_in
from surefoot.worlds.statements import broken_statements

PUMPS = {"pump A": [1.0, 0.0], "pump B": [0.0, 1.0], "both": [0.6, 0.4]}


def pumps(within: float = 0.0, **changes: Any) -> sf.Problem:
    settings = {"safe_level": 0.2, "epsilon": 0.6, "delta": 0.05, "delta_safety": 0.05, **changes}
    limit = sf.Limit("pressure", at_most=8.0, baseline=5.0, noise=0.3, within=within)
    return sf.Problem(PUMPS, sf.Reward(noise=0.5), [limit], **settings)


def bent(**how: Any) -> sf.worlds.NearlyLinear:
    return sf.worlds.NearlyLinear.for_problem(pumps(), theta_star=[1.5, 0.3], mu_star=[[4.0, 2.0]], **how)


@pytest.mark.parametrize("how", [{"power": [1.0, 1.3]}, {"error": [0.1, 0.4]}, {"power": 2.0, "error": 0.1}])
def test_readings_scatter_around_the_means_that_are_judged(how: Any) -> None:
    world, problem = bent(**how), pumps()
    for arm, level in ((0, 0.3), (0, 0.95), (2, 0.6)):
        told = [world.measure(Applied(arm, level, number), seed=2, problem=problem) for number in range(1, 1501)]
        pressure = np.array([each["safety"][0] for each in told])  # type: ignore[index]
        mean = world.means(arm, level)
        assert 5.0 - mean[1] == pytest.approx(pressure.mean(), abs=0.03)
        assert mean[0] == pytest.approx(np.mean([each["reward"] for each in told]), abs=0.05)


def test_a_hidden_error_looks_safe_where_it_is_and_bad_where_it_is_not() -> None:
    world = bent(error=[0.0, 0.4])
    levels = np.linspace(0.05, 1.0, 39)
    strayed = world.means(np.zeros(39, int), levels)[1] + 4.0 * levels
    assert np.allclose(strayed, np.where(4.0 * levels + 0.4 <= 3.0, 0.4, -0.4))
    judge = world.judge(pumps())
    assert judge.is_safe(0, 0.64)
    assert not judge.is_safe(0, 0.66)


def test_waves_change_sign_with_time_and_are_judged_by_the_worst() -> None:
    world, problem = bent(error=[0.0, 0.4], pattern="waves"), pumps()
    early = [world.measure(Applied(0, 0.5, number), problem=problem)["safety"][0] for number in range(64, 128)]  # type: ignore[index]
    later = [world.measure(Applied(0, 0.5, number), problem=problem)["safety"][0] for number in range(128, 256)]  # type: ignore[index]
    assert abs(np.mean(early) - np.mean(later)) == pytest.approx(0.8, abs=0.2)
    assert world.judge(problem).is_safe(0, 0.64)
    assert not world.judge(problem).is_safe(0, 0.66)


def test_the_least_error_is_that_of_the_best_law() -> None:
    assert bent(power=[1.0, 1.3]).least_error() == pytest.approx([0.0, 0.281], abs=0.001)
    assert bent(error=[0.1, 0.2]).least_error() == pytest.approx([0.1, 0.2])
    levels = np.linspace(0.0, 1.0, 201)
    for slope in np.linspace(3.0, 4.5, 40):  # no law of one arm is nearer
        assert np.abs(4.0 * levels**1.3 - slope * levels).max() > 0.28


def test_a_world_that_is_further_off_than_stated_is_named() -> None:
    world = bent(power=[1.0, 1.3])
    assert broken_statements(world, pumps(0.3)) == []
    (broken,) = broken_statements(world, pumps(0.2))
    assert "the mean of pressure is up to 0.28" in broken
    with pytest.warns(WorldBreaksStatement, match="linear law"):
        sf.simulate(world, pumps(), runs=2, max_pulls=10)


def test_a_file_states_it(tmp_path: Path) -> None:
    problem = pumps(0.3)
    file = tmp_path / "problem.toml"
    problem.save(file)
    truth = "theta_star = [1.5, 0.3]\nmu_star = [[4.0, 2.0]]\n"
    plain = file.read_text()
    file.write_text(f"{plain}\n[world]\n{truth}power = [1.0, 1.3]\n")
    posed = posed_in(file)
    assert isinstance(posed.world, sf.worlds.NearlyLinear)
    assert posed.world.power.tolist() == [1.0, 1.3]
    assert posed.problem == problem
    file.write_text(f"{plain}\n[world]\n{truth}powr = 1.3\n")
    with pytest.raises(InvalidInput, match="powr"):
        posed_in(file)


def test_a_session_and_a_simulation_see_the_same_readings() -> None:
    world, problem = bent(power=[1.0, 1.3]), pumps(0.3)
    runs = sf.simulate(world, problem, runs=1, seed=5, keep="traces")
    session = sf.Session(problem, seed=5)
    while not session.stopped:
        pull = session.ask()
        session.tell(pull, **world.measure(pull, seed=5))
    assert session.pulls == runs.pulls[0]
    assert session.recommendation is not None
    assert session.recommendation.level == pytest.approx(runs.level[0])


@pytest.mark.parametrize("how", [{"power": 0.0}, {"error": -0.1}, {"pattern": "spots"}, {"power": [1.0, 1.0, 1.0]}])
def test_what_makes_no_world_is_refused(how: Any) -> None:
    with pytest.raises(InvalidInput):
        bent(**how)
