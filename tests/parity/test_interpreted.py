"""The same source, compiled and interpreted side by side in one process, does the same to the last bit."""

import os
import subprocess
import sys
from types import FunctionType
from typing import Any

import pytest
from diary import live, scenes, simulated

import surefoot as sf
from surefoot.core.kernel import interpreting

SCENES = {name: scene for name, *scene in scenes()}
pytestmark = pytest.mark.filterwarnings("ignore::surefoot.errors.NeverStopsWarning")


def compiled_and_interpreted(what: Any, *arguments: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """What is done, in both forms."""
    compiled = what(*arguments)
    with interpreting():
        return compiled, what(*arguments)


@pytest.mark.parametrize("name", SCENES)
def test_interpreter_and_compiler_take_the_same_pulls(name: str) -> None:
    compiled, interpreted = compiled_and_interpreted(live, *SCENES[name], 60, 5)
    assert len(compiled["pulls"]) >= 10
    assert compiled == interpreted


@pytest.mark.parametrize("name", SCENES)
def test_interpreter_and_compiler_simulate_the_same_runs(name: str) -> None:
    compiled, interpreted = compiled_and_interpreted(simulated, *SCENES[name], 60, 5, 2)
    assert compiled == interpreted


def test_a_compiled_and_a_plain_session_take_turns() -> None:
    """Each keeps the form that it was made in, whatever is made beside it."""
    world, problem, policy = SCENES["safe-gap"]
    with interpreting():
        plain = sf.Session(problem, policy, seed=3)
    compiled = sf.Session(problem, policy, seed=3)
    assert isinstance(plain.ledger.learner._replay, FunctionType)
    assert not isinstance(compiled.ledger.learner._replay, FunctionType)
    for _ in range(40):
        pull = compiled.ask()
        assert plain.ask() == pull
        for session in (plain, compiled):
            session.tell(pull, **world.measure(pull, seed=3, problem=problem))
    first, *others = (session.ledger.learner.state.whole.tobytes() for session in (plain, compiled))
    assert others == [first]


def test_several_at_once_are_the_same_too() -> None:
    world, problem, policy = SCENES["optimistic"]
    with interpreting():
        plain = sf.Session(problem, policy, seed=3)
    compiled = sf.Session(problem, policy, seed=3)
    for _ in range(6):
        pulls = compiled.ask(5)
        assert plain.ask(5) == pulls
        for pull in reversed(pulls):
            for session in (plain, compiled):
                session.tell(pull, **world.measure(pull, seed=3, problem=problem))
    assert plain.status() == compiled.status()


PROGRAM = """
import sys, surefoot as sf
world = sf.worlds.limited()
session = sf.Session(world.default_problem(), sf.SafeGap(), seed=1)
for _ in range(5):
    pull = session.ask()
    session.tell(pull, **world.measure(pull, seed=1))
sf.simulate(world, world.default_problem(), sf.LinGapE(), runs=1, max_pulls=5, workers=1)
print(session.pulls, sorted({"numba", "llvmlite"} & set(sys.modules)))
"""


def test_the_compiler_is_not_even_loaded_where_all_is_interpreted() -> None:
    environment = os.environ | {"SUREFOOT_INTERPRET": "1"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)
    assert (done.stdout.strip(), done.stderr) == ("5 []", "")
