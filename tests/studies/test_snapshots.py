"""Snapshots: who begins with one knows what all events say, and nothing is ever proven by one."""

import os
import shutil
import sqlite3
import stat
import threading
import warnings
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_studies import begun, driven, measured

import surefoot as sf
from scenes import arena
from surefoot.core.types import CERTIFIED
from surefoot.errors import AuditWarning, Frozen, StorageDamaged, SurefootError
from surefoot.live.snapshots import NotPlain, pack, unpack
from surefoot.studies import entries, snapshots
from surefoot.studies.entries import StudyLedger

BUILT = {  # by the settings alone, or room to work in
    "problem", "policy", "guarantee", "_faced", "_replay", "_lock", "work", "_one", "_expect", "_low", "_high",
    "_noise", "_expected_before", "_read", "_watch", "_names", "where", "results", "_memory", "state",
}  # fmt: skip
HAPPENS = {
    "ask", "tell", "add", "table", "cancel", "abort", "freeze", "release", "hold", "hold-all", "confirm", "correct",
    "void", "late", "end",
}  # fmt: skip
SAFE = {f"safety_{limit.name}": -0.05 for limit in arena()[1].safety}
WHO = {"reason": "it was misread", "by": "Ada"}


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where snapshots lie; one is written after every step."""
    monkeypatch.setattr(snapshots, "cache_root", lambda: tmp_path / "cache")
    monkeypatch.setattr(snapshots, "EVENTS", 1)
    monkeypatch.setattr(snapshots, "SHARE", float("inf"))
    return tmp_path / "cache" / "snapshots"


@pytest.fixture
def place(tmp_path: Path) -> str:
    """A storage in a file."""
    return f"sqlite:///{tmp_path / 'studies.db'}"


def ending(place: str, name: str = "power") -> sf.Study:
    """A study that is soon certain."""
    return sf.create_study(arena()[1].with_(epsilon=0.3), name=name, storage=place, seed=4)


def ledger_of(study: sf.Study) -> StudyLedger:
    return study._handle.view(lambda ledger: ledger)


def opened_whole(study: sf.Study) -> StudyLedger:
    """The ledger of one who replays everything."""
    handle = sf.load_study(study.name, study._handle.store)._handle
    handle._ledger, handle._all = None, True
    return handle.view(lambda ledger: ledger)


def facts(value: Any) -> Any:
    """All that an object holds, down to the last attribute, in a form that can be compared."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, dict):
        return type(value).__name__, [(facts(key), facts(each)) for key, each in value.items()]
    if isinstance(value, list | tuple):
        return type(value).__name__, [facts(each) for each in value]
    if isinstance(value, set):
        return sorted(map(repr, value))
    if hasattr(value, "__dict__"):
        found = {name: facts(each) for name, each in vars(value).items() if name not in BUILT}
        if hasattr(value, "state"):
            found["state"] = facts(value.state.whole)
        if hasattr(value, "_memory"):
            found["memory"] = facts(value._memory.whole)
        return type(value).__name__, found
    return repr(value)


def assert_same(restored: StudyLedger, whole: StudyLedger) -> None:
    """The two know the same, and decide the same."""
    assert not restored.is_whole
    assert whole.is_whole
    (_, one), (_, other) = facts(restored), facts(whole)
    assert one.keys() == other.keys()
    for name in one:
        assert one[name] == other[name], name
    assert repr(restored.status()) == repr(whole.status())
    ahead = [ledger.learner.choose(ledger.anticipated, 4) for ledger in (restored, whole)]
    assert repr(ahead[0]) == repr(ahead[1])
    assert restored.rows_in_doubt() == whole.rows_in_doubt()


# -- what a snapshot holds --------------------------------------------------------------------------------------------


def given_up(study: sf.Study) -> list[int]:
    return study._read(lambda stored: [event["number"] for event in stored.all() if event["kind"] == "cancel"])


def kinds_in(study: sf.Study) -> set[str]:
    return study._read(lambda stored: {event["kind"] for event in stored.all()})


def anything(study: sf.Study, rng: np.random.Generator) -> None:
    """One step, whichever comes."""
    what = str(rng.choice([
        "ask", "ask", "ask", "tell", "tell", "tell", "tell", "typo", "confirm", "correct", "void", "cancel", "abort",
        "add", "table", "late", "freeze", "high",
    ]))  # fmt: skip
    waiting, told = list(study.open_pulls), study.results()
    if what == "ask":
        study.ask(int(rng.integers(1, 4)), worker=str(rng.integers(3)))
    elif what == "correct" and told:
        row = told[int(rng.integers(len(told)))]
        study.correct(row.number, reward=row.reward + float(rng.normal()) / 50, **WHO)
    elif what == "void" and told:
        study.void(told[int(rng.integers(len(told)))].number, **WHO)
    elif what == "add":
        study.add(1, 0.2, 0.1, [-0.05, -0.05], not_because_of_result=True, source="a notebook")
    elif what == "table":
        rows = [{"arm": 1, "level": 0.2, "reward": float(rng.normal()) / 50, **SAFE} for _ in range(3)]
        study.add(rows, order="as measured", not_because_of_result=True)
    elif what == "freeze":
        study.freeze("a look at the pump", by="Ada")
    elif what == "late" and (closed := given_up(study)):
        study.tell(closed[-1], reward=0.1, safety=[-0.05, -0.05])
    elif waiting:
        pull = waiting[int(rng.integers(len(waiting)))]
        result: Any = dict(measured(pull))
        if what in ("typo", "confirm"):
            result["safety"] = [-30.0, 0.0] if rng.random() < 0.5 else [2.0, 0.0]
        if what == "high":
            result["level"] = min(1.0, pull.level + 0.01)
        if what == "cancel":
            study.cancel(pull, "closed", not_because_of_result=True)
        elif what == "abort":
            study.abort(pull, "it smelt", by="Ada")
        else:
            study.tell(pull, **result, confirm=what == "confirm")


def carried_on(study: sf.Study, rng: np.random.Generator, steps: int) -> sf.Study:
    """The study after so many steps; every few of them it is opened anew, from its snapshot, and compared."""
    for step in range(steps):
        try:
            anything(study, rng)
        except Frozen:
            study.release("it was a typo", by="Ada")
        except SurefootError:  # ended, held, implausible
            pass
        if step % 10 == 9 and ledger_of(study).sequence:
            study = sf.load_study(study.name, "memory")
            assert_same(ledger_of(study), opened_whole(study))
    return study


@pytest.mark.parametrize("intake", ["by-number", "on-arrival"])
def test_whoever_begins_with_a_snapshot_knows_what_all_events_say(intake: Any) -> None:
    happened = set()
    for seed in range(4):
        study = begun("memory", f"any {seed} {intake}", intake=intake, max_pulls=60)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            study = carried_on(study, np.random.default_rng(seed), 120)
        assert study.audit().clean
        happened |= kinds_in(study)
        sf.delete_study(study.name, "memory")
    assert sorted(HAPPENS - happened) == []


@pytest.mark.parametrize("seed", range(3))
def test_wherever_a_page_ends_all_is_learned_alike(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    study, rng = begun("memory", f"pages {seed}", max_pulls=60), np.random.default_rng(10 + seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        study = carried_on(study, rng, 100)
        at_once = facts(opened_whole(study))
        for page in (1, 2, 5, 13):
            monkeypatch.setattr(entries, "PAGE", page)
            assert facts(opened_whole(study)) == at_once
    sf.delete_study(study.name, "memory")


POLICIES = [sf.SafeGap(), sf.SafeLinGapE(), sf.LinGapE(), sf.Uniform()]


@pytest.mark.parametrize("policy", POLICIES, ids=lambda each: each.name)
def test_every_policy_goes_on_as_if_it_had_never_stopped(policy: Any) -> None:
    study = driven(begun("memory", "long", policy), 25)
    apart = driven(begun("memory", "short", policy), 15)
    for _ in range(10):
        apart = sf.load_study("short", "memory")
        assert not ledger_of(apart).is_whole
        driven(apart, 1)
    assert_same_learned(study, apart)
    assert study.ask(3) == apart.ask(3)
    sf.delete_study("long", "memory")
    sf.delete_study("short", "memory")


def test_alarms_and_their_releases_are_in_a_snapshot() -> None:
    study = begun("memory", "alarmed", alarm_level=0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for pull in (study.ask() for _ in range(40) if not study.frozen):
            wild = 40.0 if pull.number % 2 else -40.0
            study.tell(pull, reward=wild, safety=[-0.05, -0.05], confirm=True)
    assert study.status().alarms
    study = sf.load_study("alarmed", "memory")
    assert_same(ledger_of(study), opened_whole(study))
    study.release("the sensor was changed", by="Ada")
    study = sf.load_study("alarmed", "memory")
    assert ledger_of(study).releases
    assert_same(ledger_of(study), opened_whole(study))
    sf.delete_study("alarmed", "memory")


def test_an_end_and_its_certificate_are_the_same_however_often_it_was_opened(place: str) -> None:
    together, apart = ending(place, "together"), ending(place, "apart")
    driven(together, 2_000)
    for _ in range(100):
        if apart.outcome is None:
            apart = driven(sf.load_study("apart", place), 20)
    assert apart.outcome == "certified"
    one, other = together.certificate, apart.certificate
    assert one is not None
    assert other is not None
    assert one.to_dict() | {"head": "", "events": 0} == other.to_dict() | {"head": "", "events": 0}
    assert kinds_in(apart) == kinds_in(together) == {"ask", "tell", "end"}
    again = sf.load_study("apart", place)
    assert not ledger_of(again).is_whole
    assert again.recommendation == together.recommendation
    assert ledger_of(again).is_whole  # what is said about an answer rests on every event


def test_an_attribute_that_cannot_be_written_down_is_noticed() -> None:
    ledger = ledger_of(begun("memory", "attributes"))
    found = pack(ledger, ledger.in_doubt)
    ledger.opinion = object()  # type: ignore[attr-defined]
    with pytest.raises(NotPlain):
        pack(ledger, ledger.in_doubt)
    with pytest.raises(NotPlain):
        unpack(ledger, found)  # one that has an attribute more
    del ledger.opinion  # type: ignore[attr-defined]
    del found.plain["kept"]["late"]
    with pytest.raises(NotPlain):
        unpack(ledger, found)
    sf.delete_study("attributes", "memory")


# -- what needs the whole history ---------------------------------------------------------------------------------


STEPS: dict[str, Callable[[sf.Study], object]] = {
    "correct": lambda study: study.correct(3, reward=0.11, **WHO).number,
    "void": lambda study: study.void(3, **WHO).number,
    "table": lambda study: study.add(
        [{"arm": 1, "level": 0.2, "reward": 0.0, **SAFE}] * 2, order="as measured",
        not_because_of_result=True,
    ),
    "add": lambda study: study.add(1, 0.2, 0.1, [-0.05, -0.05], not_because_of_result=True),
    "tell again": lambda study: study.tell(3, reward=7.0, safety=[0.0, 0.0]),
}  # fmt: skip


@pytest.mark.parametrize("what", STEPS)
def test_a_step_about_old_results_reads_them_all(what: str, place: str) -> None:
    """It comes out as for one who never needed a snapshot."""
    driven(begun(place, "one"), 20)
    other = driven(begun(place, "other"), 20)
    one = sf.load_study("one", place)
    assert not ledger_of(one).is_whole
    answers = []
    for study in (one, other):
        try:
            answers.append(repr(STEPS[what](study)))
        except SurefootError as error:
            answers.append(str(error))
    assert answers[0] == answers[1]
    assert ledger_of(one).is_whole == (what != "add")
    (_, here), (_, there) = facts(ledger_of(one)), facts(ledger_of(other))
    for fact in set(here) - {"head", "revisions"}:
        assert here[fact] == there[fact], fact
    assert one.ask() == other.ask()


def test_the_same_result_once_more_needs_no_history(place: str) -> None:
    study = driven(begun(place), 20)
    row = study.results()[2]
    again = sf.load_study("power", place)
    again.tell(row.number, reward=row.reward, safety=row.readings, level=row.level)
    assert not ledger_of(again).is_whole


def test_a_correction_by_somebody_else_is_followed(place: str) -> None:
    study = driven(begun(place), 20)
    here, there = sf.load_study("power", place), sf.load_study("power", place)
    assert not ledger_of(here).is_whole
    there.correct(3, reward=0.11, **WHO)
    assert here.status().corrections == there.status().corrections
    assert facts(ledger_of(here))[1]["learner"] == facts(ledger_of(there))[1]["learner"]
    assert study.ask() == here.open_pulls[0]


# -- never evidence -----------------------------------------------------------------------------------------------


def forge(study: sf.Study, change: Callable[[StudyLedger], object]) -> None:
    """Puts a snapshot in place that is whole in every way and tells another story."""
    ledger = opened_whole(study)
    change(ledger)
    written = study._handle._snapshots._packed(ledger)
    assert written is not None
    snapshots.write(study._handle._snapshots._path(), written)


def raise_levels(ledger: StudyLedger) -> None:
    learner = ledger.learner
    learner.state.levels.low[:] = 1.0
    learner.decision = learner.decision._replace(level=1.0)


def end_it(ledger: StudyLedger) -> None:
    raise_levels(ledger)
    learner = ledger.learner
    learner.decision = learner.decision._replace(status=CERTIFIED, leader=1, leader_level=1.0, gap=0.0)


def test_a_forged_end_is_certified_by_nobody(place: str, folder: Path) -> None:
    study = driven(begun(place), 30)
    for see in ("certificate", "recommendation", "statement"):
        forge(study, end_it)
        fooled = sf.load_study("power", place)
        assert fooled.outcome == "certified"  # so it looks; but whoever is to prove it reads everything
        with pytest.warns(AuditWarning, match="snapshot"):
            said = getattr(fooled, see)
        assert said is None or said.startswith("Nothing is certified yet")
        assert fooled.outcome is None
        assert fooled.ask() == study.open_pulls[-1]
        study.cancel(study.open_pulls[-1], "not applied", not_because_of_result=True)
    assert study.audit().clean


def test_pulls_by_a_forged_snapshot_are_found_and_end_nothing(place: str) -> None:
    study = driven(begun(place), 30)
    forge(study, raise_levels)
    fooled = sf.load_study("power", place)
    pull = fooled.ask()
    assert pull.level == 1.0
    with pytest.warns(AuditWarning, match="snapshot"):
        found = fooled.audit().mismatches
    assert [each.number for each in found] == [pull.number]
    with pytest.warns(AuditWarning, match="not the ones recomputed"):
        study = sf.load_study("power", study._handle.store)
    assert study.audit().mismatches == found


def test_an_end_is_stored_only_once_everything_was_replayed(place: str) -> None:
    study = driven(begun(place), 30)
    pull = study.ask()
    forge(study, end_it)
    fooled = sf.load_study("power", place)
    with pytest.warns(AuditWarning, match="snapshot"):
        fooled.tell(pull, **measured(pull))
    assert "end" not in kinds_in(fooled)
    assert fooled.outcome is None
    assert len(fooled.results()) == 31  # told once, although it was done twice
    assert_same_learned(fooled, study)


def assert_same_learned(one: sf.Study, other: sf.Study) -> None:
    assert facts(ledger_of(one))[1]["learner"] == facts(ledger_of(other))[1]["learner"]


def test_an_edit_before_the_snapshot_is_found_by_whoever_proves_something(place: str, tmp_path: Path) -> None:
    study = driven(ending(place), 2_000)
    assert study.certificate is not None
    file = sqlite3.connect(tmp_path / "studies.db")
    with file:
        file.execute("UPDATE surefoot_events SET reward = reward + 0.1 WHERE sequence = 8")
    file.close()
    edited = sf.load_study("power", place)
    assert not edited.audit().clean
    for see in ("certificate", "recommendation", "statement"):
        with pytest.raises(StorageDamaged):
            getattr(edited, see)


# -- files ----------------------------------------------------------------------------------------------------------


def only_file(folder: Path) -> Path:
    (found,) = folder.iterdir()
    return found


def test_a_snapshot_is_for_its_user_alone(place: str, folder: Path) -> None:
    driven(begun(place), 3)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(only_file(folder).stat().st_mode) == 0o600


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-3])


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)


def link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def lie(path: Path) -> None:
    header, blocks = snapshots.read(path) or ({}, [])
    path.write_bytes(snapshots.written({**header, "ledger": {"kept": {}}}, blocks))


def nest(path: Path) -> None:
    text = (b'{"ledger":' + b"[" * 100_000 + b"]" * 100_000 + b"}").replace(b"{", b'{"blocks":[],', 1)
    rest = snapshots.LENGTH.pack(len(text)) + text
    path.write_bytes(snapshots.MAGIC + sha256(rest).digest() + rest)


BAD: dict[str, Callable[[Path], object]] = {
    "cut": cut, "a bit": flip, "empty": lambda path: path.write_bytes(b""), "link": link, "pipe": pipe, "lie": lie,
    "nested": nest, "others may write": lambda path: path.chmod(0o666), "text": lambda path: path.write_text("hello"),
    "folder": lambda path: (path.unlink(), path.mkdir()),
    "other study": lambda path: path.write_bytes(
        snapshots.written({**(snapshots.read(path) or ({}, []))[0], "origin": "00"}, [])
    ),
}  # fmt: skip


@pytest.mark.parametrize("how", BAD)
def test_a_bad_file_is_thrown_away_without_a_word(how: str, place: str, folder: Path) -> None:
    study = driven(begun(place), 5)
    path = only_file(folder)
    BAD[how](path)
    again = sf.load_study("power", place)
    handle = again._handle
    handle._snapshots._kept_at = ledger_of(again).sequence  # no new one hides what became of it
    assert ledger_of(again).is_whole
    assert facts(ledger_of(again))[1]["learner"] == facts(ledger_of(study))[1]["learner"]
    assert again.ask().number == 6
    if how not in ("folder", "others may write"):
        assert not ledger_of(sf.load_study("power", place)).is_whole  # a new one was written in its place


def test_any_byte_may_be_wrong(place: str, folder: Path) -> None:
    driven(begun(place), 5)
    path = only_file(folder)
    content = path.read_bytes()
    rng = np.random.default_rng(3)
    for at in [*range(80), *rng.integers(len(content), size=60).tolist()]:
        changed = bytearray(content)
        changed[at] ^= 1 << int(rng.integers(8))
        path.write_bytes(changed)
        with pytest.raises((ValueError, OSError)):
            snapshots.read(path)


def test_a_snapshot_of_another_source_is_thrown_away(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    driven(begun(place), 5)
    assert not ledger_of(sf.load_study("power", place)).is_whole
    monkeypatch.setattr(snapshots, "this_source", lambda: "another version")
    assert ledger_of(sf.load_study("power", place)).is_whole


def test_the_source_is_every_file_that_decides() -> None:
    package = Path(sf.__file__).parent
    assert {path.parent.name for path in package.glob("*/*.py")} - set(snapshots.DECIDES) == {
        "bridges", "calibration", "cli", "comparing", "planning", "plots", "reports", "reproduction", "sweeping",
        "testing", "theory", "worlds",
    }  # fmt: skip


def test_a_snapshot_of_another_course_of_events_is_thrown_away(tmp_path: Path) -> None:
    """A copy of the file that goes on otherwise has the same origin."""
    first, second = tmp_path / "one.db", tmp_path / "two.db"
    driven(begun(f"sqlite:///{first}"), 5)
    shutil.copy(first, second)
    here, there = (sf.load_study("power", f"sqlite:///{path}") for path in (first, second))
    here.cancel(here.ask(), "closed", not_because_of_result=True)
    driven(here, 3)
    driven(there, 2)
    for path, pulls in ((first, 8), (second, 7), (first, 8)):
        study = sf.load_study("power", f"sqlite:///{path}")
        assert study.pulls == pulls
        assert study.audit().clean


def test_where_nothing_can_be_written_nothing_is_said(
    place: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    for cache in (tmp_path / "file", Path("/dev/full"), Path("/proc/surefoot")):
        monkeypatch.setattr(snapshots, "cache_root", lambda cache=cache: cache)
        name = f"in {cache.name}"
        driven(begun(place, name), 3)
        assert ledger_of(sf.load_study(name, place)).is_whole


def test_a_folder_that_others_may_write_to_is_not_used(place: str, folder: Path) -> None:
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    driven(begun(place), 3)
    assert not list(folder.iterdir())


def test_many_may_write_at_once(place: str, folder: Path) -> None:
    study = driven(begun(place), 5)
    path, contents = only_file(folder), []
    for _ in range(3):
        driven(study, 1)
        contents.append(path.read_bytes())

    def write_often(content: bytes) -> None:
        for _ in range(200):
            snapshots.write(path, content)

    threads = [threading.Thread(target=write_often, args=[content]) for content in contents]
    for each in threads:
        each.start()
    while any(each.is_alive() for each in threads):
        assert snapshots.read(path) is not None
    assert [each.name for each in folder.iterdir()] == [path.name]


def test_the_oldest_snapshots_make_room(place: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    driven(begun(place, "first"), 2)
    size = only_file(folder).stat().st_size
    monkeypatch.setattr(snapshots, "ALL", 3.5 * size)
    for i in range(4):
        os.utime(next(iter(folder.iterdir())), (i, i))
        driven(begun(place, f"another {i}"), 2)
    assert len(list(folder.iterdir())) == 3


def test_one_that_is_too_large_is_not_written(place: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "LARGEST", 100)
    driven(begun(place), 3)
    assert not folder.exists()


def test_a_policy_of_the_users_own_has_no_snapshots(place: str, folder: Path) -> None:
    """Its source may change, and nobody would notice."""

    class Mine(sf.SafeGap):
        name = "mine"

    driven(begun(place, policy=Mine()), 3)
    assert not folder.exists()


def test_few_events_are_not_worth_one(place: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "EVENTS", 9)
    study = driven(begun(place), 4)
    assert not folder.exists()
    study.ask()
    assert only_file(folder)
