"""Storms of every verb, with forks, stops, kills and restarts: what was acknowledged is stored once, and only that."""

import json
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from servers import restart
from storm import lines_of, result_of

import surefoot as sf
from scenes import arena
from surefoot.studies.integrity import check_storage

STORM = Path(__file__).parent / "storm.py"
KEPT = ["sqlite", pytest.param("postgres", marks=pytest.mark.xdist_group("postgres"))]


class Storm:
    """A storm that is under way, and what is left of it."""

    def __init__(self, storage: str, folder: Path, seconds: float, seed: int) -> None:
        problem = arena()[1].with_(epsilon=1e-4)
        sf.create_study(problem, name="power", storage=storage, seed=4, alarm_level=1e-12)
        self.storage, self.folder = storage, folder
        words = [sys.executable, str(STORM), storage, str(folder), str(seconds), str(seed)]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def over(self) -> dict[str, int]:
        """Waits for its end, and holds what is stored against what was acknowledged; the counts."""
        out, err = self.process.communicate(timeout=1_500)
        assert self.process.returncode == 0, err
        assert not [f"{path.name}: {path.read_text()}" for path in self.folder.glob("*.error")]
        lines = [line for path in sorted(self.folder.glob("*.jsonl")) for line in lines_of(path)]
        return json.loads(out) | checked(self.storage, lines)


def checked(storage: str, lines: list[dict[str, Any]]) -> dict[str, int]:
    """Every promise, in a study that is opened anew; how much was acknowledged and stored."""
    study = sf.load_study("power", storage)
    happened = study._handle.look(lambda ledger, stored: list(stored.all()))
    stored = {event["key"]: json.loads(event["reason"]) for event in happened if event["kind"] == "key"}
    begun = {line["begun"]: line for line in lines if "begun" in line}
    acknowledged = {line["acknowledged"]: line for line in lines if "acknowledged" in line}

    # Acknowledged is stored, and stored was begun by somebody; the answer is the one that is stored.
    assert [key for key in acknowledged if key not in stored] == []
    assert [key for key in stored if key not in begun] == []
    for key, line in acknowledged.items():
        if line["verb"] == "ask":
            assert stored[key]["answer"] == line["answer"]
        elif line["verb"] in ("add", "table"):
            assert stored[key]["answer"] == (line["answer"] if line["verb"] == "add" else line["answer"][0])

    # Nothing happened twice, and nothing without a key.
    counts = Counter(event["kind"] for event in happened)
    given = Counter(number for said in stored.values() if said["verb"] == "ask" for number in said["answer"])
    assert set(given.values()) <= {1}, "a pull was given to two"
    assert counts["ask"] == sum(given.values()) + 3  # the first three had no key
    for verb, kind in {"correct": "correct", "void": "void", "freeze": "freeze", "release": "release"}.items():
        assert counts[kind] == sum(said["verb"] == verb for said in stored.values()), verb
    told = {line["words"]["number"] for line in begun.values() if line["verb"] == "tell"} | {1}
    for event in happened:
        if event["kind"] == "tell":
            assert event["number"] in told
            assert event["reward"] == result_of(event["number"])["reward"]
    added = [line for key, line in begun.items() if line["verb"] in ("add", "table") and key in stored]
    assert counts["add"] == sum(1 if line["verb"] == "add" else 3 for line in added)

    assert study.audit(head=study.head).clean
    assert check_storage(storage).sound
    assert sf.load_study("power", storage).status() == study.status()
    return {"begun": len(begun), "acknowledged": len(acknowledged), "stored": len(stored), "events": len(happened)}


@pytest.mark.parametrize("storage", KEPT, indirect=True)
def test_a_storm_loses_nothing_and_does_nothing_twice(storage: str, tmp_path: Path) -> None:
    found = Storm(storage, tmp_path, seconds=15.0, seed=11).over()
    assert found["acknowledged"] > 50
    print(found)


@pytest.mark.certify
@pytest.mark.parametrize("storage", KEPT, indirect=True)
def test_a_long_storm_loses_nothing_and_does_nothing_twice(storage: str, tmp_path: Path) -> None:
    print("\n", Storm(storage, tmp_path, seconds=300.0, seed=12).over())


@pytest.mark.xdist_group("postgres")
def test_a_storm_over_a_server_that_crashes_and_is_restarted(own_server: Any, tmp_path: Path) -> None:
    storm = Storm(own_server.get_uri(), tmp_path, seconds=12.0, seed=13)
    for mode in ("immediate", "fast"):
        time.sleep(4.0)
        restart(own_server, mode)
    found = storm.over()
    assert found["acknowledged"] > 20
    print(found)
