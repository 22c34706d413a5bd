"""What SafeGap promises where gap-based policies have a hard time, and on inputs at the edge of what is allowed."""

from math import inf
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.core.layout import leaves
from surefoot.simulation import run_session
from surefoot.worlds import Linear

SETTING: dict[str, Any] = {"epsilon": 0.1, "delta": 0.05, "delta_safety": 0.05, "safe_level": 0.2}


def decoy() -> Linear:
    """Arm 2 would be worth 1.2 at level 1 but is safe only up to 0.71; arm 1, worth 1, is the answer.

    Until that level is learned the race is between x_1 and x_2, whose difference (0, -1) is learned best from arm 3. A
    policy that looks at the reward alone pulls arm 3 forever and never learns the level of arm 2.
    """
    return Linear(
        [[1, 0], [1, 1], [0, 1]], theta_star=[1.0, 0.2], mu_star=[-0.4, -0.3], limit=-0.5, noise=0.3, safety_noise=0.1
    )


def decoy_problem() -> sf.Problem:
    return decoy().problem(epsilon=0.05, delta=0.05, delta_safety=0.05, safe_level=[1.0, 0.5, 1.0])


def right(world: Linear, problem: sf.Problem, runs: sf.Runs) -> Any:
    """Which runs ended with an answer within epsilon of the best safe one."""
    return runs.stopped & (world.judge(problem).shortfall(runs.arm, runs.level) <= problem.epsilon)


def test_safe_gap_stops_with_a_right_answer_where_an_unlearned_level_decides() -> None:
    world, problem = decoy(), decoy_problem()
    runs = sf.simulate(world, problem, sf.SafeGap(), runs=50, seed=8, max_pulls=200_000)
    assert right(world, problem, runs).all()
    assert (runs.unsafe_pulls > 0).sum() <= 3  # of 50, at delta_safety = 0.05


# -- the edge of what is allowed --------------------------------------------------------------------------------------


def drive(world: Linear, problem: sf.Problem, most: int, seed: int = 5) -> sf.Session:
    """A session whose every pull and number is looked at."""
    session = sf.Session(problem, sf.SafeGap(), seed=seed, max_pulls=most, alarm_level=None)
    applied = problem.safe_level.copy()

    def look(session: sf.Session) -> None:
        if session.stopped:
            return
        learner = session.ledger.learner
        pull, levels = session.ask(), learner.state.levels
        certified = np.maximum(levels.low_of.min(axis=0), problem.safe_level)
        assert pull.level <= certified[pull.arm]
        assert pull.level <= problem.max_level[pull.arm]
        assert not problem.level_grid or pull.level in problem.level_grid
        assert pull.level <= applied[pull.arm] + (problem.max_step or inf) * (1 + 1e-8)
        assert pull.margin >= 0.0
        spanned = learner.state.estimate.spanned[0] == 1
        assert (pull.gap is not None) == spanned  # before that, pulls at known levels make the directions known
        assert spanned or pull.level <= problem.safe_level[pull.arm]
        assert pull.gap is None or pull.gap > problem.epsilon
        for numbers in leaves(learner.state):
            assert np.isfinite(numbers).all()
        assert not np.isnan(learner.work.bounds.lead).any()
        assert (session.levels <= session.levels_high).all()
        applied[pull.arm] = pull.level

    run_session(world, session, seed=seed, watch=look)
    return session


def world_of(arms: Any, theta: Any = (1.0, 0.5), mu: Any = (-0.8, 0.1), **more: Any) -> Linear:
    return Linear(arms, theta_star=theta, mu_star=mu, noise=0.2, safety_noise=0.05, **more)


EDGES: dict[str, tuple[Linear, dict[str, Any]]] = {
    "one arm": (world_of([[1, 0]], (1.0, 0.0), (-0.8, 0.0)), {}),
    "one arm in one dimension": (world_of([[0.7]], [1.0], [-0.9]), {}),
    "one arm that is worth less than nothing": (world_of([[1.0]], [-1.0], [-0.9]), {}),
    "equal arms": (world_of([[1, 0], [1, 0], [0, 1], [0, 1]]), {}),
    "all arms equal": (world_of([[0.6, 0.8]] * 3), {}),
    "an arm and its half, at levels that make them equal": (
        world_of([[1, 0], [0.5, 0], [0, 1]], mu=(-0.3, 0.1)), {"max_level": [0.5, 1.0, 1.0]},
    ),
    "an arm of zeros": (world_of([[1, 0], [0, 0], [0, 1]]), {}),
    "an arm of zeros comes first": (world_of([[0, 0], [1, 0]]), {}),
    "arms that do not span": (world_of([[1, 0, 1], [0, 1, 0], [1, 1, 1]], (1, 0.5, 0.2), (-0.3, 0.1, -0.4)), {}),
    "nearly parallel arms": (world_of([[1, 0], [1, 1e-7], [1, -1e-7]]), {}),
    "large and small arms": (world_of([[30, 0], [0, 0.01], [3, 3]], (0.1, 0.1), (-0.05, -0.01)), {}),
    "a level grid": (world_of([[1, 0], [0, 1], [1, 1]]), {"level_grid": [0.1, 0.2, 0.5, 0.6, 0.9]}),
    "a single level": (world_of([[1, 0], [0, 1], [1, 1]]), {"level_grid": [0.2]}),
    "a small step": (world_of([[1, 0], [0, 1], [1, 1]]), {"max_step": 0.01}),
    "a grid and a step": (world_of([[1, 0], [0, 1]]), {"level_grid": np.linspace(0.1, 1, 10), "max_step": 0.1}),
    "tops of dials": (world_of([[1, 0], [0, 1], [1, 1]]), {"max_level": [0.2, 0.4, 1.0]}),
    "delta near one": (world_of([[1, 0], [0, 1], [1, 1]]), {"delta": 0.999, "delta_safety": 0.999}),
    "tiny deltas": (world_of([[1, 0], [0, 1]]), {"delta": 1e-200, "delta_safety": 1e-200}),
    "a huge epsilon": (world_of([[1, 0], [0, 1]]), {"epsilon": 1e6}),
    "three limits": (
        Linear([[1, 0], [0, 1], [1, 1]], theta_star=[1.0, 0.5], mu_star=[[-0.8, 0.1], [0.1, -0.9], [-0.3, -0.3]],
               noise=0.2, safety_noise=[0.05, 0.1, 0.02], limit=[-0.5, -0.4, -0.3]),
        {},
    ),
    "every arm known to be safe at the top": (world_of([[1, 0], [0, 1]], mu=(-0.3, 0.1)), {"safe_level": 1.0}),
}  # fmt: skip


@pytest.mark.parametrize("name", EDGES)
@pytest.mark.filterwarnings("ignore::surefoot.errors.NotSpanningWarning")
def test_nothing_breaks_at_the_edge_of_what_is_allowed(name: str) -> None:
    world, changes = EDGES[name]
    problem = world.problem(**{**SETTING, **changes})
    session = drive(world, problem, most=600)
    assert session.outcome in ("certified", "undecided")


@pytest.mark.parametrize("name", EDGES)
@pytest.mark.filterwarnings("ignore::surefoot.errors.NotSpanningWarning")
def test_answers_at_the_edge_of_what_is_allowed_are_right_and_no_pull_unsafe(name: str) -> None:
    """delta near one promises nothing about answers, yet they are right here."""
    world, changes = EDGES[name]
    problem = world.problem(**{**SETTING, **changes})
    runs = sf.simulate(world, problem, sf.SafeGap(), runs=10, seed=3, max_pulls=20_000)
    assert not runs.unsafe_pulls.any()
    assert right(world, problem, runs)[runs.stopped].all()
    assert set(runs.outcomes) <= {"certified", "undecided"}


@pytest.mark.parametrize("noise", [1e-9, 1e-12])
def test_nearly_noiseless_safety_signals_do_not_break_the_numbers(noise: float) -> None:
    """A problem refuses a regularisation below 1e-9 L^2, and so must the sets, whose own rule would give 1e-18 here."""
    world = Linear([[1, 0], [0, 1], [1, 1]], theta_star=[1, 0.5], mu_star=[-0.8, 0.1], noise=0.2, safety_noise=noise)
    runs = sf.simulate(world, world.problem(**SETTING), sf.SafeGap(), runs=5, seed=1, max_pulls=2000, workers=1)
    assert set(runs.outcomes) == {"certified"}


def test_without_tolerance_a_limited_best_arm_is_never_certified() -> None:
    """Its level is never known exactly, so that the budget ends the search, undecided and without an answer."""
    world = world_of([[1, 0], [0, 1]])
    session = drive(world, world.problem(**{**SETTING, "epsilon": 0.0}), most=1500)
    assert session.outcome == "undecided"
    assert session.recommendation is None


def test_equal_arms_are_no_rivals() -> None:
    """With one arm twice there is nothing to tell apart, and the answer comes as soon as with the arm once."""
    once, twice = world_of([[1, 0], [0, 1]]), world_of([[1, 0], [0, 1], [1, 0]])
    pulls = [sf.simulate(w, w.problem(**SETTING), sf.SafeGap(), runs=40, seed=2).pulls.mean() for w in (once, twice)]
    assert pulls[1] < 1.5 * pulls[0]


def test_doing_nothing_is_the_answer_where_every_arm_does_harm() -> None:
    world = world_of([[1, 0], [0, 1]], theta=(-1.0, -0.5))
    runs = sf.simulate(world, world.problem(**SETTING), sf.SafeGap(), runs=20, seed=2, max_pulls=20_000)
    assert runs.stopped.all()
    assert (runs.arm == -1).all()


def test_readings_that_no_model_allows_end_in_a_contradiction() -> None:
    """The safety signal jumps, which a linear model cannot explain."""
    world = world_of([[1, 0], [0, 1]])
    session = sf.Session(world.problem(**{**SETTING, "epsilon": 0.0}), sf.SafeGap(), alarm_level=None)
    while not session.stopped:
        assert session.pulls < 20_000
        pull = session.ask()
        session.tell(pull, reward=0.5, safety=pull.level * (-0.6 if pull.number <= 400 else -2.0), confirm=True)
    assert session.outcome == "contradiction"
    assert session.recommendation is None
