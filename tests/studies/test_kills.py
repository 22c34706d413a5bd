"""kill -9 at random instants: no acknowledged result is lost, no number is used twice, every reopening audits clean."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from small_studies import measured

import surefoot as sf
from scenes import arena
from surefoot.studies.integrity import check_storage

KILLING = Path(__file__).parent / "killing.py"
KEPT = ["sqlite", pytest.param("postgres", marks=pytest.mark.xdist_group("postgres"))]


def killed(storage: str, folder: Path, kills: int, seed: int) -> list[dict[str, Any]]:
    """What was acknowledged to the workers while so many of them were killed."""
    sf.create_study(arena()[1].with_(epsilon=1e-4), name="power", storage=storage, seed=4)
    words = [sys.executable, str(KILLING), storage, str(folder), str(kills), str(seed)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr
    assert not [path.read_text() for path in folder.glob("*.error")]
    lines = [line for path in folder.glob("*.jsonl") for line in path.read_text().splitlines()]
    return [json.loads(line) for line in lines if line.endswith("}")]


def check_nothing_was_lost(storage: str, acknowledged: list[dict[str, Any]], kills: int) -> None:
    """Everything that was promised, looked up in a study that is opened anew."""
    study = sf.load_study("power", storage)
    history = study.history.set_index("number")
    asked = {line["asked"]: line for line in acknowledged if "asked" in line}
    told = {line["told"]: line for line in acknowledged if "told" in line}
    assert len(told) > 10 * 8  # the workers really worked

    assert history.index.tolist() == list(range(1, len(history) + 1))
    for number, line in asked.items():
        assert (history.loc[number, "arm"], history.loc[number, "level"]) == (line["arm"], line["level"])
    for number, line in told.items():
        row = history.loc[number]
        assert row["state"] == "told"
        assert row["reward"] == line["reward"]
        assert [row["safety_safety1"], row["safety_safety2"]] == line["safety"]
    # No worker was given what another had, and what was not acknowledged is at most one step of each killed worker.
    given = Counter((line["asked"], path) for path, lines in by_worker(acknowledged).items() for line in lines)
    assert len({number for number, _ in given}) == len(given)
    assert 0 <= (history["state"] == "told").sum() - len(told) <= kills + 8
    assert (history["state"] == "open").sum() <= 8 + 2

    assert study.audit().clean
    assert check_storage(storage).sound
    session = sf.Session(study.problem, seed=4)
    for result in study.results()[: study.pulls]:
        session.ledger.learner.take(result.arm, result.level, [result.reward, *result.readings])
    ours, theirs = study.status(), session.status()
    for fact in ("pulls", "levels", "pulls_per_arm", "gap"):
        assert getattr(ours, fact) == getattr(theirs, fact), fact
    pull = study.ask()  # and it goes on
    study.tell(pull, **measured(pull))


def by_worker(acknowledged: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """The acknowledgements of asking, by who had them; a worker that was killed is given its pull once more."""
    found: dict[str, list[dict[str, Any]]] = {}
    for line in acknowledged:
        if "asked" in line:
            mine = found.setdefault(line["worker"], [])
            if line["asked"] not in [other["asked"] for other in mine[-1:]]:
                mine.append(line)
    return found


@pytest.mark.parametrize("storage", KEPT, indirect=True)
def test_workers_that_are_killed_lose_nothing(storage: str, tmp_path: Path) -> None:
    check_nothing_was_lost(storage, killed(storage, tmp_path, kills=20, seed=11), 20)


@pytest.mark.certify
@pytest.mark.parametrize("storage", KEPT, indirect=True)
def test_two_hundred_workers_that_are_killed_lose_nothing(storage: str, tmp_path: Path) -> None:
    check_nothing_was_lost(storage, killed(storage, tmp_path, kills=200, seed=12), 200)
