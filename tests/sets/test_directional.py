"""Aims: their sums, their weights and their bounds, against the definitions in d dimensions."""

from math import sqrt
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from lab import absorbed, callable_form, fresh, instance
from surefoot.core.estimate import refresh
from surefoot.core.types import CHALLENGER, LEADER, NULL, ROUND, SQUARED_SUM
from surefoot.sets.directional import bound_leads_by_aims, bound_safety_by_aims, furthest, remember_race
from surefoot.sets.mixtures import boundary, half_normal

# -- the furthest point of an ellipsoid that a half-space cuts --------------------------------------------------------


def products(A, y, q):  # type: ignore[no-untyped-def]
    """|y|^2, y . q and |q|^2 in A^-1."""
    inverse = np.linalg.inv(A)
    return y @ inverse @ y, y @ inverse @ q, q @ inverse @ q


def by_solver(A, y, q, bound, radius):  # type: ignore[no-untyped-def]
    """The largest y . v with |v|_A <= radius and q . v <= bound."""
    v = cp.Variable(len(y))
    root = np.linalg.cholesky(A).T
    task = cp.Problem(cp.Maximize(y @ v), [cp.norm(root @ v) <= radius, q @ v <= bound])
    return float(task.solve(solver=cp.CLARABEL))


def drawn_cut(seed: int):  # type: ignore[no-untyped-def]
    """An ellipsoid and a half-space that leaves some of it, from a deep cut to none."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 5))
    root = rng.standard_normal((d, d))
    A, y, q, radius = root @ root.T + 0.1 * np.eye(d), rng.standard_normal(d), rng.standard_normal(d), rng.uniform(1, 3)
    _, along, fit = products(A, y, q)
    q = q if along > 0 else -q
    return A, y, q, rng.uniform(-0.9, 1.2) * radius * sqrt(fit), radius


def test_the_furthest_point_is_a_convex_programs() -> None:
    cuts = 0
    for seed in range(60):
        A, y, q, bound, radius = drawn_cut(seed)
        square, along, fit = products(A, y, q)
        found = callable_form(furthest)(radius * sqrt(square), square, along, fit, bound, radius)
        assert found == pytest.approx(by_solver(A, y, q, bound, radius), abs=1e-6)
        cuts += found < radius * sqrt(square) - 1e-9
    assert 20 < cuts < 60


def test_a_half_space_that_points_away_never_moves_the_bound_inwards_too_far() -> None:
    for seed in range(30):
        A, y, q, bound, radius = drawn_cut(seed)
        square, along, fit = products(A, y, -q)
        found = callable_form(furthest)(radius * sqrt(square), square, along, fit, bound, radius)
        assert found >= by_solver(A, y, -q, bound, radius) - 1e-6


def test_a_bound_never_exceeds_the_ellipsoids() -> None:
    rng = np.random.default_rng(1)
    for square, fit, radius, share, bound in rng.uniform(0.0, 2.0, (500, 5)):
        along = (share - 1.0) * sqrt(square * fit)
        assert callable_form(furthest)(
            radius * sqrt(square), square, along, fit, 3.0 * (bound - 1.0), radius
        ) <= radius * sqrt(square)


@pytest.mark.parametrize(
    ("along", "fit", "bound"), [(0.0, 1.0, -0.5), (0.5, 0.0, 0.0), (0.5, 1.0, -2.5), (0.5, 1.0, np.inf)]
)
def test_without_a_cut_the_ellipsoid_alone_speaks(along: float, fit: float, bound: float) -> None:
    """No weight along y, no weights at all, a half-space that misses the ellipsoid, and one that holds it whole."""
    assert callable_form(furthest)(4.0, 4.0, along, fit, bound, 2.0) == 4.0


def test_a_half_space_along_y_gives_its_own_bound() -> None:
    """q = 3 y: then y . v <= bound / 3, and what is added against rounding is never taken away."""
    found = callable_form(furthest)(4.0, 4.0, 12.0, 36.0, 1.5, 2.0)
    assert found >= 0.5
    assert found == pytest.approx(0.5, rel=1e-6)


# -- what is kept, against the definitions ----------------------------------------------------------------------------


def aimed(seed: int, limits: int, K: int = 5, d: int = 3):  # type: ignore[no-untyped-def]
    """An instance with aims, and a regularisation of its own for every signal."""
    rng = np.random.default_rng(seed)
    n, X = 1 + limits, rng.standard_normal((K, d))
    rows = [boundary(0.04, 1.0, 0.2, 0.1), half_normal(0.005, 1.0, 3.0)]
    rows += [half_normal(alpha, 0.1, 0.5 * s) for s in range(1, n) for alpha in (0.001, 0.02)]
    return instance(
        X, eta0=[-0.5] * limits, lam=rng.permutation(np.geomspace(0.05, 4.0, n)), gram_of=np.arange(n),
        radius=np.full(n, SQUARED_SUM), log_inv_delta=rng.uniform(1, 3, n), log_inv_delta_high=rng.uniform(3, 6, n),
        boundary=rows, switch=25.0, aims=1 + K + limits * K,
    )  # fmt: skip


class Diary:
    """Every pull with the weights that it was given, and all else from the definitions."""

    def __init__(self, inst: Any, seed: int) -> None:
        self.inst, self.rng = inst, np.random.default_rng(1000 + seed)
        self.state, self.work = fresh(inst)
        K, d = inst.X.shape
        self.Z, self.seen, self.H = np.zeros((0, d)), np.zeros((0, len(inst.R))), np.zeros((0, inst.aims))
        self.signal = np.array([0] * (K + 1) + [s for s in range(1, len(inst.R)) for _ in range(K)])

    def pull(self) -> None:
        """A pull at random, after a decision at random."""
        K, rng, state = len(self.inst.X), self.rng, self.state
        state.low[:] = rng.uniform(0.1, 0.5, K)
        state.high[:] = state.low + rng.choice([0.0, 0.3], K)
        callable_form(remember_race)(state, int(rng.integers(-1, K)), int(rng.integers(-1, K)))
        k, gamma = int(rng.integers(K)), float(rng.uniform(0.1, 1.0))
        seen = self.inst.R * rng.standard_normal(len(self.inst.R))
        expected = self.weights(k, gamma)
        absorbed(self.inst, state, self.work, k, gamma, seen)
        np.testing.assert_allclose(self.work.weight, expected, rtol=1e-8, atol=1e-9)
        self.Z, self.seen = np.vstack([self.Z, gamma * self.inst.X[k]]), np.vstack([self.seen, seen])
        self.H = np.vstack([self.H, self.work.weight])

    def inverse(self, s: int) -> Any:
        return np.linalg.inv(self.inst.lam[self.inst.gram_of[s]] * np.eye(self.Z.shape[1]) + self.Z.T @ self.Z)

    def estimate(self, s: int) -> Any:
        return self.inverse(s) @ self.Z.T @ self.seen[:, s]

    def question(self, a: int) -> Any:
        """y of aim a as the last decision left it."""
        K, state, X = len(self.inst.X), self.state, self.inst.X
        if a > K:
            return X[(a - K - 1) % K]
        i, j = int(state.clock[LEADER]), int(state.clock[CHALLENGER])
        rival = j if a == i else i
        other = state.low[rival] * X[rival] if rival != NULL else np.zeros(X.shape[1])
        return (state.high[a] * X[a] if a < K else 0.0) - other

    def weights(self, k: int, gamma: float) -> Any:
        """(C5) with q = sum h z, by inverting A."""
        found, z = [], gamma * self.inst.X[k]
        for a, s in enumerate(self.signal):
            y, q, inverse = self.question(a), self.H[:, a] @ self.Z, self.inverse(int(s))
            if not y.any():
                found.append(0.0)
                continue
            plain = z @ inverse @ y / (y @ inverse @ y)
            correction = 4.0 * (max(y @ inverse @ q, 0.0) * plain - z @ inverse @ q)
            most = abs(plain) + sqrt((self.H[:, a] ** 2).sum() / (len(self.Z) + 1))
            found.append(plain + np.clip(correction, -most, most))
        return np.array(found)

    def check(self) -> None:
        for a, s in enumerate(self.signal):
            h, q, inverse = self.H[:, a], self.H[:, a] @ self.Z, self.inverse(int(s))
            close = {"rtol": 1e-9, "atol": 1e-9}
            np.testing.assert_allclose(self.state.aim_information[a], h @ h, **close)
            np.testing.assert_allclose(self.state.aim_fit[a], q @ inverse @ q, **close)
            np.testing.assert_allclose(self.state.aim_rest[a], h @ self.seen[:, s] - q @ self.estimate(s), **close)
            np.testing.assert_allclose(self.state.aim[a], self.inst.X @ inverse @ q, **close)


def filled(seed: int, limits: int, rounds: int) -> Diary:
    diary = Diary(aimed(seed, limits), seed)
    for _ in range(rounds):
        diary.pull()
    return diary


@pytest.mark.parametrize(("limits", "rounds"), [(1, 1), (1, 27), (2, 100), (3, 63)])
def test_the_aims_are_their_definitions_before_and_after_a_refresh(limits: int, rounds: int) -> None:
    """The weights of every pull are checked on the way. Only the first round ends in a refresh by itself."""
    diary = filled(rounds, limits, rounds)
    assert diary.state.clock[ROUND] == rounds
    diary.check()
    assert callable_form(refresh)(diary.inst, diary.state, diary.work)
    diary.check()


def test_an_aim_that_asks_nothing_takes_no_weight() -> None:
    """Doing nothing leads: whether doing nothing beats it is no question."""
    diary = filled(4, 1, 5)
    K = len(diary.inst.X)
    callable_form(remember_race)(diary.state, NULL, 2)
    absorbed(diary.inst, diary.state, diary.work, 1, 0.5, [1.0, 1.0])
    assert diary.work.weight[K] == 0.0
    assert diary.work.weight[:K].all()


def test_a_weight_does_not_depend_on_the_result_that_it_weighs() -> None:
    """Else the weighted noise would be no martingale, and no boundary would hold."""
    first, second = filled(6, 2, 20), filled(6, 2, 20)
    absorbed(first.inst, first.state, first.work, 3, 0.6, [5.0, -1.0, 2.0])
    absorbed(second.inst, second.state, second.work, 3, 0.6, [-9.0, 3.0, 0.0])
    assert (first.work.weight == second.work.weight).all()
    assert first.work.weight.any()


def test_a_leader_that_races_itself_has_no_other_challenger() -> None:
    diary = filled(4, 1, 5)
    callable_form(remember_race)(diary.state, 3, 3)
    assert (diary.state.clock[LEADER], diary.state.clock[CHALLENGER]) == (3, NULL)


# -- what they say, against the definitions ---------------------------------------------------------------------------


def largest(diary: Diary, s: int, y: Any, a: int, height: float, log_inv_delta: float, sign: float = 1.0) -> float:
    """How far y . weights can be above the estimate (below it for sign = -1) by the ellipsoid and aim a."""
    inst, h = diary.inst, diary.H[:, a]
    A, q, g = np.linalg.inv(diary.inverse(s)), diary.H[:, a] @ diary.Z, inst.gram_of[s]
    grown = np.linalg.slogdet(A)[1] - len(y) * np.log(inst.lam[g])
    radius = sqrt(inst.R[s] ** 2 * (2 * log_inv_delta + grown) + inst.lam[g] * inst.D[s] ** 2)
    rest = h @ diary.seen[:, s] - q @ diary.estimate(s)
    square, along, fit = products(A, y, q)
    bound = height + sign * rest
    if along <= 0 or bound <= -radius * sqrt(fit):
        return radius * sqrt(square)
    return by_solver(A, y, q, bound, radius)


@pytest.mark.parametrize("seed", [2, 5])
def test_safety_bounds_are_the_ellipsoid_cut_by_the_arms_own_aim(seed: int) -> None:
    diary = filled(seed, 2, 40)
    inst, work, K, cut = diary.inst._replace(eta0=np.array([-0.1, 0.3])), diary.work, len(diary.inst.X), 0
    callable_form(bound_safety_by_aims)(inst, diary.state, work)
    for s in (1, 2):
        for k, x in enumerate(inst.X):
            a = K + 1 + (s - 1) * K + k
            information, middle = (diary.H[:, a] ** 2).sum(), x @ diary.estimate(s)
            low, high = (half_normal(alpha, 0.1, 0.5 * s).at(information, inst.R[s]) for alpha in (0.001, 0.02))
            if middle - largest(diary, s, x, a, np.inf, inst.log_inv_delta[s]) >= inst.eta0[s - 1]:
                low = high = np.inf  # safe at full level by the ellipsoid: the aims are not asked
            below = largest(diary, s, x, a, low, inst.log_inv_delta[s], sign=-1.0)
            above = largest(diary, s, x, a, high, inst.log_inv_delta_high[s])
            assert work.lower[s - 1, k] == pytest.approx(middle - below, abs=1e-6)
            assert work.upper[s - 1, k] == pytest.approx(middle + above, abs=1e-6)
            cut += below < largest(diary, s, x, a, np.inf, inst.log_inv_delta[s]) - 1e-3
    assert cut >= 3


@pytest.mark.parametrize("leader", [NULL, 0, 3])
def test_leads_are_the_ellipsoid_cut_by_the_rivals_aim(leader: int) -> None:
    """The largest one is; the others may stay as the ellipsoid has them, as far as they are below it."""
    diary = filled(9, 1, 30)
    inst, state, work, K = diary.inst, diary.state, diary.work, len(diary.inst.X)
    level = float(state.low[leader]) if leader != NULL else 0.0
    z_i = level * inst.X[max(leader, 0)]
    callable_form(bound_leads_by_aims)(inst, state, work, leader, level)
    leads = []
    for j in range(K + 1):
        if j == (leader if leader != NULL else K) and not (j < K and state.high[j] > level):
            assert work.lead[j] == -np.inf
            continue
        y = (state.high[j] * inst.X[j] if j < K else 0.0) - z_i
        information = (diary.H[:, j] ** 2).sum()
        near, far = boundary(0.04, 1.0, 0.2, 0.1), half_normal(0.005, 1.0, 3.0)
        height = (near if information >= 25.0 else far).at(information, 1.0)
        width = largest(diary, 0, y, j, np.inf if j == leader else height, inst.log_inv_delta[0])
        leads.append(y @ diary.estimate(0) + width)
        plain = y @ diary.estimate(0) + largest(diary, 0, y, j, np.inf, inst.log_inv_delta[0])
        assert leads[-1] - 1e-6 <= work.lead[j] <= plain + 1e-6
    assert work.lead.max() == pytest.approx(max(leads), abs=1e-6)
