"""Mixtures: at the height of a boundary the mixture's wealth is 1/alpha, by numerical integration over the effects."""

from math import inf, log, sqrt

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

import surefoot as sf
from surefoot.sets.boundaries import Boundary, height_at
from surefoot.sets.mixtures import (
    FINEST,
    LARGEST_ALPHA,
    boundary,
    crossing,
    finest_difference,
    half_normal,
    planned_information,
)

SHAPES = [(0.05, 1.0, 0.0, 1.0), (0.001, 0.1, 0.0, 3.0), (0.01, 2.0, 0.3, 0.15), (0.2, 0.5, 1.0, 4.0)]
INFORMATION = [0.0, 0.1, 1.0, 30.0, 1e4]


def log_wealth(total: float, information: float, R: float, centre: float, spread: float) -> float:
    """log of the mean of exp(effect total - effect^2 R^2 Q / 2) over a normal cut off at zero; `effect` > 0."""

    def exponent(effect: float) -> float:
        prior = norm.logpdf(effect, centre, spread) - norm.logsf(0.0, centre, spread)
        return float(prior + effect * total - effect**2 * R**2 * information / 2)

    precision = R**2 * information + 1 / spread**2
    peak = max((total + centre / spread**2) / precision, 0.0)
    width, height = 1 / sqrt(precision), exponent(peak)
    low, high = max(0.0, peak - 12 * width), peak + 12 * width
    area, _ = quad(lambda effect: np.exp(exponent(effect) - height), low, high, epsabs=1e-13, epsrel=1e-11)
    return height + log(area)


@pytest.mark.parametrize(("alpha", "R", "centre", "spread"), SHAPES)
@pytest.mark.parametrize("information", INFORMATION)
def test_at_the_boundary_the_wealth_is_one_over_alpha(
    alpha: float, R: float, centre: float, spread: float, information: float
) -> None:
    """Never less, which would break the promise, and hardly more, which would waste pulls."""
    height = height_at(boundary(alpha, R, centre, spread), R, information)
    wealth = log_wealth(height, information, R, centre, spread)
    assert wealth >= log(1 / alpha) - 1e-9
    assert wealth <= log(1 / alpha) + 1.3 * alpha


def test_a_half_normal_is_the_mixture_around_zero_with_that_rho() -> None:
    found = half_normal(0.01, 0.5, 20.0)
    assert found == boundary(0.01, 0.5, 0.0, 1 / (0.5 * sqrt(20.0)))
    assert (found.rho, found.offset) == (pytest.approx(20.0), 0.0)


def test_a_large_alpha_gets_the_stricter_boundary_of_the_largest_one_allowed() -> None:
    assert boundary(0.9, 1.0, 0.5, 0.2) == boundary(LARGEST_ALPHA, 1.0, 0.5, 0.2)


def test_the_boundary_is_crossed_no_more_often_than_alpha() -> None:
    """2,000 random walks of 2,000 steps, alpha = 0.05: an exact binomial bound at one in a million."""
    rng = np.random.default_rng(17)
    steps = np.arange(1, 2001)
    for shape in (boundary(0.05, 1.0, 0.2, 0.1), half_normal(0.05, 1.0, 100.0)):
        height = np.array([height_at(shape, 1.0, float(t)) for t in steps])
        crossed = sum(bool((rng.standard_normal(2000).cumsum() >= height).any()) for _ in range(2000))
        assert 0 < crossed <= 149


def near_and_far() -> tuple[Boundary, Boundary]:
    return boundary(0.04, 1.0, 0.2, 0.1), half_normal(0.005, 1.0, 3.0)


def test_near_is_the_lower_boundary_above_the_crossing_and_only_there() -> None:
    near, far = near_and_far()
    switch = crossing(near, far, 1.0)
    assert height_at(near, 1.0, switch) == pytest.approx(height_at(far, 1.0, switch), rel=1e-6)
    for factor in (1.001, 2.0, 1e3, 1e9):
        assert height_at(near, 1.0, switch * factor) < height_at(far, 1.0, switch * factor)
        assert height_at(near, 1.0, switch / factor) > height_at(far, 1.0, switch / factor)


def test_boundaries_that_never_cross_say_so() -> None:
    strict, loose = half_normal(0.001, 1.0, 5.0), half_normal(0.1, 1.0, 5.0)
    assert crossing(strict, loose, 1.0) == inf
    assert crossing(loose, strict, 1.0) == 0.0


def problem(**changes: object) -> sf.Problem:
    table: dict[str, object] = {
        "safe_level": 0.2, "epsilon": 0.1, "delta": 0.05, "delta_safety": 0.05, **changes,
    }  # fmt: skip
    limits = [sf.Limit("a", at_least=-0.5, noise=0.2, norm=1.0), sf.Limit("b", at_least=-2.0, noise=0.4, norm=3.0)]
    return sf.Problem([[3.0, 4.0], [1.0, 0.0]], sf.Reward(noise=0.5, norm=2.0), limits, **table)  # type: ignore[arg-type]


def test_planned_information_is_c7() -> None:
    """S = 2 * 5; reward R^2 / (S epsilon), safety R^2 S / (eta0^2 epsilon)."""
    found = planned_information(problem())
    assert found == pytest.approx([0.25 / (10 * 0.1), 0.04 * 10 / (0.25 * 0.1), 0.16 * 10 / (4.0 * 0.1)])


def test_no_difference_below_a_small_share_of_the_largest_value_is_planned_for() -> None:
    assert finest_difference(problem()) == 0.1
    assert finest_difference(problem(epsilon=0.0)) == pytest.approx(FINEST * 10.0)
    assert np.isfinite(planned_information(problem(epsilon=0.0))).all()
