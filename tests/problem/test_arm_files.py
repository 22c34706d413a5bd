"""Arms from files: rows of numbers are mapped and not read, tables are read once, and broken files are refused."""

import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import surefoot as sf
from surefoot.errors import InvalidInput
from surefoot.problem import Limit, Problem, Reward, arm_files
from surefoot.problem.arms import read_arms
from surefoot.problem.checks import ROWS

ROWS_OF_ARMS = np.random.default_rng(3).standard_normal((40, 3))
SETTINGS: dict[str, Any] = {
    "reward": Reward(noise=0.5), "safety": [Limit("heat", at_least=-1.0, noise=0.2)], "safe_level": 0.2,
    "epsilon": 0.1, "delta": 0.1, "delta_safety": 0.1,
}  # fmt: skip


def is_mapped(values: Any) -> bool:
    """Whether the numbers lie in a file."""
    home = values
    while isinstance(home, np.ndarray) and not isinstance(home, np.memmap):
        home = home.base
    return isinstance(home, np.memmap)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    np.save(tmp_path / "arms.npy", ROWS_OF_ARMS)
    return tmp_path / "arms.npy"


def refusal(source: object, **settings: Any) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        read_arms(source, **settings)
    return caught.value


# -- mapped -----------------------------------------------------------------------------------------------------------


def test_rows_in_a_file_stay_there(saved: Path) -> None:
    usual = Problem(ROWS_OF_ARMS, **SETTINGS)
    for source in (saved, str(saved), np.load(saved, mmap_mode="r"), np.load(saved, mmap_mode="r")[:]):
        problem = Problem(source, **SETTINGS)
        assert is_mapped(problem.arms)
        assert problem.arms is problem.features
        assert type(problem.arms) is np.ndarray
        assert not problem.arms.flags.writeable
        assert problem == usual
        assert problem.names == usual.names
        assert pickle.loads(pickle.dumps(problem)) == usual
    with pytest.raises(ValueError, match="read-only"):
        problem.arms[0, 0] = 1.0


def test_rows_in_a_file_may_be_named(saved: Path) -> None:
    names = [f"setting {k}" for k in range(40)]
    assert Problem(saved, names=names, **SETTINGS).names == tuple(names)


@pytest.mark.parametrize("mode", ["r+", "c"])
def test_what_others_here_can_write_to_is_copied(saved: Path, mode: Any) -> None:
    source = np.load(saved, mmap_mode=mode)
    problem = Problem(source, **SETTINGS)
    source[0, 0] = 77.0
    assert not is_mapped(problem.arms)
    assert problem.arms[0, 0] == ROWS_OF_ARMS[0, 0]


@pytest.mark.parametrize(
    "change",
    [lambda x: x.astype(np.float32), lambda x: x.astype(">f8"), np.asfortranarray, lambda x: (9 * x).astype(np.int16)],
    ids=["narrow", "foreign", "fortran", "whole"],
)
def test_other_forms_of_numbers_are_converted_once(tmp_path: Path, change: Any) -> None:
    changed = change(ROWS_OF_ARMS)
    np.save(tmp_path / "arms.npy", changed)
    read = read_arms(tmp_path / "arms.npy").features
    assert not is_mapped(read)
    assert read.dtype == np.float64
    assert read.flags.c_contiguous
    assert (read == changed).all()


def test_a_problem_file_may_name_rows_of_numbers(saved: Path) -> None:
    usual = Problem(ROWS_OF_ARMS, **SETTINGS)
    table = {key: value for key, value in usual.to_dict().items() if key != "arms"}
    for file in ("problem.json", "problem.toml"):
        path = saved.with_name(file)
        usual.save(path)
        from surefoot.problem.files import write_table

        write_table(path, {"arms_file": "arms.npy", **table})
        assert Problem.load(path) == usual
        assert is_mapped(Problem.load(path).arms)
        write_table(path, {"arms_file": "arms.npy", "names": [f"s{k}" for k in range(40)], **table})
        assert Problem.load(path).names[39] == "s39"


def test_a_session_runs_on_rows_in_a_file(saved: Path) -> None:
    from surefoot import Session

    sessions = [Session(Problem(source, **SETTINGS), seed=4) for source in (ROWS_OF_ARMS, saved)]
    for _ in range(12):
        pulls = [session.ask() for session in sessions]
        assert pulls[0] == pulls[1]
        for session in sessions:
            session.tell(pulls[0], reward=0.3, safety=-0.1)


def test_minus_zero_in_a_file_is_zero_for_the_fingerprint(tmp_path: Path) -> None:
    rows = ROWS_OF_ARMS.copy()
    rows[3, 1] = -0.0
    np.save(tmp_path / "arms.npy", rows)
    assert Problem(tmp_path / "arms.npy", **SETTINGS) == Problem(rows, **SETTINGS)


# -- refused ----------------------------------------------------------------------------------------------------------


def write_object(path: Path) -> None:
    np.save(path, np.array([[1, None]], dtype=object), allow_pickle=True)


def write_archive(path: Path) -> None:
    with path.open("wb") as file:
        np.savez(file, arms=ROWS_OF_ARMS)


def truncate(path: Path) -> None:
    np.save(path, ROWS_OF_ARMS)
    os.truncate(path, path.stat().st_size - 8)


def promise_too_much(path: Path) -> None:
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": (10**15, 10**6)})


@pytest.mark.parametrize(
    "write",
    [
        write_object, write_archive, truncate, promise_too_much, lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(pickle.dumps([[1.0]])), lambda path: path.write_bytes(b"\x93NUMPY\x01\x00"),
        lambda path: path.write_bytes(b"name,x\na,1\n"), lambda path: path.mkdir(), lambda path: None,
    ],
    ids=["objects", "archive", "truncated", "endless", "empty", "pickle", "half a header", "csv", "folder", "gone"],
)  # fmt: skip
def test_a_broken_file_of_rows_is_refused(tmp_path: Path, write: Any) -> None:
    path = tmp_path / "arms.npy"
    write(path)
    found = refusal(path)
    assert found.field == "arms"
    assert "cannot be read as a .npy file" in found.reason
    assert "np.save" in found.remedy


def test_nothing_in_a_file_is_ever_unpickled(tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> Any:
            return (tmp_path / "went off").touch, ()

    np.save(tmp_path / "arms.npy", np.array([[Bomb()]], dtype=object), allow_pickle=True)
    (tmp_path / "plain.npy").write_bytes(pickle.dumps(Bomb()))
    for name in ("arms.npy", "plain.npy"):
        assert "cannot be read" in refusal(tmp_path / name).reason
    assert not (tmp_path / "went off").exists()


@pytest.mark.parametrize(
    ("rows", "hint"),
    [
        (np.ones(4), "has 1 dimension"),
        (np.ones((2, 2, 2)), "has 3 dimensions"),
        (np.float64(3.0), "has 0 dimensions"),
        (np.ones((2, 2), complex), "complex128"),
        (np.ones((2, 2), bool), "bool"),
        (np.array([["a", "b"]]), "<U1"),
        (np.zeros((2, 2)), "is the largest feature"),
        (np.ones((0, 2)), "at least one arm"),
        (np.ones((2, 0)), "have no features"),
        (np.array([[1.0, np.nan]]), "arms['a1'][1] = nan"),
        (np.array([[1.0], [-np.inf]]), "arms['a2'][0] = -inf"),
        (np.array([[1.0, 2e100]]), "arms['a1'][1]"),
    ],
)
def test_wrong_rows_in_a_file_are_refused_by_place(tmp_path: Path, rows: Any, hint: str) -> None:
    np.save(tmp_path / "arms.npy", rows)
    assert hint in str(refusal(tmp_path / "arms.npy"))


def test_a_wrong_number_is_found_wherever_it_is() -> None:
    rows = np.ones((2 * ROWS + 5, 2), np.float32)
    rows[2 * ROWS + 3, 1] = np.nan
    assert f"arms['a{2 * ROWS + 4}'][1] = nan" in str(refusal(rows))


def test_another_ending_is_refused_with_those_that_are_known(tmp_path: Path) -> None:
    assert ".csv, .parquet or .npy" in refusal(tmp_path / "arms.xlsx").remedy


# -- tables -----------------------------------------------------------------------------------------------------------


def test_a_parquet_file_is_read_some_rows_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arm_files, "BATCH", 7)
    columns = {"x": ROWS_OF_ARMS[:, 0], "name": [f"s{k}" for k in range(40)], "y": np.arange(40)}
    pq.write_table(pa.table(columns), tmp_path / "arms.parquet", row_group_size=11)
    table = read_arms(tmp_path / "arms.parquet")
    assert table.names == tuple(columns["name"])
    assert (table.features == np.column_stack([ROWS_OF_ARMS[:, 0], np.arange(40)])).all()
    columns["y"] = np.full(40, -0.0)
    pq.write_table(pa.table(columns), tmp_path / "arms.parquet")
    assert not np.signbit(read_arms(tmp_path / "arms.parquet").features[:, 1]).any()
    columns["y"] = pa.array([None if k == 30 else 1.0 for k in range(40)])
    pq.write_table(pa.table(columns), tmp_path / "arms.parquet")
    assert "arms['s30'], column 'y'" in refusal(tmp_path / "arms.parquet").field


def test_a_parquet_file_without_rows_is_refused(tmp_path: Path) -> None:
    pq.write_table(
        pa.table({"name": pa.array([], pa.string()), "x": pa.array([], pa.float64())}), tmp_path / "a.parquet"
    )
    assert "at least one arm" in refusal(tmp_path / "a.parquet").reason


# -- once -------------------------------------------------------------------------------------------------------------


def test_arms_are_copied_once_and_shared_from_then_on() -> None:
    from surefoot import worlds

    problem = Problem(ROWS_OF_ARMS, **SETTINGS)
    world = worlds.Linear.for_problem(problem, theta_star=[1.0, 0.0, 0.0], mu_star=[[0.1, 0.0, 0.0]])
    assert np.shares_memory(world.arms, problem.arms)
    assert np.shares_memory(problem.with_(epsilon=0.2).arms, problem.arms)
    assert not np.shares_memory(problem.arms, ROWS_OF_ARMS)


def test_one_level_for_many_arms_takes_up_the_room_of_one() -> None:
    many = Problem(np.eye(2)[np.arange(ROWS + 1) % 2], **SETTINGS)
    assert many.safe_level.shape == many.max_level.shape == (ROWS + 1,)
    assert many.safe_level.strides == (0,)
    assert not many.safe_level.flags.writeable
    listed = many.with_(safe_level=[0.2] * ROWS + [0.3])
    assert listed.safe_level[-1] == 0.3
    assert listed.fingerprint != many.fingerprint
    assert listed.with_(safe_level=0.2) == many


# -- a file that somebody writes into ----------------------------------------------------------------------------------


@pytest.fixture
def mapped(tmp_path: Path) -> Problem:
    np.save(tmp_path / "mapped.npy", ROWS_OF_ARMS)
    return Problem(tmp_path / "mapped.npy", **SETTINGS)


def write_into(path: Path) -> None:
    rows = np.lib.format.open_memmap(path, mode="r+")
    rows[0] = np.nan
    rows.flush()
    os.utime(path, ns=(1, 1))  # whatever the clock of the file system is like


def cut_short(path: Path) -> None:
    os.truncate(path, 200)


VERBS: dict[str, Any] = {
    "session": lambda problem, _: sf.Session(problem),
    "simulate": lambda problem, _: sf.simulate(sf.worlds.Linear.for_problem(
        Problem(ROWS_OF_ARMS, **SETTINGS), theta_star=np.ones(3), mu_star=np.ones(3)), problem, runs=1),
    "study": lambda problem, _: sf.create_study(problem, name="pumps", storage="memory"),
    "save": lambda problem, folder: problem.save(folder / "problem.toml"),
    "with_": lambda problem, _: problem.with_(epsilon=0.2),
    "fingerprint": lambda problem, _: problem.fingerprint,
}  # fmt: skip


@pytest.mark.parametrize("change", [write_into, cut_short])
@pytest.mark.parametrize("verb", VERBS)
def test_a_mapped_file_that_was_written_into_is_refused(
    mapped: Problem, tmp_path: Path, change: Any, verb: str
) -> None:
    change(tmp_path / "mapped.npy")
    with pytest.raises(InvalidInput, match=r"mapped\.npy.*written into.*Make the problem anew") as found:
        VERBS[verb](mapped, tmp_path)
    assert found.value.field == "arms"
    assert not (tmp_path / "problem.toml").exists()


def test_a_session_stops_before_it_reads_a_file_that_was_written_into(mapped: Problem, tmp_path: Path) -> None:
    session = sf.Session(mapped, seed=2)
    pull = session.ask()
    cut_short(tmp_path / "mapped.npy")
    for told in (pull, pull.number):
        with pytest.raises(InvalidInput, match="written into"):
            session.tell(told, reward=0.1, safety=0.0)
    assert session.pulls == 0


def test_a_new_file_in_the_place_of_a_mapped_one_is_no_matter(mapped: Problem, tmp_path: Path) -> None:
    """The old one is still there for who has mapped it."""
    np.save(tmp_path / "new.npy", 2.0 * ROWS_OF_ARMS)
    os.replace(tmp_path / "new.npy", tmp_path / "mapped.npy")
    assert (mapped.with_(epsilon=0.2).arms == ROWS_OF_ARMS).all()
    (tmp_path / "mapped.npy").unlink()
    assert sf.Session(mapped).ask().number == 1
