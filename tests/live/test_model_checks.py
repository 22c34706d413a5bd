"""The alarm keeps quiet while the model is true, at the stated level, and speaks up when it is not."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import surefoot as sf
from surefoot.errors import InvalidInput
from surefoot.live.e_processes import Cells, deviation_evidence, fit, noise_evidence, unexplained
from surefoot.live.model_checks import Finding, ModelChecks

WORLD = sf.worlds.limited()
PROBLEM = WORLD.default_problem().with_(epsilon=1e-6)  # it never stops by itself
VALUES = np.vstack([WORLD.values, WORLD.safety_values])
R = np.array([PROBLEM.reward.noise, PROBLEM.safety[0].noise])
EXPLORING = sf.SafeLinGapE(selection="optimistic", explore=sf.RoundRobin(400))

Answers = Callable[[sf.Pull, np.random.Generator], Any]


def honest(pull: sf.Pull, rng: np.random.Generator) -> Any:
    return pull.level * VALUES[:, pull.arm] + R * rng.standard_normal(2)


def watched(
    answer: Answers, pulls: int, seed: int, level: float = 0.01, policy: Any = None, together: int = 5
) -> ModelChecks:
    """The tests after a live session, ended by the first finding; so many results are looked at together."""
    session, tests = sf.Session(PROBLEM, policy, seed=seed, max_pulls=pulls), ModelChecks(PROBLEM, level)
    rng = np.random.default_rng(seed)
    rows: list[tuple[int, float, Any]] = []
    while not session.stopped and not tests.findings:
        pull = session.ask()
        reward, safety = answer(pull, rng)
        rows.append((pull.arm, pull.level, (reward, safety)))
        session.tell(pull, reward=reward, safety=PROBLEM.safety[0].reading(safety))
        if len(rows) == together or session.stopped:
            arms, levels, observed = (np.array(column) for column in zip(*rows, strict=True))
            tests.take_all(arms, levels, observed)
            rows.clear()
    return tests


def take(tests: ModelChecks, arm: int, level: float, observed: Any) -> tuple[Finding, ...]:
    """What one result reveals."""
    return tests.take_all(np.array([arm]), np.array([level]), np.array([observed], np.float64))


# -- quiet while the model is true ------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", ["gaussian", "uniform", "sign"])
def test_false_alarms_stay_within_the_stated_level_under_adaptive_sampling(noise: str) -> None:
    """At a level of 0.3, so that a test which is too eager would show within few runs."""

    def answer(pull: sf.Pull, rng: np.random.Generator) -> Any:
        drawn = {
            "gaussian": lambda: rng.standard_normal(2),
            "uniform": lambda: rng.uniform(-np.sqrt(3), np.sqrt(3), 2),
            "sign": lambda: rng.choice([-1.0, 1.0], 2),
        }[noise]()
        return pull.level * VALUES[:, pull.arm] + R * drawn

    runs = 60 if noise == "gaussian" else 30
    false = sum(bool(watched(answer, 150, seed, level=0.3).findings) for seed in range(runs))
    assert binom.sf(false - 1, runs, 0.3) > 1e-3


def test_no_bet_grows_in_the_mean() -> None:
    """The mean capital of every single bet over many runs is at most 1, up to chance."""
    rng = np.random.default_rng(8)
    X, runs, pulls = np.array([[1.0, 0.0], [0.0, 1.0], [0.7, 0.7], [0.5, -0.5]]), 3000, 40
    capital: dict[str, list[float]] = {"noise": [], "cells": []}
    for _ in range(runs):
        arms, levels = rng.integers(4, size=pulls), rng.choice([0.3, 0.9], pulls)
        observed = (levels * (X[arms] @ [3.0, -2.0]) + rng.standard_normal(pulls))[:, None]
        cells, ones = Cells(1, 4, 2), Cells(1, 4, 1)
        cells.add(arms, (levels > 0.5).astype(int), levels, observed)
        ones.add(arms, np.zeros_like(arms), levels, observed)
        best = fit(X, ones.N[:, 0], ones.m[:, :, 0])
        squares = ((observed[:, 0] - levels * (X[arms] @ best)[:, 0]) ** 2).sum()
        capital["noise"].append(float(np.exp(noise_evidence(np.array([squares]), pulls)[0])))
        capital["cells"].append(float(np.exp(deviation_evidence(cells, X)[0])))
    for name, values in capital.items():
        assert np.mean(values) <= 1.0 + 4.0 * np.std(values) / np.sqrt(runs), name
        assert np.mean(np.array(values) >= 20.0) <= 0.05


def test_the_bet_on_noise_is_fair_for_a_normal_reading() -> None:
    """Its mean is 1 exactly: nothing is given away, and nothing is taken that is not due."""
    from scipy.integrate import quad
    from scipy.stats import norm

    mean, _ = quad(lambda x: float(np.exp(noise_evidence(np.array([x * x]), 1)[0]) * norm.pdf(x)), -40, 40, limit=500)
    assert mean == pytest.approx(1.0, abs=1e-7)


def test_the_level_is_shared_by_all_tests() -> None:
    two = PROBLEM.with_(safety=[PROBLEM.safety[0], sf.Limit("heat", at_most=1.0, noise=1.0, norm=1.0)])
    assert ModelChecks(PROBLEM).needed == pytest.approx(np.log(9 / 0.01))
    assert ModelChecks(two, 0.05).needed == pytest.approx(np.log(14 / 0.05))
    assert sum(len(tests) for tests in ModelChecks(two).evidence().values()) == 14


@pytest.mark.parametrize("level", [0.0, 1.0, -0.1, np.nan, "0.01", True])
def test_a_level_that_is_no_probability_is_refused(level: Any) -> None:
    with pytest.raises(InvalidInput):
        ModelChecks(PROBLEM, level)


# -- loud when it is not ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_noise_of_twice_the_stated_size_is_found_within_fifty_pulls(seed: int) -> None:
    def answer(pull: sf.Pull, rng: np.random.Generator) -> Any:
        return pull.level * VALUES[:, pull.arm] + 2.0 * R * rng.standard_normal(2)

    found = watched(answer, 50, seed).findings
    assert {finding.test for finding in found} == {"noise"}


def test_noise_thirty_percent_too_large_is_found_within_a_few_hundred_pulls() -> None:
    def answer(pull: sf.Pull, rng: np.random.Generator) -> Any:
        return pull.level * VALUES[:, pull.arm] + 1.3 * R * rng.standard_normal(2)

    assert {finding.test for finding in watched(answer, 600, 4).findings} == {"noise"}


@pytest.mark.parametrize("seed", range(2))
def test_an_effect_that_drifts_is_found(seed: int) -> None:
    """By 50 % of its size over 500 pulls."""

    def answer(pull: sf.Pull, rng: np.random.Generator) -> Any:
        return pull.level * VALUES[:, pull.arm] * (1.0 + pull.number / 1000.0) + R * rng.standard_normal(2)

    found = watched(answer, 1000, seed).findings
    assert "time" in {finding.test for finding in found}


@pytest.mark.parametrize("policy", [EXPLORING, sf.Uniform(explore=sf.RoundRobin(100))], ids=["greedy", "in turn"])
def test_an_effect_that_grows_with_the_square_of_the_dose_is_found(policy: Any) -> None:
    def answer(pull: sf.Pull, rng: np.random.Generator) -> Any:
        return pull.level**2 * VALUES[:, pull.arm] + R * rng.standard_normal(2)

    (found,) = watched(answer, 1000, 1, policy=policy).findings
    assert (found.signal, found.test) == ("safety", "levels")


def test_arms_that_are_not_linear_in_their_features_are_found() -> None:
    """Four arms in three dimensions; the fourth has a bonus of its own."""

    def answer(pull: sf.Pull, rng: np.random.Generator) -> Any:
        bonus = np.array([0.8, 0.0]) if pull.arm == 3 else 0.0
        return pull.level * (VALUES[:, pull.arm] + bonus) + R * rng.standard_normal(2)

    found = watched(answer, 1500, 1, policy=sf.Uniform()).findings
    assert ("reward", "arms") in {(finding.signal, finding.test) for finding in found}
    assert "linear model of their features" in found[0].message


def test_a_reading_beyond_its_limit_is_found_at_once() -> None:
    tests = ModelChecks(PROBLEM)
    eta0, noise = PROBLEM.safety[0].eta0, PROBLEM.safety[0].noise
    edge = noise * np.sqrt(2 * np.log(1 * 2 * 9 / 0.01))
    assert take(tests, 0, 0.2, [0.0, eta0 - 0.999 * edge]) == ()
    (found,) = [each for each in take(ModelChecks(PROBLEM), 0, 0.2, [0.0, eta0 - 1.001 * edge]) if each.test == "limit"]
    assert (found.signal, found.pulls) == (PROBLEM.safety[0].name, 1)
    assert found.evidence >= found.needed
    assert found.to_dict()["message"] == found.message


def test_the_threshold_of_a_reading_grows_slowly_with_the_number_of_pulls() -> None:
    """So that the chance stays the same for the whole life of a study: after a million pulls, 8 times the noise."""
    tests = ModelChecks(PROBLEM)
    count = 1000
    tests.take_all(np.zeros(count, int), np.full(count, 0.2), np.zeros((count, 2)))
    eta0, noise = PROBLEM.safety[0].eta0, PROBLEM.safety[0].noise
    edge = noise * np.sqrt(2 * np.log(1001 * 1002 * 9 / 0.01))
    assert not [each for each in take(tests, 0, 0.2, [0.0, eta0 - 0.999 * edge]) if each.test == "limit"]
    edge = noise * np.sqrt(2 * np.log(1002 * 1003 * 9 / 0.01))
    assert [each for each in take(tests, 0, 0.2, [0.0, eta0 - 1.001 * edge]) if each.test == "limit"]


def test_a_finding_is_told_once_and_kept() -> None:
    tests = ModelChecks(PROBLEM)
    first = take(tests, 0, 0.2, [1e9, 0.0])
    assert take(tests, 0, 0.2, [-1e9, 0.0]) != ()
    known = tests.findings
    assert set(first) <= set(known)
    assert take(tests, 0, 0.2, [1e9, 0.0]) == ()
    assert tests.findings == known


# -- arithmetic -------------------------------------------------------------------------------------------------------


def test_results_may_come_one_by_one_or_all_together() -> None:
    rng = np.random.default_rng(4)
    arms, levels = rng.integers(4, size=300), rng.uniform(0.1, 1.0, 300)
    observed = levels[:, None] * VALUES[:, arms].T + R * rng.standard_normal((300, 2)) + 1e4 * levels[:, None]
    single, whole = ModelChecks(PROBLEM), ModelChecks(PROBLEM)
    for k, level, seen in zip(arms, levels, observed, strict=True):
        take(single, int(k), float(level), seen)
    for piece in np.split(np.arange(300), [1, 17, 17, 200]):
        whole.take_all(arms[piece], levels[piece], observed[piece])
    for signal, tests in single.evidence().items():
        for test, value in tests.items():
            assert value == pytest.approx(whole.evidence()[signal][test], rel=1e-6, abs=1e-6), (signal, test)


def test_the_residuals_are_those_of_least_squares() -> None:
    rng = np.random.default_rng(5)
    arms, levels = rng.integers(4, size=80), rng.uniform(0.0, 1.0, 80)
    observed = rng.standard_normal((80, 2))
    tests = ModelChecks(PROBLEM)
    tests.take_all(arms, levels, observed)
    X, cells = PROBLEM.features, tests._cells["arms"]
    ours = tests._around.sum(axis=1) + unexplained(X, cells.N[:, 0], cells.slopes()[:, :, 0])
    for s in range(2):
        design, aim = levels[:, None] * X[arms], observed[:, s] / R[s]
        best = np.linalg.lstsq(design, aim, rcond=None)[0]
        assert ours[s] == pytest.approx(((aim - design @ best) ** 2).sum(), rel=1e-10)


def test_the_bet_on_deviations_is_the_gaussian_mixture_it_claims_to_be() -> None:
    """Against brute force: the integral over deviations in closed form, minimised over common models numerically."""
    from scipy.optimize import minimize

    rng = np.random.default_rng(6)
    X = np.array([[1.0, 0.2], [0.1, 1.0], [0.6, -0.4]])
    arms, parts, levels = rng.integers(3, size=30), rng.integers(2, size=30), rng.uniform(0.2, 1.0, 30)
    y = rng.standard_normal(30) + 2.0 * parts
    cells = Cells(1, 3, 2)
    cells.add(arms, parts, levels, y[:, None])
    z, logs = levels[:, None] * X[arms], []
    by_cell = np.zeros((30, 6))
    by_cell[np.arange(30), 2 * arms + parts] = levels
    by_side = np.hstack([z * (parts == 0)[:, None], z * (parts == 1)[:, None]])
    for features in (by_cell, by_side):
        for prior in (1.0, 10.0, 100.0, 1000.0):
            W = features.T @ features + prior * np.eye(features.shape[1])

            def capital(w: Any, features: Any = features, W: Any = W, prior: float = prior) -> float:
                S = features.T @ (y - z @ w)
                return float(S @ np.linalg.solve(W, S) / 2 - np.linalg.slogdet(W / prior)[1] / 2)

            logs.append(minimize(capital, np.zeros(2), method="BFGS", options={"gtol": 1e-10}).fun)
    expected = np.log(np.mean(np.exp(logs)))
    assert deviation_evidence(cells, X)[0] == pytest.approx(expected, rel=1e-6)


def test_absurd_readings_give_an_alarm_and_no_warning() -> None:
    tiny = PROBLEM.with_(reward=sf.Reward(noise=1e-90, norm=1.0))
    found = ModelChecks(tiny).take_all(
        np.zeros(3, int), np.ones(3), np.array([[9e99, -9e99], [-9e99, 9e99], [0.0, 0.0]])
    )
    assert {"noise", "limit"} <= {each.test for each in found}
    assert all(np.isfinite(each.evidence) for each in found)
