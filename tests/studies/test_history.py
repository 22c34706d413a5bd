"""The history as a frame: one row a pull, in the user's units."""

import random
import tracemalloc
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from plain_history import plain_frame
from small_studies import begun, measured

import surefoot as sf
from scenes import arena
from surefoot.errors import SurefootError
from surefoot.live.readings import packed
from surefoot.storage.protocol import COLUMNS
from surefoot.studies import pull_columns
from surefoot.studies.history_files import cells, write_csv

WANTED = ["number", "arm", "name", "level", "reward", "state", "worker", "asked_at", "told_at"]


def test_the_history_has_a_row_for_each_pull_and_a_column_for_each_limit(storage: str) -> None:
    study = begun(storage)
    study.add("a2", 0.25, 0.5, {"safety1": -0.1, "safety2": 0.3}, source="a pilot", not_because_of_result=True)
    pulls = study.ask(4, worker="north")
    study.tell(pulls[1], **measured(pulls[1]))
    study.tell(pulls[2], **measured(pulls[2]), level=0.05)
    study.cancel(pulls[3], "closed", not_because_of_result=True)
    frame = study.history
    assert set(WANTED) | {"safety_safety1", "safety_safety2"} <= set(frame.columns)
    assert frame["number"].tolist() == [1, 2, 3, 4, 5]
    assert frame["state"].tolist() == ["told", "open", "told", "told", "cancelled"]
    assert frame["imported"].tolist() == [True, False, False, False, False]
    assert frame["name"].tolist() == ["a2", *(pull.name for pull in pulls)]
    assert frame["level"].tolist() == [0.25, pulls[0].level, pulls[1].level, 0.05, pulls[3].level]
    assert frame["asked_level"].tolist()[3] == pulls[2].level
    assert frame["reward"].isna().tolist() == [False, True, False, False, True]
    assert frame["safety_safety1"].tolist()[2] == measured(pulls[1])["safety"][0]
    assert frame["safety_safety2"].tolist()[0] == 0.3
    assert frame["worker"].isna().tolist() == [True, False, False, False, False]
    assert frame["reason"].tolist()[4] == "closed"
    assert str(frame["told_at"].dtype) == "datetime64[us, UTC]"
    assert frame["told_at"].isna().tolist() == [False, True, False, False, True]
    assert (frame["asked_at"].dropna() <= pd.Timestamp.now("UTC")).all()
    pd.testing.assert_frame_equal(frame, sf.load_study("power", storage).history)


def test_one_limit_has_the_plain_column(storage: str) -> None:
    problem = sf.worlds.limited().default_problem()
    study = sf.create_study(problem, name="one", storage=storage)
    assert study.history.empty
    pull = study.ask()
    study.tell(pull, reward=0.5, safety=0.125)
    assert study.history["safety"].tolist() == [0.125]


def test_readings_are_shown_as_they_were_told(storage: str) -> None:
    """Stored in the user's units: 6.1 stays 6.1, and does not come back from a distance to the baseline."""
    problem = arena()[1].with_(safety=[sf.Limit("pressure", at_most=8.0, baseline=5.3, noise=0.3, norm=5.0)])
    study = sf.create_study(problem, name="pumps", storage=storage)
    study.tell(study.ask(), reward=0.4, safety=6.1)
    assert study.history["safety"].tolist() == [6.1]
    session = sf.Session(problem)
    session.tell(session.ask(), reward=0.4, safety=6.1)
    assert study.ask() == session.ask()


def lived(study: sf.Study, seed: int) -> sf.Study:
    """A study to which anything has happened that can, in an order that is drawn."""
    draw, out = random.Random(seed), list[sf.Pull]()
    row = {"level": 0.1, "reward": 0.2, "safety_safety1": 0.0, "safety_safety2": 0.1}

    def told(pull: sf.Pull) -> dict[str, Any]:
        result = dict(measured(pull))
        return result | {"reward": 50.0} if draw.random() < 0.1 else result  # which is implausible

    def number() -> int:
        return draw.randrange(1, max(2, len(study.history)))

    verbs = [
        lambda: out.extend(study.ask(draw.randrange(1, 4), worker=draw.choice([None, "north", "south"]))),
        lambda: out.extend(study.ask(draw.randrange(1, 4))),
        lambda: study.tell(pull := draw.choice(out), **told(pull), confirm=draw.random() < 0.3),
        lambda: study.tell(pull := draw.choice(out), **told(pull), level=0.05),
        lambda: study.tell(draw.choice(out), reward=0.1, safety=[0.1, 0.1]),
        lambda: study.cancel(draw.choice(out), "closed", not_because_of_result=True),
        lambda: study.fail(draw.choice(out), "broken", not_because_of_result=True, key=str(draw.random())),
        lambda: study.abort(draw.choice(out), "hot", "Ada"),
        lambda: study.release("mended", "Ada"),
        lambda: study.correct(number(), reward=draw.random(), reason="typed wrong", by="Ada"),
        lambda: study.void(number(), reason="not connected", by="Grace"),
        lambda: study.add(0, 0.1, 0.1, [0.1, 0.1], not_because_of_result=True, confirm=True),
        lambda: study.add(
            [row | {"arm": k, "when": k} for k in (1, 2, 3)], time="when", not_because_of_result=True, confirm=True
        ),
    ]  # fmt: skip
    for _ in range(60):
        try:
            draw.choice(verbs)()
        except (SurefootError, IndexError):
            continue
    return study


@pytest.mark.parametrize("seed", range(6))
def test_the_history_by_column_is_the_one_by_row(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        study = lived(begun("memory", f"lived {seed}", intake=["by-number", "on-arrival"][seed % 2]), seed)
    wanted = study._read(lambda stored: plain_frame(study.problem, stored.all()))
    pd.testing.assert_frame_equal(study.history, wanted)
    monkeypatch.setattr(pull_columns, "AT_ONCE", 3)
    pd.testing.assert_frame_equal(study.history, wanted)
    assert len(set(wanted["state"])) > 3


def test_the_studies_that_lived_saw_everything() -> None:
    """Else the test above would compare little."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [
            lived(begun("memory", f"seen {seed}", intake=["by-number", "on-arrival"][seed % 2]), seed)
            for seed in range(6)
        ]
    kinds = {event["kind"] for study in found for event in study._read(lambda stored: list(stored.all()))}
    assert {"ask", "tell", "add", "table", "correct", "void", "late", "cancel", "fail", "abort", "release"} <= kinds
    assert kinds & {"hold", "hold-all"}


def test_a_late_result_is_among_the_changes_and_is_no_result(storage: str) -> None:
    study = begun(storage)
    pull = study.ask()
    study.cancel(pull, "closed", not_because_of_result=True)
    with pytest.raises(SurefootError):
        study.tell(pull, **measured(pull))
    (row,) = study.history.to_dict("records")
    assert row["state"] == "cancelled"
    assert pd.isna(row["reward"])
    assert row["changes"].startswith("told late and not counted ")


def test_a_pull_takes_little_memory_and_is_written_in_passing() -> None:
    """So that a million of them fit anywhere."""
    problem, count = arena()[1], 40_000
    empty = dict.fromkeys(COLUMNS)

    def rows() -> Iterator[list[Any]]:
        for n in range(1, count + 1):
            asked = {"kind": "ask", "number": n, "arm": n % 4, "level": 1.0 / n, "at": n, "step": 0, "margin": 0.1}
            told = {"kind": "tell", "number": n, "level": 0.5, "reward": n / 7, "at": n, "step": 1}
            yield list((empty | asked | {"worker": f"bench {n % 8}"}).values())
            yield list((empty | told | {"safety": packed([n / 3, n / 9])}).values())

    tracemalloc.start()
    pulls = pull_columns.PullColumns(problem)
    pulls.take(rows())
    gathered = tracemalloc.get_traced_memory()[1]
    written = list[int]()
    write_csv(pulls, lambda words: written.append(len(words)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(pulls) == count
    assert gathered < 250 * count
    assert peak - gathered < sum(written) / 2


@pytest.mark.parametrize("times", [1, 50])
def test_numbers_in_csv_read_back_as_they_are_also_where_they_are_written_once(times: int) -> None:
    values = np.array([0.1 + 0.2, -0.0, 0.0, float("nan"), -1e-300, float("-inf")] * times)
    written = cells(pull_columns.Column("reward", values))
    assert written[:6] == ["0.30000000000000004", "-0.0", "0.0", "", "-1e-300", "-inf"]
    assert written == written[:6] * times
