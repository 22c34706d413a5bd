"""Safe levels by hand: certified, optimistic, remembered, frozen, on a dial."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab import absorbed, callable_form, fresh, instance
from surefoot.core.confidence import bound_safety
from surefoot.core.levels import (
    DYNAMIC,
    DYNAMIC_MAX,
    STATIC,
    certify,
    fix_at_ceiling,
    known_levels_hold,
    level_at,
    margin,
    reach,
    round_down,
)


def certified(inst, state, work, mode=DYNAMIC, optimistic=True):  # type: ignore[no-untyped-def]
    """`certify` by the bounds of the sets as they are now."""
    callable_form(bound_safety)(inst, state, work)
    return callable_form(certify)(inst, state, work, mode, optimistic)


def set_signal(state, s, estimates, square_widths):  # type: ignore[no-untyped-def]
    """Puts estimates and widths in place, as if learned."""
    state.est[s, :] = estimates
    state.v[0, :] = square_widths


def test_a_signal_above_the_limit_allows_the_full_level() -> None:
    level = callable_form(level_at)
    assert level(0.3, -0.5) == level(-0.5, -0.5) == 1.0
    assert level(-1.0, -0.5) == 0.5
    assert level(-np.inf, -0.5) == 0.0
    assert level(np.nan, -0.5) == 0.0


@given(st.floats(-1e6, 1e6), st.floats(-1e3, -1e-3))
def test_a_pull_at_the_level_meets_the_limit_at_worst(bound: float, eta0: float) -> None:
    level = callable_form(level_at)(bound, eta0)
    assert 0.0 < level <= 1.0
    assert level * bound >= eta0 * (1.0 + 1e-15)


def test_levels_are_s2_and_s3() -> None:
    inst = instance(np.eye(3), D=[1.0, 0.0], log_inv_delta=[1.0, 0.5], R=[1.0, 0.1], gamma0=[0.2, 0.2, 0.6])
    state, work = fresh(inst)
    set_signal(state, 1, [-1.0, 0.0, -1.0], [4.0, 1.0, 4.0])  # widths 0.2, 0.1, 0.2 with radius 0.1 sqrt(2 * 0.5)
    assert certified(inst, state, work)
    np.testing.assert_allclose(state.low, [0.5 / 1.2, 1.0, 0.6])
    np.testing.assert_allclose(state.high, [0.5 / 0.8, 1.0, 0.5 / 0.8])


def test_a_known_level_that_the_sets_refute_is_a_contradiction() -> None:
    """At 0.9 the signal reads at most 0.9 * -0.8, below the limit."""
    for mode in (STATIC, DYNAMIC, DYNAMIC_MAX):
        inst = instance(np.eye(1), D=[1.0, 0.0], log_inv_delta=[1.0, 0.5], R=[1.0, 0.1], gamma0=[0.9])
        state, work = fresh(inst)
        set_signal(state, 1, [-0.4], [4.0])
        assert certified(inst, state, work, mode)
        set_signal(state, 1, [-1.0], [4.0])
        assert not certified(inst, state, work, mode)


def test_known_levels_hold_as_long_as_every_upper_bound_allows_them() -> None:
    inst = instance(np.eye(2), eta0=[-0.5, -0.4], gamma0=[0.5, 0.2])
    _, work = fresh(inst)
    holds = callable_form(known_levels_hold)
    work.upper[:] = [[-1.0, -2.5], [-0.8, -2.0]]  # each arm meets both limits exactly
    assert holds(inst, work)
    work.upper[1, 1] = -2.0 - 1e-6
    assert not holds(inst, work)


def test_levels_follow_the_bounds_whoever_wrote_them() -> None:
    inst = instance(np.eye(2), gamma0=[0.1, 0.1])
    state, work = fresh(inst)
    work.lower[0], work.upper[0] = [-1.0, -2.0], [-0.625, 3.0]
    assert callable_form(certify)(inst, state, work, DYNAMIC, True)
    np.testing.assert_allclose(state.low, [0.5, 0.25])
    np.testing.assert_allclose(state.high, [0.8, 1.0])


def test_an_arms_level_is_the_least_over_the_signals() -> None:
    inst = instance(np.eye(2), eta0=[-0.5, -0.2], D=[1.0, 0.0, 0.0], log_inv_delta=[1.0, 0.5, 0.5], gamma0=[0.1, 0.1])
    state, work = fresh(inst)
    state.v[0, :] = 1.0  # widths 0.1
    state.est[1], state.est[2] = [-0.9, -0.3], [-0.3, -0.9]
    assert certified(inst, state, work)
    np.testing.assert_allclose(state.low, [min(0.5 / 1.0, 0.2 / 0.4), min(1.0, 0.2 / 1.0)])
    np.testing.assert_allclose(state.high, [min(0.5 / 0.8, 1.0), 0.2 / 0.8])


def test_dynamic_levels_fall_again_and_remembered_ones_do_not() -> None:
    for mode, low, high in ((DYNAMIC, 0.5 / 1.4, 0.5 / 1.2), (DYNAMIC_MAX, 0.5 / 1.3, 0.5 / 1.2)):
        inst = instance(np.eye(1), D=[1.0, 0.0], log_inv_delta=[1.0, 0.5], R=[1.0, 0.1])
        state, work = fresh(inst)
        set_signal(state, 1, [-1.2], [1.0])
        assert certified(inst, state, work, mode)
        assert state.low[0] == pytest.approx(0.5 / 1.3)
        set_signal(state, 1, [-1.3], [1.0])
        assert certified(inst, state, work, mode)
        assert state.low[0] == pytest.approx(low)
        assert state.high[0] == pytest.approx(high)


def test_remembered_levels_are_remembered_by_signal() -> None:
    """Round one certifies signal 1 further, round two signal 2: the minimum uses the better of each."""
    inst = instance(np.eye(1), eta0=[-0.5, -0.5], D=[1.0, 0.0, 0.0], log_inv_delta=[1.0, 0.5, 0.5], gamma0=[0.1])
    state, work = fresh(inst)
    state.v[0, :] = 1.0
    for first, second in ((-0.9, -1.15), (-1.05, -0.98)):
        state.est[1, 0], state.est[2, 0] = first, second
        assert certified(inst, state, work, DYNAMIC_MAX)
    assert state.low[0] == pytest.approx(min(0.5 / 1.0, 0.5 / 1.08))


def test_remembered_levels_that_cross_are_a_contradiction() -> None:
    inst = instance(np.eye(1), D=[1.0, 0.0], log_inv_delta=[1.0, 0.5], R=[1.0, 0.1])
    state, work = fresh(inst)
    set_signal(state, 1, [-0.7], [1.0])
    assert certified(inst, state, work, DYNAMIC_MAX)
    set_signal(state, 1, [-1.5], [1.0])
    assert not certified(inst, state, work, DYNAMIC_MAX)
    state, work = fresh(inst)
    set_signal(state, 1, [-0.7], [1.0])
    assert certified(inst, state, work, DYNAMIC)
    set_signal(state, 1, [-1.5], [1.0])
    assert certified(inst, state, work, DYNAMIC)


def test_static_levels_freeze_when_first_certified() -> None:
    inst = instance(np.eye(1), D=[1.0, 0.0], log_inv_delta=[1.0, 0.5], R=[1.0, 0.1])
    state, work = fresh(inst)
    set_signal(state, 1, [-0.9], [1.0])
    certified(inst, state, work, STATIC)
    set_signal(state, 1, [0.0], [1.0])
    certified(inst, state, work, STATIC)
    assert state.low[0] == pytest.approx(0.5)


@pytest.mark.parametrize(("level", "rounded"), [(0.05, 0.0), (0.1, 0.1), (0.3999, 0.3), (0.4, 0.4), (1.0, 0.9)])
def test_levels_are_rounded_down_to_the_dial(level: float, rounded: float) -> None:
    grid = np.array([0.1, 0.3, 0.4, 0.9])
    assert callable_form(round_down)(grid, level) == rounded
    assert callable_form(round_down)(np.zeros(0), level) == level


def test_the_dial_and_its_top_bound_certified_and_optimistic_levels() -> None:
    inst = instance(
        np.eye(2), D=[1.0, 0.0], log_inv_delta=[1.0, 0.5], R=[1.0, 0.1], grid=[0.2, 0.4, 0.6], ceiling=[0.6, 0.4],
    )  # fmt: skip
    state, work = fresh(inst)
    set_signal(state, 1, [-1.0, 5.0], [1.0, 1.0])
    certified(inst, state, work)
    assert state.low.tolist() == [0.4, 0.4]
    assert state.high.tolist() == [0.4, 0.4]  # 0.5/0.9 = 0.56 rounds down


def test_a_step_limits_the_pull_and_not_the_certificate() -> None:
    inst = instance(np.eye(2), step=0.1, gamma0=[0.2, 0.2])
    state, work = fresh(inst)
    state.low[:] = 0.9
    callable_form(reach)(inst, state, work)
    np.testing.assert_allclose(work.reach, [0.3, 0.3])
    absorbed(inst, state, work, 0, 0.3, [0.0, 0.0])
    callable_form(reach)(inst, state, work)
    np.testing.assert_allclose(work.reach, [0.4, 0.3])
    assert state.low.tolist() == [0.9, 0.9]


def test_a_step_on_a_dial_lands_on_the_dial() -> None:
    inst = instance(np.eye(1), step=0.25, grid=[0.2, 0.4, 0.6, 0.8], gamma0=[0.2])
    state, work = fresh(inst)
    state.low[:] = 0.8
    callable_form(reach)(inst, state, work)
    assert work.reach[0] == 0.4


def test_without_limits_every_level_is_the_top_of_the_dial() -> None:
    inst = instance(np.eye(2), ceiling=[0.7, 1.0])
    state, work = fresh(inst)
    callable_form(fix_at_ceiling)(inst, state, work)
    assert state.low.tolist() == state.high.tolist() == work.reach.tolist() == [0.7, 1.0]


def test_the_margin_is_the_distance_to_the_nearest_limit_in_the_worst_case() -> None:
    inst = instance(np.eye(1), eta0=[-0.5, -0.4], D=[1.0, 0.0, 0.0], log_inv_delta=[1.0, 0.5, 0.5], gamma0=[0.1])
    state, _ = fresh(inst)
    state.v[0, :] = 1.0
    state.est[1, 0], state.est[2, 0] = -0.4, -0.6  # at worst -0.5 and -0.7
    assert callable_form(margin)(inst, state, 0, 0.5) == pytest.approx(min(0.5 - 0.25, 0.4 - 0.35))
    state.est[1, 0] = -100.0
    assert callable_form(margin)(inst, state, 0, 0.1) == 0.0  # known to be safe, whatever the sets say
    assert callable_form(margin)(inst, state, 0, 0.5) < 0.0
