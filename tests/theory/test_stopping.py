"""(T4), (T5), (T6): complexity, the bound on pulls held against runs of the algorithm it speaks of, and confidence."""

from math import inf, log, sqrt

import numpy as np
import pytest

from surefoot.errors import InvalidInput
from surefoot.theory import (
    complexity,
    gaps,
    level_confidence,
    pull_worth,
    shortest_combination,
    stopping_bound,
    uniform_level_confidence,
    width_bound,
)

SETTING = {"arms": 3, "dimension": 2, "noise": 1.0, "norm": 1.0, "longest": 1.0, "delta": 0.05, "regularization": 1.0}


def test_gaps_are_distances_to_the_best_and_for_the_best_to_the_second() -> None:
    np.testing.assert_allclose(gaps(np.array([0.2, 1.0, 0.7])), [0.8, 0.3, 0.3])
    assert gaps(np.array([0.4]))[0] == inf


def test_the_complexity_of_orthogonal_pulls_is_the_textbook_one() -> None:
    # w(i, j) = e_i - e_j, so arm k contributes 2 / accuracy^2 of its hardest pair
    hardness = complexity(np.eye(3), 0.3, worth=np.array([1.0, 0.4, 0.0]))
    accuracy = max(0.3, 0.9 / 3)
    assert hardness == pytest.approx(2 / accuracy**2 + 2 / accuracy**2 + 2 / max(0.3, 1.3 / 3) ** 2)


def test_the_complexity_without_the_truth_is_larger() -> None:
    pulls = np.random.default_rng(0).normal(size=(6, 3))
    worth = pulls @ np.array([1.0, 0.5, 0.0])
    assert complexity(pulls, 0.1) == pytest.approx(np.square(0.2 / 0.1) * complexity(pulls, 0.2))
    assert complexity(pulls, 0.1) >= complexity(pulls, 0.1, worth=worth)


def test_the_complexity_uses_the_solution_that_the_algorithm_uses() -> None:
    pulls = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])  # twice the same arm: the weight may go to either

    def split(Z: np.ndarray, y: np.ndarray) -> np.ndarray:
        w = shortest_combination(Z, y).weights.copy()
        w[[0, 2]] = w[[0, 2]].sum() / 2
        return w

    assert complexity(pulls, 1.0, solve=split) == pytest.approx(2 * (0.5 + 0.5 + 1.0))
    assert complexity(pulls, 1.0) <= 2 * 2.0 + 1e-12


def test_a_tie_without_epsilon_is_refused_and_one_arm_has_no_complexity() -> None:
    with pytest.raises(InvalidInput, match="share the best value"):
        complexity(np.eye(2), 0.0, worth=np.array([1.0, 1.0]))
    with pytest.raises(InvalidInput, match="gaps are unknown"):
        complexity(np.eye(2), 0.0)
    assert complexity(np.eye(2), 0.0, worth=np.array([1.0, 0.5])) > 0.0
    assert complexity(np.eye(1), 0.0) == 0.0


def test_a_regularization_beyond_the_proof_is_refused_with_the_largest_allowed() -> None:
    stopping_bound(10.0, **{**SETTING, "regularization": 2.0 * log(20.0) * 0.999})
    with pytest.raises(InvalidInput, match=r"at most .* = 5\.99146") as caught:
        stopping_bound(10.0, **{**SETTING, "regularization": 6.0})
    assert caught.value.field == "regularization"


def test_the_bound_on_pulls_solves_the_inequality_of_its_proof() -> None:
    # tau <= K + 8 H R^2 log(1/delta) + 4 H R^2 d log(1 + (explored + tau) L^2 / (lambda d)) forces tau below the bound
    for hardness in (0.1, 1.0, 100.0, 1e5):
        for explored in (0.0, 32.0, 1e4):
            bound = stopping_bound(hardness, **SETTING, explored=explored)
            tau = np.geomspace(bound, 1e6 * bound, 200)
            right = 3 + 8 * hardness * log(20.0) + 8 * hardness * np.log(1.0 + (explored + tau) / 2.0)
            assert (tau >= right).all()


def rounding_run(pulls: np.ndarray, theta: np.ndarray, epsilon: float, delta: float, seed: int) -> int:
    """Pulls of LinGapE with (G5) and (E4), lambda = R = 1, D = |theta|; every round is held against (T3)."""
    K, d = pulls.shape
    rng = np.random.default_rng(seed)
    A, b, n = np.eye(d), np.zeros(d), np.zeros(K)
    known: dict[tuple[int, int], object] = {}

    def pull(k: int) -> None:
        A[...] += np.outer(pulls[k], pulls[k])
        b[...] += pulls[k] * (pulls[k] @ theta + rng.normal())
        n[k] += 1

    for k in range(K):
        pull(k)
    while True:
        inverse = np.linalg.inv(A)
        values = pulls @ (inverse @ b)
        i = int(np.argmax(values))
        y = pulls - pulls[i]
        width = np.sqrt(np.maximum(np.einsum("ka,ab,kb->k", y, inverse, y), 0.0))
        C = sqrt(2 * log(1 / delta) + np.linalg.slogdet(A)[1]) + float(np.linalg.norm(theta))
        index = values - values[i] + C * width
        index[i] = -inf
        j = int(np.argmax(index))
        if index[j] <= epsilon:
            return int(n.sum())
        if (i, j) not in known:
            known[i, j] = shortest_combination(pulls, pulls[i] - pulls[j])
        found = known[i, j]
        assert width[j] ** 2 <= width_bound(found, pull_worth(n, np.ones(K))) * (1 + 1e-9)  # (T3)
        used = found.shares > 0
        pull(int(np.flatnonzero(used)[np.argmin(n[used] / found.shares[used])]))


def test_runs_of_the_algorithm_stay_below_the_bound_on_pulls_and_the_width_bound() -> None:
    pulls = np.array([[1.0, 0.0], [0.0, 0.7], [0.8, 0.5]])
    theta = np.array([0.9, 0.1])
    H = complexity(pulls, 0.3, worth=pulls @ theta)
    setting = {**SETTING, "norm": float(np.linalg.norm(theta)), "delta": 0.05}
    bound = stopping_bound(H, **setting)
    taken = [rounding_run(pulls, theta, 0.3, 0.05, seed) for seed in range(12)]
    assert 100 < max(taken) <= bound


def test_level_confidence_spends_exactly_what_is_left_after_the_reward() -> None:
    bound = 1234.5
    each = level_confidence(0.05, 0.01, bound, signals=2)
    assert 0.01 + bound * 2 * each == pytest.approx(0.05)
    assert uniform_level_confidence(0.05, signals=2) == 0.025
    assert uniform_level_confidence(0.05) > level_confidence(0.05, 0.01, bound)


def test_a_union_over_rounds_is_refused_when_the_reward_already_spends_everything() -> None:
    with pytest.raises(InvalidInput, match="union over rounds"):
        level_confidence(0.001, 0.001, 100.0)
