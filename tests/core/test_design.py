"""E-optimal designs against a semidefinite program, and their schedules."""

import cvxpy as cp
import numpy as np
import pytest

from surefoot.core.design import apportion, e_optimal

KINDS = {
    "random": lambda rng: rng.standard_normal((12, 4)),
    "unit sphere": lambda rng: (lambda X: X / np.linalg.norm(X, axis=1, keepdims=True))(rng.standard_normal((25, 5))),
    "one dimension": lambda rng: rng.standard_normal((4, 1)),
    "one arm each": lambda rng: np.diag([1.0, 0.5, 2.0]),
    "scales": lambda rng: rng.standard_normal((10, 4)) * np.array([1.0, 0.3, 0.1, 0.03]),
    "the paper's": lambda rng: np.vstack([np.eye(3), [np.cos(0.1), np.sin(0.1), 0.0]]) * 0.2,
    "duplicates": lambda rng: np.repeat(rng.standard_normal((4, 3)), 3, axis=0),
    "more dimensions": lambda rng: rng.standard_normal((40, 12)),
}


def smallest_eigenvalue(Z: np.ndarray, nu: np.ndarray) -> float:
    return float(np.linalg.eigvalsh((Z.T * nu) @ Z)[0])


def by_semidefinite_program(Z: np.ndarray) -> float:
    nu = cp.Variable(len(Z), nonneg=True)
    M = sum(nu[k] * np.outer(z, z) for k, z in enumerate(Z))
    program = cp.Problem(cp.Maximize(cp.lambda_min((M + M.T) / 2)), [cp.sum(nu) == 1])
    return float(program.solve(solver=cp.CLARABEL))


@pytest.mark.parametrize("kind", KINDS)
def test_the_design_is_within_its_duality_gap_of_the_best(kind: str) -> None:
    Z = KINDS[kind](np.random.default_rng(3))
    nu = e_optimal(Z)
    assert nu.min() >= 0.0
    assert nu.sum() == pytest.approx(1.0)
    assert smallest_eigenvalue(Z, nu) >= 0.949 * by_semidefinite_program(Z)


def test_orthogonal_arms_get_shares_by_the_inverse_of_their_squares() -> None:
    nu = e_optimal(np.diag([1.0, 0.5, 2.0]), tolerance=1e-3)
    np.testing.assert_allclose(nu, np.array([1.0, 4.0, 0.25]) / 5.25, atol=0.005)


def test_a_schedule_keeps_every_arm_up_with_its_share() -> None:
    shares = np.array([0.5, 0.3, 0.2, 0.0])
    schedule = apportion(shares, 200)
    assert len(schedule) == 200
    for t in (10, 57, 200):
        counts = np.bincount(schedule[:t], minlength=4)
        assert np.abs(counts - t * shares).max() <= 1.0 + 1e-9
    assert 3 not in schedule
