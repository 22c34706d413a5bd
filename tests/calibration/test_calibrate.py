"""Calibrations: what is said of good and bad statements, in plain words, and what is written as a file."""

import json
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surefoot as sf
from surefoot.errors import InvalidInput
from surefoot.plots import rendered

THETA, MU = np.array([1.5, 0.3]), np.array([4.0, 2.0])


def pumps(**changes: Any) -> sf.Problem:
    """The pumps of the README."""
    problem = sf.Problem(
        {"pump A": [1, 0], "pump B": [0, 1], "both": [0.6, 0.4]}, sf.Reward(noise=0.5),
        sf.Limit("pressure", at_most=8.0, baseline=5.0, noise=0.3), safe_level=0.2, epsilon=0.15, delta=0.05,
        delta_safety=0.05,
    )  # fmt: skip
    return problem.with_(**changes)


def limit(noise: Any = 0.3, **settings: Any) -> sf.Limit:
    return sf.Limit("pressure", at_most=8.0, baseline=5.0, noise=noise, **settings)


def rows_of(
    count: int, levels: tuple[float, ...] = (0.1, 0.2), reward_noise: float = 0.25, noise: float = 0.3,
    power: float = 1.0, baseline: float = 5.0, seed: int = 1, arms: tuple[int, ...] = (0, 1, 2), odd: float = 0.0,
    growing: float = 0.0,
) -> list[dict[str, Any]]:  # fmt: skip
    """Pilot trials, every arm at every level in turn."""
    random, problem, rows = np.random.default_rng(seed), pumps(), []
    for number in range(count):
        arm = arms[number % len(arms)]
        level = levels[number // len(arms) % len(levels)]
        strength, scatter = level**power, 1.0 + growing * level
        x = problem.arms[arm]
        reward = strength * (x @ THETA) + reward_noise * scatter * random.normal()
        reading = baseline + strength * (x @ MU + (odd if arm == 2 else 0.0)) + noise * scatter * random.normal()
        rows.append({"arm": problem.names[arm], "level": level, "reward": reward, "safety": reading})
    return rows


def said(found: Any) -> str:
    return " ".join(str(found).split())


# -- noise ------------------------------------------------------------------------------------------------------------


def test_noise_is_told_beside_what_is_stated() -> None:
    found = sf.calibrate(pumps(), rows_of(60), confidence=0.96)
    reward, pressure = found["reward"].noise, found["pressure"].noise
    assert reward is not None
    assert pressure is not None
    assert reward.at_least < 0.25 < reward.at_most < 0.5
    assert "Noise: stated 0.5; about 0.2" in said(found)
    assert "with 96 % confidence: could be lowered." in said(found)
    assert reward.freedom == 60 - 6
    assert reward.by == "repeats"


def test_a_number_that_is_too_small_is_called_so() -> None:
    found = sf.calibrate(pumps(safety=limit(0.1)), rows_of(60))
    assert "Noise: stated 0.1 is too small: at least 0.2" in said(found)
    table = tomllib.loads(found.suggestion())
    assert table["safety"][0]["noise"] >= found["pressure"].noise.at_most  # type: ignore[union-attr]


def test_what_the_rows_do_not_contradict_stands() -> None:
    found = sf.calibrate(pumps(reward=sf.Reward(noise=0.3)), rows_of(30))
    assert "neither contradicted nor confirmed, so it stands" in said(found)
    assert tomllib.loads(found.suggestion())["reward"]["noise"] == 0.3
    small = sf.calibrate(pumps(reward=sf.Reward(noise=found["reward"].noise.estimate * 0.95)), rows_of(30))  # type: ignore[union-attr]
    assert "on the small side" in said(small)
    assert tomllib.loads(small.suggestion())["reward"]["noise"] >= found["reward"].noise.at_most  # type: ignore[union-attr]


def test_unknown_noise_gets_a_guess_and_a_cap() -> None:
    problem = pumps(reward=sf.Reward(noise="unknown"), safety=limit("unknown", noise_at_most=0.1))
    found = sf.calibrate(problem, rows_of(60))
    assert "the stated cap 0.1 is too small: at least" in said(found)
    table = tomllib.loads(found.suggestion())
    suggested = sf.Problem.from_dict(table)
    assert suggested.reward.noise == "unknown"
    assert suggested.reward.guess == pytest.approx(0.25, rel=0.2)
    assert suggested.reward.at_most == pytest.approx(found["reward"].noise.at_most, rel=0.01)  # type: ignore[union-attr]
    assert suggested.safety[0].noise_at_most > 0.3  # type: ignore[operator]


def test_yes_no_and_bounded_readings_need_no_pilot() -> None:
    rows = [{"arm": 0, "level": 0.2, "reward": k % 2, "safety": 5.0 + k % 3} for k in range(12)]
    problem = pumps(reward=sf.Reward(noise="binary"), safety=limit(("bounded", 0.0, 10.0)))
    found = sf.calibrate(problem, rows)
    assert "by readings 0 or 1: that holds without a pilot" in said(found)
    assert "by readings between 0 and 10" in said(found)
    suggested = sf.Problem.from_dict(tomllib.loads(found.suggestion()))
    assert suggested.reward == problem.reward
    assert suggested.safety == problem.safety


def test_rounded_readings_have_no_bound_and_yes_no_is_named() -> None:
    rows = [{**row, "reward": float(row["reward"] > 0.1), "safety": round(row["safety"])} for row in rows_of(30)]
    found = sf.calibrate(pumps(), rows)
    assert 'State noise = "binary".' in said(found)
    assert "readings come in steps of 1" in said(found)
    assert tomllib.loads(found.suggestion())["reward"]["noise"] == 0.5  # as it was


def test_noise_that_grows_with_the_level_is_seen_and_not_lowered() -> None:
    found = sf.calibrate(pumps(reward=sf.Reward(noise=5.0)), rows_of(120, growing=40.0, reward_noise=0.1))
    assert found["reward"].sizes.p < 0.01  # type: ignore[union-attr]
    assert "Noise is not of one size: readings at the higher levels scatter more" in said(found)
    assert tomllib.loads(found.suggestion())["reward"]["noise"] == 5.0


# -- the linear law ---------------------------------------------------------------------------------------------------


def test_a_straight_plant_shows_nothing() -> None:
    found = sf.calibrate(pumps(), rows_of(120, (0.05, 0.1, 0.2)))
    for each in found.signals:
        assert each.levels is not None
        assert min(each.levels, each.arms or 0.0) >= 0.01
        assert each.bend is not None
        assert each.bend.lower < 0.0 < each.bend.upper
        assert each.largest is not None
    assert found["reward"].largest.at_most > 1.5  # type: ignore[union-attr]
    assert found["pressure"].largest.at_most > 4.0  # type: ignore[union-attr]
    assert "the rows contradict it" not in said(found)


def test_a_bend_is_seen_and_given_a_figure() -> None:
    found = sf.calibrate(pumps(), rows_of(240, (0.05, 0.1, 0.2), noise=0.01, power=2.0))
    pressure = found["pressure"]
    assert pressure.levels is not None
    assert pressure.levels < 1e-6
    assert pressure.bend is not None
    assert pressure.bend.lower > 0.0
    assert "Proportional to the level: the rows contradict it" in said(found)
    assert "the response bends" in said(found)
    true = np.abs(np.array([0.05, 0.1, 0.2]) ** 2 * 4.0 - np.array([0.05, 0.1, 0.2]) * 0.7).max()
    assert pressure.within is not None
    assert 0.3 * true < pressure.within.at_most < 3.0 * true
    assert f"# within = {float(sf_rounded(pressure.within.at_most))}" in found.suggestion()


def sf_rounded(value: float) -> str:
    from surefoot.problem.units import rounded_up

    return rounded_up(value, 3)


def test_another_baseline_and_an_arm_of_its_own_are_seen() -> None:
    shifted = sf.calibrate(pumps(), rows_of(120, noise=0.05, baseline=5.4))
    assert "the baseline is another one" in said(shifted)
    odd = sf.calibrate(pumps(), rows_of(120, noise=0.05, odd=2.0))
    assert odd["pressure"].arms is not None
    assert odd["pressure"].arms < 1e-4
    assert "Arms do not follow their features" in said(odd)
    assert odd["reward"].arms is not None
    assert odd["reward"].arms >= 0.01


# -- warnings ---------------------------------------------------------------------------------------------------------


def test_rows_above_the_known_level_are_named() -> None:
    rows = rows_of(9)
    rows[4]["level"] = 0.5
    found = sf.calibrate(pumps(), rows)
    assert found.warnings[0] == "Row 5: pump B at 0.5 is above its known safe level, 0.2."
    many = sf.calibrate(pumps(), rows_of(20, (0.3,)))
    assert "And 15 more rows above the known safe level." in many.warnings


def test_a_known_level_that_is_not_safe_is_called_so() -> None:
    found = sf.calibrate(pumps(), rows_of(60, baseline=8.5))
    assert any("Is that level safe?" in each for each in found.warnings)


def test_a_slip_of_the_pen_is_named_by_its_row() -> None:
    rows = rows_of(60)
    rows[16]["safety"] = 56.0
    found = sf.calibrate(pumps(), rows)
    assert [each for each in found.warnings if each.startswith("Row 17: pressure = 56")]
    constant = [{"arm": 0, "level": 0.2, "reward": 1.0 + (k == 3), "safety": 5.0} for k in range(9)]
    assert [each for each in sf.calibrate(pumps(), constant).warnings if each.startswith("Row 4: reward = 2")]


# -- what cannot be told ----------------------------------------------------------------------------------------------


def test_too_few_rows_are_said_to_be_too_few() -> None:
    found = sf.calibrate(pumps(), rows_of(2))
    assert found["reward"].noise is None
    assert "2 rows can be fitted without any rest by 2 unknown weights" in said(found)
    assert tomllib.loads(found.suggestion())["reward"]["noise"] == 0.5
    assert "No setting is repeated" in said(found)
    one = sf.calibrate(pumps(), rows_of(1))
    assert "the rows cannot tell it" in said(one)


def test_one_level_and_one_arm_leave_things_unseen() -> None:
    found = sf.calibrate(pumps(), rows_of(12, (0.2,), arms=(0,)))
    assert "All rows are at 0.2: whether effects are proportional to the level stays unseen." in said(found)
    assert "Not tried: 'pump B', 'both'." in said(found)
    assert "The rows span 1 direction of the features, and the arms 2" in said(found)
    for each in found.signals:
        assert each.levels is None
        assert each.bend is None
        assert each.largest is None
        assert each.noise is not None
    nothing = sf.calibrate(
        pumps(), [{"arm": 0, "level": 0, "reward": 0.1 * k, "safety": 5 + 0.1 * k} for k in range(5)]
    )
    assert "All rows are at level 0" in said(nothing)
    assert nothing["reward"].noise is not None


def test_a_stuck_gauge_is_no_quiet_one() -> None:
    rows = [{**row, "safety": 5.5} for row in rows_of(9, (0.2,), arms=(0,))]
    found = sf.calibrate(pumps(), rows)
    assert "All readings are the same number" in said(found)
    assert tomllib.loads(found.suggestion())["safety"][0]["noise"] == 0.3
    computed = [{"arm": k % 3, "level": 0.2, "reward": [1.5, 0.3, 1.02][k % 3] * 0.2, "safety": 5.1} for k in range(9)]
    assert "Are they measured, or computed?" in said(sf.calibrate(pumps(), computed))


# -- what comes after -------------------------------------------------------------------------------------------------


def test_the_file_pays_for_the_bounds() -> None:
    found = sf.calibrate(pumps(delta=0.04, delta_safety=0.02), rows_of(30), confidence=0.99)
    suggested = sf.Problem.from_dict(tomllib.loads(found.suggestion()))
    assert suggested.delta == pytest.approx(0.03)
    assert suggested.delta <= 0.04 - 0.01
    assert suggested.delta_safety == pytest.approx(0.01)
    assert "do not add them to the study" in said(found)
    assert "do not add them to the study" in " ".join(found.suggestion().replace("\n# ", " ").split())


def test_bounds_that_cost_all_there_is_are_told_but_not_written(tmp_path: Path) -> None:
    found = sf.calibrate(pumps(), rows_of(30), confidence=0.95)
    assert "leave nothing to spend it from" in said(found)
    with pytest.raises(InvalidInput, match=r"confidence = 0.95: spends 0.05 .* Ask for a confidence above 0.95"):
        found.save(tmp_path / "suggested.toml")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "problem",
    [
        pumps(),
        pumps(dial=sf.Dial("mg", full=40.0), safe_level="8 mg", max_step="5 mg"),
        pumps(safe_level={"pump A": 0.2, "pump B": 0.1, "both": 0.15}, level_grid=[0.1, 0.15, 0.2, 0.5, 1.0]),
        pumps(arms=[[1, 0], [0, 1], [0.6, 0.4]], names=["pump A", "pump B", "both"]),
        pumps(
            reward=sf.Reward(noise=0.5, norm=2.0, unit="EUR"),
            safety=[limit(unit="bar"), sf.Limit('"x"\\', at_least=-9, noise=1.0)],
        ),
        pumps(safety=limit(covers="readings", reading_risk=0.1)),
    ],
    ids=["plain", "dial", "levels by arm", "rows", "units", "readings"],
)  # fmt: skip
def test_the_file_loads_again_and_what_is_commented_can_be_an_entry(problem: sf.Problem, tmp_path: Path) -> None:
    rows = rows_of(30)
    for row in rows:
        row.update({f"safety_{each.name}": row["safety"] for each in problem.safety})
        row.pop("safety")
    found = sf.calibrate(problem, rows)
    place = tmp_path / "suggested.toml"
    found.save(place)
    suggested = sf.Problem.load(place)
    assert suggested.names == problem.names
    assert np.array_equal(suggested.arms, problem.arms)
    assert np.array_equal(suggested.safe_level, problem.safe_level)
    assert (suggested.dial, suggested.max_step, suggested.level_grid) == (
        problem.dial, problem.max_step, problem.level_grid
    )  # fmt: skip
    with pytest.raises(InvalidInput, match="exists already"):
        found.save(place)
    found.save(place, overwrite=True)
    for line in place.read_text("utf-8").splitlines():
        if line.startswith(("# largest = ", "# within = ", "# guess = ")):
            assert len(tomllib.loads(line.removeprefix("# "))) == 1
    assert "# within = " in place.read_text("utf-8")
    assert ("# largest = " in place.read_text("utf-8").partition("[[safety]]")[0]) == (problem.reward.norm is None)


def test_it_is_told_in_lines_that_fit_is_plain_data_and_is_drawn() -> None:
    found = sf.calibrate(pumps(dial=sf.Dial("mg", full=40.0), safe_level="8 mg"), rows_of(30))
    assert max(map(len, str(found).splitlines())) <= 80
    table = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert [each["name"] for each in table["signals"]] == ["reward", "pressure"]
    assert table["signals"][0]["words"][0].startswith("Noise: stated 0.5")
    html = found._repr_html_()
    assert "Proportional to the level" in html
    assert repr(found).startswith("Calibration(30 pilot rows of 3 of 3 arms at levels 4 mg")
    for settings_ in ({}, {"theme": "dark", "width": 4.5}):
        figure = found.plot(**settings_)
        assert [axes.get_title(loc="left") for axes in figure.axes] == ["reward", "pressure"]
        assert rendered(figure, "png").startswith(b"\x89PNG")
    with pytest.raises(InvalidInput, match="Did you mean 'pressure'"):
        found["presure"]


def test_what_cannot_be_stated_is_not_written(tmp_path: Path) -> None:
    """A limit on readings that scatter so much that nothing is left of it."""
    found = sf.calibrate(pumps(safety=limit(0.3, covers="readings", reading_risk=0.1)), rows_of(30, noise=2.0))
    with pytest.raises(InvalidInput, match="reading_risk") as caught:
        found.save(tmp_path / "suggested.toml")
    assert "nothing was written" in caught.value.__notes__[0]
    assert not list(tmp_path.iterdir())


def test_arms_that_do_not_span_and_many_arms_are_calibrated() -> None:
    random = np.random.default_rng(0)
    base = random.normal(size=(5000, 2))
    with pytest.warns(sf.errors.NotSpanningWarning):
        problem = pumps(arms=np.column_stack([base, base.sum(axis=1)]), names=None)
    rows = [{"arm": k % 7, "level": 0.1, "reward": random.normal(), "safety": 5.0 + random.normal()} for k in range(40)]
    found = sf.calibrate(problem, rows)
    assert found["reward"].largest is not None
    assert "and 4,988 more" in said(found)


# -- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"arm": "pump C"}, ["row 2", "'arm'"]),
        ({"level": 1.5}, ["row 2", "'level'"]),
        ({"level": -0.1}, ["row 2", "'level'"]),
        ({"reward": float("nan")}, ["row 2", "'reward'"]),
        ({"safety": "high"}, ["row 2", "'safety'"]),
        ({"safety": None}, ["row 2", "'safety'"]),
    ],
)
def test_rows_that_cannot_be_are_named(change: dict[str, Any], told: list[str]) -> None:
    rows = rows_of(3)
    rows[1].update(change)
    with pytest.raises(InvalidInput) as caught:
        sf.calibrate(pumps(), rows)
    assert caught.value.field == "rows"
    for word in told:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "is empty"),
        ("arm,level,reward,safety\n", "holds nothing"),
        ("arm,level,safety\npump A,0.2,6\n", "has no column 'reward'"),
        ("arm;level;reward;safety\npump A;0,2;1;6\n", "Separate the cells by commas"),
        ("arm,level,reward,reward\npump A,0.2,1,6\n", "two columns 'reward'"),
        ("arm,level,reward,safety\npump A,0.2,1\n", "row 1 has 3 cells"),
        ("arm,level,reward,safety\npump A,0.2,1_0,6\n", "row 1, column 'reward'"),
        ('arm,level,reward,safety\n"pump A,0.2,1,6\n', "is no CSV file"),
        ("arm,level,reward,safety\npump A,20,1,6\n", "name the column 'setting'"),
        ("arm,setting,reward,safety\npump A,20 g,1,6\n", "is not given in 'mg'"),
        ("arm,setting,reward,safety\npump A,60 mg,1,6\n", "must lie from 0 mg to 40 mg"),
    ],
)
def test_files_that_cannot_be_are_refused_with_a_remedy(content: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "pilot.csv").write_text(content, "utf-8")
    with pytest.raises(InvalidInput) as caught:
        sf.calibrate(pumps(dial=sf.Dial("mg", full=40.0)), tmp_path / "pilot.csv")
    assert told in str(caught.value)


def test_settings_are_read_in_the_unit_of_the_dial(tmp_path: Path) -> None:
    rows = "".join(f"{row['arm']},{40 * row['level']:g} mg,{row['reward']},{row['safety']}\n" for row in rows_of(30))
    (tmp_path / "pilot.csv").write_text(f"arm,setting,reward,pressure\n{rows}", "utf-8")
    found = sf.calibrate(pumps(dial=sf.Dial("mg", full=40.0)), str(tmp_path / "pilot.csv"))
    plain = sf.calibrate(pumps(), rows_of(30))
    assert found["pressure"].noise == pytest.approx(plain["pressure"].noise)


@pytest.mark.parametrize("confidence", [1.0, 0.0, "high", float("nan"), 95])
def test_a_confidence_that_is_none_is_refused(confidence: Any) -> None:
    with pytest.raises(InvalidInput, match="confidence"):
        sf.calibrate(pumps(), rows_of(30), confidence=confidence)
    with pytest.raises(InvalidInput, match="must be a Problem"):
        sf.calibrate("pumps.toml", rows_of(3))  # type: ignore[arg-type]


ODD = ["pump A", "both", "0.2", "0", "1", "1e99", "-1e99", "5e-324", "nan", "inf", "", "0,1", "1_0", "=1+1"]
CELLS = st.one_of(
    st.sampled_from(ODD),
    st.text(max_size=6), st.floats(width=32).map(str),
)  # fmt: skip


@settings(max_examples=300)
@given(
    st.lists(st.sampled_from(["arm", "level", "setting", "reward", "safety", "x", "safety_pressure"]), max_size=6),
    st.lists(st.lists(CELLS, max_size=6), max_size=6),
    st.sampled_from([",", ";", "\t", ",\x00"]),
)
def test_whatever_a_file_holds_is_taken_or_refused(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], rows: list[list[str]], mark: str
) -> None:
    place = tmp_path_factory.mktemp("hostile") / "pilot.csv"
    place.write_bytes("\n".join(mark.join(row) for row in [names, *rows]).encode("utf-8", "surrogatepass"))
    try:
        found = sf.calibrate(pumps(), place)
    except InvalidInput:
        return
    assert sf.Problem.from_dict(tomllib.loads(found.suggestion()))


@settings(max_examples=200)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 2), st.sampled_from([0.0, 1e-300, 1e-9, 0.1, 0.2, 1.0]),
            st.floats(-1e100, 1e100), st.floats(-1e100, 1e100),
        ),
        min_size=1, max_size=12,
    )
)  # fmt: skip
def test_any_numbers_give_words_and_a_file(rows: list[tuple[int, float, float, float]]) -> None:
    table = [dict(zip(("arm", "level", "reward", "safety"), row, strict=True)) for row in rows]
    with np.errstate(all="raise", under="ignore"):
        found = sf.calibrate(pumps(), table)
    assert "nan" not in str(found).replace("'", " ").split()
    json.dumps(found.to_dict(), allow_nan=False)
    tomllib.loads(found.suggestion())


# -- rows that were used -----------------------------------------------------------------------------------------------


def suggested(rows: Any, **changes: Any) -> sf.Problem:
    """The problem of the file that the rows suggest."""
    return sf.Problem.from_dict(tomllib.loads(sf.calibrate(pumps(**changes), rows).suggestion()))


def added(problem: sf.Problem, rows: Any) -> sf.Study:
    study = sf.create_study(
        problem, name=f"after {np.random.default_rng().integers(1 << 60)}", storage="memory", seed=1
    )
    study.add(rows, order="as measured", not_because_of_result=True)
    return study


def test_pilot_rows_are_not_taken_as_data_of_what_they_calibrated() -> None:
    pilot, fresh = rows_of(36), rows_of(12, seed=2)
    problem = suggested(pilot)
    assert len(problem.calibrated_by) == 1
    assert sf.Problem.from_dict(problem.to_dict()) == problem
    assert problem != problem.with_(calibrated_by=None)
    for table, places in ((pilot, "rows 1 to 36"), (fresh + pilot, "rows 13 to 48"), (pilot + fresh, "rows 1 to 36")):
        with pytest.raises(InvalidInput, match=f"{places} are the pilot rows") as refused:
            added(problem, table)
        assert "fresh rows" in refused.value.remedy
    assert added(problem, fresh).pulls == 12
    assert added(problem.with_(calibrated_by=None), pilot).pulls == 36
    assert added(pumps(), pilot).pulls == 36  # nothing was stated by them


def test_rows_are_known_again_in_the_units_of_the_dial_and_after_a_second_pilot() -> None:
    first, second = rows_of(36), rows_of(24, seed=2)
    dial = sf.Dial("mg", 40)
    problem = suggested(first, dial=dial)
    twice = sf.Problem.from_dict(tomllib.loads(sf.calibrate(problem, second).suggestion()))
    assert len(twice.calibrated_by) == 2
    for rows in (first, second):
        in_settings = [{**row, "setting": 40 * row["level"]} for row in rows]
        for row in in_settings:
            del row["level"]
        with pytest.raises(InvalidInput, match="are the pilot rows"):
            added(twice, in_settings)


@pytest.mark.parametrize("marks", ["36 rows", ["36 rows"], [7], 7, [f"0 rows {'0' * 16} {'0' * 64}"]])
def test_marks_that_nobody_wrote_are_refused(marks: Any) -> None:
    with pytest.raises(InvalidInput, match="calibrated_by"):
        pumps(calibrated_by=marks)
