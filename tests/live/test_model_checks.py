"""The alarm keeps quiet while the model is true, at the stated level, and speaks up when it is not."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recorded_alarms
import surefoot as sf
from misbehaving import BOTH, REWARD, SAFETY, Misbehaving
from surefoot.errors import InvalidInput
from surefoot.live.model_checks import ROOM, Finding, ModelChecks

WORLD = sf.worlds.limited()
PROBLEM = WORLD.default_problem()
GUARANTEE = sf.SafeGap().guarantee(PROBLEM)
VALUES = np.vstack([WORLD.values, WORLD.safety_values])
R = np.array([PROBLEM.reward.noise, PROBLEM.safety[0].noise])
COUNT = 11  # noise, arms, levels, time and offset of two signals, and one limit
RECORDED = Path(__file__).with_name("recorded_evidence.json")
STATION = sf.worlds.base_station()


def checks(level: float = 0.01) -> ModelChecks:
    return ModelChecks(PROBLEM, GUARANTEE, level)


def take(tests: ModelChecks, arm: int, level: float, observed: Any, asked: bool = True) -> tuple[Finding, ...]:
    """What one result reveals."""
    return tests.take_all([arm], [level], np.array([observed], np.float64), [asked])


def alarms(world: Any, problem: sf.Problem, **options: Any) -> sf.Runs:
    return sf.simulate(world, problem, runs=20, seed=3, max_pulls=2000, **{"alarm": True, **options})


# -- what is shared ---------------------------------------------------------------------------------------------------


def test_the_level_is_shared_by_all_tests() -> None:
    two = PROBLEM.with_(safety=[PROBLEM.safety[0], sf.Limit("heat", at_most=1.0, noise=1.0, norm=1.0)])
    assert checks().needed == pytest.approx(np.log(COUNT / 0.01))
    assert ModelChecks(two, GUARANTEE, 0.05).needed == pytest.approx(np.log(17 / 0.05))
    assert sum(len(tests) for tests in ModelChecks(two, GUARANTEE).evidence().values()) == 17
    leaning = ModelChecks(two, sf.SafeLinGapE().guarantee(two))
    assert leaning.needed == pytest.approx(np.log(20 / 0.01))  # three norms besides
    without_limits = ModelChecks(two, sf.LinGapE().guarantee(two)).evidence()
    assert not [name for name, tests in without_limits.items() if "limit" in tests]


@pytest.mark.parametrize("level", [0.0, 1.0, -0.1, np.nan, "0.01", True])
def test_a_level_that_is_no_probability_is_refused(level: Any) -> None:
    with pytest.raises(InvalidInput):
        checks(level)


# -- loud when it is not ----------------------------------------------------------------------------------------------


def test_an_honest_world_rings_in_no_run_of_a_few() -> None:
    assert alarms(Misbehaving(WORLD, "honest"), PROBLEM).summary()["alarm_runs"] == 0


@pytest.mark.parametrize(
    ("kind", "strength", "which", "within"),
    [
        ("noise", 4.0, REWARD, 10),
        ("noise", 1.0, SAFETY, 50),
        ("saturating", 2.0, BOTH, 250),
        ("quadratic", 1.0, BOTH, 100),
        ("drift", 1.0, BOTH, 150),
        ("change", 0.5, BOTH, 250),
    ],
)
def test_what_breaks_a_problem_is_found_in_each_run(kind: str, strength: float, which: int, within: int) -> None:
    found = alarms(Misbehaving(STATION, kind, strength, which=which), STATION.default_problem())
    assert set(found.outcomes) <= {"alarm", "contradiction"}  # now and then the sets refute the data first
    assert np.median(found.pulls) <= within
    assert found.summary()["alarm_runs"] >= 18
    assert not found.stopped.any()


def test_an_offset_is_found_where_low_levels_are_repeated() -> None:
    policy = sf.SafeLinGapE(selection="optimistic", explore=sf.RoundRobin(400))
    found = alarms(Misbehaving(WORLD, "offset", 1.0), PROBLEM, policy=policy)
    assert found.summary()["alarm_runs"] == 20


def test_an_arm_that_does_not_fit_is_found_where_it_is_pulled() -> None:
    """Four arms in three dimensions; the fourth has a bonus of its own."""
    found = alarms(Misbehaving(WORLD, "odd arm", 2.0), PROBLEM.with_(epsilon=1e-6), policy=sf.Uniform())
    assert found.summary()["alarm_runs"] == 20


def test_pulls_that_nobody_needs_show_the_bend_that_others_cannot() -> None:
    """With a stretch of pulls at the known level, a quadratic response is found; SafeGap alone leaves that level."""
    policy = sf.SafeLinGapE(selection="optimistic", explore=sf.RoundRobin(400))
    found = alarms(Misbehaving(WORLD, "quadratic", 1.0), PROBLEM, policy=policy)
    assert found.summary()["alarm_runs"] == 20


def test_a_norm_that_the_data_contradict_is_an_alarm_for_who_leans_on_it() -> None:
    stated = PROBLEM.with_(reward=sf.Reward(noise=PROBLEM.reward.noise, norm=0.2))
    leaning = alarms(WORLD, stated, policy=sf.SafeLinGapE(selection="optimistic"))
    assert leaning.summary()["alarm_runs"] == 20
    assert alarms(WORLD, stated).summary()["alarm_runs"] == 0  # SafeGap leans on none
    tests = ModelChecks(stated, sf.SafeLinGapE().guarantee(stated))
    rng = np.random.default_rng(1)
    arms, levels = rng.integers(PROBLEM.size, size=200), np.full(200, 0.5)
    tests.take_all(arms, levels, levels[:, None] * VALUES[:, arms].T + R * rng.standard_normal((200, 2)), [True] * 200)
    (norm,) = [each for each in tests.findings if each.test == "norm"]
    assert norm.message.startswith("reward: norm 0.2 is stated, and weights of a norm below ")
    assert 0.2 < float(norm.message.split("below ")[1].split()[0]) < np.linalg.norm(WORLD.theta_star)


def test_a_largest_effect_that_the_data_contradict_is_an_alarm_for_who_leans_on_it() -> None:
    true = float(np.abs(VALUES[0]).max())
    (limit,) = PROBLEM.safety
    stated = PROBLEM.with_(
        reward=sf.Reward(noise=PROBLEM.reward.noise, largest=0.2 * true),
        safety=[replace(limit, norm=None, largest=5.0)],
    )
    assert "norm" not in ModelChecks(stated, sf.SafeGap().guarantee(stated)).evidence()["reward"]
    tests = ModelChecks(stated, sf.SafeLinGapE().guarantee(stated))
    rng = np.random.default_rng(1)
    arms, levels = rng.integers(PROBLEM.size, size=400), np.full(400, 0.5)
    tests.take_all(arms, levels, levels[:, None] * VALUES[:, arms].T + R * rng.standard_normal((400, 2)), [True] * 400)
    (norm,) = [each for each in tests.findings if each.test == "norm"]
    assert norm.message.startswith(f"reward: no option is stated to change it by more than {0.2 * true:g}, and none ")
    assert 0.2 * true < float(norm.message.split("less than ")[1].split()[0]) < true


@pytest.mark.parametrize("kind", recorded_alarms.KINDS)
@pytest.mark.parametrize("shape", recorded_alarms.SHAPES)
def test_the_evidence_is_what_it_was_however_sums_are_kept(shape: str, kind: str) -> None:
    """Recorded when the alarm kept sums of every arm, in coordinates by a decomposition of all arms."""
    recorded = json.loads(RECORDED.read_text())[f"{shape}, {kind}"]
    now = recorded_alarms.seen(shape, kind)
    assert [found[:3] for found in now["found"]] == [found[:3] for found in recorded["found"]]
    for found, before in zip(now["found"], recorded["found"], strict=True):
        assert found[3] == pytest.approx(before[3], rel=1e-8)
    for signal, tests in recorded["evidence"].items():
        assert now["evidence"][signal] == pytest.approx(tests, rel=1e-8, abs=1e-8)


def test_the_memory_grows_with_the_arms_that_are_tried_and_can_go_on_elsewhere() -> None:
    K = 3 * ROOM
    many = PROBLEM.with_(arms=np.random.default_rng(5).standard_normal((K, 3)))
    arms, levels, observed = np.arange(K), np.full(K, 0.5), np.random.default_rng(6).standard_normal((K, 2))
    at_once, by_hundred, moved = (ModelChecks(many, GUARANTEE) for _ in range(3))
    at_once.take_all(arms, levels, observed, [True] * K)
    for first in range(0, K, 100):
        some = slice(first, first + 100)
        by_hundred.take_all(arms[some], levels[some], observed[some], [True] * len(arms[some]))
    assert by_hundred.evidence() == at_once.evidence()
    moved.remember(*by_hundred.remembered())
    assert moved.evidence() == at_once.evidence()
    with pytest.raises(ValueError, match="not the words"):
        moved.remember(ROOM, *by_hundred.remembered()[1:])


# -- limits -----------------------------------------------------------------------------------------------------------


def test_a_reading_beyond_its_limit_is_found_at_once() -> None:
    eta0, noise = PROBLEM.safety[0].eta0, PROBLEM.safety[0].noise
    edge = noise * np.sqrt(2 * np.log(1 * 2 * COUNT / 0.01))
    assert not [each for each in take(checks(), 0, 0.2, [0.0, eta0 - 0.999 * edge]) if each.test == "limit"]
    (found,) = [each for each in take(checks(), 0, 0.2, [0.0, eta0 - 1.001 * edge]) if each.test == "limit"]
    assert (found.signal, found.pulls) == (PROBLEM.safety[0].name, 1)
    assert found.evidence >= found.needed
    assert found.to_dict()["message"] == found.message


def test_a_reading_that_nobody_asked_for_is_not_held_against_the_limit() -> None:
    tests = checks()
    found = take(tests, 0, 0.2, [0.0, PROBLEM.safety[0].eta0 - 50.0 * PROBLEM.safety[0].noise], asked=False)
    assert "limit" not in {each.test for each in found}


def test_the_threshold_of_a_reading_grows_slowly_with_the_number_of_pulls() -> None:
    """So that the chance stays the same for the whole life of a study: after a million pulls, 8 times the noise."""
    tests = checks()
    tests.take_all([0] * 1000, [0.2] * 1000, np.zeros((1000, 2)), [True] * 1000)
    eta0, noise = PROBLEM.safety[0].eta0, PROBLEM.safety[0].noise
    edge = noise * np.sqrt(2 * np.log(1001 * 1002 * COUNT / 0.01))
    assert not [each for each in take(tests, 0, 0.2, [0.0, eta0 - 0.999 * edge]) if each.test == "limit"]
    edge = noise * np.sqrt(2 * np.log(1002 * 1003 * COUNT / 0.01))
    assert [each for each in take(tests, 0, 0.2, [0.0, eta0 - 1.001 * edge]) if each.test == "limit"]


# -- arithmetic -------------------------------------------------------------------------------------------------------


def test_a_finding_is_told_once_and_kept() -> None:
    tests = checks()
    first = [*take(tests, 0, 0.2, [1e9, 0.0]), *take(tests, 0, 0.2, [-1e9, 0.0])]
    assert {each.test for each in first} >= {"noise"}
    known = tests.findings
    assert set(first) <= set(known)
    assert "noise" not in {each.test for each in take(tests, 0, 0.2, [1e9, 0.0])}
    assert tests.findings[: len(known)] == known


def test_absurd_readings_and_features_give_an_alarm_and_no_warning() -> None:
    tiny = PROBLEM.with_(reward=sf.Reward(noise=1e-90, norm=1.0))
    found = ModelChecks(tiny, GUARANTEE).take_all(
        [0, 0, 0], [1.0, 1.0, 1.0], np.array([[9e99, -9e99], [-9e99, 9e99], [0.0, 0.0]]), [True] * 3
    )  # fmt: skip
    assert {"noise", "limit"} <= {each.test for each in found}
    assert all(np.isfinite(each.evidence) for each in found)


def test_nothing_depends_on_the_units_of_features() -> None:
    rng = np.random.default_rng(4)
    arms, levels = rng.integers(4, size=300), rng.uniform(0.1, 1.0, 300)
    observed = levels[:, None] * VALUES[:, arms].T + R * rng.standard_normal((300, 2))
    small = PROBLEM.with_(arms=dict(zip(PROBLEM.names, PROBLEM.arms * 1e-3, strict=True)))
    for scaled in (PROBLEM, small):
        tests = ModelChecks(scaled, GUARANTEE)
        tests.take_all(arms, levels, observed, [True] * 300)
        for signal, evidence in tests.evidence().items():
            first = checks()
            first.take_all(arms, levels, observed, [True] * 300)
            assert evidence == pytest.approx(first.evidence()[signal], rel=1e-6, abs=1e-6)
