"""All that a report says about a study, read at one moment."""

from dataclasses import dataclass
from typing import Any

from surefoot.errors import OtherVersion
from surefoot.live.certificate import Certificate
from surefoot.live.pulls import Recommendation
from surefoot.live.trace import Trace
from surefoot.policies import describe
from surefoot.problem import Problem
from surefoot.studies.status import StudyStatus
from surefoot.studies.study import Study

STATES = 400  # rounds whose numbers of arms are drawn
TRIES = 5  # to read a study that others are changing


@dataclass(frozen=True)
class Gathered:
    """A study at one moment."""

    problem: Problem
    policy: str  # in words
    assumptions: tuple[str, ...]
    status: StudyStatus
    statement: str
    certificate: Certificate | None
    answer: Recommendation | None
    notes: tuple[str, ...]  # what became of every pull
    history: dict[str, Any]  # by column
    trace: Trace | None  # None for a study of another version


def gathered(study: Study) -> Gathered:
    """The study as it is now; where others go on meanwhile it is read again, so that all of it is of one moment."""
    for _ in range(TRIES):
        found = read(study)
        if study.head == found.status.head:
            break
    return found


def read(study: Study) -> Gathered:
    """The study, one thing after the other."""
    status = study.status()
    try:
        trace = study.trace(states=STATES)
    except OtherVersion:
        trace = None
    certificate = study.certificate
    return Gathered(
        problem=study.problem,
        policy=describe(study.policy),
        assumptions=study.assumptions,
        status=status,
        statement=study.statement,
        certificate=certificate,
        answer=study.recommendation,
        notes=study.notes,
        history=study.history_columns(),
        trace=trace,
    )
