"""What a pull returns: the truth with the noise of its address, in the problem's units, as the simulator draws it."""

import itertools
from math import sqrt
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from scenes import signals_of
from small_worlds import linear, made_for_a_problem, pulled
from surefoot import worlds
from surefoot.core.compiler import compiled
from surefoot.errors import InvalidInput
from surefoot.problem import Limit
from surefoot.worlds.response import RADEMACHER

EVERY_WORLD = pytest.mark.parametrize("name", worlds.WORLDS)


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
    response = world.response()
    out = np.empty(response.signals)
    respond = compiled(response.respond, {}, "response")
    respond(response.truth, response.room, seed, run, pull.number, pull.arm, pull.level, out)
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


def test_the_response_holds_the_rows_that_the_simulator_reads() -> None:
    world, _ = made_for_a_problem()
    response = world.response()
    truth = response.truth
    assert np.array_equal(truth.value, np.vstack([world.values, world.safety_values]))
    assert truth.value.flags.c_contiguous
    assert truth.scale.tolist() == [1.0, 2.0, 0.1]
    assert truth.eta0.tolist() == [-30.0, -4.0]
    assert response.signals == 3
    assert linear(distribution="rademacher").response().truth.noise == RADEMACHER


def test_every_response_has_room_of_its_own() -> None:
    """Threads write into it."""
    world = linear()
    assert world.response().room is not world.response().room


@EVERY_WORLD
def test_world_and_simulator_agree_on_what_is_unsafe(name: str) -> None:
    world = worlds.WORLDS[name]()
    response = world.response()
    for k, level in enumerate(world.best_levels()):
        for share in (0.5, 1.0, 1.0 + 1e-15, 1.0 + 1e-11, 1.5):
            crosses = response.crosses(response.truth, k, share * float(level))
            assert bool(world.is_safe(k, share * float(level))) is not bool(crosses)
