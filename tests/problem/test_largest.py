"""`largest`, the most by which an option changes a signal: stated in place of a norm, kept, shown and refused."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import InvalidInput, WorldBreaksStatement
from surefoot.policies.leaning import leaned_on

PAPERS = [sf.SafeLinGapE(), sf.LinGapE(), sf.Uniform()]


def problem(reward: Any = None, limit: Any = None, **changes: Any) -> sf.Problem:
    return sf.Problem(
        {"a": [1.0, 0.2], "b": [0.3, 1.0], "c": [-0.4, 0.7]},
        sf.Reward(noise=0.5, **(reward or {"largest": 10.0}), unit="kW"),
        sf.Limit("pressure", at_most=8.0, baseline=5.0, noise=0.3, **(limit or {"largest": 6.0}), unit="bar"),
        **{"safe_level": 0.2, "epsilon": 0.5, "delta": 0.1, "delta_safety": 0.1, **changes},
    )


@pytest.mark.parametrize("value", [0.0, -1.0, float("inf"), float("nan"), "10", True])
def test_what_is_no_size_is_refused(value: Any) -> None:
    for make in (
        lambda: sf.Reward(noise=1.0, largest=value),
        lambda: sf.Limit("heat", at_most=1.0, noise=0.1, largest=value),
    ):
        with pytest.raises(InvalidInput, match="largest") as caught:
            make()
        assert caught.value.remedy


def test_norm_and_largest_together_are_refused_by_both_names() -> None:
    with pytest.raises(InvalidInput) as caught:
        sf.Reward(noise=1.0, norm=2.0, largest=10.0)
    assert caught.value.field == "reward.largest"
    assert "reward.norm" in str(caught.value)
    with pytest.raises(InvalidInput) as caught:
        sf.Limit("heat", at_most=1.0, noise=0.1, norm=2.0, largest=10.0)
    assert caught.value.field == "safety['heat'].largest"
    assert "safety['heat'].norm" in str(caught.value)


def test_it_goes_to_a_file_and_back(tmp_path: Any) -> None:
    made = problem()
    for name in ("problem.toml", "problem.json"):
        made.save(tmp_path / name)
        assert "largest" in (tmp_path / name).read_text()
        assert sf.Problem.load(tmp_path / name) == made
    assert made.to_dict()["reward"] == {"noise": 0.5, "largest": 10.0, "unit": "kW"}
    assert made.fingerprint != problem(reward={"largest": 11.0}).fingerprint


def test_a_problem_that_does_not_state_it_is_written_as_ever() -> None:
    plain = problem(reward={"norm": 2.0}, limit={"norm": 1.0})
    assert "largest" not in str(plain.to_dict())


def test_the_certificate_names_what_it_leans_on() -> None:
    for policy in PAPERS:
        told = policy.guarantee(problem()).assumptions
        assert "no option changes reward by more than 10 kW at full strength (the promise leans on it)" in told[0]
        assert "no option changes pressure by more than 6 bar at full strength (the promise leans on it)" in told[1]
    assert "at full strength" not in str(sf.SafeGap().guarantee(problem()).assumptions)


@pytest.mark.parametrize("policy", PAPERS, ids=lambda policy: policy.name)
def test_a_norm_here_and_a_largest_effect_there_are_refused_by_name(policy: Any) -> None:
    mixed = problem(limit={"norm": 2.0})
    for ask in (policy.guarantee, policy.plan):
        with pytest.raises(InvalidInput) as caught:
            ask(mixed)
        assert caught.value.field == "safety['pressure'].norm"
        assert "reward.largest" in str(caught.value)
        assert "largest for every signal" in caught.value.remedy
    half = problem(limit={"guess": None})
    with pytest.raises(InvalidInput, match="largest"):
        policy.plan(half)
    sf.SafeGap().plan(mixed)  # to which both are hints


def test_the_bound_holds_for_every_truth_that_the_statement_allows() -> None:
    """|x.theta| <= B at every arm leaves weights of length B at most in the coordinates that are worked in."""
    rng = np.random.default_rng(4)
    for d, K in ((1, 1), (2, 5), (4, 9), (6, 300)):
        arms = rng.standard_normal((K, d)) * 10.0 ** rng.uniform(-3, 3, d)
        made = problem().with_(arms=arms, names=None, safe_level=0.2)
        found = leaned_on(made)
        np.testing.assert_allclose(found.bounds, [10.0, 6.0], rtol=1e-6)
        for _ in range(50):
            direction = rng.standard_normal(d)
            effects = found.features @ direction
            weights = direction * 10.0 / np.abs(effects).max()
            assert np.linalg.norm(weights) <= found.bounds[0]


def test_it_is_the_largest_value_that_is_planned_for() -> None:
    from surefoot.sets.mixtures import largest_value

    assert largest_value(problem()) == 10.0
    assert largest_value(problem(reward={"norm": None})) == 15.0


def test_a_world_that_breaks_it_is_named() -> None:
    made = problem()
    world = sf.worlds.Linear.for_problem(made, theta_star=[12.0, 0.0], mu_star=[[1.0, 1.0]])
    with pytest.warns(WorldBreaksStatement, match="changes reward by 12"):
        sf.simulate(world, made, runs=1, max_pulls=1)
    true = replace(made.reward, largest=12.0)
    assert sf.simulate(world, made.with_(reward=true), runs=1, max_pulls=1) is not None


def test_a_world_poses_problems_with_its_largest_effects() -> None:
    world = sf.worlds.hard()
    stated: Any = {"epsilon": 0.1, "delta": 0.1, "delta_safety": 0.1, "safe_level": 0.2}
    posed = world.problem(**stated, reward_largest=3.0)
    assert (posed.reward.largest, posed.reward.norm) == (3.0, None)
    assert posed.safety[0].largest == float(np.abs(world.safety_values).max())
    assert world.problem(**stated).reward.largest is None
    with pytest.raises(InvalidInput, match=r"reward\.norm"):
        world.problem(**stated, reward_largest=3.0, reward_norm=3.0)


def test_regularization_is_measured_against_arms_in_even_coordinates() -> None:
    """Features as large as 1e6 leave one number alone that a norm would have to be weighed with."""
    huge = np.array([[1e6, 1.0], [3e6, 2.0], [-2e6, 0.5]])
    made = problem().with_(arms=huge, names=None, safe_level=0.2)
    assert made.regularization == 1.0
    with pytest.raises(InvalidInput, match="regularization"):
        made.with_(reward=sf.Reward(noise=0.5, norm=1.0))
    with pytest.raises(InvalidInput, match="regularization"):
        made.with_(regularization=1e-12)
