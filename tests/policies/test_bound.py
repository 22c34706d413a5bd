"""A policy bound into the loops: compiled, in plain Python, or mixed, and every form takes the same pulls."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

import surefoot as sf
from surefoot.core.compiler import Entry
from surefoot.core.coordinates import evened
from surefoot.core.kernel import interpreting, is_kernel, with_globals
from surefoot.errors import InterpretedWarning, NeverStopsWarning
from surefoot.policies import bound
from surefoot.policies.bound import ceiling_of, faced, parts_of, replay_of
from surefoot.simulation import run_session

# One worker for all: what is compiled for the first of them serves the others.
pytestmark = pytest.mark.xdist_group("forms of a policy")

WORLD = sf.worlds.limited()
PROBLEM = WORLD.default_problem()


def unmarked(function: Any) -> Any:
    """The same source without its mark: plain Python, for all that is known."""
    copy = with_globals(function, {})
    copy.__dict__.clear()
    return copy


@dataclass(frozen=True)
class Foreign:
    """SafeGap, some of whose parts are plain Python."""

    name: ClassVar[str] = "foreign"
    version: ClassVar[int] = 1
    plain_parts: tuple[str, ...]

    def guarantee(self, problem: sf.Problem) -> Any:
        return sf.SafeGap().guarantee(problem)

    def plan(self, problem: sf.Problem) -> Any:
        plan = sf.SafeGap().plan(problem)
        of_set = {name: unmarked(getattr(plan.sets, name)) for name in self.plain_parts if name != "decide"}
        decide = unmarked(plan.decide) if "decide" in self.plain_parts else plan.decide
        return plan._replace(decide=decide, sets=replace(plan.sets, **of_set))


def pulls_of(policy: Any, most: int = 40) -> tuple[list[sf.Pull], bytes]:
    """So many pulls of a session, and all that it has learned."""
    session = sf.Session(PROBLEM, policy, seed=3, max_pulls=most)
    pulls = run_session(WORLD, session, seed=3)
    return pulls, session.ledger.learner.state.whole.tobytes()


@pytest.mark.parametrize("policy", [sf.SafeGap(), sf.SafeLinGapE()], ids=lambda policy: policy.name)
def test_loops_over_a_few_arms_do_the_same_to_the_last_digit(policy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to so many arms they take one at a time; a computer that takes several at once rounds no otherwise."""
    assert PROBLEM.size <= bound.A_FEW
    short = pulls_of(policy)
    monkeypatch.setattr(bound, "A_FEW", 0)
    assert pulls_of(policy) == short


@pytest.mark.parametrize(
    "parts", [("decide",), ("bound_safety",), ("learn", "ball"), ("decide", "bound_leads")], ids=str
)
def test_a_mixed_form_takes_the_same_pulls_as_a_compiled_one(parts: tuple[str, ...]) -> None:
    with pytest.warns(InterpretedWarning):
        mixed = pulls_of(Foreign(parts))
    assert mixed == pulls_of(sf.SafeGap())


def test_a_plain_form_takes_the_same_pulls_as_a_compiled_one() -> None:
    with interpreting():
        plain = pulls_of(sf.SafeGap())
    assert plain == pulls_of(sf.SafeGap())


def test_a_mixed_form_simulates_what_a_compiled_one_does() -> None:
    setting = {"runs": 2, "seed": 5, "max_pulls": 50, "workers": 2}
    with pytest.warns(InterpretedWarning):
        mixed = sf.simulate(WORLD, PROBLEM, Foreign(("decide",)), **setting)
    compiled = sf.simulate(WORLD, PROBLEM, sf.SafeGap(), **setting)
    assert mixed.pulls_per_arm.tolist() == compiled.pulls_per_arm.tolist()
    assert mixed.gap.tolist() == compiled.gap.tolist()
    assert mixed.levels.tolist() == compiled.levels.tolist()


def test_the_warning_names_what_is_plain_and_points_at_the_caller() -> None:
    with pytest.warns(InterpretedWarning) as caught:
        sf.Session(PROBLEM, Foreign(("decide", "ball")))
    (one,) = caught
    assert str(one.message).startswith("foreign: decide, sets_ball is plain Python")
    assert "kernel" in str(one.message)
    assert one.filename == __file__


def test_a_policy_that_may_never_stop_warns_where_it_is_used() -> None:
    policy = sf.SafeLinGapE(levels="static", selection="optimistic")
    for use in (lambda: sf.Session(PROBLEM, policy), lambda: sf.simulate(WORLD, PROBLEM, policy, runs=1, max_pulls=5)):
        with pytest.warns(NeverStopsWarning) as caught:
            use()
        assert {one.filename for one in caught} == {__file__}


def test_a_policy_of_kernels_is_compiled_without_a_word() -> None:
    found = faced(sf.SafeGap(), PROBLEM)
    assert all(is_kernel(part) for part in parts_of(found.plan).values())
    assert isinstance(replay_of(found), Entry)


def test_a_policy_that_refuses_to_compile_is_refused_by_name() -> None:
    from surefoot.core.kernel import kernel

    @kernel
    def decide(inst: Any, rules: Any, state: Any, work: Any, seed: int, run: int) -> Any:
        return f"{seed:3d}"

    class Wordy(Foreign):
        def plan(self, problem: sf.Problem) -> Any:
            return sf.SafeGap().plan(problem)._replace(decide=decide)

    with pytest.raises(TypeError, match=r"foreign cannot be compiled .*leave the mark off"):
        sf.Session(PROBLEM, Wordy(()))


# -- the problem as numbers -------------------------------------------------------------------------------------------


def test_an_instance_is_the_problem_in_numbers() -> None:
    limits = [
        sf.Limit("heat", at_most=70.0, baseline=40.0, noise=2.0, norm=30.0),
        sf.Limit("qos", at_least=-0.5, noise=0.1, norm=1.0),
    ]
    problem = PROBLEM.with_(safety=limits, max_step=0.25, epsilon=0.3)
    np.testing.assert_array_equal(faced(sf.SafeLinGapE(), problem).inst.X, problem.features)
    inst = faced(sf.SafeGap(), problem).inst
    np.testing.assert_array_equal(inst.X, evened(problem.features))  # coordinates of its own
    assert inst.R.tolist() == [problem.reward.noise, 2.0, 0.1]
    assert inst.eta0.tolist() == [-30.0, -0.5]
    assert inst.dial.gamma0.tolist() == problem.safe_level.tolist()
    assert inst.dial.step == pytest.approx(0.25)
    assert (inst.epsilon, len(inst.dial.grid)) == (0.3, 0)
    assert inst.X.flags.writeable  # compiled code tells writable arrays from read-only ones


def test_the_top_of_a_dial_is_one_of_its_settings() -> None:
    problem = PROBLEM.with_(safe_level=0.2, level_grid=[0.2, 0.5, 0.8], max_level=[0.2, 0.79, 0.8, 1.0])
    assert ceiling_of(problem).tolist() == [0.2, 0.5, 0.8, 0.8]
    assert ceiling_of(PROBLEM.with_(max_level=0.7)).tolist() == [0.7] * PROBLEM.size
