"""Ask/tell: the two verbs, what they refuse, how a session ends, and what it never does."""

import copy
import pickle
import warnings
from dataclasses import replace
from operator import attrgetter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surefoot as sf
from surefoot.errors import Finished, Implausible, InvalidInput, LevelExceeded, NotOpen, NumericalBreakdown
from surefoot.live.pulls import Overshoot
from surefoot.simulation import run_session


def problem(**changes: Any) -> sf.Problem:
    given = {
        "arms": {"low": [1.0, 0.0], "high": [0.0, 1.0]},
        "reward": sf.Reward(noise=1.0, norm=2.0),
        "safety": [sf.Limit("qos", at_least=-0.5, noise=0.1, norm=1.0)],
        "safe_level": 0.2, "epsilon": 0.5, "delta": 0.05, "delta_safety": 0.05,
    }  # fmt: skip
    return sf.Problem(**(given | changes))


def two_limits(**changes: Any) -> sf.Problem:
    limits = [
        sf.Limit("heat", at_most=70.0, baseline=40.0, noise=2.0, norm=30.0),
        sf.Limit("qos", at_least=-0.5, noise=0.1, norm=1.0),
    ]
    return problem(safety=limits, **changes)


def finish(session: sf.Session, world: sf.worlds.Linear, seed: int = 1, most: int = 50_000) -> sf.Session:
    """The session, driven to its end."""
    run_session(world, session, seed=seed, max_pulls=most)
    assert session.stopped
    return session


# -- the two verbs ----------------------------------------------------------------------------------------------------


def test_asking_twice_gives_the_same_pull() -> None:
    session = sf.Session(problem(), seed=3)
    assert session.ask() == session.ask()
    session.tell(session.ask(), reward=0.1, safety=0.0)
    assert session.ask() == session.ask()
    assert session.ask().number == 2


def test_a_pull_carries_its_reasons() -> None:
    session = sf.Session(problem(), sf.SafeLinGapE(explore=sf.RoundRobin(2)))
    first = session.ask()
    assert (first.number, first.name, first.arm, first.phase) == (1, "low", 0, "explore")
    assert first.leader is first.challenger is first.gap is None
    assert first.margin >= 0.0
    for _ in range(2):
        session.tell(session.ask(), reward=0.5, safety=-0.01)
    third = session.ask()
    assert third.phase == "decide"
    assert {third.leader, third.challenger} == {"low", "high"}
    assert third.gap is not None
    assert third.gap > session.problem.epsilon
    assert third.level <= session.levels[third.arm]


def test_a_result_is_told_by_pull_or_by_number() -> None:
    session = sf.Session(problem())
    session.tell(session.ask(), reward=1.0, safety=0.0)
    session.tell(2, reward=1.0, safety=0.0)
    session.tell(np.int64(3), reward=1.0, safety=0.0)
    assert session.pulls == 3


@pytest.mark.parametrize("number", [0, 2, -1, True, 1.0, "1", None])
def test_numbers_that_are_not_open_are_refused(number: Any) -> None:
    session = sf.Session(problem())
    with pytest.raises(NotOpen):
        session.tell(number, reward=1.0, safety=0.0)
    assert session.pulls == 0


def test_telling_twice_is_refused() -> None:
    session = sf.Session(problem())
    pull = session.ask()
    session.tell(pull, reward=1.0, safety=0.0)
    before = session.status()
    with pytest.raises(NotOpen, match="told already"):
        session.tell(pull, reward=1.0, safety=0.0)
    assert session.status() == before


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e200, "1", None, True, 1j, [1.0, 2.0]])
def test_a_reward_that_is_no_number_is_refused_and_changes_nothing(value: Any) -> None:
    session = sf.Session(problem())
    before = session.ask()
    with pytest.raises(InvalidInput) as caught:
        session.tell(before, reward=value, safety=0.0)
    assert caught.value.field == "reward"
    assert session.ask() == before
    assert session.pulls == 0


@pytest.mark.parametrize(
    "value", [np.nan, np.inf, "0", None, True, [0.0, 0.0], [], {"other": 0.0}, {}, [[0.0]], {"qos": np.nan}]
)
def test_safety_values_that_do_not_fit_are_refused_and_change_nothing(value: Any) -> None:
    session = sf.Session(problem())
    with pytest.raises(InvalidInput) as caught:
        session.tell(1, reward=0.0, safety=value)
    assert caught.value.field.startswith("safety")
    assert session.pulls == 0


@pytest.mark.parametrize("value", [-0.5, [-0.5], (-0.5,), np.array([-0.5]), np.float64(-0.5), {"qos": -0.5}])
def test_one_safety_value_may_be_told_in_any_form(value: Any) -> None:
    session = sf.Session(problem())
    level = session.ask().level
    session.tell(1, reward=0.0, safety=value)
    assert session.ledger.learner.state.estimate.M[1].sum() == pytest.approx(level * -0.5)


def test_several_safety_values_go_by_order_or_by_name() -> None:
    by_order, by_name = sf.Session(two_limits()), sf.Session(two_limits())
    first = by_order.ask()
    by_order.tell(1, reward=0.3, safety=[45.0, -0.1])
    by_name.tell(1, reward=0.3, safety={"qos": -0.1, "heat": 45.0})
    assert by_order.ask() == by_name.ask()
    assert (by_order.levels == by_name.levels).all()
    learned = by_order.ledger.learner.state.estimate.M
    np.testing.assert_allclose(learned[1:, first.arm], first.level * np.array([-5.0, -0.1]))
    with pytest.raises(InvalidInput):
        by_name.tell(2, reward=0.3, safety={"heat": 45.0})
    with pytest.raises(InvalidInput):
        by_name.tell(2, reward=0.3, safety=45.0)


def test_an_upper_limit_on_a_raw_reading_is_the_mirror_image_of_a_lower_one() -> None:
    """The same truth told as heat at most 70 over a baseline of 40, and as its mirror image at least -30."""
    plain = sf.Session(problem(safety=sf.Limit("cold", at_least=-30.0, noise=2.0, norm=30.0)), seed=5)
    raw = sf.Session(problem(safety=sf.Limit("heat", at_most=70.0, baseline=40.0, noise=2.0, norm=30.0)), seed=5)
    rng = np.random.default_rng(2)
    while not plain.stopped and plain.pulls < 200:
        pull = plain.ask()
        assert raw.ask().arm == pull.arm
        assert raw.ask().level == pytest.approx(pull.level, rel=1e-6)  # readings are rounded otherwise
        heat = pull.level * 20.0 + 2.0 * float(rng.standard_normal())
        reward = float(rng.standard_normal())
        plain.tell(pull, reward=reward, safety=-heat)
        raw.tell(pull.number, reward=reward, safety=40.0 + heat)
    np.testing.assert_allclose(raw.levels, plain.levels, rtol=1e-9)


# -- the level really applied -----------------------------------------------------------------------------------------


def test_a_level_above_the_certified_one_is_warned_of_and_recorded() -> None:
    session = sf.Session(problem())
    pull = session.ask()
    with pytest.warns(LevelExceeded, match="above the certified"):
        session.tell(pull, reward=0.4, safety=-0.3, level=0.6)
    (found,) = session.overshoots
    assert found == Overshoot(1, pull.name, pull.level, 0.6)
    assert found.to_dict() == {"number": 1, "name": pull.name, "certified": pull.level, "applied": 0.6}
    assert session.ledger.learner.state.estimate.N[pull.arm] == pytest.approx(
        0.36
    )  # it is learned from at the level applied
    assert session.status().overshoots == 1


def test_overshoots_stand_in_the_certificate() -> None:
    world = sf.worlds.limited()
    session = sf.Session(world.default_problem(), alarm_level=None)
    higher = replace(session.ask(), level=0.9)
    with pytest.warns(LevelExceeded):
        session.tell(1, **world.measure(higher, seed=1), level=0.9)
    finish(session, world)
    assert session.certificate is not None
    assert session.certificate.overshoots == 1
    assert "1 pull" in session.certificate.statement


def test_a_lower_level_is_taken_without_a_word() -> None:
    session = sf.Session(problem())
    session.tell(1, reward=0.1, safety=0.0, level=0.05)
    assert session.overshoots == ()
    assert session.ledger.learner.state.estimate.N.sum() == pytest.approx(0.0025)


@pytest.mark.parametrize("level", [-0.1, 1.1, np.nan, "0.5", True])
def test_levels_that_no_dial_has_are_refused(level: Any) -> None:
    session = sf.Session(problem())
    with pytest.raises(InvalidInput) as caught:
        session.tell(1, reward=0.0, safety=0.0, level=level)
    assert caught.value.field == "level"
    assert session.pulls == 0


def test_lingape_knows_no_certified_level_to_exceed() -> None:
    session = sf.Session(problem(max_level=0.5), sf.LinGapE())
    session.tell(1, reward=0.0, safety=0.0, level=0.9)
    assert session.overshoots == ()


# -- how it ends ------------------------------------------------------------------------------------------------------


def test_a_certified_session_has_an_answer_and_asks_no_more() -> None:
    world = sf.worlds.limited()
    session = finish(sf.Session(world.default_problem(), seed=1), world)
    assert session.outcome == "certified"
    found, promised = session.recommendation, session.certificate
    assert found is not None
    assert promised is not None
    assert (found.name, found.level) == (promised.name, promised.level)
    assert world.is_safe(found.arm, found.level)
    assert world.best_value() - world.value(found.arm, found.level) <= session.problem.epsilon
    assert promised.gap <= session.problem.epsilon
    assert promised.guarantee == "within-epsilon"
    with pytest.raises(Finished, match="certified"):
        session.ask()
    with pytest.raises(NotOpen):
        session.tell(session.pulls + 1, reward=0.0, safety=0.0)


def test_a_budget_ends_undecided_and_without_an_answer() -> None:
    world = sf.worlds.limited()
    session = finish(sf.Session(world.default_problem(), max_pulls=50), world)
    assert (session.outcome, session.pulls) == ("undecided", 50)
    assert session.recommendation is None
    assert session.certificate is None
    assert session.gap is not None
    assert session.gap > session.problem.epsilon
    with pytest.raises(Finished, match="undecided"):
        session.ask()


def test_certainty_with_the_last_pull_of_the_budget_is_certainty() -> None:
    world = sf.worlds.limited()
    free = finish(sf.Session(world.default_problem(), seed=1), world)
    exact = finish(sf.Session(world.default_problem(), seed=1, max_pulls=free.pulls), world)
    short = finish(sf.Session(world.default_problem(), seed=1, max_pulls=free.pulls - 1), world)
    assert (exact.outcome, short.outcome) == ("certified", "undecided")


def test_absurd_readings_break_nothing_and_certify_no_level() -> None:
    session = sf.Session(problem(regularization=1e-8), max_pulls=50, alarm_level=None)
    known = session.levels  # by the known levels and the norm bounds, before any reading
    while not session.stopped:
        try:
            session.tell(session.ask(), reward=9e99, safety=-9e99, confirm=True)
        except NumericalBreakdown:
            assert session.outcome == "breakdown"
    assert (session.levels <= known).all()
    assert session.recommendation is None


def test_lingape_recommends_only_what_is_certified_safe() -> None:
    world = sf.worlds.hard()
    session = finish(sf.Session(world.paper_problem(), sf.LinGapE(), seed=2), world, seed=2)
    assert session.certificate is not None
    assert session.certificate.guarantee == "without-limits"
    assert session.recommendation is None or world.is_safe(session.recommendation.arm, session.recommendation.level)


def test_a_session_repeats_itself_from_the_same_results() -> None:
    world = sf.worlds.sphere()
    one, other = (finish(sf.Session(world.default_problem(), seed=8, max_pulls=300), world) for _ in range(2))
    assert one.status() == other.status()
    assert one.gap == other.gap


# -- what is refused at the door --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "arguments"),
    [
        ("problem", {"problem": "problem.toml"}),
        ("policy", {"policy": "safe-lingape"}),
        ("policy", {"policy": sf.SafeLinGapE}),
        ("seed", {"seed": -1}),
        ("seed", {"seed": 1.5}),
        ("seed", {"seed": True}),
        ("max_pulls", {"max_pulls": 0}),
        ("max_pulls", {"max_pulls": 10.5}),
    ],
)
def test_a_session_refuses_what_it_cannot_use(field: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as caught:
        sf.Session(**({"problem": problem()} | arguments))
    assert caught.value.field == field


def test_exploration_above_the_known_level_is_refused() -> None:
    with pytest.raises(InvalidInput) as caught:
        sf.Session(problem(), sf.SafeLinGapE(explore=sf.RoundRobin(10, level=0.3)))
    assert caught.value.field == "explore.level"


# -- degenerate problems, end to end ----------------------------------------------------------------------------------


def linear(arms: Any, theta: Any, mu: Any, **changes: Any) -> tuple[sf.worlds.Linear, sf.Problem]:
    world = sf.worlds.Linear(arms, theta_star=theta, mu_star=mu, noise=0.3, safety_noise=0.1)
    setting = {"epsilon": 0.2, "delta": 0.05, "delta_safety": 0.05, "safe_level": 0.2} | changes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sf.errors.NotSpanningWarning)
        return world, world.problem(**setting)


def test_one_arm_is_answered_at_once_by_conservative_selection() -> None:
    _, posed = linear([[1.0, 0.0]], [1.0, 0.0], [-1.0, 0.0])
    session = sf.Session(posed, sf.SafeLinGapE())
    assert (session.outcome, session.pulls) == ("certified", 0)
    assert session.recommendation is not None
    # Before any pull the norm bound alone certifies a level: |x.mu| <= |x| (D_s + R_s sqrt(2 log(1/delta)))
    assert session.recommendation.level == pytest.approx(0.5 / (1.0 + 0.1 * np.sqrt(2 * np.log(20.0))))
    with pytest.raises(Finished):
        session.ask()


def test_one_arm_still_has_its_level_learned_by_optimistic_selection() -> None:
    world, posed = linear([[1.0]], [1.0], [-1.0])
    session = finish(sf.Session(posed, sf.SafeLinGapE(selection="optimistic")), world)
    assert session.recommendation is not None
    assert 0.3 - 1e-9 <= session.recommendation.level <= 0.5  # gamma* = 0.5, and 0.2 may be lost
    assert session.pulls > 10


def test_one_dimension_runs_with_the_norm_radius() -> None:
    world, posed = linear([[1.0], [0.5], [-1.0]], [1.0], [-1.0])
    policy = sf.SafeLinGapE(selection="optimistic", reward_radius="norm", safety_radius="norm")
    session = finish(sf.Session(posed, policy), world)
    assert session.recommendation is not None
    assert session.recommendation.arm == 0


@pytest.mark.parametrize("level", [0.2, 0.3, 0.37])
def test_exact_duplicates_stop_even_at_epsilon_zero(level: float) -> None:
    """Equal arms have y = 0; a harmless limit lets both reach full level."""
    world = sf.worlds.Linear([[0.6, 0.8], [0.6, 0.8]], theta_star=[1.0, 1.0], mu_star=[0.0, 0.0], limit=-1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sf.errors.NotSpanningWarning)
        posed = world.problem(
            epsilon=0.0, delta=0.05, delta_safety=0.05, safe_level=level, safety_norm=0.5, max_level=level
        )
    for selection in ("conservative", "optimistic"):
        session = finish(sf.Session(posed, sf.SafeLinGapE(selection=selection), max_pulls=5000), world)
        assert session.outcome == "certified"
        assert session.certificate is not None
        assert session.certificate.arm == 0


def test_an_arm_of_zeros_is_worth_nothing_and_harms_nothing() -> None:
    world, posed = linear([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]], [1.0, 0.3], [-0.8, 0.0])
    for policy in (sf.SafeLinGapE(selection="optimistic"), sf.LinGapE(), sf.Uniform(), sf.SafeLinGapE(pull="rounding")):
        session = finish(sf.Session(posed, policy), world)
        assert session.outcome == "certified"
        assert session.certificate is not None
        assert session.certificate.arm == 0


def test_a_tie_at_epsilon_zero_ends_undecided() -> None:
    world, posed = linear([[1.0, 0.0], [0.0, 1.0]], [1.0, 1.0], [0.0, 0.0], epsilon=0.0, safety_norm=0.4)
    for policy in (sf.SafeLinGapE(), sf.SafeLinGapE(selection="optimistic"), sf.LinGapE()):
        session = finish(sf.Session(posed, policy, max_pulls=2000), world)
        assert session.outcome == "undecided"


def test_a_limited_best_arm_at_epsilon_zero_ends_undecided_under_optimistic_selection() -> None:
    world, posed = linear([[1.0]], [1.0], [-1.0], epsilon=0.0)
    session = finish(sf.Session(posed, sf.SafeLinGapE(selection="optimistic"), max_pulls=2000), world)
    assert session.outcome == "undecided"
    assert session.gap is not None
    assert session.gap > 0.0


def test_arms_that_do_not_span_are_handled_in_their_span() -> None:
    plane = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 1.0, 2.0]])
    world, posed = linear(plane, [0.5, 0.2, 0.3], [-0.3, -0.1, -0.1])
    assert (posed.rank, posed.spans) == (2, False)
    for policy in (sf.SafeLinGapE(selection="optimistic"), sf.SafeLinGapE(pull="rounding"), sf.LinGapE()):
        session = finish(sf.Session(posed, policy), world)
        assert session.certificate is not None
        value = world.value(session.certificate.arm, session.certificate.level)
        if session.guarantee.kind == "within-epsilon":
            assert world.best_value() - value <= posed.epsilon


def test_doing_nothing_is_the_answer_where_everything_harms() -> None:
    world, posed = linear([[1.0, 0.0], [0.0, 1.0]], [-1.0, -0.8], [-0.3, 0.0])
    session = finish(sf.Session(posed), world)  # the default policy has the null pull in the race
    assert session.certificate is not None
    assert session.recommendation is not None
    assert (session.recommendation.arm, session.recommendation.level, session.recommendation.estimate) == (-1, 0.0, 0.0)
    assert "doing nothing" in session.certificate.statement


def test_the_example_that_greedy_pulls_alone_never_finish_stops() -> None:
    """Section 4's case for (G6): shrinking |y| alone does not shrink the level interval."""
    world = sf.worlds.Linear([[1, 0], [1, 1], [0, 1]], theta_star=[1, 0.2], mu_star=[-0.4, -0.3], noise=0.1, limit=-0.5)
    posed = world.problem(epsilon=0.1, delta=0.05, delta_safety=0.05, safe_level=[1.0, 0.5, 1.0])
    for pull in ("greedy", "rounding", "rounding-finite"):
        session = finish(sf.Session(posed, sf.SafeLinGapE(selection="optimistic", pull=pull)), world)
        assert session.outcome == "certified"
        assert session.certificate is not None
        best = world.best_value()
        assert best - world.value(session.certificate.arm, session.certificate.level) <= 0.1


# -- every pull keeps the dial and the certificate --------------------------------------------------------------------


@settings(derandomize=True, max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    levels=st.sampled_from(["static", "dynamic", "dynamic-max"]),
    selection=st.sampled_from(["conservative", "optimistic"]),
    grid=st.sampled_from([None, [0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0]]),
    step=st.sampled_from([None, 0.2]),
    top=st.sampled_from([1.0, 0.7]),
    signals=st.integers(1, 2),
    uniform=st.booleans(),
    explore=st.sampled_from([None, sf.RoundRobin(10), sf.UniformRandom(7, level=0.1), sf.UntilConfident(rounds=20)]),
)
@pytest.mark.filterwarnings("ignore::surefoot.errors.NeverStopsWarning")
def test_every_pull_is_certified_on_the_dial_and_not_too_large_a_step(
    seed: int, levels: Any, selection: Any, grid: Any, step: Any, top: float, signals: int, uniform: bool, explore: Any
) -> None:
    rng = np.random.default_rng(seed)
    arms = rng.standard_normal((5, 3))
    mu = 0.6 * rng.standard_normal((signals, 3))
    world = sf.worlds.Linear(
        arms, theta_star=rng.standard_normal(3), mu_star=mu, noise=0.3, safety_noise=0.05, limit=-0.4
    )
    known = np.clip(0.8 * world.best_levels(), 0.1, top)
    posed = world.problem(
        epsilon=0.05, delta=0.05, delta_safety=0.001, safe_level=known, level_grid=grid, max_step=step, max_level=top
    )
    if (posed.safe_level > world.best_levels()).any():
        return  # the known level must truly be safe
    kind = sf.Uniform if uniform else sf.SafeLinGapE
    session = sf.Session(posed, kind(levels=levels, selection=selection, explore=explore), seed=seed, max_pulls=120)
    last = posed.safe_level.copy()
    while not session.stopped:
        pull = session.ask()
        assert 0.0 < pull.level <= top
        assert pull.level <= max(session.levels[pull.arm], posed.safe_level[pull.arm])
        assert pull.margin >= 0.0
        assert world.is_safe(pull.arm, pull.level)  # delta_safety = 0.001, fixed seeds: the event holds in all of these
        if grid is not None:
            assert pull.level in grid
        if step is not None:
            assert pull.level <= max(last[pull.arm], posed.safe_level[pull.arm]) + step * (1.0 + 1e-8)
        last[pull.arm] = pull.level
        session.tell(pull, **world.measure(pull, seed=seed))
    assert (session.levels <= np.maximum(world.best_levels(), posed.safe_level) + 1e-12).all()
    assert (session.levels <= posed.max_level + 1e-15).all()


# -- data that refute the model ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("explore", [None, sf.RoundRobin(10_000)], ids=["deciding", "exploring"])
@pytest.mark.parametrize("levels", ["static", "dynamic", "dynamic-max"])
def test_a_known_level_that_the_data_refute_ends_the_session_by_name(levels: Any, explore: Any) -> None:
    """The user said 0.2 is safe for every arm; it reads -1.2 there, far below the limit of -0.5."""
    session = sf.Session(problem(), sf.SafeLinGapE(levels=levels, explore=explore), max_pulls=5000, alarm_level=None)
    while not session.stopped:
        pull = session.ask()
        session.tell(pull, reward=0.1, safety=-6.0 * pull.level, confirm=True)
    assert session.outcome == "contradiction"
    assert session.pulls < 100
    assert session.recommendation is None


def test_a_reward_in_the_wrong_unit_is_refused_by_name() -> None:
    session = sf.Session(problem(), max_pulls=5000)
    with pytest.raises(Implausible, match="reward = "):
        session.tell(session.ask(), reward=1000.0, safety=0.0)
    assert session.pulls == 0


def test_a_warning_that_is_an_error_loses_no_result() -> None:
    session = sf.Session(sf.worlds.hard().paper_problem(), sf.SafeLinGapE(explore=sf.RoundRobin(8)), seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(LevelExceeded):
            session.tell(session.ask(), reward=0.0, safety=0.0, level=0.9)
    assert session.pulls == 1
    assert len(session.overshoots) == 1


def test_a_session_broken_off_between_result_and_decision_catches_up() -> None:
    session = sf.Session(sf.worlds.hard().paper_problem(), sf.SafeLinGapE(explore=sf.RoundRobin(8)), seed=1)
    learner = session.ledger.learner
    stale = learner._read_pulls, learner.decision
    session.tell(session.ask(), reward=0.5, safety=0.0)
    expected = session.ask()
    learner._read_pulls, learner.decision = stale  # as after Ctrl-C: absorbed, but the decision was never read
    assert session.ask() == expected
    assert session.pulls == 1


def test_no_step_is_larger_than_allowed_even_from_below_the_known_level() -> None:
    world = sf.worlds.hard()
    problem = world.paper_problem().with_(max_step=0.05)
    session = sf.Session(problem, sf.SafeLinGapE(explore=sf.RoundRobin(60, level=0.05)), seed=2, max_pulls=400)
    last = dict.fromkeys(range(4), 0.2)
    for pull in run_session(world, session, seed=2):
        assert pull.level <= last[pull.arm] + 0.05 * (1 + 1e-6)
        last[pull.arm] = pull.level


def test_lingape_answers_at_full_level_after_exploring_until_confident() -> None:
    world = sf.worlds.Linear(
        [[1.0, 0.0], [0.0, 1.0]], theta_star=[1.0, 0.9], mu_star=[-1.0, -1.0], noise=0.3, safety_noise=0.1
    )
    problem = world.problem(epsilon=0.3, delta=0.05, delta_safety=0.05, safe_level=0.3)
    runs = sf.simulate(world, problem, sf.LinGapE(explore=sf.UntilConfident(share=1.0)), runs=20, seed=1)
    assert (runs.level == 1.0).all()
    assert not runs.broken_promise.any()


def test_the_pull_of_another_session_is_refused() -> None:
    world = sf.worlds.hard()
    one = sf.Session(world.paper_problem(), sf.SafeLinGapE(explore=sf.RoundRobin(8)), seed=1)
    other = sf.Session(world.paper_problem().with_(safe_level=0.1), sf.SafeLinGapE(explore=sf.RoundRobin(8)), seed=1)
    with pytest.raises(sf.errors.InvalidInput, match="not the pull that this session asked for"):
        one.tell(other.ask(), reward=0.0, safety=0.0)
    assert one.pulls == 0


# -- in doubt, do not stop --------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numpy's own, where the source runs interpreted
@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("array", ["N", "M", "columns.values", "v", "est", "log_det"])
def test_a_number_that_breaks_never_ends_in_certainty_or_in_an_unsafe_pull(array: str, value: float) -> None:
    world = sf.worlds.limited()
    posed = world.default_problem().with_(epsilon=0.02)
    for policy in (sf.SafeLinGapE(), sf.SafeLinGapE(selection="optimistic", pull="rounding"), sf.Uniform()):
        for place in (0, 1):
            session = sf.Session(posed, policy, seed=3, max_pulls=90, alarm_level=None)
            while not session.stopped:
                if session.pulls == 21:
                    numbers = attrgetter(array)(session.ledger.learner.state.estimate).reshape(-1)
                    numbers[place % len(numbers)] = value
                pull = session.ask()
                assert world.is_safe(pull.arm, pull.level)
                try:
                    session.tell(pull, **world.measure(pull, seed=3))
                except NumericalBreakdown:
                    assert session.outcome == "breakdown"
            assert session.outcome in ("breakdown", "undecided", "contradiction")
            assert session.recommendation is None


@pytest.mark.parametrize("duplicate", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_session_is_one_experiment_and_has_no_second(duplicate: Any) -> None:
    """A copy would share half of its state, and give the same pull to somebody else."""
    session = sf.Session(problem())
    with pytest.raises(TypeError, match=r"sf\.create_study"):
        duplicate(session)
