"""(T1) against brute force, duality and Elfving's theorem, (T2) as an identity, (T3) along traces."""

from itertools import combinations

import cvxpy as cp
import numpy as np
import pytest

from surefoot.errors import InvalidInput
from surefoot.theory import pull_worth, ridge_identity, shortest_combination, width_bound


def random_pulls(seed: int, arms: int = 8, dim: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    pulls = rng.normal(size=(arms, dim)) * rng.uniform(0.1, 1.0, size=(arms, 1))
    return pulls, rng.normal(size=dim)


def shortest_over_all_bases(pulls: np.ndarray, direction: np.ndarray) -> float:
    """A linear program has its optimum at a vertex: d arms that span."""
    best = np.inf
    for basis in combinations(range(len(pulls)), pulls.shape[1]):
        matrix = pulls[list(basis)].T
        if abs(np.linalg.det(matrix)) > 1e-12:
            best = min(best, float(np.abs(np.linalg.solve(matrix, direction)).sum()))
    return best


@pytest.mark.parametrize("seed", range(25))
def test_the_shortest_combination_is_the_best_of_all_bases(seed: int) -> None:
    pulls, y = random_pulls(seed)
    found = shortest_combination(pulls, y)
    np.testing.assert_allclose(found.weights @ pulls, y, rtol=0, atol=1e-11)
    assert found.norm == pytest.approx(shortest_over_all_bases(pulls, y), rel=1e-9)
    assert found.norm == pytest.approx(np.abs(found.weights).sum(), rel=1e-12)


@pytest.mark.parametrize("seed", range(25))
def test_the_duality_gap_is_below_1e_8(seed: int) -> None:
    pulls, y = random_pulls(seed, arms=30, dim=6)
    found = shortest_combination(pulls, y)
    assert np.abs(pulls @ found.price).max() <= 1.0 + 1e-12
    assert -1e-11 <= found.gap < 1e-8
    assert found.gap == pytest.approx(found.norm - y @ found.price, abs=1e-11)


@pytest.mark.parametrize("seed", range(5))
def test_the_squared_norm_is_the_least_variance_over_shares(seed: int) -> None:
    pulls, y = random_pulls(seed, arms=6)
    found = shortest_combination(pulls, y)
    nu = cp.Variable(6, nonneg=True)
    variance = cp.matrix_frac(y, sum(nu[k] * np.outer(z, z) for k, z in enumerate(pulls)))
    least = cp.Problem(cp.Minimize(variance), [cp.sum(nu) == 1]).solve(solver=cp.CLARABEL)
    assert found.norm**2 == pytest.approx(least, rel=1e-5)
    design = (pulls.T * found.shares) @ pulls
    assert y @ np.linalg.pinv(design, rcond=1e-10) @ y == pytest.approx(found.norm**2, rel=1e-9)


def test_units_do_not_matter() -> None:
    pulls, y = random_pulls(3)
    plain, scaled = shortest_combination(pulls, y), shortest_combination(pulls * 1e6, y * 1e-6)
    np.testing.assert_allclose(scaled.weights, plain.weights * 1e-12, rtol=1e-9)
    assert scaled.gap < 1e-8 * scaled.norm


def test_no_direction_needs_no_pulls() -> None:
    found = shortest_combination(np.eye(2), np.zeros(2))
    assert (found.norm, found.gap) == (0.0, 0.0)
    assert not found.shares.any()


def test_a_direction_outside_the_span_is_refused() -> None:
    with pytest.raises(InvalidInput, match="span of the pulls"):
        shortest_combination(np.array([[1.0, 0.0], [2.0, 0.0]]), np.array([0.0, 1.0]))
    with pytest.raises(InvalidInput, match="span of the pulls"):
        shortest_combination(np.zeros((2, 2)), np.array([0.0, 1.0]))


@pytest.mark.parametrize("seed", range(20))
def test_both_sides_of_the_ridge_identity_agree_and_its_weights_minimise(seed: int) -> None:
    pulls, y = random_pulls(seed)
    rng = np.random.default_rng(seed)
    nu, c = rng.dirichlet(np.ones(8)), float(10.0 ** rng.uniform(-4, 2))
    found = ridge_identity(pulls, nu, y, c)
    assert found.left == pytest.approx(found.right, rel=1e-9)

    def objective(w: np.ndarray) -> float:
        return float(np.sum((y - w @ pulls) ** 2) + c * np.sum(w**2 / nu))

    for step in rng.normal(size=(20, 8)) * 1e-3:
        assert objective(found.weights + step) >= found.left * (1.0 - 1e-12)


def test_the_ridge_identity_refuses_shares_and_ridges_of_zero() -> None:
    pulls, y = random_pulls(0)
    with pytest.raises(InvalidInput, match="shares"):
        ridge_identity(pulls, np.eye(8)[0], y, 0.1)
    with pytest.raises(InvalidInput, match="ridge"):
        ridge_identity(pulls, np.full(8, 0.125), y, 0.0)


@pytest.mark.parametrize("seed", range(50))
def test_the_width_bound_holds_for_any_history_of_levels(seed: int) -> None:
    rng = np.random.default_rng(seed)
    arms, x = rng.normal(size=(6, 3)), rng.normal(size=3)
    history = [(k, g) for k, g in zip(rng.integers(6, size=200), rng.uniform(0.1, 1.0, size=200), strict=True)]
    squared = np.zeros(6)
    A = 0.5 * np.eye(3)
    for k, g in history:
        squared[k] += g * g
        A += g * g * np.outer(arms[k], arms[k])
    today = rng.uniform(0.1, 1.0, size=6)
    found = shortest_combination(arms * today[:, None], x)
    assert x @ np.linalg.solve(A, x) <= width_bound(found, pull_worth(squared, today)) * (1.0 + 1e-12)


def test_the_width_bound_is_nearly_reached_by_pulls_in_the_best_shares() -> None:
    pulls, y = random_pulls(1)
    found = shortest_combination(pulls, y)
    n = 1e6 * found.shares
    A = 1e-6 * np.eye(3) + (pulls.T * n) @ pulls
    assert y @ np.linalg.solve(A, y) == pytest.approx(width_bound(found, n), rel=1e-6)


def test_the_width_bound_is_infinite_before_every_needed_arm_is_pulled_and_zero_for_no_direction() -> None:
    pulls, y = random_pulls(1)
    assert width_bound(shortest_combination(pulls, y), np.zeros(8)) == np.inf
    assert width_bound(shortest_combination(pulls, np.zeros(3)), np.zeros(8)) == 0.0
