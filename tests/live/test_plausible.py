"""What is implausible is not taken in unasked, and not lost."""

import pickle
from dataclasses import replace
from math import inf, log, sqrt
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from scenes import POLICIES, arena
from surefoot.core.kernel import interpreting
from surefoot.errors import Held, HeldWarning, Implausible, ModelAlarm
from surefoot.live.learner import Learner
from surefoot.live.plausible import REACH, surprises_in, surprises_in_rows

PUMPS = sf.Problem(
    arms={"pump A": [1, 0], "pump B": [0, 1], "both": [0.6, 0.4]}, reward=sf.Reward(noise=0.5, norm=2.0),
    safety=[sf.Limit("pressure", at_most=8.0, baseline=5.0, noise=0.3, norm=5.0)],
    safe_level=0.2, epsilon=0.15, delta=0.05, delta_safety=0.05,
)  # fmt: skip
PLANT = sf.worlds.Linear.for_problem(PUMPS, theta_star=[1.5, 0.3], mu_star=[[4.0, 2.0]])
JUDGE = PLANT.judge(PUMPS)


def driven(session: sf.Session, pulls: int) -> sf.Session:
    """The session after so many pulls."""
    for _ in range(pulls):
        pull = session.ask()
        session.tell(pull, **PLANT.measure(pull, seed=7))
    return session


def state_of(session: sf.Session) -> bytes:
    """All that was learned."""
    return session.ledger.learner.state.whole.tobytes()


# -- the range ----------------------------------------------------------------------------------------------------


def test_the_reach_of_noise_has_a_chance_below_one_in_a_billion() -> None:
    assert sqrt(2 * log(2e9)) == REACH
    assert 2 * np.exp(-(REACH**2) / 2) <= 1e-9 * (1 + 1e-12)


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_every_policy_expects_what_its_sets_allow_compiled_or_not(policy: Any) -> None:
    _, problem = arena()
    learner = Learner(problem, policy or sf.SafeGap(), seed=1)
    with interpreting():
        slow = Learner(problem, policy or sf.SafeGap(), seed=1)
    rng = np.random.default_rng(1)
    for _ in range(40):
        arm, level = int(rng.integers(problem.size)), float(rng.choice([0.1, 0.2, 0.3]))
        low, high, noise = learner.expected_with_noise(arm, level)
        np.testing.assert_array_equal((low, high, noise), slow.expected_with_noise(arm, level))
        assert (low <= high).all()
        x = problem.features[arm]
        means = level * np.array([x @ [1.0, 0.4], x @ [-0.7, 0.1], x @ [0.1, -0.6]])
        assert ((low <= means) & (means <= high)).all()
        known = level / problem.safe_level[arm] * np.array([limit.eta0 for limit in problem.safety])
        assert (low[1:] >= known).all()
        observed = means + rng.normal(size=3) * [0.2, 0.1, 0.05]
        learner.take(arm, level, observed.tolist())
        slow.take(arm, level, observed.tolist())


def test_nothing_applied_must_read_the_baseline() -> None:
    learner = Learner(PUMPS, sf.SafeGap(), seed=1)
    assert not surprises_in(learner, 0, 0.0, 0.5 * 6.5, [5.0 + 0.3 * 6.5])
    (found,) = surprises_in(learner, 0, 0.0, 0.0, [5.0 + 0.3 * 6.6])
    assert (found.signal, found.unsafe) == ("pressure", True)
    assert found.low == pytest.approx(5.0 - 0.3 * REACH)
    assert found.high == pytest.approx(5.0 + 0.3 * REACH)


def test_before_the_pulls_span_the_stated_norm_asks_and_the_known_level_refuses() -> None:
    """SafeGap knows nothing by then: of the two sides of the pressure, the problem itself bounds one."""
    learner = Learner(PUMPS, sf.SafeGap(), seed=1)
    low, high = learner.expected(0, 0.1)
    assert (low.tolist(), high.tolist()) == ([-inf, -1.5], [inf, inf])
    (reward, pressure) = surprises_in(learner, 0, 0.1, 1e300, [-1e300])
    assert reward.high == pytest.approx(0.1 * 2.0 + 0.5 * REACH)
    assert (pressure.low, pressure.unsafe) == (pytest.approx(5.0 - 0.1 * 5.0 - 0.3 * REACH), False)
    (pressure,) = surprises_in(learner, 0, 0.1, 0.0, [1e300])
    assert (pressure.high, pressure.unsafe) == (pytest.approx(5.0 + 1.5 + 0.3 * REACH), True)


def test_before_the_pulls_span_the_largest_effect_asks_whatever_the_units_of_the_features() -> None:
    stated = PUMPS.with_(
        arms={"pump A": [1e6, 0], "pump B": [0, 1e-6], "both": [6e5, 4e-7]},
        reward=sf.Reward(noise=0.5, largest=2.0),
        safety=[sf.Limit("pressure", at_most=8.0, baseline=5.0, noise=0.3, largest=6.0)],
    )
    (reward, pressure) = surprises_in(Learner(stated, sf.SafeGap(), seed=1), 0, 0.1, 1e300, [-1e300])
    assert reward.high == pytest.approx(0.1 * 2.0 + 0.5 * REACH)
    assert pressure.low == pytest.approx(5.0 - 0.1 * 6.0 - 0.3 * REACH)


def test_where_nothing_is_known_and_no_norm_is_stated_nothing_is_refused() -> None:
    session = sf.Session(without_norms(PUMPS), seed=7)
    session.tell(session.ask(), reward=1e6, safety=-1e6)
    assert session.pulls == 1
    with pytest.raises(Implausible, match=r"pressure = 1e\+06, where .* to 9.9634 was"):
        session.tell(session.ask(), reward=1e6, safety=1e6)


def without_norms(problem: sf.Problem) -> sf.Problem:
    """The problem with norms so large that they say nothing."""
    limits = [replace(limit, norm=1e9) for limit in problem.safety]
    return problem.with_(reward=replace(problem.reward, norm=1e9), safety=limits)


def test_honest_results_are_never_refused() -> None:
    for seed in range(20):
        session = sf.Session(PUMPS, seed=seed, max_pulls=200)
        while not session.stopped:
            pull = session.ask()
            session.tell(pull, **PLANT.measure(pull, seed=seed))
        assert session.outcome in ("certified", "undecided")


def test_a_table_is_judged_row_by_row_on_the_rows_before() -> None:
    learner, rows = Learner(PUMPS, sf.SafeGap(), seed=1), []
    for number in range(1, 31):
        pull = sf.Pull(number, number % 3, "", 0.2, "decide", 0.0, None, None, None)
        result = PLANT.measure(pull, seed=1)
        rows.append((pull.arm, pull.level, result["reward"], result["safety"]))
    rows[20] = (0, 0.2, 0.0, [58.0])
    found = surprises_in_rows(learner, rows)
    assert list(found) == [20]
    assert (found[20][0].unsafe, learner.pulls) == (True, 29)


# -- what happens to them -----------------------------------------------------------------------------------------


def test_a_typo_is_refused_with_value_range_and_limit_and_nothing_is_learned() -> None:
    session = driven(sf.Session(PUMPS, seed=7), 10)
    before, pull = state_of(session), session.ask()
    with pytest.raises(Implausible, match=r"pressure = 56, where .* to .* was to be expected") as refused:
        session.tell(pull, reward=0.4, safety=56.0)
    assert (refused.value.number, refused.value.unsafe, refused.value.held) == (11, True, True)
    assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)
    assert state_of(session) == before
    assert session.pulls == 10
    (held,) = session.held
    assert (held.number, held.reward, held.safety, held.unsafe) == (11, 0.4, {"pressure": 56.0}, True)
    assert session.status().to_dict()["held"] == [held.to_dict()]


def test_on_the_unsafe_side_nobody_is_given_a_pull_until_it_is_replaced() -> None:
    session = driven(sf.Session(PUMPS, seed=7), 10)
    first, second = session.ask(2)
    with pytest.raises(Implausible):
        session.tell(first, reward=0.4, safety=56.0)
    for again in (session.ask, lambda: session.ask(1)):
        with pytest.raises(Held, match=r"pull 11 is held .* on the unsafe side"):
            again()
    session.tell(second, **PLANT.measure(second, seed=7))  # what is open may be told
    session.tell(first, **PLANT.measure(first, seed=7))
    assert (session.pulls, session.held) == (12, ())
    twin = driven(sf.Session(PUMPS, seed=7), 10)
    for pull in twin.ask(2):
        twin.tell(pull, **PLANT.measure(pull, seed=7))
    assert state_of(session) == state_of(twin)


def test_on_the_safe_side_only_the_pull_itself_is_held() -> None:
    session = driven(sf.Session(PUMPS, seed=7), 10)
    with pytest.raises(Implausible) as refused:
        session.tell(session.ask(), reward=0.4, safety=-56.0)
    assert not refused.value.unsafe
    with pytest.raises(Held, match="no pull to go on with"):
        session.ask()  # it is the same until its result is taken in
    assert [pull.number for pull in session.ask(2)] == [12, 13]


def test_a_reward_has_no_unsafe_side() -> None:
    session = driven(sf.Session(PUMPS, seed=7), 10)
    with pytest.raises(Implausible, match="reward = 40, where") as refused:
        session.tell(session.ask(), reward=40.0, safety=6.0)
    assert not refused.value.unsafe


def test_what_is_confirmed_is_taken_in_and_recorded() -> None:
    session = driven(sf.Session(PUMPS, seed=7), 10)
    pull = session.ask()
    with pytest.raises(Implausible):
        session.tell(pull, reward=40.0, safety=6.0)
    assert (session.outcome, session.alarms) == (None, ())  # nobody judges the model by what is not taken in
    with pytest.warns(ModelAlarm, match="reward: its readings scatter more"):
        session.tell(pull, reward=40.0, safety=6.0, confirm=True)
    assert (session.pulls, session.held, session.ledger.confirmed) == (11, (), [11])


def test_a_plausible_result_needs_no_confirmation_and_is_not_marked() -> None:
    session = sf.Session(PUMPS, seed=7)
    pull = session.ask()
    session.tell(pull, **PLANT.measure(pull, seed=7), confirm=True)
    assert session.ledger.confirmed == []


def test_a_result_that_waited_is_judged_when_its_turn_comes() -> None:
    session = driven(sf.Session(PUMPS, seed=7), 10)
    first, second, third = session.ask(3)
    session.tell(third, **PLANT.measure(third, seed=7))
    session.tell(second, reward=0.4, safety=56.0)  # nobody knows yet what will be known by then
    assert session.held == ()
    with pytest.warns(HeldWarning, match="pull 12, which waited for an earlier one, is implausible"):
        session.tell(first, **PLANT.measure(first, seed=7))
    assert (session.pulls, [each.number for each in session.held]) == (11, [12])
    with pytest.raises(Held):
        session.ask(1)
    session.tell(second, **PLANT.measure(second, seed=7))
    assert (session.pulls, session.held) == (13, ())


def test_a_result_that_waits_may_be_confirmed_in_advance() -> None:
    session = driven(sf.Session(PUMPS, seed=7), 10)
    first, second = session.ask(2)
    session.tell(second, reward=40.0, safety=6.0, confirm=True)
    with pytest.warns(ModelAlarm):
        session.tell(first, **PLANT.measure(first, seed=7))
    assert (session.pulls, session.ledger.confirmed) == (12, [12])


def test_after_the_end_nothing_is_refused() -> None:
    session = driven(sf.Session(PUMPS, seed=7, max_pulls=12), 10)
    first, second = session.ask(2)
    session.tell(first, **PLANT.measure(first, seed=7))
    session.tell(second, **PLANT.measure(second, seed=7))
    assert session.outcome == "undecided"


# -- what it is for -----------------------------------------------------------------------------------------------


def with_converted_gauges(session: sf.Session, seed: int) -> int:
    """How many pulls were unsafe while the real gauge value stood in the place of an internal number."""
    limit, unsafe = PUMPS.safety[0], 0
    while not session.stopped:
        pull = session.ask()
        unsafe += not JUDGE.is_safe(pull.arm, pull.level)
        result = PLANT.measure(pull, seed=seed)
        try:
            session.tell(pull, reward=result["reward"], safety=limit.reading(result["safety"][0]))
        except Implausible:
            break
    return unsafe


def test_a_gauge_that_is_converted_although_it_needs_none_certifies_nobody() -> None:
    """All fifty were certified once, and pulled unsafely."""
    sessions = [sf.Session(PUMPS, seed=seed, max_pulls=500) for seed in range(50)]
    unsafe = [with_converted_gauges(session, seed) for seed, session in enumerate(sessions)]
    assert not any(session.stopped for session in sessions)
    assert all(session.held for session in sessions)
    assert not any(unsafe)
