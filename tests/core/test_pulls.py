"""The greedy and the decisive pull by brute force, what (G6) puts in their place, and the quotient rule."""

from typing import Any

import numpy as np

from surefoot.core.pulls import (
    GREEDY,
    IN_TURN,
    ROUNDING,
    ROUNDING_FINITE,
    choose_pull,
    decisive_pull,
    furthest_behind,
    greedy,
    tightest_limit,
)
from surefoot.core.race import CONSERVATIVE, OPTIMISTIC, Race
from surefoot.core.rounding import begin_shares, new_shares
from surefoot.core.types import NULL, ROUND, Instance
from workbench import bench

FORMS = (bench(np.eye(2)), bench(np.eye(2), few_columns=True))  # all columns are held, or a few


def of_form(kernel: Any, inst: Instance) -> Any:
    """The kernel with the form of the instance bound in."""
    return FORMS[inst.few_columns].plain(kernel)


def learned(seed: int, K: int = 6, d: int = 3, rounds: int = 15):  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(seed)
    here = bench(rng.standard_normal((K, d)), few_columns=seed % 2 == 1)
    inst, (state, work) = here.inst, here.fresh()
    for _ in range(rounds):
        here.absorb(state, work, int(rng.integers(K)), float(rng.uniform(0.1, 1)), rng.standard_normal(2))
    work.reach[:] = rng.uniform(0.1, 1.0, K)
    A = np.eye(d) + (inst.X.T * state.estimate.N) @ inst.X
    return inst, state, work, A, rng


def no_shares(inst):  # type: ignore[no-untyped-def]
    """Room for shares of pulls, with no basis yet."""
    shares = new_shares(*inst.X.shape)
    begin_shares(inst, shares)
    return shares


def best_by_inversion(inst, A, reach, y):  # type: ignore[no-untyped-def]
    left = [y @ np.linalg.solve(A + g**2 * np.outer(x, x), y) for g, x in zip(reach, inst.X, strict=True)]
    return int(np.argmin(left))


def test_the_greedy_pull_leaves_the_least_uncertainty() -> None:
    for seed in range(60):
        inst, state, work, A, rng = learned(seed)
        i, j, (level_i, level_j) = int(rng.integers(6)), int(rng.integers(6)), rng.uniform(0.1, 1, 2)
        y = level_i * inst.X[i] - level_j * inst.X[j]
        found = of_form(greedy, inst)(inst, state, work, 0, i, level_i, j, level_j)
        assert found == best_by_inversion(inst, A, work.reach, y)


def test_greedy_ties_go_to_the_lowest_index() -> None:
    here = bench([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    inst, (state, work) = here.inst, here.fresh()
    work.reach[:] = 0.5
    assert of_form(greedy, inst)(inst, state, work, 0, 0, 1.0, 1, 1.0) == 0
    assert of_form(greedy, inst)(inst, state, work, 0, 2, 1.0, 0, 1.0) == 0  # y = 0: nothing helps


def test_a_level_that_decides_is_learned_first() -> None:
    """(G6) counts only under optimistic selection, and only when the level costs more than the reward is unsure."""
    for seed in range(40):
        inst, state, work, A, rng = learned(seed)
        state.levels.low[:] = work.reach
        state.levels.high[:] = np.minimum(1.0, state.levels.low + 0.4)
        state.estimate.est[0] = 3.0
        i, j = (int(k) for k in rng.choice(6, 2, replace=False))
        cost = (state.levels.high[j] - state.levels.low[j]) * 3.0
        y = state.levels.low[i] * inst.X[i] - state.levels.high[j] * inst.X[j]
        by_level = best_by_inversion(inst, A, work.reach, inst.X[j])
        by_reward = best_by_inversion(inst, A, work.reach, y)
        for width, selection, expected in (
            (0.99 * cost, OPTIMISTIC, by_level), (1.01 * cost, OPTIMISTIC, by_reward), (0.0, CONSERVATIVE, by_reward),
        ):  # fmt: skip
            gap = width + 3.0 * (state.levels.high[j] - state.levels.low[i])
            race = Race(i, state.levels.low[i], j, state.levels.high[j], gap)
            assert of_form(choose_pull, inst)(inst, state, work, no_shares(inst), GREEDY, selection, race) == expected


def test_against_doing_nothing_the_arm_itself_is_the_direction() -> None:
    for seed in range(20):
        inst, state, work, A, rng = learned(seed)
        state.levels.low[:] = state.levels.high[:] = work.reach
        k = int(rng.integers(6))
        expected = best_by_inversion(inst, A, work.reach, inst.X[k])
        leads, challenges = Race(k, state.levels.low[k], NULL, 0.0, 1.0), Race(NULL, 0.0, k, state.levels.low[k], 1.0)
        for race in (leads, challenges):
            assert of_form(choose_pull, inst)(inst, state, work, no_shares(inst), GREEDY, OPTIMISTIC, race) == expected


def test_the_quotient_rule_counts_pulls_at_todays_level() -> None:
    estimate = bench(np.eye(3)).fresh()[0].estimate
    weights, reach = np.array([0.5, -0.5, 0.0]), np.array([1.0, 0.5, 1.0])
    estimate.N[:] = [2.0, 0.4, 0.0]
    assert furthest_behind(estimate, weights, reach) == 1  # 2 pulls' worth against 1.6
    estimate.N[1] = 0.6  # 2.4 pulls at level 0.5
    assert furthest_behind(estimate, weights, reach) == 0
    estimate.N[:] = 0.0
    assert furthest_behind(estimate, weights, reach) == 0


def test_rounding_pulls_only_arms_that_have_a_share() -> None:
    for seed in range(30):
        inst, state, work, _, rng = learned(seed)
        state.levels.low[:] = state.levels.high[:] = work.reach
        i, j = (int(k) for k in rng.choice(6, 2, replace=False))
        race = Race(i, state.levels.low[i], j, state.levels.low[j], 1.0)
        for rule in (ROUNDING, ROUNDING_FINITE):
            found = no_shares(inst)
            k = of_form(choose_pull, inst)(inst, state, work, found, rule, CONSERVATIVE, race)
            shares = np.abs(found.weights) / np.abs(found.weights).sum()
            assert shares[k] > 0.0
            owed = [
                state.estimate.N[a] / work.reach[a] ** 2 / shares[a] if shares[a] > 1e-12 else np.inf for a in range(6)
            ]
            assert owed[k] == min(owed)


def test_in_turn_every_arm_has_its_turn_whatever_is_learned() -> None:
    inst, state, work, _, _ = learned(1)
    race = Race(0, 0.2, 1, 0.2, 1.0)
    for t in range(13):
        state.clock[ROUND] = t
        assert of_form(choose_pull, inst)(inst, state, work, no_shares(inst), IN_TURN, OPTIMISTIC, race) == t % 6


# -- the decisive pull ------------------------------------------------------------------------------------------------


def unlearned(seed: int, limits: int, K: int = 6, d: int = 3):  # type: ignore[no-untyped-def]
    """A state with levels still to be learned, one regularisation for each signal, and its matrices in d dimensions."""
    rng = np.random.default_rng(seed)
    lam = rng.uniform(0.1, 2.0, 1 + limits)
    here = bench(rng.standard_normal((K, d)), eta0=[-0.5] * limits, lam=lam, few_columns=seed % 2 == 1)
    inst, (state, work) = here.inst, here.fresh()
    for _ in range(15):
        here.absorb(state, work, int(rng.integers(K)), float(rng.uniform(0.1, 1)), rng.standard_normal(1 + limits))
    state.levels.low[:] = work.reach[:] = rng.uniform(0.1, 0.6, K)
    state.levels.high[:] = state.levels.low + rng.choice([0.0, 0.2, 0.4], K)
    state.levels.low_of[:] = state.levels.low + rng.uniform(0.0, 0.3, (limits, K))
    V = (inst.X.T * state.estimate.N) @ inst.X
    return inst, state, work, [one * np.eye(d) + V for one in lam], rng


def shares(A, X, reach, y):  # type: ignore[no-untyped-def]
    """By which share a pull of each arm shrinks |y|^2 in A^-1, by inverting."""
    now = y @ np.linalg.solve(A, y)
    after = [y @ np.linalg.solve(A + g**2 * np.outer(x, x), y) for g, x in zip(reach, X, strict=True)]
    return 1.0 - np.array(after) / now if now > 0.0 else np.zeros(len(X))


def drop(inst, state, work, A, race):  # type: ignore[no-untyped-def]
    """By how much each arm's pull narrows the gap: the share of each width times what that width costs.    (G7)"""
    value = [(state.levels.low[race.leader], race.leader), (race.challenger_level, race.challenger)]
    z_i, z_j = (level * inst.X[k] if k != NULL else np.zeros(inst.X.shape[1]) for level, k in value)
    v_i, v_j = (level * state.estimate.est[0, k] if k != NULL else 0.0 for level, k in value)
    found = (race.gap - (v_j - v_i)) * shares(A[0], inst.X, work.reach, z_j - z_i)
    for k in {race.leader, race.challenger} - {NULL}:
        cost = (state.levels.high[k] - state.levels.low[k]) * abs(state.estimate.est[0, k])
        found = found + cost * shares(A[1 + int(np.argmin(state.levels.low_of[:, k]))], inst.X, work.reach, inst.X[k])
    return found


def test_the_decisive_pull_narrows_the_gap_most() -> None:
    """Leader and challenger are two arms, one arm twice, or one of them is doing nothing."""
    for seed in range(120):
        inst, state, work, A, rng = unlearned(seed, limits=1 + seed % 3)
        i, j = (int(k) for k in rng.choice(6, 2, replace=False))
        i, j = [(i, j), (i, i), (i, NULL), (NULL, j)][seed // 3 % 4]
        level_i, level_j = (state.levels.low[i] if i != NULL else 0.0), (state.levels.high[j] if j != NULL else 0.0)
        v_i, v_j = (
            (level_i * state.estimate.est[0, i] if i != NULL else 0.0),
            (level_j * state.estimate.est[0, j] if j != NULL else 0.0),
        )
        race = Race(i, level_i, j, level_j, v_j - v_i + float(rng.choice([0.01, 0.3, 3.0])))
        gains = drop(inst, state, work, A, race)
        k = of_form(decisive_pull, inst)(inst, state, work, race)
        assert gains[k] >= gains.max() - 1e-12, seed


def test_when_levels_are_learned_the_decisive_pull_is_the_greedy_one() -> None:
    for seed in range(40):
        inst, state, work, A, rng = unlearned(seed, limits=1)
        state.levels.high[:] = state.levels.low
        i, j = (int(k) for k in rng.choice(6, 2, replace=False))
        race = Race(i, state.levels.low[i], j, state.levels.low[j], 10.0)
        expected = best_by_inversion(
            inst, A[0], work.reach, state.levels.low[i] * inst.X[i] - state.levels.low[j] * inst.X[j]
        )
        assert of_form(decisive_pull, inst)(inst, state, work, race) == expected


def test_when_the_reward_is_certain_the_decisive_pull_learns_the_level() -> None:
    for seed in range(40):
        inst, state, work, A, rng = unlearned(seed, limits=2)
        k = int(rng.integers(6))
        state.levels.high[k] = state.levels.low[k] + 0.2
        race = Race(k, state.levels.low[k], k, state.levels.high[k], 0.2 * state.estimate.est[0, k])
        tightest = int(np.argmin(state.levels.low_of[:, k]))
        expected = best_by_inversion(inst, A[1 + tightest], work.reach, inst.X[k])
        assert of_form(decisive_pull, inst)(inst, state, work, race) == expected


def test_when_nothing_can_be_learned_the_first_arm_is_pulled() -> None:
    here = bench([[0.0, 0.0], [0.0, 0.0]])
    state, work = here.fresh()
    work.reach[:] = 0.2
    assert of_form(decisive_pull, here.inst)(here.inst, state, work, Race(0, 0.2, 1, 1.0, 0.5)) == 0


def test_the_tightest_limit_certifies_the_lowest_level() -> None:
    state, _ = bench(np.eye(2), eta0=[-0.5] * 3).fresh()
    state.levels.low_of[:] = [[0.4, 0.3], [0.2, 0.3], [0.9, 0.1]]
    assert [tightest_limit(state.levels, k) for k in range(2)] == [1, 2]
    state.levels.low_of[:] = 0.5
    assert tightest_limit(state.levels, 0) == 0


def test_the_decisive_pull_learns_a_level_that_the_reward_alone_would_never_ask_about() -> None:
    """x_1 - x_2 = (0, -1) is learned best from arm 3, however often: nothing is then learned of mu_1, or the level."""
    here = bench([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]], gamma0=[1.0, 0.5, 1.0])
    inst, (state, work) = here.inst, here.fresh()
    state.levels.low[:] = work.reach[:] = [1.0, 0.5, 1.0]
    state.levels.high[:] = 1.0
    for _ in range(300):
        assert of_form(greedy, inst)(inst, state, work, 0, 0, 1.0, 1, 1.0) == 2
        here.absorb(state, work, 2, 1.0, [0.2, -0.3])
    race = Race(0, 1.0, 1, 1.0, state.estimate.est[0, 1] - state.estimate.est[0, 0] + 0.1)
    assert of_form(decisive_pull, here.inst)(here.inst, state, work, race) in (0, 1)
