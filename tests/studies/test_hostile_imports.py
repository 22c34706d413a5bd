"""Files that come from elsewhere: whoever made them may have meant harm. They are refused by name, nothing of them is
kept, and they take little memory."""

import json
import subprocess
import sys
import warnings
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import hostile_files as hostile
import pytest
from small_studies import begun, driven, measured

import surefoot as sf
from surefoot.errors import InvalidInput, SurefootError

STORED = Path(__file__).parent / "stored"


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The export of a study in which everything has happened."""
    study, path = begun("memory", "everything"), tmp_path_factory.mktemp("exports") / "everything.study"
    rows = [
        {"arm": 1, "level": 0.1, "reward": 0.2, "safety_safety1": 0.0, "safety_safety2": 0.1, "when": n}
        for n in (1, 2, 4)
    ]
    study.add(rows, order="as measured", time="when", source="pilot", not_because_of_result=True)
    driven(study, 6)
    pulls = study.ask(5, worker="nörth", key="five")
    study.tell(pulls[3], **measured(pulls[3]))
    study.cancel(pulls[0], "closed", not_because_of_result=True)
    study.fail(pulls[1], "broken", not_because_of_result=True)
    study.correct(4, reward=0.25, reason="typed wrong", by="Ada")
    study.void(5, reason="not connected", by="Ada")
    study.freeze("smoke", "Ada")
    study.release("mended", "Grace")
    with pytest.raises(SurefootError):
        study.tell(pulls[0], **measured(pulls[0]))
    study.export(path)
    sf.delete_study("everything", "memory")
    return path


def attacked(members: dict[str, bytes], folder: Path, seeds: range) -> Counter[str]:
    """What became of mutated exports; anything but a study that can be read, or a refusal by name, is an error."""
    found: Counter[str] = Counter()
    path = folder / "hostile.study"
    for seed in seeds:
        path.write_bytes(hostile.Attacker(members, seed).file())
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                study = sf.import_study(path, "memory", "hostile")
        except SurefootError as error:
            found[type(error).__name__ if len(str(error)) < 2_000 else "endless"] += 1
        except Exception as error:
            raise AssertionError(f"seed {seed} broke the import") from error
        else:
            found["taken"] += 1
            try:
                read(study)
            except Exception as error:
                raise AssertionError(f"seed {seed} broke a study that was imported") from error
            sf.delete_study("hostile", "memory")
        assert "hostile" not in [row["name"] for row in sf.list_studies("memory")], seed
    return found


def read(study: sf.Study) -> None:
    """Everything that one who looks at a study is shown."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        study.status()
        assert len(study.history) == study.status().asked + study.status().imported
        assert not study.audit().broken
        study.statement  # noqa: B018
        study.results()


def test_mutated_exports_are_refused_by_name_or_are_studies(exported: Path, tmp_path: Path) -> None:
    found = attacked(hostile.members_of(exported), tmp_path, range(250))
    found += attacked(hostile.members_of(STORED / "eventful.zip"), tmp_path, range(1_000_000, 1_000_080))
    assert found["InvalidInput"] > 200
    assert found["taken"] > 5  # some changes are none: the tests reach what lies behind the checks


@pytest.mark.certify
def test_ten_thousand_mutated_exports(exported: Path, tmp_path: Path) -> None:
    found: Counter[str] = Counter()
    for number, path in enumerate([exported, *sorted(STORED.glob("*.zip"))]):
        start, count = 10_000_000 * (number + 1), 7_200 if path == exported else 400
        found += attacked(hostile.members_of(path), tmp_path, range(start, start + count))
    print(dict(found))
    assert not found["endless"]
    assert sum(found.values()) == 10_000


def test_the_unchanged_export_fits_itself(exported: Path, tmp_path: Path) -> None:
    """Else the attacks above would all end at the checksums."""
    members = hostile.members_of(exported)
    assert json.loads(hostile.fitted(members)["manifest.json"]) == json.loads(members["manifest.json"])


def changed(exported: Path, target: Path, kind: str, **values: Any) -> Path:
    """A file in which the first event of this kind, or the study, holds other values, with all checksums to fit."""
    members = hostile.members_of(exported)
    if kind == "study":
        table = json.loads(members[hostile.STUDY]) | values
        members[hostile.STUDY] = json.dumps(table).encode()
    else:
        lines = members[hostile.EVENTS].splitlines()
        place = next(i for i, line in enumerate(lines) if json.loads(line)["kind"] == kind)
        lines[place] = hostile.written(json.loads(lines[place]) | values).encode()
        members[hostile.EVENTS] = b"".join(line + b"\n" for line in lines)
    target.write_bytes(hostile.archive(list(hostile.fitted(members).items())))
    return target


@pytest.mark.parametrize(
    ("kind", "values", "words"),
    [
        ("study", {"name": "a\x1b[2Jb"}, "control characters"),
        ("study", {"name": "n" * 201}, "characters"),
        ("study", {"created_by": "v" * 41}, "created_by"),
        ("study", {"created_by": "1\x00"}, "created_by"),
        ("study", {"created_at": 10**30}, "created_at"),
        ("study", {"created_at": True}, "created_at"),
        ("study", {"seed": 2**63}, "seed"),
        ("study", {"unchained": 10**6}, "unchained"),
        ("study", {"extra": 1}, "extra"),
        ("study", {"arms": {"count": 10**6, "dimension": 10**6}}, "arms"),
        ("study", {"problem": "[" * 100_000}, "recursion"),
        ("ask", {"worker": "w\x1b]0;owned\x07"}, "control characters"),
        ("ask", {"phase": "p" * 17}, "phase"),
        ("ask", {"level": True}, "level"),
        ("ask", {"level": 1.5}, "level"),
        ("ask", {"level": -0.0}, "level = -0.0"),
        ("ask", {"leader": 99}, "arm"),
        ("ask", {"at": -1}, "at"),
        ("tell", {"reward": float("nan")}, "reward = nan"),
        ("tell", {"reward": 1e200}, "reward"),
        ("tell", {"safety": [0.1]}, "told"),
        ("tell", {"step": 0}, "closes pull"),
        ("freeze", {"reason": "a\x00b"}, "reason"),
        ("freeze", {"number": 10**9}, "before it was opened"),
        ("late", {"number": 10**9}, "before it was opened"),
        ("table", {"reason": '{"rows": 1000000000000, "order": "as measured"}'}, "breaks off"),
        ("key", {"reason": "[]"}, "says nothing"),
    ],
)  # fmt: skip
def test_every_field_is_looked_at_before_anything_is_written(
    exported: Path, tmp_path: Path, kind: str, values: dict[str, Any], words: str
) -> None:
    path = changed(exported, tmp_path / "odd.study", kind, **values)
    with pytest.raises(InvalidInput, match=words) as refused:
        sf.import_study(path, f"sqlite:///{tmp_path / 'never.db'}")
    assert refused.value.field == "path"
    assert not (tmp_path / "never.db").exists()


def test_a_file_with_another_chain_is_refused(exported: Path, tmp_path: Path) -> None:
    """Checksums are for accidents: who edits an event and mends them does not get past a head that is kept."""
    members = hostile.members_of(exported)
    honest = json.loads(members[hostile.MANIFEST])["head"]
    edited = members | {hostile.EVENTS: members[hostile.EVENTS].replace(b'"typed wrong"', b'"typed right"')}
    manifest = json.loads(hostile.fitted(edited)[hostile.MANIFEST]) | {"head": honest}
    (tmp_path / "edited.study").write_bytes(
        hostile.archive(list((edited | {hostile.MANIFEST: json.dumps(manifest).encode()}).items()))
    )
    with pytest.raises(InvalidInput, match="hash chain"):
        sf.import_study(tmp_path / "edited.study", "memory", "never")


# -- memory ---------------------------------------------------------------------------------------------------------

PROGRAM = """
import resource, sys
import surefoot as sf
from surefoot.studies.lifecycle import import_study
from surefoot.errors import SurefootError
import surefoot.live.session
def peak():
    if not sys.platform.startswith("linux"):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    # Linux counts there what the process held which has started this one: a large one would hide what is asked for.
    most = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
    return int(most.split()[1]) // 1024
before = peak()
try:
    import_study(sys.argv[1], "memory")
    said = "taken"
except SurefootError as error:
    said = str(error)
print(peak() - before, said)
"""


@pytest.mark.parametrize("bomb", ["arms", "events", "line", "study", "branches", "statement", "zeros"])
def test_a_small_file_takes_little_memory(exported: Path, tmp_path: Path, bomb: str) -> None:
    members, path = hostile.members_of(exported), tmp_path / "bomb.study"
    many, table = 200_000_000, json.loads(hostile.members_of(exported)[hostile.STUDY])
    if bomb == "arms":
        members |= {hostile.ARMS: bytes(many)}
        members[hostile.STUDY] = json.dumps(table | {"arms": {"count": many // 800, "dimension": 100}}).encode()
    elif bomb == "events":
        members[hostile.EVENTS] *= many // len(members[hostile.EVENTS])
    elif bomb == "line":
        members[hostile.EVENTS] = b" " * many + b"\n"
    elif bomb == "study":
        members[hostile.STUDY] = json.dumps(table | {"policy": " " * many}).encode()
    elif bomb == "branches":
        members[hostile.STUDY] = json.dumps(table | {"policy": [[]] * 3_500_000}).encode()
    elif bomb == "zeros":  # as many as may be packed tightly, and a policy that would hold a matrix of them all
        names = [f"a{k}" for k in range(100_000)]
        problem = json.dumps(json.loads(table["problem"]) | {"names": names, "safe_level": 0.2})
        members |= {hostile.ARMS: bytes(8 * 2 * 100_000)}
        members[hostile.STUDY] = json.dumps(
            table | {"arms": {"count": 100_000, "dimension": 2}, "problem": problem}
        ).encode()
    else:
        rows = json.dumps({"rows": 10**12, "order": "as measured"})
        path = changed(exported, path, "table", reason=rows)
    if bomb != "statement":
        held = hostile.fitted(members) if bomb in ("branches", "zeros") else members
        path.write_bytes(hostile.archive(list(held.items())))
    assert path.stat().st_size < 3_000_000
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(path)], capture_output=True, text=True, check=True)
    grown, _, said = done.stdout.partition(" ")
    assert said.startswith(f"path = {str(path)!r}") or "memory" in said, done.stdout
    assert int(grown) < 150, done.stdout


def test_members_are_stored_or_deflated(exported: Path, tmp_path: Path) -> None:
    for packing in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        (tmp_path / "packed").write_bytes(hostile.archive(list(hostile.members_of(exported).items()), packing))
        with pytest.raises(InvalidInput, match="packed in a way"):
            sf.import_study(tmp_path / "packed", "memory", "never")
