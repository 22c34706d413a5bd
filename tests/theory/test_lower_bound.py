"""(T9): the paper's figures, an independent oracle, the definition itself, and every kind of answer."""

from itertools import pairwise
from time import perf_counter
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from surefoot import worlds
from surefoot.errors import InvalidInput, NotSpanningWarning
from surefoot.theory import LowerBound, lower_bound, lower_bound_for
from surefoot.theory.alternatives import Answer, Setting, nearest, spread
from surefoot.theory.cutting_planes import ArmSearch, between
from surefoot.theory.lower_bounds import correct_answers


def random_truth(seed: int, arms: int = 6, dim: int = 3, signals: int = 1, **changes: Any) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(arms, dim))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    theta, mu = rng.normal(size=dim), rng.normal(size=(signals, dim))
    mu[0] -= 0.7 * theta  # what pays is dangerous
    given = {
        "arms": x,
        "values": x @ theta,
        "safety": mu @ x.T,
        "eta0": np.full(signals, -0.4),
        "noise": 1.0,
        "safety_noise": np.full(signals, 0.3),
        "epsilon": 0.15,
        "delta": 0.05,
        **changes,
    }
    if "levels" not in given:
        eta0 = given["eta0"][:, None]
        dangerous = given["safety"] < eta0
        given["levels"] = np.where(dangerous, eta0 / np.where(dangerous, given["safety"], -1.0), 1.0).min(
            0, initial=1.0
        )
    return given


def setting_of(truth: dict[str, Any]) -> Setting:
    fields = ("arms", "values", "safety", "eta0", "noise", "safety_noise", "epsilon")
    levels = truth["levels"]
    return Setting(**{f: truth[f] for f in fields}, pulls_at=levels, best_level=levels, cap=np.ones(len(levels)),
                   grid=np.empty(0))  # fmt: skip


def information(truth: dict[str, Any], w: np.ndarray, d_values: np.ndarray, d_safety: np.ndarray) -> np.ndarray:
    """What w collects against truths whose arm values differ by (n, K) and (n, m, K)."""
    weight = w * truth["levels"] ** 2
    reward = (weight * d_values**2).sum(-1) / (2 * truth["noise"] ** 2)
    return reward + ((weight * d_safety**2).sum(-1) / (2 * truth["safety_noise"] ** 2)).sum(-1)


def rejects(truth: dict[str, Any], values: np.ndarray, safety: np.ndarray, arm: int, level: float) -> np.ndarray:
    """Whether truths (n, K), (n, m, K) reject an answer, by the definition of a correct answer."""
    eta0 = truth["eta0"][:, None]
    levels = np.where(safety < eta0, eta0 / np.minimum(safety, -1e-300), 1.0).min(axis=1)
    best = np.maximum(0.0, (levels * values).max(axis=1))
    unsafe = (level * safety[:, :, arm] < truth["eta0"]).any(axis=1)
    return unsafe | (best - level * values[:, arm] > truth["epsilon"])


# the paper's instance -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def paper() -> LowerBound:
    world = worlds.hard()
    return lower_bound(world, world.paper_problem())


def test_the_papers_instance_needs_1450_pulls(paper: LowerBound) -> None:
    assert paper.pulls == pytest.approx(1450, rel=0.001)
    assert paper.t_star == pytest.approx(210.3, rel=0.0005)
    assert (paper.answer, paper.level) == (0, 1.0)
    np.testing.assert_allclose(paper.allocation, [0.025, 0.973, 0.003, 0.0], atol=0.001)


def test_the_gap_of_the_optimisation_is_returned_and_small(paper: LowerBound) -> None:
    assert 0.0 <= paper.gap <= 1e-4
    assert paper.t_star_attained == pytest.approx(paper.t_star * (1 + paper.gap))


def test_both_acceptable_arms_of_the_papers_instance_are_answers(paper: LowerBound) -> None:
    assert paper.answers == (0, 3)
    assert not paper.unique


def test_without_the_safety_limit_the_papers_instance_needs_384_pulls() -> None:
    world = worlds.hard(limit=-1e6)
    assert lower_bound(world, world.paper_problem()).pulls == pytest.approx(384, rel=0.002)
    arms = np.asarray(world.arms)
    bare = lower_bound_for(
        arms, values=world.values, safety=np.empty((0, 4)), eta0=np.empty(0), levels=np.ones(4), noise=1.0,
        safety_noise=np.empty(0), epsilon=2 * (1 - np.cos(0.1)), delta=0.001,
    )  # fmt: skip
    assert bare.pulls == pytest.approx(384, rel=0.002)


def test_with_all_pulls_held_at_the_known_level_the_papers_instance_needs_9589() -> None:
    world = worlds.hard()
    assert lower_bound(world, world.paper_problem(), pull_levels=0.2).pulls == pytest.approx(9589, rel=0.001)


# against an oracle and the definition ---------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_no_random_alternative_that_rejects_the_answer_is_nearer(seed: int) -> None:
    truth = random_truth(seed, signals=1 + seed % 2)
    bound = lower_bound_for(**truth)
    rng = np.random.default_rng(100 + seed)
    w, arm = bound.allocation, max(bound.answer, 0)
    n, m = 40_000, len(truth["eta0"])
    size = 10.0 ** rng.uniform(-2, 0.5, size=(n, 1))
    values = truth["values"] + (size * rng.normal(size=(n, 3))) @ truth["arms"].T
    safety = truth["safety"] + (size[:, None] * rng.normal(size=(n, m, 3))) @ truth["arms"].T
    against = rejects(truth, values, safety, arm, bound.level)
    assert against.sum() > 1000
    cost = information(truth, w, values - truth["values"], safety - truth["safety"])[against]
    assert cost.min() >= 1.0 / bound.t_star_attained * (1 - 1e-9)


def nearest_by_oracle(truth: dict[str, Any], w: np.ndarray, arm: int, level: float, steps: int) -> float:
    """The nearest alternative with rivals' levels on a fine grid, each a quadratic program."""
    x, eta0, d, m = truth["arms"], truth["eta0"], truth["arms"].shape[1], len(truth["eta0"])
    theta = np.linalg.lstsq(x, truth["values"], rcond=None)[0]
    mu = np.linalg.lstsq(x, truth["safety"].T, rcond=None)[0].T
    t, u = cp.Variable(d), cp.Variable((m, d))
    root = np.sqrt(w)[:, None] * truth["levels"][:, None] * x
    cost = cp.sum_squares(root @ (t - theta)) / (2 * truth["noise"] ** 2)
    cost += sum(cp.sum_squares(root @ (u[s] - mu[s])) / (2 * truth["safety_noise"][s] ** 2) for s in range(m))
    cases = [[level * x[arm] @ u[s] <= eta0[s]] for s in range(m)] + [[level * x[arm] @ t <= -truth["epsilon"]]]
    for j in range(len(x)):
        for g in np.linspace(truth["levels"][j], 1.0, steps if truth["levels"][j] < 1.0 else 1):
            beats = [(g * x[j] - level * x[arm]) @ t >= truth["epsilon"]]
            if j != arm or g > level:
                cases.append(beats + [g * x[j] @ u[s] >= eta0[s] for s in range(m)])
    return float(min(cp.Problem(cp.Minimize(cost), case).solve(solver=cp.CLARABEL) for case in cases))


@pytest.mark.parametrize("seed", range(3))
def test_the_nearest_alternative_agrees_with_a_quadratic_programming_oracle(seed: int) -> None:
    truth = random_truth(seed, arms=4, dim=2, signals=1 + seed % 2)
    setting = setting_of(truth)
    w = np.random.default_rng(seed).dirichlet(np.ones(4))
    arm, low, high = correct_answers(setting)[0]
    level = 0.4 * low + 0.6 * high
    ours = float((nearest(setting, spread(setting, w), Answer(arm, level, low, high)).rows(level) @ w).min())
    oracle = nearest_by_oracle(truth, w, arm, level, steps=21)
    assert ours <= oracle * (1 + 1e-6)
    assert ours == pytest.approx(oracle, rel=0.02)


def test_the_best_allocation_agrees_with_a_semidefinite_programming_oracle() -> None:
    """1 / |u|^2 in the norm of Lam^-1 is the largest s with s u u^T below Lam: the whole problem is semidefinite."""
    truth = random_truth(2, arms=5, dim=2)
    setting = setting_of(truth)
    arm, low, high = correct_answers(setting)[0]
    level = 0.5 * (low + high)
    x, eps, eta0 = truth["arms"], truth["epsilon"], truth["eta0"][0]
    w, rate = cp.Variable(5, nonneg=True), cp.Variable()
    lam = sum(w[k] * truth["levels"][k] ** 2 * np.outer(x[k], x[k]) for k in range(5))
    limits = [cp.sum(w) == 1]

    def sharpness(u: np.ndarray) -> cp.Variable:
        s = cp.Variable(nonneg=True)
        limits.append(lam - s * np.outer(u, u) >> 0)
        return s

    own = sharpness(level * x[arm])
    limits.append(rate <= own * max(level * truth["safety"][0, arm] - eta0, 0.0) ** 2 / (2 * 0.3**2))
    limits.append(rate <= own * (level * truth["values"][arm] + eps) ** 2 / 2)
    for j in range(5):
        for g in np.linspace(truth["levels"][j], 1.0, 15 if truth["levels"][j] < 1.0 else 1):
            u = g * x[j] - level * x[arm]
            if np.linalg.norm(u) > 1e-9:
                lift = max(eps - (g * truth["values"][j] - level * truth["values"][arm]), 0.0) ** 2 / 2
                raised = max(eta0 / g - truth["safety"][0, j], 0.0) ** 2 / (2 * 0.3**2)
                limits.append(rate <= lift * sharpness(u) + raised * sharpness(x[j]))
    oracle = cp.Problem(cp.Maximize(rate), limits).solve(solver=cp.CLARABEL)
    point = ArmSearch(setting, arm, low, high).solve(level, 0.0, 1e-6)
    assert point.rate <= point.bound <= point.rate * (1 + 2e-6)
    assert point.rate == pytest.approx(oracle, rel=0.01)
    assert point.rate <= oracle * (1 + 1e-5)  # the oracle knows fewer alternatives


@pytest.mark.parametrize("seed", [1, 5])
def test_the_bisection_finds_the_best_level_of_a_fine_scan(seed: int) -> None:
    truth = random_truth(seed)
    setting = setting_of(truth)
    bound = lower_bound_for(**truth)
    scanned = []
    for arm, low, high in correct_answers(setting):
        search = ArmSearch(setting, arm, low, high)
        scanned += [search.solve(level, 0.0, 1e-4).rate for level in np.linspace(low, high, 17)]
    assert max(scanned) <= 1.0 / bound.t_star * (1 + 1e-9)
    assert max(scanned) >= 1.0 / bound.t_star_attained * 0.95


@pytest.mark.parametrize("seed", range(5))
def test_between_two_levels_no_level_exceeds_the_interval_bound(seed: int) -> None:
    truth = random_truth(seed)
    setting = setting_of(truth)
    for arm, low, high in correct_answers(setting):
        search = ArmSearch(setting, arm, low, high)
        left, right = search.solve(0.7 * low + 0.3 * high, 0.0, 1e-3), search.solve(0.2 * low + 0.8 * high, 0.0, 1e-3)
        most = between(left, right)
        for level in np.linspace(left.level, right.level, 9):
            assert search.solve(float(level), 0.0, 1e-3).rate <= most * (1 + 1e-9)


# kinds of answers -----------------------------------------------------------------------------------------------------


def test_a_limited_best_arm_is_answered_below_its_limit() -> None:
    world = worlds.limited()
    bound = lower_bound(world, world.default_problem())
    assert bound.answer == 0
    assert 0.5 < bound.level < 0.6
    assert bound.gap <= 1e-4
    assert bound.unique


def test_the_nearer_epsilon_comes_to_zero_the_more_a_limited_best_arm_costs() -> None:
    world = worlds.limited()
    pulls = [lower_bound(world, world.default_problem().with_(epsilon=e)).pulls for e in (0.1, 0.01)]
    assert 50 < pulls[1] / pulls[0] < 200


def test_a_limited_best_arm_without_epsilon_and_a_tie_are_refused() -> None:
    world = worlds.limited()
    with pytest.raises(InvalidInput, match="larger epsilon"):
        lower_bound(world, world.default_problem().with_(epsilon=0.0))
    tie = worlds.Linear(np.eye(2), theta_star=[1.0, 1.0], mu_star=[0.1, 0.1])
    with pytest.raises(InvalidInput, match="larger epsilon"):
        lower_bound(tie, tie.problem(epsilon=0.0, delta=0.05, delta_safety=0.05, safe_level=0.5))


def test_without_epsilon_a_unique_unlimited_best_arm_has_a_bound() -> None:
    world = worlds.Linear(np.eye(2), theta_star=[1.0, 0.5], mu_star=[0.0, 0.0], limit=-1e6)
    bound = lower_bound(world, world.problem(epsilon=0.0, delta=0.05, delta_safety=0.05, safe_level=0.5, safety_norm=1))
    # two independent arms, gap 1/2: the classical 2 (sqrt 1 + sqrt 1)^2 / gap^2 shared evenly
    assert bound.t_star == pytest.approx(8 / 0.25, rel=1e-3)
    np.testing.assert_allclose(bound.allocation, [0.5, 0.5], atol=0.01)


def harmful() -> tuple[worlds.Linear, dict[str, Any]]:
    world = worlds.Linear(np.eye(2), theta_star=[-1.0, -0.5], mu_star=[0.0, 0.0], limit=-1e6)
    return world, {"epsilon": 0.1, "delta": 0.05, "delta_safety": 0.05, "safe_level": 0.5, "safety_norm": 1}


def test_doing_nothing_is_the_answer_when_every_arm_does_harm() -> None:
    world, asked = harmful()
    bound = lower_bound(world, world.problem(**asked, level_grid=[0.5, 1.0]))
    assert (bound.answer, bound.level, bound.answers) == (-1, 0.0, (-1,))
    # to reject, arm k must be worth epsilon: the information needed is 2 / (value + epsilon)^2 for each arm
    assert bound.t_star == pytest.approx(2 / 1.1**2 + 2 / 0.6**2, rel=1e-3)


def test_a_trace_of_a_harmful_arm_within_epsilon_is_an_answer_too() -> None:
    world, asked = harmful()
    bound = lower_bound(world, world.problem(**asked))
    assert bound.answers == (-1, 0, 1)
    nothing = 2 / 1.1**2 + 2 / 0.6**2
    assert 0.9 * nothing < bound.t_star <= nothing * (1 + 1e-4)


def test_doing_nothing_is_correct_beside_a_good_arm_when_epsilon_is_large() -> None:
    world = worlds.Linear(np.eye(2), theta_star=[0.5, 0.1], mu_star=[-1.0, 0.0])
    problem = world.problem(epsilon=0.6, delta=0.05, delta_safety=0.05, safe_level=0.2)
    bound = lower_bound(world, problem)
    assert set(bound.answers) >= {-1, 0}
    assert bound.t_star <= 1 / min(0.35**2 / 2, 1.0)


def test_more_correct_answers_never_cost_more() -> None:
    truth = random_truth(3)
    t_star = [lower_bound_for(**{**truth, "epsilon": e}).t_star for e in (0.05, 0.15, 0.4, 1.0, 3.0)]
    assert all(later <= earlier * (1 + 1e-3) for earlier, later in pairwise(t_star))


def test_a_second_signal_only_adds_to_the_cost_of_the_same_levels() -> None:
    truth = random_truth(1)
    both = {**truth, "safety": np.vstack([truth["safety"], -0.3 * np.ones(6)]), "eta0": np.array([-0.4, -0.4]),
            "safety_noise": np.array([0.3, 0.3])}  # fmt: skip
    assert lower_bound_for(**both).gap <= 1e-4
    silent = {**both, "safety": np.vstack([truth["safety"], np.zeros(6)]), "eta0": np.array([-0.4, -1e9])}
    assert lower_bound_for(**silent).t_star == pytest.approx(lower_bound_for(**truth).t_star, rel=3e-4)


def test_a_level_grid_confines_answers_rivals_and_pulls() -> None:
    world = worlds.limited()  # the best arm is safe up to 0.6
    problem = world.default_problem().with_(level_grid=[0.1, 0.25, 0.5, 0.55, 1.0])
    bound = lower_bound(world, problem)
    assert bound.level in problem.level_grid
    assert bound.level <= 0.55
    np.testing.assert_array_equal(bound.pull_levels, world.best_levels(problem))
    free = lower_bound(world, world.default_problem())
    assert bound.pulls != pytest.approx(free.pulls, rel=0.01)


def test_a_fine_level_grid_comes_near_no_grid() -> None:
    world = worlds.limited()
    fine = world.default_problem().with_(level_grid=np.linspace(0.005, 1.0, 200).tolist())
    assert lower_bound(world, fine).pulls == pytest.approx(lower_bound(world, world.default_problem()).pulls, rel=0.03)


def test_a_highest_level_caps_pulls_and_rivals() -> None:
    world = worlds.limited()
    capped = world.default_problem().with_(max_level=0.5)
    bound = lower_bound(world, capped)
    assert bound.level <= 0.5
    assert bound.pull_levels.max() <= 0.5
    # every arm is truly safe up to the cap, so the best arm's level need no longer be learned sharply
    assert (
        lower_bound(world, capped.with_(epsilon=0.001)).pulls
        < lower_bound(world, world.default_problem().with_(epsilon=0.001)).pulls
    )


def test_zero_arms_and_duplicate_arms_are_handled() -> None:
    arms = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 0.0]])
    world = worlds.Linear(arms, theta_star=[1.0, 0.4], mu_star=[-0.3, -0.8])
    problem = world.problem(epsilon=0.1, delta=0.05, delta_safety=0.05, safe_level=0.3)
    bound = lower_bound(world, problem)
    assert bound.answers == (0, 2)
    assert bound.gap <= 1e-4
    alone = worlds.Linear(arms[:2], theta_star=[1.0, 0.4], mu_star=[-0.3, -0.8])
    assert bound.t_star == pytest.approx(lower_bound(alone, alone.problem(
        epsilon=0.1, delta=0.05, delta_safety=0.05, safe_level=0.3)).t_star, rel=3e-4)  # fmt: skip


def test_one_arm_needs_only_its_level() -> None:
    world = worlds.Linear([[1.0]], theta_star=[1.0], mu_star=[-1.0])
    bound = lower_bound(world, world.problem(epsilon=0.1, delta=0.05, delta_safety=0.05, safe_level=0.2))
    assert bound.answer == 0
    assert 0.4 < bound.level < 0.5
    np.testing.assert_array_equal(bound.allocation, [1.0])


def test_arms_that_do_not_span_are_measured_in_their_span() -> None:
    flat = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
    plain = worlds.Linear(flat, theta_star=[1.0, 0.5], mu_star=[-0.8, 0.1])
    basis = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 2)))[0]
    lifted = worlds.Linear(flat @ basis.T, theta_star=basis @ [1.0, 0.5], mu_star=basis @ [-0.8, 0.1])
    asked = {"epsilon": 0.1, "delta": 0.05, "delta_safety": 0.05, "safe_level": 0.2}
    with pytest.warns(NotSpanningWarning):
        problem = lifted.problem(**asked)
    expected = lower_bound(plain, plain.problem(**asked)).pulls
    assert lower_bound(lifted, problem).pulls == pytest.approx(expected, rel=3e-4)


def test_a_confidence_of_a_half_or_less_needs_no_pulls() -> None:
    world = worlds.hard()
    assert lower_bound(world, world.paper_problem(delta=0.5)).pulls == 0.0


# scale and misuse -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 2])
def test_fifty_arms_in_ten_dimensions_take_seconds(seed: int) -> None:
    truth = random_truth(seed, arms=50, dim=10)
    start = perf_counter()
    bound = lower_bound_for(**truth)
    assert bound.gap <= 1e-4
    assert perf_counter() - start < 30.0


def test_units_of_reward_and_safety_do_not_matter() -> None:
    truth = random_truth(1)
    scaled = {**truth, "values": truth["values"] * 1e4, "noise": 1e4, "epsilon": truth["epsilon"] * 1e4,
              "safety": truth["safety"] * 1e-3, "eta0": truth["eta0"] * 1e-3,
              "safety_noise": truth["safety_noise"] * 1e-3}  # fmt: skip
    assert lower_bound_for(**scaled).t_star == pytest.approx(lower_bound_for(**truth).t_star, rel=3e-4)


def test_misuse_is_refused_by_name() -> None:
    world, problem = worlds.hard(), worlds.hard().paper_problem()
    with pytest.raises(InvalidInput, match="arms"):
        lower_bound(worlds.limited(), problem)
    with pytest.raises(InvalidInput, match="not safe for arm 'a2'"):
        lower_bound(world, problem.with_(safe_level=0.7))
    for levels in (0.0, 1.5, [0.2, 0.2], "high"):
        with pytest.raises(InvalidInput, match="pull_levels"):
            lower_bound(world, problem, pull_levels=levels)
    with pytest.raises(InvalidInput, match="tolerance"):
        lower_bound(world, problem, tolerance=0.0)
    with pytest.raises(InvalidInput, match="span"):
        lower_bound_for(**{**random_truth(0), "arms": np.ones((6, 3))})
