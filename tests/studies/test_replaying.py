"""A history told again ends where the live session ended, to the last bit, and finds the decisions that were taken."""

import json
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from scenes import POLICIES, arena, drive
from surefoot.core.replay import ASKED, FOLDED, copy_state
from surefoot.studies.replaying import as_script, mismatches, one_by_one, replayed

import surefoot as sf
from surefoot.core.kernel import entry
from surefoot.core.types import PULL, new_state
from surefoot.errors import Finished, InvalidInput


def same_state(one: sf.Session, other: sf.Session) -> None:
    for field in one._state._fields:
        ours, theirs = getattr(one._state, field), getattr(other._state, field)
        assert ours.tobytes() == theirs.tobytes(), field
    assert one._decision == other._decision
    assert (one.pulls, one.outcome, one._margin) == (other.pulls, other.outcome, other._margin)


@pytest.mark.filterwarnings("ignore::surefoot.errors.NeverStopsWarning")
@pytest.mark.parametrize("open_at_once", [1, 5])
@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_a_replay_ends_where_the_live_session_ended(policy: Any, open_at_once: int) -> None:
    _, problem = arena()
    live = sf.Session(problem, policy, seed=11)
    script = drive(live, 150, open_at_once, np.random.default_rng(open_at_once))
    found = replayed(problem, policy, script, seed=11)
    same_state(live, found.session)
    assert len(mismatches(script, found.answers)) == 0
    assert (found.answers.status == PULL).all()


@pytest.mark.parametrize("kind", sf.policies.POLICIES.values(), ids=sf.policies.POLICIES)
def test_every_policy_can_be_replayed_and_asked_for_several(kind: Any) -> None:
    _, problem = arena()
    live = sf.Session(problem, kind(), seed=1)
    script = drive(live, 40, 3, np.random.default_rng(2))
    found = replayed(problem, kind(), script, seed=1)
    same_state(live, found.session)
    assert len(mismatches(script, found.answers)) == 0


@pytest.mark.parametrize(
    ("field", "value"), [("arm", 4), ("arm", -1), ("pull", 9), ("pull", -1), ("asked", None), ("observed", None)]
)
def test_a_script_that_names_what_is_not_there_is_refused(field: str, value: Any) -> None:
    """Compiled code would write beyond its arrays."""
    _, problem = arena()
    script = drive(sf.Session(problem, seed=2), 5, 1, np.random.default_rng(1))
    if value is None:
        script = script._replace(**{field: getattr(script, field)[:-1]})
    else:
        getattr(script, field)[2] = value
    session = sf.Session(problem, seed=2)
    with pytest.raises(InvalidInput) as caught:
        session.replay(script)
    assert caught.value.field.startswith("script")
    assert session.pulls == 0


@pytest.mark.parametrize(
    "pull",
    [
        (4, 0.1, [0.0] * 3),
        (-1, 0.1, [0.0] * 3),
        (0, 1.1, [0.0] * 3),
        (0, np.nan, [0.0] * 3),
        (0, 0.1, [0.0] * 2),
        (0, 0.1, [0.0, 0.0, np.nan]),
    ],
)
def test_a_stored_pull_that_cannot_be_is_refused(pull: Any) -> None:
    session = sf.Session(arena()[1])
    with pytest.raises(InvalidInput):
        session.take(*pull)
    assert session.pulls == 0


@pytest.mark.parametrize("open_pulls", [[(4, 0.1)], [(-1, 0.1)], [(0, 0.1), (1, np.nan)], [(0, 1.1)]])
def test_open_pulls_that_cannot_be_are_refused(open_pulls: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        sf.Session(arena()[1]).beside(open_pulls)
    assert caught.value.field == "open_pulls"


def test_one_by_one_is_the_script_of_pulls_that_were_never_open_together() -> None:
    _, problem = arena()
    script = drive(sf.Session(problem, seed=2), 40, 1, np.random.default_rng(1))
    again = one_by_one(script.arm, script.asked, script.applied, script.observed)
    for ours, theirs in zip(script, again, strict=True):
        assert ours.tobytes() == theirs.tobytes()


def test_what_was_stored_wins_and_what_differs_is_named() -> None:
    _, problem = arena()
    script = drive(sf.Session(problem, seed=2), 60, 1, np.random.default_rng(1))
    script.arm[20] = (script.arm[20] + 1) % 4
    script.asked[33] = script.applied[33] = 0.1
    found = replayed(problem, None, script, seed=2)
    wrong = set(mismatches(script, found.answers).tolist())
    assert min(wrong) == 20
    assert 33 in wrong
    assert found.session.pulls_per_arm.tolist() == np.bincount(script.arm, minlength=4).tolist()


def test_a_pull_after_the_end_is_a_mismatch() -> None:
    _, problem = arena()
    problem = problem.with_(epsilon=0.5)
    live = sf.Session(problem, seed=2)
    script = drive(live, 5000, 1, np.random.default_rng(1))
    assert live.outcome == "certified"
    last = live.pulls
    longer = as_script(
        [*script.step, ASKED, FOLDED], [*script.pull, last, last], [*script.arm, 0], [*script.asked, 0.2],
        [*script.applied, 0.2], [*script.observed, script.observed[0]],
    )  # fmt: skip
    with pytest.raises(Finished):
        live.beside([(0, 0.2)])
    found = replayed(problem, None, longer, seed=2)
    assert mismatches(longer, found.answers).tolist() == [last]
    assert found.session.pulls == last + 1


def test_imported_results_are_taken_in_without_being_judged() -> None:
    _, problem = arena()
    script = as_script([4, FOLDED, FOLDED], [0, 0, 1], [2, 1], [0.1, 0.1], [0.1, 0.1], np.zeros((2, 3)))
    found = replayed(problem, None, script)
    assert found.session.pulls == 2
    assert (found.answers.status == -1).all()
    assert len(mismatches(script, found.answers)) == 0


def test_a_replay_goes_on_as_the_live_session_does() -> None:
    world, problem = arena()
    live = sf.Session(problem, seed=4)
    script = drive(live, 50, 1, np.random.default_rng(1))
    again = replayed(problem, None, script, seed=4).session
    for _ in range(30):
        pull = live.ask()
        assert again.ask() == pull
        for session in (live, again):
            session.tell(pull, **world.measure(pull, seed=3))
    same_state(live, again)


def test_the_copy_of_a_state_is_complete() -> None:
    _, problem = arena()
    session = sf.Session(problem)
    rng = np.random.default_rng(5)
    one, other = new_state(session._inst), new_state(session._inst)
    for array in one:
        array[...] = rng.integers(1, 1000, array.shape)
    entry(copy_state)(one, other)
    for field in one._fields:
        assert getattr(one, field).tobytes() == getattr(other, field).tobytes(), field


PROGRAM = """
import json, sys
sys.path.insert(0, sys.argv[1])
import numpy as np, surefoot as sf
from scenes import arena, drive
from surefoot.studies.replaying import replayed
script = drive(sf.Session(arena()[1], seed=7), 30, 4, np.random.default_rng(9))
found = replayed(arena()[1], None, script, seed=7)
print(json.dumps({"arms": script.arm.tolist(), "levels": script.asked.tolist(), "gaps": found.answers.gap.tolist()}))
"""


def test_interpreter_and_compiler_agree() -> None:
    found = []
    for mode in ("0", "1"):
        environment = {**os.environ, "SUREFOOT_INTERPRET": mode}
        words = [sys.executable, "-c", PROGRAM, os.path.dirname(__file__)]
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True, timeout=300)
        found.append(json.loads(done.stdout))
    compiled, interpreted = found
    assert compiled["arms"] == interpreted["arms"]
    assert compiled["levels"] == pytest.approx(interpreted["levels"], rel=1e-12)
    assert compiled["gaps"] == pytest.approx(interpreted["gaps"], rel=1e-12)
