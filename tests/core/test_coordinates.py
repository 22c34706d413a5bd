"""Coordinates without units: no arm is long, no direction is short, and invertible maps of the features leave them."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from surefoot.core.coordinates import AT_HAND, CLOSE, MANY, PORTION, d_optimal, even_coordinates, evened, leverages


def drawn(seed: int, K: int, d: int):  # type: ignore[no-untyped-def]
    return np.random.default_rng(seed).standard_normal((K, d))


@pytest.mark.parametrize(("K", "d"), [(1, 1), (4, 3), (12, 5), (60, 4)])
def test_no_arm_is_longer_than_the_dimension_allows(K: int, d: int) -> None:
    X = drawn(K, K, d)
    even = evened(X)
    assert (even**2).sum(axis=1).max() <= d * (1.0 + 2.0 * CLOSE)
    nu = d_optimal(even)
    np.testing.assert_allclose((even.T * nu) @ even, np.eye(d), atol=0.2)


@pytest.mark.parametrize("seed", range(5))
def test_units_and_mixing_of_features_change_nothing_but_a_turn(seed: int) -> None:
    """All that a policy reads are inner products of arms; the map is rounded to seven digits or so."""
    X, rng = drawn(seed, 9, 4), np.random.default_rng(100 + seed)
    turned = np.linalg.qr(rng.standard_normal((4, 4)))[0] * 10.0 ** rng.uniform(-1.5, 1.5, 4)
    one, other = evened(X), evened(X @ turned)
    np.testing.assert_allclose(one @ one.T, other @ other.T, rtol=1e-5, atol=1e-5)


def test_the_best_shares_of_orthogonal_arms_are_equal_whatever_their_lengths() -> None:
    nu = d_optimal(np.diag([5.0, 0.2, 1.0]))
    np.testing.assert_allclose(nu, np.full(3, 1 / 3), atol=1e-3)


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


@pytest.mark.parametrize("K", [MANY + 1, PORTION + 1])
def test_many_arms_are_shared_out_among_as_few(K: int) -> None:
    """No leverage of any arm is much above d, which is what makes shares D-optimal; and most arms have none."""
    X = drawn(K, K, 5)
    nu = d_optimal(X)
    assert leverages(X, (X.T * nu) @ X).max() <= 5.0 * (1.0 + 1.01 * CLOSE)
    assert nu.sum() == pytest.approx(1.0)
    assert np.count_nonzero(nu) <= 2 * MANY


def test_a_direction_that_only_short_arms_have_is_not_lost() -> None:
    """More long arms than are looked at first, all of them in a plane: the third direction is in short ones alone."""
    X = np.vstack([drawn(1, 3 * MANY, 3) * [30.0, 30.0, 0.0], np.tile([0.0, 0.0, 1.0], (20 * MANY, 1))])
    even = evened(X)
    assert np.isfinite(even).all()
    assert (even**2).sum(axis=1).max() <= 3.0 * (1.0 + 2.0 * CLOSE)
    assert (even[-1] == even[3 * MANY]).all()


@pytest.mark.parametrize("apart", [1e6, 1e13, 1e18, 1e40])
def test_features_whose_sizes_are_far_apart_are_evened_out_as_well_as_any(apart: float) -> None:
    X = drawn(3, 9, 3)
    one, other = evened(X), evened(X * [1.0, apart, 1.0 / apart])
    np.testing.assert_allclose(one @ one.T, other @ other.T, rtol=1e-5, atol=1e-5)


PRINTING = """
import hashlib
import os
import subprocess
import sys

import numpy as np
import surefoot as sf
from surefoot.core.coordinates import even_coordinates

rng = np.random.default_rng(8)
mixing = np.eye(6) + 100.0 * np.outer(rng.random(6), rng.random(6))
mixed = np.einsum("kd,de->ke", rng.standard_normal((30, 6)), mixing)
turned = np.vstack([np.eye(5), np.cos(0.1) * np.eye(5)[:1] + np.sin(0.1) * np.eye(5)[1:2]])
worlds = [sf.worlds.sphere(), sf.worlds.sphere(arms=100), sf.worlds.clusters(), sf.worlds.base_station()]
for arms in (mixed, turned, np.eye(4), 3.0 * np.eye(3), *(world.default_problem().features for world in worlds)):
    found = even_coordinates(arms)
    print(hashlib.sha256(np.ascontiguousarray(found.arms).tobytes()).hexdigest()[:12], found.reach)
for world in worlds:
    problem = world.default_problem()
    print(problem.epsilon, problem.safe_level.tolist())
"""


def test_coordinates_have_the_same_digits_on_every_machine() -> None:
    """OpenBLAS adds up in another order on every kind of processor, and can be told which one to take it for."""
    kinds = ("Prescott", "Sandybridge", "Haswell")
    said = {
        subprocess.run(
            [sys.executable, "-c", PRINTING], env=os.environ | {"OPENBLAS_CORETYPE": kind}, capture_output=True,
            text=True, check=True, timeout=120,
        ).stdout
        for kind in kinds
    }  # fmt: skip
    assert len(said) == 1
    assert len(set(next(iter(said)).splitlines())) == 12


def test_features_that_are_nearly_the_same_are_told_apart() -> None:
    """So little of the map is left then that its entries keep digits of their own."""
    rng = np.random.default_rng(2)
    base = rng.standard_normal((40, 3))
    X = np.column_stack([base, base[:, 0] + 1e-9 * rng.standard_normal(40)])
    even = evened(X)
    sizes = np.linalg.svd(even, compute_uv=False)
    assert sizes[-1] > 0.05 * sizes[0]


def test_arms_that_several_threads_map_are_the_same_to_the_last_digit() -> None:
    """In whatever order, and however many at a time."""
    X = drawn(9, 3 * AT_HAND + 5, 6)

    def backwards(function: Any, portions: Any) -> Any:
        return map(function, reversed(list(portions)))

    alone = even_coordinates(X)
    with ThreadPoolExecutor(4) as several:
        for each in (several.map, backwards):
            found = even_coordinates(X, each=each)
            assert (found.arms == alone.arms).all()
            assert found.reach == alone.reach
