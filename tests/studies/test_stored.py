"""Studies and files of version 1: they open, say what they said then, and go on as they would have.

`stored/version-1.db` holds a study of every kind and `stored/*.zip` exports of some of them; `version-1.json` holds
what the version that made them said of each. They are never made again.
"""

import json
import shutil
import warnings
import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

import surefoot as sf
from surefoot.cli.choosing import chosen_policy
from surefoot.cli.posed import posed_in
from surefoot.errors import Finished, Frozen, RenamedWarning
from surefoot.studies.integrity import check_storage

STORED = Path(__file__).parent / "stored"
SAID: dict[str, Any] = json.loads((STORED / "version-1.json").read_text())
RUNNING = [name for name, said in SAID.items() if "next" in said]
FROZEN = [name for name, said in SAID.items() if said["frozen"]]
ENDED = [name for name, said in SAID.items() if said["outcome"]]
EXPORTS = sorted(path.name for path in STORED.glob("*.zip"))

# What is compared, by the names of then; what has another name now stands in RENAMED.
STATUS = (
    "name", "pulls", "phase", "outcome", "gap", "epsilon", "leader", "levels", "pulls_per_arm", "alarms", "events",
    "asked", "imported", "states", "open", "held_back", "unused", "contradictions", "alarm_level", "frozen",
    "mismatches", "fold", "max_pulls",
)  # fmt: skip
CERTIFICATE = (
    "arm", "name", "level", "guarantee", "confidence", "epsilon", "delta", "delta_safety", "gap", "pulls",
    "keeps_limits", "alarms", "statement", "assumptions", "data",
)  # fmt: skip
PULL = ("number", "arm", "name", "level", "phase", "margin", "leader", "challenger", "gap")
RECOMMENDATION = ("arm", "name", "level", "estimate")
RENAMED = {"alarms": "overshoots", "fold": "intake"}  # keys
WORDS = {"mixture": "bias-free", "order": "by-number", "arrival": "on-arrival"}  # values


@pytest.fixture
def stored(tmp_path: Path) -> str:
    """The address of a copy of the database."""
    shutil.copy(STORED / "version-1.db", tmp_path / "studies.db")
    return f"sqlite:///{tmp_path / 'studies.db'}"


def opened(name: str, storage: str) -> sf.Study:
    """The study, opened without a warning, but for words that have changed."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", RenamedWarning)
        return sf.load_study(name, storage)


def differences(where: str, was: Any, now: Any) -> list[str]:
    """Where what is said now is not what was said then, but for the last digits of numbers."""
    if isinstance(was, dict) and isinstance(now, dict):
        if was.keys() != now.keys():
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


def told_otherwise(study: sf.Study, said: dict[str, Any]) -> list[str]:
    """Everything that the study says otherwise than it did then."""
    certificate, answer = study.certificate, study.recommendation
    policy = sf.policies.to_dict(study.policy)
    found = [
        *differences("pulls", said["pulls"], study.pulls),
        *differences("outcome", said["outcome"], study.outcome),
        *differences("frozen", said["frozen"], study.frozen),
        *differences("fingerprint", said["fingerprint"], study.problem.fingerprint),
        *picked("policy", tuple(said["policy"]), said["policy"], policy),
        *picked("status", STATUS, said["status"], study.status().to_dict()),
        *picked("certificate", CERTIFICATE, said["certificate"], certificate and certificate.to_dict()),
        *picked("recommendation", RECOMMENDATION, said["recommendation"], answer and asdict(answer)),
        *differences("open pulls", len(said["open_pulls"]), len(study.open_pulls)),
    ]
    for was, pull in zip(said["open_pulls"], study.open_pulls, strict=False):
        found += picked(f"pull {was['number']}", PULL, was, asdict(pull))
    return found


def test_the_storage_is_sound_and_holds_every_study(stored: str) -> None:
    assert [row["name"] for row in sf.list_studies(stored)] == sorted(SAID)
    assert {*RUNNING, *FROZEN, *ENDED} == SAID.keys()
    with pytest.warns(RenamedWarning):
        assert check_storage(stored).faults == ()


@pytest.mark.parametrize("name", SAID)
def test_a_stored_study_says_what_it_said(name: str, stored: str) -> None:
    study = opened(name, stored)
    assert study.audit().clean
    hold(told_otherwise(study, SAID[name]))


@pytest.mark.parametrize("name", RUNNING)
def test_a_running_study_goes_on_as_it_would_have(name: str, stored: str) -> None:
    study, after = opened(name, stored), SAID[name]["next"]
    pull = study.ask()
    hold(picked("pull", PULL, after["asked"], asdict(pull)))
    study.tell(pull, **after["told"])
    hold(picked("status", STATUS, after["status"], study.status().to_dict()))
    assert opened(name, stored).audit().clean


@pytest.mark.parametrize("name", FROZEN)
def test_a_frozen_study_stays_frozen_until_it_is_released(name: str, stored: str) -> None:
    study = opened(name, stored)
    with pytest.raises(Frozen):
        study.ask()
    study.release("it was looked into", "Ada")
    pull = study.ask()
    assert opened(name, stored).open_pulls[-1] == pull


@pytest.mark.parametrize("name", ENDED)
def test_a_study_that_has_ended_gives_no_pull(name: str, stored: str) -> None:
    with pytest.raises(Finished):
        opened(name, stored).ask()


@pytest.mark.parametrize("file", EXPORTS)
def test_an_export_comes_in_and_goes_out_as_it_was(file: str, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RenamedWarning)
        study = sf.import_study(STORED / file, f"sqlite:///{tmp_path / 'studies.db'}")
    assert study.audit().clean
    hold(told_otherwise(study, SAID[study.name]))
    study.export(tmp_path / file)
    assert members(tmp_path / file) == members(STORED / file)


def members(path: Path) -> list[tuple[str, bytes]]:
    """What an archive holds; how it is compressed is up to the system."""
    with zipfile.ZipFile(path) as file:
        return [(name, file.read(name)) for name in file.namelist()]


def test_a_problem_file_with_a_policy_in_the_words_of_then_is_read() -> None:
    with pytest.warns(RenamedWarning, match="'mixture' is called 'bias-free' now"):
        policy = chosen_policy(posed_in(STORED / "pumps.toml").policy, None, {})
    assert policy == sf.SafeLinGapE(
        levels="dynamic-max", selection="optimistic", pull="rounding", reward_radius="bias-free",
        safety_radius="own-pulls", null_pull=True, explore=sf.UniformRandom(20, level=0.125),
    )  # fmt: skip
