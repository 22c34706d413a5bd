"""Means that are linear only within what is stated: no bound is false, no limit crossed more often than is paid for.

The errors are chosen against the bounds: by arm, level, time and all that was seen. A rate passes when its exact lower
bound does not exceed what may be spent.
"""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from escapes import LEAD_OF_BEST, LOWER, UPPER_AT_BEST, astray
from test_promises import lower_bound, two_limits

import surefoot as sf
from surefoot.core.types import ALARM
from surefoot.policies.safe_gap import OPTIMISTIC_LEVELS

RUNS, BUDGET = 200, 3000
WORLDS: dict[str, Any] = {
    "limited": sf.worlds.limited, "doses": sf.worlds.doses, "base-station": sf.worlds.base_station,
    "two-limits": lambda: two_limits("gaussian"), "sphere": lambda: sf.worlds.sphere(arms=80, dim=4),
}  # fmt: skip


def pumps(within: float = 0.0, epsilon: float = 0.15, delta: float = 0.05, reward: float = 0.0) -> sf.Problem:
    """The pumps of the README."""
    return sf.Problem(
        arms={"pump A": [1, 0], "pump B": [0, 1], "both": [0.6, 0.4]}, reward=sf.Reward(noise=0.5, within=reward),
        safety=[sf.Limit("pressure", at_most=8.0, baseline=5.0, noise=0.3, within=within)],
        safe_level=0.2, epsilon=epsilon, delta=delta, delta_safety=delta,
    )  # fmt: skip


def bent(problem: sf.Problem, **how: Any) -> sf.worlds.NearlyLinear:
    return sf.worlds.NearlyLinear.for_problem(problem, theta_star=[1.5, 0.3], mu_star=[[4.0, 2.0]], **how)


def within(world: sf.worlds.Linear, share: float, reward: float, delta: float) -> sf.Problem:
    """The world's problem with errors of the law: so much of the room up to each limit, and of the largest value."""
    problem = world.default_problem().with_(delta=delta, delta_safety=delta)
    return problem.with_(
        reward=replace(problem.reward, within=reward * float(np.abs(world.values).max())),
        safety=[replace(limit, within=-share * limit.eta0) for limit in problem.safety],
    )


def played(world: Any, problem: sf.Problem, seed: int = 5, runs: int = RUNS, alarm: bool = False) -> sf.Runs:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sf.errors.WorldBreaksStatement)
        return sf.simulate(world, problem, runs=runs, seed=seed, max_pulls=BUDGET, alarm=alarm)


@pytest.mark.parametrize("power", [1.3, 2.0])
def test_bent_effects_cross_limits_unless_the_error_is_stated(power: float) -> None:
    """Without the statement far more runs are unsafe than delta_safety allows, most of them certified and without an
    alarm; with it no more than that are."""
    world, delta = bent(pumps(), power=[1.0, power]), 0.05
    error = float(world.least_error()[1])
    linear = played(world, pumps(delta=delta).with_(max_step=0.05), alarm=True)
    silent = linear.outcome != ALARM
    unsafe = (linear.unsafe_pulls > 0) | linear.wrong  # a pull, or the answer
    assert lower_bound((unsafe & silent).sum(), RUNS) > 2 * delta
    for epsilon in (0.15, 0.6):
        nearly = played(world, pumps(error, epsilon, delta).with_(max_step=0.05))
        assert lower_bound((nearly.unsafe_pulls > 0).sum(), RUNS) <= delta
        assert lower_bound(nearly.wrong.sum(), RUNS) <= 2 * delta


@pytest.mark.parametrize("pattern", ["hidden", "waves"])
@pytest.mark.parametrize("error", [0.1, 0.4])
def test_nothing_that_strays_within_the_error_breaks_a_promise(error: float, pattern: str) -> None:
    world = bent(pumps(), error=[0.05, error], pattern=pattern)
    runs = played(world, pumps(error, 1.2, 0.05, reward=0.05))
    assert lower_bound((runs.unsafe_pulls > 0).sum(), RUNS) <= 0.05
    assert lower_bound(runs.wrong.sum(), RUNS) <= 0.1
    assert runs.stopped.mean() > 0.9


@pytest.mark.parametrize("share", [0.05, 0.2])
@pytest.mark.parametrize("name", [pytest.param(w, marks=pytest.mark.certify) if w == "sphere" else w for w in WORLDS])
def test_every_bound_holds_however_means_stray(name: str, share: float) -> None:
    world = WORLDS[name]()
    problem = within(world, share, 0.03, 0.2)
    best, m = max(world.best_arm(problem), 0), len(problem.safety)
    for pushed in ([best] * (1 + m), [0] * (1 + m)):
        found = astray(world, problem, sf.SafeGap(), pushed, runs=100, rounds=400, seed=31)
        assert lower_bound(found[:, LOWER].sum(), 100) <= problem.delta_safety
        assert lower_bound(found[:, UPPER_AT_BEST].sum(), 100) <= problem.delta * OPTIMISTIC_LEVELS
        assert lower_bound(found[:, LEAD_OF_BEST].sum(), 100) <= problem.delta * (1.0 - OPTIMISTIC_LEVELS)


def test_bounds_break_where_the_error_is_not_stated() -> None:
    """The same errors, chosen in the same way, against sets that know nothing of them: so the tests above can fail."""
    world = WORLDS["two-limits"]()
    problem = within(world, 0.2, 0.0, 0.2)
    stated = astray(world, problem, sf.SafeGap(), [0, 0, 0], runs=100, rounds=400, seed=31)
    unstated = astray(world, problem, Forgetful(), [0, 0, 0], runs=100, rounds=400, seed=31)
    assert lower_bound(stated[:, LOWER].sum(), 100) <= problem.delta_safety
    assert unstated[:, LOWER].mean() > 0.5


class Forgetful(sf.SafeGap):
    """SafeGap with the sets of exactly linear means, where they are not."""

    def plan(self, problem: sf.Problem) -> Any:
        exact = problem.with_(
            reward=replace(problem.reward, within=0.0), safety=[replace(each, within=0.0) for each in problem.safety]
        )
        plan = super().plan(exact)
        return plan._replace(sets=replace(plan.sets, bears_error=True))


@pytest.mark.parametrize("pattern", ["hidden", "waves"])
def test_the_alarm_does_not_cry_within_the_stated_error(pattern: str) -> None:
    world = bent(pumps(), power=[1.0, 1.3], error=[0.05, 0.2], pattern=pattern)
    error = world.least_error()
    runs = played(world, pumps(float(error[1]), 0.001, reward=float(error[0])), alarm=True)
    assert lower_bound((runs.outcome == ALARM).sum(), RUNS) <= 0.01


def test_the_alarm_still_cries_beyond_it() -> None:
    world = bent(pumps(), power=[1.0, 3.0])
    runs = played(world, pumps(0.1, 0.001), runs=40, alarm=True)
    assert (runs.outcome == ALARM).sum() > 10
