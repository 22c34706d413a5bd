"""Random numbers with an address: against numpy's Philox and against the normal distribution."""

from typing import Any

import mpmath
import numpy as np
import pytest

from surefoot.core.compiler import compiled
from surefoot.core.random import EXPLORE, NOISE, normal, philox, uniform


def words(draw: Any, seed: int, purpose: int, run: int, block: int) -> list[int]:
    out = np.zeros(4, np.uint64)
    draw(seed, purpose, run, block, out)
    return [int(word) for word in out]


ADDRESSES = [
    (0, NOISE, 0, 0), (0, NOISE, 0, 1), (7, EXPLORE, 3, 12345), (2**63 - 1, NOISE, 2**40, 2**50), (1, EXPLORE, 0, 2**62)
]  # fmt: skip


@pytest.mark.parametrize("address", ADDRESSES)
def test_philox_is_numpys(form: Any, address: tuple[int, int, int, int]) -> None:
    seed, purpose, run, block = address
    counter = ((run << 64) + block - 1) % 2**256  # numpy counts up before it draws
    theirs = np.random.Philox(counter=counter, key=(purpose << 64) + seed).random_raw(4)
    assert words(form(philox), *address) == theirs.tolist()


def test_every_part_of_the_address_matters() -> None:
    drawn = {
        tuple(words(philox, *address))
        for address in [(1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1), (0, 0, 0, 0)]
    }
    assert len(drawn) == 5


def test_uniform_numbers_never_reach_zero_or_one_and_are_symmetric(form: Any) -> None:
    number = form(uniform)
    lowest, highest = number(np.uint64(0)), number(np.uint64(2**64 - 1))
    assert 0.0 < lowest == 1.0 - highest
    assert highest < 1.0
    assert number(np.uint64(2**63)) == 0.5 + 2.0**-53


@pytest.mark.parametrize("arms", [1, 2, 3, 5, 7, 10, 100, 12345, 10**6, 2**20 + 1])
def test_the_largest_uniform_number_still_draws_the_last_arm(form: Any, arms: int) -> None:
    assert int(form(uniform)(np.uint64(2**64 - 1)) * arms) == arms - 1


def test_the_normal_quantile_has_fifteen_digits(form: Any) -> None:
    mpmath.mp.dps = 40
    points = [2.0**-53, 1e-12, 1e-7, 1e-3, 0.02, 0.0749, 0.0751, 0.2, 0.4999, 0.5, 0.7, 0.93, 0.999999, 1.0 - 2.0**-53]
    for u in points:
        exact = mpmath.sqrt(2) * mpmath.erfinv(2 * mpmath.mpf(u) - 1)
        assert form(normal)(u) == pytest.approx(float(exact), rel=3e-15, abs=1e-16), u


def test_the_normal_quantile_rises_and_is_odd(form: Any) -> None:
    quantile = form(normal)
    points = np.linspace(1e-6, 0.5, 4001)
    drawn = np.array([quantile(u) for u in points])
    assert (np.diff(drawn) > 0).all()
    np.testing.assert_allclose(drawn, [-quantile(1.0 - u) for u in points], rtol=1e-9)


def test_both_forms_of_the_normal_quantile_give_the_same_bits() -> None:
    fast = compiled(normal, {}, "alone")
    points = [*np.linspace(1e-9, 1.0 - 1e-9, 3001).tolist(), 2.0**-53, 1.0 - 2.0**-53]
    plain, quick = np.array([[normal(u), fast(u)] for u in points]).T
    assert plain.tobytes() == quick.tobytes()
