"""Studies in a storage: made, opened, listed and deleted."""

import json
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from surefoot import __version__
from surefoot.errors import (
    AuditWarning,
    InvalidInput,
    NotSpanningWarning,
    StorageDamaged,
    StudyDiffers,
    StudyExists,
    SurefootError,
)
from surefoot.live.ledger import BY_ARRIVAL, BY_NUMBER, Fold, Order
from surefoot.live.model_checks import LEVEL
from surefoot.policies import Policy, check_policy, from_dict, to_dict
from surefoot.problem import Problem
from surefoot.problem.checks import check_count, check_seed, number, text
from surefoot.storage.store import FOLDED, Arms, Store, StudyRow, open_store
from surefoot.studies import events
from surefoot.studies.audit import first_few
from surefoot.studies.events import READINGS, Event, new_writer
from surefoot.studies.study import Study
from surefoot.studies.transfer import REMEDY, read_study
from surefoot.studies.warm_starts import history_for

ALARM_LEVEL = "Choose the chance of a false alarm that you accept, for example 0.01."
NAME = "Give the study a short name, unique in its storage."


def create_study(
    problem: Problem,
    policy: Policy | None = None,
    *,
    name: str,
    storage: str | None = None,
    load_if_exists: bool = False,
    seed: int = 0,
    max_pulls: int | None = None,
    fold: Order = BY_NUMBER,
    alarm_level: float = LEVEL,
    warm_start: Study | None = None,
) -> Study:
    """A new study in the storage (SUREFOOT_STORAGE, or surefoot.db, if none is named).

    load_if_exists  a study of this name is continued, if it is about the same problem in the same way
    max_pulls       the budget: so many results, imported ones not counted
    fold            "order": results are taken in by number, which keeps the promise whatever the delays; "arrival":
                    as they come, which the certificate then states as an assumption
    alarm_level     the chance that the data of a whole study raise the alarm although the model is right
    warm_start      another study under the same truth, all of whose results are taken over
    """
    if not isinstance(problem, Problem):
        raise InvalidInput("problem", problem, "must be a Problem", "Build one with sf.Problem(...).")
    if fold not in (BY_NUMBER, BY_ARRIVAL):
        reason = f"must be {BY_NUMBER!r} or {BY_ARRIVAL!r}"
        raise InvalidInput("fold", fold, reason, f"{BY_NUMBER!r} keeps the promise whatever the delays.")
    row = StudyRow(
        name=text("name", name, NAME),
        problem=json.dumps(without_features(problem), allow_nan=False),
        fingerprint=problem.fingerprint,
        policy=json.dumps(to_dict(check_policy(policy))),
        seed=check_seed(seed),
        max_pulls=checked_budget(max_pulls),
        fold=fold,
        alarm_level=checked_level(alarm_level),
        created_at=events.now(),
        created_by=__version__,
    )
    if warm_start is not None and not isinstance(warm_start, Study):
        raise InvalidInput("warm_start", warm_start, "must be a Study", "Open it with sf.load_study.")
    history = [] if warm_start is None else stamped(history_for(problem, warm_start))
    store = open_store(storage, create=True)
    try:
        identity = store.create(row, arms_of(problem), history)
    except StudyExists:
        if not load_if_exists:
            raise
        return continued(store, row, policy is not None)
    study = Study(
        store, identity, row.name, problem, check_policy(policy), row.seed, row.max_pulls, fold, row.alarm_level
    )
    if history:
        study.raise_alarms()
    return study


def load_study(name: str, storage: str | None = None) -> Study:
    """The study of this name; its events are replayed and audited, and a mismatch is warned of by number."""
    wanted = text("name", name, NAME)
    return opened(open_store(storage), wanted)


def list_studies(storage: str | None = None) -> list[dict[str, Any]]:
    """Every study of the storage, in order of name: name, created_at, created_by, policy, fold, events."""
    return [
        {**row, "created_at": as_time(row["created_at"]), "policy": json.loads(row["policy"])["name"]}
        for row in open_store(storage).listed()
    ]


def delete_study(name: str, storage: str | None = None) -> None:
    """Forgets the study and all its events, for ever."""
    open_store(storage).delete(text("name", name, NAME))


def import_study(path: str | Path, storage: str | None = None, name: str | None = None) -> Study:
    """The study that `Study.export` wrote to the file, now in this storage, under this name or its own."""
    carried = read_study(path)
    row = carried.row if name is None else replace(carried.row, name=text("name", name, NAME))
    try:
        fold = Fold(*parts_of(row, carried.arms), str(path))
        fold.take([[event.get(column) for column in FOLDED] for event in carried.events])
    except (SurefootError, ValueError, KeyError, TypeError) as error:
        raise InvalidInput("path", str(path), f"holds what cannot be a study ({error})", REMEDY) from error
    store = open_store(storage, create=True)
    store.create(row, carried.arms, carried.events)
    return opened(store, row.name)


def opened(store: Store, name: str) -> Study:
    """The study of this name, replayed and audited."""
    identity, row, arms = store.find(name)
    try:
        parts = parts_of(row, arms)
    except (SurefootError, ValueError, KeyError, TypeError) as error:
        raise StorageDamaged(str(store.address), f"holds a study {name!r} that cannot be read ({error})") from error
    study = Study(store, identity, row.name, *parts)
    if found := study._caught_up().mismatches:
        warnings.warn(
            f"The study {name!r} holds {len(found):,} pull(s) that are not the ones recomputed: {first_few(found)}. "
            "They stay, because they happened; another version or an edited database may be the reason.",
            AuditWarning,
            stacklevel=3,
        )
    return study


def continued(store: Store, wanted: StudyRow, policy_given: bool) -> Study:
    """The study that is there already, if it is the one that was wanted."""
    _, row, _ = store.find(wanted.name)
    compared = ["seed", "max_pulls", "fold", "alarm_level"] + (["policy"] if policy_given else [])
    if row.fingerprint != wanted.fingerprint:
        raise StudyDiffers(wanted.name, "problem")
    for what in compared:
        if getattr(row, what) != getattr(wanted, what):
            raise StudyDiffers(wanted.name, what)
    return opened(store, wanted.name)


def parts_of(row: StudyRow, arms: Arms) -> tuple[Problem, Policy, int, int | None, Order, float]:
    """What a study is made of, from what is stored about it."""
    problem = problem_in(row, arms)
    if problem.fingerprint != row.fingerprint:
        raise ValueError("its problem is not the one that it was begun with")
    if row.fold not in (BY_NUMBER, BY_ARRIVAL):
        raise ValueError(f"its results are taken in by {row.fold!r}")
    fold: Order = BY_ARRIVAL if row.fold == BY_ARRIVAL else BY_NUMBER
    policy, max_pulls = from_dict(json.loads(row.policy)), checked_budget(row.max_pulls)
    return problem, policy, check_seed(row.seed), max_pulls, fold, checked_level(row.alarm_level)


def checked_budget(max_pulls: object) -> int | None:
    """The number of pulls, None for as many as it takes."""
    return None if max_pulls is None else check_count("max_pulls", max_pulls)


def checked_level(alarm_level: object) -> float:
    """The chance of a false alarm."""
    return number("alarm_level", alarm_level, ALARM_LEVEL, above=0.0, below=1.0)


def stamped(history: list[Event]) -> list[Event]:
    """The events as the first ones of a new study."""
    at, writer = events.now(), new_writer()
    return [{"sequence": i, "at": at, "writer": writer, **event} for i, event in enumerate(history, start=1)]


def without_features(problem: Problem) -> dict[str, Any]:
    """The problem as a table, with the names of the arms in place of their features."""
    table = problem.to_dict()
    del table["arms"]
    return {**table, "names": list(problem.names)}


def arms_of(problem: Problem) -> Arms:
    """The features as bytes."""
    count, dimension = problem.arms.shape
    return Arms(count, dimension, problem.arms.astype(READINGS).tobytes())


def problem_in(row: StudyRow, arms: Arms) -> Problem:
    """The problem that was stored; the user was told about its span when it was made."""
    features = np.frombuffer(arms.content, READINGS).astype(np.float64).reshape(arms.count, arms.dimension)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotSpanningWarning)
        return Problem.from_dict({**json.loads(row.problem), "arms": features})


def as_time(microseconds: int) -> str:
    """The moment in UTC, as ISO 8601 writes it."""
    return str(np.datetime64(microseconds, "us")) + "Z"
