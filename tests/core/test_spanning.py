"""When pulls count as spanning: never by rounding errors, in whatever coordinates and order the arms come.    (C2)"""

from typing import Any

import numpy as np
import pytest

from surefoot.core.estimate import column
from surefoot.core.grams import least_squares
from surefoot.sets.bias_free import Params, bias_free, solve
from workbench import bench

both_forms = pytest.mark.parametrize("few", [False, True], ids=["all columns", "few columns"])
ANGLES = [1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6]


def seen_almost_alike(angle: float, seed: int, d: int = 3) -> Any:
    """d arms; all but the last nearly coincide in their first d - 1 coordinates, and differ in the last one."""
    rng = np.random.default_rng(seed)
    X = np.ones((d, 1)) * rng.standard_normal(d) + angle * rng.standard_normal((d, d))
    X[:, -1] = rng.standard_normal(d)
    return X


@both_forms
@pytest.mark.parametrize("angle", ANGLES)
def test_fewer_arms_than_dimensions_never_span(angle: float, few: bool) -> None:
    for seed in range(30):
        X = seen_almost_alike(angle, seed)
        here = bench(X, grams=least_squares(2, 3, 1e-8), few_columns=few)
        state, work = here.fresh()
        for t in range(9):
            here.absorb(state, work, t % 2, 0.3 + 0.1 * (t % 5), [0.5, -0.1])
            assert state.estimate.spanned[0] == 0, (seed, t)


@both_forms
@pytest.mark.parametrize("angle", ANGLES[:4])
def test_least_squares_is_that_of_all_pulls_as_soon_as_they_span(angle: float, few: bool) -> None:
    """Numbers that a false alarm of spanning once spoiled stayed wrong by half until they were computed anew."""
    for seed in range(30):
        X = seen_almost_alike(angle, seed)
        here = bench(X, grams=least_squares(2, 3, 1e-8), few_columns=few)
        state, work = here.fresh()
        for k in range(3):
            assert state.estimate.spanned[0] == 0
            here.absorb(state, work, k, 0.5, [0.5, -0.1])
        assert state.estimate.spanned[0] == 1
        here.absorb(state, work, 2, 0.5, [0.4, -0.1])
        times = np.diag([1.0, 1.0, 1.0 / 2.0]) / 0.25  # each arm is known by its own pulls: X V^-1 X^T
        of = here.plain(column)
        found = [of(here.inst, state.estimate, 0, k).copy() for k in range(3)]
        np.testing.assert_allclose(found, times, rtol=1e-5, atol=1e-5 * 4.0)
        np.testing.assert_allclose(state.estimate.est[0], [1.0, 1.0, 0.9], rtol=1e-5)


@pytest.mark.parametrize("angle", [1e-3, 1e-4, 3e-5])
def test_the_bias_free_set_says_nothing_before_the_pulls_span(angle: float) -> None:
    for seed in range(30):
        X = seen_almost_alike(angle, seed)
        sets = bias_free(Params(np.ones(2, np.int64), np.ones(2), np.ones(2)), 3, 3)
        here = bench(X)
        state, work = here.fresh()
        for t in range(9):
            here.absorb(state, work, t % 2, 0.3 + 0.1 * (t % 5), [0.5, -0.1])
            assert solve(here.inst, sets.params, sets.memory, state, 0) == np.inf, (seed, t)
