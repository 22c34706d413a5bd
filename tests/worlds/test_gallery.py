"""The worlds of the gallery: true to what their problems state, each with its own story, and what they refuse."""

import pickle
from math import cos

import numpy as np
import pytest

from surefoot import worlds
from surefoot.errors import InvalidInput

EVERY_WORLD = pytest.mark.parametrize("name", worlds.WORLDS)


@EVERY_WORLD
def test_every_arm_is_truly_safe_at_the_known_level_of_the_default_problem(name: str) -> None:
    world = worlds.WORLDS[name]()
    problem = world.default_problem()
    assert all(world.is_safe(k, level) for k, level in enumerate(problem.safe_level))


@EVERY_WORLD
def test_only_the_best_arm_is_a_right_answer_to_the_default_problem(name: str) -> None:
    world = worlds.WORLDS[name]()
    problem = world.default_problem()
    worth = np.sort(world.best_levels(problem) * world.values)
    assert world.best_arm(problem) >= 0
    assert worth[-1] - worth[-2] >= problem.epsilon * (1.0 - 1e-9)
    assert world.lead(problem) > 0.0
    assert problem.epsilon < world.best_value(problem)


@EVERY_WORLD
def test_the_norms_and_noises_that_the_default_problem_states_are_true(name: str) -> None:
    world = worlds.WORLDS[name]()
    problem = world.default_problem()
    assert problem.reward.norm >= world.reward_norm
    assert problem.reward.noise >= world.noise
    for limit, norm, noise in zip(problem.safety, world.safety_norm, world.safety_noise, strict=True):
        assert limit.norm >= norm
        assert limit.noise >= noise


@EVERY_WORLD
def test_the_default_problem_is_posed_in_its_own_world(name: str) -> None:
    world = worlds.WORLDS[name]()
    world.matches(world.default_problem())
    assert world.default_problem().spans


@EVERY_WORLD
def test_a_world_is_the_same_every_time_and_survives_pickling(name: str) -> None:
    world = worlds.WORLDS[name]()
    assert world == worlds.WORLDS[name]()
    assert pickle.loads(pickle.dumps(world)) == world
    assert hash(pickle.loads(pickle.dumps(world))) == hash(world)
    assert world.name == name


@EVERY_WORLD
def test_the_first_line_of_its_documentation_says_what_a_world_is_about(name: str) -> None:
    line = (worlds.WORLDS[name].__doc__ or "").splitlines()[0]
    assert 20 < len(line) < 120
    assert line.endswith(".")


@EVERY_WORLD
@pytest.mark.parametrize("distribution", ["gaussian", "uniform", "rademacher"])
def test_every_world_can_be_had_with_every_noise(name: str, distribution: str) -> None:
    assert worlds.make(name, distribution=distribution).distribution == distribution


@pytest.mark.parametrize("name", ["sphere", "clusters"])
@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5])
def test_random_worlds_keep_their_promises_for_any_seed(name: str, seed: int) -> None:
    world = worlds.make(name, seed=seed)
    problem = world.default_problem()
    assert world == worlds.make(name, seed=seed)
    assert world != worlds.make(name, seed=seed + 1)
    assert all(world.is_safe(k, level) for k, level in enumerate(problem.safe_level))
    assert world.lead(problem) >= problem.epsilon > 0.0
    assert np.linalg.norm(world.arms, axis=1) == pytest.approx(np.ones(world.size))


# -- the single worlds ------------------------------------------------------------------------------------------------


def test_the_hard_world_is_the_one_of_the_paper() -> None:
    world = worlds.hard(dim=3, omega=0.1, noise=1.0, safety_noise=0.1, limit=-0.5)
    assert world.arms.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [cos(0.1), np.sin(0.1), 0]]
    assert world.theta_star.tolist() == [2, 0, 0]
    assert world.mu_star.tolist() == [[0, -1, 0]]
    assert world.best_levels().tolist() == [1.0, 0.5, 1.0, 1.0]
    assert (world.best_arm(), world.best_value()) == (0, 2.0)


def test_the_papers_problem_has_the_papers_numbers() -> None:
    problem = worlds.hard(omega=0.1).paper_problem()
    assert problem.epsilon == 2.0 * (1.0 - cos(0.1))
    assert (problem.delta, problem.delta_safety, problem.regularization) == (0.001, 0.001, 1.0)
    assert problem.safe_level.tolist() == [0.2] * 4
    assert (problem.reward.norm, problem.safety[0].norm) == (2.0, 1.0)
    assert (problem.reward.noise, problem.safety[0].noise, problem.safety[0].eta0) == (1.0, 0.1, -0.5)
    assert worlds.hard().paper_problem(delta=0.05).delta == 0.05


def test_the_papers_problem_is_refused_where_its_safe_level_is_not_safe() -> None:
    world = worlds.hard(limit=-0.1)
    with pytest.raises(InvalidInput, match="safe_level"):
        world.paper_problem()
    assert world.default_problem().safe_level.max() == pytest.approx(0.05)
    assert worlds.hard(limit=-0.2).default_problem() == worlds.hard(limit=-0.2).paper_problem()


@pytest.mark.parametrize("level", [0.05, 0.3, 0.6, 0.75, 0.95])
@pytest.mark.parametrize("dim", [2, 3, 7])
def test_the_best_arm_of_the_limited_world_is_limited_at_the_level_asked_for(level: float, dim: int) -> None:
    world = worlds.limited(dim=dim, level=level)
    assert world.best_arm() == 0
    assert world.best_levels()[0] == pytest.approx(level)
    assert world.best_value() == pytest.approx(level)
    assert world.lead() >= 0.3 * level * (1.0 - 1e-9)
    assert world.is_safe(0, world.best_levels()[0])
    assert not world.is_safe(0, level * 1.001)


def test_the_strongest_drug_is_not_the_best_one() -> None:
    world = worlds.doses()
    assert np.array_equal(world.arms, np.eye(5))
    assert world.values.argmax() != world.best_arm()
    assert world.best_levels() == pytest.approx([1.0, 5 / 9, 0.25, 5 / 6, 5 / 12])


def test_the_base_station_is_bounded_by_interference_here_and_by_heat_there() -> None:
    world = worlds.base_station()
    problem = world.default_problem()
    assert [limit.name for limit in problem.safety] == ["interference", "temperature"]
    assert world.names[world.best_arm()] == "north-sector 20W tilt 4"
    binding = world.limit[:, np.newaxis] / np.minimum(world.safety_values, -1e-9)
    assert set(binding.argmin(axis=0)[world.best_levels() < 1.0]) == {0, 1}
    assert 0.0 < world.best_levels()[world.best_arm()] < 1.0


def test_the_base_station_reads_in_the_users_units() -> None:
    world = worlds.base_station()
    temperature = world.default_problem().safety[1]
    hottest = float(world.safety_values[1].min())
    assert temperature.reading(0.0) == 40.0
    assert temperature.reading(hottest) == pytest.approx(40.0 + 36.0 * 0.93)
    assert temperature.reading(float(world.limit[1])) == 70.0


def test_the_base_station_stays_safe_and_decidable_under_tighter_limits() -> None:
    world = worlds.base_station(interference_limit=1.1, temperature_limit=50.0)
    problem = world.default_problem()
    assert all(world.is_safe(k, level) for k, level in enumerate(problem.safe_level))
    assert 0.0 < problem.epsilon <= world.lead()


@pytest.mark.parametrize(
    ("name", "parameters", "field"),
    [
        ("hard", {"dim": 1}, "dim"),
        ("hard", {"dim": 1_000_000_000}, "dim"),
        ("limited", {"dim": 100_000}, "dim"),
        ("sphere", {"arms": 10**9, "dim": 5}, "arms"),
        ("clusters", {"groups": 10**6, "size": 10**6, "dim": 4}, "groups"),
        ("hard", {"dim": 2.5}, "dim"),
        ("hard", {"omega": 0.0}, "omega"),
        ("hard", {"omega": float("nan")}, "omega"),
        ("hard", {"limit": 0.5}, "limit"),
        ("hard", {"noise": -1.0}, "noise"),
        ("sphere", {"arms": 3, "dim": 5}, "arms"),
        ("sphere", {"dim": True}, "dim"),
        ("sphere", {"seed": -1}, "seed"),
        ("sphere", {"seed": "x"}, "seed"),
        ("sphere", {"lead": 0.0}, "lead"),
        ("sphere", {"lead": 1.0}, "lead"),
        ("clusters", {"groups": 0}, "groups"),
        ("clusters", {"groups": 1, "size": 2, "dim": 4}, "groups"),
        ("clusters", {"spread": -0.1}, "spread"),
        ("doses", {"efficacy": [1.0, 2.0], "toxicity": [1.0]}, "toxicity"),
        ("doses", {"efficacy": [1.0], "toxicity": [-1.0]}, "toxicity"),
        ("doses", {"efficacy": []}, "efficacy"),
        ("limited", {"level": 1.0}, "level"),
        ("limited", {"limit": 0.0}, "limit"),
        ("base-station", {"interference_limit": 0.5}, "safety"),
        ("base-station", {"noise": 0.0}, "noise"),
        ("hard", {"dimension": 3}, "world"),
        ("sandbox", {}, "world"),
    ],
)
def test_parameters_without_sense_are_refused_by_name(name: str, parameters: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        worlds.make(name, **parameters)
    assert caught.value.field.startswith(field)
