"""The two programs of the rounding pulls, against HiGHS and against a generic convex solver."""

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import linprog

from lab import callable_form, fresh, instance
from surefoot.core.estimate import refresh
from surefoot.core.pulls import furthest_behind
from surefoot.core.rounding import finite_weights, shortest_weights


def highs(Z: Any, y: Any) -> float:
    """The least |w|_1 with Z^T w = y."""
    found = linprog(np.ones(2 * len(Z)), A_eq=np.hstack([Z.T, -Z.T]), b_eq=y, method="highs")
    assert found.status == 0
    return float(found.fun)


def drawn_arms(rng: np.random.Generator, kind: str) -> Any:
    d = int(rng.integers(1, 7))
    K = d + int(rng.integers(0, 8))
    X = rng.standard_normal((K, d))
    if kind == "scales":
        X *= 10.0 ** rng.uniform(-2, 2, (K, 1))
    elif kind == "nearly parallel":
        X = rng.standard_normal((1, d)) + 1e-3 * X
    elif kind == "duplicates" and d < K:
        X[d:] = X[: K - d] if K - d <= d else X[rng.integers(0, d, K - d)]
    elif kind == "zero arm" and d < K:
        X[-1] = 0.0
    elif kind == "parallel" and d < K:
        X[-1] = -0.3 * X[0]
    elif kind == "integers":
        X = np.vstack([np.eye(d), rng.integers(-2, 3, (K - d, d))]).astype(float)
    return X


KINDS = ["random", "scales", "nearly parallel", "duplicates", "zero arm", "parallel", "integers"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_shortest_weights_are_those_of_highs(kind: str) -> None:
    """Sixty sets of arms a kind, six rounds each: the basis of one round is the start of the next."""
    rng, solve = np.random.default_rng(KINDS.index(kind)), callable_form(shortest_weights)
    for _ in range(60):
        inst = instance(drawn_arms(rng, kind))
        K = len(inst.X)
        state, work = fresh(inst)
        for _ in range(6):
            work.reach[:] = rng.uniform(0.05, 1.0, K)
            i, j = (int(k) for k in rng.integers(0, K, 2))
            if kind == "parallel":
                i, j = 0, K - 1
            level_i, level_j = work.reach[i], float(rng.uniform(work.reach[j], 1.0))
            solve(inst, state, work, i, level_i, j, level_j)
            Z, y = work.reach[:, None] * inst.X, level_i * inst.X[i] - level_j * inst.X[j]
            size = max(np.abs(y).max(), 1e-12)
            assert np.abs(work.weights @ Z - y).max() <= 1e-8 * size
            assert np.abs(work.weights).sum() == pytest.approx(highs(Z / size, y / size), rel=1e-7, abs=1e-9)


def test_a_long_history_of_bases_loses_no_digits() -> None:
    rng, solve = np.random.default_rng(12), callable_form(shortest_weights)
    inst = instance(rng.standard_normal((30, 8)))
    state, work = fresh(inst)
    for _ in range(20_000):
        work.reach[:] = rng.uniform(0.05, 1.0, 30)
        i, j = (int(k) for k in rng.choice(30, 2, replace=False))
        solve(inst, state, work, i, work.reach[i], j, work.reach[j])
    Z, y = work.reach[:, None] * inst.X, work.reach[i] * inst.X[i] - work.reach[j] * inst.X[j]
    np.testing.assert_allclose(work.weights @ Z, y, atol=1e-10)
    assert np.abs(work.weights).sum() == pytest.approx(highs(Z, y), rel=1e-9)


@pytest.mark.parametrize("spread", [1e-3, 1e-5, 1e-6])
def test_nearly_parallel_arms_keep_their_basis_sound(spread: float) -> None:
    rng, solve = np.random.default_rng(1), callable_form(shortest_weights)
    for _ in range(10):
        inst = instance(rng.standard_normal((1, 4)) + spread * rng.standard_normal((9, 4)))
        state, work = fresh(inst)
        for _ in range(50):
            work.reach[:] = rng.uniform(0.05, 1.0, 9)
            i, j = (int(k) for k in rng.choice(9, 2, replace=False))
            solve(inst, state, work, i, work.reach[i], j, work.reach[j])
            Z, y = work.reach[:, None] * inst.X, work.reach[i] * inst.X[i] - work.reach[j] * inst.X[j]
            scale = np.abs(work.weights).max() * np.abs(Z).max()
            assert np.abs(work.weights @ Z - y).max() <= 1e-12 / spread * scale


def test_a_direction_along_one_arm_is_written_with_the_cheapest_arms() -> None:
    inst = instance([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    state, work = fresh(inst)
    work.reach[:] = [0.2, 0.2, 1.0]
    callable_form(shortest_weights)(inst, state, work, 0, 0.2, 0, 0.0)  # 0.2 e_1: itself, or a fifth of each other
    assert np.abs(work.weights).sum() == pytest.approx(1.0)
    work.reach[:] = [0.01, 1.0, 1.0]
    callable_form(shortest_weights)(inst, state, work, 0, 0.2, 0, 0.0)
    np.testing.assert_allclose(work.weights, [0.0, -0.2, 0.2], atol=1e-12)


# -- (G5') ------------------------------------------------------------------------------------------------------------


def learned(rng: np.random.Generator, kind: str, pulls: float) -> Any:
    inst = instance(drawn_arms(rng, kind))
    state, work = fresh(inst)
    state.N[:] = pulls * rng.uniform(0.0, 1.0, len(inst.X))
    callable_form(refresh)(inst, state, work)
    work.reach[:] = rng.uniform(0.1, 1.0, len(inst.X))
    A = np.eye(inst.X.shape[1]) + (inst.X.T * state.N) @ inst.X
    return inst, state, work, A


def value(A: Any, Z: Any, y: Any, nu: Any) -> float:
    return float(y @ np.linalg.solve(A + (Z.T * nu) @ Z, y))


def by_cvxpy(A: Any, Z: Any, y: Any) -> float:
    """The least y^T (A + sum nu z z^T)^-1 y over the simplex, as the matrix-fractional program it is."""
    nu = cp.Variable(len(Z), nonneg=True)
    M = A + sum(nu[k] * np.outer(z, z) for k, z in enumerate(Z))
    program = cp.Problem(cp.Minimize(cp.matrix_frac(y, (M + M.T) / 2)), [cp.sum(nu) == 1])
    return float(program.solve(solver=cp.CLARABEL))


def test_finite_weights_are_those_of_a_generic_convex_solver() -> None:
    rng = np.random.default_rng(7)
    for trial in range(25):
        kind = ("random", "duplicates", "zero arm", "parallel", "integers")[trial % 5]
        inst, state, work, A = learned(rng, kind, pulls=10.0 ** (trial % 3))
        i, j = (int(k) for k in rng.integers(0, len(inst.X), 2))
        level_i, level_j = work.reach[i], float(rng.uniform(work.reach[j], 1.0))
        y = level_i * inst.X[i] - level_j * inst.X[j]
        if np.abs(y).max() < 1e-6:
            continue
        callable_form(finite_weights)(state, work, 0, i, level_i, j, level_j)
        Z, nu = work.reach[:, None] * inst.X, np.abs(work.weights) / np.abs(work.weights).sum()
        root = np.linalg.cholesky(A)  # in whitened coordinates the solver keeps its digits
        white_Z, white_y = np.linalg.solve(root, Z.T).T, np.linalg.solve(root, y)
        size = np.linalg.norm(white_y)
        best = size**2 * by_cvxpy(np.eye(len(y)), white_Z, white_y / size)
        assert value(A, Z, y, nu) == pytest.approx(best, rel=1e-5)


def test_finite_weights_leave_no_duality_gap() -> None:
    """The Frank-Wolfe gap bounds the distance from the optimum without any solver."""
    rng = np.random.default_rng(8)
    for trial in range(300):
        inst, state, work, A = learned(rng, KINDS[trial % len(KINDS)], pulls=10.0 ** (trial % 5))
        i, j = (int(k) for k in rng.integers(0, len(inst.X), 2))
        level_i, level_j = work.reach[i], float(rng.uniform(work.reach[j], 1.0))
        y = level_i * inst.X[i] - level_j * inst.X[j]
        if np.abs(y).max() < 1e-6:
            continue
        callable_form(finite_weights)(state, work, 0, i, level_i, j, level_j)
        Z, nu = work.reach[:, None] * inst.X, np.abs(work.weights) / np.abs(work.weights).sum()
        slopes = (Z @ np.linalg.solve(A + (Z.T * nu) @ Z, y)) ** 2
        assert slopes.max() - slopes @ nu <= 1e-6 * value(A, Z, y, nu)


def test_with_much_data_finite_weights_put_all_on_the_greedy_arm() -> None:
    rng = np.random.default_rng(9)
    alone = 0
    for _ in range(40):
        inst, state, work, A = learned(rng, "random", pulls=1e5)
        K = len(inst.X)
        if K < 2:
            continue
        i, j = (int(k) for k in rng.choice(K, 2, replace=False))
        y = work.reach[i] * inst.X[i] - work.reach[j] * inst.X[j]
        callable_form(finite_weights)(state, work, 0, i, work.reach[i], j, work.reach[j])
        shares = np.abs(work.weights) / np.abs(work.weights).sum()
        Z = work.reach[:, None] * inst.X
        overlap = (Z @ np.linalg.solve(A, y)) ** 2
        alone += shares.max() > 1 - 1e-9
        assert shares[np.argmax(overlap)] == shares.max()
        assert callable_form(furthest_behind)(state, work) == np.argmax(overlap)
    assert alone >= 36  # the others have two arms that help almost equally
