"""Safe levels by hand: certified, optimistic, remembered, frozen, on a dial."""

from math import exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.core.levels import (
    DYNAMIC,
    DYNAMIC_MAX,
    STATIC,
    certify,
    fix_at_ceiling,
    highest_step,
    known_levels_hold,
    level_at,
    reachable,
    round_down,
    stepped,
)
from surefoot.core.margin import margin
from surefoot.core.parts import bound_safety
from workbench import bench

EXACT = {"D": [1.0, 0.0], "delta": [exp(-1.0), exp(-0.5)], "R": [1.0, 0.1]}  # safety signals with a radius of 0.1
TWO_EXACT = {"D": [1.0, 0.0, 0.0], "delta": [exp(-1.0), exp(-0.5), exp(-0.5)]}


def certified(here, state, work, mode=DYNAMIC, optimistic=True):  # type: ignore[no-untyped-def]
    """`certify` by the bounds of the sets as they are now."""
    here.plain(bound_safety)(here.inst, state, work)
    return certify(here.inst, state.levels, work.bounds, mode, optimistic)


def set_signal(state, s, estimates, square_widths):  # type: ignore[no-untyped-def]
    """Puts estimates and widths in place, as if learned."""
    state.estimate.est[s, :] = estimates
    state.estimate.v[0, :] = square_widths


def test_a_signal_above_the_limit_allows_the_full_level() -> None:
    assert level_at(0.3, -0.5) == level_at(-0.5, -0.5) == 1.0
    assert level_at(-1.0, -0.5) == 0.5
    assert level_at(-np.inf, -0.5) == 0.0
    assert level_at(np.nan, -0.5) == 0.0


@given(st.floats(-1e6, 1e6), st.floats(-1e3, -1e-3))
def test_a_pull_at_the_level_meets_the_limit_at_worst(bound: float, eta0: float) -> None:
    level = level_at(bound, eta0)
    assert 0.0 < level <= 1.0
    assert level * bound >= eta0 * (1.0 + 1e-15)


def test_levels_are_s2_and_s3() -> None:
    here = bench(np.eye(3), **EXACT, gamma0=[0.2, 0.2, 0.6])
    state, work = here.fresh()
    set_signal(state, 1, [-1.0, 0.0, -1.0], [4.0, 1.0, 4.0])  # widths 0.2, 0.1, 0.2 with radius 0.1 sqrt(2 * 0.5)
    assert certified(here, state, work)
    np.testing.assert_allclose(state.levels.low, [0.5 / 1.2, 1.0, 0.6])
    np.testing.assert_allclose(state.levels.high, [0.5 / 0.8, 1.0, 0.5 / 0.8])


def test_a_known_level_that_the_sets_refute_is_a_contradiction() -> None:
    """At 0.9 the signal reads at most 0.9 * -0.8, below the limit."""
    for mode in (STATIC, DYNAMIC, DYNAMIC_MAX):
        here = bench(np.eye(1), **EXACT, gamma0=[0.9])
        state, work = here.fresh()
        set_signal(state, 1, [-0.4], [4.0])
        assert certified(here, state, work, mode)
        set_signal(state, 1, [-1.0], [4.0])
        assert not certified(here, state, work, mode)


def test_known_levels_hold_as_long_as_every_upper_bound_allows_them() -> None:
    here = bench(np.eye(2), eta0=[-0.5, -0.4], gamma0=[0.5, 0.2])
    _, work = here.fresh()
    work.bounds.most[:] = [[-1.0, -2.5], [-0.8, -2.0]]  # each arm meets both limits exactly
    assert known_levels_hold(here.inst, work.bounds)
    work.bounds.most[1, 1] = -2.0 - 1e-6
    assert not known_levels_hold(here.inst, work.bounds)


def test_levels_follow_the_bounds_whoever_wrote_them() -> None:
    here = bench(np.eye(2), gamma0=[0.1, 0.1])
    state, work = here.fresh()
    work.bounds.lower[0], work.bounds.upper[0] = [-1.0, -2.0], [-0.625, 3.0]
    assert certify(here.inst, state.levels, work.bounds, DYNAMIC, True)
    np.testing.assert_allclose(state.levels.low, [0.5, 0.25])
    np.testing.assert_allclose(state.levels.high, [0.8, 1.0])


def test_an_arms_level_is_the_least_over_the_signals() -> None:
    here = bench(np.eye(2), eta0=[-0.5, -0.2], **TWO_EXACT, gamma0=[0.1, 0.1])
    state, work = here.fresh()
    state.estimate.v[0, :] = 1.0  # widths 0.1
    state.estimate.est[1], state.estimate.est[2] = [-0.9, -0.3], [-0.3, -0.9]
    assert certified(here, state, work)
    np.testing.assert_allclose(state.levels.low, [min(0.5 / 1.0, 0.2 / 0.4), min(1.0, 0.2 / 1.0)])
    np.testing.assert_allclose(state.levels.high, [min(0.5 / 0.8, 1.0), 0.2 / 0.8])


def test_dynamic_levels_fall_again_and_remembered_ones_do_not() -> None:
    for mode, low, high in ((DYNAMIC, 0.5 / 1.4, 0.5 / 1.2), (DYNAMIC_MAX, 0.5 / 1.3, 0.5 / 1.2)):
        here = bench(np.eye(1), **EXACT)
        state, work = here.fresh()
        set_signal(state, 1, [-1.2], [1.0])
        assert certified(here, state, work, mode)
        assert state.levels.low[0] == pytest.approx(0.5 / 1.3)
        set_signal(state, 1, [-1.3], [1.0])
        assert certified(here, state, work, mode)
        assert state.levels.low[0] == pytest.approx(low)
        assert state.levels.high[0] == pytest.approx(high)


def test_remembered_levels_are_remembered_by_signal() -> None:
    """Round one certifies signal 1 further, round two signal 2: the minimum uses the better of each."""
    here = bench(np.eye(1), eta0=[-0.5, -0.5], **TWO_EXACT, gamma0=[0.1])
    state, work = here.fresh()
    state.estimate.v[0, :] = 1.0
    for first, second in ((-0.9, -1.15), (-1.05, -0.98)):
        state.estimate.est[1, 0], state.estimate.est[2, 0] = first, second
        assert certified(here, state, work, DYNAMIC_MAX)
    assert state.levels.low[0] == pytest.approx(min(0.5 / 1.0, 0.5 / 1.08))


def test_remembered_levels_that_cross_are_a_contradiction() -> None:
    here = bench(np.eye(1), **EXACT)
    state, work = here.fresh()
    set_signal(state, 1, [-0.7], [1.0])
    assert certified(here, state, work, DYNAMIC_MAX)
    set_signal(state, 1, [-1.5], [1.0])
    assert not certified(here, state, work, DYNAMIC_MAX)
    state, work = here.fresh()
    set_signal(state, 1, [-0.7], [1.0])
    assert certified(here, state, work, DYNAMIC)
    set_signal(state, 1, [-1.5], [1.0])
    assert certified(here, state, work, DYNAMIC)


def test_static_levels_freeze_when_first_certified() -> None:
    here = bench(np.eye(1), **EXACT)
    state, work = here.fresh()
    set_signal(state, 1, [-0.9], [1.0])
    certified(here, state, work, STATIC)
    set_signal(state, 1, [0.0], [1.0])
    certified(here, state, work, STATIC)
    assert state.levels.low[0] == pytest.approx(0.5)


@pytest.mark.parametrize(("level", "rounded"), [(0.05, 0.0), (0.1, 0.1), (0.3999, 0.3), (0.4, 0.4), (1.0, 0.9)])
def test_levels_are_rounded_down_to_the_dial(level: float, rounded: float) -> None:
    grid = np.array([0.1, 0.3, 0.4, 0.9])
    assert round_down(grid, level) == rounded
    assert round_down(np.zeros(0), level) == level


def test_the_dial_and_its_top_bound_certified_and_optimistic_levels() -> None:
    here = bench(np.eye(2), **EXACT, grid=[0.2, 0.4, 0.6], ceiling=[0.6, 0.4])
    state, work = here.fresh()
    set_signal(state, 1, [-1.0, 5.0], [1.0, 1.0])
    certified(here, state, work)
    assert state.levels.low.tolist() == [0.4, 0.4]
    assert state.levels.high.tolist() == [0.4, 0.4]  # 0.5/0.9 = 0.56 rounds down


def test_a_step_limits_the_pull_and_not_the_certificate() -> None:
    here = bench(np.eye(2), step=0.1, gamma0=[0.2, 0.2])
    state, work = here.fresh()
    state.levels.low[:] = 0.9
    reachable(here.inst.dial, state.levels, work.reach)
    np.testing.assert_allclose(work.reach, [0.3, 0.3])
    here.absorb(state, work, 0, 0.3, [0.0, 0.0])
    reachable(here.inst.dial, state.levels, work.reach)
    np.testing.assert_allclose(work.reach, [0.4, 0.3])
    assert state.levels.low.tolist() == [0.9, 0.9]


def test_a_step_on_a_dial_lands_on_the_dial() -> None:
    here = bench(np.eye(1), step=0.25, grid=[0.2, 0.4, 0.6, 0.8], gamma0=[0.2])
    state, work = here.fresh()
    state.levels.low[:] = 0.8
    reachable(here.inst.dial, state.levels, work.reach)
    assert work.reach[0] == 0.4


def test_without_limits_every_level_is_the_top_of_the_dial() -> None:
    here = bench(np.eye(2), ceiling=[0.7, 1.0])
    state, work = here.fresh()
    fix_at_ceiling(here.inst.dial, state.levels, work.reach)
    assert state.levels.low.tolist() == state.levels.high.tolist() == work.reach.tolist() == [0.7, 1.0]


def test_the_margin_is_the_distance_to_the_nearest_limit_in_the_worst_case() -> None:
    here = bench(np.eye(1), eta0=[-0.5, -0.4], **TWO_EXACT, gamma0=[0.1])
    state, _ = here.fresh()
    state.estimate.v[0, :] = 1.0
    state.estimate.est[1, 0], state.estimate.est[2, 0] = -0.4, -0.6  # at worst -0.5 and -0.7
    assert here.plain(margin)(here.inst, state, 0, 0.5) == pytest.approx(min(0.5 - 0.25, 0.4 - 0.35))
    state.estimate.est[1, 0] = -100.0
    assert here.plain(margin)(here.inst, state, 0, 0.1) == 0.0  # known to be safe, whatever the sets say
    assert here.plain(margin)(here.inst, state, 0, 0.5) < 0.0


def test_the_margin_is_at_least_what_the_certified_level_leaves() -> None:
    """Certified up to 0.8 in a better round: at 0.4 the signal keeps at least half of the distance, whatever today."""
    here = bench(np.eye(1), **EXACT, gamma0=[0.1])
    state, work = here.fresh()
    set_signal(state, 1, [-0.525], [1.0])
    assert certified(here, state, work, DYNAMIC_MAX)
    assert state.levels.low[0] == pytest.approx(0.8)
    set_signal(state, 1, [-0.9], [4.0])
    assert here.plain(margin)(here.inst, state, 0, 0.4) == pytest.approx(0.25)
    assert here.plain(margin)(here.inst, state, 0, 0.9) == pytest.approx(0.5 - 0.9 * 1.1)


def test_a_step_below_the_lowest_setting_of_the_dial_lands_on_it() -> None:
    here = bench(np.eye(1), step=0.01, grid=[0.2, 0.4], gamma0=[0.2])
    state, _ = here.fresh()
    state.levels.last[0] = 0.1
    assert stepped(here.inst.dial, state.levels, 0, 0.4) == 0.2


def test_a_step_that_depends_on_the_level_reaches_as_far_as_its_table_says() -> None:
    known, reach = np.array([0.0, 0.2, 0.21, 0.9]), np.array([0.4, 0.5, 0.9, 1.0])
    dial = bench(np.eye(1), step=0.4).inst.dial._replace(step_from=known, step_to=reach)
    for last in [0.0, 0.1, 0.2, 0.205, 0.21, 0.5, 0.9, 0.95, 1.0]:
        assert highest_step(dial, last) == pytest.approx(np.interp(last, known, reach))
    assert highest_step(dial._replace(step_from=np.empty(0), step_to=np.empty(0)), 0.3) == pytest.approx(0.7)


def test_a_step_on_a_curve_lands_on_the_grid_below() -> None:
    here = bench(np.eye(1), step=0.4, grid=[0.2, 0.4, 0.6], gamma0=[0.2])
    dial = here.inst.dial._replace(step_from=np.array([0.0, 1.0]), step_to=np.array([0.3, 1.0]))
    state, _ = here.fresh()
    state.levels.last[0] = 0.2
    assert stepped(dial, state.levels, 0, 0.6) == 0.4  # up to 0.44
    assert stepped(dial, state.levels, 0, 0.4) == 0.4
