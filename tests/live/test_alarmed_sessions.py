"""What follows from an alarm: nothing is certified until a person has released it, and then the certificate says so."""

import warnings
from typing import Any

import pytest

import surefoot as sf
from misbehaving import REWARD, Misbehaving
from surefoot.errors import Alarmed, Frozen, Held, Implausible, InvalidInput, ModelAlarm, NotFrozen

PROBLEM = sf.Problem(
    arms={"pump A": [1, 0], "pump B": [0, 1], "both": [0.6, 0.4]}, reward=sf.Reward(noise=0.5, norm=2.0),
    safety=[sf.Limit("pressure", at_most=8.0, baseline=5.0, noise=0.3, norm=5.0)], safe_level=0.2, epsilon=0.15,
    delta=0.05, delta_safety=0.05,
)  # fmt: skip
PLANT = sf.worlds.Linear.for_problem(PROBLEM, theta_star=[1.5, 0.3], mu_star=[[4.0, 2.0]], name="pumps")
NOISY = Misbehaving(PLANT, "noise", 4.0, which=REWARD)  # five times the stated noise


def driven(session: sf.Session, world: Any, seed: int = 7) -> sf.Session:
    """The session at its end; whatever the world answers is confirmed, as in a simulation."""
    while not session.stopped:
        pull = session.ask()
        session.tell(pull, **world.measure(pull, seed=seed, problem=PROBLEM), confirm=True)
    return session


def alarmed(**options: Any) -> sf.Session:
    session = sf.Session(PROBLEM, seed=7, **options)
    with pytest.warns(ModelAlarm, match="so the session ends here without an answer"):
        driven(session, NOISY)
    return session


def test_a_session_ends_with_an_alarm_and_certifies_nothing() -> None:
    session = alarmed()
    assert session.outcome == session.status().outcome == "alarm"
    assert session.stopped
    assert session.certificate is None
    assert session.recommendation is None
    assert session.statement.startswith("The data contradict what the problem states: reward: ")
    with pytest.raises(Alarmed, match="reward: its readings scatter more") as refused:
        session.ask()
    assert isinstance(refused.value, Frozen)
    assert "alarm" in repr(session)


def test_after_a_release_the_certificate_carries_alarm_and_reason() -> None:
    session = alarmed()
    said = session.alarms
    with pytest.raises(InvalidInput):
        session.release("")
    session.release("the gauge was loose, and is mended")
    assert session.outcome is None
    while session.outcome != "certified":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelAlarm)
            driven(session, PLANT)
        if session.alarms:
            session.release("the gauge was loose, and is mended")
    certificate = session.certificate
    assert certificate is not None
    assert f"{said[0]}; released: the gauge was loose, and is mended" in certificate.contradictions
    assert certificate.contradictions[0] in certificate.statement
    assert sf.Certificate.from_dict(certificate.to_dict()) == certificate


def test_there_is_nothing_to_release_without_an_alarm() -> None:
    with pytest.raises(NotFrozen):
        sf.Session(PROBLEM).release("why not")


def test_the_alarm_can_be_switched_off_and_its_level_is_checked() -> None:
    session = driven(sf.Session(PROBLEM, seed=7, alarm_level=None), NOISY)
    assert session.outcome == "certified"
    with pytest.raises(InvalidInput):
        sf.Session(PROBLEM, alarm_level=1.5)


def test_a_watched_session_is_run_0_of_a_watched_simulation() -> None:
    session = alarmed()
    runs = sf.simulate(NOISY, PROBLEM, runs=1, seed=7, workers=1, alarm=True)
    assert runs.outcomes == ["alarm"]
    assert runs.pulls.tolist() == [session.pulls]
    assert float(runs.gap[0]) == session.ledger.learner.decision.gap


def test_open_pulls_may_still_be_told_after_an_alarm() -> None:
    session = sf.Session(PROBLEM, seed=7)
    pulls = session.ask(3)
    with pytest.warns(ModelAlarm):
        session.tell(pulls[0], reward=0.1, safety=60.0, confirm=True)
    session.tell(pulls[1], reward=0.1, safety=5.5)
    assert session.outcome == "alarm"
    assert session.pulls == 2
    assert [pull.number for pull in session.open_pulls] == [3]


def test_what_is_held_on_the_unsafe_side_rings_no_alarm_until_it_is_taken_in() -> None:
    session = sf.Session(PROBLEM, seed=7)
    for pull in session.ask(10):
        session.tell(pull, **PLANT.measure(pull, seed=7))
    first, second = session.ask(2)
    with pytest.raises(Implausible):
        session.tell(first, reward=0.1, safety=11.0)
    assert (session.outcome, session.alarms) == (None, ())
    with pytest.raises(Held):
        session.ask(1)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        session.tell(first, reward=0.1, safety=11.0, confirm=True)
    assert {each.category for each in said} == {ModelAlarm}
    assert (session.outcome, session.held) == ("alarm", ())
    session.tell(second, **PLANT.measure(second, seed=7))
    with pytest.raises(Alarmed):
        session.ask(1)


def test_all_is_settled_before_anybody_is_warned() -> None:
    """Warnings may be errors: the alarm rings, and what waited is held, whichever of the two is told first."""
    session = sf.Session(PROBLEM, seed=7)
    for pull in session.ask(10):
        session.tell(pull, **PLANT.measure(pull, seed=7))
    first, second, third = session.ask(3)
    session.tell(third, reward=0.1, safety=60.0)
    session.tell(second, **PLANT.measure(second, seed=7))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ModelAlarm):
            session.tell(first, reward=4.5, safety=5.5, confirm=True)
    assert session.alarms
    assert (session.pulls, [held.number for held in session.held], session.open_pulls) == (12, [third.number], ())


def test_simulated_runs_with_an_alarm_certify_less_that_is_wrong() -> None:
    """Noise of the reward stated five times too small; the safety noise two times too small."""
    without, with_alarm = (sf.simulate(NOISY, PROBLEM, runs=100, seed=1, alarm=on).summary() for on in (False, True))
    assert without["alarm_runs"] == 0
    assert without["wrong_runs"] >= 20
    assert with_alarm["alarm_runs"] >= 80
    assert with_alarm["wrong_runs"] <= without["wrong_runs"] / 3


@pytest.mark.parametrize("alarm", [0.0, 1.0, "yes", -1])
def test_a_level_for_simulations_that_is_none_is_refused(alarm: Any) -> None:
    with pytest.raises(InvalidInput):
        sf.simulate(PLANT, PROBLEM, runs=1, alarm=alarm)
