"""Settings in real units: there and back, never above the level that is certified, and refused by name."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surefoot as sf
from surefoot.errors import InvalidInput
from surefoot.problem.units import (
    level_in_words,
    reading_in_words,
    rounded_down,
    same_unit,
    setting_in_words,
    with_unit,
    written_down,
)

HALF = sf.Dial("mg", full=40)
LOGARITHMIC = sf.Dial("mg", settings=[1, 2, 5, 10, 20, 50, 100], effects=[0, 0.15, 0.35, 0.5, 0.65, 0.85, 1])
FROM_COLD = sf.Dial("°C", settings=[-20, 0, 30], effects=[0, 0.5, 1])
VALVE = sf.Dial("% open", settings=[15, 30, 100], effects=[0.25, 0.7, 1])  # below 15 % nothing flows
FLAT = sf.Dial("x", settings=[0, 1, 1e6], effects=[0, 1 - 2e-9, 1])
STEEP = sf.Dial("x", settings=[1e6, 1e6 + 0.1, 2e6], effects=[0, 0.999, 1])
DIALS = [HALF, LOGARITHMIC, FROM_COLD, VALVE, FLAT, STEEP, sf.Dial("l", full=1 / 3), sf.Dial("Pa", full=1e99)]


@st.composite
def curves(draw):
    count = draw(st.integers(2, 6))
    rises = draw(st.lists(st.floats(0.001, 1000.0), min_size=2 * count, max_size=2 * count))
    start = draw(st.floats(-1e3, 1e3))
    effects = np.cumsum([draw(st.sampled_from([0.0, 0.5])), *rises[: count - 1]])
    chosen = start + np.cumsum(rises[count:])
    return sf.Dial("mg", settings=chosen.tolist(), effects=[*(effects / effects[-1]).tolist()[:-1], 1.0])


def read_back(dial: sf.Dial, words: str) -> float:
    """The level that somebody applies who reads these words."""
    return float(dial.level_of(words))


# -- never above ------------------------------------------------------------------------------------------------------


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.sampled_from(DIALS), curves()), st.floats(0.0, 1.0), st.integers(1, 9))
def test_a_setting_and_every_shorter_text_of_it_is_not_above_the_level(dial, level, digits) -> None:
    setting = dial.setting_of(level)
    if setting is None:
        assert level < dial.lowest_level
        return
    assert dial.level_of(setting) <= level
    lowest = dial.setting_of(dial.lowest_level)
    words = setting_in_words(setting, dial.unit, digits)
    assert dial.amount("shown", words) <= setting
    if dial.amount("shown", words) >= lowest:  # a text may be so short that it lies below the dial
        assert read_back(dial, words) <= level
    assert float(rounded_down(level, digits)) <= level


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.sampled_from([HALF, LOGARITHMIC, FROM_COLD, VALVE]), curves()), st.floats(0.0, 1.0))
def test_a_setting_is_as_near_below_its_level_as_rounding_allows(dial, level) -> None:
    setting = dial.setting_of(level)
    if setting is not None:
        assert dial.level_of(setting) == pytest.approx(level, abs=1e-9)


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.sampled_from(DIALS), curves()), st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_levels_never_fall_where_settings_rise(dial, one, another) -> None:
    lowest, highest = dial._points[0][0], dial._points[0][-1]
    low, high = sorted(float(np.clip(lowest + share * (highest - lowest), lowest, highest)) for share in (one, another))
    assert dial.level_of(low) <= dial.level_of(high)
    assert dial.level_of(low) >= 0.0
    assert dial.level_of(high) <= 1.0


@pytest.mark.parametrize("dial", DIALS, ids=lambda dial: dial.unit)
def test_the_entries_of_a_table_are_exact_and_show_as_they_were_typed(dial) -> None:
    for setting, effect in zip(*map(np.ndarray.tolist, dial._points), strict=True):
        assert dial.level_of(setting) == effect
        assert dial.setting_of(effect) == setting


@pytest.mark.parametrize("dial", [HALF, LOGARITHMIC, VALVE], ids=lambda dial: dial.unit)
def test_a_setting_that_people_type_comes_back_as_they_typed_it(dial) -> None:
    for typed in ("15", "16.5", "17.25", "33.3", "39.999"):
        level = dial.level_of(f"{typed} {dial.unit}")
        assert level_in_words(dial, level, 6) == f"{typed} {dial.unit} (level {rounded_down(level, 6)})"
        assert read_back(dial, setting_in_words(dial.setting_of(level), dial.unit, 6)) == level


def test_many_levels_are_turned_into_settings_at_once_as_one_by_one() -> None:
    levels = np.random.default_rng(3).uniform(size=1000)
    for dial in DIALS:
        alone = [math.nan if (each := dial.setting_of(float(level))) is None else each for level in levels]
        assert np.array_equal(dial.setting_of(levels), alone, equal_nan=True)


# -- words ------------------------------------------------------------------------------------------------------------


def test_a_level_is_said_as_it_is_set_with_the_level_beside_it() -> None:
    assert level_in_words(HALF, 0.5) == "20 mg (level 0.5)"
    assert level_in_words(None, 0.71239) == "level 0.7123"
    assert level_in_words(LOGARITHMIC, 0.5) == "10 mg (level 0.5)"
    assert level_in_words(HALF, 0.0) == "0 mg (level 0)"
    assert level_in_words(VALVE, 0.1) == "off (level 0.1)"
    assert level_in_words(HALF, math.nan) == level_in_words(None, math.nan) == "unknown"
    assert (reading_in_words(6.1, "bar"), reading_in_words(6.1, None)) == ("6.1 bar", "6.1")
    assert with_unit("8", None) == "8"


def test_settings_are_written_without_exponents_and_with_all_digits_before_the_point() -> None:
    assert written_down(12345.67, 4) == "12345"
    assert written_down(0.000123456, 4) == "0.0001234"
    assert written_down(-13.3337, 4) == "-13.34"  # down is away from zero here
    assert written_down(1e30, 4) == "1E+30"
    assert written_down(999.99, 3) == "999"
    assert (written_down(0.0, 4), written_down(-0.0, 4)) == ("0", "0")


@given(st.floats(-1e12, 1e12), st.integers(1, 17))
def test_a_written_number_is_never_more_than_it_is(value, digits) -> None:
    assert float(written_down(value, digits)) <= value
    assert float(written_down(value, 17)) == value


# -- reading what people write ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", ["20 mg", "20mg", " 20.0 mg ", "2e1 mg", "+20 mg", "20  mg"])
def test_text_with_the_unit_is_a_setting(words) -> None:
    assert HALF.level_of(words) == 0.5


@pytest.mark.parametrize(
    "words",
    ["20", "20 g", "20 kg", "mg", "", "mg 20", "nan mg", "inf mg", "1_0 mg", "0x10 mg", "41 mg", "-1 mg", "20 MG",
     "20 mg mg", "20 mg\x1b[31m", True, None, math.nan, math.inf, 41, -1e-9, [1, [2]], {"a": 1}, b"20 mg"],
)  # fmt: skip
def test_other_text_and_what_is_no_setting_is_refused_by_name(words) -> None:
    with pytest.raises(InvalidInput) as refused:
        HALF.level_of(words, "level")
    assert refused.value.field.startswith("level")
    assert "\x1b" not in str(refused.value)


def test_both_characters_for_micro_are_one_unit() -> None:
    assert same_unit("µg", "μg")  # the micro sign, and the Greek letter
    assert sf.Dial("µg", full=10).level_of("5 μg") == 0.5
    assert sf.Dial("μg", full=10).level_of("5µg") == 0.5


@pytest.mark.parametrize("unit", ["mg", "m³/h", "% open", "°C", "µg/kg·min", "单位", "[IU]", "rpm", "e", "infusions"])
def test_units_of_every_script_are_taken_and_read_back(unit) -> None:
    dial = sf.Dial(unit, full=8)
    assert read_back(dial, f"4 {unit}") == read_back(dial, f"4{unit}") == 0.5


@pytest.mark.parametrize(
    "unit",
    ["", " mg", "mg ", "m\ng", "m\tg", "\x1b[31mmg", "m\x00g", "m\u202eg", "m\u200bg", "m\u2028g", "m\u00a0g", "\ud800",
     "x" * 41, "5", "e5", "-", ".", "_0", "٣", 5, None, b"mg", ["mg"], "\x9b31m", "\u2066mg", "\ufeffmg"],
)  # fmt: skip
def test_a_unit_that_hides_something_or_reads_as_digits_is_refused(unit) -> None:
    with pytest.raises(InvalidInput) as refused:
        sf.Dial(unit, full=40)
    assert refused.value.field == "dial.unit"
    assert all(each.isprintable() for each in str(refused.value))


# -- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("full", [0, -40, math.nan, math.inf, -math.inf, True, "40", "40 mg", 1e-101, 1e101, [40]])
def test_a_full_strength_that_is_none_is_refused(full) -> None:
    with pytest.raises(InvalidInput) as refused:
        sf.Dial("mg", full=full)
    assert refused.value.field == "dial.full"


@pytest.mark.parametrize(
    ("chosen", "effects", "field"),
    [
        ([0, 10, 20], [0, 0.5], "dial.effects"),
        ([0], [1], "dial.settings"),
        ([], [], "dial.settings"),
        ([0, 10, 10], [0, 0.5, 1], "dial.settings[2]"),
        ([0, 10, 5], [0, 0.5, 1], "dial.settings[2]"),
        ([0, 10, 20], [0, 0.5, 0.5], "dial.effects[2]"),
        ([0, 10, 20], [0, 1, 0.5], "dial.effects[2]"),
        ([0, 10, 20], [-0.1, 0.5, 1], "dial.effects[0]"),
        ([0, 10, 20], [1e-12, 0.5, 1], "dial.effects[0]"),
        ([0, 10, 20], [0, 0.5, 0.9], "dial.effects[2]"),
        ([0, 10, 20], [0, 0.5, 2], "dial.effects[2]"),
        ([0, 10, 20], [0, math.nan, 1], "dial.effects[1]"),
        ([0, math.inf, 20], [0, 0.5, 1], "dial.settings[1]"),
        ([0, "10", 20], [0, 0.5, 1], "dial.settings[1]"),
        ([0, 1e-12, 20], [0, 0.5, 1], "dial.settings[1]"),
        (None, [0, 1], "dial.settings"),
        ([0, 1], None, "dial.effects"),
        ("0, 1", [0, 1], "dial.settings"),
        (range(10_001), np.linspace(0, 1, 10_001), "dial.settings"),
        (np.zeros((2, 2)), [0, 1], "dial.settings"),
    ],
)
def test_a_table_that_is_no_rising_curve_is_refused_by_name(chosen, effects, field) -> None:
    with pytest.raises(InvalidInput) as refused:
        sf.Dial("mg", settings=chosen, effects=effects)
    assert refused.value.field == field


def test_a_dial_is_proportional_or_a_table_and_not_both_or_neither() -> None:
    for given_ in ({}, {"full": 40, "settings": [0, 40], "effects": [0, 1]}, {"full": 40, "effects": [0, 1]}):
        with pytest.raises(InvalidInput, match="either full is needed, or settings and effects"):
            sf.Dial("mg", **given_)


def test_the_largest_table_works() -> None:
    large = sf.Dial("mg", settings=range(10_000), effects=np.linspace(0, 1, 10_000))
    assert large.setting_of(large.level_of(4321)) == 4321


def test_equal_dials_are_equal_hash_alike_and_survive_a_pickle() -> None:
    for dial in DIALS:
        copy = pickle.loads(pickle.dumps(dial))
        assert copy == dial
        assert hash(copy) == hash(dial)
        assert copy.setting_of(0.7) == dial.setting_of(0.7)
    assert sf.Dial("mg", full=41) != HALF
    assert sf.Dial("g", full=40) != HALF


# -- steps ------------------------------------------------------------------------------------------------------------


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.sampled_from([HALF, LOGARITHMIC, FROM_COLD, VALVE]), curves()), st.floats(0, 1), st.floats(0.01, 2))
def test_a_step_reaches_in_level_exactly_what_it_reaches_in_settings(dial, share, part) -> None:
    lowest, highest = dial._points[0][0], dial._points[0][-1]
    start, step = float(np.clip(lowest + share * (highest - lowest), lowest, highest)), part * (highest - lowest)
    before, after = dial.steps(step)
    reached = np.interp(dial.level_of(start), before, after)
    assert reached == pytest.approx(dial.level_of(min(start + step, highest)), abs=1e-9)


def test_from_off_a_step_reaches_the_lowest_setting() -> None:
    before, after = VALVE.steps(5.0)
    assert np.interp([0.0, 0.1, 0.2499], before, after).tolist() == pytest.approx([0.25] * 3)
    assert np.interp(0.25, before, after) == VALVE.level_of("20 % open")
