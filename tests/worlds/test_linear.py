"""Linear worlds: what is true in them, the problems they pose, what they show and what they refuse."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from small_worlds import ARMS, linear, made_for_a_problem
from surefoot import worlds
from surefoot.errors import InvalidInput
from surefoot.problem import Arm, Limit, Reward


def refused(field: str, **changes: object) -> None:
    with pytest.raises(InvalidInput) as caught:
        linear(**changes)
    assert caught.value.field.startswith(field)


# -- what is true ----------------------------------------------------------------------------------------------------


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


# -- problems ---------------------------------------------------------------------------------------------------------


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


# -- what it shows and what it refuses --------------------------------------------------------------------------------


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


def test_without_mu_star_there_are_no_limits() -> None:
    for without in ({}, {"mu_star": None}, {"mu_star": []}):
        world = worlds.Linear([[1.0, 0.0], [0.0, -1.0]], theta_star=[1.0, 0.5], **without)
        assert world.signals == 0
        assert world.best_levels().tolist() == [1.0, 1.0]
        assert world.is_safe(1, 1.0)
        assert "no limits" in repr(world)
    problem = world.default_problem()
    assert problem.safety == ()
    assert world.best_value(problem) == 1.0
    assert world.judge(problem).best_without_limits == 1.0
    assert worlds.Linear.for_problem(problem, theta_star=[1.0, 0.5]).default_problem() == problem
    with pytest.raises(InvalidInput, match="are 0 limits"):
        linear().matches(problem.with_(arms=linear().arms))


def test_marks_of_arms_go_to_the_problems_of_a_world() -> None:
    goal = Arm([1.0, 1.0], pullable=False, safe_level=0.1)
    world = worlds.Linear([[1.0, 0.0], [0.0, 1.0], goal], theta_star=[1.0, 0.5], mu_star=[-0.5, 0.1])
    problem = world.problem(epsilon=0.1, delta=0.05, delta_safety=0.05, safe_level=0.2)
    assert problem.pullable.tolist() == [True, True, False]
    assert problem.safe_level.tolist() == [0.2, 0.2, 0.1]
    unmarked = world.problem(epsilon=0.1, delta=0.05, delta_safety=0.05, safe_level=0.2, pullable=[True] * 3)
    assert unmarked.pullable.all()
    assert worlds.Linear.for_problem(problem, theta_star=[1.0, 0.5], mu_star=[0.5, -0.1]).marks.pullable == {2: False}
