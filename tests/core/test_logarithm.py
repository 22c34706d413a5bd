"""The logarithm of the core and its inverse, compiled and interpreted: each against forty digits, and to the last bit
alike."""

from typing import Any

import mpmath
import numpy as np
import pytest

from surefoot.core.compiler import compiled
from surefoot.core.logarithm import exp, log, log1p


def test_the_logarithm_has_all_its_digits(form: Any) -> None:
    mpmath.mp.dps = 40
    rng, ours = np.random.default_rng(3), form(log)
    points = [
        *np.exp(rng.uniform(-700, 700, 2000)), *rng.uniform(0.5, 2, 2000), *(1.0 + 10.0 ** rng.uniform(-16, -1, 2000)),
        0.5, 1.0, 2.0, 3.0, np.sqrt(0.5), np.sqrt(2.0), 2.0**-53, 1.0 - 2.0**-53, 1.0 + 2.0**-52, 1e308, 1e-300,
    ]  # fmt: skip
    for x in points:
        exact = float(mpmath.log(mpmath.mpf(float(x))))
        assert ours(float(x)) == pytest.approx(exact, rel=5e-16, abs=0.0), x


def test_the_logarithm_never_falls(form: Any) -> None:
    ours = form(log)
    for start in (0.4999, 0.70709, 0.99999, 1.0, 1.41419, 1.9999, 77.7):
        points = start * (1.0 + np.arange(4000) * 2.0**-48)
        values = np.array([ours(float(x)) for x in points])
        assert (np.diff(values) >= -2.3e-16 * np.maximum(np.abs(values[1:]), 1e-300)).all()


@pytest.mark.parametrize("x", [-1.0, -1e-300, 0.0, np.nan, np.inf, -np.inf])
def test_what_has_no_finite_logarithm_never_looks_like_a_number(form: Any, x: float) -> None:
    assert not np.isfinite(form(log)(x))


def test_the_logarithm_of_one_plus_a_small_number_has_all_its_digits(form: Any) -> None:
    mpmath.mp.dps = 40
    rng, ours = np.random.default_rng(4), form(log1p)
    for x in (*(10.0 ** rng.uniform(-18, 3, 4000)), *rng.uniform(0.0, 1.0, 2000), 0.0, 1e-300):
        exact = float(mpmath.log1p(mpmath.mpf(float(x))))
        assert ours(float(x)) == pytest.approx(exact, rel=5e-16, abs=1.5e-16 if x > 0.01 else 1e-300), x


@pytest.mark.parametrize("x", [np.nan, np.inf])
def test_what_breaks_one_plus_never_looks_like_a_number(form: Any, x: float) -> None:
    assert not np.isfinite(form(log1p)(x))


def test_the_exponential_has_its_digits(form: Any) -> None:
    mpmath.mp.dps = 40
    rng, ours = np.random.default_rng(6), form(exp)
    for x in (*rng.uniform(-699, 700, 3000), *rng.uniform(-1, 1, 2000), 0.0, 1e-300, -1e-18, 0.34657, -0.34658):
        assert ours(float(x)) == pytest.approx(float(mpmath.exp(mpmath.mpf(float(x)))), rel=5e-16, abs=0.0), x
    assert ours(-701.0) == ours(-np.inf) == 0.0


def test_both_forms_give_the_same_bits() -> None:
    rng = np.random.default_rng(5)
    points = [*np.exp(rng.uniform(-700, 700, 3000)), *(1.0 + 10.0 ** rng.uniform(-16, -1, 1000)), 0.0, np.inf]
    exponents = rng.uniform(-710, 700, 3000)
    for ours, at in ((log, points), (log1p, points), (exp, exponents)):
        fast = compiled(ours, {}, "alone")
        plain, quick = np.array([[ours(float(x)), fast(float(x))] for x in at]).T
        assert plain.tobytes() == quick.tobytes()
