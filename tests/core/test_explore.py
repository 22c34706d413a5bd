"""Forced exploration: its order, its end, and when levels stop to matter."""

import numpy as np
import pytest

from surefoot.core.explore import RANDOM, SCHEDULE, Exploration, explored_arm, explores
from surefoot.core.types import ROUND
from workbench import bench


def plan(K: int, rounds: int, order: int = SCHEDULE, until_cost: float = -1.0) -> Exploration:
    return Exploration(rounds, order, np.arange(K), np.full(K, 0.2), until_cost)


def drawn(order: int, seed: int, run: int, rounds: int, K: int = 5) -> list[int]:
    state, work = bench(np.eye(K)).fresh()
    found = []
    for t in range(rounds):
        state.clock[ROUND] = t
        found.append(int(explored_arm(plan(K, rounds, order), state, work, seed, run)))
    return found


def test_a_schedule_is_followed_in_turn() -> None:
    assert drawn(SCHEDULE, 1, 0, 7) == [0, 1, 2, 3, 4, 0, 1]


def test_random_exploration_is_uniform_and_has_an_address() -> None:
    arms = drawn(RANDOM, 1, 0, 5000)
    assert arms == drawn(RANDOM, 1, 0, 5000)
    assert arms[:50] != drawn(RANDOM, 2, 0, 50)
    assert arms[:50] != drawn(RANDOM, 1, 1, 50)
    counts = np.bincount(arms, minlength=5)
    assert np.abs(counts - 1000).max() < 4.5 * np.sqrt(5000 * 0.2 * 0.8)


def test_exploration_ends_after_its_rounds_and_stays_over() -> None:
    here = bench(np.eye(2))
    state, work = here.fresh()
    asks, told = here.plain(explores), []
    for _ in range(5):
        told.append(bool(asks(here.inst, plan(2, 3), state, work)))
        here.absorb(state, work, 0, 0.2, [0.0, 0.0])
    assert told == [True, True, True, False, False]
    assert not asks(here.inst, plan(2, 10**6), state, work)


def test_exploration_until_confident_ends_when_no_level_can_cost_the_given_amount() -> None:
    here = bench([[1.0]], R=[0.1, 0.01])
    state, work = here.fresh()
    asks, pulls = here.plain(explores), 0
    while asks(here.inst, plan(1, 10**6, until_cost=0.1), state, work):
        assert pulls < 100_000
        here.absorb(state, work, 0, 0.2, [0.2 * 1.0, 0.2 * -0.8])
        pulls += 1
    assert pulls > 10
    # What is left to learn of the level, priced at the most the arm may be worth, is at most 0.1; before it was not.
    assert (state.levels.high[0] - state.levels.low[0]) * 1.0 <= 0.1 * 1.2
    assert state.levels.high[0] >= 0.5 / 0.8
    assert state.levels.low[0] <= 0.5 / 0.8


def test_looking_whether_levels_matter_does_not_freeze_them() -> None:
    here = bench([[1.0]])
    state, work = here.fresh()
    assert here.plain(explores)(here.inst, plan(1, 10, until_cost=1e-9), state, work)
    assert state.levels.frozen[0] == 0


def test_a_harmless_arm_needs_no_exploration() -> None:
    here = bench([[1.0]], eta0=[-50.0])
    state, work = here.fresh()
    assert not here.plain(explores)(here.inst, plan(1, 10**6, until_cost=0.01), state, work)
    assert state.levels.low[0] == pytest.approx(1.0)
