"""The history as a frame: one row a pull, in the user's units."""

import pandas as pd
from small_studies import begun, measured

import surefoot as sf
from scenes import arena

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
