"""Arms are read from arrays, mappings, data frames, CSV and Parquet; what is no arm is refused by name."""

import builtins
import csv
import io
import re
import sys

import narwhals
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from surefoot.errors import InvalidInput, MissingExtra
from surefoot.problem.arms import read_arms

TABLE = pd.DataFrame({"x": [1, 0], "name": ["low", "high"], "y": [0.0, 1.5]})


def refusal(source, names=None):
    with pytest.raises(InvalidInput) as caught:
        read_arms(source, names)
    assert "\n" not in str(caught.value)
    return caught.value


def assert_is_table(arms):
    assert arms.names == ("low", "high")
    assert arms.features.tolist() == [[1.0, 0.0], [0.0, 1.5]]
    assert arms.features.dtype == np.float64
    assert all(type(name) is str for name in arms.names)


# --- rows and mappings


@pytest.mark.parametrize(
    "source",
    [
        [[1, 0], [0, 1.5]],
        ((1.0, 0.0), (0.0, 1.5)),
        np.array([[1, 0], [0, 1.5]]),
        np.array([[1, 0], [0, 1.5]], dtype=np.float16),
        np.array([[1, 0], [0, 1.5]], order="F"),
        [np.array([1, 0]), [np.float32(0), 1.5]],
        np.ma.masked_array([[1, 0], [0, 1.5]]),
    ],
    ids=["lists", "tuples", "array", "half", "fortran", "mixed", "unmasked"],
)
def test_rows_of_any_kind_are_read(source):
    assert_is_table(read_arms(source, ["low", "high"]))
    assert_is_table(read_arms(source, np.array(["low", "high"])))
    assert read_arms(source).names == ("a1", "a2")


def test_a_mapping_is_read():
    assert_is_table(read_arms({"low": [1, 0], "high": np.array([0, 1.5])}))


@pytest.mark.parametrize(
    ("source", "field"),
    [
        (None, "arms"),
        (5, "arms"),
        (b"zz", "arms"),
        ({(1, 2)}, "arms"),
        (object(), "arms"),
        ((row for row in [[1]]), "arms"),
        ([], "arms"),
        ({}, "arms"),
        (np.empty((0, 3)), "arms"),
        (np.empty((3, 0)), "arms"),
        ([[], []], "arms"),
        (np.ones(3), "arms"),
        (np.ones((2, 2, 2)), "arms"),
        (np.array(5.0), "arms"),
        (np.array([[True]]), "arms"),
        (np.array([["1"]]), "arms"),
        (np.array([[1, None]]), "arms"),
        (np.array([[1j]]), "arms"),
        (np.array([["2020-01-01"]], dtype="datetime64[D]"), "arms"),
        (np.ma.masked_array([[1.0, 2.0]], [[0, 1]]), "arms"),
        ([[0, 0], [0, 0]], "arms"),
        ([[1e-320]], "arms"),
        ([1, 2], "arms[0]"),
        ([[1, 2], [3]], "arms[1]"),
        ([[1, 2], 3], "arms[1]"),
        ([[True, 1]], "arms[0][0]"),
        ([["1", 2]], "arms[0][0]"),
        ([[1, None]], "arms[0][1]"),
        ([[1, 1j]], "arms[0][1]"),
        ([[[1]]], "arms[0][0]"),
        ([[1, 10**400]], "arms[0][1]"),
        ([[1], [1e200]], "arms['a2'][0]"),
        ([[1], [-1e308]], "arms['a2'][0]"),
        ([[1, float("nan")]], "arms['a1'][1]"),
        (np.array([[1, -np.inf]]), "arms['a1'][1]"),
        (np.array([[1, 1]], dtype=np.longdouble) * np.longdouble("1e1000"), "arms['a1'][0]"),
        ({1: [1]}, "name of arm 1"),
        ({None: [1]}, "name of arm 1"),
        ({"": [1]}, "name of arm 1"),
        ({"a": [1], "b\n": [1]}, "name of arm 2"),
        ({"a\x7fb": [1]}, "name of arm 1"),
        ({"\ud800": [1]}, "name of arm 1"),
        ({"a": 1}, "arms['a']"),
        ({"a": "12"}, "arms['a']"),
        ({"a": {"x": 1}}, "arms['a']['x']"),
        ({"a": [1], "b": [1, 2]}, "arms['b']"),
        ({"a": []}, "arms"),
        ("arms.txt", "arms"),
        ("", "arms"),
    ],
    ids=lambda value: re.sub(r" at 0x\w+", "", repr(value))[:40],
)
def test_what_holds_no_arms_is_refused_by_place(source, field):
    error = refusal(source)
    assert error.field == field
    assert error.remedy


@pytest.mark.parametrize(
    "names", ["ab", 5, ["a"], ["a", "a"], ["a", 2], ["a", ""], np.array(5), np.array([["a", "b"]]), {"a", "b"}]
)
def test_wrong_names_are_refused(names):
    assert refusal([[1], [2]], names).field in ("names", "name of arm 2")


def test_one_dimensional_arms_are_told_how_to_become_rows():
    assert "reshape(-1, 1)" in refusal(np.ones(3)).remedy


# --- frames


@pytest.mark.parametrize(
    "convert",
    [lambda t: t, pl.from_pandas, pa.Table.from_pandas, narwhals.from_native, lambda t: t.convert_dtypes()],
    ids=["pandas", "polars", "pyarrow", "narwhals", "nullable"],
)
def test_a_frame_of_any_library_is_read(convert):
    assert_is_table(read_arms(convert(TABLE)))


def test_names_may_be_categories():
    assert_is_table(read_arms(TABLE.astype({"name": "category"})))


def test_columns_need_not_be_called_by_text():
    assert_is_table(read_arms(TABLE.rename(columns={"x": 0, "y": 1})))


@pytest.mark.parametrize(
    ("frame", "hint"),
    [
        (TABLE.rename(columns={"name": "Name"}), "Is it 'Name'?"),
        (TABLE.set_index("name"), "has no column 'name'"),
        (TABLE.assign(x=[True, False]), "column 'x' = 'Boolean'"),
        (TABLE.assign(x=["1", "0"]), "column 'x' = 'String'"),
        (TABLE.assign(x=[1j, 0]), "column 'x'"),
        (TABLE.assign(x=pd.to_datetime(["2020-01-01"] * 2)), "column 'x' = \"Datetime"),
        (TABLE.assign(x=[1.0, np.nan]), "arms['high'], column 'x' = None"),
        (TABLE.assign(x=pd.array([1, None], dtype="Int64")), "arms['high'], column 'x' = None"),
        (pl.DataFrame({"name": ["a", "b"], "x": [1.0, float("nan")]}), "arms['b'][0] = nan"),
        (TABLE.assign(x=[1.0, np.inf]), "arms['high'][0] = inf"),
        (TABLE.assign(name=[1, 2]), "name of arm 1 = 1: must be text"),
        (TABLE.assign(name=["low", None]), "name of arm 2"),
        (TABLE.assign(name=["low", "low"]), "'low': names two arms"),
        (TABLE[["name"]], "have no features"),
        (TABLE.iloc[:0], "at least one arm"),
        (pd.DataFrame(), "has no column 'name'"),
        (pd.DataFrame([["a", 1, 2]], columns=["name", "x", "x"]), "unique column names"),
        (pl.from_pandas(TABLE).lazy(), "collect()"),
        (TABLE["x"], "has 1 dimension"),
    ],
    ids=range(19),
)
def test_a_wrong_frame_is_refused(frame, hint):
    assert hint in str(refusal(frame))


def test_a_frame_brings_its_own_names():
    for source in (TABLE, {"a": [1]}, "arms.csv"):
        assert refusal(source, ["u", "v"]).field == "names"


# --- CSV


@pytest.fixture
def file(tmp_path):
    def write(content, name="arms.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.mark.parametrize(
    "content",
    [
        "x,name,y\n1,low,0\n0,high,1.5\n",
        "\ufeffx,name,y\r\n1,low,0\r\n0,high,1.5",
        "\n x , name,y\n\n1,low, 0 \n0,high,+15e-1\n\n",
        '"x","name","y"\n"1","low","0"\n"0","high","1.5"\n',
    ],
    ids=["plain", "windows", "loose", "quoted"],
)
def test_a_csv_file_is_read(file, content):
    assert_is_table(read_arms(file(content)))
    assert_is_table(read_arms(str(file(content, "UPPER.CSV"))))


texts = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1, max_size=9)
rows = st.dictionaries(texts.filter(lambda t: t == t.strip()), st.floats(-1e100, 1e100), min_size=1, max_size=5)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(rows)
def test_csv_and_parquet_keep_every_name_and_every_bit(file, arms):
    text = io.StringIO()
    csv.writer(text).writerows([["name", "x", "one"], *([name, repr(value), 1] for name, value in arms.items())])
    features = np.array([[value + 0.0, 1.0] for value in arms.values()])
    path = file(text.getvalue())
    frame = pa.table({"name": list(arms), "x": list(arms.values()), "one": [1] * len(arms)})
    pq.write_table(frame, path.with_suffix(".parquet"))
    for source in (path, path.with_suffix(".parquet")):
        read = read_arms(source)
        assert read.names == tuple(arms)
        assert read.features.tobytes() == features.tobytes()


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        ("", "has no column 'name'"),
        ("\n\n", "has no column 'name'"),
        ("name\n", "at least one arm"),
        ("name,x\n", "at least one arm"),
        ("name\na\n", "have no features"),
        ("x,y\n1,2\n", "has no column 'name'"),
        ("Name,y\na,2\n", "Is it 'Name'?"),
        ("name;x\na;1\n", "commas instead of semicolons"),
        ("name,x,x\na,1,2\n", "two columns 'x'"),
        ("name,name\na,b\n", "two columns 'name'"),
        ("name,x\na,1\nb\n", "line 3 = 'b': has 1 cell "),
        ("x,name\n1\n", "line 2 = '1': has 1 cell "),
        ("name,x\na,1,2\n", "line 2 = 'a,1,2': has 3 cells"),
        ("name,x,y\na,1,two\n", "line 2, column 'y' = 'two': must be a number"),
        ("name,x\na,\n", "column 'x' = ''"),
        ("name,x\na,1_000\n", "column 'x' = '1_000'"),
        ('name,x\na,"1,5"\n', "column 'x' = '1,5'"),
        ("name,x\na,nan\n", "arms['a'][0] = nan"),
        ("name,x\na,1e999\n", "arms['a'][0] = inf"),
        ("name,x\na,1\na,2\n", "names two arms"),
        ("name,x\n,1\n", "name of arm 1 = ''"),
        ('name,x\n"a\nb",1\n', "name of arm 1 = 'a\\nb'"),
        ('name,x\n"a,1\n', "is not valid CSV"),
        (b"name,x\n\xff,1\n", "is not UTF-8"),
        (b"name,x\na\0,1\n", "name of arm 1"),
    ],
    ids=range(25),
)
def test_a_wrong_csv_file_is_refused(file, content, hint):
    assert hint in str(refusal(file(content)))


@pytest.mark.parametrize(
    "name", ["gone.csv", "gone.parquet", "folder.csv", "folder.parquet", "nul\0.csv", "nul\0.parquet"]
)
def test_a_file_that_cannot_be_read_is_refused(tmp_path, name):
    for folder in ("folder.csv", "folder.parquet"):
        (tmp_path / folder).mkdir()
    assert "cannot be read" in refusal(tmp_path / name).reason


def test_a_broken_parquet_file_is_refused(file):
    for content in (b"", b"name,x\na,1\n", b"PAR1" + bytes(100) + b"PAR1"):
        assert "cannot be read" in refusal(file(content, "arms.parquet")).reason


def test_a_parquet_file_needs_a_name_column(tmp_path):
    pq.write_table(pa.table({"nam": ["a"], "x": [1.0]}), tmp_path / "arms.parquet")
    assert "Is it 'nam'?" in refusal(tmp_path / "arms.parquet").remedy


# --- without the extra


@pytest.mark.parametrize("missing", ["pyarrow", "narwhals"])
def test_frames_without_their_extra_say_what_to_install(tmp_path, monkeypatch, missing):
    pq.write_table(pa.Table.from_pandas(TABLE), tmp_path / "arms.parquet")
    for module in [name for name in sys.modules if name.partition(".")[0] == missing]:
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=rf"{missing} is not installed: pip install 'surefoot\[frames\]'"):
        read_arms(tmp_path / "arms.parquet")


def test_csv_needs_no_extra(file, monkeypatch):
    original = builtins.__import__

    def bare(name, *rest, **named):
        assert name.partition(".")[0] not in ("pandas", "polars", "pyarrow", "narwhals")
        return original(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", bare)
    assert_is_table(read_arms(file("name,x,y\nlow,1,0\nhigh,0,1.5\n")))
