"""Phases: pulls fixed in advance, judged by themselves alone, and designs found where a phase begins."""

from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.core.design import xy_design
from surefoot.core.knockout import begin_phases, drop, left, next_arm, open_phase, planned_pulls, settle
from surefoot.core.phase_design import ask_about, ask_within_span, find_design, new_design, see
from surefoot.core.types import ROUND
from surefoot.core.widths import draw_noise, narrowest_design, new_widths, slope_of_width, width_of_images
from surefoot.policies.bound import faced


def bench(arms: Any, delta: float = 0.1) -> tuple[Any, Any, Any, Any]:
    """An instance with these arms at full level, its state, and room for phases and designs."""
    X = np.asarray(arms, dtype=float)
    world = sf.worlds.Linear(
        X, theta_star=np.ones(X.shape[1]), mu_star=np.full(X.shape[1], 1e-3), noise=1.0, safety_noise=1.0, limit=-1.0
    )
    problem = world.problem(epsilon=0.0, delta=delta, delta_safety=0.1, safe_level=1.0)
    found = faced(sf.policies.RAGE(), problem)
    state = found.new_state()
    begin_phases(found.inst, state.own)
    return found.inst, state, state.own.phases, new_design(*X.shape)


def sphere(K: int, d: int, seed: int = 3) -> Any:
    arms = np.random.default_rng(seed).normal(size=(K, d))
    return arms / np.linalg.norm(arms, axis=1)[:, None]


@pytest.mark.parametrize("pulls", [3, 7, 20, 101])
def test_planned_pulls_keep_to_the_shares(pulls: int) -> None:
    _, state, phases, _ = bench(np.eye(4))
    shares = np.array([0.5, 0.3, 0.2, 0.0])
    open_phase(state.estimate, phases, shares, float(pulls))
    assert phases.planned.sum() == planned_pulls(phases) == pulls
    assert phases.planned[3] == 0
    assert (np.abs(phases.planned - pulls * shares) < 1.5).all()
    assert (phases.planned[:3] >= 1).all()


def test_a_phase_asks_for_its_pulls_and_is_over() -> None:
    _, state, phases, _ = bench(np.eye(2))
    open_phase(state.estimate, phases, np.array([0.75, 0.25]), 4.0)
    reach, asked = np.ones(2), []
    while (k := next_arm(state.estimate, phases, reach)) >= 0:
        asked.append(k)
        state.estimate.N[k] += 1.0
    assert sorted(asked) == [0, 0, 0, 1]


def test_a_phase_is_judged_by_its_own_pulls_alone() -> None:
    inst, state, phases, _ = bench(sphere(5, 3))
    rng, estimate, reach = np.random.default_rng(1), state.estimate, np.ones(5)
    estimate.N[:], estimate.M[0] = 7.0, rng.normal(size=5) * 1e6  # what came before
    open_phase(estimate, phases, np.full(5, 0.2), 40.0)
    n, sums = phases.planned.copy(), rng.normal(size=5)
    estimate.N[:] += n
    estimate.M[0] += sums
    assert settle(inst, estimate, phases, reach)
    V = (inst.X.T * n) @ inst.X
    assert phases.values == pytest.approx(inst.X @ np.linalg.solve(V, inst.X.T @ sums), abs=1e-6)
    y = inst.X[0] - inst.X[1]
    assert np.square(phases.images[0] - phases.images[1]).sum() == pytest.approx(y @ np.linalg.solve(V, y), rel=1e-6)


def test_an_arm_drops_out_when_it_is_beaten_and_of_equal_arms_the_first_stays() -> None:
    _, _, phases, _ = bench(np.vstack([np.eye(3), np.eye(3)[:1]]))
    phases.values[:] = [2.0, 1.5, 0.0, 2.0]
    phases.images[:] = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]]
    drop(phases, 1.0 / np.sqrt(2.0), 0.0)  # one beats another by 1
    assert phases.alive.tolist() == [1, 1, 0, 0]
    assert (phases.leader[0], phases.challenger[0], phases.gap[0]) == (0, 1, pytest.approx(0.5))
    drop(phases, 0.1, 0.0)
    assert (left(phases), phases.leader[0], phases.challenger[0], phases.gap[0]) == (1, 0, -1, 0.0)


def worst_square(X: Any, shares: Any, alive: Any) -> float:
    V = (X.T * shares) @ X
    pairs = [X[i] - X[j] for i in alive for j in alive if i < j]
    return max(float(y @ np.linalg.solve(V, y)) for y in pairs)


def test_a_design_within_a_phase_is_as_good_as_one_in_advance() -> None:
    inst, _, phases, design = bench(sphere(7, 3))
    ask_about(inst, design, phases.alive)
    find_design(inst, design, np.ones(7), True)
    best = worst_square(inst.X, xy_design(inst.X, tolerance=0.002), range(7))
    assert design.shares.sum() == pytest.approx(1.0)
    assert worst_square(inst.X, design.shares, range(7)) == pytest.approx(design.value[0], rel=1e-5)
    assert best * 0.995 <= design.value[0] <= best * 1.025


def test_a_design_asks_about_those_that_are_left() -> None:
    """Of two nearly parallel arms the difference is told by the pull along it."""
    arms = np.vstack([np.eye(3), [np.cos(0.1), np.sin(0.1), 0.0]])
    inst, _, phases, design = bench(arms)
    phases.alive[:] = [1, 0, 0, 1]
    ask_about(inst, design, phases.alive)
    find_design(inst, design, np.ones(4), True)
    y = arms[0] - arms[3]
    assert np.argmax(design.shares) == 1
    assert design.value[0] == pytest.approx(np.abs(y).sum() ** 2, rel=0.03)  # (T1): along the axes


def test_a_design_over_arms_has_the_dimension_of_their_span() -> None:
    arms = np.vstack([np.eye(4), [[np.cos(0.1), np.sin(0.1), 0.0, 0.0]]])
    inst, _, phases, design = bench(arms)
    phases.alive[:] = [1, 0, 0, 0, 1]
    ask_within_span(inst, design, phases.alive, np.ones(5))
    assert design.pulled.tolist() == [1, 1, 0, 0, 1]
    find_design(inst, design, np.ones(5), False)
    assert design.value[0] == pytest.approx(2.0, rel=0.03)
    assert design.shares[2] == design.shares[3] == 0.0


# -- widths -----------------------------------------------------------------------------------------------------------


def test_drawn_noise_is_normal_and_new_in_every_phase() -> None:
    widths = new_widths(2, 5)
    draw_noise(widths, 1, 2, 3)
    first = widths.eta.copy()
    assert abs(first.mean()) < 0.2
    assert first.std() == pytest.approx(1.0, abs=0.15)
    assert len(np.unique(first)) == first.size
    draw_noise(widths, 1, 2, 4)
    assert not np.isin(widths.eta, first).any()
    draw_noise(widths, 1, 2, 3)
    assert (widths.eta == first).all()


def test_the_width_falls_as_its_slope_says() -> None:
    inst, _, phases, design = bench(sphere(4, 3))
    reach, widths = np.ones(4), new_widths(4, 3)
    ask_about(inst, design, phases.alive)
    draw_noise(widths, 1, 1, 1)

    def width(shares: Any) -> float:
        design.now[:] = shares
        assert see(inst, design, reach)
        return width_of_images(widths, design.images, design.targets)

    shares = np.array([0.4, 0.3, 0.2, 0.1])
    here = width(shares)
    lifted = design.images @ widths.eta.T
    assert here == pytest.approx((lifted.max(axis=0) - lifted.min(axis=0)).mean())
    slope_of_width(design, widths)
    slopes = widths.slopes.copy()
    for k in range(4):
        more = shares.copy()
        more[k] += 1e-6
        assert (here - width(more)) / 1e-6 == pytest.approx(slopes[k], rel=1e-3)


def test_the_narrowest_design_is_better_than_even_shares() -> None:
    arms = np.vstack([np.eye(3), [np.cos(0.1), np.sin(0.1), 0.0]])
    inst, _, phases, design = bench(arms)
    phases.alive[:] = [1, 0, 0, 1]
    widths = new_widths(4, 3)
    draw_noise(widths, 1, 1, 1)
    ask_about(inst, design, phases.alive)
    narrowest_design(inst, design, widths, np.ones(4), 3.0)
    assert np.argmax(design.shares) == 1
    assert worst_square(arms, design.shares, [0, 3]) < 0.5 * worst_square(arms, np.full(4, 0.25), [0, 3])


# -- policies ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["XYAdaptive", "RAGE", "ALBA", "Peace"])
def test_asking_again_turns_no_phase_twice(name: str) -> None:
    world = sf.worlds.Linear(
        [[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]], theta_star=[1.0, 0.1], mu_star=[0.01, 0.01], noise=0.2, safety_noise=0.1,
        limit=-1.0,
    )  # fmt: skip
    problem = world.problem(epsilon=0.0, delta=0.1, delta_safety=0.1, safe_level=1.0)
    found = faced(getattr(sf.policies, name)(), problem)
    state, work, decide = found.new_state(), found.new_work(), found.plan.decide
    found.plan.begin_own(found.inst, state.own)
    first = decide(found.inst, found.plan.rules, state, work, 1, 0)
    planned, number = state.own.phases.planned.copy(), int(state.own.phases.number[0])
    assert decide(found.inst, found.plan.rules, state, work, 1, 0) == first
    assert number == state.own.phases.number[0] == 1
    assert (planned == state.own.phases.planned).all()
    assert state.clock[ROUND] == 0


def test_rage_has_phases_as_its_authors_play_them() -> None:
    inst, state, phases, _ = bench(sphere(5, 3), delta=0.05)
    begun = state.own
    turned(sf.policies.RAGE(), inst.X, state)
    assert planned_pulls(phases) == np.ceil(8 * begun.design.value[0] * 1.1 * np.log(2 * 5**2 / 0.05))
    state.estimate.N[:] += phases.planned
    state.estimate.M[0] += phases.planned * 1e-6  # all arms alike: nobody drops out
    turned(sf.policies.RAGE(), inst.X, state)
    assert left(phases) == 5
    assert planned_pulls(phases) == np.ceil(8 * 4 * begun.design.value[0] * 1.1 * np.log(2 * 5**2 * 2**2 / 0.05))


def turned(policy: Any, arms: Any, state: Any) -> None:
    """What the state is after one more decision, at delta = 0.05."""
    world = sf.worlds.Linear(
        arms, theta_star=np.ones(3), mu_star=np.full(3, 1e-3), noise=1.0, safety_noise=1.0, limit=-1.0
    )
    problem = world.problem(epsilon=0.0, delta=0.05, delta_safety=0.1, safe_level=1.0)
    found = faced(policy, problem)
    found.plan.decide(found.inst, found.plan.rules, state, found.new_work(), 1, 0)


@pytest.mark.parametrize("alpha", [0.0, 1.0, "small"])
def test_a_phase_of_xy_adaptive_is_to_be_longer_than_the_one_before(alpha: Any) -> None:
    with pytest.raises(sf.errors.InvalidInput, match=r"alpha.*must lie above 0 and up to 0.9"):
        sf.policies.XYAdaptive(alpha=alpha)
