"""Units and mixing of the features do not matter: the same pulls, whatever invertible map is applied to the table."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import NotSpanningWarning
from surefoot.worlds import Linear

POLICIES: dict[str, Any] = {
    "safe-gap": sf.SafeGap(),
    "safe-lingape": sf.SafeLinGapE(selection="optimistic", reward_radius="squared-sum", safety_radius="squared-sum"),
    "the paper's radii": sf.SafeLinGapE(),
    "explored first": sf.SafeLinGapE(explore=sf.EOptimal(60), reward_radius="bias-free", safety_radius="own-pulls"),
    "lingape": sf.LinGapE(),
    "uniform": sf.Uniform(reward_radius="squared-sum", safety_radius="squared-sum"),
}
SHAPES = [(2, 5, 1), (3, 3, 1), (3, 8, 2), (5, 12, 1)]  # dimensions, arms, limits


def drawn(seed: int, d: int, K: int, m: int) -> tuple[Linear, sf.Problem]:
    """A world with generic arms, and its problem with the true largest effects."""
    rng = np.random.default_rng([seed, d, K, m])
    world = Linear(
        rng.standard_normal((K, d)), theta_star=rng.standard_normal(d), mu_star=rng.standard_normal((m, d)),
        noise=0.4, safety_noise=[0.3] * m, limit=[-0.8] * m,
    )  # fmt: skip
    level = 0.5 * float(world.best_levels().min())
    problem = world.problem(
        epsilon=0.3 * float(np.abs(world.values).max()), delta=0.1, delta_safety=0.1, safe_level=level,
        reward_largest=world.reward_largest, safety_largest=world.safety_largest,
    )  # fmt: skip
    return world, problem


def mapped(world: Linear, problem: sf.Problem, A: Any) -> tuple[Linear, sf.Problem]:
    """The same world and problem with the features x A in place of x; the weights go along."""
    back = np.linalg.inv(A)
    other = Linear(
        world.arms @ A, theta_star=back @ world.theta_star, mu_star=world.mu_star @ back.T, noise=world.noise,
        safety_noise=world.safety_noise, limit=world.limit,
    )  # fmt: skip
    return other, problem.with_(arms=dict(zip(problem.names, other.arms, strict=True)))


def any_map(seed: int, d: int) -> Any:
    """An invertible map of condition 1,000, and of any size."""
    rng = np.random.default_rng([7, seed, d])
    left, right = (np.linalg.qr(rng.standard_normal((d, d)))[0] for _ in range(2))
    return float(10.0 ** rng.uniform(-3, 3)) * left @ np.diag(np.geomspace(1.0, 1e3, d)) @ right


def other_units(seed: int, d: int) -> Any:
    """The unit of one feature, a million times smaller."""
    sizes = np.ones(d)
    sizes[seed % d] = 1e6
    return np.diag(sizes)


def trace(world: Linear, problem: sf.Problem, policy: Any, pulls: int = 150) -> list[tuple[int, float]]:
    """Arm and level of each pull of a live session, and of its answer."""
    session, found = sf.Session(problem, policy, seed=3), []
    while len(found) < pulls and session.outcome is None:
        pull = session.ask()
        found.append((pull.arm, pull.level))
        session.tell(pull, **world.measure(pull, seed=3, problem=problem))
    return found


def assert_same_runs(one: Any, other: Any) -> None:
    assert one.pulls.tolist() == other.pulls.tolist()
    assert one.arm.tolist() == other.arm.tolist()
    np.testing.assert_array_equal(one.pulls_per_arm, other.pulls_per_arm)
    np.testing.assert_allclose(one.level, other.level, rtol=1e-6)


@pytest.mark.parametrize("change", [any_map, other_units])
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_features_in_other_units_and_mixtures_give_the_same_runs(shape: Any, policy: str, change: Any) -> None:
    for seed in range(3):
        world, problem = drawn(seed, *shape)
        one = sf.simulate(world, problem, POLICIES[policy], runs=8, seed=seed, max_pulls=3_000)
        moved, posed = mapped(world, problem, change(seed, shape[0]))
        assert_same_runs(one, sf.simulate(moved, posed, POLICIES[policy], runs=8, seed=seed, max_pulls=3_000))


@pytest.mark.parametrize("policy", POLICIES)
def test_features_in_other_units_and_mixtures_give_the_same_pulls_of_a_session(policy: str) -> None:
    world, problem = drawn(11, 3, 7, 2)
    one = trace(world, problem, POLICIES[policy])
    for change in (any_map, other_units):
        moved, posed = mapped(world, problem, change(1, 3))
        other = trace(moved, posed, POLICIES[policy])
        assert [arm for arm, _ in one] == [arm for arm, _ in other]
        np.testing.assert_allclose([level for _, level in one], [level for _, level in other], rtol=1e-6)


def test_without_a_hint_safe_gap_is_free_of_units_too() -> None:
    world, problem = drawn(5, 3, 8, 1)
    problem = problem.with_(
        reward=replace(problem.reward, largest=None), safety=[replace(x, largest=None) for x in problem.safety]
    )
    one = sf.simulate(world, problem, runs=10, seed=1)
    moved, posed = mapped(world, problem, any_map(2, 3))
    assert_same_runs(one, sf.simulate(moved, posed, runs=10, seed=1))


@pytest.mark.parametrize("policy", ["safe-gap", "the paper's radii", "safe-lingape"])
def test_a_table_in_rpm_and_kilograms_works_as_it_comes(policy: str, tmp_path: Any) -> None:
    """Speeds in the thousands beside flows in parts of a million, read from a file; a norm would mix the two."""
    (tmp_path / "pumps.csv").write_text(
        "name,rpm,kg_per_h\n" + "\n".join(f"pump {k},{1200 + 400 * k},{(3 + 7 * k % 5) * 1e-6}" for k in range(6))
    )
    problem = sf.Problem(
        tmp_path / "pumps.csv", sf.Reward(noise=0.5, largest=10.0),
        sf.Limit("pressure", at_most=8.0, baseline=5.0, noise=0.3, largest=6.0),
        safe_level=0.3, epsilon=2.0, delta=0.1, delta_safety=0.1,
    )  # fmt: skip
    world = Linear.for_problem(problem, theta_star=[1e-3, 5e5], mu_star=[[1.2e-3, 1e5]])
    runs = sf.simulate(world, problem, POLICIES[policy], runs=20, seed=1, max_pulls=50_000)
    assert runs.stopped.all()
    assert runs.summary()["unsafe_runs"] == 0
    assert not runs.broken_promise.any()


def test_the_rank_of_a_table_does_not_depend_on_units() -> None:
    """A pressure in pascal beside a leak in cubic metres a second; with a column that says nothing new, too."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((9, 3)) * [1e9, 1.0, 1e-9]
    limit = sf.Limit("heat", at_most=1.0, noise=0.1)
    stated: Any = {"safe_level": 0.2, "epsilon": 0.1, "delta": 0.1, "delta_safety": 0.1}
    problem = sf.Problem(X, sf.Reward(noise=0.5), limit, **stated)
    assert (problem.rank, problem.spans) == (3, True)
    with pytest.warns(NotSpanningWarning):
        doubled = sf.Problem(np.column_stack([X, X[:, 2] * 3.0]), sf.Reward(noise=0.5), limit, **stated)
    assert doubled.rank == 3
    units = np.abs(doubled.arms).max(axis=0)
    weights, *_ = np.linalg.lstsq(doubled.features / np.abs(doubled.features).max(axis=0), doubled.arms / units)
    assert np.abs(doubled.features / np.abs(doubled.features).max(axis=0) @ weights - doubled.arms / units).max() < 1e-9
