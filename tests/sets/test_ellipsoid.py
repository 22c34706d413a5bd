"""The ellipsoid around the estimate: its radii by hand, and what it says of safety and of leads."""

from math import log, sqrt

import numpy as np
import pytest

from surefoot.core.learn import refresh
from surefoot.core.parts import ball_of, bound_leads, bound_safety
from surefoot.core.types import NULL
from surefoot.sets.ellipsoid import DETERMINANT, NORM, SQUARED_SUM, radius_at
from workbench import bench

X = np.array([[1.0, 0.0], [0.0, 2.0], [0.6, 0.8]])


def learned(here, rounds=25):  # type: ignore[no-untyped-def]
    inst, (state, work) = here.inst, here.fresh()
    rng = np.random.default_rng(5)
    for t in range(rounds):
        here.absorb(state, work, t % len(inst.X), 0.2 + 0.03 * (t % 20), rng.standard_normal(len(inst.R)))
    return state, work


def radius_of(here, state, s):  # type: ignore[no-untyped-def]
    return here.plain(ball_of)(here.inst, state, s).radius


def a_matrix(here, state):  # type: ignore[no-untyped-def]
    return here.inst.regularization[0] + (here.inst.X.T * state.estimate.N) @ here.inst.X


def test_the_norm_radius_is_e3() -> None:
    here = bench(X, form=[NORM, NORM], lam=2.0, R=[0.5, 0.1], D=[3.0, 4.0])
    state, _ = learned(here)
    for s, (R, D) in enumerate([(0.5, 3.0), (0.1, 4.0)]):
        by_hand = R * sqrt(2 * log((1 + 25 * 4.0 / 2.0) / 0.05)) + sqrt(2.0) * D
        assert radius_of(here, state, s) == pytest.approx(by_hand, rel=1e-14)


def test_the_determinant_radius_is_e4() -> None:
    here = bench(X, form=[DETERMINANT, NORM], lam=2.0, R=[0.5, 0.1], D=[3.0, 4.0])
    state, _ = learned(here)
    log_det = np.linalg.slogdet(a_matrix(here, state))[1]
    by_hand = 0.5 * sqrt(2 * log(20.0) + log_det - 2 * log(2.0)) + sqrt(2.0) * 3.0
    assert radius_of(here, state, 0) == pytest.approx(by_hand, rel=1e-13)


def test_the_squared_sum_radius_is_c1() -> None:
    here = bench(X, form=[SQUARED_SUM, NORM], lam=2.0, R=[0.5, 0.1], D=[3.0, 4.0])
    state, _ = learned(here)
    log_det = np.linalg.slogdet(a_matrix(here, state))[1]
    by_hand = sqrt(0.5**2 * (2 * log(20.0) + log_det - 2 * log(2.0)) + 2.0 * 3.0**2)
    assert radius_of(here, state, 0) == pytest.approx(by_hand, rel=1e-13)


def test_the_squared_sum_radius_is_never_above_the_determinant_one() -> None:
    for rounds in (0, 1, 60):
        plain, squared = bench(X), bench(X, form=[SQUARED_SUM, SQUARED_SUM])
        state, _ = learned(plain, rounds)
        assert radius_of(squared, state, 0) <= radius_of(plain, state, 0)


@pytest.mark.parametrize("kind", [DETERMINANT, NORM, SQUARED_SUM])
def test_bounds_from_above_may_have_an_error_of_their_own(kind: int) -> None:
    here, stricter = bench(X, form=kind, delta_high=[0.05, 1e-6]), bench(X, form=kind, delta=[0.05, 1e-6])
    state, _ = learned(here)
    params = here.sets.params
    found = radius_at(here.inst, params, state.sets, state, 1, params.log_inv_delta_high[1])
    assert found == radius_of(stricter, state, 1) > radius_of(here, state, 1)


def test_in_one_dimension_the_norm_radius_gives_way_to_the_determinant() -> None:
    by_norm, by_determinant = bench([[1.5]], form=[NORM, NORM]), bench([[1.5]])
    for here in (by_norm, by_determinant):
        state, _ = learned(here)
        by_hand = 1.0 * sqrt(2 * log(20.0) + log(1.0 + state.estimate.N[0] * 2.25)) + 1.0
        assert radius_of(here, state, 0) == pytest.approx(by_hand, rel=1e-13)


def test_the_norm_radius_is_never_below_the_determinant_one() -> None:
    rng = np.random.default_rng(3)
    for dim in (2, 3, 6):
        here = bench(rng.standard_normal((7, dim)))
        wide = bench(here.inst.X, form=[NORM, NORM])
        for rounds in (0, 1, 7, 60):
            state, _ = learned(wide, rounds)
            assert radius_of(wide, state, 0) >= radius_of(here, state, 0)


def test_each_signal_may_use_a_radius_of_its_own() -> None:
    here = bench(X, eta0=[-0.5, -0.4], form=[DETERMINANT, NORM, DETERMINANT], R=[1.0, 0.3, 0.3])
    state, _ = learned(here)
    found = [radius_of(here, state, s) for s in range(3)]
    assert found[1] > found[2]


def bounds(here, state, work):  # type: ignore[no-untyped-def]
    here.plain(bound_safety)(here.inst, state, work)
    return work.bounds.lower.copy(), work.bounds.upper.copy()


@pytest.mark.parametrize("kind", [DETERMINANT, NORM, SQUARED_SUM])
def test_safety_bounds_are_radius_times_the_norm_in_the_inverse(kind: int) -> None:
    here = bench(X, form=kind, lam=2.0)
    state, work = learned(here)
    lower, upper = bounds(here, state, work)
    inverse = np.linalg.inv(a_matrix(here, state))
    middle = X @ inverse @ X.T @ state.estimate.M[1]
    for k, x in enumerate(X):
        width = radius_of(here, state, 1) * sqrt(x @ inverse @ x)
        assert lower[0, k] == pytest.approx(middle[k] - width, rel=1e-12)
        assert upper[0, k] == pytest.approx(middle[k] + width, rel=1e-12)


@pytest.mark.parametrize("optimistic", [False, True])
@pytest.mark.parametrize("leader", [NULL, 0, 2])
def test_leads_are_the_difference_of_the_estimates_and_its_width(leader: int, optimistic: bool) -> None:
    here = bench(X)
    state, work = learned(here)
    state.levels.low[:], state.levels.high[:] = [0.3, 0.5, 0.2], [0.9, 0.5, 0.7]
    levels = state.levels.high if optimistic else state.levels.low
    level = float(state.levels.low[leader]) if leader != NULL else 0.0
    here.plain(bound_leads)(here.inst, state, work, leader, level, optimistic)
    inverse = np.linalg.inv(a_matrix(here, state))
    theta = inverse @ X.T @ state.estimate.M[0]
    z_i, radius = level * X[max(leader, 0)], radius_of(here, state, 0)
    for lead, y in zip(work.bounds.lead, [*(levels[:, None] * X - z_i), -z_i], strict=True):
        by_hand = y @ theta + radius * sqrt(y @ inverse @ y)
        assert lead == (pytest.approx(by_hand, rel=1e-9, abs=1e-12) if y.any() or leader != NULL else -np.inf)


def test_the_growth_of_rounds_is_the_same_computed_step_by_step_and_anew() -> None:
    here = bench(X, form=NORM, lam=[0.4, 3.0])
    state, work = learned(here, 27)
    step_by_step = state.sets.growth.copy()
    here.plain(refresh)(here.inst, state, work)
    np.testing.assert_allclose(step_by_step, state.sets.growth, rtol=1e-14)
    np.testing.assert_allclose(state.sets.growth, np.log1p(27 * 4.0 / np.array([0.4, 3.0])), rtol=1e-14)
