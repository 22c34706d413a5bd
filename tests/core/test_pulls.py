"""The greedy and the decisive pull by brute force, what (G6) puts in their place, and the quotient rule."""

import numpy as np

from lab import absorbed, callable_form, fresh, instance
from surefoot.core.pulls import (
    GREEDY,
    ROUNDING,
    ROUNDING_FINITE,
    choose_pull,
    decisive_pull,
    furthest_behind,
    greedy,
    tightest_limit,
)
from surefoot.core.race import CONSERVATIVE, OPTIMISTIC, Race
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
            gap = width + 3.0 * (state.high[j] - state.low[i])
            race = Race(i, state.low[i], j, state.high[j], gap)
            assert callable_form(choose_pull)(inst, state, work, GREEDY, selection, race) == expected


def test_against_doing_nothing_the_arm_itself_is_the_direction() -> None:
    for seed in range(20):
        inst, state, work, A, rng = learned(seed)
        state.low[:] = state.high[:] = work.reach
        k = int(rng.integers(6))
        expected = best_by_inversion(inst, A, work.reach, inst.X[k])
        leads, challenges = Race(k, state.low[k], NULL, 0.0, 1.0), Race(NULL, 0.0, k, state.low[k], 1.0)
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
        race = Race(i, state.low[i], j, state.low[j], 1.0)
        for rule in (ROUNDING, ROUNDING_FINITE):
            k = callable_form(choose_pull)(inst, state, work, rule, CONSERVATIVE, race)
            shares = np.abs(work.weights) / np.abs(work.weights).sum()
            assert shares[k] > 0.0
            owed = [state.N[a] / work.reach[a] ** 2 / shares[a] if shares[a] > 1e-12 else np.inf for a in range(6)]
            assert owed[k] == min(owed)


# -- the decisive pull ------------------------------------------------------------------------------------------------


def unlearned(seed: int, limits: int, K: int = 6, d: int = 3):  # type: ignore[no-untyped-def]
    """A state with levels still to be learned, one regularisation for each signal, and its matrices in d dimensions."""
    rng = np.random.default_rng(seed)
    lam = rng.uniform(0.1, 2.0, 1 + limits)
    inst = instance(rng.standard_normal((K, d)), eta0=[-0.5] * limits, lam=lam, gram_of=np.arange(1 + limits))
    state, work = fresh(inst)
    for _ in range(15):
        absorbed(inst, state, work, int(rng.integers(K)), float(rng.uniform(0.1, 1)), rng.standard_normal(1 + limits))
    state.low[:] = work.reach[:] = rng.uniform(0.1, 0.6, K)
    state.high[:] = state.low + rng.choice([0.0, 0.2, 0.4], K)
    state.low_of[:] = state.low + rng.uniform(0.0, 0.3, (limits, K))
    V = (inst.X.T * state.N) @ inst.X
    return inst, state, work, [one * np.eye(d) + V for one in lam], rng


def shares(A, X, reach, y):  # type: ignore[no-untyped-def]
    """By which share a pull of each arm shrinks |y|^2 in A^-1, by inverting."""
    now = y @ np.linalg.solve(A, y)
    after = [y @ np.linalg.solve(A + g**2 * np.outer(x, x), y) for g, x in zip(reach, X, strict=True)]
    return 1.0 - np.array(after) / now if now > 0.0 else np.zeros(len(X))


def drop(inst, state, work, A, race):  # type: ignore[no-untyped-def]
    """By how much each arm's pull narrows the gap: the share of each width times what that width costs.    (G7)"""
    value = [(state.low[race.leader], race.leader), (race.challenger_level, race.challenger)]
    z_i, z_j = (level * inst.X[k] if k != NULL else np.zeros(inst.X.shape[1]) for level, k in value)
    v_i, v_j = (level * state.est[0, k] if k != NULL else 0.0 for level, k in value)
    found = (race.gap - (v_j - v_i)) * shares(A[0], inst.X, work.reach, z_j - z_i)
    for k in {race.leader, race.challenger} - {NULL}:
        cost = (state.high[k] - state.low[k]) * abs(state.est[0, k])
        found = found + cost * shares(A[1 + int(np.argmin(state.low_of[:, k]))], inst.X, work.reach, inst.X[k])
    return found


def test_the_decisive_pull_narrows_the_gap_most() -> None:
    """Leader and challenger are two arms, one arm twice, or one of them is doing nothing."""
    for seed in range(120):
        inst, state, work, A, rng = unlearned(seed, limits=1 + seed % 3)
        i, j = (int(k) for k in rng.choice(6, 2, replace=False))
        i, j = [(i, j), (i, i), (i, NULL), (NULL, j)][seed // 3 % 4]
        level_i, level_j = (state.low[i] if i != NULL else 0.0), (state.high[j] if j != NULL else 0.0)
        v_i, v_j = (level_i * state.est[0, i] if i != NULL else 0.0), (level_j * state.est[0, j] if j != NULL else 0.0)
        race = Race(i, level_i, j, level_j, v_j - v_i + float(rng.choice([0.01, 0.3, 3.0])))
        gains = drop(inst, state, work, A, race)
        k = callable_form(decisive_pull)(inst, state, work, race)
        assert gains[k] >= gains.max() - 1e-12, seed


def test_when_levels_are_learned_the_decisive_pull_is_the_greedy_one() -> None:
    for seed in range(40):
        inst, state, work, A, rng = unlearned(seed, limits=1)
        state.high[:] = state.low
        i, j = (int(k) for k in rng.choice(6, 2, replace=False))
        race = Race(i, state.low[i], j, state.low[j], 10.0)
        expected = best_by_inversion(inst, A[0], work.reach, state.low[i] * inst.X[i] - state.low[j] * inst.X[j])
        assert callable_form(decisive_pull)(inst, state, work, race) == expected


def test_when_the_reward_is_certain_the_decisive_pull_learns_the_level() -> None:
    for seed in range(40):
        inst, state, work, A, rng = unlearned(seed, limits=2)
        k = int(rng.integers(6))
        state.high[k] = state.low[k] + 0.2
        race = Race(k, state.low[k], k, state.high[k], 0.2 * state.est[0, k])
        tightest = int(np.argmin(state.low_of[:, k]))
        expected = best_by_inversion(inst, A[1 + tightest], work.reach, inst.X[k])
        assert callable_form(decisive_pull)(inst, state, work, race) == expected


def test_when_nothing_can_be_learned_the_first_arm_is_pulled() -> None:
    inst = instance([[0.0, 0.0], [0.0, 0.0]])
    state, work = fresh(inst)
    work.reach[:] = 0.2
    assert callable_form(decisive_pull)(inst, state, work, Race(0, 0.2, 1, 1.0, 0.5)) == 0


def test_the_tightest_limit_certifies_the_lowest_level() -> None:
    inst = instance(np.eye(2), eta0=[-0.5] * 3)
    state, _ = fresh(inst)
    state.low_of[:] = [[0.4, 0.3], [0.2, 0.3], [0.9, 0.1]]
    assert [callable_form(tightest_limit)(state, k) for k in range(2)] == [1, 2]
    state.low_of[:] = 0.5
    assert callable_form(tightest_limit)(state, 0) == 0


def test_the_decisive_pull_learns_a_level_that_the_reward_alone_would_never_ask_about() -> None:
    """x_1 - x_2 = (0, -1) is learned best from arm 3, however often: nothing is then learned of mu_1, or the level."""
    inst = instance([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]], gamma0=[1.0, 0.5, 1.0])
    state, work = fresh(inst)
    state.low[:] = work.reach[:] = [1.0, 0.5, 1.0]
    state.high[:] = 1.0
    for _ in range(300):
        assert callable_form(greedy)(state, work, 0, 0, 1.0, 1, 1.0) == 2
        absorbed(inst, state, work, 2, 1.0, [0.2, -0.3])
    race = Race(0, 1.0, 1, 1.0, state.est[0, 1] - state.est[0, 0] + 0.1)
    assert callable_form(decisive_pull)(inst, state, work, race) in (0, 1)
