"""Few columns or all: how X A^-1 X^T is kept changes no decision.                                       (section 6)

Everything runs in plain Python, once as for few arms and once as for many, but for one compiled run of many arms. Pulls
are the same, and levels and gaps agree within 1e-10.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.core import columns, estimate, learn
from surefoot.core.kernel import interpreting
from surefoot.core.layout import leaves
from surefoot.policies.bound import faced
from surefoot.simulation import run_session
from surefoot.worlds import Linear

CLOSE = 1e-10
EXPLORED = sf.RoundRobin(7)  # by the first of these balls all arms at their levels are of one length, and tie
POLICIES: dict[str, Any] = {
    "safe-gap": sf.SafeGap(),
    "safe-gap at once": sf.SafeGap(opening="at-once"),
    "greedy": sf.SafeLinGapE(),
    "greedy, optimistic": sf.SafeLinGapE(selection="optimistic", levels="dynamic-max", null_pull=True),
    "static, explored": sf.SafeLinGapE(levels="static", explore=sf.EOptimal(12)),
    "rounding": sf.SafeLinGapE(pull="rounding", explore=sf.UntilConfident(rounds=10)),
    "rounding-finite": sf.SafeLinGapE(pull="rounding-finite"),
    "norm": sf.SafeLinGapE(reward_radius="norm", safety_radius="norm"),
    "bias-free": sf.SafeLinGapE(reward_radius="bias-free", safety_radius="bias-free", selection="optimistic"),
    "own pulls, a lambda for each": sf.SafeLinGapE(
        reward_radius="squared-sum", safety_radius="own-pulls", explore=EXPLORED
    ),
    "squared-sum": sf.SafeLinGapE(
        reward_radius="squared-sum", safety_radius="squared-sum", pull="rounding-finite", explore=EXPLORED
    ),
    "lingape": sf.LinGapE(),
    "lingape, rounding": sf.LinGapE(pull="rounding", radius="norm"),
    "uniform": sf.Uniform(explore=sf.UniformRandom(10)),
}
ROUNDS = 45


def crowd(K: int, d: int, seed: int) -> tuple[Linear, sf.Problem]:
    """A world of K arms with two limits; some arms are equal, some nearly, some nearly parallel, and one is tiny.

    No two are alike by symmetry: where candidates tie, the last digit decides.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((K, d))
    X[1], X[K // 2] = X[0], X[K - 1]  # equal, side by side and far apart
    X[2] = X[3] + 1e-3 * rng.standard_normal(d)
    X[d] = 0.5 * X[3] + 1e-2 * rng.standard_normal(d)
    X[d + 1] *= 1e-6
    theta, first, second = rng.standard_normal((3, d))
    world = Linear(
        X, theta_star=theta, mu_star=[-np.abs(first), second / 2], noise=0.3, safety_noise=[0.1, 0.4],
        limit=[-0.4, -0.5],
    )  # fmt: skip
    level = 0.4 * float(min(1.0, *(0.4 / np.abs(X @ -np.abs(first))), *(0.5 / np.abs(X @ second / 2))))
    return world, world.problem(epsilon=0.05, delta=0.05, delta_safety=0.05, safe_level=min(level, 0.2))


SIZES = {"6 x 3": (6, 3), "20 x 4": (20, 4), "50 x 6": (50, 6)}


def live(world: Linear, problem: sf.Problem, policy: Any, rounds: int = ROUNDS) -> tuple[sf.Session, list[sf.Pull]]:
    """A session in plain Python, and its pulls."""
    with interpreting():
        session = sf.Session(problem, policy, seed=5, max_pulls=rounds, alarm_level=None)
        return session, run_session(world, session, seed=5)


def hold_equal(all_of_them: tuple[sf.Session, list[sf.Pull]], few: tuple[sf.Session, list[sf.Pull]]) -> None:
    """The same pulls, levels and gaps."""
    (one, pulls), (other, also) = all_of_them, few
    assert (one.outcome, one.pulls_per_arm.tolist()) == (other.outcome, other.pulls_per_arm.tolist())
    for pull, same in zip(pulls, also, strict=True):
        assert (pull.arm, pull.phase, pull.leader, pull.challenger) == (
            same.arm, same.phase, same.leader, same.challenger,
        )  # fmt: skip
        for name in ("level", "gap", "margin"):
            here, there = getattr(pull, name), getattr(same, name)
            assert here == (there if there is None else pytest.approx(there, rel=CLOSE, abs=CLOSE)), (name, pull)
    np.testing.assert_allclose(one.levels, other.levels, rtol=CLOSE, atol=CLOSE)


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> Any:
    """From here on any number of arms counts as many."""

    def count(held: int = columns.FEW) -> None:
        monkeypatch.setattr(columns, "MANY", 1)
        monkeypatch.setattr(columns, "FEW", held)

    return count


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("policy", POLICIES)
def test_a_session_takes_the_same_pulls(policy: str, size: str, many: Any) -> None:
    world, problem = crowd(*SIZES[size], seed=3)
    rounds = 15 if policy == "bias-free" and len(problem.arms) == 50 else ROUNDS  # plain Python is slow there
    whole = live(world, problem, POLICIES[policy], rounds)
    assert whole[0].ledger.learner.state.estimate.columns.values.shape[1] == len(problem.arms)
    many()
    few = live(world, problem, POLICIES[policy], rounds)
    assert few[0].ledger.learner.state.estimate.columns.values.shape[1] == min(columns.FEW, len(problem.arms))
    assert len(whole[1]) > 10
    hold_equal(whole, few)


@pytest.mark.parametrize("policy", ["safe-gap", "rounding-finite"])
def test_columns_that_come_and_go_change_nothing(policy: str, many: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Room for five columns and for two pulls that wait, and all computed anew when a fifth of the width is gone."""
    world, problem = crowd(24, 5, seed=8)
    whole = live(world, problem, POLICIES[policy], 60)
    many(5)
    monkeypatch.setattr(columns, "WAITING", 2)
    monkeypatch.setattr(estimate, "CANCELLED", 0.8)
    monkeypatch.setattr(learn, "REFRESH_EVERY", 7)
    few = live(world, problem, POLICIES[policy], 60)
    held = few[0].ledger.learner.state.estimate.columns
    assert held.waiting.shape[1] == 2
    hold_equal(whole, few)


@pytest.mark.parametrize("policy", ["safe-gap", "greedy", "bias-free"])
def test_a_simulation_makes_the_same_runs(policy: str, many: Any) -> None:
    world, problem = crowd(12, 3, seed=4)

    def simulated() -> Any:
        with interpreting():
            return sf.simulate(world, problem, POLICIES[policy], runs=2, seed=9, max_pulls=40, workers=1)

    whole = simulated()
    many()
    few = simulated()
    for name in ("pulls", "arm", "outcome", "pulls_per_arm", "unsafe_pulls", "first_unsafe"):
        assert getattr(whole, name).tolist() == getattr(few, name).tolist(), name
    for name in ("level", "gap", "levels"):
        np.testing.assert_allclose(getattr(whole, name), getattr(few, name), rtol=CLOSE, atol=CLOSE)


@pytest.mark.parametrize("policy", ["safe-gap", "greedy"])
def test_a_study_goes_on_the_same_with_several_pulls_open(policy: str, many: Any, tmp_path: Path) -> None:
    """Three pulls are open at a time, and it is opened again in the middle."""
    world, problem = crowd(14, 3, seed=6)

    def opened(name: str, new: bool) -> sf.Study:
        storage = f"sqlite:///{tmp_path / 'studies.db'}"
        if new:
            return sf.create_study(problem, POLICIES[policy], name=name, storage=storage, seed=2)
        return sf.load_study(name, storage)

    def driven(study: sf.Study, rounds: int) -> list[Any]:
        made = []
        for _ in range(rounds):
            pulls = [study.ask() for _ in range(3)]
            made += [(pull.arm, pull.level, pull.gap or 0.0) for pull in pulls]
            for pull in (pulls[1], pulls[0], pulls[2]):
                study.tell(pull, **world.measure(pull, 7))
        return made

    with interpreting():
        whole = driven(opened("whole", True), 5) + driven(opened("whole", False), 5)
        assert opened("whole", False).audit().clean
        many()
        few = driven(opened("few", True), 5) + driven(opened("few", False), 5)
        assert opened("few", False).audit().clean
    assert [arm for arm, _, _ in few] == [arm for arm, _, _ in whole]
    for place in (1, 2):
        ours, theirs = ([each[place] for each in made] for made in (few, whole))
        assert ours == pytest.approx(theirs, rel=CLOSE, abs=CLOSE)


# -- compiled, and really many ----------------------------------------------------------------------------------------


def ring(K: int, d: int = 8) -> tuple[Linear, sf.Problem]:
    """K arms, and one limit."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((K, d))
    X *= rng.uniform(0.5, 1.0, (K, 1)) / np.linalg.norm(X, axis=1)[:, None]
    theta, mu = rng.standard_normal((2, d))
    world = Linear(X, theta_star=theta, mu_star=[mu], noise=0.5, safety_noise=[0.2], limit=[-0.5])
    return world, world.problem(epsilon=0.3, delta=0.05, delta_safety=0.05, safe_level=0.1)


def test_compiled_sessions_of_many_arms_take_the_same_pulls(monkeypatch: pytest.MonkeyPatch) -> None:
    """300 arms count as many by themselves."""
    world, problem = ring(300)
    problem = problem.with_(epsilon=0.1)
    sessions = []
    for most in (columns.MANY, 10**9):
        monkeypatch.setattr(columns, "MANY", most)
        session = sf.Session(problem, sf.SafeGap(), seed=5, max_pulls=1500, alarm_level=None)
        sessions.append((session, run_session(world, session, seed=5)))
    few, whole = sessions
    assert few[0].ledger.learner.state.estimate.columns.values.shape[1] == columns.FEW
    assert len(few[1]) > 150
    hold_equal(whole, few)


def test_five_thousand_arms_are_asked_for_and_told() -> None:
    world, problem = ring(5000)
    session = sf.Session(problem, sf.SafeGap(), seed=5, max_pulls=30, alarm_level=None)
    pulls = run_session(world, session, seed=5)
    assert len(pulls) == 30
    assert all(0.0 < pull.level <= 1.0 for pull in pulls)
    assert session.pulls_per_arm.sum() == 30
    assert session.ledger.learner.state.whole.nbytes < 8 * 5000 * 5000 / 10


@pytest.mark.parametrize("policy", ["safe-gap", "greedy", "bias-free", "rounding-finite", "lingape", "uniform"])
def test_a_state_grows_with_the_arms_and_not_with_their_square(policy: str) -> None:
    """Numbers an arm: for twice the arms the same, and far fewer than the arms."""
    sizes = []
    for K in (10_000, 20_000):
        found = faced(POLICIES[policy], ring(K)[1])
        largest = max(leaf.size for leaf in leaves(found.new_state()[:-1]) if isinstance(leaf, np.ndarray))
        assert largest <= 8 * columns.FEW * K
        sizes.append(found.new_state().whole.nbytes + found.new_work().scratch.W.nbytes)
    assert sizes[1] - sizes[0] <= 60 * 8 * 10_000
    assert sizes[1] <= 60 * 8 * 20_000 + 8 * 4096 * 60


@pytest.mark.parametrize("policy", ["safe-gap", "greedy", "greedy, optimistic"])
def test_equal_arms_and_an_arm_of_zeros_change_nothing(policy: str, many: Any) -> None:
    """Ties between equal arms go to the first of them in both forms."""
    world, problem = crowd(16, 4, seed=11)
    arms = np.array(problem.features)
    arms[7], arms[11], arms[13] = arms[2], arms[2], 0.0
    alike = sf.worlds.Linear(
        arms, theta_star=world.theta_star, mu_star=world.mu_star, noise=world.noise, safety_noise=world.safety_noise,
        limit=world.limit,
    )  # fmt: skip
    posed = problem.with_(arms=arms)
    whole = live(alike, posed, POLICIES[policy], 60)
    many(5)
    few = live(alike, posed, POLICIES[policy], 60)
    hold_equal(whole, few)
