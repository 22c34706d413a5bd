"""A number for each arm reads like a dict, and a status says which arms matter."""

import json
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.live.by_arm import ByArm
from surefoot.live.pulls import MOST_LISTED, Status
from surefoot.problem.names import Given, Numbered


def status(K: int, **changes: Any) -> Status:
    """A status of K arms of which three were pulled."""
    pulls, names = np.zeros(K, np.int64), Numbered(K)
    pulls[[7, 3, K - 1]] = 2, 5, 2
    facts: dict[str, Any] = {
        "pulls": 9, "phase": "decide", "outcome": None, "gap": 0.5, "epsilon": 0.1, "leader": "a4", "challenger": "a2",
        "best_estimate": "a9", "overshoots": 0, "held": [],
    }  # fmt: skip
    return Status(levels=ByArm(names, np.full(K, 0.25)), pulls_per_arm=ByArm(names, pulls), **{**facts, **changes})


def test_a_number_for_each_arm_reads_like_a_dict() -> None:
    table: ByArm[float] = ByArm(Given(["x", "y"]), np.array([0.5, 0.25]))
    plain = {"x": 0.5, "y": 0.25}
    assert table == plain
    assert plain == table
    assert table == ByArm(Given(["x", "y"]), np.array([0.5, 0.25]))
    assert table != ByArm(Given(["x", "z"]), np.array([0.5, 0.25]))
    assert dict(table) == dict(table.items()) == table.plain() == plain
    assert list(table.values()) == [0.5, 0.25]
    assert type(table["y"]) is float
    assert "z" not in table
    assert repr(table) == repr(plain)
    with pytest.raises(KeyError):
        table["z"]


def test_a_representation_of_many_arms_is_short() -> None:
    table: ByArm[int] = ByArm(Numbered(100_000), np.arange(100_000))
    assert repr(table).endswith("'a20': 19, ... 100,000 in all}")
    assert len(repr(status(100_000))) < 2_000


def test_those_matter_that_lead_challenge_look_best_or_were_pulled() -> None:
    assert status(500).names_that_matter() == ["a4", "a2", "a9", "a8", "a500"]
    nothing = status(500, leader="do nothing", challenger=None, best_estimate=None)
    assert nothing.names_that_matter() == ["a4", "a8", "a500"]


def test_a_brief_document_names_the_arms_that_matter_and_says_how_many_there_are() -> None:
    few, many = status(MOST_LISTED), status(MOST_LISTED + 1)
    roles = {"challenger": "a2", "best_estimate": "a9"}
    assert few.to_brief_dict() == {**few.to_dict(), "arms": MOST_LISTED, **roles}
    assert many.to_brief_dict()["levels"] == dict.fromkeys(["a4", "a2", "a9", "a8", "a1001"], 0.25)
    assert many.to_brief_dict()["pulls_per_arm"] == {"a4": 5, "a2": 0, "a9": 0, "a8": 2, "a1001": 2}
    assert many.to_brief_dict()["arms"] == MOST_LISTED + 1
    assert len(many.to_dict()["levels"]) == MOST_LISTED + 1
    json.dumps(many.to_dict())


def test_a_session_says_who_leads_who_challenges_and_who_looks_best() -> None:
    world = sf.worlds.limited()
    session = sf.Session(world.default_problem(), seed=1)
    assert (session.status().challenger, session.status().best_estimate) == (None, None)
    for _ in range(30):
        pull = session.ask()
        session.tell(pull, **world.measure(pull, seed=1))
    found, names = session.status(), session.problem.names
    assert found.best_estimate == names[int(session.estimates.argmax())]
    assert found.challenger == session.ask().challenger
    assert found.levels == dict(zip(names, session.levels.tolist(), strict=True))
    assert found.pulls_per_arm == dict(zip(names, session.pulls_per_arm.tolist(), strict=True))
