"""Methods of the field that know limits at delta = 0.05: answers, pulls and levels keep what is promised.

A rate passes when its exact (Clopper-Pearson) lower bound does not exceed what is promised.
"""

from typing import Any

import pytest
from scipy.stats import binomtest
from test_promises import two_limits

import surefoot as sf
from surefoot.core.kernel import interpreting
from surefoot.policies import SAFELY

DELTA, RUNS, MOST = 0.05, 400, 400_000

WORLDS = {
    "hard": sf.worlds.hard,
    "clusters": lambda: sf.worlds.clusters(distribution="uniform"),
    "base station": lambda: sf.worlds.base_station(distribution="rademacher"),
    "two limits": lambda: two_limits("gaussian"),
}
DOSES = {
    "doses": sf.worlds.doses,
    "uniform": lambda: sf.worlds.doses(distribution="uniform"),
    "few": lambda: sf.worlds.doses(efficacy=[1.0, 0.6], toxicity=[0.8, 0.3], distribution="rademacher"),
}
BENDS = {"straight": (0.0, 0.0), "saturating": (2.0, 2.0), "late harm": (2.0, -2.0)}


def rate(events: Any) -> float:
    return float(binomtest(int(events), RUNS, alternative="greater").proportion_ci(0.95, method="exact").low)


def held(world: Any, problem: sf.Problem, policy: Any) -> sf.Runs:
    """The runs, which keep what the policy states of answers and pulls."""
    found, stated = (
        sf.simulate(world, problem, policy, runs=RUNS, seed=23, max_pulls=MOST), policy.guarantee(problem)
    )  # fmt: skip
    unsafe = ((found.unsafe_pulls > 0) | found.answer_unsafe).sum()
    print(
        f"{policy.name}, {world.name}: {found.pulls.mean():,.0f} pulls, {found.broken_promise.sum()} of {RUNS} wrong, "
        f"{unsafe} unsafe, {(found.outcome == 3).sum()} contradicted"
    )
    assert not (found.outcome == 4).any(), "breakdown"
    assert rate((found.outcome == 3).sum()) <= 1.1 * DELTA
    assert found.stopped.sum() + (found.outcome == 3).sum() == RUNS
    assert rate(found.broken_promise.sum()) <= 1.0 - stated.confidence
    if stated.keeps_limits:
        assert rate(unsafe) <= DELTA
    return found


def at_nominal(world: Any) -> sf.Problem:
    return world.default_problem().with_(delta=DELTA, delta_safety=DELTA)  # type: ignore[no-any-return]


@pytest.mark.certify
@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("policy", [sf.policies.SafeElimination(), sf.policies.SafeGame()], ids=lambda each: each.name)
def test_the_whole_promise_is_kept_whoever_chooses_the_pulls(policy: Any, world: str) -> None:
    made = WORLDS[world]()
    found = held(made, at_nominal(made), policy)
    assert rate(found.wrong.sum()) <= 2 * DELTA  # unsafe answers count here


@pytest.mark.certify
@pytest.mark.parametrize("world", WORLDS)
def test_a_method_that_keeps_no_limits_answers_safely(world: str) -> None:
    made = WORLDS[world]()
    found = held(made, at_nominal(made), sf.policies.Beside())
    assert rate(found.answer_unsafe.sum()) <= DELTA
    assert (found.unsafe_pulls > 0).mean() > 0.9  # what it must not be used for


@pytest.mark.certify
@pytest.mark.parametrize("world", DOSES)
def test_independent_doses_keep_the_whole_promise(world: str) -> None:
    made = DOSES[world]()
    found = held(made, at_nominal(made), sf.policies.SafeLinear())
    assert rate(found.wrong.sum()) <= 2 * DELTA


@pytest.mark.certify
@pytest.mark.parametrize("bend", BENDS)
def test_rising_effects_keep_the_promise_with_a_reserve(bend: str) -> None:
    made = sf.worlds.Monotone(sf.worlds.doses(), bend=BENDS[bend])
    problem = made.problem(epsilon=0.1, delta=DELTA, delta_safety=DELTA, safe_level=0.1)
    held(made, problem, sf.policies.SafeMonotonic())


@pytest.mark.certify
@pytest.mark.parametrize("kind", SAFELY, ids=lambda each: each.name)
def test_compiled_code_decides_as_the_interpreter_does(kind: Any) -> None:
    """Here, where they are compiled anyway."""
    made = sf.worlds.doses()
    problem = at_nominal(made)

    def found() -> sf.Runs:
        return sf.simulate(made, problem, kind(), runs=1, seed=3, max_pulls=150)

    with interpreting():
        plain = found()
    compiled = found()
    assert (plain.pulls_per_arm == compiled.pulls_per_arm).all()
    assert plain.gap.tolist() == compiled.gap.tolist()
    assert plain.levels.tolist() == compiled.levels.tolist()
