"""Problems that are stated in real units: levels, grids, steps and caps as settings, units on readings, and files."""

import json
import math
import pickle

import numpy as np
import pytest

import surefoot as sf
from surefoot.core.kernel import interpreting
from surefoot.errors import InvalidInput
from surefoot.live.session import Session
from surefoot.problem.dial_settings import steps_in_levels
from surefoot.simulation import run_session

DOSES = sf.Dial("mg", full=40)
CURVE = sf.Dial("mg", settings=[0, 5, 10, 20, 40], effects=[0, 0.4, 0.6, 0.8, 1])
VALVE = sf.Dial("% open", settings=[15, 30, 100], effects=[0.25, 0.7, 1])


def posed(**changes: object) -> sf.Problem:
    settings: dict = {
        "arms": {"A": [1.0, 0.0], "B": [0.0, 1.0]}, "reward": sf.Reward(noise=0.5),
        "safety": sf.Limit("pressure", at_most=8.0, baseline=5.0, noise=0.3, unit="bar"), "safe_level": 0.2,
        "epsilon": 0.3, "delta": 0.1, "delta_safety": 0.1, "dial": DOSES,
    } | changes  # fmt: skip
    return sf.Problem(**settings)


def refusal(**changes: object) -> InvalidInput:
    with pytest.raises(InvalidInput) as refused:
        posed(**changes)
    return refused.value


# -- levels in units --------------------------------------------------------------------------------------------------


def test_text_with_the_unit_is_a_setting_and_a_number_a_level() -> None:
    in_units = posed(
        safe_level="8 mg", level_grid=["4 mg", "8 mg", "20 mg", 1.0], max_level={"A": "40 mg", "B": "20 mg"}
    )
    in_levels = posed(safe_level=0.2, level_grid=[0.1, 0.2, 0.5, 1.0], max_level=[1.0, 0.5])
    assert in_units == in_levels
    assert posed(safe_level=["8 mg", 0.3]).safe_level.tolist() == [0.2, 0.3]
    assert posed(level_grid=np.array(["8 mg", "40 mg"])).level_grid == (0.2, 1.0)
    assert posed(dial=CURVE, safe_level="2.5 mg").safe_level.tolist() == [0.2, 0.2]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"dial": None, "safe_level": "8 mg"}, "safe_level"),
        ({"dial": None, "max_step": "8 mg"}, "max_step"),
        ({"safe_level": "8 g"}, "safe_level"),
        ({"safe_level": "8"}, "safe_level"),
        ({"safe_level": "0 mg"}, "safe_level"),
        ({"safe_level": "41 mg"}, "safe_level"),
        ({"safe_level": {"A": "8 mg", "B": "nan mg"}}, "safe_level['B']"),
        ({"safe_level": 8}, "safe_level"),
        ({"level_grid": ["8 mg", "80 mg"]}, "level_grid[1]"),
        ({"level_grid": ["8 mg", "0 mg"]}, "level_grid[1]"),
        ({"level_grid": "8 mg"}, "level_grid"),
        ({"max_level": "4 mg"}, "max_level of arm 'A'"),
        ({"max_step": "0 mg"}, "max_step"),
        ({"max_step": "-5 mg"}, "max_step"),
        ({"max_step": "inf mg"}, "max_step"),
        ({"max_step": ""}, "max_step"),
        ({"dial": "mg"}, "dial"),
        ({"dial": {"unit": "mg", "full": 40}}, "dial"),
        ({"dial": VALVE}, "safe_level of arm 'A'"),
        ({"dial": VALVE, "safe_level": 0.5, "level_grid": [0.1, 0.5, 1.0]}, "level_grid"),
        ({"dial": VALVE, "safe_level": 0.5, "max_step": 0.1}, "max_step"),
        ({"dial": VALVE, "safe_level": 0.5, "max_step": "5 % open"}, "max_step"),
        ({"dial": CURVE, "level_grid": ["2 mg", "10 mg", "20 mg"], "max_step": "9 mg"}, "max_step"),
    ],
)
def test_what_cannot_be_set_is_refused_by_name(changes, field) -> None:
    assert refusal(**changes).field == field


def test_refusals_of_levels_speak_in_units() -> None:
    assert "from 8 mg (level 0.2) to 20 mg (level 0.5)" in str(refusal(level_grid=["8 mg", "20 mg"], max_step="5 mg"))
    assert "whose lowest is 12 mg (level 0.3)" in str(refusal(level_grid=["12 mg", "20 mg"]))
    assert "below the safe level 8 mg (level 0.2)" in str(refusal(max_level="4 mg"))


def test_a_grid_between_the_entries_of_a_table_is_on_the_curve() -> None:
    assert posed(dial=CURVE, level_grid=["2.5 mg", "30 mg"]).level_grid == (0.2, 0.9)


# -- steps in settings ------------------------------------------------------------------------------------------------


def test_a_step_in_settings_on_a_proportional_dial_is_one_in_level() -> None:
    problem = posed(max_step="5 mg")
    assert (problem.max_step, problem.max_setting_step) == (0.125, 5.0)
    assert [len(each) for each in steps_in_levels(problem.dial, problem.max_setting_step)] == [0, 0]


def test_a_step_in_settings_on_a_curve_is_told_by_its_largest_in_level() -> None:
    problem = posed(dial=CURVE, max_step="5 mg")
    assert problem.max_step == pytest.approx(0.4)  # from 0 to 5 mg
    assert problem.max_setting_step == 5.0


@pytest.mark.parametrize("grid", [None, [f"{setting} mg" for setting in (2, 4, 8, 12, 16, 20, 25, 30, 35, 40)]])
@pytest.mark.parametrize("policy", [sf.SafeGap(), sf.Uniform()], ids=lambda policy: policy.name)
def test_no_setting_rises_by_more_than_the_step_and_the_dial_is_climbed(grid, policy) -> None:
    stretch = sf.Dial("mg", settings=[0, 2, 10, 20, 40], effects=[0, 0.1, 0.15, 0.9, 1])  # slow, steep, slow
    problem = posed(
        dial=stretch, safe_level="2 mg", level_grid=grid, max_step="5 mg", reward=sf.Reward(noise=0.1, norm=2.0),
        safety=sf.Limit("pressure", at_most=8.0, baseline=5.0, noise=0.05, norm=3.0), epsilon=0.0,
    )  # fmt: skip
    world = sf.worlds.Linear.for_problem(problem, theta_star=[1.0, 0.6], mu_star=[[1.0, 2.0]])
    session = Session(problem, policy, seed=1, max_pulls=400)
    last, highest, steps = dict.fromkeys(problem.names, 2.0), 0.0, []
    while not session.stopped:
        pull = session.ask()
        setting = stretch.setting_of(pull.level)
        steps.append(setting - last[pull.name])
        last[pull.name], highest = setting, max(highest, setting)
        session.tell(pull, **world.measure(pull, seed=1))
    assert max(steps) <= 5.0 * (1 + 1e-8)
    assert max(steps) > 3.9  # it is used
    assert highest >= 30.0  # through the flat, the steep and the flat part of the curve


def test_a_step_from_what_was_really_applied_is_limited_too() -> None:
    problem = posed(dial=CURVE, safe_level="10 mg", max_step="5 mg")
    session = Session(problem, seed=3)
    first = session.ask()
    session.tell(first, reward=0.1, safety=5.1, level="1 mg")
    again = next(pull for pull in iter(session.ask, None) if pull.name == first.name or tell_on(session, pull))
    assert CURVE.setting_of(again.level) <= 6.0 * (1 + 1e-8)


def tell_on(session: Session, pull: sf.Pull) -> None:
    session.tell(pull, reward=0.1, safety=5.1)


def test_session_and_simulator_agree_on_a_curve() -> None:
    problem = posed(dial=CURVE, safe_level="2 mg", max_step="3 mg")
    world = sf.worlds.Linear.for_problem(problem, theta_star=[1.0, 0.6], mu_star=[[1.0, 2.0]])
    session = Session(problem, seed=5)
    run_session(world, session, seed=5)
    runs = sf.simulate(world, problem, runs=1, seed=5)
    assert runs.summary()["pulls_mean"] == session.pulls


def test_compiled_and_interpreted_take_the_same_steps_on_a_curve() -> None:
    problem = posed(dial=CURVE, safe_level="2 mg", max_step="3 mg")
    world = sf.worlds.Linear.for_problem(problem, theta_star=[1.0, 0.6], mu_star=[[1.0, 2.0]])
    with interpreting():
        plain = Session(problem, seed=3)
    compiled = Session(problem, seed=3)
    while not compiled.stopped:
        pull = compiled.ask()
        assert plain.ask() == pull
        for session in (plain, compiled):
            session.tell(pull, **world.measure(pull, seed=3))
    assert pull.level > problem.safe_level[0]


# -- files and hashes -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dial", [DOSES, CURVE], ids=["proportional", "curve"])
@pytest.mark.parametrize("suffix", ["toml", "json"])
def test_a_file_brings_back_the_same_problem(tmp_path, dial, suffix) -> None:
    stated = {"safe_level": "8 mg", "level_grid": ["4 mg", "8 mg", "33.3 mg"], "max_step": "31.1 mg"}
    problem = posed(dial=dial, reward=sf.Reward(1, unit="€"), **stated)
    problem.save(tmp_path / f"problem.{suffix}")
    loaded = sf.Problem.load(tmp_path / f"problem.{suffix}")
    assert loaded == problem
    assert loaded.to_dict() == problem.to_dict()
    assert (loaded.dial, loaded.max_setting_step, loaded.safety[0].unit, loaded.reward.unit) == (dial, 31.1, "bar", "€")
    assert pickle.loads(pickle.dumps(problem)) == problem
    assert problem.with_(epsilon=0.1).with_(epsilon=0.3) == problem


def test_without_a_dial_and_units_nothing_in_a_problem_is_written_otherwise() -> None:
    plain = posed(dial=None, safety=sf.Limit("pressure", at_most=8.0, baseline=5.0, noise=0.3), max_step=0.1)
    assert not [key for key in ("dial", "unit", "setting") if key in json.dumps(plain.to_dict())]
    assert plain.fingerprint == "6fb1eda041072e4de6fd9c72f268493b4ebf93ca7be0e9141eb642f28c735df0"


def test_a_dial_is_part_of_what_is_hashed() -> None:
    prints = {posed(dial=dial).fingerprint for dial in (None, DOSES, CURVE, sf.Dial("g", full=40))}
    assert len(prints) == 4


@pytest.mark.parametrize(
    ("table", "field"),
    [
        ({"full": 40}, "dial.unit"),
        ({"unit": "mg"}, "dial.full"),
        ({"unit": "mg", "ful": 40}, "dial['ful']"),
        ({"unit": "mg", "full": 0}, "dial.full"),
        ({"unit": "m\x1bg", "full": 40}, "dial.unit"),
        ({"unit": "mg", "settings": [0, 1]}, "dial.effects"),
        ("mg", "dial"),
        ([], "dial"),
    ],
)
def test_a_table_of_a_file_that_is_no_dial_is_refused_by_name(table, field) -> None:
    with pytest.raises(InvalidInput) as refused:
        sf.Problem.from_dict({**posed().to_dict(), "dial": table})
    assert refused.value.field == field


@pytest.mark.parametrize("unit", ["", "b\nar", "\x1b[31m", 5, math.nan, "1"])
def test_a_unit_of_a_reading_that_is_none_is_refused_by_name(unit) -> None:
    with pytest.raises(InvalidInput) as refused:
        sf.Limit("pressure", at_most=8.0, noise=0.3, unit=unit)
    assert refused.value.field == "safety['pressure'].unit"
    with pytest.raises(InvalidInput) as refused:
        sf.Reward(noise=0.3, unit=unit)
    assert refused.value.field == "reward.unit"


def test_a_changed_dial_does_not_reinterpret_a_step_in_its_unit() -> None:
    problem = posed(max_step="5 mg")
    assert problem.with_(dial=sf.Dial("mg", full=80)).max_step == 0.0625
    for other in (None, sf.Dial("g", full=40)):
        with pytest.raises(InvalidInput) as refused:
            problem.with_(dial=other)
        assert refused.value.field == "max_step"
