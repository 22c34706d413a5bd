"""A problem is checked when it is made, and never changes afterwards."""

import copy
import pickle
import sys
import weakref
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from surefoot.errors import InvalidInput, NotSpanningWarning
from surefoot.problem import Limit, Problem, Reward

ARMS = {"low": [1, 0], "high": [0, 1]}
QOS = Limit("qos", at_least=-0.5, noise=0.1, norm=1.0)
SETTINGS = {
    "reward": Reward(noise=1.0, norm=2.0),
    "safety": [QOS],
    "safe_level": 0.2,
    "epsilon": 0.01,
    "delta": 1e-3,
    "delta_safety": 1e-3,
}


def problem(arms=ARMS, **changes):
    return Problem(arms, **{**SETTINGS, **changes})


def refusal(**changes):
    with pytest.raises(InvalidInput) as caught:
        problem(**changes)
    return caught.value


# --- what a problem holds


def test_a_problem_holds_what_it_was_given():
    made = problem(regularization=2, max_level=0.9, max_step=0.5)
    assert made.names == ("low", "high")
    assert made.size == 2
    assert made.arms.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert made.features is made.arms
    assert made.basis.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert (made.rank, made.spans) == (2, True)
    assert made.safety == (QOS,)
    assert made.safe_level.tolist() == [0.2, 0.2]
    assert made.max_level.tolist() == [0.9, 0.9]
    assert (made.level_grid, made.max_step, made.regularization) == ((), 0.5, 2.0)
    assert repr(made) == "Problem(2 arms in 2 dimensions, qos >= -0.5, epsilon=0.01, delta=0.001, delta_safety=0.001)"


def test_arms_without_names_are_numbered_from_one():
    assert problem([[1, 0], [0, 1]]).names == ("a1", "a2")
    assert problem([[1, 0], [0, 1]], names=["u", "v"]).names == ("u", "v")


def test_one_limit_needs_no_list():
    assert problem(safety=QOS) == problem(safety=[QOS]) == problem(safety=(QOS,))


def test_one_arm_of_one_feature_is_a_problem():
    made = problem([[3.0]])
    assert (made.size, made.rank) == (1, 1)


def test_a_zero_arm_and_equal_arms_are_allowed():
    assert problem([[1, 0], [0, 0], [0, 1], [0, 1]]).size == 4


def test_levels_may_be_given_by_arm_or_by_name():
    by_name = problem(safe_level={"high": 0.3, "low": 0.2}, max_level=np.array([0.5, 1.0]))
    assert by_name.safe_level.tolist() == [0.2, 0.3]
    assert by_name == problem(safe_level=[0.2, 0.3], max_level=(0.5, 1))


def test_the_known_level_is_rounded_down_to_the_grid():
    made = problem(safe_level=[0.3, 0.25], level_grid=[1, 0.5, 0.25, 0.25])
    assert made.level_grid == (0.25, 0.5, 1.0)
    assert made.safe_level.tolist() == [0.25, 0.25]


def test_a_step_of_a_tenth_climbs_a_grid_of_tenths():
    grid = [k / 10 for k in range(1, 11)]
    assert problem(level_grid=grid, max_step=0.1).max_step == 0.1


def test_gaps_that_are_never_crossed_do_not_matter():
    made = problem(level_grid=[0.01, 0.2, 0.3, 0.9], max_level=0.5, max_step=0.1)
    assert made.max_step == 0.1


def test_an_arm_is_found_by_its_name():
    assert problem().index_of("high") == 1
    with pytest.raises(InvalidInput, match=r"arm = 'hihg'.*Did you mean 'high'\?"):
        problem().index_of("hihg")
    with pytest.raises(InvalidInput):
        problem().index_of(["high"])


def test_numbers_of_other_kinds_are_taken_as_floats():
    made = problem(epsilon=np.float32(0.5), delta=Fraction(1, 4), regularization=np.array(2), safe_level=np.int64(1))
    assert (made.epsilon, made.delta, made.regularization) == (0.5, 0.25, 2.0)
    assert type(made.delta) is type(made.epsilon) is float


# --- limits


def test_a_limit_is_turned_so_that_safe_means_not_below():
    ceiling = Limit("heat", at_most=80, baseline=20, noise=1, norm=5)
    assert (ceiling.sign, ceiling.eta0, ceiling.limit) == (-1.0, -60.0, 80.0)
    assert ceiling.internal(50.0) == -30.0
    assert ceiling.reading(-30.0) == 50.0
    assert ceiling.internal(np.array([20.0, 80.0])).tolist() == [0.0, -60.0]
    floor = Limit("rate", at_least=1, baseline=3, noise=1, norm=5)
    assert (floor.sign, floor.eta0, floor.internal(2.0), floor.reading(-1.0)) == (1.0, -2.0, -1.0, 2.0)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"at_least": 0.0}, "at_least"),
        ({"at_least": 0.5}, "at_least"),
        ({"at_most": 0.0}, "at_most"),
        ({"at_most": -1.0}, "at_most"),
        ({"at_least": 2.0, "baseline": 2.0}, "at_least"),
        ({"at_most": 1.0, "baseline": 2.0}, "at_most"),
        ({"at_least": -1.0, "at_most": 1.0}, "at_least or at_most"),
        ({}, "at_least or at_most"),
        ({"at_least": float("nan")}, "at_least"),
        ({"at_least": -float("inf")}, "at_least"),
        ({"at_least": "-1"}, "at_least"),
        ({"at_least": -1e200}, "at_least"),
        ({"at_least": -1.0, "baseline": True}, "baseline"),
        ({"at_least": -1.0, "noise": 0.0}, "noise"),
        ({"at_least": -1.0, "noise": -1.0}, "noise"),
        ({"at_least": -1.0, "noise": None}, "noise"),
        ({"at_least": -1.0, "norm": 0}, "norm"),
        ({"at_least": -1.0, "norm": 1e-200}, "norm"),
        ({"at_least": -1.0, "norm": [1.0]}, "norm"),
    ],
)
def test_a_wrong_limit_is_refused_by_field(arguments, field):
    with pytest.raises(InvalidInput) as caught:
        Limit("qos", **{"noise": 0.1, "norm": 1.0, **arguments})
    assert caught.value.field == f"safety['qos'].{field}"


@pytest.mark.parametrize("name", ["", " qos", "a\nb", None, 3, "x" * 201, "\ud800", "a\u2028b"])
def test_a_limit_needs_a_proper_name(name):
    with pytest.raises(InvalidInput, match=r"safety\.name"):
        Limit(name, at_least=-1.0, noise=0.1, norm=1.0)


@pytest.mark.parametrize("field", ["noise", "norm"])
@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), "1", True, None, 1j, [1], 1e308, 10**400, 1e-320])
def test_a_wrong_reward_is_refused_by_field(field, value):
    if (field, value) == ("norm", None):
        assert Reward(noise=1.0, norm=None) == Reward(noise=1.0)  # none is stated
        return
    with pytest.raises(InvalidInput) as caught:
        Reward(**{"noise": 1.0, "norm": 1.0, field: value})
    assert caught.value.field == f"reward.{field}"
    assert caught.value.value is value


# --- what is refused


NOT_NUMBERS = [
    "0.1",
    True,
    None,
    1j,
    float("nan"),
    float("inf"),
    -float("inf"),
    [0.1],
    {},
    10**400,
    np.bool_(True),
    object(),
]


@pytest.mark.parametrize("field", ["epsilon", "delta", "delta_safety", "regularization"])
@pytest.mark.parametrize("value", NOT_NUMBERS, ids=lambda value: repr(value).split(" at ")[0])
def test_what_is_no_finite_number_is_refused_by_name(field, value):
    error = refusal(**{field: value})
    assert error.field == field
    assert error.value is value
    assert error.remedy


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("epsilon", -1e-9),
        ("epsilon", 1e200),
        ("delta", 0.0),
        ("delta", 1.0),
        ("delta", -0.1),
        ("delta", 5e-324),
        ("delta_safety", 0),
        ("delta_safety", 1),
        ("delta_safety", 2.0),
        ("regularization", 0.0),
        ("regularization", -1.0),
        ("regularization", 1e-10),
        ("regularization", 1e200),
        ("safe_level", 0.0),
        ("safe_level", 1.1),
        ("safe_level", -0.2),
        ("safe_level", float("nan")),
        ("safe_level", "0.2"),
        ("safe_level", True),
        ("safe_level", None),
        ("safe_level", [0.2]),
        ("safe_level", [[0.2, 0.2]]),
        ("safe_level", [0.2, 0.2, 0.2]),
        ("safe_level", {0.2}),
        ("safe_level", []),
        ("safe_level", np.array([True, False])),
        ("max_level", 0.1),
        ("max_level", 0.0),
        ("max_level", 1.5),
        ("max_level", None),
        ("max_level", [1.0]),
        ("level_grid", 0.5),
        ("level_grid", "0.5"),
        ("level_grid", {"a": 1}),
        ("level_grid", np.array([[0.5]])),
        ("max_step", 0.0),
        ("max_step", -0.1),
        ("max_step", float("inf")),
        ("max_step", "small"),
        ("reward", {"noise": 1.0, "norm": 1.0}),
        ("reward", None),
        ("safety", []),
        ("safety", None),
        ("safety", "qos"),
        ("safety", {"qos": QOS}),
        ("names", "lh"),
        ("names", ["only"]),
        ("names", 5),
    ],
    ids=repr,
)
def test_a_wrong_setting_is_refused_by_name(field, value):
    arms = [[1, 0], [0, 1]]
    error = refusal(arms=arms, **{field: value})
    assert error.field.startswith(field)
    assert error.reason
    assert error.remedy


@pytest.mark.parametrize(
    ("changes", "field", "value"),
    [
        ({"safe_level": [0.2, 1.2]}, "safe_level of arm 'high'", 1.2),
        ({"safe_level": {"low": 0.2}}, "safe_level['high']", None),
        ({"safe_level": {"low": 0.2, "high": 0.2, "hi": 0.2}}, "safe_level['hi']", 0.2),
        ({"safe_level": {"low": 0.2, "high": "0.2"}}, "safe_level['high']", "0.2"),
        ({"max_level": [1.0, 0.1]}, "max_level of arm 'high'", 0.1),
        ({"level_grid": [0.1, 0.0]}, "level_grid[1]", 0.0),
        ({"level_grid": [0.1, float("nan")]}, "level_grid[1]", None),
        ({"level_grid": [0.1, "x"]}, "level_grid[1]", "x"),
        ({"level_grid": [0.3, 1.0]}, "safe_level of arm 'low'", 0.2),
        ({"level_grid": [0.2, 0.5], "max_step": 0.2}, "max_step", 0.2),
        ({"safety": [QOS, "heat"]}, "safety[1]", "heat"),
        ({"safety": [QOS, QOS]}, "safety[1].name", "qos"),
        ({"names": ["u", "v"]}, "names", None),
        ({"regularization": 1.0, "arms": [[1e5]]}, "regularization", 1.0),
    ],
    ids=str,
)
def test_a_refusal_names_the_very_entry(changes, field, value):
    error = refusal(**changes)
    assert error.field == field
    assert value is None or error.value == value


def test_an_unknown_keyword_is_refused_with_the_likely_word():
    assert "Did you mean 'epsilon'?" in str(refusal(epsilonn=0.1))
    assert "Did you mean 'regularization'?" in str(refusal(**{"lambda": 0.1}))
    assert "Known: 'reward'" in str(refusal(zzz=0.1))


def test_huge_but_finite_numbers_do_not_overflow():
    assert "1e+191" in refusal(arms=[[1e100, 0], [0, 1e99]]).reason
    assert problem([[1e50, 0], [0, 1e49]], regularization=1e95).rank == 2
    assert problem([[1e-90, 0], [0, 1e-91]]).rank == 2


# --- immutability


def arrays(made):
    return {name: getattr(made, name) for name in ("arms", "features", "basis", "safe_level", "max_level")}


@pytest.fixture(params=["made", "pickled", "changed", "flat", "flat pickled"])
def any_problem(request):
    if request.param.startswith("flat"):
        with pytest.warns(NotSpanningWarning):
            made = problem([[1, 1], [2, 2]])
    else:
        made = problem()
    if request.param.endswith("pickled"):
        return pickle.loads(pickle.dumps(made))
    return made.with_(epsilon=0.5) if request.param == "changed" else made


def test_no_array_of_a_problem_can_be_written(any_problem):
    for values in arrays(any_problem).values():
        with pytest.raises(ValueError, match="read-only"):
            values[...] = 7.0
        with pytest.raises(ValueError, match="WRITEABLE"):
            values.flags.writeable = True
        assert values.flags.c_contiguous
        assert values.flags.aligned


def test_no_attribute_of_a_problem_can_be_set(any_problem):
    for name in ("epsilon", "arms", "new", "_fingerprint", "fingerprint"):
        with pytest.raises(AttributeError):
            setattr(any_problem, name, 1.0)
    with pytest.raises(AttributeError):
        del any_problem.epsilon
    with pytest.raises(AttributeError):
        any_problem.reward.noise = 2.0
    with pytest.raises(AttributeError):
        any_problem.safety[0].norm = 2.0
    assert not hasattr(any_problem, "__dict__")


def test_a_problem_does_not_follow_changes_of_what_it_was_made_from():
    arms, level = np.eye(2), np.array([0.2, 0.3])
    made = problem(arms, safe_level=level)
    before = made.fingerprint
    arms[0, 0], level[0] = 5.0, 0.9
    assert made.arms[0, 0] == 1.0
    assert made.safe_level[0] == 0.2
    assert made == problem(np.eye(2), safe_level=[0.2, 0.3])
    assert made.fingerprint == before


def test_problems_are_equal_by_content():
    assert problem() == problem({"low": (1.0, 0.0), "high": np.array([0, 1])})
    assert hash(problem()) == hash(problem())
    assert len({problem(), problem(), problem(epsilon=0.5)}) == 2
    assert problem([[1.0, -0.0], [0.0, 1.0]]) == problem([[1, 0], [0, 1]])
    assert problem() != "problem"
    assert len(problem().fingerprint) == 64


OTHER = Limit("qos", at_most=0.5, noise=0.1, norm=1.0)


@pytest.mark.parametrize(
    "change",
    [
        {"arms": {"low": [1, 0], "high": [0, 2]}},
        {"arms": {"high": [0, 1], "low": [1, 0]}},
        {"arms": {"low": [1, 0], "High": [0, 1]}},
        {"reward": Reward(noise=1.0, norm=3.0)},
        {"safety": OTHER},
        {"safety": [QOS, Limit("heat", at_least=-0.5, noise=0.1, norm=1.0)]},
        {"safe_level": 0.3},
        {"safe_level": [0.2, 0.3]},
        {"max_level": 0.9},
        {"level_grid": [0.2, 1.0]},
        {"max_step": 0.1},
        {"epsilon": np.nextafter(0.01, 1)},
        {"delta": 0.01},
        {"delta_safety": 0.01},
        {"regularization": 2.0},
    ],
    ids=lambda change: next(iter(change)),
)
def test_every_part_of_the_content_counts(change):
    assert problem(**change) != problem()
    assert problem().with_(**change) == problem(**change)


def test_the_fingerprint_is_the_same_on_every_machine():
    assert problem().fingerprint == "7bb85752428ba687fd68c574c542e5372895c40490c848b7c3e4ebeea36a8551"


def test_a_problem_survives_pickling_and_copying(any_problem):
    again = pickle.loads(pickle.dumps(any_problem))
    assert again == any_problem
    assert again.to_dict() == any_problem.to_dict()
    for name, values in arrays(any_problem).items():
        assert getattr(again, name).tobytes() == values.tobytes()
    assert again.spans == any_problem.spans
    assert (again.features is again.arms) == any_problem.spans
    assert copy.deepcopy(any_problem) is copy.copy(any_problem) is any_problem
    assert weakref.ref(any_problem)() is any_problem


def test_limits_and_rewards_survive_pickling_and_are_hashable():
    assert pickle.loads(pickle.dumps(QOS)) == QOS
    assert copy.deepcopy(SETTINGS["reward"]) == Reward(1, 2)
    assert len({QOS, OTHER, Limit("qos", at_least=-0.5, noise=0.1, norm=1)}) == 2


# --- changed copies


def test_a_changed_copy_leaves_the_original_alone():
    made = problem()
    changed = made.with_(epsilon=0.5, safe_level=[0.1, 0.2])
    assert (made.epsilon, changed.epsilon) == (0.01, 0.5)
    assert changed.arms is made.arms
    assert made.with_() == made


def test_a_changed_copy_is_checked():
    with pytest.raises(InvalidInput, match="epsilon = -1"):
        problem().with_(epsilon=-1)
    with pytest.raises(InvalidInput, match="Did you mean 'epsilon'"):
        problem().with_(epsilno=1)
    with pytest.raises(InvalidInput, match="safe_level = "):
        problem(safe_level=[0.1, 0.2]).with_(arms=[[1.0]])


def test_new_arms_bring_their_names_and_keep_a_common_level():
    changed = problem().with_(arms=np.eye(3))
    assert changed.names == ("a1", "a2", "a3")
    assert changed.safe_level.tolist() == [0.2] * 3
    assert problem().with_(names=["u", "v"]) == problem({"u": [1, 0], "v": [0, 1]})


# --- arms that do not span


def test_arms_that_do_not_span_are_put_in_coordinates_of_their_span():
    arms = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [0.0, 1.0, 1.0]])
    with pytest.warns(NotSpanningWarning, match="3 features but span only 2 dimensions"):
        made = problem(arms)
    assert (made.rank, made.spans) == (2, False)
    assert made.features.shape == (3, 2)
    assert made.basis.shape == (3, 2)
    np.testing.assert_allclose(made.basis.T @ made.basis, np.eye(2), atol=1e-14)
    np.testing.assert_allclose(made.features @ made.basis.T, arms, atol=1e-14)
    np.testing.assert_array_equal(made.arms, arms)
    largest = np.abs(made.basis).argmax(axis=0)
    assert (made.basis[largest, [0, 1]] > 0).all()


def test_a_user_is_told_once_about_the_span():
    with pytest.warns(NotSpanningWarning):
        made = problem([[1, 1], [2, 2]])
    changed = made.with_(epsilon=0.5)  # a second warning would fail this test
    assert changed.features.tobytes() == made.features.tobytes()
    with pytest.warns(NotSpanningWarning):
        made.with_(arms=[[1, 1]])


def test_fewer_arms_than_features_do_not_span():
    with pytest.warns(NotSpanningWarning, match="5 features but span only 1 dimension"):
        made = problem([[1.0, 2.0, 3.0, 4.0, 5.0]])
    assert made.features.shape == (1, 1)
    assert made.features[0, 0] == pytest.approx(np.sqrt(55.0))


def test_badly_scaled_arms_still_span():
    rng = np.random.default_rng(3)
    for scale in (1e-6, 1e-9):
        for count in (5, 300):
            arms = rng.normal(size=(count, 3)) * [1.0, 1e-3, scale]
            assert problem(arms).features is not None


@given(
    hnp.arrays(np.float64, st.tuples(st.integers(1, 30), st.integers(1, 4)), elements=st.integers(-3, 3).map(float)),
    st.integers(0, 2),
)
@pytest.mark.filterwarnings("ignore::surefoot.errors.NotSpanningWarning")
def test_coordinates_keep_all_inner_products(arms, repeated):
    if not arms.any():
        return
    arms = np.hstack([arms, arms[:, :repeated]])
    made = problem(arms)
    assert made.rank == np.linalg.matrix_rank(arms)
    assert made.spans == (made.rank == arms.shape[1])
    np.testing.assert_allclose(made.features @ made.features.T, arms @ arms.T, atol=1e-11)
    np.testing.assert_allclose(made.arms @ made.basis, made.features, atol=1e-12)


# --- size


def calls_for(arms: int) -> int:
    """How many Python functions are called for a problem with so many arms."""
    features, calls = np.random.default_rng(5).normal(size=(arms, 64)), []
    sys.setprofile(lambda frame, event, argument: calls.append(event) if event == "call" else None)
    try:
        made = problem(features)
    finally:
        sys.setprofile(None)
    assert made.index_of(f"a{arms}") == arms - 1
    return len(calls)


def test_nothing_is_called_for_each_of_many_arms():
    """Arrays are gone through in pieces; what is done for every single arm would take seconds."""
    calls_for(10_000)  # and loads what is needed
    assert calls_for(100_000) < 2_000


def test_an_empty_grid_is_refused_with_the_way_to_have_none():
    for empty in ([], np.array([])):
        with pytest.raises(InvalidInput, match="holds no level") as refused:
            problem(level_grid=empty)
        assert "Leave it out where the dial takes every level" in refused.value.remedy
    assert problem(level_grid=problem().level_grid).level_grid == ()  # as a problem without one holds it
