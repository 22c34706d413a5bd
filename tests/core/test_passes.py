"""The largest of many values, as the processor takes several at a time: against a plain loop."""

from math import inf, nan
from typing import Any

import numpy as np
import pytest

from surefoot.core import passes
from surefoot.core.kernel import plain
from surefoot.core.passes import BLOCK, LONG, all_numbers, first_largest, first_largest_product
from surefoot.core.types import NULL


def plainly(values: Any) -> tuple[int, float]:
    best, most = NULL, -inf
    for k, value in enumerate(values):
        if value > most:
            best, most = k, value
    return best, most


@pytest.mark.parametrize("count", [1, 7, LONG - 1, LONG, LONG + 1, BLOCK, BLOCK + 1, 3 * BLOCK + 7])
def test_the_first_largest_is_that_of_a_plain_loop(form: Any, count: int) -> None:
    """Ties are many, and some values are infinite or no number."""
    found, rng = form(first_largest), np.random.default_rng(count)
    for _ in range(50):
        values = rng.integers(0, 5, count + 3).astype(float)
        values[rng.integers(0, count, count // 4)] = rng.choice([nan, inf, -inf])
        assert found(values, count) == plainly(values[:count])


@pytest.mark.parametrize("count", [5, 2 * BLOCK + 5])
@pytest.mark.parametrize("sizes", [(-3.0, -1.0), (-1e-300, 1e-300), (1e300, 1e308)])
def test_numbers_of_every_sign_and_size_are_ordered(form: Any, count: int, sizes: tuple[float, float]) -> None:
    found, rng = form(first_largest), np.random.default_rng(count)
    for _ in range(20):
        values = rng.uniform(*sizes, count)
        assert found(values, count) == plainly(values)


@pytest.mark.parametrize("count", [5, 2 * BLOCK + 5])
def test_the_two_zeros_are_equal(form: Any, count: int) -> None:
    values = np.full(count, -1.0)
    values[2], values[-1] = -0.0, 0.0
    assert form(first_largest)(values, count) == (2, 0.0)


@pytest.mark.parametrize("count", [5, LONG, LONG + 3])
@pytest.mark.parametrize("nothing", [nan, -inf])
def test_where_nothing_is_above_minus_infinity_there_is_no_largest(form: Any, count: int, nothing: float) -> None:
    assert form(first_largest)(np.full(count, nothing), count) == (NULL, -inf)


def test_one_value_that_is_no_number_is_noticed(form: Any) -> None:
    values = np.arange(100.0)
    values[70] = nan
    assert not form(all_numbers)(values, 100)
    assert form(all_numbers)(values, 70)
    values[70] = inf
    assert form(all_numbers)(values, 100)


@pytest.mark.parametrize("count", [1, 9, 10, 11, 20, 47])
def test_the_first_largest_product_is_found_in_stretches_as_in_one_go(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passes, "STRETCH", 10)
    found, rng = plain(first_largest_product, {}), np.random.default_rng(count)
    for _ in range(50):
        x, y = rng.integers(1, 4, (2, count)).astype(float)
        y[rng.integers(0, count, count // 4)] = rng.choice([nan, inf, -inf, -1.0])
        assert found(x, y, np.zeros(min(count, 10))) == plainly(x * y)


def test_many_products_are_compared_alike_in_both_forms(form: Any) -> None:
    x, y = np.random.default_rng(3).integers(-9, 9, (2, 2 * passes.STRETCH + 77)).astype(float)
    assert form(first_largest_product)(x, y, np.zeros(len(x))) == plainly(x * y)
