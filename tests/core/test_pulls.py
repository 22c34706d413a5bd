"""The greedy pull by brute force, what (G6) puts in its place, and the quotient rule."""

import numpy as np
from lab import absorbed, callable_form, fresh, instance

from surefoot.core.gaps import CONSERVATIVE, OPTIMISTIC, Race
from surefoot.core.pulls import GREEDY, ROUNDING, ROUNDING_FINITE, choose_pull, furthest_behind, greedy
from surefoot.core.types import NULL


def learned(seed: int, K: int = 6, d: int = 3, rounds: int = 15):  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(seed)
    inst = instance(rng.standard_normal((K, d)))
    state, work = fresh(inst)
    for _ in range(rounds):
        absorbed(inst, state, work, int(rng.integers(K)), float(rng.uniform(0.1, 1)), rng.standard_normal(2))
    work.reach[:] = rng.uniform(0.1, 1.0, K)
    A = np.eye(d) + (inst.X.T * state.N) @ inst.X
    return inst, state, work, A, rng


def best_by_inversion(inst, A, reach, y):  # type: ignore[no-untyped-def]
    left = [y @ np.linalg.solve(A + g**2 * np.outer(x, x), y) for g, x in zip(reach, inst.X, strict=True)]
    return int(np.argmin(left))


def test_the_greedy_pull_leaves_the_least_uncertainty() -> None:
    for seed in range(60):
        inst, state, work, A, rng = learned(seed)
        i, j, (level_i, level_j) = int(rng.integers(6)), int(rng.integers(6)), rng.uniform(0.1, 1, 2)
        y = level_i * inst.X[i] - level_j * inst.X[j]
        assert callable_form(greedy)(state, work, 0, i, level_i, j, level_j) == best_by_inversion(
            inst, A, work.reach, y
        )


def test_greedy_ties_go_to_the_lowest_index() -> None:
    inst = instance([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    state, work = fresh(inst)
    work.reach[:] = 0.5
    assert callable_form(greedy)(state, work, 0, 0, 1.0, 1, 1.0) == 0
    assert callable_form(greedy)(state, work, 0, 2, 1.0, 0, 1.0) == 0  # y = 0: nothing helps


def test_a_level_that_decides_is_learned_first() -> None:
    """(G6) counts only under optimistic selection, and only when the level costs more than the reward is unsure."""
    for seed in range(40):
        inst, state, work, A, rng = learned(seed)
        state.low[:] = work.reach
        state.high[:] = np.minimum(1.0, state.low + 0.4)
        state.est[0] = 3.0
        i, j = (int(k) for k in rng.choice(6, 2, replace=False))
        cost = (state.high[j] - state.low[j]) * 3.0
        y = state.low[i] * inst.X[i] - state.high[j] * inst.X[j]
        by_level = best_by_inversion(inst, A, work.reach, inst.X[j])
        by_reward = best_by_inversion(inst, A, work.reach, y)
        for width, selection, expected in (
            (0.99 * cost, OPTIMISTIC, by_level), (1.01 * cost, OPTIMISTIC, by_reward), (0.0, CONSERVATIVE, by_reward),
        ):  # fmt: skip
            race = Race(i, state.low[i], j, state.high[j], 1.0, width)
            assert callable_form(choose_pull)(inst, state, work, GREEDY, selection, race) == expected


def test_against_doing_nothing_the_arm_itself_is_the_direction() -> None:
    for seed in range(20):
        inst, state, work, A, rng = learned(seed)
        state.low[:] = state.high[:] = work.reach
        k = int(rng.integers(6))
        expected = best_by_inversion(inst, A, work.reach, inst.X[k])
        leads, challenges = Race(k, state.low[k], NULL, 0.0, 1.0, 1.0), Race(NULL, 0.0, k, state.low[k], 1.0, 1.0)
        for race in (leads, challenges):
            assert callable_form(choose_pull)(inst, state, work, GREEDY, OPTIMISTIC, race) == expected


def test_the_quotient_rule_counts_pulls_at_todays_level() -> None:
    inst = instance(np.eye(3))
    state, work = fresh(inst)
    work.weights[:], work.reach[:], state.N[:] = [0.5, -0.5, 0.0], [1.0, 0.5, 1.0], [2.0, 0.4, 0.0]
    assert callable_form(furthest_behind)(state, work) == 1  # 2 pulls' worth against 1.6
    state.N[1] = 0.6  # 2.4 pulls at level 0.5
    assert callable_form(furthest_behind)(state, work) == 0
    state.N[:] = 0.0
    assert callable_form(furthest_behind)(state, work) == 0


def test_rounding_pulls_only_arms_that_have_a_share() -> None:
    for seed in range(30):
        inst, state, work, _, rng = learned(seed)
        state.low[:] = state.high[:] = work.reach
        i, j = (int(k) for k in rng.choice(6, 2, replace=False))
        race = Race(i, state.low[i], j, state.low[j], 1.0, 1.0)
        for rule in (ROUNDING, ROUNDING_FINITE):
            k = callable_form(choose_pull)(inst, state, work, rule, CONSERVATIVE, race)
            shares = np.abs(work.weights) / np.abs(work.weights).sum()
            assert shares[k] > 0.0
            owed = [state.N[a] / work.reach[a] ** 2 / shares[a] if shares[a] > 1e-12 else np.inf for a in range(6)]
            assert owed[k] == min(owed)
