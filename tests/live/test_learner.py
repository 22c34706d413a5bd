"""What a learner refuses, and that whatever breaks off leaves nothing half learned."""

from typing import Any, ClassVar

import pytest

import surefoot as sf
from surefoot.core.kernel import interpreting, with_globals
from surefoot.errors import InterpretedWarning, InvalidInput
from surefoot.live.learner import Learner

WORLD = sf.worlds.limited()
PROBLEM = WORLD.default_problem()


class BreaksOff:
    """SafeGap in plain Python, whose decision is broken off when it is asked for the n-th time."""

    name: ClassVar[str] = "breaks-off"
    version: ClassVar[int] = 1

    def __init__(self) -> None:
        self.left = 10**9

    def guarantee(self, problem: sf.Problem) -> Any:
        return sf.SafeGap().guarantee(problem)

    def plan(self, problem: sf.Problem) -> Any:
        plan = sf.SafeGap().plan(problem)
        inner = with_globals(plan.decide, {"reachable": self.counted(plan.decide.__globals__["reachable"])})
        inner.__dict__.clear()
        return plan._replace(decide=inner)

    def counted(self, reachable: Any) -> Any:
        def counting(*arguments: Any) -> Any:
            self.left -= 1
            if self.left < 0:
                raise KeyboardInterrupt
            return reachable(*arguments)

        return counting


def learned(pulls: int = 5) -> tuple[Learner, BreaksOff]:
    policy = BreaksOff()
    with interpreting():
        learner = Learner(PROBLEM, policy, seed=1)  # type: ignore[arg-type]
    for _ in range(pulls):
        decision = learner.decision
        learner.take(decision.arm, decision.level, [0.3, -0.05])
    return learner, policy


@pytest.mark.parametrize("after", [0, 1, 2])
def test_what_breaks_off_while_looking_ahead_leaves_all_as_it_was(after: int) -> None:
    """Else what was only expected of open pulls would be taken for learned."""
    learner, policy = learned()
    before, decision = learner.state.whole.copy(), learner.decision
    expected = learner.choose([(0, 0.2)], 3)
    policy.left = after
    with pytest.raises(KeyboardInterrupt):
        learner.choose([(0, 0.2)], 3)
    policy.left = 10**9
    assert (learner.state.whole == before).all()
    assert (learner.pulls, learner.decision) == (5, decision)
    assert learner.choose([(0, 0.2)], 3) == expected


def test_a_result_that_was_taken_in_stays_so_if_its_decision_breaks_off() -> None:
    learner, policy = learned()
    policy.left = 0
    with pytest.raises(KeyboardInterrupt):
        learner.take(1, 0.2, [0.3, -0.05])
    policy.left = 10**9
    other, _ = learned()
    other.take(1, 0.2, [0.3, -0.05])
    assert learner.pulls == other.pulls == 6
    assert learner.decision == other.decision
    assert (learner.state.whole == other.state.whole).all()


@pytest.mark.parametrize(
    ("arm", "level", "observed"),
    [(-1, 0.2, [0.0, 0.0]), (4, 0.2, [0.0, 0.0]), (0, 1.5, [0.0, 0.0]), (0, float("nan"), [0.0, 0.0]),
     (0, 0.2, [0.0]), (0, 0.2, [0.0, 0.0, 0.0]), (0, 0.2, [0.0, float("inf")])],
    ids=["below", "beyond", "level", "no level", "too few", "too many", "infinite"],
)  # fmt: skip
def test_what_cannot_have_been_measured_is_refused(arm: int, level: float, observed: list[float]) -> None:
    learner, _ = learned(2)
    with pytest.raises(InvalidInput) as caught:
        learner.take(arm, level, observed)
    assert caught.value.field == "pull"
    assert learner.pulls == 2


@pytest.mark.parametrize("open_pulls", [[(9, 0.2)], [(-1, 0.2)], [(0, 1.2)], [(0, -0.1)]])
def test_open_pulls_that_cannot_be_are_refused(open_pulls: list[tuple[int, float]]) -> None:
    learner, _ = learned(2)
    with pytest.raises(InvalidInput) as caught:
        learner.choose(open_pulls)
    assert caught.value.field == "open_pulls"


def test_a_mixed_learner_can_break_off_too() -> None:
    policy = BreaksOff()
    with pytest.warns(InterpretedWarning):
        learner = Learner(PROBLEM, policy, seed=1)  # type: ignore[arg-type]
    before = learner.state.whole.copy()
    policy.left = 1
    with pytest.raises(KeyboardInterrupt):
        learner.choose([(0, 0.2)], 4)
    assert (learner.state.whole == before).all()
    assert learner.pulls == 0
