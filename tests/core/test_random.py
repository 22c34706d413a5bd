"""Random numbers with an address: against numpy's Philox and against the normal distribution."""

import mpmath
import numpy as np
import pytest
from scipy import stats

from lab import callable_form
from surefoot.core.nature import GAUSSIAN, RADEMACHER, UNIFORM, observe, shape
from surefoot.core.random import EXPLORE, NOISE, normal, philox, uniform
from surefoot.core.types import Truth


def words(seed: int, purpose: int, run: int, block: int) -> list[int]:
    out = np.zeros(4, np.uint64)
    callable_form(philox)(seed, purpose, run, block, out)
    return [int(word) for word in out]


ADDRESSES = [
    (0, NOISE, 0, 0), (0, NOISE, 0, 1), (7, EXPLORE, 3, 12345), (2**63 - 1, NOISE, 2**40, 2**50), (1, EXPLORE, 0, 2**62)
]  # fmt: skip


@pytest.mark.parametrize("address", ADDRESSES)
def test_philox_is_numpys(address: tuple[int, int, int, int]) -> None:
    seed, purpose, run, block = address
    counter = ((run << 64) + block - 1) % 2**256  # numpy counts up before it draws
    theirs = np.random.Philox(counter=counter, key=(purpose << 64) + seed).random_raw(4)
    assert words(*address) == theirs.tolist()


def test_every_part_of_the_address_matters() -> None:
    drawn = {
        tuple(words(*address)) for address in [(1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1), (0, 0, 0, 0)]
    }
    assert len(drawn) == 5


def test_uniform_numbers_never_reach_zero_or_one_and_are_symmetric() -> None:
    number = callable_form(uniform)
    lowest, highest = number(np.uint64(0)), number(np.uint64(2**64 - 1))
    assert 0.0 < lowest == 1.0 - highest
    assert highest < 1.0
    assert number(np.uint64(2**63)) == 0.5 + 2.0**-53


@pytest.mark.parametrize("arms", [1, 2, 3, 5, 7, 10, 100, 12345, 10**6, 2**20 + 1])
def test_the_largest_uniform_number_still_draws_the_last_arm(arms: int) -> None:
    assert int(callable_form(uniform)(np.uint64(2**64 - 1)) * arms) == arms - 1


def test_the_normal_quantile_has_fifteen_digits() -> None:
    mpmath.mp.dps = 40
    points = [2.0**-53, 1e-12, 1e-7, 1e-3, 0.02, 0.0749, 0.0751, 0.2, 0.4999, 0.5, 0.7, 0.93, 0.999999, 1.0 - 2.0**-53]
    for u in points:
        exact = mpmath.sqrt(2) * mpmath.erfinv(2 * mpmath.mpf(u) - 1)
        assert callable_form(normal)(u) == pytest.approx(float(exact), rel=3e-15, abs=1e-16), u


def test_the_normal_quantile_rises_and_is_odd() -> None:
    quantile = callable_form(normal)
    points = np.linspace(1e-6, 0.5, 4001)
    drawn = np.array([quantile(u) for u in points])
    assert (np.diff(drawn) > 0).all()
    np.testing.assert_allclose(drawn, [-quantile(1.0 - u) for u in points], rtol=1e-9)


def test_noise_has_mean_zero_variance_one_and_the_right_law() -> None:
    draws = np.array([[word >> 12 for word in words(3, NOISE, 0, block)] for block in range(5000)]).ravel() * 2.0**-52
    form = callable_form(shape)
    drawn = {kind: np.array([form(kind, u + 2.0**-53) for u in draws]) for kind in (GAUSSIAN, UNIFORM, RADEMACHER)}
    assert stats.kstest(drawn[GAUSSIAN], "norm").pvalue > 1e-3
    assert stats.kstest(drawn[UNIFORM], stats.uniform(-np.sqrt(3), 2 * np.sqrt(3)).cdf).pvalue > 1e-3
    assert set(drawn[RADEMACHER]) == {-1.0, 1.0}
    for values in drawn.values():
        assert abs(values.mean()) < 4.0 / np.sqrt(len(values))
        assert abs(values.var() - 1.0) < 4.0 * np.sqrt(2.0 / len(values))


@pytest.mark.parametrize("noise", [GAUSSIAN, UNIFORM, RADEMACHER])
def test_all_noises_are_sub_gaussian_with_the_stated_size(noise: int) -> None:
    """E exp(a noise) <= exp(a^2/2), by a sum over a fine grid of quantiles."""
    form, points = callable_form(shape), (np.arange(20_000) + 0.5) / 20_000
    values = np.array([form(noise, u) for u in points])
    for a in (-3.0, -1.0, -0.1, 0.1, 0.5, 1.0, 2.0, 3.0):
        assert np.exp(a * values).mean() <= np.exp(a * a / 2.0) * (1.0 + 1e-6)


def test_signals_of_a_pull_take_their_own_words_and_nothing_is_drawn_twice() -> None:
    """A world of three signals and no effect shows the noise alone: the stream in order, whatever was drawn before."""
    truth = Truth(np.zeros((3, 1)), np.ones(3), GAUSSIAN, np.full(2, -1.0))
    see, quantile, number = callable_form(observe), callable_form(normal), callable_form(uniform)

    def noise(pull: int, buffer: np.ndarray, block: np.ndarray) -> list[float]:
        out = np.zeros(3)
        see(truth, 9, 2, pull, 0, 1.0, buffer, block, out)
        return out.tolist()

    stream = [quantile(number(np.uint64(word))) for block in range(9) for word in words(9, NOISE, 2, block)]
    buffer, block = np.zeros(4, np.uint64), np.full(1, -1)
    in_order = [noise(pull, buffer, block) for pull in range(1, 10)]
    assert [x for row in in_order for x in row] == stream[3:30]
    for pull in (7, 2, 9, 1):
        assert noise(pull, np.zeros(4, np.uint64), np.full(1, -1)) == in_order[pull - 1]
