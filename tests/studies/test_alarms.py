"""A study whose alarm rings says nothing about its answer until it is released, and does not judge what it imported."""

import warnings
from typing import Any

import pytest

import surefoot as sf
from surefoot.errors import ModelAlarm

PROBLEM = sf.Problem(
    arms={"pump A": [1, 0], "pump B": [0, 1], "both": [0.6, 0.4]}, reward=sf.Reward(noise=0.5, norm=2.0),
    safety=[sf.Limit("pressure", at_most=8.0, baseline=5.0, noise=0.3, norm=5.0)], safe_level=0.2, epsilon=0.15,
    delta=0.05, delta_safety=0.05,
)  # fmt: skip
PLANT = sf.worlds.Linear.for_problem(PROBLEM, theta_star=[1.5, 0.3], mu_star=[[4.0, 2.0]], name="pumps")


def finished(study: sf.Study) -> None:
    study.run(lambda pull: PLANT.measure(pull, seed=3, problem=PROBLEM))


def test_after_a_release_the_certificate_of_a_study_carries_alarm_and_reason() -> None:
    study = sf.create_study(PROBLEM, name="released alarm", storage="memory", seed=3)
    first = study.ask()
    with pytest.warns(ModelAlarm, match="frozen"):
        study.tell(first, reward=PLANT.measure(first, seed=3)["reward"], safety=14.0, confirm=True)
    assert study.status().alarms
    assert study.statement.startswith("The data contradict what the problem states: pressure: ")
    study.release("a truck drove by", "Ada")
    assert study.status().alarms == []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelAlarm)
        while not study.stopped:
            try:
                finished(study)
            except sf.errors.Frozen:
                study.release("a truck drove by", "Ada")
        if study.frozen:
            assert study.certificate is None
            study.release("a truck drove by", "Ada")
    certificate = study.certificate
    if study.outcome == "certified":
        assert certificate is not None
        assert all(each.endswith("; released: a truck drove by") for each in certificate.contradictions)
        assert len(certificate.contradictions) == len(study.status().contradictions)


@pytest.mark.parametrize("seed", range(4))
def test_a_warm_start_from_an_unsafe_method_freezes_nothing(seed: int) -> None:
    """Its pulls crossed the limit because it knows none: that says nothing about how this study keeps limits."""
    unsafe = sf.create_study(PROBLEM, sf.LinGapE(), name=f"unsafe {seed}", storage="memory", seed=seed)
    unsafe.run(lambda pull: PLANT.measure(pull, seed=seed, problem=PROBLEM))
    study = sf.create_study(PROBLEM, name=f"after it {seed}", storage="memory", seed=seed, warm_start=unsafe)
    assert not study.frozen
    assert study.status().contradictions == []


def test_what_a_study_asked_for_itself_is_judged() -> None:
    study = sf.create_study(PROBLEM, name="judged", storage="memory", seed=3)
    pull: Any = study.ask()
    with pytest.warns(ModelAlarm, match="further beyond the limit"):
        study.tell(pull, reward=0.1, safety=14.0, confirm=True)
    assert study.frozen
    assert study.recommendation is None
