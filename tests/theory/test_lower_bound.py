"""(T9): the paper's figures, what methods are told, and every kind of answer."""

from dataclasses import replace
from itertools import pairwise
from time import perf_counter
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from small_truths import random_truth, told_truth
from surefoot import Problem, worlds
from surefoot.errors import InvalidInput, NotSpanningWarning
from surefoot.theory import (
    LowerBound,
    evidence_needed,
    lower_bound,
    lower_bound_for,
    report,
    uncut_evidence,
    uncut_reference,
)

# the paper's instance -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def uncut() -> LowerBound:
    world = worlds.hard()
    return uncut_reference(world, world.paper_problem(), tolerance=1e-4)


def test_uncut_the_papers_instance_counts_1450_pulls(uncut: LowerBound) -> None:
    assert uncut.pulls == pytest.approx(1450, rel=0.001)
    assert uncut.t_star == pytest.approx(210.3, rel=0.0005)
    assert (uncut.answer, uncut.level) == (0, 1.0)
    np.testing.assert_allclose(uncut.allocation, [0.025, 0.973, 0.003, 0.0], atol=0.001)


def test_uncut_and_without_the_safety_limit_the_papers_instance_counts_384_pulls() -> None:
    world = worlds.hard(limit=-1e6)
    assert uncut_reference(world, world.paper_problem()).pulls == pytest.approx(384, rel=0.002)
    arms = np.asarray(world.arms)
    bare = lower_bound_for(
        arms, values=world.values, safety=np.empty((0, 4)), eta0=np.empty(0), levels=np.ones(4), noise=1.0,
        safety_noise=np.empty(0), epsilon=2 * (1 - np.cos(0.1)), evidence=uncut_evidence(0.001),
    )  # fmt: skip
    assert bare.pulls == pytest.approx(384, rel=0.002)


def test_uncut_and_with_all_pulls_at_the_known_level_the_papers_instance_counts_9589() -> None:
    world = worlds.hard()
    assert uncut_reference(world, world.paper_problem(), pull_levels=0.2).pulls == pytest.approx(9589, rel=0.001)


def test_cut_the_papers_instance_needs_1447_pulls_and_1443_with_norms(uncut: LowerBound) -> None:
    world = worlds.hard()
    free, told = (lower_bound(world, world.paper_problem(), norms=norms) for norms in (False, True))
    assert free.pulls == pytest.approx(1447, abs=1.0)
    assert told.pulls == pytest.approx(1443.6, abs=1.5)
    assert uncut.pulls > free.pulls > told.pulls
    # the nearest alternatives lie where the known levels are safe: the rate is the uncut one, the evidence is not
    assert free.t_star == pytest.approx(uncut.t_star, rel=0.001)
    assert free.evidence.worse < uncut.evidence.worse


def test_the_gap_of_the_optimisation_is_returned_and_small(uncut: LowerBound) -> None:
    assert 0.0 <= uncut.gap <= 1e-4
    assert uncut.t_star_attained == pytest.approx(uncut.t_star * (1 + uncut.gap))


def test_both_acceptable_arms_of_the_papers_instance_are_answers(uncut: LowerBound) -> None:
    assert uncut.answers == (0, 3)
    assert not uncut.unique
    assert not uncut.strict


def test_a_strict_bound_of_the_papers_instance_must_reject_both_answers() -> None:
    world = worlds.hard()
    strict = lower_bound(world, world.paper_problem(), strict=True)
    assert strict.strict
    assert (strict.answer, strict.level) == (None, None)
    assert 10 < strict.pulls < 30


# what methods are told ------------------------------------------------------------------------------------------------


def near_its_limit(**changes: Any) -> tuple[worlds.Linear, Problem]:
    """A quiet reward and a best arm just above its limit at full level."""
    world = worlds.Linear(np.eye(2), theta_star=[1.0, 0.0], mu_star=[-0.49, 0.0], noise=0.1, safety_noise=0.5)
    asked = {"epsilon": 0.02, "delta": 0.001, "delta_safety": 0.3, "safe_level": 0.5, **changes}
    return world, world.problem(**asked)


def mean_pulls(world: worlds.Linear, problem: Problem, runs: int = 60) -> tuple[float, float]:
    """SafeGap's mean, and the mean four standard errors higher."""
    pulls = sf.simulate(world, problem, sf.SafeGap(), runs=runs, seed=1, max_pulls=100_000, progress=False).pulls
    mean = float(pulls.mean())
    return mean, mean + 4.0 * float(pulls.std(ddof=1)) / runs**0.5


def test_where_full_levels_are_known_to_be_safe_no_evidence_of_safety_is_needed() -> None:
    world, problem = near_its_limit(safe_level=1.0, delta_safety=0.001)
    mean, at_most = mean_pulls(world, problem)
    assert uncut_reference(world, problem).pulls > 100 * at_most  # what was printed before
    assert lower_bound(world, problem).pulls < mean


def test_a_large_chance_of_crossing_the_limit_makes_safety_cheap() -> None:
    world, problem = near_its_limit()
    mean, at_most = mean_pulls(world, problem)
    assert uncut_reference(world, problem).pulls > 1.2 * at_most  # what was printed before
    assert lower_bound(world, problem).pulls < mean


def test_an_answer_at_the_known_level_is_never_unsafe() -> None:
    world = worlds.Linear([[1.0]], theta_star=[1.0], mu_star=[-1.0], noise=0.01)  # safe up to 0.5
    asked = {"epsilon": 0.1, "delta": 0.05, "delta_safety": 0.001}
    pulls = [lower_bound(world, world.problem(**asked, safe_level=level)).pulls for level in (0.2, 0.44, 0.499)]
    assert pulls[0] == pytest.approx(pulls[1], rel=0.1)  # better answers than 0.44 must be shown to be safe
    assert pulls[2] < 0.3 * pulls[1]  # 0.499 need not


def test_the_evidence_is_that_of_two_coins() -> None:
    found = evidence_needed(0.05, 0.3)
    assert found.worse == pytest.approx(0.65 * np.log(0.65 / 0.05) + 0.35 * np.log(0.35 / 0.95))
    assert found.unsafe == pytest.approx(0.65 * np.log(0.65 / 0.3) + 0.35 * np.log(0.35 / 0.7))
    assert evidence_needed(0.3, 0.5).unsafe == 0.0
    assert evidence_needed(0.6, 0.6) == (0.0, 0.0)
    assert uncut_evidence(0.001).worse == pytest.approx(6.893, abs=0.001)


def test_where_crossing_the_limit_is_likely_anyway_only_worse_answers_are_rejected() -> None:
    world, problem = near_its_limit(delta_safety=0.6)
    assert lower_bound(world, problem).evidence.unsafe == 0.0
    without = worlds.Linear(world.arms, theta_star=[1.0, 0.0], mu_star=[-0.49, 0.0], noise=0.1, limit=-1e6)
    asked = without.problem(epsilon=0.02, delta=0.001, delta_safety=0.6, safe_level=0.5, safety_norm=1.0)
    assert lower_bound(world, problem).pulls == pytest.approx(lower_bound(without, asked).pulls, rel=2e-3)


@pytest.mark.parametrize("seed", range(4))
def test_whoever_is_told_more_needs_less(seed: int) -> None:
    truth = told_truth(seed, arms=4, dim=2)
    free = {**truth, "norm": None, "safety_norm": None}
    uncut = {**free, "safe_level": None}
    pulls = [lower_bound_for(**case).pulls for case in (truth, free, uncut)]
    strict = [lower_bound_for(**case, strict=True).pulls for case in (truth, free, uncut)]
    assert all(less <= more * 1.002 for less, more in pairwise(pulls))
    assert all(less <= more * 1.002 for less, more in pairwise(strict))
    assert all(less <= more * 1.002 for less, more in zip(strict, pulls, strict=True))


def test_wide_norms_and_low_known_levels_tell_nothing() -> None:
    truth = random_truth(4)
    wide = {**truth, "norm": 1e6, "safety_norm": [1e6], "safe_level": np.full(6, 1e-7)}
    assert lower_bound_for(**wide).pulls == pytest.approx(lower_bound_for(**truth).pulls, rel=2e-3)


def test_on_a_grid_a_single_correct_answer_makes_the_bound_strict() -> None:
    world = worlds.limited()
    problem = world.default_problem().with_(level_grid=[0.1, 0.25, 0.55, 1.0])
    rate, strict = lower_bound(world, problem), lower_bound(world, problem, strict=True)
    assert rate.strict
    assert strict.pulls == rate.pulls


def test_a_norm_that_is_not_stated_or_untrue_is_refused_by_name() -> None:
    world = worlds.hard()
    short = world.paper_problem(reward_norm=1.0)
    assert lower_bound(world, short).pulls > 1000
    with pytest.raises(InvalidInput, match=r"reward\.norm = 1\.0"):
        lower_bound(world, short, norms=True)
    with pytest.raises(InvalidInput, match="norm"):
        lower_bound(world, world.paper_problem(safety_norm=0.5), norms=True)


def without_norms(problem: Problem) -> Problem:
    return problem.with_(
        reward=replace(problem.reward, norm=None), safety=[replace(limit, norm=None) for limit in problem.safety]
    )


def test_without_stated_norms_only_the_bounds_with_norms_are_missing() -> None:
    world = worlds.hard()
    problem = without_norms(world.paper_problem())
    assert lower_bound(world, problem).pulls == lower_bound(world, world.paper_problem()).pulls
    with pytest.raises(InvalidInput, match=r"reward\.norm is not given"):
        lower_bound(world, problem, norms=True)
    found = report(problem, world)
    assert found.lower_bound is not None
    assert found.strict_bound is not None
    assert found.lower_bound_with_norms is None
    assert any("not every norm, or largest effect, is stated" in note for note in found.notes)


def test_noise_beyond_what_is_stated_is_refused_by_name() -> None:
    world = worlds.hard()
    loud = worlds.Linear.for_problem(
        world.paper_problem(), theta_star=world.theta_star, mu_star=world.mu_star, noise=2.0
    )
    with pytest.raises(InvalidInput, match=r"reward\.noise"):
        lower_bound(loud, world.paper_problem())


# kinds of answers -----------------------------------------------------------------------------------------------------


def test_a_limited_best_arm_is_answered_below_its_limit() -> None:
    world = worlds.limited()
    bound = lower_bound(world, world.default_problem())
    assert bound.answer == 0
    assert 0.5 < bound.level < 0.6
    assert bound.gap <= 1e-3
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


@pytest.mark.parametrize("norms", [False, True])
@pytest.mark.parametrize("strict", [False, True])
def test_without_epsilon_the_gap_is_as_small_as_asked(norms: bool, strict: bool) -> None:
    arms = np.array([[2.0, -3.6, 3.2], [-4.7, -2.1, -1.8], [-6.4, 2.6, -4.7]])
    world = worlds.Linear(arms, theta_star=[60.0, 30.0, 40.0], mu_star=[0.5, -0.4, 0.6], noise=0.1, limit=-5.0)
    problem = world.problem(epsilon=0.0, delta=0.05, delta_safety=0.3, safe_level=0.1, max_level=0.35)
    bound = lower_bound(world, problem, norms=norms, strict=strict, tolerance=0.01)
    assert bound.pulls > 0.0
    assert bound.gap <= 0.01


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
    assert lower_bound_for(**both).gap <= 1e-3
    silent = {**both, "safety": np.vstack([truth["safety"], np.zeros(6)]), "eta0": np.array([-0.4, -1e9])}
    assert lower_bound_for(**silent).t_star == pytest.approx(lower_bound_for(**truth).t_star, rel=2e-3)


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
    assert bound.gap <= 1e-3
    alone = worlds.Linear(arms[:2], theta_star=[1.0, 0.4], mu_star=[-0.3, -0.8])
    assert bound.t_star == pytest.approx(lower_bound(alone, alone.problem(
        epsilon=0.1, delta=0.05, delta_safety=0.05, safe_level=0.3)).t_star, rel=2e-3)  # fmt: skip


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
    assert lower_bound(lifted, problem).pulls == pytest.approx(expected, rel=2e-3)


def test_a_confidence_of_a_half_or_less_needs_no_pulls() -> None:
    world = worlds.hard()
    assert lower_bound(world, world.paper_problem(delta=0.5, delta_safety=0.5)).pulls == 0.0
    assert uncut_reference(world, world.paper_problem(delta=0.5)).pulls == 0.0


# scale and misuse -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 2])
def test_fifty_arms_in_ten_dimensions_take_seconds(seed: int) -> None:
    truth = random_truth(seed, arms=50, dim=10)
    start = perf_counter()
    bound = lower_bound_for(**truth)
    assert bound.gap <= 1e-3
    assert perf_counter() - start < 30.0


def test_units_of_reward_and_safety_do_not_matter() -> None:
    truth = random_truth(1)
    scaled = {**truth, "values": truth["values"] * 1e4, "noise": 1e4, "epsilon": truth["epsilon"] * 1e4,
              "safety": truth["safety"] * 1e-3, "eta0": truth["eta0"] * 1e-3,
              "safety_noise": truth["safety_noise"] * 1e-3}  # fmt: skip
    assert lower_bound_for(**scaled).t_star == pytest.approx(lower_bound_for(**truth).t_star, rel=2e-3)


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
