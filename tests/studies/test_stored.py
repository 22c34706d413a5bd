"""Studies and files of earlier versions: they open and say what they said then. Those of today's versions go on as they
would have, those of others can be read, exported and carried over.

`stored/version-N.db` holds a study of every kind, `stored/*.zip` exports of some of version 1, and `version-N.json`
what the version that made them said of each. They are never made again; `record_stored.py` made the later ones.
"""

import json
import shutil
import warnings
import zipfile
from pathlib import Path
from typing import Any

import pytest
from record_stored import sayings

import surefoot as sf
from surefoot.cli.choosing import chosen_policy
from surefoot.errors import ModelAlarm, OtherVersion, OtherVersionWarning, RenamedWarning
from surefoot.storage.maintenance import upgrade
from surefoot.studies.integrity import check_storage
from surefoot.worlds.files import posed_in

STORED = Path(__file__).parent / "stored"
SAID: dict[str, Any] = json.loads((STORED / "version-1.json").read_text())
SAID_2: dict[str, Any] = json.loads((STORED / "version-2.json").read_text())
EXPORTS = sorted(path.name for path in STORED.glob("*.zip"))

# What is compared, by the names of then; what has another name now stands in RENAMED.
COUNTED = (
    "name",
    "alarms",
    "events",
    "asked",
    "imported",
    "open",
    "contradictions",
    "alarm_level",
    "frozen",
    "fold",
    "max_pulls",
)
RENAMED = {"alarms": "overshoots", "fold": "intake"}  # keys
ADDED = {"head", "late", "opening"}  # keys that nobody had then
WORDS = {"mixture": "bias-free", "order": "by-number", "arrival": "on-arrival"}  # values


@pytest.fixture
def stored(tmp_path: Path) -> str:
    """The address of a copy of the database."""
    return upgraded(STORED / "version-1.db", tmp_path)


def upgraded(database: Path, folder: Path) -> str:
    """The address of a copy with the tables of today."""
    shutil.copy(database, folder / "studies.db")
    storage = f"sqlite:///{folder / 'studies.db'}"
    assert upgrade(storage).changed
    return storage


def differences(where: str, was: Any, now: Any) -> list[str]:
    """Where what is said now is not what was said then, but for the last digits of numbers."""
    if isinstance(was, dict) and isinstance(now, dict):
        if was.keys() != now.keys() - ADDED:
            return [f"{where}: has the keys {sorted(now)} and had {sorted(was)}"]
        return [line for key in was for line in differences(f"{where}.{key}", was[key], now[key])]
    if isinstance(was, list) and isinstance(now, list | tuple) and len(was) == len(now):
        both = enumerate(zip(was, now, strict=True))
        return [line for i, (old, new) in both for line in differences(f"{where}[{i}]", old, new)]
    if ".assumptions[" in where and isinstance(now, str):
        now = now[: len(was)]  # a sentence may say more than it did, never something else
    same = now == pytest.approx(was, rel=1e-9, abs=1e-12) if isinstance(was, float) else now == was
    return [] if same else [f"{where}: is {now!r} and was {was!r}"]


def picked(where: str, keys: tuple[str, ...], was: Any, now: Any) -> list[str]:
    """The differences in these keys of a table; None is only like None."""
    if was is None or now is None:
        return differences(where, was, now)
    then = {key: WORDS.get(was[key], was[key]) if isinstance(was[key], str) else was[key] for key in keys}
    return [line for key in keys for line in differences(f"{where}.{key}", then[key], now[RENAMED.get(key, key)])]


def hold(found: list[str]) -> None:
    """Fails with every difference on a line of its own."""
    assert not found, "\n" + "\n".join(found)


# -- version 1: other rules decided in it ------------------------------------------------------------------------------


def archived(name: str, storage: str) -> sf.Study:
    """A study of version 1, which warns that it only can be read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RenamedWarning)
        with pytest.warns(OtherVersionWarning, match="alarm is of version 1"):
            return sf.load_study(name, storage)


def counted_otherwise(study: sf.Study, said: dict[str, Any]) -> list[str]:
    """What follows from the events of a study whoever reads them, where it is another than it was."""
    policy = sf.policies.to_dict(study.policy)
    return [
        *differences("frozen", said["frozen"], study.frozen),
        *differences("fingerprint", said["fingerprint"], study.problem.fingerprint),
        *picked("policy", tuple(said["policy"]), said["policy"], policy),
        *picked("status", COUNTED, said["status"], study.status().to_dict()),
        *differences("open pulls", [each["number"] for each in said["open_pulls"]],
                     [each.number for each in study.open_pulls]),
    ]  # fmt: skip


def test_the_storage_is_sound_and_holds_every_study(stored: str) -> None:
    assert [row["name"] for row in sf.list_studies(stored)] == sorted(SAID)
    with pytest.warns(RenamedWarning), pytest.warns(OtherVersionWarning):
        assert check_storage(stored).faults == ()


@pytest.mark.parametrize("name", SAID)
def test_a_study_of_version_1_is_read_and_not_gone_on_with(name: str, stored: str) -> None:
    study = archived(name, stored)
    assert study.audit().clean
    hold(counted_otherwise(study, SAID[name]))
    with pytest.raises(OtherVersion):
        study.ask()


@pytest.mark.parametrize("name", ["given up", "safe-lingape", "certified", "warm start"])
def test_the_data_of_version_1_are_carried_into_a_study_of_today(name: str, stored: str) -> None:
    old = archived(name, stored)
    study = sf.create_study(old.problem, old.policy, name="carried over", storage=stored, warm_start=old)
    assert study.status().imported == len(old.results())
    assert study.audit().clean


@pytest.mark.parametrize("file", EXPORTS)
def test_an_export_comes_in_and_goes_out_as_it_was(file: str, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RenamedWarning)
        with pytest.warns(OtherVersionWarning):
            study = sf.import_study(STORED / file, f"sqlite:///{tmp_path / 'studies.db'}")
    hold(counted_otherwise(study, SAID[study.name]))
    study.export(tmp_path / file)
    before, after = members(STORED / file), members(tmp_path / file)
    assert after["arms.f8"] == before["arms.f8"]
    events = [json.loads(line) for line in before["events.jsonl"].splitlines()]
    assert [json.loads(line) for line in after["events.jsonl"].splitlines()] == events
    settings = json.loads(before["study.json"]) | {"unchained": len(events)}
    assert json.loads(after["study.json"]) == settings


def members(path: Path) -> dict[str, bytes]:
    """What is in an archive."""
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


def test_a_problem_file_with_a_policy_in_the_words_of_then_is_read() -> None:
    with pytest.warns(RenamedWarning, match="'mixture' is called 'bias-free' now"):
        policy = chosen_policy(posed_in(STORED / "pumps.toml").policy, None, {})
    assert policy == sf.SafeLinGapE(
        levels="dynamic-max", selection="optimistic", pull="rounding", reward_radius="bias-free",
        safety_radius="own-pulls", null_pull=True, explore=sf.UniformRandom(20, level=0.125),
    )  # fmt: skip


# -- version 2 -----------------------------------------------------------------------------------------------------


@pytest.fixture
def of_today(tmp_path: Path) -> str:
    """The address of a copy of the database of version 2."""
    return upgraded(STORED / "version-2.db", tmp_path)


def opened(name: str, storage: str) -> sf.Study:
    """The study, opened without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return sf.load_study(name, storage)


def test_the_storage_of_version_2_is_sound(of_today: str) -> None:
    assert [row["name"] for row in sf.list_studies(of_today)] == sorted(SAID_2)
    assert check_storage(of_today).faults == ()


@pytest.mark.parametrize("name", SAID_2)
def test_a_study_of_version_2_says_what_it_said_and_goes_on_as_it_would_have(name: str, of_today: str) -> None:
    study, said = opened(name, of_today), dict(SAID_2[name])
    after = said.pop("next")
    assert study.audit().clean
    hold(differences(name, said, plain(sayings(study))))
    if after is None:
        return  # it is at its end, frozen, or waits for a person
    pull = study.ask()
    hold(differences("pull", after["asked"], pull.to_dict()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelAlarm)  # one more may ring after a release
        study.tell(pull, **after["told"])
    hold(differences("status", after["status"], plain(study.status().to_dict())))
    assert opened(name, of_today).audit().clean


def plain(table: Any) -> Any:
    """The table as it comes out of a file."""
    return json.loads(json.dumps(table, default=str))
