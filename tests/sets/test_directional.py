"""Aims: their sums, their weights and their bounds, against the definitions in d dimensions."""

from math import sqrt
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from surefoot.core.grams import least_squares
from surefoot.core.learn import refresh
from surefoot.core.parts import ball_of, bound_leads, bound_safety
from surefoot.core.state import remember_race
from surefoot.core.types import CHALLENGER, LEADER, NULL, ROUND
from surefoot.sets import norm_free
from surefoot.sets.directional import FAR, NEAR, Params, cut_lead, directional, furthest
from surefoot.sets.mixtures import boundary, half_normal
from workbench import Bench, bench

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
        found = furthest(radius * sqrt(square), square, along, fit, bound, radius)
        assert found == pytest.approx(by_solver(A, y, q, bound, radius), abs=1e-6)
        cuts += found < radius * sqrt(square) - 1e-9
    assert 20 < cuts < 60


def test_a_half_space_that_points_away_never_moves_the_bound_inwards_too_far() -> None:
    for seed in range(30):
        A, y, q, bound, radius = drawn_cut(seed)
        square, along, fit = products(A, y, -q)
        found = furthest(radius * sqrt(square), square, along, fit, bound, radius)
        assert found >= by_solver(A, y, -q, bound, radius) - 1e-6


def test_a_bound_never_exceeds_the_ellipsoids() -> None:
    rng = np.random.default_rng(1)
    for square, fit, radius, share, bound in rng.uniform(0.0, 2.0, (500, 5)):
        along = (share - 1.0) * sqrt(square * fit)
        assert furthest(radius * sqrt(square), square, along, fit, 3.0 * (bound - 1.0), radius) <= radius * sqrt(square)


@pytest.mark.parametrize(
    ("along", "fit", "bound"), [(0.0, 1.0, -0.5), (0.5, 0.0, 0.0), (0.5, 1.0, -2.5), (0.5, 1.0, np.inf)]
)
def test_without_a_cut_the_ellipsoid_alone_speaks(along: float, fit: float, bound: float) -> None:
    """No weight along y, no weights at all, a half-space that misses the ellipsoid, and one that holds it whole."""
    assert furthest(4.0, 4.0, along, fit, bound, 2.0) == 4.0


def test_a_half_space_along_y_gives_its_own_bound() -> None:
    """q = 3 y: then y . v <= bound / 3, and what is added against rounding is never taken away."""
    found = furthest(4.0, 4.0, 12.0, 36.0, 1.5, 2.0)
    assert found >= 0.5
    assert found == pytest.approx(0.5, rel=1e-6)


# -- what is kept, against the definitions ----------------------------------------------------------------------------


def aimed(seed: int, limits: int, K: int = 5, d: int = 3) -> Bench:
    """A bench with aims, and a prior of its own for every signal."""
    rng = np.random.default_rng(seed)
    n, X = 1 + limits, rng.standard_normal((K, d))
    errors = (rng.uniform(1, 3, n), rng.uniform(3, 6, n), rng.uniform(3, 6, n))
    ball = norm_free.Params(rng.permutation(np.geomspace(0.05, 4.0, n)), *errors)
    rows = [boundary(0.04, 1.0, 0.2, 0.1), half_normal(0.005, 1.0, 3.0)]
    rows += [half_normal(alpha, 0.1, 0.5 * s) for s in range(1, n) for alpha in (0.001, 0.02)]
    return bench(
        X, eta0=[-0.5] * limits, grams=least_squares(n, d, 1e-6),
        sets=lambda _: directional(Params(ball, np.array(rows), 25.0), K, d, limits),
    )  # fmt: skip


class Diary:
    """Every pull with the weights that it was given, and all else from the definitions."""

    def __init__(self, here: Bench, seed: int) -> None:
        self.here, self.inst, self.rng = here, here.inst, np.random.default_rng(1000 + seed)
        self.state, self.work = here.fresh()
        self.memory, inst = self.state.sets, here.inst
        K, d = inst.X.shape
        self.Z, self.seen, self.H = (np.zeros((0, width)) for width in (d, len(inst.R), len(self.memory.rest)))
        self.signal = np.array([0] * (K + 1) + [s for s in range(1, len(inst.R)) for _ in range(K)])

    def pull(self) -> None:
        """A pull at random, after a decision at random."""
        K, rng, state = len(self.inst.X), self.rng, self.state
        state.levels.low[:] = rng.uniform(0.1, 0.5, K)
        state.levels.high[:] = state.levels.low + rng.choice([0.0, 0.3], K)
        remember_race(state, int(rng.integers(-1, K)), int(rng.integers(-1, K)))
        k, gamma = int(rng.integers(K)), float(rng.uniform(0.1, 1.0))
        seen = self.inst.R * rng.standard_normal(len(self.inst.R))
        expected = self.weights(k, gamma)
        self.here.absorb(state, self.work, k, gamma, seen)
        np.testing.assert_allclose(self.memory.weight, expected, rtol=1e-8, atol=1e-9)
        self.Z, self.seen = np.vstack([self.Z, gamma * self.inst.X[k]]), np.vstack([self.seen, seen])
        self.H = np.vstack([self.H, self.memory.weight])

    @property
    def spanned(self) -> bool:
        return bool(np.linalg.matrix_rank(self.Z) == self.inst.X.shape[1]) if len(self.Z) else False

    def inverse(self) -> Any:
        return np.linalg.inv(self.Z.T @ self.Z)

    def estimate(self, s: int) -> Any:
        return self.inverse() @ self.Z.T @ self.seen[:, s]

    def metric(self, s: int) -> Any:
        """B of (C2)."""
        return self.inverse() + self.inst.sets.ball.prior[s] * self.inverse() @ self.inverse()

    def question(self, a: int) -> Any:
        """y of aim a as the last decision left it."""
        K, state, levels, X = len(self.inst.X), self.state, self.state.levels, self.inst.X
        if a > K:
            return X[(a - K - 1) % K]
        i, j = int(state.clock[LEADER]), int(state.clock[CHALLENGER])
        rival = j if a == i else i
        other = levels.low[rival] * X[rival] if rival != NULL else np.zeros(X.shape[1])
        return (levels.high[a] * X[a] if a < K else 0.0) - other

    def weights(self, k: int, gamma: float) -> Any:
        """(C5) with q = sum h z, by inverting V; nothing before the pulls span."""
        found, z = [], gamma * self.inst.X[k]
        if not self.spanned:
            return np.zeros(len(self.signal))
        inverse = self.inverse()
        for a in range(len(self.signal)):
            y, q = self.question(a), self.H[:, a] @ self.Z
            if not y.any():
                found.append(0.0)
                continue
            plain = z @ inverse @ y / (y @ inverse @ y)
            correction = 4.0 * (max(y @ inverse @ q, 0.0) * plain - z @ inverse @ q)
            most = abs(plain) + sqrt((self.H[:, a] ** 2).sum() / (len(self.Z) + 1))
            found.append(plain + np.clip(correction, -most, most))
        return np.array(found)

    def check(self) -> None:
        close = {"rtol": 1e-8, "atol": 1e-8}
        for a, s in enumerate(self.signal):
            h, q = self.H[:, a], self.H[:, a] @ self.Z
            np.testing.assert_allclose(self.memory.information[a], h @ h, **close)
            np.testing.assert_allclose(self.memory.q[a], q, **close)
            if self.spanned:
                np.testing.assert_allclose(self.memory.rest[a], h @ self.seen[:, s] - q @ self.estimate(s), **close)
                np.testing.assert_allclose(self.memory.solved[a], self.inverse() @ q, **close)
        for s, c in enumerate(self.inst.sets.ball.prior):
            A = c * np.eye(self.Z.shape[1]) + self.Z.T @ self.Z
            grown = np.linalg.slogdet(A)[1] - len(A) * np.log(c)
            np.testing.assert_allclose(self.memory.ball.log_det[s], grown, **close)
            np.testing.assert_allclose(self.memory.ball.inverse[s], np.linalg.inv(A), **close)


def filled(seed: int, limits: int, rounds: int) -> Diary:
    diary = Diary(aimed(seed, limits), seed)
    for _ in range(rounds):
        diary.pull()
    return diary


@pytest.mark.parametrize(("limits", "rounds"), [(1, 1), (1, 27), (2, 100), (3, 63)])
def test_the_aims_are_their_definitions_before_and_after_a_refresh(limits: int, rounds: int) -> None:
    """The weights of every pull are checked on the way."""
    diary = filled(rounds, limits, rounds)
    assert diary.state.clock[ROUND] == rounds
    diary.check()
    assert diary.here.plain(refresh)(diary.inst, diary.state, diary.work)
    diary.check()


def test_an_aim_that_asks_nothing_takes_no_weight() -> None:
    """Doing nothing leads: whether doing nothing beats it is no question."""
    diary = filled(4, 1, 5)
    K = len(diary.inst.X)
    remember_race(diary.state, NULL, 2)
    diary.here.absorb(diary.state, diary.work, 1, 0.5, [1.0, 1.0])
    assert diary.memory.weight[K] == 0.0
    assert diary.memory.weight[:K].all()


def test_a_weight_does_not_depend_on_the_result_that_it_weighs() -> None:
    """Else the weighted noise would be no martingale, and no boundary would hold."""
    first, second = filled(6, 2, 20), filled(6, 2, 20)
    first.here.absorb(first.state, first.work, 3, 0.6, [5.0, -1.0, 2.0])
    second.here.absorb(second.state, second.work, 3, 0.6, [-9.0, 3.0, 0.0])
    assert (first.memory.weight == second.memory.weight).all()
    assert first.memory.weight.any()


# -- what they say, against the definitions ---------------------------------------------------------------------------


def largest(diary: Diary, s: int, y: Any, a: int, height: float, log_inv_delta: float, sign: float = 1.0) -> float:
    """How far y . weights can be above the estimate (below it for sign = -1) by the ellipsoid and aim a."""
    inst, h = diary.inst, diary.H[:, a]
    A, q, c = np.linalg.inv(diary.metric(s)), diary.H[:, a] @ diary.Z, inst.sets.ball.prior[s]
    grown = np.linalg.slogdet(np.eye(len(y)) + diary.Z.T @ diary.Z / c)[1]
    radius = inst.R[s] * sqrt(2 * log_inv_delta + grown)
    rest = h @ diary.seen[:, s] - q @ diary.estimate(s)
    square, along, fit = products(A, y, q)
    bound = height + sign * rest
    if along <= 0 or bound <= -radius * sqrt(fit):
        return radius * sqrt(square)
    return by_solver(A, y, q, bound, radius)


@pytest.mark.parametrize("seed", [2, 6])
def test_safety_bounds_are_the_ellipsoid_cut_by_the_arms_own_aim(seed: int) -> None:
    diary = filled(seed, 2, 40)
    inst, work, K, cut = diary.inst._replace(eta0=np.array([-0.1, 0.3])), diary.work, len(diary.inst.X), 0
    diary.here.plain(bound_safety)(inst, diary.state, work)
    error = inst.sets.ball
    for s in (1, 2):
        for k, x in enumerate(inst.X):
            a = K + 1 + (s - 1) * K + k
            information, middle = (diary.H[:, a] ** 2).sum(), x @ diary.estimate(s)
            low, high = (half_normal(alpha, 0.1, 0.5 * s).at(information, inst.R[s]) for alpha in (0.001, 0.02))
            if middle - largest(diary, s, x, a, np.inf, error.log_inv_delta[s]) >= inst.eta0[s - 1]:
                low = high = np.inf  # safe at full level by the ellipsoid: the aims are not asked
            below = largest(diary, s, x, a, low, error.log_inv_delta[s], sign=-1.0)
            above = largest(diary, s, x, a, high, error.log_inv_delta_high[s])
            assert work.bounds.lower[s - 1, k] == pytest.approx(middle - below, abs=1e-6)
            assert work.bounds.upper[s - 1, k] == pytest.approx(middle + above, abs=1e-6)
            most = largest(diary, s, x, a, np.inf, error.log_inv_delta_most[s])
            assert work.bounds.most[s - 1, k] == pytest.approx(middle + most, abs=1e-6)
            cut += below < largest(diary, s, x, a, np.inf, error.log_inv_delta[s]) - 1e-3
    assert cut >= 2


@pytest.mark.parametrize("leader", [NULL, 0, 3])
def test_leads_are_the_ellipsoid_cut_by_the_rivals_aim(leader: int) -> None:
    """The largest one is; the others may stay as the ellipsoid has them, as far as they are below it."""
    diary = filled(9, 1, 30)
    inst, state, work, K = diary.inst, diary.state, diary.work, len(diary.inst.X)
    level = float(state.levels.low[leader]) if leader != NULL else 0.0
    z_i = level * inst.X[max(leader, 0)]
    diary.here.plain(bound_leads)(inst, state, work, leader, level, True)
    leads = []
    for j in range(K + 1):
        if j == (leader if leader != NULL else K) and not (j < K and state.levels.high[j] > level):
            assert work.bounds.lead[j] == -np.inf
            continue
        y = (state.levels.high[j] * inst.X[j] if j < K else 0.0) - z_i
        information = (diary.H[:, j] ** 2).sum()
        near, far = boundary(0.04, 1.0, 0.2, 0.1), half_normal(0.005, 1.0, 3.0)
        height = (near if information >= 25.0 else far).at(information, 1.0)
        width = largest(diary, 0, y, j, np.inf if j == leader else height, inst.sets.ball.log_inv_delta[0])
        leads.append(y @ diary.estimate(0) + width)
        plain = y @ diary.estimate(0) + largest(diary, 0, y, j, np.inf, inst.sets.ball.log_inv_delta[0])
        assert leads[-1] - 1e-6 <= work.bounds.lead[j] <= plain + 1e-6
    assert work.bounds.lead.max() == pytest.approx(max(leads), abs=1e-6)


@pytest.mark.parametrize(("information", "row"), [(0.0, FAR), (9.99, FAR), (10.0, NEAR), (1e3, NEAR)])
def test_a_reward_aim_uses_near_from_the_switch_on(information: float, row: int) -> None:
    """An aim that points just along y, at 3 y: the lead then is a third of the boundary's height."""
    near, far = boundary(0.04, 1.0, 0.2, 0.1), half_normal(0.005, 1.0, 3.0)
    table = np.array([near, far, far, far])
    assert (NEAR, FAR) == (0, 1)
    ball = norm_free.Params(np.full(2, 1e-12), *np.full((3, 2), 1e8))  # a ball so large that only aims say anything
    here = bench(
        np.eye(2), grams=least_squares(2, 2, 1e-6), sets=lambda _: directional(Params(ball, table, 10.0), 2, 2, 1),
    )  # fmt: skip
    state, work = here.fresh()
    for k in range(2):
        here.absorb(state, work, k, 1.0, [0.0, 0.0])  # now V = I
    memory, params = state.sets, here.inst.sets
    memory.information[1], memory.q[1], memory.solved[1] = information, [0.0, 3.0], [0.0, 3.0]  # y = x_2
    found = here.plain(ball_of)(here.inst, state, 0)
    cut_lead(here.inst, params, memory, state, found, work.bounds, np.ones(2), NULL, 0.0, 1)
    wanted = (near, far)[row].at(information, 1.0) / 3.0
    assert work.bounds.lead[1] == pytest.approx(wanted, abs=1e-3)
    assert abs((near, far)[1 - row].at(information, 1.0) / 3.0 - wanted) > 1e-2
