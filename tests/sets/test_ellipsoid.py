"""Confidence sets: radii and widths by hand, and what the bias-free set and an arm's own pulls cut off."""

from math import log, sqrt

import numpy as np
import pytest

from lab import absorbed, callable_form, fresh, instance
from surefoot.core.confidence import arm_width, bound_leads, bound_safety, difference_width, open_set, radius_at
from surefoot.core.types import DETERMINANT, MIXTURE, NORM, NULL, OWN_PULLS, SQUARED_SUM
from surefoot.sets.mixtures import half_normal

X = np.array([[1.0, 0.0], [0.0, 2.0], [0.6, 0.8]])


def learned(inst, rounds=25):  # type: ignore[no-untyped-def]
    state, work = fresh(inst)
    rng = np.random.default_rng(5)
    for t in range(rounds):
        absorbed(inst, state, work, t % len(inst.X), 0.2 + 0.03 * (t % 20), rng.standard_normal(len(inst.R)))
    return state, work


def radius_of(inst, state, s):  # type: ignore[no-untyped-def]
    return callable_form(open_set)(inst, state, s).radius


def a_matrix(inst, state):  # type: ignore[no-untyped-def]
    return inst.lam[0] * np.eye(inst.X.shape[1]) + (inst.X.T * state.N) @ inst.X


def test_the_norm_radius_is_e3() -> None:
    inst = instance(X, radius=[NORM, NORM], lam=[2.0], R=[0.5, 0.1], D=[3.0, 4.0])
    state, _ = learned(inst)
    for s, (R, D) in enumerate([(0.5, 3.0), (0.1, 4.0)]):
        by_hand = R * sqrt(2 * log((1 + 25 * 4.0 / 2.0) / 0.05)) + sqrt(2.0) * D
        assert radius_of(inst, state, s) == pytest.approx(by_hand, rel=1e-14)


def test_the_determinant_radius_is_e4() -> None:
    inst = instance(X, radius=[DETERMINANT, NORM], lam=[2.0], R=[0.5, 0.1], D=[3.0, 4.0])
    state, _ = learned(inst)
    log_det = np.linalg.slogdet(a_matrix(inst, state))[1]
    by_hand = 0.5 * sqrt(2 * log(20.0) + log_det - 2 * log(2.0)) + sqrt(2.0) * 3.0
    assert radius_of(inst, state, 0) == pytest.approx(by_hand, rel=1e-13)


def test_the_squared_sum_radius_is_c1() -> None:
    inst = instance(X, radius=[SQUARED_SUM, NORM], lam=[2.0], R=[0.5, 0.1], D=[3.0, 4.0])
    state, _ = learned(inst)
    log_det = np.linalg.slogdet(a_matrix(inst, state))[1]
    by_hand = sqrt(0.5**2 * (2 * log(20.0) + log_det - 2 * log(2.0)) + 2.0 * 3.0**2)
    assert radius_of(inst, state, 0) == pytest.approx(by_hand, rel=1e-13)


def test_the_squared_sum_radius_is_never_above_the_determinant_one() -> None:
    for rounds in (0, 1, 60):
        plain, squared = instance(X), instance(X, radius=[SQUARED_SUM, SQUARED_SUM])
        state, _ = learned(plain, rounds)
        assert radius_of(squared, state, 0) <= radius_of(plain, state, 0)


@pytest.mark.parametrize("kind", [DETERMINANT, NORM, SQUARED_SUM])
def test_bounds_from_above_may_have_an_error_of_their_own(kind: int) -> None:
    inst = instance(X, radius=[kind, kind], log_inv_delta_high=[log(20.0), log(1e6)])
    state, _ = learned(inst)
    stricter = instance(X, radius=[kind, kind], log_inv_delta=[log(20.0), log(1e6)])
    found = callable_form(radius_at)(inst, state, 1, inst.log_inv_delta_high[1])
    assert found == radius_of(stricter, state, 1) > radius_of(inst, state, 1)


def test_in_one_dimension_the_norm_radius_gives_way_to_the_determinant() -> None:
    by_norm, by_determinant = instance([[1.5]], radius=[NORM, NORM]), instance([[1.5]])
    for inst in (by_norm, by_determinant):
        state, _ = learned(inst)
        by_hand = 1.0 * sqrt(2 * log(20.0) + log(1.0 + state.N[0] * 2.25)) + 1.0
        assert radius_of(inst, state, 0) == pytest.approx(by_hand, rel=1e-13)


def test_the_norm_radius_is_never_below_the_determinant_one() -> None:
    rng = np.random.default_rng(3)
    for dim in (2, 3, 6):
        inst = instance(rng.standard_normal((7, dim)))
        wide = instance(inst.X, radius=[NORM, NORM])
        for rounds in (0, 1, 7, 60):
            state, _ = learned(wide, rounds)
            assert radius_of(wide, state, 0) >= radius_of(inst, state, 0)


def test_widths_are_radius_times_the_norm_in_the_inverse() -> None:
    inst = instance(X)
    state, _ = learned(inst)
    inverse = np.linalg.inv(a_matrix(inst, state))
    for s in range(2):
        ball = callable_form(open_set)(inst, state, s)
        for k, x in enumerate(X):
            by_hand = ball.radius * sqrt(x @ inverse @ x)
            assert callable_form(arm_width)(state, ball, k) == pytest.approx(by_hand, rel=1e-12)
            for i, level_k, level_i in [(0, 0.3, 0.9), (2, 1.0, 0.0), (1, 0.5, 0.5)]:
                y = level_k * x - level_i * X[i]
                by_hand = ball.radius * sqrt(y @ inverse @ y)
                found = callable_form(difference_width)(state, ball, k, level_k, i, level_i)
                assert found == pytest.approx(by_hand, rel=1e-9, abs=1e-12)


def test_two_equal_pulls_differ_by_nothing() -> None:
    """Exactly: a last digit under the root would come out as a width of 1e-9."""
    inst = instance([[0.6, 0.8], [0.6, 0.8], [1.0, 0.3]])
    state, _ = learned(inst)
    ball = callable_form(open_set)(inst, state, 0)
    for level in np.linspace(0.1, 1.0, 91):
        assert callable_form(difference_width)(state, ball, 0, level, 1, level) == 0.0


def test_each_signal_may_use_a_radius_of_its_own() -> None:
    inst = instance(X, eta0=[-0.5, -0.4], radius=[DETERMINANT, NORM, DETERMINANT], R=[1.0, 0.3, 0.3])
    state, _ = learned(inst)
    found = [radius_of(inst, state, s) for s in range(3)]
    assert found[1] > found[2]


# -- the bias-free set ------------------------------------------------------------------------------------------------


def by_least_squares(inst, state, s, y):  # type: ignore[no-untyped-def]
    """y . theta_LS and sqrt(y^T (V^-1 + c V^-2) y) R sqrt(2 log(1/delta) + log det(I + V/c))."""
    V, c = (inst.X.T * state.N) @ inst.X, inst.prior[s]
    inverse = np.linalg.inv(V)
    grown = np.linalg.slogdet(np.eye(len(V)) + V / c)[1]
    radius = inst.R[s] * sqrt(2 * inst.log_inv_delta[s] + grown)
    return y @ inverse @ inst.X.T @ state.M[s], radius * sqrt(y @ (inverse + c * inverse @ inverse) @ y)


def bounds(inst, state, work):  # type: ignore[no-untyped-def]
    callable_form(bound_safety)(inst, state, work)
    return work.lower.copy(), work.upper.copy()


def mixture(**changes):  # type: ignore[no-untyped-def]
    """A bias of 50 makes the ellipsoid so wide that the bias-free set decides."""
    table = {"radius": [MIXTURE, MIXTURE], "D": [50.0, 50.0], "prior": [0.8, 2.5], **changes}
    return instance(X, **table)


def test_safety_bounds_of_the_bias_free_set_are_c2() -> None:
    inst = mixture()
    state, work = learned(inst)
    lower, upper = bounds(inst, state, work)
    for k, x in enumerate(X):
        middle, width = by_least_squares(inst, state, 1, x)
        assert lower[0, k] == pytest.approx(middle - width, rel=1e-10)
        assert upper[0, k] == pytest.approx(middle + width, rel=1e-10)


@pytest.mark.parametrize("optimistic", [False, True])
@pytest.mark.parametrize("leader", [NULL, 0, 2])
def test_leads_by_the_bias_free_set_are_c2(leader: int, optimistic: bool) -> None:
    inst = mixture()
    state, work = learned(inst)
    state.low[:], state.high[:] = [0.3, 0.5, 0.2], [0.9, 0.5, 0.7]
    levels, level = state.high if optimistic else state.low, state.low[leader] if leader != NULL else 0.0
    z_i = level * X[max(leader, 0)]
    callable_form(bound_leads)(inst, state, work, leader, level, optimistic)
    for k, x in enumerate(X):
        middle, width = by_least_squares(inst, state, 0, levels[k] * x - z_i)
        assert work.lead[k] == pytest.approx(middle + width, rel=1e-9)
    middle, width = by_least_squares(inst, state, 0, -z_i)
    assert work.lead[3] == (pytest.approx(middle + width, rel=1e-9) if leader != NULL else -np.inf)


@pytest.mark.parametrize("arms", [[], [0, 0, 0], [1, 1, 1, 1], [0, 0, 1]])
def test_the_bias_free_set_waits_until_its_matrix_is_invertible(arms: list[int]) -> None:
    """Pulls of one arm leave V singular, and then the ellipsoid alone speaks; the second arm makes it invertible."""
    cut, plain = mixture(), mixture(radius=[SQUARED_SUM, SQUARED_SUM])
    state, work = fresh(cut)
    for k in arms:
        absorbed(cut, state, work, k, 0.7, [0.3, -0.2])
    same = np.array_equal(bounds(cut, state, work), bounds(plain, state, work))
    assert same == (len(set(arms)) < 2)


def test_the_bias_free_set_only_ever_cuts() -> None:
    for D in (0.1, 1.0, 10.0):
        cut, plain = mixture(D=[D, D]), mixture(D=[D, D], radius=[SQUARED_SUM, SQUARED_SUM])
        state, work = learned(cut, 40)
        (lower, upper), (low, high) = bounds(cut, state, work), bounds(plain, state, work)
        assert (lower >= low).all()
        assert (upper <= high).all()


# -- an arm's own pulls -----------------------------------------------------------------------------------------------


def own_pulls(**changes):  # type: ignore[no-untyped-def]
    rows = [half_normal(0.05, 1.0, 1.0)] * 2 + [half_normal(0.01, 0.1, 3.0), half_normal(0.002, 0.1, 8.0)]
    return instance(X, **{"radius": [SQUARED_SUM, OWN_PULLS], "D": [50.0, 50.0], "boundary": rows, **changes})


def test_an_arms_own_pulls_bound_it_by_its_mean() -> None:
    inst = own_pulls()
    state, work = learned(inst)
    lower, upper = bounds(inst, state, work)
    for k in range(3):
        N, mean = state.N[k], state.M[1, k] / state.N[k]
        below, above = half_normal(0.01, 0.1, 3.0).at(N, 0.1) / N, half_normal(0.002, 0.1, 8.0).at(N, 0.1) / N
        assert lower[0, k] == pytest.approx(mean - below, rel=1e-12)
        assert upper[0, k] == pytest.approx(mean + above, rel=1e-12)


def test_an_arm_without_pulls_of_its_own_has_the_ellipsoid() -> None:
    inst, plain = own_pulls(), own_pulls(radius=[SQUARED_SUM, SQUARED_SUM])
    state, work = fresh(inst)
    for _ in range(9):
        absorbed(inst, state, work, 0, 0.9, [0.1, -0.1])
    (lower, upper), (low, high) = bounds(inst, state, work), bounds(plain, state, work)
    assert (lower[0, 1:] == low[0, 1:]).all()
    assert (upper[0, 1:] == high[0, 1:]).all()
    assert lower[0, 0] > low[0, 0]
