"""The two programs of the rounding pulls, against HiGHS and against a generic convex solver."""

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import linprog

from surefoot.core.compiler import compiled
from surefoot.core.finite_rounding import finite_weights
from surefoot.core.learn import refresh
from surefoot.core.pulls import furthest_behind
from surefoot.core.rounding import Shares, begin_shares, new_shares, shortest_weights
from workbench import bench


def no_shares(inst: Any) -> Shares:
    """Room for the weights, with no basis yet."""
    shares = new_shares(*inst.X.shape)
    begin_shares(inst, shares)
    return shares


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
    rng, solve = np.random.default_rng(KINDS.index(kind)), compiled(shortest_weights, {}, "alone")
    for _ in range(60):
        inst = bench(drawn_arms(rng, kind)).inst
        K, shares = len(inst.X), no_shares(inst)
        for _ in range(6):
            reach = rng.uniform(0.05, 1.0, K)
            i, j = (int(k) for k in rng.integers(0, K, 2))
            if kind == "parallel":
                i, j = 0, K - 1
            level_i, level_j = reach[i], float(rng.uniform(reach[j], 1.0))
            solve(inst, shares, reach, i, level_i, j, level_j)
            Z, y = reach[:, None] * inst.X, level_i * inst.X[i] - level_j * inst.X[j]
            size = max(np.abs(y).max(), 1e-12)
            assert np.abs(shares.weights @ Z - y).max() <= 1e-8 * size
            assert np.abs(shares.weights).sum() == pytest.approx(highs(Z / size, y / size), rel=1e-7, abs=1e-9)


def test_a_long_history_of_bases_loses_no_digits() -> None:
    rng, solve = np.random.default_rng(12), compiled(shortest_weights, {}, "alone")
    inst = bench(rng.standard_normal((30, 8))).inst
    shares = no_shares(inst)
    for _ in range(20_000):
        reach = rng.uniform(0.05, 1.0, 30)
        i, j = (int(k) for k in rng.choice(30, 2, replace=False))
        solve(inst, shares, reach, i, reach[i], j, reach[j])
    Z, y = reach[:, None] * inst.X, reach[i] * inst.X[i] - reach[j] * inst.X[j]
    np.testing.assert_allclose(shares.weights @ Z, y, atol=1e-10)
    assert np.abs(shares.weights).sum() == pytest.approx(highs(Z, y), rel=1e-9)


@pytest.mark.parametrize("spread", [1e-3, 1e-5, 1e-6])
def test_nearly_parallel_arms_keep_their_basis_sound(spread: float) -> None:
    rng, solve = np.random.default_rng(1), compiled(shortest_weights, {}, "alone")
    for _ in range(10):
        inst = bench(rng.standard_normal((1, 4)) + spread * rng.standard_normal((9, 4))).inst
        shares = no_shares(inst)
        for _ in range(50):
            reach = rng.uniform(0.05, 1.0, 9)
            i, j = (int(k) for k in rng.choice(9, 2, replace=False))
            solve(inst, shares, reach, i, reach[i], j, reach[j])
            Z, y = reach[:, None] * inst.X, reach[i] * inst.X[i] - reach[j] * inst.X[j]
            scale = np.abs(shares.weights).max() * np.abs(Z).max()
            assert np.abs(shares.weights @ Z - y).max() <= 1e-12 / spread * scale


def test_a_direction_along_one_arm_is_written_with_the_cheapest_arms() -> None:
    inst = bench([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]).inst
    shares, reach = no_shares(inst), np.array([0.2, 0.2, 1.0])
    shortest_weights(inst, shares, reach, 0, 0.2, 0, 0.0)  # 0.2 e_1: itself, or a fifth of each other
    assert np.abs(shares.weights).sum() == pytest.approx(1.0)
    reach[:] = [0.01, 1.0, 1.0]
    shortest_weights(inst, shares, reach, 0, 0.2, 0, 0.0)
    np.testing.assert_allclose(shares.weights, [0.0, -0.2, 0.2], atol=1e-12)


both_forms = pytest.mark.parametrize("few", [False, True], ids=["all columns", "few columns"])

# -- (G5') ------------------------------------------------------------------------------------------------------------


def learned(rng: np.random.Generator, kind: str, pulls: float, few: bool) -> Any:
    """The solver, an instance, its estimate after so many pulls, room for weights, levels within reach, and A."""
    here = bench(drawn_arms(rng, kind), few_columns=few)
    inst, (state, work) = here.inst, here.fresh()
    state.estimate.N[:] = pulls * rng.uniform(0.0, 1.0, len(inst.X))
    here.plain(refresh)(inst, state, work)
    reach = rng.uniform(0.1, 1.0, len(inst.X))
    A = np.eye(inst.X.shape[1]) + (inst.X.T * state.estimate.N) @ inst.X
    return here.compiled(finite_weights), inst, state.estimate, no_shares(inst), reach, A


def value(A: Any, Z: Any, y: Any, nu: Any) -> float:
    return float(y @ np.linalg.solve(A + (Z.T * nu) @ Z, y))


def by_cvxpy(A: Any, Z: Any, y: Any) -> float:
    """The least y^T (A + sum nu z z^T)^-1 y over the simplex, as the matrix-fractional program it is."""
    nu = cp.Variable(len(Z), nonneg=True)
    M = A + sum(nu[k] * np.outer(z, z) for k, z in enumerate(Z))
    program = cp.Problem(cp.Minimize(cp.matrix_frac(y, (M + M.T) / 2)), [cp.sum(nu) == 1])
    return float(program.solve(solver=cp.CLARABEL))


@both_forms
def test_finite_weights_are_those_of_a_generic_convex_solver(few: bool) -> None:
    rng = np.random.default_rng(7)
    for trial in range(25):
        kind = ("random", "duplicates", "zero arm", "parallel", "integers")[trial % 5]
        solve, inst, estimate, shares, reach, A = learned(rng, kind, pulls=10.0 ** (trial % 3), few=few)
        i, j = (int(k) for k in rng.integers(0, len(inst.X), 2))
        level_i, level_j = reach[i], float(rng.uniform(reach[j], 1.0))
        y = level_i * inst.X[i] - level_j * inst.X[j]
        if np.abs(y).max() < 1e-6:
            continue
        solve(inst, estimate, shares, reach, 0, i, level_i, j, level_j)
        Z, nu = reach[:, None] * inst.X, np.abs(shares.weights) / np.abs(shares.weights).sum()
        root = np.linalg.cholesky(A)  # in whitened coordinates the solver keeps its digits
        white_Z, white_y = np.linalg.solve(root, Z.T).T, np.linalg.solve(root, y)
        size = np.linalg.norm(white_y)
        best = size**2 * by_cvxpy(np.eye(len(y)), white_Z, white_y / size)
        assert value(A, Z, y, nu) == pytest.approx(best, rel=1e-5)


@both_forms
def test_finite_weights_leave_no_duality_gap(few: bool) -> None:
    """The Frank-Wolfe gap bounds the distance from the optimum without any solver."""
    rng = np.random.default_rng(8)
    for trial in range(300):
        solve, inst, estimate, shares, reach, A = learned(
            rng, KINDS[trial % len(KINDS)], pulls=10.0 ** (trial % 5), few=few
        )
        i, j = (int(k) for k in rng.integers(0, len(inst.X), 2))
        level_i, level_j = reach[i], float(rng.uniform(reach[j], 1.0))
        y = level_i * inst.X[i] - level_j * inst.X[j]
        if np.abs(y).max() < 1e-6:
            continue
        solve(inst, estimate, shares, reach, 0, i, level_i, j, level_j)
        Z, nu = reach[:, None] * inst.X, np.abs(shares.weights) / np.abs(shares.weights).sum()
        slopes = (Z @ np.linalg.solve(A + (Z.T * nu) @ Z, y)) ** 2
        assert slopes.max() - slopes @ nu <= 1e-6 * value(A, Z, y, nu)


@both_forms
def test_with_much_data_finite_weights_put_all_on_the_greedy_arm(few: bool) -> None:
    rng = np.random.default_rng(9)
    alone = 0
    for _ in range(40):
        solve, inst, estimate, shares, reach, A = learned(rng, "random", pulls=1e5, few=few)
        K = len(inst.X)
        if K < 2:
            continue
        i, j = (int(k) for k in rng.choice(K, 2, replace=False))
        y = reach[i] * inst.X[i] - reach[j] * inst.X[j]
        solve(inst, estimate, shares, reach, 0, i, reach[i], j, reach[j])
        found = np.abs(shares.weights) / np.abs(shares.weights).sum()
        Z = reach[:, None] * inst.X
        overlap = (Z @ np.linalg.solve(A, y)) ** 2
        alone += found.max() > 1 - 1e-9
        assert found[np.argmax(overlap)] == found.max()
        assert furthest_behind(estimate, shares.weights, reach) == np.argmax(overlap)
    assert alone >= 36  # the others have two arms that help almost equally
