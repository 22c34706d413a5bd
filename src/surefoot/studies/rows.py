"""What a study was begun with, as it is stored, and back."""

import json
import warnings
from typing import Any

import numpy as np

from surefoot import __version__, policies
from surefoot.errors import InvalidInput, NotSpanningWarning, PolicyNeeded
from surefoot.live.readings import STORED
from surefoot.plain_data import plain
from surefoot.policies import Policy, check_policy
from surefoot.problem import Problem
from surefoot.problem.checks import check_count, check_seed, number
from surefoot.storage.protocol import Arms, StudyRow
from surefoot.studies import events
from surefoot.studies.handle import Settings
from surefoot.studies.listing import STORED_INTAKE
from surefoot.studies.versions import versions_of

ALARM_LEVEL = "Choose the chance of a false alarm that you accept, for example 0.01."
LONGEST_PLACE = 1_000  # characters of the place of a class
VERSIONS, HOME = "versions", "home"  # keys beside the options of the policy


def row_of(name: str, settings: Settings) -> StudyRow:
    """The row of a new study."""
    problem, policy = settings.problem, settings.policy
    words = {intake: word for word, intake in STORED_INTAKE.items()}
    return StudyRow(
        name=name,
        problem=json.dumps(without_features(problem), allow_nan=False),
        fingerprint=problem.fingerprint,
        policy=json.dumps(record_of(policy) | {VERSIONS: versions_of(policy, problem)}),
        seed=settings.seed,
        max_pulls=settings.max_pulls,
        fold=words[settings.intake],
        alarm_level=settings.alarm_level,
        created_at=events.now(),
        created_by=__version__,
    )


def record_of(policy: Policy) -> dict[str, Any]:
    """The policy as a table; one that is not ours with the place of its class, for people: it is never imported."""
    table, kind = policies.to_dict(policy), type(policy)
    if policies.POLICIES.get(policy.name) is not kind:
        table[HOME] = f"{kind.__module__}:{kind.__qualname__}"
    return table


def settings_in(row: StudyRow, arms: Arms, policy: object = None) -> Settings:
    """What a study was begun with, from what is stored about it; a policy that is not ours must be handed in."""
    problem = problem_in(row, arms)
    if problem.fingerprint != row.fingerprint:
        raise ValueError("its problem is not the one that it was begun with")
    if row.fold not in STORED_INTAKE:
        raise ValueError(f"its results are taken in by {row.fold!r}")
    return Settings(
        problem, policy_in(row, policy), check_seed(row.seed), checked_budget(row.max_pulls), STORED_INTAKE[row.fold],
        checked_level(row.alarm_level),
    )  # fmt: skip


def policy_in(row: StudyRow, given: object = None) -> Policy:
    """The policy that the study was begun with.

    Code that is named in stored data is never imported: a policy that is not ours is handed in, as an object that must
    have the stored options, or as a class that is given them.
    """
    table = json.loads(row.policy)
    versions = stored_versions(row)
    home = table.pop(HOME, None)
    table.pop(VERSIONS, None)
    if not is_short(table.get("name")) or not (home is None or is_short(home)):
        raise ValueError("its policy has no name, or a place that is none")
    if given is None:
        if home is not None:
            raise PolicyNeeded(row.name, table["name"], home)
        return policies.from_dict(policies.of_version(table, versions.get(f"policy {table['name']}")))
    return same_policy(row.name, table, given)


def is_short(word: object) -> bool:
    """Whether this may be the name of something, or its place."""
    return isinstance(word, str) and 0 < len(word) <= LONGEST_PLACE


def same_policy(study: str, table: dict[str, Any], given: object) -> Policy:
    """The policy that was handed in, or one of the class that was, if it is the one that the table describes."""
    kind = given if isinstance(given, type) else type(check_policy(given))
    remedy, reason = "Hand in the same policy with the same options.", f"is not the one that the study {study!r} "
    reason += f"was begun with, {policies.shown(table)}"
    if kind is not given and plain(policies.to_dict(check_policy(given))) == table:
        return check_policy(given)
    try:
        stored = check_policy(policies.from_dict(table, {table["name"]: kind}))
    except Exception as error:  # a stranger's class may refuse in any way what was meant for another
        raise InvalidInput("policy", kind.__name__, reason, remedy) from error
    policy = stored if kind is given else check_policy(given)
    if policy.name != table["name"] or plain(policies.to_dict(policy)) != plain(policies.to_dict(stored)):
        raise InvalidInput("policy", policies.describe(policy), reason, remedy)
    return policy


def stored_versions(row: StudyRow) -> dict[str, int]:
    """The versions that the study was begun with; none where they were not stored."""
    found: dict[str, int] = json.loads(row.policy).get(VERSIONS, {})
    if not isinstance(found, dict) or not all(type(version) is int for version in found.values()):
        raise ValueError("its versions are none")
    return found


def checked_budget(max_pulls: object) -> int | None:
    """The number of pulls, None for as many as it takes."""
    return None if max_pulls is None else check_count("max_pulls", max_pulls)


def checked_level(alarm_level: object) -> float:
    """The chance of a false alarm."""
    return number("alarm_level", alarm_level, ALARM_LEVEL, above=0.0, below=1.0)


def without_features(problem: Problem) -> dict[str, Any]:
    """The problem as a table, with the names of the arms in place of their features."""
    return {**problem.to_dict_without_arms(), "names": list(problem.names)}


def arms_of(problem: Problem) -> Arms:
    """The features as bytes."""
    count, dimension = problem.arms.shape
    return Arms(count, dimension, problem.arms.astype(STORED, copy=False).tobytes())


def problem_in(row: StudyRow, arms: Arms) -> Problem:
    """The problem that was stored; the user was told about its span when it was made."""
    content = np.frombuffer(arms.content, STORED).astype(np.float64, copy=False)
    features = content.reshape(arms.count, arms.dimension)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotSpanningWarning)
        return Problem.from_dict({**json.loads(row.problem), "arms": features})
