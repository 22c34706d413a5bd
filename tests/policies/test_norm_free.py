"""SafeGap leans on no norm: a stated one that is wrong costs pulls and no promise, and none need be stated."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import InvalidInput
from surefoot.worlds import Linear

WORLDS = {
    "paper": sf.worlds.hard,
    "limited": sf.worlds.limited,
    "doses": sf.worlds.doses,
    "base station": sf.worlds.base_station,
}
PAPERS = [sf.SafeLinGapE(), sf.LinGapE(), sf.Uniform()]


def with_norms(problem: sf.Problem, factor: float | None) -> sf.Problem:
    """The problem with norms that are wrong by the factor, or without any."""

    def wrong(signal: Any) -> Any:
        return replace(signal, norm=None if factor is None else signal.norm * factor)

    return problem.with_(reward=wrong(problem.reward), safety=[wrong(limit) for limit in problem.safety])


@pytest.mark.parametrize("factor", [0.1, 1 / 3, 10.0, None])
@pytest.mark.parametrize("name", WORLDS)
def test_norms_that_are_wrong_or_missing_make_no_run_unsafe(name: str, factor: float | None) -> None:
    world = WORLDS[name]()
    problem = with_norms(world.default_problem().with_(delta=0.05, delta_safety=0.05), factor)
    runs = sf.simulate(world, problem, runs=100, seed=6, max_pulls=200_000)
    assert runs.stopped.all()
    assert runs.summary()["unsafe_runs"] <= 5
    assert runs.summary()["wrong_runs"] <= 5


@pytest.mark.parametrize("factor", [1e-6, 1.0, 1e6, None])
def test_no_level_is_raised_before_the_pulls_span(factor: float | None) -> None:
    world = sf.worlds.base_station()
    problem = with_norms(world.default_problem(), factor)
    session = sf.Session(problem)
    arms = []
    for _ in range(problem.rank):
        pull = session.ask()
        assert pull.level == problem.safe_level[pull.arm]
        assert np.array_equal(session.levels, problem.safe_level)
        assert pull.gap is None
        arms.append(problem.features[pull.arm])
        session.tell(pull, **world.measure(pull, seed=1, problem=problem))
    assert np.linalg.matrix_rank(arms) == problem.rank
    assert session.ask().gap is not None


def test_a_problem_needs_no_norm_and_keeps_none_in_its_file(tmp_path: Any) -> None:
    problem = with_norms(sf.worlds.limited().default_problem(), None)
    assert "norm" not in str(problem.to_dict())
    problem.save(tmp_path / "problem.toml")
    assert sf.Problem.load(tmp_path / "problem.toml") == problem


@pytest.mark.parametrize("policy", PAPERS, ids=lambda policy: policy.name)
def test_policies_that_lean_on_a_norm_ask_for_it_by_name(policy: Any) -> None:
    problem = sf.worlds.limited().default_problem()
    limit = problem.safety[0]
    for wrong, field in (
        (problem.with_(reward=replace(problem.reward, norm=None)), "reward.norm"),
        (problem.with_(safety=[replace(limit, norm=None)]), f"safety[{limit.name!r}].norm"),
    ):
        with pytest.raises(InvalidInput, match="SafeGap") as refused:
            sf.Session(wrong, policy)
        assert refused.value.field == field


def test_only_certificates_that_lean_on_norms_name_them() -> None:
    problem = sf.worlds.limited().default_problem()
    assert not any("norm" in line for line in sf.SafeGap().guarantee(problem).assumptions)
    for policy in PAPERS:
        lines = policy.guarantee(problem).assumptions
        assert sum("leans on it" in line for line in lines) == 2


@pytest.mark.parametrize("scale", [2.0**-300, 2.0**-30, 2.0**10])
def test_the_scale_of_the_features_changes_nothing(scale: float) -> None:
    """A power of two, so that not one digit differs."""
    world = sf.worlds.limited()
    problem = with_norms(world.default_problem(), None)
    scaled = Linear(
        world.arms * scale, theta_star=world.theta_star / scale, mu_star=world.mu_star / scale, noise=world.noise,
        safety_noise=world.safety_noise, limit=world.limit,
    )  # fmt: skip
    same = problem.with_(arms=world.arms * scale)
    first, second = (sf.simulate(w, p, runs=5, seed=2) for w, p in ((world, problem), (scaled, same)))
    assert np.array_equal(first.pulls, second.pulls)
    assert np.array_equal(first.level, second.level)


@pytest.mark.parametrize("policy", [sf.SafeGap(), *PAPERS], ids=lambda policy: policy.name)
def test_features_too_small_to_be_squared_contradict_nothing(policy: Any) -> None:
    arms = np.array([[1.0, 0.0], [0.0, 1.0], [1e-300, 0.0], [1e-300, 1e-300]])
    limit = sf.Limit("reading", at_most=1.0, noise=0.1, norm=1.0)
    problem = sf.Problem(
        arms, sf.Reward(noise=0.1, norm=1.0), [limit], safe_level=0.5, epsilon=0.1, delta=0.1, delta_safety=0.1
    )
    session = sf.Session(problem, policy, max_pulls=40)
    rng = np.random.default_rng(3)
    while not session.stopped:
        session.tell(session.ask(), reward=0.1 * rng.standard_normal(), safety=0.1 * rng.standard_normal())
    assert session.outcome in ("certified", "undecided")


def test_known_levels_that_cannot_make_all_directions_known_are_refused() -> None:
    world = sf.worlds.limited()
    levels = np.full(len(world.arms), 0.2)
    levels[1:] = 1e-9
    with pytest.raises(InvalidInput, match="teach too little") as refused:
        sf.Session(world.default_problem().with_(safe_level=levels))
    assert "safe_level" in refused.value.field


def test_honest_runs_are_seldom_called_contradictions() -> None:
    """Forty arms at large deltas, where upper ends that are paid for one arm alone often cross another's lower end."""
    rng = np.random.default_rng(5)
    arms = rng.standard_normal((40, 3))
    arms /= np.linalg.norm(arms, axis=1)[:, None]
    world = Linear(arms, theta_star=[1.0, 0.3, 0.0], mu_star=[-0.9, 0.2, 0.3], noise=0.3, safety_noise=0.3, limit=-0.5)
    problem = world.problem(epsilon=0.02, delta=0.2, delta_safety=0.2, safe_level=0.5)
    runs = sf.simulate(world, problem, runs=300, seed=4, max_pulls=20_000)
    assert runs.summary()["contradiction_runs"] <= 0.22 * 300 * 0.2
