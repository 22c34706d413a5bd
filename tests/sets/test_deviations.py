"""What errors of the linear law add to the sets, against its definition over all pulls that were made. (W2, W4)"""

from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.core.compiler import compiled
from surefoot.core.kernel import interpreting, plain
from surefoot.core.parts import bound_leads, bound_safety
from surefoot.live.learner import Learner
from surefoot.policies.bound import parts_of
from surefoot.problem.nearly_linear import checked_error
from surefoot.problem.noise import NoiseLaw


def scattered(arms: int, within: float = 0.1, reward: float = 0.02) -> tuple[sf.worlds.Linear, sf.Problem]:
    """Random arms under two limits."""
    rng = np.random.default_rng(4)
    world = sf.worlds.Linear(
        rng.standard_normal((arms, 3)), theta_star=[1.0, 0.5, -0.2], mu_star=[[-0.6, -0.2, 0.1], [0.1, -0.5, -0.2]],
        noise=0.3, safety_noise=[0.1, 0.2], limit=[-0.5, -0.6],
    )  # fmt: skip
    problem = world.problem(epsilon=0.01, delta=0.1, delta_safety=0.1, safe_level=0.1)
    limits = [
        sf.Limit(each.name, at_least=each.limit, noise=each.noise, within=share * within)
        for each, share in zip(problem.safety, (1.0, 2.0), strict=True)
    ]
    return world, problem.with_(safety=limits, reward=sf.Reward(noise=0.3, within=reward))


def learned(world: sf.worlds.Linear, problem: sf.Problem, pulls: int) -> tuple[Any, Any]:
    """An experiment after so many pulls, and the pulls as rows."""
    learner, rows = Learner(problem, sf.SafeGap(), seed=1), []
    for number in range(1, pulls + 1):
        arm, level = learner.decision.arm, learner.decision.level
        told = world.measure(Pulled(arm, level, number), seed=1, problem=problem)
        learner.take(arm, level, [told["reward"], *told["safety"]])
        rows.append(level * learner._faced.inst.X[arm])
    return learner, np.array(rows)


class Pulled:
    def __init__(self, arm: int, level: float, number: int) -> None:
        self.arm, self.level, self.number = arm, level, number


def test_least_squares_may_be_off_by_the_sum_over_all_pulls() -> None:
    learner, rows = learned(*scattered(6), 80)
    X, state, bounds = learner._faced.inst.X, learner.state, learner.work.bounds
    inverse, drift = np.linalg.inv(rows.T @ rows), state.sets.drift
    assert drift.arm == pytest.approx(np.abs(X @ inverse @ rows.T).sum(axis=1), rel=1e-6)
    decision, high = learner.decision, state.levels.high
    i, level = decision.leader, decision.leader_level
    for k in range(6):
        y = high[k] * X[k] - level * X[i]
        assert drift.lead[k] == pytest.approx(np.abs(y @ inverse @ rows.T).sum(), rel=1e-6)
        plain = high[k] * state.estimate.est[0, k] - level * state.estimate.est[0, i]
        if k != i:
            assert bounds.lead[k] >= plain + 0.02 * drift.lead[k] + 2 * 0.02
    assert bounds.lead[6] >= 2 * 0.02


@pytest.fixture(scope="module")
def many_arms() -> tuple[Any, Any]:
    """An experiment on many arms, in plain Python: its loop takes most of a minute to compile, and this no second."""
    with interpreting():
        learner, rows = learned(*scattered(80), 60)
    assert learner._faced.inst.few_columns
    return learner, rows


def test_of_many_arms_it_is_bounded_and_never_narrower(many_arms: tuple[Any, Any]) -> None:
    learner, rows = many_arms
    X, inverse = learner._faced.inst.X, np.linalg.inv(rows.T @ rows)
    exact = np.abs(X @ inverse @ rows.T).sum(axis=1)
    crude = learner.state.sets.drift.arm
    assert crude == pytest.approx(np.sqrt(60 * np.einsum("ka,ab,kb->k", X, inverse, X)), rel=1e-6)
    assert (crude >= exact * (1.0 - 1e-9)).all()
    assert (crude <= 2.0 * exact).all()


def test_compiled_code_bounds_many_arms_as_the_interpreter_does(many_arms: tuple[Any, Any]) -> None:
    """Of the loop the parts in which the error of many arms is bounded otherwise than that of few."""
    learner, found = many_arms[0], many_arms[0]._faced
    inst, parts, decision = found.inst, parts_of(found.plan, found.inst.few_columns), learner.decision

    def bounded(form: Any) -> list[bytes]:
        state, work = found.new_state(), found.new_work()
        state.whole[:] = learner.state.whole
        form(bound_safety)(inst, state, work)
        form(bound_leads)(inst, state, work, decision.leader, decision.leader_level, True)
        return [state.whole.tobytes(), *(each.tobytes() for each in work.bounds)]

    by_compiler = bounded(lambda kernel: compiled(kernel, parts, "nearly linear"))
    assert bounded(lambda kernel: plain(kernel, parts)) == by_compiler


@pytest.mark.certify
def test_a_compiled_loop_meets_many_arms_as_the_interpreter_does(many_arms: tuple[Any, Any]) -> None:
    """The whole of it, which is what takes long to compile."""
    assert learned(*scattered(80), 60)[0].state.whole.tobytes() == many_arms[0].state.whole.tobytes()


def test_bounds_are_wider_by_it_on_both_sides() -> None:
    """The same results, told to sets that know of the error and to sets that do not."""
    world, problem = scattered(6)
    exact = problem.with_(
        reward=sf.Reward(noise=0.3),
        safety=[sf.Limit(each.name, at_least=each.limit, noise=each.noise) for each in problem.safety],
    )
    nearly, plain = (Learner(each, sf.SafeGap(opening="at-once"), seed=1) for each in (problem, exact))
    for number in range(1, 41):
        arm, level = number % 6, 0.1 + 0.05 * (number % 3)
        told = world.measure(Pulled(arm, level, number), seed=1, problem=problem)
        for learner in (nearly, plain):
            learner.take(arm, level, [told["reward"], *told["safety"]])
    for s, within in enumerate((0.1, 0.2)):
        drift, wide, narrow = within * nearly.state.sets.drift.arm, nearly.work.bounds, plain.work.bounds
        assert wide.most[s] == pytest.approx(narrow.most[s] + drift, rel=1e-6)
        assert (wide.lower[s] <= narrow.lower[s] - drift + 1e-9).all()
        assert (wide.upper[s] >= narrow.upper[s] + drift - 1e-9).all()


def test_the_interpreter_decides_as_compiled_code_does() -> None:
    world, problem = scattered(5)

    def played() -> list[tuple[int, float, float | None]]:
        session, found = sf.Session(problem, seed=3), []
        for _ in range(25):
            pull = session.ask()
            found.append((pull.arm, pull.level, pull.gap))
            session.tell(pull, **world.measure(pull, seed=3, problem=problem))
        return found

    compiled = played()
    with interpreting():
        assert played() == compiled


def test_room_counts_only_where_there_is_a_limit() -> None:
    assert checked_error("reward.within", 100.0, NoiseLaw(size=1.0, bound=1.0)) == 100.0
