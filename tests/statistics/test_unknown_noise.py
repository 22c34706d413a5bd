"""Gaussian noise of unknown size: every bound, the size itself and the promises of SafeGap, whatever was guessed.

The pulls are chosen by the policy that uses the bounds, so this is coverage under adaptive sampling. A rate passes when
its exact lower bound does not exceed what may be spent.
"""

from dataclasses import replace
from typing import Any

import pytest
from escapes import LOWER, broken_bounds, small_noises
from test_promises import lower_bound, two_limits
from test_sets import check_safe_gap

import surefoot as sf
from surefoot.policies.safe_gap import REWARD_ELLIPSOID, SAFETY_ELLIPSOID
from surefoot.sets import unknown_noise

GUESSES = [1.0, 5.0, 0.2]  # right, five times too large, five times too small
WORLDS: dict[str, Any] = {
    "limited": sf.worlds.limited, "doses": sf.worlds.doses, "base-station": sf.worlds.base_station,
    "two-limits": lambda: two_limits("gaussian"), "hard": sf.worlds.hard,
}  # fmt: skip


def unknown(world: sf.worlds.Linear, guess: float, delta: float, cap: float | None = None) -> sf.Problem:
    """The world's problem with noise that nobody knows, and a guess so many times too large."""
    problem = world.default_problem().with_(delta=delta, delta_safety=delta)
    largest = [None if cap is None else cap * float(size) for size in (world.noise, *world.safety_noise)]
    limits = [
        replace(limit, noise="unknown", guess=guess * float(size), noise_at_most=most)
        for limit, size, most in zip(problem.safety, world.safety_noise, largest[1:], strict=True)
    ]
    reward = replace(problem.reward, noise="unknown", guess=guess * world.noise, at_most=largest[0])
    return problem.with_(reward=reward, safety=limits)


@pytest.mark.parametrize("guess", GUESSES)
@pytest.mark.parametrize("name", WORLDS)
def test_every_bound_holds_whatever_is_guessed(name: str, guess: float) -> None:
    world = WORLDS[name]()
    check_safe_gap(world, unknown(world, guess, 0.2), runs=150, rounds=500, seed=71)


@pytest.mark.parametrize("cap", [1.0, 3.0])
def test_every_bound_holds_under_a_cap_that_is_true(cap: float) -> None:
    world = WORLDS["two-limits"]()
    check_safe_gap(world, unknown(world, 0.5, 0.2, cap), runs=300, rounds=300, seed=72)


@pytest.mark.parametrize("guess", GUESSES)
def test_the_size_is_never_larger_than_is_said(guess: float) -> None:
    """It is given on the events of the ellipsoids that bound from below, and costs nothing beside them."""
    for name, delta in (("two-limits", 0.2), ("doses", 0.2), ("base-station", 0.05)):
        world = WORLDS[name]()
        found = small_noises(world, unknown(world, guess, delta), sf.SafeGap(), runs=400, rounds=400, seed=73)
        assert lower_bound(found[:, 0].sum(), 400) <= delta * REWARD_ELLIPSOID
        assert lower_bound(found[:, 1:].any(axis=1).sum(), 400) <= delta * SAFETY_ELLIPSOID


def test_the_measurement_notices_a_mixture_that_promises_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test of the test: weights that are no probability take more off than the residuals allow."""
    world = WORLDS["two-limits"]()
    monkeypatch.setattr(unknown_noise, "WEIGHTS", tuple(1e3 * weight for weight in unknown_noise.WEIGHTS))
    problem = unknown(world, 1.0, 0.05)
    found = broken_bounds(world, problem, sf.SafeGap(), runs=150, rounds=500, seed=71)
    assert lower_bound(found[:, LOWER].sum(), 150) > problem.delta_safety
    sizes = small_noises(world, problem, sf.SafeGap(), runs=150, rounds=400, seed=73)
    assert lower_bound(sizes[:, 1:].any(axis=1).sum(), 150) > problem.delta_safety


@pytest.mark.parametrize("delta", [0.05, 0.2])
@pytest.mark.parametrize("guess", GUESSES)
@pytest.mark.parametrize("name", WORLDS)
def test_the_promises_are_kept_whatever_is_guessed(name: str, guess: float, delta: float) -> None:
    world, runs = WORLDS[name](), 60
    problem = unknown(world, guess, delta)
    found = sf.simulate(world, problem, sf.SafeGap(), runs=runs, seed=44, max_pulls=30_000)
    assert found.stopped.all()
    assert lower_bound((found.unsafe_pulls > 0).sum(), runs) <= delta
    assert lower_bound(found.answer_unsafe.sum(), runs) <= delta
    assert lower_bound(found.wrong.sum(), runs) <= delta


def test_not_to_know_the_noise_costs_a_part_of_the_pulls_and_a_bad_guess_less_than_as_many_again() -> None:
    world, pulls = sf.worlds.limited(), {}
    known = sf.simulate(world, unknown(world, 1.0, 0.001).with_(
        reward=world.default_problem().reward, safety=world.default_problem().safety), runs=100, seed=9)  # fmt: skip
    for guess in GUESSES:
        found = sf.simulate(world, unknown(world, guess, 0.001), sf.SafeGap(), runs=100, seed=9)
        pulls[guess] = float(found.pulls.mean() / known.pulls.mean())
    assert pulls[1.0] <= 1.35
    assert max(pulls.values()) <= 2.0


def test_a_cap_that_is_close_helps_from_the_first_pulls_on() -> None:
    """With one, levels rise after ten pulls; without, there are too few residuals to know anything of the noise."""
    world = sf.worlds.limited()
    for cap, risen in ((None, 0), (1.2, 60)):
        problem = unknown(world, 1.0, 0.01, cap)
        runs = sf.simulate(world, problem, sf.SafeGap(), runs=60, seed=9, max_pulls=10)
        assert (runs.levels > problem.safe_level).any(axis=1).sum() == risen
        assert not (runs.unsafe_pulls > 0).any()
