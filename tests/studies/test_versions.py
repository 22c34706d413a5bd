"""A study goes on only with the versions that it was begun with; with others it can be read and carried over."""

import json
from pathlib import Path
from typing import Any

import pytest
from small_studies import begun, driven, measured

import surefoot as sf
from scenes import arena
from surefoot.core.kernel import interpreting
from surefoot.errors import InvalidInput, OtherVersion, OtherVersionWarning
from surefoot.live import model_checks
from surefoot.policies import of_version, to_dict
from surefoot.sets import directional
from surefoot.studies.integrity import check_storage
from surefoot.studies.versions import differences, versions_of

HERE, SET, ALARM = 4, 3, 2  # the versions of SafeGap, of its set, and of the alarm
NEXT = HERE + 1


@pytest.fixture
def address(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'studies.db'}"


@pytest.fixture
def another_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sf.SafeGap, "version", NEXT)


def reopened(address: str) -> sf.Study:
    with pytest.warns(OtherVersionWarning, match=f"policy safe-gap is of version {HERE}, and {NEXT} is here"):
        return sf.load_study("power", address)


def test_a_study_stores_the_versions_of_policy_sets_and_alarm(address: str) -> None:
    study = begun(address)
    _, row, _ = study._handle.store.find("power")
    assert json.loads(row.policy)["versions"] == {"policy safe-gap": HERE, "set directional": SET, "alarm": ALARM}
    assert versions_of(sf.SafeLinGapE(), arena()[1]) == {
        "policy safe-lingape": 1, "set ellipsoid": 1, "set bias-free": 1, "set own-pulls": 1, "alarm": 2,
    }  # fmt: skip


def test_what_was_begun_before_versions_were_stored_is_of_the_first() -> None:
    assert differences({}, {"policy safe-gap": 1, "alarm": 1}) == []
    assert differences({}, {"policy safe-gap": 2, "alarm": 1}) == ["policy safe-gap is of version 1, and 2 is here"]
    assert differences({"set ellipsoid": 1}, {"alarm": 1}) == ["set ellipsoid is of version 1, and none is here"]


@pytest.mark.parametrize("what", ["policy", "set", "alarm"])
def test_every_part_that_decides_has_a_version_that_counts(
    what: str, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    driven(begun(address), 3)
    place = {"policy": (sf.SafeGap, "version"), "set": (directional, "LATE"), "alarm": (model_checks, "VERSION")}
    monkeypatch.setattr(*place[what], NEXT)
    was = {"policy": HERE, "set": SET, "alarm": ALARM}[what]
    with pytest.warns(OtherVersionWarning, match=f"is of version {was}, and {NEXT} is here"):
        study = sf.load_study("power", address)
    with pytest.raises(OtherVersion, match="spend its delta twice"):
        study.ask()


def verbs(study: sf.Study) -> list[Any]:
    return [
        lambda: study.ask(),
        lambda: study.tell(1, reward=0.0, safety=[0.0, 0.0]),
        lambda: study.add(0, 0.1, 0.0, [0.0, 0.0], not_because_of_result=True),
        lambda: study.cancel(1, "never applied", not_because_of_result=True),
        lambda: study.correct(1, reward=0.1, reason="a typo", by="Ada"),
        lambda: study.void(1, reason="the wrong bottle", by="Ada"),
        lambda: study.freeze("a storm", "Ada"),
        lambda: study.release("it is over", "Ada"),
        lambda: study.run(measured),
    ]


@pytest.mark.usefixtures("another_version")
def test_every_verb_that_writes_is_refused_by_name(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as before:
        before.setattr(sf.SafeGap, "version", HERE)
        driven(begun(address), 3).ask()
    study = reopened(address)
    for verb in verbs(study):
        with pytest.raises(OtherVersion, match=f"policy safe-gap is of version {HERE}, and {NEXT} is here") as caught:
            verb()
        assert caught.value.study == "power"
    assert study.status().events == 7


def test_a_study_of_another_version_can_be_read_and_exported(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = sf.worlds.limited()
    study = sf.create_study(world.default_problem().with_(epsilon=0.3), name="power", storage=address)
    study.run(world.measure)
    assert study.outcome == "certified"
    certificate, answer, status = study.certificate, study.recommendation, study.status()
    history = study.history
    study.export(tmp_path / "before.zip")
    monkeypatch.setattr(sf.SafeGap, "version", NEXT)
    again = reopened(address)
    assert again.certificate == certificate
    assert again.recommendation == answer
    assert (again.outcome, again.pulls, again.stopped) == (study.outcome, study.pulls, True)
    assert again.history.equals(history)
    assert again.status().pulls_per_arm == status.pulls_per_arm
    assert again.status().states == status.states
    again.export(tmp_path / "after.zip")
    assert (tmp_path / "after.zip").read_bytes() == (tmp_path / "before.zip").read_bytes()
    with pytest.warns(OtherVersionWarning):
        imported = sf.import_study(tmp_path / "after.zip", address, "elsewhere")
    assert imported.certificate == certificate


def test_the_audit_of_another_version_says_why_it_recomputes_nothing(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    driven(begun(address), 5)
    monkeypatch.setattr(sf.SafeGap, "version", NEXT)
    report = reopened(address).audit()
    assert report.clean
    assert report.statement == (
        "10 events of 'power' follow each other without a gap; decisions are not recomputed: policy safe-gap is of "
        f"version {HERE}, and {NEXT} is here."
    )
    with pytest.warns(OtherVersionWarning):
        assert check_storage(address).sound


def test_corrections_can_be_read_in_another_version(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    study = driven(begun(address), 5)
    study.correct(2, reward=0.3, reason="a typo", by="Ada")
    study.void(4, reason="the wrong bottle", by="Ada")
    driven(study, 2)
    monkeypatch.setattr(sf.SafeGap, "version", NEXT)
    with pytest.warns(OtherVersionWarning):
        again = sf.load_study("power", address)
    assert (again.pulls, again.corrections, again.results()) == (6, study.corrections, study.results())
    assert again.status().pulls_per_arm == study.status().pulls_per_arm


def test_a_warm_start_carries_its_data_into_a_new_study(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    driven(begun(address), 12)
    monkeypatch.setattr(sf.SafeGap, "version", NEXT)
    old = reopened(address)
    new = sf.create_study(arena()[1], name="next", storage=address, warm_start=old)
    assert new.pulls == 12
    assert new.status().imported == 12
    driven(new, 3)
    assert sf.load_study("next", address).pulls == 15


def test_the_end_is_stored_once_with_what_was_said(address: str) -> None:
    study = begun(address, max_pulls=4)
    study.run(measured)
    ends = study._handle.look(lambda ledger, stored: [event for event in stored.all() if event["kind"] == "end"])
    assert len(ends) == 1
    said = json.loads(ends[0]["reason"])
    assert said == {"outcome": "undecided", "pulls": 4, "certificate": None, "recommendation": None}
    assert sf.load_study("power", address).audit().clean


# -- earlier versions of SafeGap: 2, all aims open from the first pull on, and 3, coordinates rounded by entries -------

EARLIER = {2: {"opening": "at-once"}, 3: {"coordinates": "by-entries"}}


def test_what_decides_is_told_and_stored_only_where_it_is_not_the_usual() -> None:
    assert to_dict(sf.SafeGap()) == {"name": "safe-gap"}
    for options in EARLIER.values():
        assert to_dict(sf.SafeGap(**options)) == {"name": "safe-gap", **options}
    problem = arena()[1]
    now = {"policy safe-gap": HERE, "set directional": SET, "alarm": ALARM}
    assert versions_of(sf.SafeGap(), problem) == now
    assert versions_of(sf.SafeGap(opening="at-once"), problem) == now | {"policy safe-gap": 2, "set directional": 2}
    assert versions_of(sf.SafeGap(coordinates="by-entries"), problem) == now | {"policy safe-gap": 3}
    with pytest.raises(InvalidInput, match="must be one of 'rounded', 'by-entries'"):
        sf.SafeGap(coordinates="no")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="must be one of 'late', 'at-once'"):
        sf.SafeGap(opening="never")  # type: ignore[arg-type]


def test_what_a_version_decided_by_is_read_out_of_its_number() -> None:
    for version, options in EARLIER.items():
        assert of_version({"name": "safe-gap"}, version) == {"name": "safe-gap", **options}
    assert of_version({"name": "safe-gap"}, 4) == {"name": "safe-gap"}
    assert of_version({"name": "safe-gap"}, None) == {"name": "safe-gap"}
    assert of_version({"name": "safe-lingape", "pull": "greedy"}, 1) == {"name": "safe-lingape", "pull": "greedy"}
    assert of_version({"name": "mine"}, 2) == {"name": "mine"}


@pytest.mark.parametrize("policy", [sf.SafeGap(**options) for options in EARLIER.values()], ids=EARLIER)
def test_a_study_may_still_be_begun_with_an_earlier_version(address: str, tmp_path: Path, policy: sf.SafeGap) -> None:
    """Opened again it goes on pull by pull as one that never was away; `test_stored.py` has those of then."""
    other = f"sqlite:///{tmp_path / 'other.db'}"
    with interpreting():
        unbroken = driven(begun(other, policy=policy), 24)
        driven(begun(address, policy=policy), 12)
        study = driven(sf.load_study("power", address), 12)
        assert study.policy == policy
        assert [(pull.arm, pull.level) for pull in study.results()] == [
            (pull.arm, pull.level) for pull in unbroken.results()
        ]
        assert sf.load_study("power", address).audit().clean
