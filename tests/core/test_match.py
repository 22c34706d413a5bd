"""The match against nature, exponential weights and tracking, against their definitions in plain numpy."""

from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.core.design import xy_design
from surefoot.core.hedge import FIRST, new_hedge, rewarded, spread
from surefoot.core.match import best_reply, hoped, meet, moves, new_match
from surefoot.core.tracking import is_square, owed
from surefoot.core.types import NULL
from surefoot.policies.bound import faced


def scene(arms: Any, values: Any, noise: float = 2.0) -> tuple[Any, Any]:
    """An instance with these arms, and a state with these estimated rewards."""
    arms = np.array(arms, dtype=float)
    world = sf.worlds.Linear(arms, theta_star=np.ones(arms.shape[1]), mu_star=np.full(arms.shape[1], 0.01), noise=noise)
    found = faced(sf.policies.LinGame(), world.problem(epsilon=0.0, delta=0.1, delta_safety=0.1, safe_level=1.0))
    state = found.new_state()
    state.estimate.est[0], state.levels.low[:] = values, 1.0
    return found.inst, state


def test_the_nearest_alternative_is_a_nearest_point() -> None:
    rng = np.random.default_rng(4)
    X, theta, w = rng.normal(size=(5, 3)), rng.normal(size=3), rng.dirichlet(np.ones(5))
    reach = np.array([1.0, 0.5, 0.8, 1.0, 0.9])
    Z, R = X * reach[:, None], 2.0
    inst, state = scene(X, X @ theta, R)
    state.levels.low[:] = reach
    i, match = int(np.argmax(Z @ theta)), new_match(5, 3)
    nearest = meet(inst, state, match, w, reach, i)
    V = (Z.T * w) @ Z
    for j in set(range(5)) - {i}:
        y = Z[i] - Z[j]
        step = np.linalg.solve(V, y) * (y @ theta) / (y @ np.linalg.solve(V, y))  # theta - lambda
        assert y @ (theta - step) == pytest.approx(0.0, abs=1e-12)
        assert match.worth[j] == pytest.approx(step @ V @ step / (2 * R * R), rel=1e-6)
        moves(inst, state, match, reach, i, j)
        assert match.move == pytest.approx(Z @ step / R, rel=1e-6)
        assert w @ match.move**2 / 2 == pytest.approx(match.worth[j], rel=1e-6)
    assert nearest == int(np.argmin(match.worth))
    assert match.worth[i] == np.inf


def test_an_arm_that_cannot_be_tried_is_a_rival_and_no_reply() -> None:
    inst, state = scene([[1.0, 0.0], [0.0, 1.0], [0.9, 0.3]], [1.0, 0.2, 0.96])
    match, reach = new_match(3, 2), np.array([1.0, 1.0, 0.0])
    assert meet(inst, state, match, np.array([0.5, 0.5, 0.0]), reach, 0) == 2
    moves(inst, state, match, reach, 0, 2)
    assert match.move[2] == 0.0
    assert match.move[1] != 0.0
    assert best_reply(match, reach) in (0, 1)
    match.move[:] = 0.0
    assert best_reply(match, np.array([0.0, 1.0, 1.0])) == 1


def test_arms_that_are_the_same_are_no_rivals() -> None:
    inst, state = scene([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]], [1.0, 0.2, 1.0])
    match = new_match(3, 2)
    assert meet(inst, state, match, np.full(3, 1 / 3), np.ones(3), 0) == 1
    lonely, state = scene([[1.0]], [1.0])
    assert meet(lonely, state, new_match(1, 1), np.ones(1), np.ones(1), 0) == NULL


def test_shares_that_are_nothing_for_all_but_one_arm_do_no_harm() -> None:
    inst, state = scene([[1.0, 0.0], [0.0, 1.0]], [1.0, 0.2])
    match = new_match(2, 2)
    assert meet(inst, state, match, np.array([1.0, 0.0]), np.ones(2), 0) == 1
    assert np.isfinite(match.worth[1])


def test_gains_are_hoped_for_and_capped() -> None:
    assert hoped(0.0, 0.0, 3.0) == 0.0
    assert hoped(-0.5, 0.02, 2.0) == hoped(0.5, 0.02, 2.0) == pytest.approx(0.5 * (0.5 + 0.08**0.5) ** 2)
    assert hoped(10.0, 0.0, 2.0) == 2.0


def test_exponential_weights_follow_the_reward_at_a_rate_of_their_own() -> None:
    hedge, rng = new_hedge(2, 4), np.random.default_rng(1)
    total, loss = np.zeros(4), FIRST
    for _ in range(50):
        gains, rate = rng.uniform(size=4) * [1.0, 0.5, 0.5, 0.2], np.log(4) / loss
        spread(hedge, 1)
        w = np.exp(rate * (total - total.max()))
        w /= w.sum()
        assert hedge.shares == pytest.approx(w, abs=1e-12)
        rewarded(hedge, 1, gains)
        loss += np.log(w @ np.exp(rate * gains)) / rate - w @ gains
        total += gains
        assert hedge.loss[1] == pytest.approx(loss - FIRST, rel=1e-9)
    assert hedge.shares[0] > 0.9
    assert not hedge.reward[0].any()
    assert hedge.loss[0] == 0.0


def test_one_choice_is_taken() -> None:
    hedge = new_hedge(1, 1)
    spread(hedge, 0)
    rewarded(hedge, 0, np.array([1.0]))
    assert hedge.shares.tolist() == [1.0]
    assert hedge.loss.tolist() == [0.0]


def test_tracking_stays_within_reach_of_the_shares() -> None:
    due, given, rng = np.zeros(5), np.zeros(5), np.random.default_rng(2)
    for _ in range(300):
        due += rng.dirichlet(np.ones(5))
        given[owed(due, given)] += 1.0
        assert (np.abs(due - given) <= 5.0).all()


def test_squares_are_told_from_other_numbers() -> None:
    assert [n for n in range(50) if is_square(n)] == [0, 1, 4, 9, 16, 25, 36, 49]


def worst_pair(Z: Any, shares: Any) -> float:
    G = Z @ np.linalg.solve((Z.T * shares) @ Z, Z.T)
    return float((np.diag(G)[:, None] + np.diag(G)[None, :] - 2 * G).max())


def test_the_xy_design_knows_the_worst_difference_best() -> None:
    assert xy_design(np.eye(3)) == pytest.approx(np.full(3, 1 / 3), abs=0.02)
    Z = np.array([[1.0, 0.0], [0.0, 1.0], [np.cos(0.1), np.sin(0.1)]])
    found = worst_pair(Z, xy_design(Z))
    grid = [np.array([a, b, 1 - a - b]) for a in np.arange(0.02, 0.98, 0.02) for b in np.arange(0.02, 0.98 - a, 0.02)]
    assert found <= 1.03 * min(worst_pair(Z, shares) for shares in grid)
    many = np.random.default_rng(3).normal(size=(20, 4))
    assert worst_pair(many, xy_design(many)) < 0.8 * worst_pair(many, np.full(20, 1 / 20))


def test_a_design_of_one_arm_is_that_arm() -> None:
    assert xy_design(np.array([[2.0]])).tolist() == [1.0]
