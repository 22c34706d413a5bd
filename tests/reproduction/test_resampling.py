"""The distribution of means of ten runs, and where a printed number lies in it."""

import numpy as np
import pytest

from surefoot.reproduction.resampling import means_of_ten, position


def test_means_of_ten_spread_as_theory_says() -> None:
    values = np.random.default_rng(5).normal(100.0, 30.0, 4000)
    means = means_of_ten(values)
    assert means.mean() == pytest.approx(values.mean(), abs=0.2)
    assert means.std() == pytest.approx(values.std() / np.sqrt(10), rel=0.02)


def test_a_printed_number_in_the_middle_fits_and_one_outside_does_not() -> None:
    values = np.random.default_rng(6).normal(100.0, 30.0, 1000)
    middle, edge, outside = (position(values, printed, 0.1) for printed in (100.0, 122.0, 140.0))
    assert middle.within(0.95)
    assert middle.at_most == pytest.approx(0.5, abs=0.1)
    assert not edge.within(0.95)
    assert edge.within(0.99)
    assert not outside.within(0.99)
    assert outside.at_most == 1.0


def test_rounding_of_print_is_allowed_for() -> None:
    constant = np.full(50, 0.00004)
    assert position(constant, 0.0, 0.001).within(0.99)
    assert not position(np.full(50, 0.0006), 0.0, 0.001).within(0.99)


def test_a_run_without_end_makes_every_mean_that_holds_it_infinite() -> None:
    values = np.array([1000.0] * 9 + [np.inf])
    found = position(values, 1000.0, 0.1)
    assert found.quantiles[0.975] == np.inf
    assert found.at_most == pytest.approx(0.9**10, abs=0.01)


def test_the_same_values_give_the_same_distribution() -> None:
    values = np.arange(30.0)
    assert (means_of_ten(values) == means_of_ten(values.copy())).all()
