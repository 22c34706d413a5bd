"""Who simulates a world that breaks what the problem states is told so, by what is broken."""

import warnings
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import NotSpanningWarning, WorldBreaksStatement
from surefoot.worlds.statements import broken_statements


def limited(**changes: Any) -> tuple[sf.worlds.Linear, sf.Problem]:
    """A world and the problem posed in it, with another statement."""
    world = sf.worlds.limited()
    problem = world.default_problem()
    limit = problem.safety[0]
    reward = sf.Reward(noise=changes.pop("noise", problem.reward.noise), norm=changes.pop("norm", problem.reward.norm))
    safety = sf.Limit(
        limit.name, at_least=limit.at_least, noise=changes.pop("safety_noise", limit.noise),
        norm=changes.pop("safety_norm", limit.norm),
    )  # fmt: skip
    return world, problem.with_(reward=reward, safety=safety, **changes)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"norm": 0.01}, "the weights of reward have length"),
        ({"safety_norm": 0.01}, "the weights of safety have length"),
        ({"noise": 0.01}, "reward has noise"),
        ({"safety_noise": 0.01}, "safety has noise"),
        ({"safe_level": 1.0}, "the known safe level is not safe for"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_each_broken_statement_is_named(changes: dict[str, float], words: str) -> None:
    world, problem = limited(**changes)
    (found,) = broken_statements(world, problem)
    assert words in found
    with pytest.warns(WorldBreaksStatement, match=words):
        sf.simulate(world, problem, runs=1, max_pulls=1)


def test_a_world_that_keeps_everything_is_simulated_in_silence() -> None:
    for name in ("hard", "limited", "doses", "base-station"):
        world = sf.worlds.make(name)
        assert broken_statements(world, world.default_problem()) == []
    world, problem = limited()
    with warnings.catch_warnings():
        warnings.simplefilter("error", WorldBreaksStatement)
        sf.simulate(world, problem, runs=1, max_pulls=1)


def test_weights_count_only_where_the_arms_are() -> None:
    with pytest.warns(NotSpanningWarning):
        problem = sf.Problem(
            {"a": [1.0, 0.0], "b": [0.5, 0.0]}, sf.Reward(noise=1.0, norm=1.0),
            sf.Limit("heat", at_most=1.0, noise=0.1, norm=1.0), safe_level=0.5, epsilon=0.1, delta=0.1,
            delta_safety=0.1,
        )  # fmt: skip
    world = sf.worlds.Linear.for_problem(problem, theta_star=[0.5, 7.0], mu_star=[[0.5, 9.0]])
    assert broken_statements(world, problem) == []


def test_the_summary_has_quantiles_of_the_pulls() -> None:
    world, problem = limited()
    runs = sf.simulate(world, problem, runs=30, seed=3)
    found = runs.summary()["pulls_quantiles"]
    certain = np.sort(runs.pulls[runs.stopped])
    assert len(certain) == 30
    assert found == {"0.1": certain[2], "0.5": certain[14], "0.9": certain[26]}
    assert sf.simulate(world, problem, runs=3, max_pulls=1).summary()["pulls_quantiles"] is None
