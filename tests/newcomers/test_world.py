"""A world that is one file outside the package answers, is judged and is simulated."""

from typing import Any

import pytest
from saturating import Saturating

import surefoot as sf
from surefoot.errors import InvalidInput
from surefoot.simulation import run_session
from surefoot.testing import WorldContract
from surefoot.worlds import judge_of

LINEAR = sf.worlds.Linear(
    [[1, 0], [0, 1], [0.8, 0.6]], theta_star=[1.0, 0.6], mu_star=[-0.7, -0.2], noise=0.2, safety_noise=0.1
)
PROBLEM = LINEAR.problem(epsilon=0.2, delta=0.05, delta_safety=0.05, safe_level=0.2)


class TestSaturating(WorldContract):
    world, problem = Saturating(LINEAR), PROBLEM


@pytest.mark.parametrize("world", [sf.worlds.limited(), sf.worlds.base_station(), LINEAR], ids=lambda world: world.name)
class TestOurs:
    @pytest.mark.parametrize("name", [name for name in dir(WorldContract) if name.startswith("test_")])
    def test_our_worlds_keep_the_contract(self, world: Any, name: str) -> None:
        contract = WorldContract()
        contract.world = world
        getattr(contract, name)()


def test_it_answers_a_session_and_is_simulated() -> None:
    world = Saturating(LINEAR)
    session = sf.Session(PROBLEM, seed=3, max_pulls=50, alarm_level=None)
    pulls = run_session(world, session, seed=3)
    runs = sf.simulate(world, PROBLEM, runs=8, seed=3, max_pulls=50)
    assert runs.pulls_per_arm[0].tolist() == session.pulls_per_arm.tolist()
    verdict = world.judge(PROBLEM).verdict(pulls, session.recommendation)
    assert verdict.unsafe_pulls == runs.unsafe_pulls[0]


def test_it_is_refused_by_what_it_lacks() -> None:
    class Half:
        name = "half"

    with pytest.raises(InvalidInput, match="has no matches, judge, response, measure"):
        sf.simulate(Half(), PROBLEM)  # type: ignore[arg-type]


@pytest.mark.parametrize("changes", [{}, {"level_grid": [0.2, 0.5, 0.7, 1.0]}, {"max_level": 0.5}], ids=str)
def test_a_search_finds_the_best_that_is_known(changes: dict[str, Any]) -> None:
    problem = PROBLEM.with_(**changes)
    known, searched = LINEAR.judge(problem), judge_of(problem, LINEAR.means)
    assert searched.best_arm == known.best_arm
    assert searched.best_value == pytest.approx(known.best_value, abs=1e-3)
    assert searched.best_without_limits == pytest.approx(known.best_without_limits)


def test_a_search_finds_that_doing_nothing_is_best() -> None:
    world = sf.worlds.Linear([[1.0]], theta_star=[-1.0], mu_star=[-0.2])
    problem = world.problem(epsilon=0.1, delta=0.05, delta_safety=0.05, safe_level=0.2)
    assert judge_of(problem, world.means).best_arm == -1
