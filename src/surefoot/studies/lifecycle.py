"""Studies in a storage: made, opened and deleted."""

import warnings
from pathlib import Path
from typing import Any, NamedTuple, cast

from surefoot.errors import (
    AuditWarning,
    InvalidInput,
    OtherVersionWarning,
    PolicyNeeded,
    RenamedWarning,
    StorageDamaged,
    StudyDiffers,
    StudyExists,
    SurefootError,
    outside,
)
from surefoot.files import as_path
from surefoot.live.audit import first_few
from surefoot.live.ledger import BY_NUMBER, Intake
from surefoot.live.model_checks import LEVEL
from surefoot.policies import Policy, check_policy
from surefoot.policies.bound import faced
from surefoot.problem import Problem
from surefoot.problem.checks import check_seed, text
from surefoot.storage.chain import chained, origin_of
from surefoot.storage.protocol import Store, StudyRow
from surefoot.storage.store import open_store
from surefoot.studies import events
from surefoot.studies.archived import ArchivedHandle, ArchivedStudy
from surefoot.studies.archives import opened_archive, refusing
from surefoot.studies.carried import Carried
from surefoot.studies.events import Event, new_writer
from surefoot.studies.handle import Handle, Settings
from surefoot.studies.keys import KEY, Keyed, unanswered
from surefoot.studies.listing import FAULTS, STORED_INTAKE
from surefoot.studies.rows import (
    arms_of,
    checked_budget,
    checked_level,
    policy_in,
    row_of,
    settings_in,
    stored_versions,
)
from surefoot.studies.study import Study
from surefoot.studies.versions import differences, versions_of
from surefoot.studies.warm_starts import history_for

AT_ONCE = 4  # states that are held while pulls are open: as it is, what is ahead, and room to go back
NAME = "Give the study a short name, unique in its storage."


def create_study(
    problem: Problem,
    policy: Policy | None = None,
    *,
    name: str,
    storage: str | Store | None = None,
    load_if_exists: bool = False,
    seed: int = 0,
    max_pulls: int | None = None,
    intake: Intake = BY_NUMBER,
    alarm_level: float = LEVEL,
    warm_start: Study | None = None,
    key: str | None = None,
    fold: str | None = None,
) -> Study:
    """A new study in the storage: at an address (SUREFOOT_STORAGE, or surefoot.db, if none is named), or a store of
    your own (`storage.protocol`).

    load_if_exists  a study of this name is continued, if it is about the same problem in the same way
    max_pulls       the budget: so many results, imported ones not counted
    intake          "by-number": results are taken in by number, which keeps the promise whatever the delays;
                    "on-arrival": as they come; how long a result takes may then depend neither on what it is nor on
                    the results of pulls still open, which the certificate states as an assumption
    alarm_level     the chance that the data of a whole study raise the alarm although the model is right
    warm_start      another study under the same truth, all of whose results are taken over, in order of number; the
                    new study decides after the last. Its promise needs epsilon, delta and arms that were not chosen
                    after looking at those results
    key             a text of your own for this step: who repeats it with the same key, because a crash left unknown
                    whether the study was made, is given the study
    """
    if not isinstance(problem, Problem):
        raise InvalidInput("problem", problem, "must be a Problem", "Build one with sf.Problem(...).")
    settings = Settings(
        problem, check_policy(policy), check_seed(seed), checked_budget(max_pulls), checked_intake(intake, fold),
        checked_level(alarm_level),
    )  # fmt: skip
    row = row_of(text("name", name, NAME), settings)
    faced(settings.policy, problem).check_memory(states=AT_ONCE)
    if warm_start is not None and not isinstance(warm_start, Study):
        raise InvalidInput("warm_start", warm_start, "must be a Study", "Open it with sf.load_study.")
    history = [] if warm_start is None else history_for(problem, warm_start)
    source = None if warm_start is None else warm_start._handle.origin.hex()
    keyed = unanswered(key, "create", comparable(row), source)
    arms = arms_of(problem)
    origin = origin_of(row, arms.digest)
    store = open_store(storage, create=True)
    try:
        first = stamped(origin, [*history, keyed.event(None)] if keyed else history)
        identity = store.create(row, arms, first)
    except StudyExists:
        if keyed and was_made(store, row.name, keyed):
            made = opened(store, row.name, policy)
            if history and type(made) is Study:
                made.raise_alarms()  # who was killed before could not
            return made
        if not load_if_exists:
            raise
        return continued(store, row, policy)
    study = Study(store, identity, row.name, settings, origin)
    if history:
        study.raise_alarms()
    return study


def was_made(store: Store, name: str, keyed: Keyed[None]) -> bool:
    """Whether the study of this name was made with this key."""
    identity, _, _ = store.find(name)
    return bool(store.read(identity, name, keyed.answered))


def comparable(row: StudyRow) -> dict[str, Any]:
    """What makes a study another one: all but when and by which version it was made."""
    return {name: value for name, value in vars(row).items() if name not in ("created_at", "created_by")}


def load_study(name: str, storage: str | Store | None = None, *, policy: object = None) -> Study:
    """The study of this name; its events are replayed and audited, from the last snapshot on if there is one
    (`studies.snapshots`), and a mismatch is warned of by number.

    A study with a policy that is not part of surefoot needs it handed in, as an object or as its class. One of other
    versions opens for reading, with a warning that says so.
    """
    return opened(open_store(storage), text("name", name, NAME), policy)


def delete_study(name: str, storage: str | Store | None = None, *, key: str | None = None) -> None:
    """Forgets the study and all its events, for ever. With a key it may be repeated: nothing more is deleted."""
    open_store(storage).delete(text("name", name, NAME), None if key is None else text("key", key, KEY))


def import_study(
    path: str | Path, storage: str | Store | None = None, name: str | None = None, *, policy: object = None
) -> Study:
    """The study that `Study.export` wrote to the file, now in this storage, under this name or its own."""
    place, wanted = as_path("path", path), None if name is None else text("name", name, NAME)
    with opened_archive(place) as archive:
        with refusing(place):
            carried = Carried(archive, wanted)
            settings = settings_in(carried.row, carried.arms, policy)
            faced(settings.policy, settings.problem).check_memory(states=AT_ONCE)
            ledger = handle_for(cast(Store, InFile(place)), 0, carried.row, settings, carried.origin).new_ledger()
            for page in carried.pages():
                ledger.take(page)
        store = open_store(storage, create=True)  # not before all is found good
        store.create(carried.row, carried.arms, carried)
    return opened(store, carried.row.name, policy)


class InFile(NamedTuple):
    """In the place of a store, where a study is only looked through."""

    address: Path


def opened(store: Store, name: str, policy: object = None) -> Study:
    """The study of this name, replayed and audited."""
    identity, row, arms = store.find(name)
    try:
        settings = settings_in(row, arms, policy)
    except PolicyNeeded:
        raise
    except InvalidInput as error:
        if error.field == "policy":
            raise
        raise damaged(store, name, error) from error
    except (SurefootError, *FAULTS) as error:
        raise damaged(store, name, error) from error
    others, origin = (
        differences(stored_versions(row), versions_of(settings.policy, settings.problem)),
        origin_of(row, arms.digest),
    )
    if others:
        warnings.warn(
            f"The study {name!r} opens for reading only: {'; '.join(others)}. Its decisions are not recomputed.",
            OtherVersionWarning,
            stacklevel=outside(),
        )
        return ArchivedStudy(store, identity, row.name, settings, origin, others)
    study = Study(store, identity, row.name, settings, origin)
    if found := study._handle.view(lambda ledger: list(ledger.mismatches)):
        warnings.warn(
            f"The study {name!r} holds {len(found):,} pull(s) that are not the ones recomputed: {first_few(found)}. "
            "They stay, because they happened; another version or an edited database may be the reason.",
            AuditWarning,
            stacklevel=outside(),
        )
    return study


def handle_for(store: Store, identity: int, row: StudyRow, settings: Settings, origin: bytes) -> Handle:
    """The handle of a study, one that only reads if its versions are not the present ones."""
    others = differences(stored_versions(row), versions_of(settings.policy, settings.problem))
    if others:
        return ArchivedHandle(store, identity, row.name, settings, origin, others)
    return Handle(store, identity, row.name, settings, origin)


def damaged(store: Store, name: str, error: Exception) -> StorageDamaged:
    """The refusal of a study that cannot be read."""
    return StorageDamaged(str(store.address), f"holds a study {name!r} that cannot be read ({error})")


def continued(store: Store, wanted: StudyRow, policy: Policy | None) -> Study:
    """The study that is there already, if it is the one that was wanted."""
    _, row, _ = store.find(wanted.name)
    if row.fingerprint != wanted.fingerprint:
        raise StudyDiffers(wanted.name, "problem")
    for what in ("seed", "max_pulls", "fold", "alarm_level"):
        if getattr(row, what) != getattr(wanted, what):
            raise StudyDiffers(wanted.name, "intake" if what == "fold" else what)
    if policy is not None:
        try:
            policy_in(row, policy)
        except InvalidInput as error:
            raise StudyDiffers(wanted.name, "policy") from error
    return opened(store, wanted.name, policy)


def checked_intake(intake: object, fold: object) -> Intake:
    """How results are taken in; `fold` is what it was called in the first version."""
    if fold is not None:
        if fold not in STORED_INTAKE:
            raise InvalidInput("fold", fold, "must be 'order' or 'arrival'", "It is called intake now.")
        warnings.warn(
            f"fold={fold!r} is called intake={STORED_INTAKE[str(fold)]!r} now.", RenamedWarning, stacklevel=outside()
        )
        return STORED_INTAKE[str(fold)]
    if intake not in STORED_INTAKE.values():
        allowed = " or ".join(repr(word) for word in STORED_INTAKE.values())
        remedy = f"{BY_NUMBER!r} keeps the promise whatever the delays."
        raise InvalidInput("intake", intake, f"must be {allowed}", remedy)
    return intake  # type: ignore[return-value]


def stamped(origin: bytes, first: list[Event]) -> list[Event]:
    """The events as the first ones of a new study."""
    at, writer = events.now(), new_writer()
    rows = ({"sequence": i, "at": at, "writer": writer, **event} for i, event in enumerate(first, start=1))
    return list(chained(origin, rows))
