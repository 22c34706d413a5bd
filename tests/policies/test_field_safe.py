"""Methods of the field that know limits: what they refuse, what they certify, and what they never do."""

from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.core.kernel import interpreting
from surefoot.core.phases import LEAST_STEP
from surefoot.core.safe_match import find_levels, meet_safely, new_safe_match
from surefoot.core.types import NULL
from surefoot.errors import InvalidInput
from surefoot.policies.bound import faced
from surefoot.simulation import run_session

CERTIFYING = (sf.policies.SafeElimination(), sf.policies.SafeGame())


def limited(delta: float = 0.1) -> tuple[sf.worlds.Linear, sf.Problem]:
    """Three arms, of which the best is not safe at full level."""
    world = sf.worlds.Linear(
        [[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]], theta_star=[1.0, 0.3], mu_star=[-0.8, 0.1], noise=0.1, safety_noise=0.1,
        limit=-0.5,
    )  # fmt: skip
    return world, world.problem(epsilon=0.2, delta=delta, delta_safety=0.1, safe_level=0.4)


def apart() -> tuple[sf.worlds.Linear, sf.Problem]:
    """Three independent doses."""
    world = sf.worlds.doses(efficacy=[1.0, 0.5, 0.2], toxicity=[0.8, 0.1, 0.4], noise=0.1, safety_noise=0.05)
    return world, world.problem(epsilon=0.2, delta=0.1, delta_safety=0.1, safe_level=0.3)


def rising(bend: Any = (1.0, -1.0)) -> tuple[sf.worlds.Monotone, sf.Problem]:
    """The same with effects that bend."""
    world = sf.worlds.Monotone(
        sf.worlds.doses(efficacy=[1.0, 0.3], toxicity=[0.7, 0.1], noise=0.03, safety_noise=0.02), bend=bend
    )
    return world, world.problem(epsilon=0.3, delta=0.1, delta_safety=0.1, safe_level=0.3)


def played(policy: Any, placed: tuple[Any, sf.Problem], most: int = 600) -> sf.Session:
    with interpreting():
        session = sf.Session(placed[1], policy, seed=3, max_pulls=most)
        run_session(placed[0], session, seed=3)
    return session


@pytest.mark.parametrize("policy", CERTIFYING, ids=lambda policy: policy.name)
def test_certified_pulls_end_in_the_whole_promise(policy: Any) -> None:
    world, problem = limited()
    session = played(policy, (world, problem))
    found = session.certificate
    assert found is not None
    assert (found.guarantee, found.confidence, found.keeps_limits) == ("within-epsilon", 0.9, True)
    assert not world.judge(problem).is_wrong(found.arm, found.level)
    assert found.level > problem.safe_level[found.arm]
    assert policy.guarantee(problem) == sf.SafeGap().guarantee(problem)


def test_an_answer_that_is_safe_does_not_say_that_pulls_were() -> None:
    world, problem = limited()
    session = played(sf.policies.Beside(), (world, problem))
    found = session.certificate
    assert found is not None
    assert (found.guarantee, found.keeps_limits) == ("safe-answer", False)
    assert found.confidence == pytest.approx(0.8)
    assert "No limit was kept while learning" in found.statement
    assert "no pull crossed a limit" not in found.statement
    assert found.level < 1.0  # what it recommends is safe
    assert session.recommendation is not None
    assert world.is_safe(found.arm, found.level)
    with interpreting():
        runs = sf.simulate(world, problem, sf.policies.Beside(), runs=2, seed=3, max_pulls=600)
    assert (runs.unsafe_pulls > 0).all()  # what it tried was not
    assert not runs.answer_unsafe.any()


# -- phases and games -------------------------------------------------------------------------------------------------


def test_a_phase_asks_for_enough_to_narrow_the_question_that_is_most_open() -> None:
    """Whatever arms are due, with that much of each the length of leader against challenger is a tenth less."""
    world, problem = limited()
    with interpreting():
        session = sf.Session(problem, sf.policies.SafeElimination(), seed=3, alarm_level=None)
        learner, checked, phase = session.ledger.learner, 0, 0
        X = learner._faced.inst.X
        while not session.stopped:
            state, race = learner.state, learner.decision
            if state.own.number[0] > phase and race.challenger not in (NULL, race.leader):
                phase, i, j = int(state.own.number[0]), race.leader, race.challenger
                y = state.levels.high[j] * X[j] - race.leader_level * X[i]
                now, then = ((X.T * N) @ X for N in (state.estimate.N, np.maximum(state.estimate.N, state.own.due)))
                asked = state.own.due > state.estimate.N
                assert asked.any()
                assert asked[race.arm]
                assert y @ np.linalg.solve(then, y) <= LEAST_STEP**2 * (y @ np.linalg.solve(now, y)) * (1 + 1e-9)
                checked += 1
            pull = session.ask()
            session.tell(pull, **world.measure(pull, seed=3, problem=problem))
    assert checked >= 2


def test_nature_takes_the_nearest_truth_and_gains_are_slopes() -> None:
    """f_j by the formula of (S7), its least over all rivals, and its slope in each share by finite differences."""
    problem = limited()[1]
    found = faced(sf.policies.SafeGame(), problem)
    inst, state, match = found.inst, found.new_state(), new_safe_match(3, 2)
    state.estimate.est[0], state.estimate.est[1] = [0.9, 0.35, 0.8], [-0.9, 0.1, -0.6]
    state.levels.low[:], state.levels.high[:] = [0.4, 1.0, 0.5], [0.8, 1.0, 0.9]
    i = find_levels(inst, state, match)
    levels = np.array([0.5 / 0.9, 1.0, 0.5 / 0.6])
    assert match.level == pytest.approx(levels)
    assert i == 2
    slope = levels**2 * [0.9, 0.35, 0.8] * inst.R[1] / 0.5 * [1, 0, 1]  # the level of the second is known
    reach, shares = np.array([0.4, 1.0, 0.5]), np.array([0.3, 0.3, 0.4])

    def worth(w: Any, j: int) -> float:
        V = (inst.X.T * (w * reach**2)) @ inst.X
        level, other = (levels[j], slope[j]) if j < 3 else (0.0, 0.0)
        y = level * inst.X[min(j, 2)] - levels[i] * inst.X[i]
        squares = np.einsum("kd,kd->k", inst.X, np.linalg.solve(V, inst.X.T).T)
        value = level * state.estimate.est[0, min(j, 2)]
        gap = levels[i] * state.estimate.est[0, i] - value + inst.epsilon
        opened = other**2 * squares[min(j, 2)] + slope[i] ** 2 * squares[i]
        return float(gap**2 / (2 * (inst.R[0] ** 2 * y @ np.linalg.solve(V, y) + opened * (2 if j == i else 1))))

    j = meet_safely(inst, state, match, shares, reach, i)
    assert j == int(np.argmin([worth(shares, j) for j in range(4)]))
    for k in range(3):
        step = 1e-5 * np.eye(3)[k]
        slope_k = (worth(shares + step, j) - worth(shares - step, j)) / 2e-5
        assert match.move[k] ** 2 / 2 == pytest.approx(slope_k, rel=1e-3)


# -- independent doses ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", [sf.policies.SafeLinear(), sf.policies.SafeMonotonic()], ids=lambda each: each.name)
def test_arms_that_share_a_direction_are_refused_by_name(policy: Any) -> None:
    problem = limited()[1]
    for ask in (policy.guarantee, policy.plan):
        with pytest.raises(InvalidInput, match=rf"a3.*must be orthogonal for {policy.name}.*safe-gap"):
            ask(problem)


def test_settings_between_which_nothing_can_be_certified_are_refused_by_name() -> None:
    problem = rising()[1].with_(level_grid=[0.3, 0.6, 1.0])
    with pytest.raises(InvalidInput, match=r"level_grid.*must be left out for safe-monotonic"):
        sf.policies.SafeMonotonic().plan(problem)


def test_independent_doses_end_in_the_whole_promise() -> None:
    world, problem = apart()
    found = played(sf.policies.SafeLinear(), (world, problem)).certificate
    assert found is not None
    assert (found.guarantee, found.confidence, found.keeps_limits) == ("within-epsilon", 0.9, True)
    assert not world.judge(problem).is_wrong(found.arm, found.level)


def test_effects_that_rise_in_whatever_way_are_followed_in_safe_stages() -> None:
    """Levels rise stage by stage and stay safe, no alarm about linear means rings, and the certificate says what it
    rests on."""
    world, problem = rising()
    session = played(sf.policies.SafeMonotonic(), (world, problem), most=3_000)
    found, judge = session.certificate, world.judge(problem)
    assert found is not None
    assert (found.guarantee, found.confidence, found.keeps_limits) == ("within-reserve", 0.9, True)
    assert "a tenth of its room in reserve" in found.statement
    assert any("does not fall as the level rises" in each for each in found.assumptions)
    assert not any("linear" in each for each in found.assumptions)
    assert not judge.is_too_far(found.arm, found.level, best=judge.with_reserve(0.1))
    memory = session.ledger.learner.state.sets
    assert memory.stage[0] > 2
    assert judge.is_safe(np.arange(2), memory.level).all()
    assert (memory.level > problem.safe_level).all()


def test_what_is_certified_of_a_rising_effect_follows_from_its_slope_alone_at_first() -> None:
    problem = rising()[1]
    with interpreting():
        session = sf.Session(problem, sf.policies.SafeMonotonic(), seed=1)
    assert session.levels == pytest.approx(np.full(2, -problem.safety[0].eta0 / problem.safety[0].largest), rel=1e-12)
