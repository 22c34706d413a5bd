"""Who changes anything that is stored is found out: at once by the chain, or, if the chain is made anew, by a head that
was noted before."""

import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from small_studies import begun, driven, measured

import surefoot as sf
from forging import edit, forge
from scenes import arena
from surefoot.errors import InvalidInput, StorageDamaged
from surefoot.storage.maintenance import backup
from surefoot.studies.integrity import check_storage
from surefoot.studies.listing import heads_in


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A study to which much has happened."""
    study = begun(f"sqlite:///{tmp_path_factory.mktemp('original') / 'studies.db'}", max_pulls=500)
    driven(study, 12)
    study.correct(3, reward=study.results()[2].reward + 0.01, reason="a typo", by="Ada")
    pulls = study.ask(3, worker="bob", key="three")
    study.cancel(pulls[0], "not applied", not_because_of_result=True)
    study.tell(pulls[1], **measured(pulls[1]))
    study.freeze("smoke", "Ada")
    study.release("steam", "Ada")
    return study.storage


@pytest.fixture
def study(original: str, tmp_path: Path) -> sf.Study:
    """A copy of it."""
    return sf.load_study("power", f"sqlite:///{backup(original, tmp_path / 'studies.db')}")


LAST = "(SELECT max(sequence) FROM surefoot_events)"
EVENT_EDITS = [
    "UPDATE surefoot_events SET reward = reward + 0.3 WHERE kind = 'tell'",
    "UPDATE surefoot_events SET safety = (SELECT safety FROM surefoot_events WHERE number = 2 AND kind = 'tell')"
    " WHERE number = 1 AND kind = 'tell'",
    "UPDATE surefoot_events SET at = at + 1 WHERE sequence = 4",
    "UPDATE surefoot_events SET worker = 'eve' WHERE worker = 'bob'",
    "UPDATE surefoot_events SET worker = NULL WHERE worker = 'bob'",
    "UPDATE surefoot_events SET reason = 'fire' WHERE reason = 'smoke'",
    "UPDATE surefoot_events SET \"by\" = 'Eve' WHERE reason = 'smoke'",
    "UPDATE surefoot_events SET margin = margin + 1e-9 WHERE sequence = 1",
    "UPDATE surefoot_events SET gap = coalesce(gap, 0) + 1 WHERE kind = 'ask'",
    "UPDATE surefoot_events SET phase = 'decide' WHERE sequence = 1",
    "UPDATE surefoot_events SET leader = 0 WHERE sequence = 1",
    "UPDATE surefoot_events SET challenger = 1 WHERE sequence = 1",
    "UPDATE surefoot_events SET writer = writer + 1 WHERE sequence = 2",
    "UPDATE surefoot_events SET key = 'four' WHERE key = 'three'",
    "UPDATE surefoot_events SET level = level / 2 WHERE sequence = 1",
    f"UPDATE surefoot_events SET reason = 'fire' WHERE sequence = {LAST}",  # the very last one
    "UPDATE surefoot_events SET hash = zeroblob(32) WHERE sequence = 5",
    "UPDATE surefoot_events SET hash = NULL WHERE sequence = 5",
    "UPDATE surefoot_events SET sequence = -sequence WHERE sequence IN (1, 2)",
    "DELETE FROM surefoot_events WHERE sequence = 7",
]  # fmt: skip
SETTING_EDITS = [
    "UPDATE surefoot_studies SET max_pulls = 499",
    "UPDATE surefoot_studies SET max_pulls = NULL",
    "UPDATE surefoot_studies SET fold = 'arrival'",
    "UPDATE surefoot_studies SET seed = 5",
    "UPDATE surefoot_studies SET alarm_level = 0.02",
    "UPDATE surefoot_studies SET created_at = created_at + 1",
    "UPDATE surefoot_studies SET created_by = '0.0.1'",
    "UPDATE surefoot_studies SET policy = policy || ' '",
    "UPDATE surefoot_studies SET problem = problem || ' '",
    "UPDATE surefoot_studies SET unchained = 3",
]  # fmt: skip


@pytest.mark.parametrize("statement", [*EVENT_EDITS, *SETTING_EDITS])
def test_an_edit_breaks_the_chain(study: sf.Study, statement: str) -> None:
    edit(study, statement)
    assert not study.audit().clean  # of a handle that was open all along
    with pytest.raises(StorageDamaged):
        sf.load_study("power", study.storage)
    assert not check_storage(study.storage).sound


@pytest.mark.parametrize("statement", [*EVENT_EDITS[:-4], *SETTING_EDITS])
def test_an_edit_with_a_new_chain_is_found_by_the_noted_head(study: sf.Study, statement: str) -> None:
    noted = study.head
    forge(study, statement)
    report = study.audit(head=noted)
    assert not report.clean
    assert "has never had the head" in report.statement or report.mismatches


@pytest.mark.parametrize("cut", [1, 2, 20])
def test_a_study_that_was_cut_off_is_found_by_the_noted_head(study: sf.Study, cut: int) -> None:
    noted = study.head
    edit(study, f"DELETE FROM surefoot_events WHERE sequence > {LAST} - {cut}")
    again = sf.load_study("power", study.storage)
    assert again.audit().clean  # it is a study that may have been: only the head knows better
    assert "has never had the head" in again.audit(head=noted).statement


def test_events_in_another_order_are_found(study: sf.Study) -> None:
    edit(
        study,
        "UPDATE surefoot_events SET sequence = 1000 WHERE sequence = 3",
        "UPDATE surefoot_events SET sequence = 3 WHERE sequence = 5",
        "UPDATE surefoot_events SET sequence = 5 WHERE sequence = 1000",
    )
    with pytest.raises(StorageDamaged, match="event 3 does not fit the hash chain"):
        sf.load_study("power", study.storage)


def test_an_earlier_head_proves_what_was_before_it(study: sf.Study) -> None:
    noted, events = study.head, study.status().events
    driven(study, 3)
    report = study.audit(head=noted)
    assert (report.clean, report.noted_at) == (True, events)
    assert f"Everything up to event {events}, of {events + 6}, is as it was under that head." in report.statement
    assert study.audit(head=study.head).noted_at == events + 6


def test_the_head_of_a_study_to_which_nothing_happened_covers_its_settings(tmp_path: Path) -> None:
    study = begun(f"sqlite:///{tmp_path / 'studies.db'}", max_pulls=9)
    noted = study.head
    assert study.audit(head=noted).noted_at == 0
    edit(study, "UPDATE surefoot_studies SET max_pulls = 10")
    assert not study.audit(head=noted).clean
    assert not sf.load_study("power", study.storage).audit(head=noted).clean


def test_readings_that_are_edited_behind_open_pulls_certify_nothing(tmp_path: Path) -> None:
    """Everything was asked for before the edit, so no decision after it can differ."""
    world, problem = arena()
    study = sf.create_study(problem, name="power", storage=f"sqlite:///{tmp_path / 'studies.db'}", seed=4)
    for pull in study.ask(400):
        study.tell(pull, **world.measure(pull, seed=3, problem=problem))
    noted = study.head
    readings = "(SELECT safety FROM surefoot_events AS other WHERE other.number = 1 AND other.kind = 'tell')"
    edit(study, f"UPDATE surefoot_events SET safety = {readings} WHERE kind = 'tell'")
    for see in (lambda: study.certificate, lambda: study.recommendation, lambda: study.statement):
        if study.outcome is not None:
            with pytest.raises(StorageDamaged, match="not as it was written"):
                see()
    with pytest.raises(StorageDamaged, match="not as it was written"):
        sf.load_study("power", study.storage)
    assert not study.audit(head=noted).clean


def test_a_certificate_is_not_given_over_events_that_were_changed(tmp_path: Path) -> None:
    world = sf.worlds.limited()
    storage = f"sqlite:///{tmp_path / 'studies.db'}"
    study = sf.create_study(world.default_problem().with_(epsilon=0.3), name="power", storage=storage, seed=1)
    study.run(lambda pull: world.measure(pull, seed=1))
    certificate = study.certificate
    assert certificate is not None
    assert study.audit(head=certificate.head).noted_at == study.status().events
    edit(study, "UPDATE surefoot_events SET reward = reward + 1e-9 WHERE number = 2 AND kind = 'tell'")
    for what in ("certificate", "recommendation", "statement"):
        with pytest.raises(StorageDamaged, match="not as it was written"):
            getattr(study, what)
    edit(study, "UPDATE surefoot_studies SET max_pulls = 4")
    with pytest.raises(StorageDamaged, match="settings were changed"):
        study.certificate  # noqa: B018


def test_what_is_no_head_is_refused(study: sf.Study) -> None:
    for head in ("", "abc", "g" * 64, 5):
        with pytest.raises(InvalidInput, match="head"):
            study.audit(head=head)  # type: ignore[arg-type]


# -- signatures -------------------------------------------------------------------------------------------------------


@pytest.fixture
def keys(tmp_path: Path) -> tuple[Path, Path]:
    """A private key and its public key, as people make them."""
    private, public, key = tmp_path / "key.pem", tmp_path / "public.pem", Ed25519PrivateKey.generate()
    private.write_bytes(as_pem(key, NoEncryption()))
    public.write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    return private, public


def as_pem(key: Any, lock: Any) -> bytes:
    content: bytes = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, lock)
    return content


def test_a_signed_head_is_accepted_by_who_has_the_public_key(study: sf.Study, keys: tuple[Path, Path]) -> None:
    signed = study.sign(keys[0])
    driven(study, 2)
    assert study.audit(head=signed, signed_by=keys[1]).noted_at == signed.events
    assert sf.SignedHead.from_dict(json.loads(json.dumps(signed.to_dict()))) == signed
    for forged in ({"head": study.head}, {"events": 3}, {"at": 5}, {"signature": "AAAA"}, {"signature": "?"}):
        with pytest.raises(InvalidInput, match="is not the signature of the key"):
            study.audit(head=sf.SignedHead(**{**signed.to_dict(), **forged}), signed_by=keys[1])
    with pytest.raises(InvalidInput, match="is not signed"):
        study.audit(head=study.head, signed_by=keys[1])


def test_what_is_no_such_key_is_refused_by_name(study: sf.Study, keys: tuple[Path, Path], tmp_path: Path) -> None:
    other, locked, empty = tmp_path / "rsa.pem", tmp_path / "locked.pem", tmp_path / "empty.pem"
    other.write_bytes(as_pem(rsa.generate_private_key(65537, 2048), NoEncryption()))
    locked.write_bytes(as_pem(Ed25519PrivateKey.generate(), BestAvailableEncryption(b"x")))
    empty.touch()
    for path in (other, locked, empty, keys[1], tmp_path / "missing.pem"):
        with pytest.raises(InvalidInput, match="sign_with"):
            study.sign(path)
    with pytest.raises(InvalidInput, match="signed_by"):
        study.audit(head=study.sign(keys[0]), signed_by=keys[0])


def test_a_backup_and_an_upgrade_tell_every_head(study: sf.Study, tmp_path: Path) -> None:
    begun(study.storage, name="nothing yet")
    heads = heads_in(f"sqlite:///{backup(study.storage, tmp_path / 'copy.db')}")
    assert heads == {name: sf.load_study(name, study.storage).head for name in ("power", "nothing yet")}


# -- behind the back of a study that is open --------------------------------------------------------------------------


def test_a_level_that_was_forged_is_not_given_to_a_worker(tmp_path: Path) -> None:
    study = begun(f"sqlite:///{tmp_path / 'studies.db'}")
    pull = study.ask(worker="w", key="k")
    study.ask()
    edit(study, "UPDATE surefoot_events SET level = 1.0 WHERE number = 1 AND step = 0")
    for step in (
        lambda: study.ask(worker="w"), lambda: study.ask(key="k", worker="w"), lambda: study.open_pulls,
        lambda: study.tell(pull.number, reward=0.0, safety=[0.0, 0.0]), lambda: study.results(), lambda: study.history,
        lambda: study.status() and study.cancel(1, "no", not_because_of_result=True),
    ):  # fmt: skip
        with pytest.raises(StorageDamaged, match="does not fit the hash chain"):
            step()
    assert not study.audit().clean
    with pytest.raises(StorageDamaged):
        study.ask()  # after an audit that found something nothing is trusted


def test_edited_results_do_not_go_into_another_study(tmp_path: Path) -> None:
    study = driven(begun(f"sqlite:///{tmp_path / 'studies.db'}"), 12)
    edit(study, "UPDATE surefoot_events SET reward = reward + 3 WHERE kind = 'tell'")
    with pytest.raises(StorageDamaged):
        begun(study.storage, name="warm", warm_start=study)
    assert [row["name"] for row in sf.list_studies(study.storage)] == ["power"]


@pytest.mark.parametrize("how", ["cut", "forged"])
def test_nothing_is_acknowledged_in_a_study_that_lost_its_last_events(tmp_path: Path, how: str) -> None:
    study = driven(begun(f"sqlite:///{tmp_path / 'studies.db'}"), 10)
    if how == "cut":
        edit(study, "DELETE FROM surefoot_events WHERE sequence > 15")
    else:
        forge(study, "UPDATE surefoot_events SET reward = reward + 3 WHERE sequence = 4")
    for step in (study.ask, study.status, lambda: study.head, lambda: study.freeze("smoke", "Ada")):
        with pytest.raises(StorageDamaged, match="event 20"):
            step()


def test_an_answer_under_a_key_that_nobody_gave_is_damage(tmp_path: Path) -> None:
    for i, answer in enumerate(("null", "[99]", '"x"', f"[{2**70}]")):
        study = begun(f"sqlite:///{tmp_path / f'{i}.db'}")
        study.ask(key="k")
        forge(
            study, f"UPDATE surefoot_events SET reason = json_set(reason, '$.answer', json('{answer}')) WHERE key = 'k'"
        )
        again = sf.load_study("power", study.storage)
        with pytest.raises(StorageDamaged, match="under the key 'k'"):
            again.ask(key="k")
