"""What can be stated about how closely means follow the linear law, what is refused, and what is said of it first."""

from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import InvalidInput
from surefoot.policies.bound import faced
from surefoot.problem.knowable import last_gap, last_levels, least_epsilon, open_share, said_of_error

PUMPS = {"pump A": [1.0, 0.0], "pump B": [0.0, 1.0], "both": [0.6, 0.4]}


def pressure(**changes: Any) -> sf.Limit:
    return sf.Limit("pressure", **{"at_most": 8.0, "baseline": 5.0, "noise": 0.3, **changes})


def pumps(limit: sf.Limit | None = None, reward: sf.Reward | None = None, **changes: Any) -> sf.Problem:
    settings = {"safe_level": 0.2, "epsilon": 0.15, "delta": 0.05, "delta_safety": 0.05, **changes}
    return sf.Problem(PUMPS, reward or sf.Reward(noise=0.5), [limit or pressure()], **settings)


@pytest.mark.parametrize("ending", ["toml", "json"])
def test_an_error_survives_a_file(ending: str, tmp_path: Path) -> None:
    problem = pumps(pressure(within=0.3), sf.Reward(noise=0.5, within=0.02))
    problem.save(tmp_path / f"problem.{ending}")
    again = sf.Problem.load(tmp_path / f"problem.{ending}")
    assert again == problem
    assert (again.reward.within, again.safety[0].within) == (0.02, 0.3)
    assert again != pumps()


def test_an_error_of_0_is_as_if_none_were_stated() -> None:
    stated = pumps(pressure(within=0.0), sf.Reward(noise=0.5, within=0))
    assert stated == pumps()
    assert stated.fingerprint == pumps().fingerprint
    assert "within" not in {**stated.reward.to_dict(), **stated.safety[0].to_dict()}
    assert faced(sf.SafeGap(), stated).plan.sets.versions == faced(sf.SafeGap(), pumps()).plan.sets.versions
    assert said_of_error(stated) == []


@pytest.mark.parametrize("value", [-0.1, inf, float("nan"), "much", None, True])
def test_what_is_no_error_is_refused_by_name(value: Any) -> None:
    with pytest.raises(InvalidInput, match=r"reward\.within"):
        sf.Reward(noise=0.5, within=value)
    with pytest.raises(InvalidInput, match=r"safety\['pressure'\].within"):
        pressure(within=value)


@pytest.mark.parametrize("error", [3.0, 7.0])
def test_an_error_as_large_as_the_room_is_refused(error: float) -> None:
    with pytest.raises(InvalidInput, match="room between baseline and limit"):
        pressure(within=error)
    with pytest.raises(InvalidInput, match="room between baseline and limit"):
        pressure(within=2.5, covers="readings", reading_risk=0.01)  # by the tightened limit


def test_an_error_beside_unknown_noise_is_refused_for_the_same_signal_alone() -> None:
    with pytest.raises(InvalidInput, match=r"reward\.within.*unknown"):
        sf.Reward(noise="unknown", within=0.1)
    with pytest.raises(InvalidInput, match=r"within.*unknown"):
        pressure(noise="unknown", noise_at_most=1.0, within=0.1)
    mixed = pumps(pressure(within=0.1), sf.Reward(noise="unknown", guess=0.5))
    assert faced(sf.SafeGap(), mixed).plan.sets.learns_noise
    assert faced(sf.SafeGap(), mixed).plan.sets.bears_error


@pytest.mark.parametrize("policy", [sf.SafeLinGapE(), sf.LinGapE(), sf.Uniform()])
def test_other_policies_refuse_it_by_name(policy: Any) -> None:
    problem = pumps(pressure(norm=5.0, within=0.1), sf.Reward(noise=0.5, norm=2.0))
    with pytest.raises(InvalidInput, match=r"safety\['pressure'\].within.*SafeGap"):
        sf.Session(problem, policy)
    with pytest.raises(InvalidInput, match="within"):
        policy.guarantee(problem)


def test_the_certificate_names_the_assumption() -> None:
    problem = pumps(pressure(within=0.1, unit="bar"), epsilon=0.6)
    plant = sf.worlds.Linear.for_problem(problem, theta_star=[1.5, 0.3], mu_star=[[4.0, 2.0]])
    session = sf.Session(problem, seed=7)
    while not session.stopped:
        pull = session.ask()
        session.tell(pull, **plant.measure(pull, seed=7))
    certificate = session.certificate
    assert certificate is not None
    assert "The mean of pressure is taken to be linear within 0.1 bar" in certificate.statement
    assert any("linear in the applied features within 0.1 bar" in each for each in certificate.assumptions)
    assert any("at every one below it" in each for each in certificate.assumptions)


# -- what stays open ---------------------------------------------------------------------------------------------------


def test_what_stays_open_is_said_with_the_epsilon_that_is_possible() -> None:
    (said,) = said_of_error(pumps(pressure(within=0.2)))
    assert "about 29 % of its value stays open" in said
    assert "at least 0.29 times what the best option is worth" in said
    assert "up to a worth of about 0.519" in said
    (hopeless,) = said_of_error(pumps(pressure(within=1.0)))
    assert "end undecided" in hopeless
    reward, _ = said_of_error(pumps(pressure(within=0.1), sf.Reward(noise=0.5, within=0.1)))
    assert "no epsilon below 0.2 can be decided" in reward
    assert "can only end undecided" in reward
    assert least_epsilon(pumps(reward=sf.Reward(noise=0.5, within=0.1))) == 0.2


@pytest.mark.parametrize("error", [0.05, 0.2, 0.4])
def test_the_share_is_what_the_levels_of_a_limited_arm_leave(error: float) -> None:
    problem = pumps(pressure(within=error))
    certified, possible = last_levels(problem, np.array([[-8.0, -2.0, -6.0]]))
    best = 3.0 / 8.0  # gamma* of the first arm
    assert (possible - certified)[0] == pytest.approx(best * open_share(problem.safety[0]))
    assert certified[0] * (-8.0 - error / certified[0]) == pytest.approx(-3.0 + error)
    assert certified[1] == possible[1] == 1.0


@pytest.mark.parametrize(("error", "reward"), [(0.1, 0.0), (0.3, 0.0), (0.0, 0.1), (0.2, 0.1)])
def test_a_long_run_is_left_with_about_that_gap(error: float, reward: float) -> None:
    problem = pumps(pressure(within=error), sf.Reward(noise=0.5, within=reward), epsilon=0.01)
    world = sf.worlds.Linear.for_problem(problem, theta_star=[1.5, 0.3], mu_star=[[4.0, 2.0]])
    runs = sf.simulate(world, problem, runs=4, seed=3, max_pulls=20_000)
    assert not runs.stopped.any()
    assert np.median(runs.gap) == pytest.approx(last_gap(problem, world.values, world.safety_values), rel=0.2)


def test_an_epsilon_above_it_is_reached_and_one_below_is_not() -> None:
    problem = pumps(pressure(within=0.1))
    world = sf.worlds.Linear.for_problem(problem, theta_star=[1.5, 0.3], mu_star=[[4.0, 2.0]])
    left = last_gap(problem, world.values, world.safety_values)
    for share, reached in ((1.3, True), (0.9, False)):
        runs = sf.simulate(world, problem.with_(epsilon=share * left), runs=8, seed=3, max_pulls=20_000)
        assert runs.stopped.all() == reached
        assert runs.stopped.any() == reached


def test_variants_of_a_signal_keep_the_error() -> None:
    assert replace(pressure(within=0.1), noise=0.2).within == 0.1
