"""Coordinates in which no direction is longer than another."""

import numpy as np
import pytest

from surefoot.core.coordinates import evened


@pytest.mark.parametrize(("K", "d"), [(3, 3), (7, 2), (40, 6)])
def test_no_arm_is_much_longer_than_the_root_of_the_dimension_whatever_the_units(K: int, d: int) -> None:
    rng = np.random.default_rng(K)
    X = rng.standard_normal((K, d)) * 10.0 ** rng.uniform(-4, 4, d)
    even = evened(X)
    np.testing.assert_allclose(np.linalg.norm(even, axis=1).max(), np.sqrt(d), rtol=0.06)
    weights, *_ = np.linalg.lstsq(even, X, rcond=None)
    assert (np.abs(even @ weights - X) <= 1e-9 * np.abs(X).max(axis=0)).all()  # the same arms, seen otherwise


@pytest.mark.parametrize("K", [3, 8, 40])
def test_equal_arms_stay_equal_to_the_last_digit(K: int) -> None:
    """So that an arm and its double at one level differ by exactly nothing."""
    for seed in range(20):
        X = np.random.default_rng(seed).standard_normal((K, 3))
        doubled = evened(np.vstack([X, X[::-1]]))
        assert (doubled[:K] == doubled[K:][::-1]).all()
