"""The bounds of a calibration keep their confidence, whatever the settings of the pilot, and its tests their level."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.calibration import bounds
from surefoot.calibration.driver import noise_of
from surefoot.calibration.fits import Pilot, added, by_arms, by_cells, by_features
from surefoot.results import exact_interval

ARMS = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, -1.0], [0.6, 0.4, 0.3], [300.0, 2.0, 0.1]])
THETA = np.array([0.01, 2.0, -1.0])
SIGMA, RISK, RUNS = 0.4, 0.1, 1500


def pilot_of(arms: list[int], levels: list[float]) -> Pilot:
    arm = np.array(arms, dtype=np.intp)
    return Pilot(arm, np.array(levels), ARMS[arm])


DESIGNS = {
    "repeats": pilot_of([0, 1, 2, 3] * 5, [0.2] * 20),
    "two levels": pilot_of([0, 1, 2, 3] * 6, [0.1] * 12 + [0.2] * 12),
    "no repeats": pilot_of([0, 1, 2, 3] * 4, [0.02 * k for k in range(1, 17)]),
    "one arm": pilot_of([1] * 9, [0.1, 0.2, 0.3] * 3),
    "level 0": pilot_of([0, 1, 2, 3, 0, 1], [0.0] * 6),
    "four rows": pilot_of([0, 1, 2, 2], [0.2] * 4),
}


def means_of(pilot: Pilot, power: float = 1.0) -> Any:
    return pilot.level**power * (pilot.features @ THETA)


def missed(design: str, holds: Callable[[Any, Any], bool], power: float = 1.0) -> int:
    """In how many of many pilots the claim about their readings does not hold."""
    pilot, random = DESIGNS[design], np.random.default_rng(7)
    means = means_of(pilot, power)
    return sum(not holds(pilot, means + SIGMA * random.normal(size=pilot.rows)) for _ in range(RUNS))


def noise(pilot: Pilot, readings: Any) -> Any:
    return noise_of(by_features(pilot, readings), by_cells(pilot, readings), RISK)


@pytest.mark.parametrize("design", DESIGNS)
def test_the_bounds_on_noise_are_exact_where_the_law_holds(design: str) -> None:
    for holds in (
        lambda pilot, readings: noise(pilot, readings).at_most >= SIGMA,
        lambda pilot, readings: noise(pilot, readings).at_least <= SIGMA,
    ):
        shown = exact_interval(missed(design, holds), RUNS, 0.999)
        assert shown.lower <= RISK <= shown.upper  # neither too often nor too seldom


@pytest.mark.parametrize("design", ["two levels", "no repeats", "one arm"])
def test_the_upper_bound_holds_where_the_law_is_not_linear_too(design: str) -> None:
    count = missed(design, lambda pilot, readings: noise(pilot, readings).at_most >= SIGMA, power=2.0)
    assert exact_interval(count, RUNS, 0.999).lower <= RISK


def test_repeats_give_a_bound_that_a_bend_does_not_loosen() -> None:
    pilot, random = DESIGNS["two levels"], np.random.default_rng(1)
    readings = 1000.0 * means_of(pilot, 3.0) + SIGMA * random.normal(size=pilot.rows)
    found = noise(pilot, readings)
    assert found.by == "repeats"
    assert found.at_most < 2.0 * SIGMA
    assert np.sqrt(by_features(pilot, readings).fit.squares) > 10.0 * SIGMA


def test_which_rows_tell_the_noise_is_decided_by_the_settings_alone() -> None:
    for design, pilot in DESIGNS.items():
        ways = {noise(pilot, np.random.default_rng(seed).normal(size=pilot.rows)).by for seed in range(20)}
        assert len(ways) == 1, design


@pytest.mark.parametrize("design", ["two levels", "one arm"])
def test_tests_of_the_law_ring_as_rarely_as_they_say(design: str) -> None:
    def quiet_levels(pilot: Pilot, readings: Any) -> bool:
        cells = by_cells(pilot, readings)
        return (bounds.p_value(by_arms(pilot, readings), cells, cells) or 0.0) >= RISK

    def quiet_bend(pilot: Pilot, readings: Any) -> bool:
        found = added(pilot, readings, by_arms(pilot, readings).fitted * pilot.level)
        assert found is not None
        return abs(found.coefficient) <= bounds.students(found.freedom, RISK) * found.error

    def quiet_offset(pilot: Pilot, readings: Any) -> bool:
        found = added(pilot, readings, np.ones(pilot.rows))
        assert found is not None
        return abs(found.coefficient) <= bounds.students(found.freedom, RISK) * found.error

    for quiet in (quiet_levels, quiet_bend, quiet_offset):
        shown = exact_interval(missed(design, quiet), RUNS, 0.999)
        assert shown.lower <= RISK <= shown.upper


def test_arms_and_sizes_are_tested_at_their_level() -> None:
    def quiet_arms(pilot: Pilot, readings: Any) -> bool:
        cells = by_cells(pilot, readings)
        found = bounds.p_value(by_features(pilot, readings).fit, by_arms(pilot, readings), cells)
        return found is not None and found >= RISK

    def quiet_sizes(pilot: Pilot, readings: Any) -> bool:
        found = bounds.same_size(pilot, by_cells(pilot, readings))
        return found is not None and found[1] >= RISK

    for quiet in (quiet_arms, quiet_sizes):
        shown = exact_interval(missed("two levels", quiet), RUNS, 0.999)
        assert shown.lower <= RISK <= shown.upper


def test_the_largest_effect_and_the_deviation_are_covered() -> None:
    largest = float(np.abs(ARMS @ THETA).max())
    pilot = DESIGNS["two levels"]
    bent = means_of(pilot, 1.5)
    deviating = float(np.abs(by_features(pilot, bent).fit.residuals).max())
    assert deviating > 0.05

    def covers_largest(pilot: Pilot, readings: Any) -> bool:
        found = bounds.largest_effects(by_features(pilot, readings), ARMS, RISK)
        return found is not None and found[1] >= largest

    def covers_deviation(pilot: Pilot, readings: Any) -> bool:
        found = bounds.deviation(pilot, by_features(pilot, readings), by_cells(pilot, readings), RISK)
        return found is not None and found[1] >= deviating

    assert exact_interval(missed("two levels", covers_largest), RUNS, 0.999).lower <= RISK
    assert exact_interval(missed("two levels", covers_deviation, power=1.5), RUNS, 0.999).lower <= RISK


def test_units_and_mixing_of_the_features_do_not_matter() -> None:
    pilot, random = DESIGNS["no repeats"], np.random.default_rng(4)
    readings = means_of(pilot) + random.normal(size=pilot.rows)
    law = by_features(pilot, readings)
    mixed = pilot._replace(features=pilot.features @ (np.eye(3) + 0.5) @ np.diag([1e-6, 1.0, 1e5]))
    other = by_features(mixed, readings)
    assert other.fit.rank == law.fit.rank == 3
    assert other.fit.squares == pytest.approx(law.fit.squares, rel=1e-8)
    assert other.spread(mixed.features) == pytest.approx(law.spread(pilot.features), rel=1e-6)


def test_a_parabola_misses_the_best_line_by_what_is_said() -> None:
    levels = np.linspace(0.0, 1.0, 2001)
    slopes = np.linspace(0.7, 1.0, 601)
    assert np.abs(levels**2 - slopes[:, np.newaxis] * levels).max(axis=1).min() == pytest.approx(
        bounds.PARABOLA, abs=1e-3
    )


def test_two_stages_keep_the_promise_together() -> None:
    """A pilot whose bound is stated, and a test on fresh rows with what is left of the risk: both together err no more
    often than stated. With the plain estimate in place of the bound they do."""
    random, runs, total = np.random.default_rng(2), 20_000, 0.1
    alpha = total / 4.0
    pilot = random.normal(size=(runs, 8))
    bound = pilot.std(axis=1, ddof=1) * bounds.noise_at_most(7.0, 7, alpha)
    fresh = random.normal(size=(runs, 8)).mean(axis=1)
    needed = -float(_normal_quantile(total - alpha)) / np.sqrt(8)
    wrong = int((fresh > needed * bound).sum())
    assert exact_interval(wrong, runs, 0.999).lower <= total
    plain = int((fresh > -float(_normal_quantile(total)) / np.sqrt(8) * pilot.std(axis=1, ddof=1)).sum())
    assert exact_interval(plain, runs, 0.999).lower > total  # the plain estimate is no bound


def _normal_quantile(share: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(share))


def test_the_default_confidence_is_a_quarter_of_the_smaller_delta() -> None:
    problem = sf.Problem(
        [[1.0]], sf.Reward(noise=1.0), sf.Limit("p", at_most=1.0, noise=1.0), safe_level=0.5, epsilon=0.1, delta=0.04,
        delta_safety=0.02,
    )  # fmt: skip
    rows = [{"arm": 0, "level": 0.5, "reward": 0.1 * k, "safety": 0.3 - 0.07 * k} for k in range(6)]
    assert sf.calibrate(problem, rows).risk == pytest.approx(0.005)
    found = sf.calibrate(problem, rows, confidence=0.99)
    assert found.risk == 0.01
    noise = found["reward"].noise
    assert noise is not None
    assert noise.at_most == pytest.approx(bounds.noise_at_most(noise.estimate**2 * 5, 5, 0.005))
