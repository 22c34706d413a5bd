"""A problem comes back from TOML and JSON exactly as it was saved, and a wrong file is refused by name."""

import json
import os
import stat
import tomllib

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from surefoot.errors import InvalidInput
from surefoot.problem import Limit, Problem, Reward
from surefoot.problem.files import read_table, write_table

TOML = """
safe_level = 0.2
epsilon = 0.01
delta = 1e-3
delta_safety = 1e-3

[arms]
low = [1, 0]
high = [0, 1.5]

[reward]
noise = 1
norm = 2.0

[[safety]]
name = "qos"
at_least = -0.5
noise = 0.1
norm = 1.0
"""


@pytest.fixture
def file(tmp_path):
    def write(content, name="problem.toml"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def refusal(path):
    with pytest.raises(InvalidInput) as caught:
        Problem.load(path)
    assert "\n" not in str(caught.value)
    return caught.value


def table(**changes):
    return {**tomllib.loads(TOML), **changes}


def table_refusal(given):
    with pytest.raises(InvalidInput) as caught:
        Problem.from_dict(given)
    return caught.value


# --- there and back


def printable(text):
    return text == text.strip()


names = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1, max_size=12).filter(printable)
sizes = st.floats(1e-90, 1e90)
features = st.floats(-1e3, 1e3, allow_subnormal=True)
chances = st.floats(1e-300, 1, exclude_max=True)
levels = st.floats(1e-90, 1)


@st.composite
def limits(draw):
    chosen = []
    for name in draw(st.lists(names, min_size=1, max_size=3, unique=True)):
        baseline, room = draw(st.floats(-10, 10)), draw(st.floats(1e-3, 10))
        side = draw(st.sampled_from([1, -1]))
        limit = {"at_least": baseline - room} if side > 0 else {"at_most": baseline + room}
        chosen.append(Limit(name, **limit, baseline=baseline, noise=draw(sizes), norm=draw(sizes)))
    return chosen


@st.composite
def problems(draw):
    labels = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    rows = [draw(st.lists(features, min_size=2, max_size=2)) for _ in labels]
    rows[0][0] = 1.0
    safe = draw(st.one_of(levels, st.lists(levels, min_size=len(labels), max_size=len(labels))))
    grid = draw(st.one_of(st.none(), st.lists(levels, max_size=3).map(lambda more: [1e-95, *more])))
    return Problem(
        dict(zip(labels, rows, strict=True)),
        Reward(noise=draw(sizes), norm=draw(sizes)),
        draw(limits()),
        safe_level=safe,
        epsilon=draw(st.floats(0, 1e90)),
        delta=draw(chances),
        delta_safety=draw(chances),
        regularization=draw(st.floats(0.1, 1e9)),
        level_grid=grid,
        max_step=draw(st.one_of(st.none(), st.floats(1, 2))),
    )


@pytest.mark.filterwarnings("ignore::surefoot.errors.NotSpanningWarning")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=150)
@given(problems())
def test_a_saved_problem_comes_back_exactly(tmp_path, problem):
    for name in ("p.toml", "p.json"):
        problem.save(tmp_path / name)
        again = Problem.load(tmp_path / name)
        assert again == problem
        assert again.to_dict() == problem.to_dict()
        assert again.arms.tobytes() == problem.arms.tobytes()
        assert again.safety == problem.safety
        assert again.names == problem.names
    assert Problem.from_dict(json.loads(json.dumps(problem.to_dict()))) == problem


@pytest.mark.parametrize("ending", ["toml", "json", "TOML"])
@pytest.mark.parametrize(
    "name",
    ['say "hi"', "it's", "back\\slash", "ключ", "🧗‍♀️", "a.b", "[x]", "a = 1 # no", "1", "true", "-", "{}", "'''"],
)
def test_odd_names_survive_a_file(tmp_path, name, ending):
    problem = Problem.from_dict(table(arms={name: [1, 0], "b": [0, 1]}))
    problem = problem.with_(safety=Limit(name, at_most=1, noise=1, norm=1))
    path = tmp_path / f"{name.replace('/', '')}.{ending}"
    problem.save(path)
    assert Problem.load(str(path)) == problem


@pytest.mark.parametrize("ending", ["toml", "json"])
def test_every_number_and_every_key_comes_back_from_a_file(tmp_path, ending):
    numbers = [0.0, -0.0, 5e-324, -2.2250738585072014e-308, 1e16, 1e22, 0.1 + 0.2, 1 / 3, 1.7976931348623157e308, 7]
    keys = ["\x7f", "\t", "\n", "\x00", "\x85", "\u2028", "", " ", "é", "e\u0301", "a.b", "#", "\\", '"']
    given = {"numbers": numbers, "arms": {key: [1.0] for key in keys}, "safety": [{key: key for key in keys}]}
    write_table(tmp_path / f"p.{ending}", given)
    found = read_table(tmp_path / f"p.{ending}")
    assert found == given
    assert list(map(repr, found["numbers"])) == list(map(repr, numbers))
    assert list(found["arms"]) == keys


def test_a_file_by_hand_is_read_as_meant(file):
    problem = Problem.load(file(TOML))
    assert problem.names == ("low", "high")
    assert problem.arms.tolist() == [[1.0, 0.0], [0.0, 1.5]]
    assert problem.safety == (Limit("qos", at_least=-0.5, noise=0.1, norm=1.0),)
    assert (problem.regularization, problem.max_level.tolist(), problem.level_grid) == (1.0, [1.0, 1.0], ())


def test_windows_files_are_read_too(file):
    expected = Problem.load(file(TOML))
    assert Problem.load(file("\ufeff" + TOML.replace("\n", "\r\n"), "w.toml")) == expected
    assert Problem.load(file("\ufeff" + json.dumps(expected.to_dict()), "w.json")) == expected


def test_tables_for_others_are_left_alone(file):
    assert Problem.load(file(TOML + "\n[world]\nname = 'hard'\n[policy]\nname = 'x'\n")) == Problem.load(file(TOML))


def test_arms_may_be_rows_or_stand_in_a_file_beside(file, tmp_path, monkeypatch):
    rows = Problem.from_dict(table(arms=[[1, 0], [0, 1.5]], names=["low", "high"]))
    file("name,x,y\nlow,1,0\nhigh,0,1.5\n", "arms.csv")
    given = table(arms_file="arms.csv")
    del given["arms"]
    path = file(json.dumps(given), "problem.json")
    monkeypatch.chdir("/")
    assert Problem.load(path) == rows == Problem.from_dict(table())
    assert Problem.from_dict(given, folder=tmp_path) == rows


def test_one_limit_may_stand_without_a_list():
    assert Problem.from_dict(table(safety=table()["safety"][0])) == Problem.from_dict(table())


# --- saving


def test_saving_replaces_the_file_at_once_and_leaves_nothing_else(tmp_path):
    problem = Problem.from_dict(table())
    path = tmp_path / "p.toml"
    path.write_text("old")
    path.chmod(0o640)
    problem.save(path)
    assert Problem.load(path) == problem
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["p.toml"]


def test_saving_through_a_link_keeps_the_link(tmp_path):
    problem = Problem.from_dict(table())
    (tmp_path / "real.toml").write_text("old")
    (tmp_path / "link.toml").symlink_to("real.toml")
    problem.save(tmp_path / "link.toml")
    assert (tmp_path / "link.toml").is_symlink()
    assert Problem.load(tmp_path / "real.toml") == problem


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "p.toml"
    path.write_text("old")

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InvalidInput, match="No space left"):
        Problem.from_dict(table()).save(path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["p.toml"]


@pytest.mark.parametrize(
    "path", ["gone/p.toml", "folder.toml", "p.yaml", "p", "", "nul\0.toml", "ring.toml", 5, None, b"p.toml"]
)
def test_a_place_that_cannot_be_written_is_refused(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.toml").mkdir()
    (tmp_path / "ring.toml").symlink_to("ring.toml")
    with pytest.raises(InvalidInput) as caught:
        Problem.from_dict(table()).save(path)
    assert caught.value.field == "path"
    assert sorted(os.listdir(tmp_path)) == ["folder.toml", "ring.toml"]


# --- files that are refused


@pytest.mark.parametrize(
    "path", ["gone.toml", "gone/p.json", "folder.toml", "p.yaml", "p", "", "nul\0.toml", 5, None, b"p.toml"]
)
def test_a_file_that_cannot_be_read_is_refused(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.toml").mkdir()
    assert refusal(path).field == "path"


@pytest.mark.parametrize(
    ("content", "name", "hint"),
    [
        ("epsilon = ", "p.toml", "is not valid TOML"),
        ("epsilon = 1\nepsilon = 2", "p.toml", "is not valid TOML"),
        (b"\xff\xfe", "p.toml", "is not UTF-8"),
        (TOML.encode("utf-16"), "p.toml", "is not UTF-8"),
        ("epsilon = " + "9" * 5000, "p.toml", "is not valid TOML"),
        ("x = " + "[" * 100_000, "p.toml", "is not valid TOML"),
        ("", "p.json", "is not valid JSON"),
        ("{", "p.json", "is not valid JSON"),
        ("[1, 2]", "p.json", "holds a list"),
        ("null", "p.json", "holds a NoneType"),
        ('{"epsilon": 1, "epsilon": 2}', "p.json", "appears twice"),
        ('{"arms": {"a": [1], "a": [2]}}', "p.json", "appears twice"),
        ('{"epsilon": ' + "9" * 5000 + "}", "p.json", "is not valid JSON"),
        ("[" * 100_000, "p.json", "is not valid JSON"),
        ("", "p.toml", "arms is not given"),
        ("{}", "p.json", "arms is not given"),
        (TOML.replace("0.01", "nan"), "p.toml", "epsilon = nan"),
        (TOML.replace("0.01", "2020-01-01"), "p.toml", "epsilon = datetime.date"),
    ],
    ids=range(18),
)
def test_a_broken_file_is_refused_with_what_is_wrong(file, content, name, hint):
    assert hint in str(refusal(file(content, name)))


def test_the_traceback_names_the_file(file):
    path = file(TOML.replace("0.01", "-1"))
    assert refusal(path).__notes__ == [f"while reading {path}"]


@pytest.mark.parametrize("key", ["reward", "safety", "safe_level", "epsilon", "delta", "delta_safety", "arms"])
def test_a_missing_key_is_named(key):
    given = table()
    del given[key]
    error = table_refusal(given)
    assert str(error).startswith(f"{key} is not given: is required.")


@pytest.mark.parametrize(
    ("given", "field", "hint"),
    [
        (table(epsilonn=1), "epsilonn", "Did you mean 'epsilon'?"),
        (table(Delta=1), "Delta", "Did you mean 'delta'?"),
        (table(gamma0=1), "gamma0", "Did you mean 'safe_level'?"),
        (table(arm_file="x"), "arm_file", "Did you mean 'arms_file'?"),
        ({**table(), "a b": 1}, "'a b'", "Known"),
        ({**table(), 3: 1}, "3", "Known"),
        (table(reward={"noise": 1, "norm": 1, "nois": 2}), "reward['nois']", "Did you mean 'noise'?"),
        (table(reward={"norm": 1}), "reward.noise", "sub-Gaussian"),
        (table(reward=3), "reward", "noise"),
        (table(reward={"noise": True, "norm": 1}), "reward.noise", "sub-Gaussian"),
        (table(safety=[]), "safety", "limits"),
        (table(safety=3), "safety", "[[safety]]"),
        (table(safety="qos"), "safety", "[[safety]]"),
        (table(safety=[3]), "safety[0]", "name, noise"),
        (table(safety=[{"name": "q", "norm": 1}]), "safety[0].noise", "sub-Gaussian"),
        (table(safety=[{"at_least": -1, "noise": 1, "norm": 1}]), "safety[0].name", "short name"),
        (table(safety=[{"name": "q", "eta0": -1, "noise": 1, "norm": 1}]), "safety[0]['eta0']", "'at_least'"),
        (table(arms="arms.csv"), "arms", "arms_file"),
        (table(arms_file="arms.csv"), "arms_file", "[arms]"),
        (table(arms=3), "arms", "row"),
        (table(arms={}), "arms", "row"),
        (table(arms={"a": [1, "x"]}), "arms['a'][1]", "numbers"),
        (table(names=["u", "v"]), "names", "Drop"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_wrong_table_is_refused_by_key(given, field, hint):
    error = table_refusal(given)
    assert error.field == field
    assert hint in error.remedy


@pytest.mark.parametrize("given", [None, 3, "x", [], [("epsilon", 1)]])
def test_what_is_no_table_is_refused(given):
    assert table_refusal(given).field == "table"


@pytest.mark.parametrize("value", [3, None, "", "arms.txt", "gone.csv", ["arms.csv"]])
def test_a_wrong_arms_file_is_refused(value):
    given = table(arms_file=value)
    del given["arms"]
    assert table_refusal(given).field in ("arms_file", "arms")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.filterwarnings("ignore::surefoot.errors.NotSpanningWarning")
@settings(deadline=None, max_examples=400)
@given(
    st.sampled_from([*table(), "max_level", "level_grid", "max_step", "names", "regularization", "calibrated_by"]),
    json_values,
)
def test_any_value_anywhere_is_either_taken_or_refused_by_name(key, value):
    try:
        problem = Problem.from_dict(table(**{key: value}))
    except InvalidInput as error:
        message = str(error)
    else:
        assert Problem.from_dict(problem.to_dict()) == problem
        assert np.isfinite(problem.features).all()
        return
    assert "\n" not in message
