"""The trace of an experiment is what the experiment itself said, round by round."""

from typing import Any

import numpy as np
import pytest

import surefoot as sf
from scenes import POLICIES, arena
from surefoot.errors import InvalidInput, OtherVersion
from surefoot.live.tracing import FOLLOWED, MOST_NUMBERS, MOST_WORK, kept_rounds
from surefoot.simulation import run_session


def watched(session: sf.Session, world: Any, most: int) -> list[tuple[Any, ...]]:
    """What the session said of itself before the first pull and after each."""
    seen: list[tuple[Any, ...]] = []

    def look(now: sf.Session) -> None:
        status = now.status()
        seen.append(
            (now.levels, now.levels_high, now.pulls_per_arm, now.estimates, now.gap, status.leader, status.phase)
        )

    run_session(world, session, seed=3, watch=look, max_pulls=most)
    return seen


@pytest.mark.parametrize("name", ["default", "exploring", "remembering", "without limits"])
def test_every_round_is_as_the_session_had_it(name: str) -> None:
    world, problem = arena()
    session = sf.Session(problem, POLICIES[name], seed=3, alarm_level=None)
    seen = watched(session, world, 120)
    trace = session.trace()
    assert len(trace) == session.pulls == len(seen) - 1
    assert trace.kept.tolist() == list(range(len(seen)))
    for t, (low, high, pulls, estimates, gap, leader, phase) in enumerate(seen):
        assert np.array_equal(trace.certified[t], low)
        assert np.array_equal(trace.possible[t], high)
        assert np.array_equal(trace.pulls[t], pulls)
        assert t == 0 or np.array_equal(trace.estimate[t], estimates)
        assert trace.gap[t] == gap if gap is not None else np.isnan(trace.gap[t])
        row = {column: values[t] for column, values in trace.rounds().items()}
        assert (row["leader"], row["phase"]) == (leader, phase)


def test_a_trace_of_some_states_agrees_with_that_of_all() -> None:
    world, problem = arena()
    session = sf.Session(problem, seed=3)
    run_session(world, session, seed=3, max_pulls=100)
    whole, some = session.trace(), session.trace(arms=[2, problem.names[0]], states=7)
    assert len(some.kept) == 7
    assert (some.kept[0], some.kept[-1]) == (0, len(whole))
    assert np.array_equal(some.gap, whole.gap, equal_nan=True)
    assert np.array_equal(some.leader, whole.leader)
    for name in ("certified", "possible", "pulls", "middle", "low", "high"):
        found = getattr(whole, name)[some.kept][:, [2, 0]]
        assert np.array_equal(getattr(some, name), found, equal_nan=True)
    assert np.array_equal(whole.of_arms([2, 0]).low[some.kept], some.low)
    assert session.trace(states=1).kept.tolist() == [len(whole)]


def test_readings_are_those_that_were_told_and_means_keep_certified_limits() -> None:
    world, problem = arena()
    session = sf.Session(problem, seed=3)
    told = []
    for _ in range(80):
        pull = session.ask()
        result = world.measure(pull, seed=3)
        told.append([float(each) for each in result["safety"]])
        session.tell(pull, **result)
    trace = session.trace()
    assert trace.readings[1:].tolist() == told
    for s, limit in enumerate(problem.safety, start=1):
        inside = trace.low[:, :, s] if limit.sign > 0 else -trace.high[:, :, s]
        assert (inside >= limit.sign * limit.mean_limit - 1e-12).all()
        pulled = trace.mean_low[1:, s] if limit.sign > 0 else -trace.mean_high[1:, s]
        assert (pulled >= limit.sign * limit.mean_limit - 1e-12).all()
    assert (trace.low <= trace.high).all()
    estimated = trace.middle[60:]
    between = (trace.low[60:] <= estimated + 1e-9) & (estimated <= trace.high[60:] + 1e-9)
    assert between[:, :, 0].all()  # an estimate of the reward lies amid its ellipsoid


def test_open_pulls_and_any_order_change_nothing_in_the_trace() -> None:
    world, problem = arena()
    session = sf.Session(problem, seed=3)
    levels = [session.levels]
    while session.pulls < 40:
        for pull in reversed(session.ask(4)):
            before = session.pulls
            session.tell(pull, **world.measure(pull, seed=3))
            if session.pulls == before + 1:
                levels.append(session.levels)
            elif session.pulls > before:
                levels += [None] * (session.pulls - before - 1) + [session.levels]  # type: ignore[list-item]
    trace = session.trace()
    for t, level in enumerate(levels):
        assert level is None or np.array_equal(trace.certified[t], level)


# -- studies ----------------------------------------------------------------------------------------------------------


def test_the_trace_of_a_study_is_that_of_its_session_and_heeds_corrections() -> None:
    world, problem = arena()
    study = sf.create_study(problem, name="traced", storage="memory", seed=3)
    session = sf.Session(problem, seed=3)
    try:
        for _ in range(50):
            pull, same = study.ask(), session.ask()
            result = world.measure(pull, seed=3)
            study.tell(pull, **result)
            session.tell(same, **result)
        expected = session.trace()
        found = study.trace()
        assert np.array_equal(found.certified, expected.certified)
        assert np.array_equal(found.gap, expected.gap, equal_nan=True)
        study.correct(7, reward=0.0, reason="typed wrong", by="Ann")
        corrected = study.trace()
        assert corrected.reward[7] == 0.0
        assert np.array_equal(corrected.estimate[:7], expected.estimate[:7], equal_nan=True)
        assert not np.array_equal(corrected.estimate[7], expected.estimate[7])
        study.void(9, reason="spilled", by="Ann")
        without = study.trace()
        assert len(without) == 49
        assert 9 not in without.number
        assert np.array_equal(without.certified[-1], study._handle.view(lambda ledger: ledger.learner.levels))
    finally:
        sf.delete_study("traced", "memory")


def test_a_study_opened_anew_has_the_same_trace(tmp_path: Any) -> None:
    world, problem = arena()
    place = f"sqlite:///{tmp_path / 'traced.db'}"
    study = sf.create_study(problem, name="traced", storage=place, seed=3)
    for _ in range(30):
        pull = study.ask()
        study.tell(pull, **world.measure(pull, seed=3))
    again = sf.load_study("traced", place).trace()
    assert np.array_equal(again.certified, study.trace().certified)
    assert again.to_pandas().equals(study.trace().to_pandas())


def test_a_study_of_other_versions_says_that_its_course_cannot_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    _, problem = arena()
    study = sf.create_study(problem, name="older", storage="memory", seed=3)
    try:
        monkeypatch.setattr("surefoot.studies.lifecycle.versions_of", lambda *settings: {"policy safe-gap": 99})
        with pytest.warns(sf.errors.OtherVersionWarning):
            older = sf.load_study("older", "memory")
        with pytest.raises(OtherVersion):
            older.trace()
        assert study.trace().number.tolist() == [0]
    finally:
        sf.delete_study("older", "memory")


# -- simulations ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["default", "exploring"])
def test_traces_of_simulated_runs_end_as_their_records(name: str) -> None:
    world, problem = arena()
    runs = sf.simulate(world, problem, POLICIES[name], runs=4, seed=3, first_run=2, max_pulls=150, keep="traces")
    assert runs.traces is not None
    assert len(runs.traces) == len(runs) == 4
    for i, trace in enumerate(runs.traces):
        assert len(trace) == runs.pulls[i]
        assert np.array_equal(trace.pulls[-1], runs.pulls_per_arm[i])
        assert np.array_equal(trace.certified[-1], runs.levels[i])
        assert trace.gap[-1] == runs.gap[i]
    assert np.array_equal(runs.traces[1:3][0].arm, runs.traces[1].arm)
    assert np.array_equal(runs.traces.trace(-1, arms=[]).gap, runs.traces[3].gap, equal_nan=True)


def test_without_the_wish_nothing_is_kept_and_other_wishes_are_refused() -> None:
    world, problem = arena()
    assert sf.simulate(world, problem, runs=1, max_pulls=5).traces is None
    with pytest.raises(InvalidInput, match="keep = 'pulls'"):
        sf.simulate(world, problem, runs=1, max_pulls=5, keep="pulls")


# -- how much is kept -------------------------------------------------------------------------------------------------


def many(count: int) -> tuple[Any, sf.Problem]:
    """A world with so many arms."""
    rng = np.random.default_rng(0)
    world = sf.worlds.Linear(rng.normal(size=(count, 2)), theta_star=[1.0, 0.2], mu_star=[[-0.6, 0.1]], noise=0.2,
                             safety_noise=[0.1], limit=[-0.5])  # fmt: skip
    return world, world.problem(epsilon=0.1, delta=0.05, delta_safety=0.05, safe_level=0.1)


def test_of_many_arms_those_are_followed_that_matter() -> None:
    world, problem = many(60)
    session = sf.Session(problem, seed=1)
    run_session(world, session, seed=1, max_pulls=60)
    trace = session.trace()
    assert len(trace.arms) <= FOLLOWED
    status = session.status()
    assert {status.leader, status.challenger, status.best_estimate} <= set(trace.names)
    tried = np.flatnonzero(session.pulls_per_arm)
    assert set(tried[np.argsort(-session.pulls_per_arm[tried], kind="stable")][:5].tolist()) <= set(trace.arms.tolist())


@pytest.mark.parametrize(("rounds", "followed", "size"), [(10**6, 20, 100), (5_000, 20, 100_000), (10**5, 1, 10**6)])
def test_what_is_kept_is_bounded(rounds: int, followed: int, size: int) -> None:
    kept = kept_rounds(rounds, None, followed, size)
    assert kept[0] == 0
    assert kept[-1] == rounds
    assert len(kept) * followed <= MOST_NUMBERS + followed
    assert len(kept) * followed * size <= MOST_WORK + followed * size
    gaps = np.diff(kept)
    assert gaps.max() <= gaps.min() + 1  # evenly


@pytest.mark.parametrize("rounds", [0, 1, 2, 100])
def test_of_few_rounds_all_are_kept(rounds: int) -> None:
    assert kept_rounds(rounds, None, 4, 4) == list(range(rounds + 1))


@pytest.mark.parametrize("arms", ["arm 1", [99], [True], ["nobody"], 3])
def test_arms_that_are_none_are_refused(arms: Any) -> None:
    _, problem = arena()
    with pytest.raises(InvalidInput, match="arm"):
        sf.Session(problem).trace(arms=arms)


@pytest.mark.parametrize("states", [0, -1, 1.5, True])
def test_states_are_counted(states: Any) -> None:
    _, problem = arena()
    with pytest.raises(InvalidInput, match="states"):
        sf.Session(problem).trace(states=states)


def test_frames_carry_the_names_of_arms_in_either_library() -> None:
    world, problem = arena()
    session = sf.Session(problem, seed=3)
    run_session(world, session, seed=3, max_pulls=20)
    trace = session.trace()
    wide, long = trace.to_pandas(), trace.arms_to_pandas()
    assert set(wide["name"].dropna()) <= set(problem.names)
    assert len(wide) == 21
    assert set(long["name"]) == set(problem.names)
    assert len(long) == 21 * problem.size
    assert wide[f"certified: {problem.names[1]}"].tolist() == trace.certified[:, 1].tolist()
    other = trace.to_polars()
    assert other.columns == list(wide.columns)
    assert other["gap"].null_count() == int(wide["gap"].isna().sum())
    assert trace.arms_to_polars()["certified"].to_list() == long["certified"].tolist()
