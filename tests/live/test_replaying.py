"""A history told again ends where the live session ended, to the last bit, and finds the decisions that were taken."""

from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from scenes import POLICIES, arena, drive, signals_of
from surefoot.core.kernel import interpreting
from surefoot.core.loop import ASKED, BEGUN, LEARNED
from surefoot.core.records import Answers, Script
from surefoot.core.types import PULL
from surefoot.errors import Finished, InvalidInput
from surefoot.live.audit import mismatches
from surefoot.live.learner import Learner
from surefoot.live.scripts import as_script
from surefoot.policies import OF_THE_FIELD, RACING, SafeLinear, SafeMonotonic, check_policy


def replayed(problem: sf.Problem, policy: Any, script: Script, seed: int = 0) -> tuple[Learner, Answers]:
    """A learner that has gone through the script, and what it would have asked for."""
    learner = Learner(problem, check_policy(policy), seed)
    return learner, learner.replay(script)


def same_state(session: sf.Session, learner: Learner) -> None:
    live = session.ledger.learner
    assert live.state.whole.tobytes() == learner.state.whole.tobytes()
    assert live.decision == learner.decision
    assert (live.pulls, live.ending, live.margin) == (learner.pulls, learner.ending, learner.margin)


@pytest.mark.filterwarnings("ignore::surefoot.errors.NeverStopsWarning")
@pytest.mark.parametrize("open_at_once", [1, 5])
@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_a_replay_ends_where_the_live_session_ended(policy: Any, open_at_once: int) -> None:
    _, problem = arena()
    live = sf.Session(problem, policy, seed=11)
    script = drive(live, 150, open_at_once, np.random.default_rng(open_at_once))
    learner, answers = replayed(problem, policy, script, seed=11)
    same_state(live, learner)
    assert len(mismatches(script, answers)) == 0
    assert (answers.status == PULL).all()


@pytest.mark.parametrize("kind", sf.policies.POLICIES.values(), ids=sf.policies.POLICIES)
def test_every_policy_can_be_replayed_and_asked_for_several(kind: Any) -> None:
    """Those of the field in plain Python, since each takes half a minute to compile, and for the best arm itself."""
    _, problem = arena()
    if kind in (SafeLinear, SafeMonotonic):
        problem = problem.with_(arms=np.eye(4), level_grid=None)  # which take arms for independent doses
    with nullcontext() if kind in RACING else interpreting():
        problem = problem.with_(epsilon=0.0) if kind in OF_THE_FIELD else problem
        live = sf.Session(problem, kind(), seed=1)
        script = drive(live, 40, 3, np.random.default_rng(2))
        learner, answers = replayed(problem, kind(), script, seed=1)
    same_state(live, learner)
    assert len(mismatches(script, answers)) == 0


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
    learner = sf.Session(problem, seed=2).ledger.learner
    with pytest.raises(InvalidInput) as caught:
        learner.replay(script)
    assert caught.value.field.startswith("script")
    assert learner.pulls == 0


def test_what_was_stored_wins_and_what_differs_is_named() -> None:
    _, problem = arena()
    script = drive(sf.Session(problem, seed=2), 60, 1, np.random.default_rng(1))
    script.arm[20] = (script.arm[20] + 1) % 4
    script.asked[33] = script.applied[33] = 0.1
    learner, answers = replayed(problem, None, script, seed=2)
    wrong = set(mismatches(script, answers).tolist())
    assert min(wrong) == 20
    assert 33 in wrong
    assert learner.pulls_per_arm.tolist() == np.bincount(script.arm, minlength=4).tolist()


def test_a_pull_after_the_end_is_a_mismatch() -> None:
    _, problem = arena()
    problem = problem.with_(epsilon=0.5)
    live = sf.Session(problem, seed=2)
    script = drive(live, 5000, 1, np.random.default_rng(1))
    assert live.outcome == "certified"
    last = live.pulls
    longer = as_script(
        [*script.step, ASKED, LEARNED], [*script.pull, last, last], [*script.arm, 0], [*script.asked, 0.2],
        [*script.applied, 0.2], [*script.observed, script.observed[0]],
    )  # fmt: skip
    with pytest.raises(Finished):
        live.ask(2)
    learner, answers = replayed(problem, None, longer, seed=2)
    assert mismatches(longer, answers).tolist() == [last]
    assert learner.pulls == last + 1


def test_imported_results_are_taken_in_without_being_judged() -> None:
    _, problem = arena()
    script = as_script([BEGUN, LEARNED, LEARNED], [0, 0, 1], [2, 1], [0.1, 0.1], [0.1, 0.1], np.zeros((2, 3)))
    learner, answers = replayed(problem, None, script)
    assert learner.pulls == 2
    assert (answers.status == -1).all()
    assert len(mismatches(script, answers)) == 0


def test_a_replay_goes_on_as_the_live_session_does() -> None:
    world, problem = arena()
    live = sf.Session(problem, seed=4)
    script = drive(live, 50, 1, np.random.default_rng(1))
    again, _ = replayed(problem, None, script, seed=4)
    for _ in range(30):
        pull = live.ask()
        assert (again.decision.arm, again.decision.level) == (pull.arm, pull.level)
        result = world.measure(pull, seed=3)
        live.tell(pull, **result)
        again.take(pull.arm, pull.level, signals_of(problem, **result))
    same_state(live, again)


def test_interpreter_and_compiler_agree_to_the_last_bit() -> None:
    _, problem = arena()
    found = []
    for plain in (False, True):
        with interpreting() if plain else nullcontext():
            live = sf.Session(problem, seed=7)
            script = drive(live, 30, 4, np.random.default_rng(9))
            learner, answers = replayed(problem, None, script, seed=7)
        same_state(live, learner)
        found.append([*(column.tobytes() for column in (*script, *answers)), learner.state.whole.tobytes()])
    assert found[0] == found[1]
