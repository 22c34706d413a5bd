"""Problems without limits, and arms that may be the answer and cannot be tried."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

import surefoot as sf
from surefoot.errors import InvalidInput
from surefoot.problem import arm_files

ARMS = {"low": [1.0, 0.0], "high": [0.0, 1.5]}
LIMIT = sf.Limit("qos", at_least=-0.5, noise=0.1, norm=1.0)
SAFELY = {"safe_level": 0.2, "delta_safety": 0.01}


def stated(arms=ARMS, **changes):
    return sf.Problem(arms, **{"reward": sf.Reward(noise=1.0, norm=2.0), "epsilon": 0.1, "delta": 0.05, **changes})


def refusal(arms=ARMS, **changes):
    with pytest.raises(InvalidInput) as caught:
        stated(arms, **changes)
    return caught.value


# -- no limits --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("safety", [{}, {"safety": []}, {"safety": ()}])
def test_a_problem_without_limits_states_neither_levels_nor_their_error(safety):
    problem = stated(**safety)
    assert problem.safety == ()
    assert problem.delta_safety == 0.0
    assert problem.safe_level.tolist() == problem.max_level.tolist() == [1.0, 1.0]
    assert "no limits" in repr(problem)
    assert problem == stated()


def test_without_limits_levels_are_at_the_top_of_the_dial():
    problem = stated(level_grid=[0.25, 0.5, 0.75], max_level=[0.6, 0.8])
    assert problem.safe_level.tolist() == [0.5, 0.75]


@pytest.mark.parametrize(
    ("key", "value"), [("delta_safety", 0.05), ("safe_level", 0.2), ("safe_level", [0.1, 0.2]), ("max_step", 0.1)]
)
def test_what_belongs_to_limits_is_refused_where_they_may_have_been_forgotten(key, value):
    error = refusal(**{key: value})
    assert error.field == "safety"
    assert f"{key} = " in error.reason
    assert f"leave {key} out" in error.remedy


@pytest.mark.parametrize("key", ["delta_safety", "safe_level"])
def test_with_limits_both_are_asked_for(key):
    error = refusal(safety=LIMIT, **{name: value for name, value in SAFELY.items() if name != key})
    assert error.field == key
    assert "required" in error.reason


@pytest.mark.parametrize("suffix", [".toml", ".json"])
def test_a_file_without_limits_comes_back_as_it_was_saved(tmp_path, suffix):
    path = tmp_path / f"problem{suffix}"
    problem = stated(pullable={"high": True})
    problem.save(path)
    assert sf.Problem.load(path) == problem
    assert sf.Problem.load(path).to_dict() == problem.to_dict()


def test_a_table_without_a_key_for_limits_is_a_problem_without_limits():
    table = {"arms": ARMS, "reward": {"noise": 1.0, "norm": 2.0}, "epsilon": 0.1, "delta": 0.05}
    assert sf.Problem.from_dict(table) == stated()


@pytest.mark.parametrize("key", ["delta_safety", "safe_level"])
def test_a_table_that_forgets_its_limits_is_told_so(key):
    table = {"arms": ARMS, "reward": {"noise": 1.0}, "epsilon": 0.1, "delta": 0.05, key: 0.2}
    with pytest.raises(InvalidInput) as caught:
        sf.Problem.from_dict(table)
    assert caught.value.field == "safety"


def test_limits_are_taken_away_and_added_with_what_belongs_to_them():
    limited = stated(safety=LIMIT, **SAFELY)
    bare = limited.with_(safety=[])
    assert bare == stated()
    assert bare.with_(safety=LIMIT, **SAFELY) == limited
    assert bare.with_(delta=0.01).delta == 0.01
    with pytest.raises(InvalidInput, match=r"delta_safety = 0\.1"):
        bare.with_(delta_safety=0.1)


def test_fingerprints_of_problems_with_limits_are_as_they_were():
    limited = stated(safety=LIMIT, **SAFELY)
    assert limited.fingerprint == "4be8a6f1f3e6ad726007b30552181dd3f4c4f87ec015d55f572fbed72f8f36db"
    assert "pullable" not in limited.to_dict()


# -- arms that cannot be tried ----------------------------------------------------------------------------------------


MARKED = {**ARMS, "goal": sf.Arm([0.6, 0.8], pullable=False)}


@pytest.mark.parametrize(
    "problem",
    [
        lambda: stated(MARKED),
        lambda: stated({**ARMS, "goal": [0.6, 0.8]}, pullable={"goal": False}),
        lambda: stated({**ARMS, "goal": [0.6, 0.8]}, pullable=[True, True, False]),
        lambda: stated({**ARMS, "goal": [0.6, 0.8]}, pullable=np.array([True, True, False])),
        lambda: stated({**ARMS, "goal": {"features": [0.6, 0.8], "pullable": False}}),
        lambda: sf.Problem.from_dict(stated(MARKED).to_dict()),
        lambda: stated(MARKED).with_(delta=0.01).with_(delta=0.05),
    ],
)
def test_an_arm_is_marked_as_one_that_cannot_be_tried(problem):
    assert problem().pullable.tolist() == [True, True, False]
    assert problem() == stated(MARKED)
    assert problem() != stated({**ARMS, "goal": [0.6, 0.8]})


def test_rows_without_names_are_marked_too():
    problem = stated([[1.0, 0.0], [0.0, 1.0], sf.Arm([0.6, 0.8], pullable=False)])
    assert problem.pullable.tolist() == [True, True, False]
    assert problem.names == ("a1", "a2", "a3")


def test_marks_survive_a_file(tmp_path):
    stated(MARKED).save(tmp_path / "problem.toml")
    assert sf.Problem.load(tmp_path / "problem.toml") == stated(MARKED)


def test_an_arm_may_have_a_known_level_of_its_own():
    arms = {"low": [1.0, 0.0], "high": sf.Arm([0.0, 1.5], safe_level=0.5)}
    assert stated(arms, safety=LIMIT, **SAFELY).safe_level.tolist() == [0.2, 0.5]
    both = {"low": sf.Arm([1.0, 0.0], safe_level=0.3), "high": sf.Arm([0.0, 1.5], safe_level="20 mg")}
    found = stated(both, safety=LIMIT, delta_safety=0.01, dial=sf.Dial("mg", full=40))
    assert found.safe_level.tolist() == [0.3, 0.5]


def test_a_known_level_is_missing_by_the_name_of_its_arm():
    arms = {"low": [1.0, 0.0], "high": sf.Arm([0.0, 1.5], safe_level=0.5)}
    error = refusal(arms, safety=LIMIT, delta_safety=0.01)
    assert error.field == "safe_level of arm 'low'"


def test_an_own_level_without_limits_is_refused():
    assert "safe_level = 0.5" in refusal({"low": sf.Arm([1.0], safe_level=0.5)}).reason


@pytest.mark.parametrize(
    ("arms", "changes", "field"),
    [
        (ARMS, {"pullable": [True]}, "pullable"),
        (ARMS, {"pullable": [True, 1]}, "pullable of arm 'high'"),
        (ARMS, {"pullable": {"hihg": False}}, "pullable['hihg']"),
        (ARMS, {"pullable": False}, "pullable"),
        (ARMS, {"pullable": [False, False]}, "pullable"),
        ({"low": {"feature": [1.0]}}, {}, "arms['low']['feature']"),
        ({"low": {"pullable": True}}, {}, "arms['low'].features"),
    ],
)
def test_marks_that_cannot_be_are_refused_by_name(arms, changes, field):
    assert refusal(arms, **changes).field == field


def test_what_cannot_be_tried_lies_in_the_span_of_what_can():
    error = refusal({"a": [1.0, 0.0, 0.0], "b": [0.0, 1.0, 0.0], "c": sf.Arm([0.0, 0.0, 1.0], pullable=False)})
    assert error.field == "arms['c']"
    assert "combination" in error.reason
    units = {"a": [1e9, 0.0], "b": [0.0, 1e-9], "c": sf.Arm([1e9, 1e-9], pullable=False)}
    assert stated(units, reward=sf.Reward(noise=1.0)).pullable.tolist() == [True, True, False]


def test_arms_that_span_less_than_their_features_may_be_candidates():
    with pytest.warns(sf.errors.NotSpanningWarning):
        problem = stated({"a": [1.0, 0.0, 0.0], "b": [0.0, 1.0, 0.0], "c": sf.Arm([1.0, 1.0, 0.0], pullable=False)})
    assert problem.rank == 2


# -- marks in tables --------------------------------------------------------------------------------------------------

COLUMNS = {
    "name": ["low", "high", "goal"], "x": [1.0, 0.0, 0.6], "pullable": [True, None, False], "y": [0.0, 1.5, 0.8],
    "safe_level": [0.4, None, 0.5],
}  # fmt: skip
CSV = "name,x,pullable,y,safe_level\nlow,1,True,0,0.4\nhigh,0,,1.5,\ngoal,0.6, false ,0.8,0.5\n"


def in_a_file(kind, tmp_path):
    if kind == "csv":
        (tmp_path / "arms.csv").write_text(CSV)
    elif kind == "parquet":
        pl.DataFrame(COLUMNS).write_parquet(tmp_path / "arms.parquet")
    return {"pandas": pd.DataFrame(COLUMNS), "polars": pl.DataFrame(COLUMNS)}.get(kind, tmp_path / f"arms.{kind}")


@pytest.mark.parametrize("kind", ["csv", "parquet", "pandas", "polars"])
def test_columns_of_a_table_mark_its_arms(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(arm_files, "BATCH", 2)  # so that the last arm is in a batch of its own
    found = stated(in_a_file(kind, tmp_path), safety=LIMIT, **SAFELY)
    assert found.arms.tolist() == [[1.0, 0.0], [0.0, 1.5], [0.6, 0.8]]
    assert found.pullable.tolist() == [True, True, False]
    assert found.safe_level.tolist() == [0.4, 0.2, 0.5]
    assert pickle.loads(pickle.dumps(found)) == found
    world = sf.worlds.Linear(in_a_file(kind, tmp_path), theta_star=[1.0, 0.5], mu_star=[-0.1, -0.1])
    posed = pickle.loads(pickle.dumps(world)).problem(epsilon=0.1, delta=0.05, **SAFELY)
    assert posed.pullable.tolist() == [True, True, False]
    assert posed.safe_level.tolist() == [0.4, 0.2, 0.5]


def test_a_known_level_in_a_table_may_have_the_unit_of_the_dial(tmp_path):
    (tmp_path / "arms.csv").write_text(CSV.replace("0.4", "20 mg"))
    found = stated(tmp_path / "arms.csv", safety=LIMIT, dial=sf.Dial("mg", full=40), **SAFELY)
    assert found.safe_level.tolist() == [0.5, 0.2, 0.5]


@pytest.mark.parametrize(
    ("was", "typed", "field"),
    [(" false ", "maybe", "pullable of arm 'goal'"), (" false ", "0", "pullable of arm 'goal'"),
     ("0.4", "high", "safe_level of arm 'low'"), ("0.4", "2", "safe_level of arm 'low'"),
     ("0.4", "1_0", "safe_level of arm 'low'")],
)  # fmt: skip
def test_marks_in_a_table_that_cannot_be_are_refused_by_name(tmp_path, was, typed, field):
    (tmp_path / "arms.csv").write_text(CSV.replace(was, typed))
    assert refusal(tmp_path / "arms.csv", safety=LIMIT, **SAFELY).field.startswith(field)


@pytest.mark.parametrize("label", ["Pullable", "safe level", "Safe-Level", "safe_levels", "pullables"])
def test_a_column_that_is_nearly_a_mark_is_not_taken_for_a_feature(tmp_path, label):
    (tmp_path / "arms.csv").write_text(CSV.replace("pullable" if "ull" in label else "safe_level", label))
    error = refusal(tmp_path / "arms.csv", safety=LIMIT, **SAFELY)
    assert repr(label) in error.reason
    assert "another name if it is a feature" in error.remedy


@pytest.mark.parametrize("kind", ["boolean", "object", "string"])
def test_empty_cells_of_every_kind_mark_nothing(kind):
    cells = {"boolean": [True, None, False], "object": ["true", None, "false"], "string": ["true", None, "False"]}
    frame = pd.DataFrame({**COLUMNS, "pullable": pd.array(cells[kind], dtype=kind)}).astype({"safe_level": "Float64"})
    found = stated(frame, safety=LIMIT, **SAFELY)
    assert found.pullable.tolist() == [True, True, False]
    assert found.safe_level.tolist() == [0.4, 0.2, 0.5]


@pytest.mark.parametrize("beside", [{"goal": True}, [True, True, True]])
def test_two_statements_of_one_mark_that_differ_are_refused(beside):
    assert refusal(MARKED, pullable=beside).field == "pullable of arm 'goal'"
    assert stated(MARKED, pullable={"goal": False}).pullable.tolist() == [True, True, False]


def test_two_known_levels_of_one_arm_that_differ_are_refused():
    arms = {"low": [1.0, 0.0], "high": sf.Arm([0.0, 1.5], safe_level=0.5)}
    stated_too = {"safety": LIMIT, "delta_safety": 0.01}
    assert refusal(arms, safe_level=[0.2, 0.9], **stated_too).field == "safe_level of arm 'high'"
    assert stated(arms, safe_level={"low": 0.2, "high": 0.5}, **stated_too).safe_level.tolist() == [0.2, 0.5]


# -- other arms -------------------------------------------------------------------------------------------------------


def test_what_was_stated_for_each_arm_goes_with_its_name():
    turned = dict(reversed({**ARMS, "goal": [0.6, 0.8]}.items()))
    assert stated(MARKED).with_(arms=turned).pullable.tolist() == [False, True, True]
    own = {"low": sf.Arm([1.0, 0.0], safe_level=0.05), "high": [0.0, 1.5]}
    problem = stated(own, safety=LIMIT, max_level={"low": 0.9, "high": 1.0}, **SAFELY)
    changed = problem.with_(arms={"high": [0.0, 1.5], "low": [1.0, 0.0]})
    assert changed.safe_level.tolist() == [0.2, 0.05]
    assert changed.max_level.tolist() == [1.0, 0.9]


def test_arms_with_other_names_are_asked_for_it_again():
    other = {"low": [1.0, 0.0], "new": [0.0, 1.5], "goal": [0.6, 0.8]}
    with pytest.raises(InvalidInput, match="State pullable for the new arms too"):
        stated(MARKED).with_(arms=other)
    assert stated(MARKED).with_(arms=other, pullable=[True] * 3).pullable.all()
    marked = {**other, "new": sf.Arm([0.0, 1.5], pullable=False), "far": [0.0, 1.0]}
    assert stated(MARKED).with_(arms=marked).pullable.tolist() == [True, False, True, True]


def test_a_highest_level_below_the_grid_is_refused_as_one():
    assert refusal(level_grid=[0.25, 0.5], max_level=[0.5, 0.2]).field == "max_level of arm 'high'"
