"""Noise of unknown size: the bounds of (C8) and (C9) against their definition, by brute force over all sizes."""

from math import erf, inf, log, log1p, sqrt
from typing import Any

import numpy as np
import pytest

from surefoot.sets import mixtures
from surefoot.sets.sizes import known_height
from surefoot.sets.unknown_noise import (
    ASKED,
    BEYOND,
    RATES,
    WEIGHTS,
    Mixture,
    begin_unknown,
    bend,
    largest_size,
    new_sizes,
    unknown_height,
    unknown_radius,
    weighed,
)

GUESS = 0.7


class Inst:
    """What the kernels read of a problem."""

    R = np.array([GUESS])


def mixture(cap: float = inf, unknown: bool = True) -> Mixture:
    rate = np.array(RATES)
    shape = np.array(ASKED), np.array(BEYOND)
    return Mixture(rate, np.log1p(2.0 * rate), np.log(WEIGHTS), *shape, 0.25, np.array([cap]),
                   np.array([int(unknown)]))  # fmt: skip


def sizes_after(n: int, squares: float, cap: float = inf) -> Any:
    sizes = new_sizes(1)
    begin_unknown(Inst, mixture(cap), sizes)  # type: ignore[arg-type]
    if n:
        sizes.counted[0], sizes.squares[0] = n, squares
        bend(mixture(cap), sizes, 0)
    return sizes


def discounts(n: int, squares: float, cap: float = inf) -> tuple[Any, Any]:
    """Very many sizes, and twice the logarithm of the mixture over the residuals at each."""
    tau = squares / n * np.exp(np.linspace(-3.0, 12.0, 40_001))
    tau = np.append(tau[tau <= cap * cap], cap * cap) if cap < inf else tau
    terms = np.log(WEIGHTS)[:, None] + 0.5 * n * np.log1p(2 * np.array(RATES))[:, None]
    terms = terms - np.outer(RATES, squares / tau)
    top = terms.max(axis=0)
    return tau, 2.0 * (top + np.log(np.exp(terms - top).sum(axis=0)))


CASES = [(n, square, cap) for n in (12, 40, 150, 700, 5_000, 1_000_000) for square in (9.0, 17.0, 31.0, 64.0)
         for cap in (inf, 1.3, 4.0)]  # fmt: skip


def test_the_weights_of_the_mixture_are_a_probability() -> None:
    assert sum(WEIGHTS) == pytest.approx(1.0, abs=1e-15)
    assert len(WEIGHTS) == len(RATES)
    assert RATES[0] == 0.0


@pytest.mark.parametrize(("n", "square", "cap"), CASES)
def test_a_radius_is_the_largest_over_all_sizes(n: int, square: float, cap: float) -> None:
    squares = 1.2 * n
    tau, discount = discounts(n, squares, cap)
    found = unknown_radius(Inst, sizes_after(n, squares, cap), 0, square)  # type: ignore[arg-type]
    if found == inf:  # then all sizes are possible, however large
        assert cap == inf
        assert square > discount[-1] - 1e-3
        return
    exact = sqrt((tau * (square - discount)).max())
    assert exact * (1.0 - 1e-9) <= found <= 1.02 * exact


@pytest.mark.parametrize(("n", "square", "cap"), CASES)
@pytest.mark.parametrize("information", [0.5, 80.0])
def test_a_boundary_is_the_largest_over_all_sizes(n: int, square: float, cap: float, information: float) -> None:
    """The root x of the boundary solves exp(x^2/2) Phi(x) = exp(y); found here by halving."""
    squares, alpha = 1.2 * n, 2.0 * np.exp(-square / 2.0)
    edge = mixtures.boundary(alpha, GUESS, centre=2.0, spread=1.0)
    rho, _, offset = edge
    growth, above_zero = log1p(information / rho), 0.5 * (1.0 + erf(2.0 / sqrt(2.0)))
    found = unknown_height(Inst, sizes_after(n, squares, cap), 0, edge, information, growth)  # type: ignore[arg-type]
    tau, discount = discounts(n, squares, cap)
    y = 0.5 * (growth + 4.0 - discount) + log(above_zero / alpha)
    if found == inf:
        assert cap == inf
        assert y[-1] > -1.0
        return
    low, high = np.full(len(y), -40.0), np.full(len(y), 40.0)
    for _ in range(60):
        middle = 0.5 * (low + high)
        mass = 0.5 * (1.0 + np.vectorize(erf)(middle / sqrt(2.0)))
        beyond = 0.5 * middle**2 + np.log(np.maximum(mass, 1e-300)) > y
        high, low = np.where(beyond, middle, high), np.where(beyond, low, middle)
    exact = (np.sqrt(tau) * (sqrt(information + rho) * low - offset / GUESS)).max()
    assert max(exact, 0.0) * (1.0 - 1e-9) <= found
    if y[0] > 6.0 and exact > 0.0:
        assert found <= 1.25 * exact + 0.1 * sqrt(information + rho)


def test_with_many_residuals_little_is_lost_to_noise_that_is_known() -> None:
    edge = mixtures.half_normal(1e-3, GUESS, 5.0)
    for n, most in ((300, 1.16), (3_000, 1.07), (300_000, 1.09)):
        known = known_height(Inst, np.zeros(0), 0, edge, 40.0, log1p(8.0))  # type: ignore[arg-type]
        found = unknown_height(Inst, sizes_after(n, n * GUESS**2), 0, edge, 40.0, log1p(8.0))  # type: ignore[arg-type]
        assert known < found < most * known


def test_nothing_is_known_before_there_are_residuals_unless_a_cap_is_stated() -> None:
    for n in (0, 1, 3):
        assert unknown_radius(Inst, sizes_after(n, 1.0), 0, 20.0) == inf  # type: ignore[arg-type]
        assert largest_size(sizes_after(n, 1.0), 0, 20.0) == inf
    assert unknown_radius(Inst, sizes_after(0, 0.0, cap=2.0), 0, 20.0) == pytest.approx(2.0 * sqrt(20.0))  # type: ignore[arg-type]
    assert largest_size(sizes_after(0, 0.0, cap=2.0), 0, 20.0) == 2.0


@pytest.mark.parametrize(("n", "square", "cap"), CASES)
def test_the_largest_size_is_where_the_bound_is_nothing(n: int, square: float, cap: float) -> None:
    squares = 1.2 * n
    found = largest_size(sizes_after(n, squares, cap), 0, square)
    tau, discount = discounts(n, squares, cap)
    possible = np.sqrt(tau[square >= discount].max())
    if found == inf:
        assert square > discount[-1] - 1e-3
        return
    assert possible * (1.0 - 1e-9) <= found <= min(cap, 1.05 * possible + 1e-3)


def test_the_mean_rate_is_the_slope_of_the_mixture() -> None:
    for n, ratio in ((30.0, 5.0), (400.0, 380.0)):
        (low, _), (high, _) = (weighed(mixture(), n, ratio + step) for step in (-1e-4, 1e-4))
        assert weighed(mixture(), n, ratio)[1] == pytest.approx(-(high - low) / 4e-4, rel=1e-5)


def test_a_stated_size_beside_an_unknown_one_is_read_as_it_is() -> None:
    sizes = new_sizes(1)
    begin_unknown(Inst, mixture(GUESS, unknown=False), sizes)  # type: ignore[arg-type]
    edge = mixtures.boundary(1e-3, GUESS, centre=2.0, spread=1.0)
    assert unknown_radius(Inst, sizes, 0, 11.0) == pytest.approx(GUESS * sqrt(11.0))  # type: ignore[arg-type]
    known = known_height(Inst, np.zeros(0), 0, edge, 3.0, 0.4)  # type: ignore[arg-type]
    assert unknown_height(Inst, sizes, 0, edge, 3.0, 0.4) == pytest.approx(known)  # type: ignore[arg-type]
    assert largest_size(sizes, 0, 11.0) == GUESS
