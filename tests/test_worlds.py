"""Worlds: what is true in them, the problems they pose, and what they refuse."""

import itertools
import pickle
from math import cos, sqrt
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from surefoot.core.nature import is_unsafe, observe

from surefoot import worlds
from surefoot.core.kernel import entry
from surefoot.errors import InvalidInput
from surefoot.live.session import signals_of
from surefoot.problem import Limit, Problem, Reward

ARMS = [[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]]
EVERY_WORLD = pytest.mark.parametrize("name", worlds.WORLDS)


def linear(**changes: object) -> worlds.Linear:
    given = {"arms": ARMS, "theta_star": [1.0, 0.5], "mu_star": [-1.0, 0.2], **changes}
    return worlds.Linear(given.pop("arms"), **given)  # type: ignore[arg-type]


def refused(field: str, **changes: object) -> None:
    with pytest.raises(InvalidInput) as caught:
        linear(**changes)
    assert caught.value.field.startswith(field)


# every world of the gallery ------------------------------------------------------------------------------------------


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


# the single worlds ---------------------------------------------------------------------------------------------------


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


# what is true --------------------------------------------------------------------------------------------------------


def test_the_level_of_an_arm_is_the_least_over_the_signals() -> None:
    world = linear(mu_star=[[-1.0, 0.2], [0.0, -2.0]], limit=[-0.5, -0.3])
    assert world.best_levels() == pytest.approx([0.5, 0.15, min(0.5 / 0.44, 0.3 / 1.6)])
    assert world.safety_values.shape == (2, 3)


def test_the_dials_of_a_problem_lower_the_best_levels() -> None:
    world = linear()
    setting = {"epsilon": 0.1, "delta": 0.1, "delta_safety": 0.1, "safe_level": 0.25}
    assert world.best_levels().tolist() == [0.5, 1.0, 1.0]
    assert world.best_levels(world.problem(**setting, max_level=0.7)).tolist() == [0.5, 0.7, 0.7]
    assert world.best_levels(world.problem(**setting, level_grid=[0.2, 0.4, 0.9])).tolist() == [0.4, 0.9, 0.9]
    assert world.best_value(world.problem(**setting, max_level=0.5)) == pytest.approx(0.5)


def test_a_grid_point_that_meets_the_limit_exactly_counts_as_safe() -> None:
    world = linear(mu_star=[-0.7, 0.0], limit=-0.21)  # -0.21 / -0.7 is a little less than 0.3 in floats
    problem = world.problem(epsilon=0.1, delta=0.1, delta_safety=0.1, safe_level=0.3, level_grid=[0.3, 1.0])
    assert world.best_levels(problem)[0] == 0.3
    assert world.is_safe(0, 0.3)


def test_doing_nothing_is_best_where_every_arm_loses() -> None:
    world = linear(theta_star=[-1.0, -1.0])
    assert (world.best_arm(), world.best_value()) == (-1, 0.0)
    assert linear(theta_star=[0.0, 0.0]).best_arm() == -1


def test_ties_go_to_the_lowest_index() -> None:
    world = linear(arms=[[0.5, 0.0], [1.0, 0.0], [1.0, 0.0]], theta_star=[1.0, 0.0], mu_star=[0.0, 0.0])
    assert world.best_arm() == 1
    assert world.lead() == 0.0


@given(
    mu=st.lists(st.floats(-5.0, 5.0), min_size=2, max_size=2),
    limit=st.floats(-2.0, -0.01),
    share=st.floats(0.0, 1.0),
)
@settings(max_examples=60, deadline=None)
def test_every_level_up_to_the_best_is_safe_and_none_beyond(mu: list[float], limit: float, share: float) -> None:
    world = linear(mu_star=mu, limit=limit)
    for k, level in enumerate(world.best_levels()):
        assert world.is_safe(k, share * float(level))
        assert level == 1.0 or not world.is_safe(k, float(level) * 1.0001)


def test_the_value_of_a_pull_is_linear_in_its_level() -> None:
    assert linear().value(2, 0.5) == pytest.approx(0.5 * (0.6 + 0.4))
    with pytest.raises(InvalidInput, match="arm = 3"):
        linear().value(3, 0.5)


# problems ------------------------------------------------------------------------------------------------------------


def test_a_problem_takes_noise_and_limits_from_the_world_and_true_norms_by_default() -> None:
    world = linear(noise=0.7, safety_noise=[0.1, 0.2], mu_star=[[-3.0, 4.0], [0.0, -2.0]], limit=[-0.5, -0.3])
    problem = world.problem(epsilon=0.01, delta=0.1, delta_safety=0.2, safe_level=0.05)
    assert problem.reward == Reward(noise=0.7, norm=sqrt(1.25))
    assert problem.safety == (
        Limit("safety1", at_least=-0.5, noise=0.1, norm=5.0),
        Limit("safety2", at_least=-0.3, noise=0.2, norm=2.0),
    )
    assert problem.arms.tolist() == ARMS
    single = linear().problem(epsilon=0.01, delta=0.1, delta_safety=0.2, safe_level=0.05, safety_norm=9.0, max_step=0.1)
    assert (single.safety[0].name, single.safety[0].norm, single.max_step) == ("safety", 9.0, 0.1)


def test_a_plain_world_has_a_default_problem_too() -> None:
    world = linear()
    problem = world.default_problem()
    assert problem.safe_level.max() <= 0.5 * world.best_levels().min()
    assert problem.epsilon == pytest.approx(world.lead() / 2.0)
    nothing = linear(theta_star=[0.0, 0.0], mu_star=[0.0, 0.0])
    assert nothing.default_problem().epsilon > 0.0


def made_for_a_problem() -> tuple[worlds.Linear, Problem]:
    problem = Problem(
        arms={"low": [1.0, 0.0], "high": [0.0, 1.0]},
        reward=Reward(noise=1.0, norm=2.0),
        safety=[
            Limit("heat", at_most=70.0, baseline=40.0, noise=2.0, norm=50.0),
            Limit("speed", at_least=-1.0, baseline=3.0, noise=0.1, norm=10.0),
        ],
        safe_level=0.2,
        epsilon=0.01,
        delta=0.1,
        delta_safety=0.1,
    )
    mu_star = [[20.0, 45.0], [-5.0, 1.0]]
    return worlds.Linear.for_problem(problem, theta_star=[1.0, 1.5], mu_star=mu_star), problem


def test_a_world_for_a_problem_takes_direction_and_baseline_from_its_limits() -> None:
    world, problem = made_for_a_problem()
    assert world.mu_star.tolist() == [[-20.0, -45.0], [-5.0, 1.0]]
    assert world.limit.tolist() == [-30.0, -4.0]
    assert (world.noise, world.safety_noise.tolist(), world.names) == (1.0, [2.0, 0.1], ("low", "high"))
    assert world.best_levels() == pytest.approx([0.8, 2.0 / 3.0])
    assert world.default_problem() == problem
    world.matches(problem)


def test_a_world_for_a_problem_wants_one_row_per_limit() -> None:
    _, problem = made_for_a_problem()
    with pytest.raises(InvalidInput, match="2 safety limits"):
        worlds.Linear.for_problem(problem, theta_star=[1.0, 1.5], mu_star=[20.0, 45.0])


def test_a_problem_from_elsewhere_is_refused_by_what_differs() -> None:
    world = linear()
    setting = {"epsilon": 0.1, "delta": 0.1, "delta_safety": 0.1, "safe_level": 0.25}
    world.matches(world.problem(**setting))
    with pytest.raises(InvalidInput, match="arms"):
        world.matches(linear(arms=[[1.0, 0.0], [0.0, 1.0], [0.6, 0.7]]).problem(**setting))
    with pytest.raises(InvalidInput, match="2 limits"):
        world.matches(linear(mu_star=[[-1.0, 0.2], [1.0, 0.0]]).problem(**setting))
    with pytest.raises(InvalidInput, match="lie elsewhere"):
        world.matches(linear(limit=-0.4).problem(**setting))


# noise ---------------------------------------------------------------------------------------------------------------


def pulled(arm: object, level: object, number: object) -> Any:
    return SimpleNamespace(arm=arm, level=level, number=number)


def test_measurements_have_an_address_and_no_memory() -> None:
    world, pull = worlds.base_station(), pulled(3, 0.2, 17)
    first = world.measure(pull, seed=5, run=2)
    world.measure(pulled(1, 0.2, 18), seed=5, run=2)
    assert world.measure(pull, seed=5, run=2) == first
    for other in (
        world.measure(pulled(3, 0.2, 18), 5, run=2),
        world.measure(pull, 6, run=2),
        world.measure(pull, 5, run=3),
    ):
        assert first["reward"] != other["reward"]
        assert not set(first["safety"]) & set(other["safety"])


@pytest.mark.parametrize("distribution", ["gaussian", "uniform", "rademacher"])
def test_noise_has_mean_zero_and_the_stated_size(distribution: str) -> None:
    world = linear(noise=2.0, safety_noise=0.3, distribution=distribution)
    measured = [world.measure(pulled(2, 0.5, number)) for number in range(1, 2001)]
    reward = np.array([each["reward"] for each in measured]) - world.value(2, 0.5)
    safety = np.array([each["safety"][0] for each in measured]) - 0.5 * world.safety_values[0, 2]
    for noise, size in ((reward, 2.0), (safety, 0.3)):
        assert abs(noise.mean()) < 5.0 * size / sqrt(2000)
        assert noise.std() == pytest.approx(size, rel=0.1)
        bound = {"gaussian": 5.0, "uniform": sqrt(3.0), "rademacher": 1.0}[distribution]
        assert np.abs(noise).max() <= bound * size * (1.0 + 1e-9)
    assert abs(np.corrcoef(reward, safety)[0, 1]) < 0.1


def drawn(world: worlds.Linear, pull: Any, seed: int, run: int) -> list[float]:
    """What the simulator draws for this pull, in internal units."""
    out = np.empty(1 + world.signals)
    words, no_block = np.empty(4, np.uint64), np.full(1, -1)
    entry(observe)(world.truth(), seed, run, pull.number, pull.arm, pull.level, words, no_block, out)
    return out.tolist()


@EVERY_WORLD
def test_a_measurement_is_what_the_simulator_draws_in_the_units_of_the_problem(name: str) -> None:
    world = worlds.WORLDS[name]()
    posed = [world.default_problem(), world.problem(epsilon=0.1, delta=0.1, delta_safety=0.1, safe_level=0.01)]
    for pull, (seed, run) in itertools.product((pulled(1, 0.3, 1), pulled(0, 1.0, 10**9)), ((0, 0), (2**61, 7))):
        reward, *signals = drawn(world, pull, seed, run)
        for problem in posed:
            found = world.measure(pull, seed, run=run, problem=problem)
            readings = [limit.reading(signal) for limit, signal in zip(problem.safety, signals, strict=True)]
            assert found == {"reward": reward, "safety": readings}
            assert signals_of(problem, **found)[0] == reward
            assert [type(number) for number in (found["reward"], *found["safety"])] == [float] * (1 + world.signals)
        assert world.measure(pull, seed, run=run) == world.measure(pull, seed, run=run, problem=posed[0])


def test_a_world_made_for_a_problem_answers_in_its_units() -> None:
    world, problem = made_for_a_problem()
    quiet = worlds.Linear.for_problem(
        problem, theta_star=[1.0, 1.5], mu_star=[[20.0, 45.0], [-5.0, 1.0]], noise=1e-9, safety_noise=1e-9
    )
    found = quiet.measure(pulled(1, 0.5, 1))
    assert found["reward"] == pytest.approx(0.75)
    assert found["safety"] == pytest.approx([40.0 + 22.5, 3.0 + 0.5])
    mirrored = problem.with_(
        safety=[
            Limit("cold", at_least=-70.0, baseline=-40.0, noise=2.0, norm=50.0),
            Limit("speed", at_least=-1.0, baseline=3.0, noise=0.1, norm=10.0),
        ]
    )
    assert quiet.measure(pulled(1, 0.5, 1), problem=mirrored)["safety"] == pytest.approx([-62.5, 3.5])
    assert world.measure(pulled(1, 0.5, 1)) != world.measure(pulled(1, 0.5, 2))


@pytest.mark.parametrize(
    ("field", "pull"),
    [
        ("pull", 3),
        ("pull", None),
        ("pull", SimpleNamespace(arm=0, level=0.2)),
        ("pull.arm", pulled(-1, 0.2, 1)),
        ("pull.arm", pulled(3, 0.2, 1)),
        ("pull.arm", pulled("a1", 0.2, 1)),
        ("pull.arm", pulled(True, 0.2, 1)),
        ("pull.level", pulled(0, 1.2, 1)),
        ("pull.level", pulled(0, float("nan"), 1)),
        ("pull.level", pulled(0, "0.2", 1)),
        ("pull.number", pulled(0, 0.2, 0)),
        ("pull.number", pulled(0, 0.2, 1.0)),
    ],
)
def test_what_is_no_pull_is_refused_by_name(field: str, pull: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        linear().measure(pull)
    assert caught.value.field == field


def test_a_measurement_for_another_problem_or_without_an_address_is_refused_by_name() -> None:
    world = linear()
    for field, arguments in {
        "arms": {"problem": worlds.hard().default_problem()},
        "safety": {"problem": linear(limit=-0.4).default_problem()},
        "problem": {"problem": "hard"},
        "seed": {"seed": -1},
        "run": {"run": 0.5},
    }.items():
        with pytest.raises(InvalidInput) as caught:
            world.measure(pulled(0, 0.2, 1), **arguments)  # type: ignore[arg-type]
        assert caught.value.field == field


def test_the_compiled_truth_holds_the_rows_that_the_simulator_reads() -> None:
    world, _ = made_for_a_problem()
    truth = world.truth()
    assert np.array_equal(truth.value, np.vstack([world.values, world.safety_values]))
    assert truth.value.flags.c_contiguous
    assert truth.scale.tolist() == [1.0, 2.0, 0.1]
    assert truth.eta0.tolist() == [-30.0, -4.0]
    assert linear(distribution="rademacher").truth().noise == 2


@EVERY_WORLD
def test_world_and_simulator_agree_on_what_is_unsafe(name: str) -> None:
    world, crosses = worlds.WORLDS[name](), entry(is_unsafe)
    for k, level in enumerate(world.best_levels()):
        for share in (0.5, 1.0, 1.0 + 1e-15, 1.0 + 1e-11, 1.5):
            assert world.is_safe(k, share * float(level)) is not crosses(world.truth(), k, share * float(level))


# the judge -----------------------------------------------------------------------------------------------------------


@EVERY_WORLD
def test_the_judge_says_of_many_what_it_says_of_each(name: str) -> None:
    world = worlds.WORLDS[name]()
    problem = world.default_problem()
    judge, rng = world.judge(problem), np.random.default_rng(4)
    arms, levels = rng.integers(-1, world.size, 60), rng.uniform(0.0, 1.0, 60)
    for of_many, of_one in (
        (judge.value, lambda k, g: world.value(k, g) if k >= 0 else 0.0),
        (judge.is_safe, lambda k, g: k < 0 or world.is_safe(k, g)),
        (judge.shortfall, lambda k, g: world.best_value(problem) - (world.value(k, g) if k >= 0 else 0.0)),
        (judge.is_wrong, lambda k, g: bool(judge.is_too_far(k, g)) or not judge.is_safe(k, g)),
    ):
        expected = [of_one(int(k), float(g)) for k, g in zip(arms, levels, strict=True)]
        assert of_many(arms, levels).tolist() == expected
        assert [of_many(int(k), float(g)) for k, g in zip(arms, levels, strict=True)] == expected


@EVERY_WORLD
def test_the_best_answer_is_right_and_doing_nothing_is_safe(name: str) -> None:
    world = worlds.WORLDS[name]()
    problem = world.default_problem()
    judge = world.judge(problem)
    assert (judge.best_arm, judge.best_value) == (world.best_arm(problem), world.best_value(problem))
    assert judge.best_level == world.best_levels(problem)[judge.best_arm]
    assert not judge.is_wrong(judge.best_arm, judge.best_level)
    assert judge.shortfall(judge.best_arm, judge.best_level) == pytest.approx(0.0)
    assert (judge.value(-1, 0.0), judge.is_safe(-1, 0.0), judge.is_wrong(-1, 0.0)) == (0.0, True, True)
    assert judge.best_without_limits == world.values.max()


def test_the_judge_knows_the_dial() -> None:
    setting = {"epsilon": 0.1, "delta": 0.1, "delta_safety": 0.1, "safe_level": 0.25}
    judge = linear().judge(linear().problem(**setting, level_grid=[0.2, 0.4, 0.9], max_level=0.95))
    assert (judge.best_arm, judge.best_level, judge.best_value) == (2, 0.9, pytest.approx(0.9))
    assert judge.best_without_limits == pytest.approx(0.9)


def test_proposition_1_leaves_open_what_is_not_certified_of_the_best_arm() -> None:
    judge = linear().judge(linear().problem(epsilon=0.1, delta=0.1, delta_safety=0.1, safe_level=0.25))
    certified = np.array([[0.25, 0.25, 0.25], [0.5, 1.0, 1.0]])
    assert judge.unlearned(certified).tolist() == pytest.approx([0.75, 0.0])
    harmful = linear(theta_star=[-1.0, -1.0])
    assert harmful.judge(harmful.default_problem()).unlearned(certified) == 0.0


def test_a_verdict_counts_unsafe_pulls_and_holds_the_answer_against_the_best() -> None:
    world = linear()
    judge = world.judge(world.problem(epsilon=0.1, delta=0.1, delta_safety=0.1, safe_level=0.25))
    pulls = [pulled(0, 0.5, 1), pulled(1, 1.0, 2), pulled(0, 0.6, 3), pulled(0, 0.9, 4)]
    assert judge.verdict(pulls, pulled(2, 0.9, 0)) == worlds.Verdict(2, 3, True, pytest.approx(0.1))
    assert judge.verdict(pulls[:2], pulled(0, 0.6, 0)) == worlds.Verdict(0, None, False, None)
    assert judge.verdict([], None) == worlds.Verdict(0, None, None, None)
    assert judge.verdict([], pulled(-1, 0.0, 0)) == worlds.Verdict(0, None, True, pytest.approx(1.0))


def test_an_arm_that_is_not_there_cannot_be_judged() -> None:
    judge = linear().judge(linear().default_problem())
    for arm in (3, 0.5, np.array([0, 7])):
        with pytest.raises(InvalidInput, match="arm"):
            judge.is_safe(arm, 0.5)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="arms"):
        linear().judge(worlds.hard().default_problem())


def test_a_world_is_whatever_does_what_a_world_does() -> None:
    world = linear()

    class Relayed:
        name = "relayed"

        def __getattr__(self, word: str) -> Any:
            return getattr(world, word)

    class Deaf:
        name = "deaf"

        def measure(self, pull: Any, seed: int = 0) -> Any:
            return world.measure(pull, seed)

    assert worlds.check_world(world) is world
    worlds.check_world(Relayed())
    with pytest.raises(InvalidInput, match="has no matches, judge, truth"):
        worlds.check_world(Deaf())
    for other in ("hard", None, worlds.hard, worlds.Linear, world.default_problem()):
        with pytest.raises(InvalidInput) as caught:
            worlds.check_world(other)
        assert caught.value.field == "world"


# what it shows and what it refuses -----------------------------------------------------------------------------------


def test_a_world_shows_its_arms_and_its_truth() -> None:
    shown = repr(worlds.hard())
    assert all(word in shown for word in ("hard", "4 arms", "a4", "theta_star [2.", "mu_star", "-1.", "-0.5"))
    assert "and 8 more" in repr(worlds.sphere(arms=20))


def test_a_world_cannot_be_changed() -> None:
    world = linear()
    with pytest.raises(AttributeError):
        world.noise = 0.1  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        world.theta_star[0] = 3.0


def test_bad_worlds_are_refused_by_name() -> None:
    refused("arms", arms=[[1.0], [1.0, 2.0]])
    refused("arms", arms=[[1.0, float("nan")]])
    refused("names", names=["x", "x", "y"])
    refused("theta_star", theta_star=[1.0])
    refused("theta_star", theta_star=[1.0, float("inf")])
    refused("theta_star", theta_star="ab")
    refused("mu_star", mu_star=[1.0, 2.0, 3.0])
    refused("mu_star", mu_star=[[1.0, 2.0], [3.0]])
    refused("mu_star", mu_star=0.5)
    refused("mu_star", mu_star=[])
    refused("mu_star", mu_star=np.zeros((2, 2, 2)))
    refused("noise", noise=0.0)
    refused("noise", noise=True)
    refused("safety_noise", safety_noise=-0.1)
    refused("safety_noise", safety_noise=[0.1, 0.1])
    refused("limit", limit=0.0)
    refused("limit", limit=[-0.5, 0.5])
    refused("limit", limit=float("nan"))
    refused("distribution", distribution="cauchy")
    refused("name", name="")


@pytest.mark.parametrize(
    ("name", "parameters", "field"),
    [
        ("hard", {"dim": 1}, "dim"),
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
