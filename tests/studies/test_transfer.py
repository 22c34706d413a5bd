"""Studies as files: nothing is lost, and a damaged file is never taken for a whole one."""

import hashlib
import json
import sqlite3
import tracemalloc
import zipfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hostile_files import archive, fitted, members_of
from small_studies import begun, driven, measured

import surefoot as sf
from scenes import POLICIES, arena
from surefoot.errors import InvalidInput, OtherVersionWarning, StorageDamaged, StudyExists
from surefoot.live.readings import packed
from surefoot.storage.chain import chained, origin_of
from surefoot.storage.protocol import COLUMNS
from surefoot.studies.transfer import write_archive


def eventful(storage: str, name: str = "power", **settings: Any) -> sf.Study:
    """A study in which everything has happened."""
    study = begun(storage, name, **settings)
    elsewhere = sf.Pull(1, 1, "", 0.1, "decide", 0.0, None, None, None)
    study.add(1, 0.1, **measured(elsewhere, seed=8), not_because_of_result=True)
    driven(study, 12)
    pulls = study.ask(6, worker="nörth")
    study.tell(pulls[4], **measured(pulls[4]))
    study.tell(pulls[1], **measured(replace(pulls[1], level=0.01)), level=0.01)
    study.cancel(pulls[0], "closed", not_because_of_result=True)
    study.fail(pulls[2], "broken", not_because_of_result=True)
    study.expire(pulls[3], not_because_of_result=True)
    study.freeze("smoke", "Ada")
    study.release("mended", "Grace")
    study.abort(study.ask(), "too hot", "Ada")
    return study


@pytest.mark.parametrize("intake", ["by-number", "on-arrival"])
def test_a_study_comes_out_of_a_file_as_it_went_in(storage: str, tmp_path: Path, intake: Any) -> None:
    study = eventful(storage, intake=intake)
    study.export(tmp_path / "power.study")
    again = sf.import_study(tmp_path / "power.study", storage="memory", name="copy")
    assert replace(again.status(), name="power") == study.status()
    pd.testing.assert_frame_equal(again.history, study.history)
    assert again.audit().clean
    assert again.problem == study.problem
    again.export(tmp_path / "again.study")
    with zipfile.ZipFile(tmp_path / "power.study") as one, zipfile.ZipFile(tmp_path / "again.study") as other:
        assert one.read("events.jsonl") == other.read("events.jsonl")
        assert one.read("arms.f8") == other.read("arms.f8")
    sf.delete_study("copy", "memory")


def test_the_same_study_gives_the_same_bytes(tmp_path: Path) -> None:
    study = eventful("memory", "same")
    for name in ("one.study", "two.zip"):
        study.export(tmp_path / name)
    assert (tmp_path / "one.study").read_bytes() == (tmp_path / "two.zip").read_bytes()


def test_a_name_that_is_taken_is_refused_and_nothing_changes(storage: str, tmp_path: Path) -> None:
    study = driven(begun(storage), 3)
    study.export(tmp_path / "power.study")
    driven(study, 1)
    with pytest.raises(StudyExists):
        sf.import_study(tmp_path / "power.study", storage=storage)
    assert study.pulls == 4


def test_no_changed_byte_goes_unnoticed(tmp_path: Path) -> None:
    """Every byte in turn: the file is refused, or what it holds is the same as before."""
    study = driven(begun("memory", "flipped"), 2)
    study.export(tmp_path / "whole.study")
    content = (tmp_path / "whole.study").read_bytes()
    sf.import_study(tmp_path / "whole.study", "memory", "reference").export(tmp_path / "reference.study")
    refused = 0
    for place in range(0, len(content), 7):
        damaged = bytearray(content)
        damaged[place] ^= 0x10
        (tmp_path / "damaged").write_bytes(bytes(damaged))
        try:
            found = sf.import_study(tmp_path / "damaged", "memory", "reference 2")
        except InvalidInput:
            refused += 1
            continue
        pd.testing.assert_frame_equal(found.history, study.history)
        sf.delete_study("reference 2", "memory")
    assert refused > len(content) / 14


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_a_file_that_breaks_off_is_refused(tmp_path: Path, share: float) -> None:
    driven(begun("memory", f"cut {share}"), 3).export(tmp_path / "whole.study")
    content = (tmp_path / "whole.study").read_bytes()
    (tmp_path / "cut").write_bytes(content[: int(share * len(content))])
    with pytest.raises(InvalidInput, match="whole export"):
        sf.import_study(tmp_path / "cut", "memory", "never")


def rewritten(source: Path, target: Path, **changes: Any) -> None:
    """A file in which members were changed, and the checksums and the chain made to fit."""
    members = fitted(members_of(source) | changes.pop("members", {}))
    members["manifest.json"] = json.dumps({**json.loads(members["manifest.json"]), **changes}).encode()
    target.write_bytes(archive(list(members.items())))


def test_a_later_format_and_impossible_content_are_refused_by_name(tmp_path: Path) -> None:
    driven(begun("memory", "format"), 2).export(tmp_path / "whole.study")
    rewritten(tmp_path / "whole.study", tmp_path / "later", format="surefoot study 3")
    with pytest.raises(InvalidInput, match="surefoot study 3"):
        sf.import_study(tmp_path / "later", "memory", "never")
    lines = zipfile.ZipFile(tmp_path / "whole.study").read("events.jsonl").splitlines(keepends=True)
    for events in (lines[1:], [lines[0], *lines[2:]], [b"{}\n"], [lines[0].replace(b'"arm":', b'"arm":9')], [b"[\n"]):
        rewritten(tmp_path / "whole.study", tmp_path / "odd", members={"events.jsonl": b"".join(events)})
        with pytest.raises(InvalidInput, match="path"):
            sf.import_study(tmp_path / "odd", "memory", "never")
    assert "never" not in [row["name"] for row in sf.list_studies("memory")]


def test_a_study_keeps_its_head_wherever_it_is_carried(storage: str, tmp_path: Path) -> None:
    """From every kind of storage to a file, to another and back, under another name: whoever kept the head knows it."""
    study = eventful(storage, "head")
    study.export(tmp_path / "one.study")
    elsewhere = sf.import_study(tmp_path / "one.study", f"sqlite:///{tmp_path / 'other.db'}", "elsewhere")
    elsewhere.export(tmp_path / "two.study")
    back = sf.import_study(tmp_path / "two.study", storage, "back")
    assert study.head == elsewhere.head == back.head
    assert back.audit(head=study.head).clean
    manifest = json.loads(zipfile.ZipFile(tmp_path / "two.study").read("manifest.json"))
    assert (manifest["head"], manifest["events"]) == (study.head, study.status().events)


def test_the_lines_of_a_file_are_the_bytes_that_are_hashed(tmp_path: Path) -> None:
    """With nothing but the file and SHA-256 anyone computes the head."""
    study = eventful("memory", "anyone")
    study.export(tmp_path / "anyone.study")
    members = members_of(tmp_path / "anyone.study")
    settings = json.loads(members["study.json"])
    shape = settings.pop("arms")
    del settings["name"]
    settings["arms"] = hashlib.sha256(
        f"{shape['count']} {shape['dimension']}\n".encode() + members["arms.f8"]
    ).hexdigest()
    held = {key: value for key, value in settings.items() if value is not None}
    line = json.dumps(held, sort_keys=True, separators=(",", ":")).encode()
    head = hashlib.sha256(b"surefoot chain 1\n" + line).hexdigest()
    for line in members["events.jsonl"].splitlines():
        head = hashlib.sha256(head.encode() + b"\n" + line).hexdigest()
    assert head == study.head


def test_numbers_on_the_edge_are_carried(tmp_path: Path) -> None:
    """A gap that nobody knows a bound of is infinite, and a reading may be a zero with a sign."""
    study = driven(begun("memory", "edges"), 2)
    _, row, arms = study._handle.store.find("edges")
    events = study._read(lambda stored: list(stored.all()))
    events[2]["gap"], events[2]["margin"] = float("inf"), -0.0
    events[3]["safety"] = packed([-0.0, 0.25])
    rows = [[event[name] for name in COLUMNS] for event in chained(origin_of(row, arms.digest), events)]
    with (tmp_path / "edges.study").open("wb") as file:
        write_archive(file, row, arms, rows)
    again = sf.import_study(tmp_path / "edges.study", f"sqlite:///{tmp_path / 'edges.db'}")
    assert again.head == rows[-1][-1].hex()
    assert again.history["gap"].tolist()[1] == float("inf")


def test_a_file_of_the_first_format_is_chained_when_it_comes(tmp_path: Path) -> None:
    path = Path(__file__).parent / "stored" / "given-up.zip"
    with pytest.warns(OtherVersionWarning):
        study = sf.import_study(path, f"sqlite:///{tmp_path / 'old.db'}", "old")
    events = len(zipfile.ZipFile(path).read("events.jsonl").splitlines())
    assert study.audit().unchained == study.status().events == events
    study.export(tmp_path / "new.study")
    with pytest.warns(OtherVersionWarning):
        again = sf.import_study(tmp_path / "new.study", "memory", "again")
    assert again.head == study.head
    assert again.audit().unchained == events


def test_an_export_verifies_what_it_reads(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path / 'edited.db'}"
    study = driven(begun(storage), 3)
    with closing(sqlite3.connect(tmp_path / "edited.db")) as connection, connection:
        connection.execute("UPDATE surefoot_events SET reward = reward + 0.3 WHERE sequence = 4")
    with pytest.raises(StorageDamaged, match="event 4"):
        study.export(tmp_path / "never.study")
    assert not list(tmp_path.glob("*never*"))


def test_an_export_is_written_while_it_is_read(tmp_path: Path) -> None:
    """Ten times the events take the same memory."""
    _, row, arms = driven(begun("memory", "long"), 1)._handle.store.find("long")

    def peak(count: int) -> int:
        empty = dict.fromkeys(COLUMNS)
        plain = (
            {**empty, "sequence": n, "kind": "freeze", "at": n, "writer": n, "reason": "r"} for n in range(1, count)
        )
        rows = (list(event.values()) for event in chained(origin_of(row, arms.digest), plain))
        tracemalloc.start()
        with (tmp_path / f"{count}").open("wb") as file:
            write_archive(file, row, arms, rows)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    assert peak(20_000) < 1.5 * peak(4_000)


def test_an_export_that_cannot_be_written_leaves_the_old_file(tmp_path: Path) -> None:
    study = driven(begun("memory", "kept"), 2)
    (tmp_path / "folder.study").mkdir()
    for path in (tmp_path / "no" / "folder.study", tmp_path / "folder.study", 7):
        with pytest.raises(InvalidInput, match="path"):
            study.export(path)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="does not exist"):
        sf.import_study(tmp_path / "nothing", "memory")
    assert list(tmp_path.iterdir()) == [tmp_path / "folder.study"]


@pytest.mark.parametrize("name", ["power.csv", "power", "power.study.bak", "power.json", "power.db"])
def test_the_ending_of_an_export_is_its_format(tmp_path: Path, name: str) -> None:
    study = begun("memory", f"ending {name}")
    with pytest.raises(InvalidInput, match="no known format") as refused:
        study.export(tmp_path / name)
    assert "ends in .study or .zip" in refused.value.remedy
    assert list(tmp_path.iterdir()) == []


def test_an_export_replaces_a_file_only_where_that_is_allowed(tmp_path: Path) -> None:
    study, path = driven(begun("memory", "twice"), 2), tmp_path / "twice.study"
    study.export(path)
    before = path.read_bytes()
    driven(study, 1)
    with pytest.raises(InvalidInput, match="exists already"):
        study.export(path)
    assert path.read_bytes() == before
    study.export(path, overwrite=True)
    assert path.read_bytes() != before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
@pytest.mark.filterwarnings("ignore::surefoot.errors.NeverStopsWarning")
def test_every_policy_is_stored_and_audited(policy: Any, tmp_path: Path) -> None:
    study = begun(f"sqlite:///{tmp_path / 'policies.db'}", "any", policy)
    for _ in range(6):
        pulls = study.ask(3)
        for pull in reversed(pulls):
            study.tell(pull, **measured(pull))
    again = sf.load_study("any", study.storage)
    assert again.policy == study.policy
    assert again.audit().clean
    assert again.ask() == study.open_pulls[0]


# -- warm starts ------------------------------------------------------------------------------------------------------


def test_a_warm_start_takes_over_every_result_and_says_so(storage: str) -> None:
    other = eventful(storage, "pilot")
    study = begun(storage, warm_start=other)
    assert study.pulls == study.status().imported == len(other.results())
    assert study.status().asked == 0
    session = sf.Session(arena()[1], seed=4)
    for result in other.results():
        session.ledger.learner.take(result.arm, result.level, [result.reward, *result.readings])
    assert study.ask().arm == session.ask().arm
    assert study.status().levels == session.status().levels
    assert "study 'pilot', pull 1" in study.history["reason"].tolist()
    assert sf.load_study("power", storage).audit().clean


def test_arms_are_found_by_their_features_and_limits_by_their_names() -> None:
    _, problem = arena()
    other = driven(begun("memory", "old order"), 8)
    turned = problem.with_(
        arms=problem.arms[::-1], names=["d", "c", "b", "a"], safe_level=0.2, safety=problem.safety[::-1]
    )
    study = sf.create_study(turned, name="new order", storage="memory", warm_start=other)
    assert study.history["arm"].tolist() == [3 - result.arm for result in other.results()]
    assert study.history["safety_safety1"].tolist() == [result.readings[0] for result in other.results()]


def test_a_warm_start_that_does_not_fit_is_refused_and_makes_no_study() -> None:
    _, problem = arena()
    other = driven(begun("memory", "unfit"), 8)
    first = problem.safety[0]
    elsewhere = sf.Limit(first.name, at_least=9.0, baseline=10.0, noise=0.1, norm=1.0)
    unknown = sf.Limit("heat", at_least=-1.0, noise=0.1, norm=1.0)
    for words, changed in {
        "not among the arms": problem.with_(arms=problem.arms[1:] * 0.5, safe_level=0.2),
        "features": problem.with_(arms=[[1.0], [2.0]], safe_level=0.2),
        "baseline": problem.with_(safety=[elsewhere, problem.safety[1]]),
        "no readings of 'heat'": problem.with_(safety=[first, unknown]),
    }.items():
        with pytest.raises(InvalidInput, match=words):
            sf.create_study(changed, name="misfit", storage="memory", warm_start=other)
    assert "misfit" not in [row["name"] for row in sf.list_studies("memory")]
