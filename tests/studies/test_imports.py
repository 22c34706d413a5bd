"""Tables of results that were measured elsewhere: one step each, in a stated order, all of it or nothing."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from small_studies import begun, driven, measured

import surefoot as sf
from scenes import arena
from surefoot.errors import Finished, InvalidInput, StorageDamaged
from surefoot.studies import events
from surefoot.studies.following import silent
from surefoot.studies.import_order import Statement
from surefoot.studies.step import Step

SURE = {"not_because_of_result": True}
STATED = {**SURE, "order": "as measured"}


def rows(count: int, seed: int = 1, scale: float = 1.0) -> list[dict[str, Any]]:
    """Honest results of the arena at known levels."""
    world, problem = arena()
    rng = np.random.default_rng(seed)
    truth = world.judge(problem)
    found = []
    for i in range(count):
        arm = int(rng.integers(problem.size))
        level = float(problem.safe_level[arm]) if np.ndim(problem.safe_level) else 0.2
        means = truth.means(np.array(arm), np.array(level))
        noise = rng.normal(size=3) * [0.2, 0.1, 0.05] * scale
        reading = [float(x) for x in means[1:] + noise[1:]]
        found.append(
            {"arm": problem.names[arm], "level": level, "reward": float(means[0] + noise[0]), "safety": reading,
             "when": datetime(2024, 5, 1, tzinfo=UTC) + timedelta(hours=i)}
        )  # fmt: skip
    return found


def flat(table: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """With a column for each limit."""
    return [
        {key: value for key, value in row.items() if key != "safety"}
        | dict(zip(("safety_safety1", "safety_safety2"), row["safety"], strict=True))
        for row in table
    ]


# -- every form of a table ----------------------------------------------------------------------------------------


def test_all_forms_of_a_table_are_the_same_results(tmp_path: Path) -> None:
    table = rows(12)
    frame = pd.DataFrame(flat(table))
    frame.to_csv(tmp_path / "spring.csv", index=False)
    frame_by_place = frame.assign(arm=[arena()[1].index_of(name) for name in frame.arm])
    forms: list[Any] = [
        table, tuple(flat(table)), frame, frame_by_place, frame.to_dict("list"), tmp_path / "spring.csv",
        {name: np.array(frame[name]) for name in frame}, frame.rename(columns={"safety_safety1": "safety1"}),
    ]  # fmt: skip
    wanted = None
    for i, form in enumerate(forms):
        study = begun("memory", f"form {i}")
        assert study.add(form, **STATED) == range(1, 13)
        wanted = wanted or study.results()
        assert study.results() == wanted
        sf.delete_study(f"form {i}", "memory")


def test_one_row_is_added_as_before(storage: str) -> None:
    study = begun(storage)
    assert study.add(0, 0.2, 0.1, [0.0, 0.0], **SURE) == 1
    assert study.add(arm="a2", level=0.2, reward=0.1, safety={"safety1": 0.0, "safety2": 0.0}, **SURE) == 2
    assert study.statements() == ()
    with pytest.raises(InvalidInput, match="reward is not given"):
        study.add("a2", 0.2, **SURE)  # type: ignore[call-overload]
    with pytest.raises(InvalidInput, match="its Path"):
        study.add("spring.csv", **SURE)
    with pytest.raises(InvalidInput, match="one by one"):
        study.add(0, 0.2, 0.1, [0.0, 0.0], order="as measured", **SURE)  # type: ignore[call-overload]


BAD: dict[str, tuple[Any, str]] = {
    "nothing": ([], "holds nothing"),
    "no table": (7.5, "is no table"),
    "no rows": ([1, 2], "row 1 is no mapping"),
    "a scalar column": ({"arm": "a1"}, "not a column"),
    "lengths": ({"arm": ["a1"], "level": [0.1, 0.2]}, "different lengths"),
    "no level": ([{"arm": "a1", "reward": 0.0, "safety": [0.0, 0.0]}], "no column 'level'"),
    "no reading": ([{"arm": "a1", "level": 0.1, "reward": 0.0, "safety_safety1": 0.0}], "no column 'safety_safety2'"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_table_is_refused(name: str) -> None:
    study = begun("memory", "bad tables", load_if_exists=True)
    table, words = BAD[name]
    with pytest.raises(InvalidInput, match=words):
        study.add(table, **STATED)
    assert study.status().events == 0


def test_bad_rows_are_named_by_row_and_column_and_nothing_is_taken_in(storage: str, tmp_path: Path) -> None:
    study, table = begun(storage), flat(rows(9))
    table[2]["reward"] = float("nan")
    table[4]["arm"] = "pump Z"
    table[6]["safety_safety2"] = "much"
    table[8]["level"] = 1.5
    del table[0]["reward"]
    with pytest.raises(InvalidInput) as caught:
        study.add(table, **STATED)
    for words in ("row 1, column 'reward' = nothing", "row 3, column 'reward' = nan", "row 5, column 'arm' = 'pump Z'",
                  "row 7, column 'safety_safety2' = 'much'", "row 9, column 'level' = 1.5"):  # fmt: skip
        assert words in str(caught.value)
    pd.DataFrame(table).to_csv(tmp_path / "bad.csv", index=False)
    with pytest.raises(InvalidInput, match="row 7, column 'safety_safety2' = 'much'"):
        study.add(tmp_path / "bad.csv", **STATED)
    (tmp_path / "torn.csv").write_text("arm,level,reward,safety1,safety2\na1,0.1,0.0,0.0\n")
    with pytest.raises(InvalidInput, match="row 1 has 4 cells"):
        study.add(tmp_path / "torn.csv", **STATED)
    with pytest.raises(InvalidInput, match="cannot be read"):
        study.add(tmp_path / "none.csv", **STATED)
    assert study.status().events == 0


# -- the order ----------------------------------------------------------------------------------------------------


def test_the_order_must_be_stated() -> None:
    study = begun("memory", "unstated", load_if_exists=True)
    with pytest.raises(InvalidInput, match="State order="):
        study.add(rows(3), **SURE)
    with pytest.raises(InvalidInput, match="must be 'as measured' or 'fixed beforehand'"):
        study.add(rows(3), order="sorted", **SURE)
    with pytest.raises(InvalidInput, match="not_because_of_result"):
        study.add(rows(3), order="as measured")
    assert study.status().events == 0


def test_stamps_sort_rows_or_bear_out_the_stated_order(storage: str) -> None:
    table, study = rows(8), begun(storage)
    mixed = [table[i] for i in (3, 0, 7, 1, 2, 6, 5, 4)]
    with pytest.raises(InvalidInput, match=r"row 2 is stamped 2024-05-01 00:00:00\+00:00, before row 1"):
        study.add(mixed, time="when", **STATED)
    study.add(mixed, time="when", source="spring", **SURE)
    assert [result.reward for result in study.results()] == [row["reward"] for row in table]
    found = sf.load_study("power", storage)
    assert found.history.measured.tolist() == [row["when"].isoformat(sep=" ") for row in table]
    assert found.history.reason[0] == "spring, row 2"
    assert found.status().imports == [
        "8 results taken over from spring; stated: by the time stamps in 'when', 2024-05-01 00:00:00+00:00 to "
        "2024-05-01 07:00:00+00:00"
    ]


def test_equal_stamps_need_a_stated_order_beside_them() -> None:
    study, table = begun("memory", "equal stamps"), [row | {"when": i // 2} for i, row in enumerate(rows(6))]
    with pytest.raises(InvalidInput, match="rows 1 and 2 have the same stamp, 0"):
        study.add(table, time="when", **SURE)
    assert study.add(table, time="when", **STATED) == range(1, 7)
    sf.delete_study("equal stamps", "memory")


@pytest.mark.parametrize(
    "stamps",
    [["2024-05-01", 2.0], ["2024-05-01T00:00", "2024-05-01T00:00+02:00"], [None, 1], ["soon", "2024-05-01"],
     [True, 2], [float("nan"), 1.0], [pd.NaT, pd.Timestamp("2024-05-01")]],
    ids=["kinds", "zones", "none", "words", "flag", "nan", "no time"],
)  # fmt: skip
def test_stamps_that_cannot_be_compared_are_refused(stamps: list[Any]) -> None:
    study = begun("memory", "bad stamps", load_if_exists=True)
    with pytest.raises(InvalidInput, match="stamp"):
        study.add([row | {"when": stamp} for row, stamp in zip(rows(2), stamps, strict=True)], time="when", **SURE)
    with pytest.raises(InvalidInput, match="no column 'then'"):
        study.add(rows(2), time="then", **SURE)
    assert study.status().events == 0


def test_a_sorted_table_is_refused_until_it_is_confirmed_and_that_is_shown(storage: str) -> None:
    study, table = begun(storage), rows(100)
    by_reward = sorted(table, key=lambda row: row["reward"])
    with pytest.raises(InvalidInput, match=r"rise or fall with their place.*--confirm") as caught:
        study.add(by_reward, **STATED)
    assert caught.value.field == "order"
    by_reading = sorted(table, key=lambda row: row["safety"][1])
    with pytest.raises(InvalidInput, match="safety2: the 34 results of 'a1'"):
        study.add(by_reading, **STATED)
    assert study.status().events == 0
    study.add(by_reward, confirm=True, **STATED)
    assert study.status().imports[0].endswith("their order looked sorted and was confirmed")
    follower = sf.create_study(arena()[1], name="follower", storage=storage, warm_start=study)
    assert follower.status().imports[0].endswith("their order looked sorted and was confirmed")


def test_a_sorted_table_is_found_in_pieces_and_row_by_row(storage: str) -> None:
    by_reward = sorted(rows(100), key=lambda row: row["reward"])
    study = begun(storage)

    def in_pieces() -> None:
        for place in range(0, 100, 10):
            study.add(by_reward[place : place + 10], **STATED)

    with pytest.raises(InvalidInput, match="rise or fall"):
        in_pieces()
    assert study.pulls < 100
    other = begun(storage, "row by row")

    def row_by_row() -> None:
        for row in by_reward:
            other.add(row["arm"], row["level"], row["reward"], row["safety"], **SURE)

    with pytest.raises(InvalidInput, match="added one by one"):
        row_by_row()
    assert other.pulls < 60
    row = by_reward[other.pulls]
    other.add(row["arm"], row["level"], row["reward"], row["safety"], confirm=True, **SURE)
    assert other.statements()[0].confirmed


def test_the_history_of_a_study_can_be_taken_over_as_a_table(storage: str) -> None:
    source = driven(begun(storage, "source"), 60)
    study = begun(storage)
    study.add(source.history, time="told_at", **SURE)
    assert [row[1:] for row in study.results()] == [row[1:] for row in source.results()]


# -- one step -----------------------------------------------------------------------------------------------------


def longer_than_needed(storage: str) -> tuple[sf.Problem, list[dict[str, Any]], int]:
    """A problem, results of which a part is enough for an answer, and how many those are."""
    problem = arena()[1].with_(epsilon=0.5)
    source = sf.create_study(arena()[1].with_(epsilon=0.05), name="long", storage=storage, seed=4)
    source.run(measured, max_pulls=400)
    table = [row._asdict() | {"safety": row.readings} for row in source.results()]
    alone = sf.create_study(problem, name="alone", storage=storage)
    for row in table:
        if alone.stopped:
            break
        alone.add(row["arm"], row["level"], row["reward"], row["safety"], **SURE)
    assert alone.outcome == "certified"
    assert alone.pulls < len(table)
    return problem, table, alone.pulls


def test_a_table_is_taken_in_whole_and_decides_after_its_last_row(storage: str) -> None:
    problem, table, _ = longer_than_needed(storage)
    study = sf.create_study(problem, name="whole", storage=storage)
    assert study.add(table, source="the pilot", **STATED) == range(1, len(table) + 1)
    assert study.pulls == len(table)
    assert study.outcome == "certified"
    found = sf.load_study("whole", storage)
    assert (found.pulls, found.outcome, found.audit().clean) == (len(table), "certified", True)
    certificate = found.certificate
    assert certificate is not None
    assert certificate.pulls == len(table)
    said = "\n".join((*certificate.data, *certificate.assumptions))
    assert f"{len(table)} results taken over from the pilot; stated: in the order measured" in said
    assert "epsilon, delta and arms not chosen after looking at them" in said
    assert "after the end" not in said
    with pytest.raises(Finished):
        study.add(table[:1], **STATED)


def test_a_warm_start_decides_after_the_last_row(storage: str) -> None:
    problem, table, _ = longer_than_needed(storage)
    study = sf.create_study(problem, name="warm", storage=storage, warm_start=sf.load_study("long", storage))
    assert study.pulls == sf.load_study("warm", storage).pulls == len(table)
    assert study.outcome == "certified"
    assert study.certificate is not None
    assert any("in the order in which that study numbered them" in note for note in study.certificate.data)


def test_a_table_waits_whole_for_an_open_pull(storage: str) -> None:
    study, table = begun(storage), rows(20)
    pull = study.ask()
    assert study.add(table, **STATED) == range(2, 22)
    assert (study.pulls, study.status().held_back) == (0, 20)
    study.tell(pull, **measured(pull))
    assert study.pulls == sf.load_study("power", storage).pulls == 21
    study.run(measured, max_pulls=5)
    assert sf.load_study("power", storage).audit().clean


def test_statements_travel_with_an_export(storage: str, tmp_path: Path) -> None:
    study = begun(storage)
    study.add(rows(5), time="when", source="spring", **SURE)
    study.export(tmp_path / "it.study")
    found = sf.import_study(tmp_path / "it.study", storage, "copy")
    assert found.statements() == study.statements()
    assert found.history.measured.tolist() == study.history.measured.tolist()


def test_a_table_that_breaks_off_is_damage() -> None:
    study = begun("memory", "broken off")
    with pytest.raises(StorageDamaged, match="breaks off a table 2 rows before its end"):
        study._handle.write(
            Step(
                lambda ledger, stored: [
                    events.table(Statement(3, "as measured").to_json()),
                    events.added(1, 0, 0.2, 0.0, [0.0, 0.0], None),
                    events.held(events.FREEZE, "smoke", "Eva"),
                ],
                silent,
            )
        )
    assert study.status().events == 0
    sf.delete_study("broken off", "memory")


def test_a_statement_is_read_as_it_was_written() -> None:
    said = Statement(2, None, "when", ("1", "2"), "spring", ("a doubt",))
    assert Statement.from_json(said.to_json()) == said
    for table in ({}, {"rows": 0}, {"rows": 1.0}, {"rows": 1, "order": "x"}, {"rows": 2, "time": "t", "stamps": ["1"]}):
        with pytest.raises((ValueError, KeyError)):
            Statement.from_json(json.dumps(table))
