"""`surefoot study correct` and `void`: results that are put right afterwards."""

from __future__ import annotations

from surefoot.cli.job import Which
from surefoot.cli.output import Output
from surefoot.cli.study_pulls import readings_in
from surefoot.cli.study_status import opened, told_status
from surefoot.cli.study_stops import person


def correct(
    output: Output, which: Which, pull: int, reward: float | None, safety: list[str] | None, reason: str,
    by: str | None, confirm: bool,
) -> int:  # fmt: skip
    """Puts a told result right."""
    study = opened(which)
    readings = readings_in(study, safety) if safety else None
    done = study.correct(
        pull, reward=reward, safety=readings, reason=reason, by=person(by), confirm=confirm, key=which.key
    )
    return told_status(output, study, done.statement.rstrip("."), corrected=done.to_dict())


def void(output: Output, which: Which, pull: int, reason: str, by: str | None) -> int:
    """Takes a result out."""
    study = opened(which)
    done = study.void(pull, reason=reason, by=person(by), key=which.key)
    return told_status(output, study, done.statement.rstrip("."), voided=done.to_dict())
