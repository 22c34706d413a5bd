"""Aims: their sums, their weights and their bounds, against the definitions in d dimensions."""

from math import sqrt
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from surefoot.core.grams import least_squares
from surefoot.core.learn import refresh
from surefoot.core.parts import ball_of, bound_leads, bound_safety
from surefoot.core.state import copy_words, remember_race
from surefoot.core.types import CHALLENGER, LEADER, NULL, ROUND
from surefoot.sets import aim_sums, norm_free, side_by_side
from surefoot.sets import directional as directional_module
from surefoot.sets.aim_sums import read_sum
from surefoot.sets.asking import SELDOM
from surefoot.sets.boundaries import height_at
from surefoot.sets.cutting import FAR, NEAR, Lead, cut_leads, furthest
from surefoot.sets.directional import Params, directional
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

NEAREST = boundary(0.04, 1.0, 0.2, 0.1)
FORMS = {"all columns": False, "few columns": True}
OPENINGS = {"late": False, "at once": True}
both_forms = pytest.mark.parametrize("few", FORMS.values(), ids=FORMS)
both_openings = pytest.mark.parametrize("at_once", OPENINGS.values(), ids=OPENINGS)


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a dozen aims fill several."""
    for each in (aim_sums, side_by_side):
        monkeypatch.setattr(each, "TILE", 4)


def lowest(s: int, n: int, at_once: bool) -> Any:
    """The boundary from below of limit s at the arm that was opened n-th, counted from 1."""
    return half_normal(0.001 / (1 if at_once else n), 0.1, 0.5 * s)


def highest(s: int) -> Any:
    return half_normal(0.02, 0.1, 0.5 * s)


def aimed(
    seed: int, limits: int, at_once: bool = False, few: bool = False, room: int | None = None, within: float = 10.0,
    many: bool | None = None,
) -> Bench:  # fmt: skip
    """A bench with aims, and a prior of its own for every signal."""
    rng = np.random.default_rng(seed)
    K, d, n = 11 if few else 5, 3, 1 + limits
    X = rng.standard_normal((K, d))
    errors = (rng.uniform(3, 6, n), rng.uniform(3, 6, n), rng.uniform(3, 6, n))
    ball = norm_free.Params(rng.permutation(np.geomspace(0.05, 4.0, n)), *errors)
    reward = np.array([NEAREST, half_normal(0.005, 1.0, 3.0)])
    places, signals = range(1, (room or K) + 1), range(1, n)
    high = np.array([highest(s) for s in signals])
    low = np.array([[lowest(s, place, at_once) for place in places] for s in signals])
    return bench(
        X, eta0=[-0.5] * limits, grams=least_squares(n, d, 1e-6), few_columns=few,
        sets=lambda _: directional(
            Params(ball, reward, high, low, 25.0, within, 0.1, at_once), K, d, limits,
            many=few if many is None else many,
        ),
    )  # fmt: skip


class Diary:
    """Every pull with the weights that it was given, and all else from the definitions.

    Aims are counted as the K + 1 of the reward first, and then those of each limit, whether they are open or not.
    """

    def __init__(self, here: Bench, seed: int, leader: int | None = None) -> None:
        self.leader, self.close = leader, False
        self.here, self.inst, self.rng = here, here.inst, np.random.default_rng(1000 + seed)
        self.state, self.work = here.fresh()
        self.memory, inst = self.state.sets, here.inst
        (K, d), n = inst.X.shape, len(inst.R)
        self.signal = np.array([0] * (K + 1) + [s for s in range(1, n) for _ in range(K)])
        self.Z, self.seen, self.H = (np.zeros((0, width)) for width in (d, n, len(self.signal)))
        at_once = inst.sets.at_once
        self.reward: list[int] = list(range(K + 1)) if at_once else []  # targets in the order of opening
        self.safety: list[int] = list(range(K)) if at_once else []
        self.settled: set[tuple[int, int]] = set()  # limits and the arms at which they have no question left
        self.reward_room, self.safety_room = self.memory.reward.target.shape[1], self.memory.safety.target.shape[1]

    def decide(self) -> None:
        """A decision at random: levels, a leader, and whoever might beat it by most. Or always about one leader."""
        K, rng, state = len(self.inst.X), self.rng, self.state
        if self.leader is not None:
            if self.spanned:
                self.bound_leads(self.leader)
            remember_race(state, self.leader, 1)
            return
        state.levels.low[:] = rng.uniform(0.1, 0.5, K)
        state.levels.high[:] = state.levels.low + rng.choice([0.0, 0.3], K)
        i, j = int(rng.integers(-1, K)), int(rng.integers(-1, K))
        if self.spanned:
            self.bound_leads(i)
        if rng.uniform() < 0.3:
            i = int(rng.integers(-1, K))  # whom the last decision was about need not be whom bounds were asked for
        remember_race(state, i, j)

    def bound_leads(self, i: int) -> None:
        """Asks for leads over i. If the largest is that of one whom no aim asks about, and the race is close, it gets
        an aim."""
        state = self.state
        level = float(state.levels.low[i]) if i != NULL else 0.0
        self.close, far = self.is_close(i, level)
        self.here.plain(bound_leads)(self.inst, state, self.work, i, level, True)
        wins = far not in (NULL, i) and int(np.argmax(self.work.bounds.lead)) == far
        if wins and self.close and len(self.reward) < self.reward_room:
            self.reward.append(far)
        self.check_open()

    def is_close(self, i: int, level: float) -> tuple[bool, int]:
        """Whether an aim would soon tell whoever might beat i by most, of those without one; and who that is."""
        inst, levels, X = self.inst, self.state.levels, self.inst.X
        K, far, most, close = len(X), NULL, -np.inf, False
        z_i = level * X[i] if i != NULL else np.zeros(X.shape[1])
        for j in range(K + 1):
            itself = j == (i if i != NULL else K)
            if (j in self.reward and j != i) or (itself and not (j < K and levels.high[j] > level)):
                continue
            y = (levels.high[j] * X[j] if j < K else 0.0) - z_i
            mean, square = y @ self.estimate(0), y @ self.inverse() @ y
            lead = mean + uncut(self, 0, y, inst.sets.ball.log_inv_delta[0])
            if lead > most:
                width = inst.R[0] * sqrt(NEAREST.constant * square)
                far, most, close = j, lead, width <= inst.sets.within * (inst.sets.finest + max(-mean, 0.0))
        return close, far

    def pull(self) -> None:
        """A pull at random, after a decision at random."""
        self.decide()
        K, rng, state = len(self.inst.X), self.rng, self.state
        k, gamma = int(rng.integers(K)), float(rng.uniform(0.1, 1.0))
        self.learn(k, gamma, self.inst.R * rng.standard_normal(len(self.inst.R)), state)

    def learn(self, k: int, gamma: float, seen: Any, state: Any) -> None:
        race = (int(state.clock[LEADER]), int(state.clock[CHALLENGER])) if self.close else ()
        for each in (k, *race) if state.estimate.pulls[k] > 0 else race:
            news = self.spanned and each != NULL and each not in self.safety
            if news and len(self.safety) < self.safety_room:
                self.safety.append(each)
        if self.spanned and state.clock[ROUND] & SELDOM == 0:
            known = np.argwhere(state.levels.low_of >= 1.0).tolist() if state.levels.remember[0] else []
            self.settled |= {(s, k) for s, k in known if k in self.safety}
        expected = self.weights(k, gamma)
        self.absorb(k, gamma, seen)
        self.check_open()
        np.testing.assert_allclose(self.taken(), expected, rtol=1e-8, atol=1e-9)
        self.Z, self.seen = np.vstack([self.Z, gamma * self.inst.X[k]]), np.vstack([self.seen, seen])
        self.H = np.vstack([self.H, self.taken()])

    def check_open(self) -> None:
        """The aims that are open, and in which order."""
        for aims, order in ((self.memory.reward, self.reward), (self.memory.safety, self.safety)):
            for e, at_work in enumerate(aims.active):
                found = aims.target[e, :at_work].tolist()
                closed = {k for s, k in self.settled if s == e and aims is self.memory.safety}
                assert sorted(found) == sorted(set(order) - closed)
                assert aims.turn[e, :at_work].tolist() == [order.index(k) for k in found]
            assert [int(np.flatnonzero(aims.order == n + 1)[0]) for n in range(len(order))] == order
            assert np.count_nonzero(aims.order) == len(order)

    def asks(self, a: int) -> bool:
        """Whether aim a was opened, and has a question left."""
        K = len(self.inst.X)
        s, k = divmod(a - K - 1, K)
        return a in self.reward if a <= K else k in self.safety and (s, k) not in self.settled

    def row(self, a: int) -> tuple[Any, int]:
        """Where aim a is kept; -1 where it is not open."""
        K = len(self.inst.X)
        if a <= K:
            return self.memory.reward, self.reward.index(a) if a in self.reward else -1
        s, k = divmod(a - K - 1, K)
        at_work = self.memory.safety.target[s, : self.memory.safety.active[s]].tolist()
        return self.memory.safety, s * self.safety_room + at_work.index(k) if k in at_work else -1

    def summed(self, aims: Any, row: int) -> Any:
        """q of the aim in that row."""
        (e, n), q = divmod(row, aims.target.shape[1]), np.zeros(self.inst.X.shape[1])
        self.here.plain(read_sum)(aims.sums, e, row, n, q)
        return q

    def absorb(self, k: int, gamma: float, seen: Any) -> None:
        """A pull, and the sums of all aims before it."""
        self.before, self.pulled = self.sums(), gamma * self.inst.X[k]
        self.here.absorb(self.state, self.work, k, gamma, seen)

    def sums(self) -> Any:
        """q of every aim; zeros where none is open."""
        rows = [self.row(a) for a in range(len(self.signal))]
        return np.array([self.summed(aims, n) if n >= 0 else np.zeros(self.inst.X.shape[1]) for aims, n in rows])

    def taken(self) -> Any:
        """The weights of the last pull, by what it has added to the sums; 0 where none is open."""
        asked = np.array([self.asks(a) for a in range(len(self.signal))])
        return asked * ((self.sums() - self.before) @ self.pulled) / (self.pulled @ self.pulled)

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
        """(C5) with q = sum h z, by inverting V; nothing before the pulls span, and nothing where no aim is open."""
        found, z = np.zeros(len(self.signal)), gamma * self.inst.X[k]
        if not self.spanned:
            return found
        inverse = self.inverse()
        for a in range(len(self.signal)):
            y, q = self.question(a), self.H[:, a] @ self.Z
            if not self.asks(a) or not y.any():
                continue
            plain = z @ inverse @ y / (y @ inverse @ y)
            correction = 4.0 * (max(y @ inverse @ q, 0.0) * plain - z @ inverse @ q)
            most = abs(plain) + sqrt((self.H[:, a] ** 2).sum() / (len(self.Z) + 1))
            found[a] = plain + np.clip(correction, -most, most)
        return found

    def check(self) -> None:
        close = {"rtol": 1e-8, "atol": 1e-8}
        K, X, compared = len(self.inst.X), self.inst.X, int(self.memory.compared[0])
        for a, s in enumerate(self.signal):
            h, q, (aims, n) = self.H[:, a], self.H[:, a] @ self.Z, self.row(a)
            if n < 0:
                assert not h.any() or divmod(a - K - 1, K) in self.settled
                continue
            np.testing.assert_allclose(aims.information[n], h @ h, **close)
            np.testing.assert_allclose(self.summed(aims, n), q, **close)
            if not self.spanned:
                continue
            once, twice = self.inverse() @ q, self.inverse() @ self.inverse() @ q
            x = (X[a] if a < K else np.zeros(len(q))) if s == 0 else X[(a - K - 1) % K]
            np.testing.assert_allclose(aims.rest[n], h @ self.seen[:, s] - q @ self.estimate(s), **close)
            np.testing.assert_allclose([aims.own[n], aims.own2[n]], [x @ once, x @ twice], **close)
            np.testing.assert_allclose([aims.fit[n], aims.fit2[n]], [q @ once, q @ twice], **close)
            if s == 0 and compared != NULL:
                found = [aims.rival[n], aims.rival2[n]]
                np.testing.assert_allclose(found, [X[compared] @ once, X[compared] @ twice], **close)
        for s, c in enumerate(self.inst.sets.ball.prior):
            A = c * np.eye(self.Z.shape[1]) + self.Z.T @ self.Z
            grown = np.linalg.slogdet(A)[1] - len(A) * np.log(c)
            np.testing.assert_allclose(self.memory.ball.log_det[s], grown, **close)
            np.testing.assert_allclose(self.memory.ball.inverse[s], np.linalg.inv(A), **close)


def filled(seed: int, limits: int, rounds: int, leader: int | None = None, **how: Any) -> Diary:
    diary = Diary(aimed(seed, limits, **how), seed, leader)
    diary.state.levels.high[:] = 0.5
    for _ in range(rounds):
        diary.pull()
    return diary


@both_forms
@both_openings
@pytest.mark.parametrize(("limits", "rounds"), [(1, 1), (1, 27), (2, 100), (3, 63)])
def test_the_aims_are_their_definitions_before_and_after_a_refresh(
    limits: int, rounds: int, at_once: bool, few: bool
) -> None:
    """The weights of every pull are checked on the way, and which aims are open."""
    diary = filled(rounds, limits, rounds, at_once=at_once, few=few)
    assert diary.state.clock[ROUND] == rounds
    diary.check()
    assert diary.here.plain(refresh)(diary.inst, diary.state, diary.work)
    diary.check()
    if rounds > 1:
        diary.pull()
        diary.check()


@both_openings
def test_an_aim_that_asks_nothing_takes_no_weight(at_once: bool) -> None:
    """Doing nothing leads: whether doing nothing beats it is no question."""
    diary = filled(4, 1, 60, at_once=at_once)
    K = len(diary.inst.X)
    assert at_once or diary.reward  # some came up
    remember_race(diary.state, NULL, 2)
    diary.absorb(1, 0.5, [1.0, 1.0])
    weights, open_arms = diary.taken(), [k for k in diary.reward if k < K]
    assert weights[K] == 0.0
    assert weights[open_arms].all()


@both_forms
@both_openings
def test_a_weight_does_not_depend_on_the_result_that_it_weighs(at_once: bool, few: bool) -> None:
    """Else the weighted noise would be no martingale, and no boundary would hold. Nor does which aims are open."""
    first, second = (filled(6, 2, 20, at_once=at_once, few=few) for _ in range(2))
    first.learn(3, 0.6, np.array([5.0, -1.0, 2.0]), first.state)
    second.learn(3, 0.6, np.array([-9.0, 3.0, 0.0]), second.state)
    assert (first.taken() == second.taken()).all()
    assert first.taken().any()
    assert (first.reward, first.safety) == (second.reward, second.safety)


# -- when they are opened ---------------------------------------------------------------------------------------------


def test_nothing_is_open_before_the_pulls_span() -> None:
    diary = Diary(aimed(3, 2, within=np.inf), 3)
    for t in range(12):
        remember_race(diary.state, 0, 1)
        diary.learn(t % 2, 0.5, np.zeros(3), diary.state)
        diary.here.plain(bound_leads)(diary.inst, diary.state, diary.work, 0, 0.2, True)
        assert (diary.memory.reward.opened[0], diary.memory.safety.opened[0]) == (0, 0)
    diary.learn(2, 0.5, np.zeros(3), diary.state)  # now they span: what is opened weighs the pulls that follow
    assert diary.spanned
    assert diary.memory.safety.opened[0] == 0


@pytest.mark.parametrize(("within", "opened"), [(np.inf, [4, 0, 1]), (0.0, [4])], ids=["close", "not close"])
def test_limits_are_asked_about_at_arms_that_race_or_are_pulled_again(within: float, opened: list[int]) -> None:
    diary = Diary(aimed(3, 2, within=within), 3)
    for k in (0, 1, 2, 3, 4):  # for the first time
        diary.learn(k, 0.5, np.zeros(3), diary.state)
    assert diary.spanned
    assert diary.safety == []
    diary.bound_leads(0)
    assert len(diary.reward) == (1 if within else 0)
    remember_race(diary.state, 0, 1)
    diary.learn(4, 0.5, np.zeros(3), diary.state)
    assert diary.safety == opened


def test_an_arm_is_opened_once_and_keeps_its_place() -> None:
    diary = filled(8, 2, 60)
    places = diary.memory.safety.order.copy(), diary.memory.reward.order.copy()
    assert sorted(diary.safety) == list(range(5))
    for _ in range(30):
        diary.pull()
    for before, now in zip(places, (diary.memory.safety.order, diary.memory.reward.order), strict=True):
        assert (now[before > 0] == before[before > 0]).all()


@both_forms
@both_openings
def test_questions_that_are_settled_are_closed_and_the_others_go_on(at_once: bool, few: bool) -> None:
    """An arm that was certified at full level by a limit is asked about no more; `pull` checks all others."""
    diary = filled(6, 2, 45, at_once=at_once, few=few)
    low_of, here = diary.state.levels.low_of, diary.here
    diary.state.levels.remember[0] = 1
    for settled in ({(0, diary.safety[0]), (0, diary.safety[-1])}, {(1, diary.safety[1])}, {(0, diary.safety[2])}):
        for s, k in settled:
            low_of[s, k] = 1.0
        asked = diary.memory.safety.active.copy()
        here.plain(bound_safety)(diary.inst, diary.state, diary.work)
        assert (diary.memory.safety.active == asked).all()  # asking for bounds changes nothing
        for _ in range(1 + SELDOM):
            diary.pull()
        assert settled <= diary.settled
        diary.check()
        assert here.plain(refresh)(diary.inst, diary.state, diary.work)
        diary.check()
    check_safety(diary, -0.1, 0.3)


def test_where_levels_do_not_remember_no_question_is_settled() -> None:
    """They may fall again, and then the aim is asked."""
    diary = filled(6, 2, 45)
    asked = diary.memory.safety.active.copy()
    diary.state.levels.low_of[:] = 1.0
    for _ in range(1 + SELDOM):
        diary.learn(0, 0.4, np.zeros(3), diary.state)
    assert (diary.memory.safety.active >= asked).all()
    assert asked.all()


@pytest.mark.parametrize("leader", [NULL, 0, 3])
def test_leads_are_the_same_one_by_one_and_side_by_side(leader: int) -> None:
    """All of them: other rules than the largest may read them too."""
    leads = []
    for many in (False, True):
        diary = filled(9, 1, 80, leader, few=True, many=many, within=np.inf)
        level = float(diary.state.levels.low[leader]) if leader != NULL else 0.0
        diary.here.plain(bound_leads)(diary.inst, diary.state, diary.work, leader, level, True)
        leads.append(diary.work.bounds.lead.copy())
    np.testing.assert_allclose(*leads, rtol=1e-9, atol=1e-9)


def test_the_leader_itself_gets_no_aim_for_its_own_level() -> None:
    """Its lead over itself is another question than whether it beats the leader."""
    diary = filled(5, 1, 6, within=0.0)
    assert diary.spanned
    assert diary.reward == []
    diary.inst.sets.ball.log_inv_delta[:] = 1.0
    diary.state.levels.low[:] = diary.state.levels.high[:] = 0.01
    diary.state.levels.high[0] = 1.0
    inst = diary.inst._replace(sets=diary.inst.sets._replace(within=np.inf))
    diary.here.plain(bound_leads)(inst, diary.state, diary.work, 0, 0.01, True)
    assert int(np.argmax(diary.work.bounds.lead)) == 0
    assert diary.memory.reward.opened[0] == 0


def test_where_there_is_no_room_the_ellipsoid_speaks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two aims at the reward and two arms at the limits are open, and no more; `pull` checks which."""
    monkeypatch.setattr(directional_module, "MOST_OPEN", 2)
    diary = filled(7, 2, 60, room=2)
    assert (len(diary.reward), len(diary.safety)) == (2, 2)
    diary.check()
    check_safety(diary, -0.1, 0.3)
    check_leads(diary, 0)


def test_what_is_opened_in_a_copy_is_not_open_in_the_original() -> None:
    """Several pulls may be open: what would be decided is asked of a copy of the state."""
    diary = filled(2, 1, 5, within=np.inf)
    assert diary.spanned
    here, state = diary.here, diary.state
    copy, work = here.fresh()
    copy_words(state.whole, copy.whole)
    before = state.whole.copy()
    for t in range(6):
        remember_race(copy, t % 5, (t + 1) % 5)
        here.plain(bound_leads)(here.inst, copy, work, t % 5, 0.3, True)
        here.absorb(copy, work, t % 5, 0.4, [1.0, -0.2])
    assert copy.sets.safety.opened[0] > state.sets.safety.opened[0]
    assert copy.sets.reward.opened[0] >= 1
    assert (state.whole == before).all()


# -- what they say, against the definitions ---------------------------------------------------------------------------


def uncut(diary: Diary, s: int, y: Any, log_inv_delta: float) -> float:
    """How far y . weights can be from the estimate by the ellipsoid alone."""
    grown = np.linalg.slogdet(np.eye(len(y)) + diary.Z.T @ diary.Z / diary.inst.sets.ball.prior[s])[1]
    return float(diary.inst.R[s] * sqrt((2 * log_inv_delta + grown) * (y @ diary.metric(s) @ y)))


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


def check_safety(diary: Diary, *eta0: float) -> int:
    """Holds every bound of the limits against its definition; returns how many were cut."""
    inst, work, K, cut = diary.inst._replace(eta0=np.array(eta0)), diary.work, len(diary.inst.X), 0
    diary.here.plain(bound_safety)(inst, diary.state, work)
    error = inst.sets.ball
    for s in range(1, 1 + len(eta0)):
        for k, x in enumerate(inst.X):
            a = K + 1 + (s - 1) * K + k
            information, middle = (diary.H[:, a] ** 2).sum(), x @ diary.estimate(s)
            uncut = largest(diary, s, x, a, np.inf, error.log_inv_delta[s])
            low = high = np.inf
            if diary.asks(a) and middle - uncut < inst.eta0[s - 1]:  # else the ellipsoid alone shows it to be safe
                place = 1 + diary.safety.index(k)
                low = height_at(lowest(s, place, inst.sets.at_once), inst.R[s], information)
                high = height_at(highest(s), inst.R[s], information)
            below = largest(diary, s, x, a, low, error.log_inv_delta[s], sign=-1.0)
            above = largest(diary, s, x, a, high, error.log_inv_delta_high[s])
            assert work.bounds.lower[s - 1, k] == pytest.approx(middle - below, abs=1e-6)
            assert work.bounds.upper[s - 1, k] == pytest.approx(middle + above, abs=1e-6)
            most = largest(diary, s, x, a, np.inf, error.log_inv_delta_most[s])
            assert work.bounds.most[s - 1, k] == pytest.approx(middle + most, abs=1e-6)
            cut += below < uncut - 1e-3
    return cut


@both_forms
@both_openings
@pytest.mark.parametrize("seed", [2, 6])
def test_safety_bounds_are_the_ellipsoid_cut_by_the_arms_own_aim(seed: int, at_once: bool, few: bool) -> None:
    assert check_safety(filled(seed, 2, 120, at_once=at_once, few=few, within=np.inf), -0.1, 0.3) >= 2


def check_leads(diary: Diary, leader: int) -> int:
    """Holds every lead over the leader against its definition; returns how many aims could cut."""
    inst, state, work, K = diary.inst, diary.state, diary.work, len(diary.inst.X)
    level = float(state.levels.low[leader]) if leader != NULL else 0.0
    z_i, asked = level * inst.X[max(leader, 0)], list(diary.reward)
    diary.here.plain(bound_leads)(inst, state, work, leader, level, True)
    leads, cut = [], 0
    for j in range(K + 1):
        if j == (leader if leader != NULL else K) and not (j < K and state.levels.high[j] > level):
            assert work.bounds.lead[j] == -np.inf
            continue
        y = (state.levels.high[j] * inst.X[j] if j < K else 0.0) - z_i
        information = (diary.H[:, j] ** 2).sum()
        near, far = boundary(0.04, 1.0, 0.2, 0.1), half_normal(0.005, 1.0, 3.0)
        height = height_at(near if information >= 25.0 else far, 1.0, information)
        says = j in asked and j != leader
        width = largest(diary, 0, y, j, height if says else np.inf, inst.sets.ball.log_inv_delta[0])
        leads.append(y @ diary.estimate(0) + width)
        plain = y @ diary.estimate(0) + largest(diary, 0, y, j, np.inf, inst.sets.ball.log_inv_delta[0])
        assert leads[-1] - 1e-6 <= work.bounds.lead[j] <= plain + 1e-6
        cut += leads[-1] < plain - 1e-3
    assert work.bounds.lead.max() == pytest.approx(max(leads), abs=1e-6)
    return cut


@both_forms
@both_openings
@pytest.mark.parametrize("leader", [NULL, 0, 3])
def test_leads_are_the_ellipsoid_cut_by_the_rivals_aim(leader: int, at_once: bool, few: bool) -> None:
    """The largest one is; the others may stay as the ellipsoid has them, as far as they are below it."""
    diary = filled(9, 1, 80, leader, at_once=at_once, few=few, within=np.inf)
    assert at_once or len(diary.reward) <= len(diary.inst.X)
    assert check_leads(diary, leader) >= 1


@both_forms
@pytest.mark.parametrize(("information", "row"), [(0.0, FAR), (9.99, FAR), (10.0, NEAR), (1e3, NEAR)])
def test_a_reward_aim_uses_near_from_the_switch_on(information: float, row: int, few: bool) -> None:
    """An aim that points just along y, at 3 y: the lead then is a third of the boundary's height."""
    near, far = boundary(0.04, 1.0, 0.2, 0.1), half_normal(0.005, 1.0, 3.0)
    table, other = np.array([near, far]), np.array([far])
    assert (NEAR, FAR) == (0, 1)
    ball = norm_free.Params(np.full(2, 1e-12), *np.full((3, 2), 1e8))  # a ball so large that only aims say anything
    params = Params(ball, table, other, np.array([[far, far]]), 10.0, 10.0, 0.1, True)
    here = bench(
        np.eye(2), grams=least_squares(2, 2, 1e-6), few_columns=few,
        sets=lambda _: directional(params, 2, 2, 1, many=few),
    )  # fmt: skip
    state, work = here.fresh()
    for k in range(2):
        here.absorb(state, work, k, 1.0, [0.0, 0.0])  # now V = I
    memory, params, aims = state.sets, here.inst.sets, state.sets.reward
    aims.information[1] = information  # y = x_2 and q = 3 y
    aims.own[1], aims.own2[1], aims.fit[1], aims.fit2[1] = 3.0, 3.0, 9.0, 9.0
    work.bounds.lead[:] = [-np.inf, np.inf, -np.inf]
    found = here.plain(ball_of)(here.inst, state, 0)
    columns = np.array([1.0, 0.0]), np.array([1.0, 0.0])
    assert here.plain(cut_leads)(
        here.inst, params, memory, state, found, work.bounds, np.ones(2), Lead(NULL, 0.0, -np.inf), *columns
    )  # fmt: skip
    wanted = height_at((near, far)[row], 1.0, information) / 3.0
    assert work.bounds.lead[1] == pytest.approx(wanted, abs=1e-3)
    assert abs(height_at((near, far)[1 - row], 1.0, information) / 3.0 - wanted) > 1e-2
