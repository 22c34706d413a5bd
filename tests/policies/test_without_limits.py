"""Policies on problems without limits, and on arms that may be the answer and cannot be tried.           (P1, P2)"""

from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar

import numpy as np
import pytest

import surefoot as sf
from surefoot.core.kernel import interpreting
from surefoot.errors import InvalidInput
from surefoot.policies import POLICIES, SAFELY
from surefoot.policies.safe_gap import OPTIMISTIC_LEVELS
from surefoot.simulation import run_session

X = [[1.0, 0.0], [0.0, 1.0], [0.8, 0.6]]
THETA = [1.0, 0.3]
DOSES = ("safe-linear", "safe-monotonic")  # a candidate among orthogonal arms is outside the span of the others
SERVING = (
    "safe-gap", "safe-lingape", "lingape", "uniform", "xy-static", "lingame", "lingame-c", "lazy-track-and-stop",
    "frank-wolfe", "rage", "xy-adaptive", "peace",
)  # fmt: skip
EVERY = [POLICIES[name]() for name in SERVING]
MORE = [
    sf.SafeLinGapE(selection="optimistic"),
    sf.SafeLinGapE(explore=sf.UniformRandom(6)),
    sf.SafeLinGapE(explore=sf.EOptimal(6)),
    sf.LinGapE(pull="rounding"),
    sf.LinGapE(pull="rounding-finite"),
    sf.LinGapE(explore=sf.RoundRobin(7)),
    sf.policies.XYStatic(stop="ours"),
    sf.policies.LinGame(stop="theorem"),
    sf.policies.LazyTrackAndStop(stop="ours"),
    sf.policies.FrankWolfe(stop="theorem"),
    sf.policies.RAGE(stop="ours"),
    sf.policies.XYAdaptive(stop="plain"),
    sf.policies.Peace(stop="ours"),
]
CANDIDATES = {
    "goal": sf.Arm([0.7, 0.6], pullable=False), "x": [1.0, 0.0], "y": [0.0, 1.0],
    "other": sf.Arm([0.9, 0.5], pullable=False), "far": sf.Arm([-0.4, 0.2], pullable=False),
}  # fmt: skip


def without(noise: float = 0.3, arms: Any = X) -> sf.worlds.Linear:
    return sf.worlds.Linear(arms, theta_star=THETA, noise=noise)


def vacuous(arms: Any = X) -> sf.worlds.Linear:
    """The same with a limit that nothing comes near."""
    return sf.worlds.Linear(arms, theta_star=THETA, mu_star=[0.0, 0.0], noise=0.3, safety_noise=1e-3, limit=-1e6)


def pulled(problem: sf.Problem, policy: Any, rounds: int) -> list[tuple[str, float]]:
    """The first pulls, where rewards depend on the arm and the round alone."""
    noise, found = np.random.default_rng(5).standard_normal(rounds), []
    with interpreting():
        session = sf.Session(problem, policy, seed=2, alarm_level=None)
        for t in range(rounds):
            if session.outcome is not None:
                break
            pull = session.ask()
            found.append((pull.name, pull.level))
            reward = pull.level * float(problem.arms[pull.arm] @ np.array(THETA)) + 0.3 * noise[t]
            session.tell(pull, reward=reward, **({"safety": 0.0} if problem.safety else {}))
    return found


@pytest.mark.parametrize("policy", [*EVERY, *MORE], ids=repr)
def test_pulls_without_limits_are_those_with_a_limit_that_nothing_comes_near(policy: Any) -> None:
    """(P1)"""
    delta = 0.05
    shared = (
        delta / (1.0 - OPTIMISTIC_LEVELS)
        if policy.name == "safe-gap" or getattr(policy, "stop", "") == "ours"
        else delta
    )
    bare = without().problem(epsilon=0.0, delta=delta)
    limited = vacuous().problem(epsilon=0.0, delta=shared, delta_safety=0.05, safe_level=1.0, safety_norm=1.0)
    found = pulled(bare, policy, 40)
    assert found == pulled(limited, policy, 40)
    assert len(found) >= 3
    assert all(level == 1.0 for _, level in found)


@pytest.mark.parametrize("policy", EVERY, ids=repr)
def test_the_promise_says_that_no_limits_were_stated(policy: Any) -> None:
    problem = without().problem(epsilon=0.0, delta=0.05)
    found = policy.guarantee(problem)
    assert found.safety is None
    assert not found.keeps_limits
    assert not any("safe" in each for each in found.assumptions)
    if found.certifies:
        assert found.value.endswith("No limits were stated.")
        assert found.confidence == 0.95


def test_conservative_selection_promises_all_where_all_levels_are_certified() -> None:
    problem = without().problem(epsilon=0.1, delta=0.05)
    for policy in (sf.SafeLinGapE(), sf.SafeLinGapE(selection="optimistic"), sf.SafeGap(), sf.Uniform()):
        assert (policy.guarantee(problem).kind, policy.guarantee(problem).confidence) == ("within-epsilon", 0.95)


@pytest.mark.parametrize("policy", [*EVERY, *MORE], ids=repr)
def test_candidates_are_never_tried(policy: Any) -> None:
    """(P2)"""
    world = without(arms=CANDIDATES)
    problem = world.problem(epsilon=0.0, delta=0.05)
    found = pulled(problem, policy, 60)
    assert {name for name, _ in found} == {"x", "y"}
    assert all(level == 1.0 for _, level in found)


@pytest.mark.parametrize("policy", [sf.SafeGap(), sf.SafeLinGapE(), sf.LinGapE(), sf.Uniform()], ids=repr)
def test_a_candidate_can_be_the_answer(policy: Any) -> None:
    world = without(noise=0.1, arms=CANDIDATES)
    problem = world.problem(epsilon=0.05, delta=0.05)
    with interpreting():
        session = sf.Session(problem, policy, seed=4, max_pulls=2000, alarm_level=None)
        run_session(world, session, seed=4)
    assert session.outcome == "certified"
    assert session.certificate is not None
    assert session.certificate.name == "other"
    assert "No limits were stated." in session.certificate.statement
    assert "delta_safety" not in str(session.certificate)


def test_the_level_of_a_candidate_is_certified_like_any_other() -> None:
    arms = {"x": [1.0, 0.0], "y": [0.0, 1.0], "goal": sf.Arm([0.8, 0.8], pullable=False, safe_level=0.2)}
    world = sf.worlds.Linear(
        arms, theta_star=[1.0, 0.8], mu_star=[-0.3, -0.5], noise=0.1, safety_noise=0.05, limit=-0.5
    )  # fmt: skip
    problem = world.problem(epsilon=0.1, delta=0.05, delta_safety=0.05, safe_level=0.4)
    assert problem.safe_level.tolist() == [0.4, 0.4, 0.2]
    with interpreting():
        session = sf.Session(problem, sf.SafeGap(), seed=4, max_pulls=3000, alarm_level=None)
        pulls = run_session(world, session, seed=4)
    assert {pull.name for pull in pulls} == {"x", "y"}
    assert session.certificate is not None
    assert session.certificate.name == "goal"
    assert 0.6 < session.certificate.level <= world.best_levels(problem)[2] == pytest.approx(0.78125)


@dataclass(frozen=True)
class TriesAll:
    """A policy of somebody's own, which was not made for candidates."""

    name: ClassVar[str] = "tries-all"
    version: ClassVar[int] = 1

    def guarantee(self, problem: sf.Problem) -> Any:
        return sf.LinGapE().guarantee(problem)

    def plan(self, problem: sf.Problem) -> Any:
        return sf.LinGapE().plan(problem)._replace(candidates=False)


def test_a_policy_that_tries_every_arm_refuses_candidates_by_name() -> None:
    problem = without(arms=CANDIDATES).problem(epsilon=0.0, delta=0.05)
    with pytest.raises(InvalidInput, match=r"pullable of arm 'goal'.*tries-all tries every arm.*SafeGap"):
        sf.Session(problem, TriesAll())


@pytest.mark.parametrize("name", [name for name in POLICIES if name not in (*SERVING, *DOSES)])
def test_policies_that_were_not_made_for_candidates_refuse_them_by_name(name: str) -> None:
    problem = vacuous(CANDIDATES).problem(epsilon=0.0, delta=0.05, delta_safety=0.05, safe_level=1.0, safety_norm=1.0)
    with pytest.raises(InvalidInput, match=f"pullable of arm 'goal'.*{name} tries every arm"):
        sf.Session(problem, POLICIES[name]())


@pytest.mark.parametrize("policy", SAFELY, ids=lambda policy: policy.name)
def test_policies_that_are_made_for_limits_refuse_to_go_without(policy: Any) -> None:
    problem = without(arms=[[1.0, 0.0], [0.0, 1.0]]).problem(epsilon=0.0, delta=0.05)
    with pytest.raises(InvalidInput, match=r"safety = \(\): holds no limit.*(is made for|promises something)"):
        sf.Session(problem, policy())


def test_without_limits_no_pull_is_near_one() -> None:
    with interpreting():
        session = sf.Session(without().problem(epsilon=0.1, delta=0.05), alarm_level=None)
        pull = session.ask()
        assert pull.margin == inf
        with pytest.raises(InvalidInput, match="states no limits"):
            session.tell(pull, reward=0.1, safety=0.3)
        session.tell(pull, reward=0.1, safety=[])
        session.tell(session.ask(), reward=0.1)
    assert session.pulls == 2
