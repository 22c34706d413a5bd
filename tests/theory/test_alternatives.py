"""The nearest alternatives of (T9) against convex programs and against the definition, with and without cuts."""

from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from small_truths import information, lawful, random_truth, setting_of, told_truth, verdict, weights_of
from surefoot.theory import evidence_needed, lower_bound_for
from surefoot.theory.alternatives import Span, metric_of
from surefoot.theory.answers import correct_answers
from surefoot.theory.cutting_planes import Allocator
from surefoot.theory.nearest_point import nearest_point
from surefoot.theory.rivals import nearest

CASES = [
    pytest.param(make, seed, id=f"{name}-{seed}")
    for name, make in (("nothing-told", random_truth), ("all-told", told_truth))
    for seed in range(6)
]

# the nearest point ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("radius", [np.inf, 1.5, 0.6])
def test_the_nearest_point_agrees_with_a_convex_program(seed: int, radius: float) -> None:
    rng = np.random.default_rng(seed)
    centre, weight, rows = rng.normal(size=3), 10.0 ** rng.uniform(-3, 1, 3), rng.normal(size=(8, 3))
    needed = rng.normal(size=8) * 0.4 - 0.3
    p = cp.Variable(3)
    limits = [rows @ p >= needed] + ([cp.norm(p) <= radius] if np.isfinite(radius) else [])
    oracle = cp.Problem(cp.Minimize(cp.sum_squares(cp.multiply(np.sqrt(weight), p - centre)) / 2), limits)
    oracle.solve(solver=cp.CLARABEL)
    found = nearest_point(centre, weight, rows, needed, radius)
    if oracle.status == "infeasible":
        assert found is None
        return
    assert found is not None
    assert found.value == pytest.approx(oracle.value, rel=1e-5, abs=1e-8)
    assert found.value * (1 - 1e-6) - 1e-12 <= found.proved <= found.value
    assert (rows @ found.point >= needed - 1e-9).all()
    assert np.linalg.norm(found.point) <= radius * (1 + 1e-9)


# one answer -----------------------------------------------------------------------------------------------------------


def nearest_by_oracle(truth: dict[str, Any], w: np.ndarray, spans: list[Span], steps: int) -> float:
    """The nearest alternative with rivals' levels on a fine grid, each a convex program."""
    x, eta0, m = truth["arms"], truth["eta0"], len(truth["eta0"])
    (theta, mu), known = weights_of(truth), truth.get("safe_level")
    t, u = cp.Variable(x.shape[1]), cp.Variable((m, x.shape[1]))
    root = np.sqrt(w)[:, None] * truth["levels"][:, None] * x
    cost = cp.sum_squares(root @ (t - theta)) / (2 * truth["noise"] ** 2)
    cost += sum(cp.sum_squares(root @ (u[s] - mu[s])) / (2 * truth["safety_noise"][s] ** 2) for s in range(m))
    told = []
    if known is not None:
        told += [cp.multiply(known, x @ u[s]) >= eta0[s] for s in range(m)]
    if truth.get("norm") is not None:
        told += [cp.norm(t) <= truth["norm"]] + [cp.norm(u[s]) <= truth["safety_norm"][s] for s in range(m)]
    answers = [(arm, level) for arm, low, high in spans for level in (low, high)]
    worse = [[-level * x[arm] @ t >= truth["epsilon"] for arm, level in answers]]
    for j in range(len(x)):
        for g in np.linspace(truth["levels"][j], 1.0, steps if truth["levels"][j] < 1.0 else 1):
            beats = [(g * x[j] - level * x[arm]) @ t >= truth["epsilon"] for arm, level in answers]
            if all(arm != j or g > level for arm, level in answers):
                worse.append(beats + [g * x[j] @ u[s] >= eta0[s] for s in range(m)])
    unsafe = []
    if known is None or all(span.low > known[span.arm] for span in spans):
        unsafe = [[span.low * x[span.arm] @ u[s] <= eta0[s] for span in spans] for s in range(m)]
    costs = [np.inf]
    for cases, needed in ((worse, truth["evidence"].worse), (unsafe, truth["evidence"].unsafe)):
        for case in cases:
            program = cp.Problem(cp.Minimize(cost), case + told)
            program.solve(solver=cp.CLARABEL)
            if program.status in ("optimal", "optimal_inaccurate"):
                costs.append(float(program.value) / needed)
    return min(costs)


@pytest.mark.parametrize(("make", "seed"), CASES[:3] + CASES[6:9])
@pytest.mark.parametrize("which", ["point", "interval", "every answer"])
def test_the_nearest_alternative_agrees_with_a_convex_program(make: Any, seed: int, which: str) -> None:
    truth = {**make(seed, arms=4, dim=2), "evidence": evidence_needed(0.05, 0.2)}
    setting = setting_of(truth)
    w = np.random.default_rng(seed).dirichlet(np.ones(4))
    spans = correct_answers(setting)
    if which != "every answer":
        arm, low, high = spans[0]
        level = 0.4 * low + 0.6 * high
        spans = [Span(arm, level, level if which == "point" else 0.3 * low + 0.7 * high)]
    found = nearest(setting, metric_of(setting, w), spans, 1e-6)
    oracle = nearest_by_oracle(truth, w, spans, steps=21)
    assert found.cost * (1 - 2e-6) <= found.proved <= found.cost
    assert found.cost <= oracle * (1 + 1e-5)
    assert found.cost == pytest.approx(oracle, rel=0.02)


def test_the_best_allocation_agrees_with_a_semidefinite_program() -> None:
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
    oracle = cp.Problem(cp.Maximize(rate), limits).solve(solver=cp.CLARABEL) / truth["evidence"].worse
    point = Allocator(setting).solve([Span(arm, level, level)], 0.0, 1e-6)
    assert point.rate <= point.bound <= point.rate * (1 + 2e-6)
    assert point.rate == pytest.approx(oracle, rel=0.01)
    assert point.rate <= oracle * (1 + 1e-5)  # the oracle knows fewer alternatives


# against the definition -----------------------------------------------------------------------------------------------


def drawn(truth: dict[str, Any], seed: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Random truths, near and far, that obey what is told."""
    rng = np.random.default_rng(seed)
    theta, mu = weights_of(truth)
    size = 10.0 ** rng.uniform(-2, 0.5, size=(count, 1))
    thetas = theta + size * rng.normal(size=(count, len(theta)))
    mus = mu + size[:, None] * rng.normal(size=(count, *mu.shape))
    keeps = lawful(truth, thetas, mus)
    return thetas[keeps], mus[keeps]


@pytest.mark.parametrize(("make", "seed"), CASES)
def test_no_random_alternative_that_rejects_the_answer_is_nearer(make: Any, seed: int) -> None:
    truth = {**make(seed), "evidence": evidence_needed(0.05, 0.2)}
    bound = lower_bound_for(**truth)
    assert bound.answer is not None
    assert bound.level is not None
    arm, evidence = max(bound.answer, 0), truth["evidence"]
    thetas, mus = drawn(truth, 100 + seed, 40_000)
    worse, unsafe = verdict(truth, thetas, mus, arm, bound.level)
    assert worse.sum() > 20
    cost = information(truth, bound.allocation, thetas, mus)
    rate = 1.0 / (bound.t_star_attained * evidence.worse)
    assert (cost[worse] / evidence.worse).min() >= rate * (1 - 1e-9)
    assert (cost[unsafe] / evidence.unsafe).min(initial=np.inf) >= rate * (1 - 1e-9)


@pytest.mark.parametrize(("make", "seed"), CASES)
def test_what_proves_the_bound_obeys_what_is_told_and_rejects_the_answers(make: Any, seed: int) -> None:
    truth = {**make(seed), "evidence": evidence_needed(0.05, 0.2)}
    setting = setting_of(truth)
    spans = correct_answers(setting)
    for answers in ([spans[0]], spans):
        allocator = Allocator(setting)
        point = allocator.solve(answers, 0.0, 1e-3)
        if np.isinf(point.rate):
            continue
        rows = np.array([other.row for other in allocator.met])
        # the best allocation against them, found by another solver, is no better than the bound says
        w, rate = cp.Variable(rows.shape[1], nonneg=True), cp.Variable()
        best = cp.Problem(cp.Maximize(rate), [cp.sum(w) == 1, rows @ w >= rate]).solve(solver=cp.CLARABEL)
        assert best <= point.bound * (1 + 1e-6)
        for other in allocator.met:
            thetas = np.linalg.lstsq(truth["arms"], other.values, rcond=None)[0][None]
            mus = np.linalg.lstsq(truth["arms"], other.safety.T, rcond=None)[0].T[None]
            # a hair inside what is told: constraints that bind are met up to rounding
            loose = dict(truth)
            if truth.get("safe_level") is not None:
                loose |= {"safe_level": truth["safe_level"] * (1 - 1e-8), "norm": truth["norm"] * (1 + 1e-8),
                          "safety_norm": [d * (1 + 1e-8) for d in truth["safety_norm"]]}  # fmt: skip
            assert lawful(loose, thetas, mus).all()
            hair = {**truth, "epsilon": truth["epsilon"] * (1 - 1e-6), "eta0": truth["eta0"] * (1 - 1e-8)}
            eased = {**truth, "epsilon": truth["epsilon"] * (1 - 1e-6), "eta0": truth["eta0"] * (1 + 1e-8)}
            for arm, low, high in answers:
                for level in (low, high):
                    worse, unsafe = verdict(eased if other.worth > -np.inf else hair, thetas, mus, arm, level)
                    assert (worse if other.worth > -np.inf else unsafe).all()
            cost = information(truth, np.eye(len(truth["arms"]))[0], thetas, mus)[0]
            needed = truth["evidence"].worse if other.worth > -np.inf else truth["evidence"].unsafe
            assert other.row[0] == pytest.approx(cost / needed, rel=1e-6, abs=1e-12)


# levels of the answer -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("make", "seed"), [CASES[1], CASES[5], CASES[7], CASES[9]])
def test_the_search_finds_the_best_level_of_a_fine_scan(make: Any, seed: int) -> None:
    truth = make(seed)
    setting = setting_of(truth)
    bound = lower_bound_for(**truth)
    assert bound.answer is not None
    allocator, unit = Allocator(setting), truth["evidence"].worse
    _, low, high = max(span for span in correct_answers(setting) if span.arm == bound.answer)
    levels = np.linspace(low, high, 14)[1:-1]
    worth = 0.5 / (unit * bound.t_star_attained)  # what is far from best need not be known well
    scanned = [allocator.solve([Span(bound.answer, g, g)], worth, 1e-3).rate for g in levels]
    assert max(scanned) <= 1.0 / (unit * bound.t_star) * (1 + 1e-9)
    assert max(scanned) >= 1.0 / (unit * bound.t_star_attained) * 0.9


@pytest.mark.parametrize(("make", "seed"), CASES[:3] + CASES[6:9])
def test_no_level_of_an_interval_exceeds_the_interval_bound(make: Any, seed: int) -> None:
    truth = make(seed)
    setting = setting_of(truth)
    for arm, low, high in correct_answers(setting)[:2]:
        allocator = Allocator(setting)
        left, right = 0.7 * low + 0.3 * high, 0.2 * low + 0.8 * high
        most = allocator.solve([Span(arm, left, right)], 0.0, 1e-3).bound
        for level in np.linspace(left, right, 3):
            assert allocator.solve([Span(arm, level, level)], 0.0, 1e-3).rate <= most * (1 + 1e-9)
