"""Studies in real units: what is asked, told, kept, shown, carried and audited speaks of settings."""

import json
from pathlib import Path

import pytest

import surefoot as sf
from surefoot.errors import Implausible, InvalidInput, LevelExceeded
from surefoot.studies.history_files import pulls_of, write_csv, write_jsonl

DOSES = sf.Dial("mg", full=40)
CURVE = sf.Dial("mg", settings=[0, 5, 10, 20, 40], effects=[0, 0.4, 0.6, 0.8, 1])


def posed(dial: sf.Dial | None = DOSES, **changes: object) -> sf.Problem:
    settings: dict = {
        "arms": {"A": [1.0, 0.0], "B": [0.0, 1.0]}, "reward": sf.Reward(noise=0.5, unit="€/h"),
        "safety": sf.Limit("pressure", at_most=8.0, baseline=5.0, noise=0.3, unit="bar"), "safe_level": 0.2,
        "epsilon": 0.6, "delta": 0.1, "delta_safety": 0.1, "dial": dial,
    } | changes  # fmt: skip
    return sf.Problem(**settings)


@pytest.fixture
def storage(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'lab.db'}"


def driven(problem: sf.Problem, storage: str) -> sf.Study:
    """A study that has ended."""
    world = sf.worlds.Linear.for_problem(problem, theta_star=[1.5, 0.3], mu_star=[[4.0, 2.0]])
    study = sf.create_study(problem, name="doses", storage=storage, seed=4)
    study.run(lambda pull: world.measure(pull, seed=4))
    return study


def test_pulls_and_their_documents_carry_the_setting(storage: str) -> None:
    study = sf.create_study(posed(), name="doses", storage=storage)
    pull = study.ask()
    assert (pull.setting, pull.unit, pull.at) == (8.0, "mg", "8 mg (level 0.2)")
    assert {"setting": 8.0, "unit": "mg"}.items() <= pull.to_dict().items()
    assert sf.load_study("doses", storage).open_pulls == (pull,)
    status = study.status().to_dict()
    assert (status["settings"], status["unit"]) == ({"A": 8.0, "B": 8.0}, "mg")
    assert "dial" not in status
    json.dumps(status)


def test_what_was_really_applied_is_told_in_units(storage: str) -> None:
    study = sf.create_study(posed(), name="doses", storage=storage)
    study.tell(study.ask(), reward=0.1, safety=5.5, level="7.5 mg")
    assert study.results()[0].level == 0.1875
    with pytest.warns(
        LevelExceeded, match=r"was applied at 18 mg \(level 0.45\), above the certified 8 mg \(level 0.2\)"
    ):
        study.tell(study.ask(), reward=0.1, safety=5.5, level="18 mg")
    for wrong in ("18 g", "18", "50 mg", "-1 mg", "1_8 mg"):
        with pytest.raises(InvalidInput) as refused:
            study.tell(study.ask(worker="me"), reward=0.1, safety=5.5, level=wrong)
        assert refused.value.field == "level"


def test_setting_what_is_shown_is_never_above_what_is_certified(storage: str) -> None:
    problem = posed(sf.Dial("mg", settings=[0, 7, 11, 23, 41], effects=[0, 0.31, 0.57, 0.83, 1]))
    world = sf.worlds.Linear.for_problem(problem, theta_star=[1.5, 0.3], mu_star=[[4.0, 2.0]])
    study = sf.create_study(problem, name="doses", storage=storage, seed=4)
    while not study.stopped:
        pull = study.ask()
        study.tell(
            pull, **world.measure(pull, seed=4), level=pull.at.partition(" (")[0]
        )  # no warning comes: errors here
    assert study.certificate is not None
    assert study.certificate.overshoots == 0
    shown = study.certificate.at.partition(" (")[0]
    assert problem.dial.level_of(shown) <= study.certificate.level
    assert f" at {study.certificate.at} is within 0.6 €/h of the best" in study.certificate.statement
    assert study.recommendation.setting == study.certificate.setting
    assert "table of the dial" in study.certificate.assumptions[2 + 1]


def test_the_history_has_settings_in_every_form(storage: str) -> None:
    study = driven(posed(CURVE), storage)
    frame = study.history
    assert set(frame["unit"]) == {"mg"}
    assert [CURVE.level_of(each) for each in frame["setting"]] == pytest.approx(frame["level"].tolist(), abs=1e-12)
    assert (frame["asked_setting"] == frame["setting"]).all()
    columns, lines = [], []
    write_csv(pulls_of("doses", storage), columns.append)
    write_jsonl(pulls_of("doses", storage), lines.append)
    assert "level,setting,unit,reward" in columns[0]
    assert json.loads("".join(lines).splitlines()[0])["setting"] == frame["setting"][0]


def test_without_a_dial_the_history_and_documents_are_as_before(storage: str) -> None:
    study = driven(posed(None), storage)
    assert not {"setting", "unit", "asked_setting"} & set(study.history.columns)
    for document in (study.certificate.to_dict(), study.recommendation.to_dict(), study.status().to_dict()):
        assert not {"setting", "settings", "unit", "dial"} & set(document)
    assert "at level 0." in study.certificate.statement


def test_an_export_brings_the_dial_and_the_head_along(storage: str, tmp_path: Path) -> None:
    study = driven(posed(CURVE, max_step="5 mg"), storage)
    study.export(tmp_path / "doses.study")
    again = sf.import_study(tmp_path / "doses.study", "memory", "again")
    try:
        assert again.head == study.head
        assert again.problem == study.problem
        assert again.audit().clean
        assert again.certificate == study.certificate
        assert sf.Certificate.from_dict(json.loads(json.dumps(again.certificate.to_dict()))) == again.certificate
    finally:
        sf.delete_study("again", "memory")


def test_tables_may_have_settings_in_place_of_levels(storage: str, tmp_path: Path) -> None:
    study = sf.create_study(posed(CURVE), name="doses", storage=storage)
    rows = [
        {"arm": "A", "setting": 2.5, "reward": 0.1, "safety": 5.2},
        {"arm": "B", "level": "1 mg", "reward": 0, "safety": 5},
    ]
    made = study.add([rows[0]], order="as measured", not_because_of_result=True)
    study.add([rows[1]], order="as measured", not_because_of_result=True)
    (tmp_path / "more.csv").write_text("arm,setting,reward,safety\nA,2.5,0.2,5.3\nB,1.25,0.1,5.1\n")
    study.add(tmp_path / "more.csv", order="as measured", not_because_of_result=True)
    study.add("A", "2 mg", 0.1, 5.2, not_because_of_result=True)
    assert list(made) == [1]
    assert [each.level for each in study.results()] == pytest.approx([0.2, 0.08, 0.2, 0.1, 0.16])
    with pytest.raises(InvalidInput, match="column 'setting' = 50 must lie from 0 mg to 40 mg"):
        study.add([{**rows[0], "setting": 50}], order="as measured", not_because_of_result=True)
    plain = sf.create_study(posed(None), name="plain", storage=storage)
    with pytest.raises(InvalidInput, match="has no column 'level'"):
        plain.add([rows[0]], order="as measured", not_because_of_result=True)


def test_refusals_and_corrections_speak_in_units(storage: str) -> None:
    study = sf.create_study(posed(), name="doses", storage=storage)
    study.tell(study.ask(), reward=0.1, safety=5.5)
    study.correct(1, reward=0.2, reason="misread", by="me")
    assert "reward 0.1 €/h, pressure 5.5 bar -> reward 0.2 €/h, pressure 5.5 bar" in study.status().corrections[0]
    pull = study.ask()
    with pytest.raises(Implausible, match=r"B at 8 mg \(level 0.2\)\) is implausible: pressure = 55 bar") as refused:
        study.tell(pull, reward=0.1, safety=55.0, key="once")
    with pytest.raises(Implausible) as again:
        study.tell(pull, reward=0.1, safety=55.0, key="once")
    assert str(again.value) == str(refused.value)
    assert study.held[0].to_dict()["setting"] == 8.0


def test_results_of_another_dial_are_not_taken_over(storage: str) -> None:
    study = sf.create_study(posed(), name="doses", storage=storage)
    study.tell(study.ask(), reward=0.1, safety=5.5)
    for dial in (DOSES, None):
        name = f"new {dial is None}"
        assert len(sf.create_study(posed(dial), name=name, storage=storage, warm_start=study).results()) == 1
    for dial in (CURVE, sf.Dial("mg", full=80), sf.Dial("g", full=40)):
        with pytest.raises(InvalidInput, match="was measured on another dial"):
            sf.create_study(posed(dial), name="other", storage=storage, warm_start=study)


def test_simulated_runs_have_settings_in_their_frame() -> None:
    problem = posed(CURVE)
    world = sf.worlds.Linear.for_problem(problem, theta_star=[1.5, 0.3], mu_star=[[4.0, 2.0]])
    frame = sf.simulate(world, problem, runs=3, seed=1).to_pandas()
    assert [CURVE.level_of(each) for each in frame["setting"]] == pytest.approx(frame["level"].tolist(), abs=1e-12)
    assert {"setting: A", "setting: B", "unit"} <= set(frame.columns)
