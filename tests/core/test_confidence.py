"""Confidence sets: the radii (E3) and (E4) by hand, and the widths that they give."""

from math import log, sqrt

import numpy as np
import pytest
from lab import absorbed, callable_form, fresh, instance

from surefoot.core.confidence import arm_width, difference_width, open_set
from surefoot.core.types import DETERMINANT, NORM

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
