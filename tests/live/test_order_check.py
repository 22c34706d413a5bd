"""The check of the order: its exact parts, and what it leaves alone."""

from itertools import permutations
from math import exp

import numpy as np
import pytest

import surefoot as sf
from surefoot.live.order_check import LEVEL, concordance, log_tail, slope_interval, suspicions

FLAT = (0.0, 0.0)


def counted(values: list[float]) -> int:
    """Rising pairs less falling pairs, one by one."""
    n = len(values)
    return sum(int(np.sign(values[j] - values[i])) for i in range(n) for j in range(i + 1, n))


def problem(noise: float = 1.0) -> sf.Problem:
    return sf.Problem(
        arms=[[1.0, 0.0], [0.0, 1.0]], reward=sf.Reward(noise=noise, norm=2.0),
        safety=[sf.Limit("heat", at_most=1.0, noise=noise, norm=2.0)], safe_level=0.2, epsilon=0.1, delta=0.1,
        delta_safety=0.1,
    )  # fmt: skip


def test_the_bound_on_the_tail_is_one() -> None:
    counts = [counted(list(order)) for order in permutations(range(7))]
    for count in range(1, 22):
        chance = np.mean([each >= count for each in counts])
        assert chance <= exp(log_tail(count, 7)) * (1.0 + 1e-9)
    assert log_tail(21, 7) == pytest.approx(np.log(1 / 5040), abs=1e-6)
    assert log_tail(0, 7) == log_tail(-5, 7) == 0.0


def test_ties_count_for_nobody() -> None:
    values = np.array([1.0, 1.0, 2.0, 0.0])
    assert concordance(np.ones(4), values, FLAT) == (counted(values.tolist()),) * 2


def test_every_slope_in_the_interval_is_heeded() -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        levels, values = rng.choice([0.1, 0.2, 0.5], 9), np.round(rng.normal(size=9), 1)
        least, most = concordance(levels, values, (-2.0, 3.0))
        seen = [counted((values - slope * levels).tolist()) for slope in rng.uniform(-2.0, 3.0, 2000)]
        assert least <= min(seen)
        assert max(seen) <= most
        assert most - least <= max(seen) - min(seen) + 8  # turns at one slope may be passed one after the other


def test_the_interval_holds_the_slope() -> None:
    rng = np.random.default_rng(3)
    missed = 0
    for _ in range(2000):
        levels = rng.uniform(0.0, 1.0, int(rng.integers(1, 60)))
        low, high = slope_interval(levels, 0.7 * levels + rng.normal(size=len(levels)), 0.2)
        missed += not low <= 0.7 <= high
    assert missed <= 400
    assert slope_interval(np.zeros(3), np.ones(3), 0.1) == (0.0, 0.0)


def sorted_noise(rows: int) -> np.ndarray:  # type: ignore[type-arg]
    return np.sort(np.random.default_rng(4).normal(size=rows))


@pytest.mark.parametrize("signal", [0, 1], ids=["reward", "safety"])
def test_each_signal_is_looked_at_and_named(signal: int) -> None:
    rng, rows = np.random.default_rng(5), 40
    observed = rng.normal(size=(rows, 2))
    observed[:, signal] = sorted_noise(rows)
    found = suspicions(problem(), np.zeros(rows, np.int64), np.full(rows, 0.2), observed)
    assert {each.signal for each in found} == {("reward", "heat")[signal]}
    assert found[0].arm == "a1"
    assert "40 results of 'a1' rise or fall with their place" in found[0].message


def test_arms_with_one_row_each_are_looked_at_together() -> None:
    arms = np.column_stack([np.cos(np.arange(60)), np.sin(np.arange(60))])
    many = sf.Problem(
        arms=arms, reward=sf.Reward(noise=1.0, norm=2.0), safety=[sf.Limit("heat", at_most=1.0, noise=1.0, norm=2.0)],
        safe_level=0.2, epsilon=0.1, delta=0.1, delta_safety=0.1,
    )  # fmt: skip
    observed = np.column_stack([sorted_noise(60), np.random.default_rng(6).normal(size=60)])
    found = suspicions(many, np.arange(60), np.full(60, 0.2), observed)
    assert [(each.signal, each.arm) for each in found] == [("reward", None)]


def test_levels_that_rise_with_time_explain_results_that_do() -> None:
    levels, arms = np.linspace(0.0, 1.0, 80), np.zeros(80, np.int64)
    noise = np.random.default_rng(7).normal(size=(80, 2))
    rising = levels[:, np.newaxis] * [30.0, -30.0]
    assert suspicions(problem(), arms, levels, rising + noise) == []
    offset_and_bend = rising + 10.0 - 8.0 * levels[:, np.newaxis] ** 2
    assert all(each.arm is not None for each in suspicions(problem(), arms, levels, offset_and_bend + noise))


def test_readings_without_any_noise_are_not_suspicious() -> None:
    levels, arms = np.linspace(0.0, 1.0, 50), np.arange(50) % 2
    exact = np.column_stack([levels * 2.0, -levels])
    for observed in (exact, np.zeros((50, 2)), np.full((50, 2), 3.0)):
        assert suspicions(problem(), arms, np.full(50, 0.2) if observed is not exact else levels, observed) == []


def test_a_few_rows_say_nothing() -> None:
    observed = np.column_stack([np.arange(7.0), np.arange(7.0)])
    assert suspicions(problem(), np.zeros(7, np.int64), np.full(7, 0.2), observed) == []
    assert LEVEL == 1e-6
