"""`surefoot study ask`, `tell`, `add` and `add-table`: what to apply, and what came of it."""

from __future__ import annotations

from pathlib import Path

from surefoot.cli.job import Which
from surefoot.cli.output import Output
from surefoot.cli.study_status import in_words, opened, told_status
from surefoot.errors import ABSENT, InvalidInput, counted
from surefoot.studies.study import Study


def ask(output: Output, which: Which, count: int | None, worker: str | None) -> int:
    """The next pull, or so many."""
    study = opened(which)
    if count is None:
        pull = study.ask(worker=worker, key=which.key)
        return output.answer({"pull": pull.to_dict()}, in_words(pull))
    pulls = study.ask(count, worker=worker, key=which.key)
    return output.answer({"pulls": [pull.to_dict() for pull in pulls]}, "\n".join(map(in_words, pulls)))


def tell(
    output: Output, which: Which, pull: int, reward: float, safety: list[str] | None, level: str | None, confirm: bool
) -> int:
    """Takes the result of an open pull."""
    study, applied = opened(which), None if level is None else level_in(level)
    study.tell(pull, reward=reward, safety=readings_in(study, safety), level=applied, confirm=confirm, key=which.key)
    return told_status(output, study, f"Pull {pull} is told", told=pull)


def add(
    output: Output, which: Which, arm: str, level: str, reward: float, safety: list[str] | None,
    source: str | None,
    unpicked: bool, confirm: bool,
) -> int:  # fmt: skip
    """Takes over a result that was measured elsewhere."""
    study = opened(which)
    arm_or_place: str | int = int(arm) if arm not in study.problem.names and arm.isdecimal() else arm
    made = study.add(
        arm_or_place, level_in(level), reward, readings_in(study, safety), not_because_of_result=unpicked,
        source=source, confirm=confirm, key=which.key,
    )  # fmt: skip
    return told_status(output, study, f"The result is pull {made}", added=made)


def add_table(
    output: Output, which: Which, file: Path, order: str | None, time: str | None, source: str | None, unpicked: bool,
    confirm: bool,
) -> int:  # fmt: skip
    """Takes over a table of results that were measured elsewhere."""
    study = opened(which)
    made = study.add(
        file, order=order, time=time, not_because_of_result=unpicked, source=source or file.name, confirm=confirm,
        key=which.key,
    )  # fmt: skip
    words = f"{counted(len(made), 'result')} taken over, pulls {made[0]} to {made[-1]}"
    return told_status(output, study, words, added=list(made), stated=study.statements()[-1].words)


def level_in(word: str) -> float | str:
    """A level, from a number; as it is, where it may be a setting with its unit."""
    try:
        return word if "_" in word else float(word)
    except ValueError:
        return word


def readings_in(study: Study, words: list[str] | None) -> float | dict[str, float]:
    """What was read, from words such as 6.1 or pressure=6.1."""
    remedy = "Write --safety 6.1 for one limit, or --safety NAME=NUMBER for each of several."
    words = words or []
    if words and not study.problem.safety:
        raise InvalidInput("--safety", words[0], "is told, and the problem states no limits", "Leave it out.")
    if not words and study.problem.safety:
        raise InvalidInput("--safety", ABSENT, "is required: the problem states limits", remedy)
    if len(words) == 1 and len(study.problem.safety) == 1 and "=" not in words[0]:
        return as_number(words[0], remedy)
    found: dict[str, float] = {}
    for word in words:
        key, sign, value = word.rpartition("=")
        if not sign or key in found:
            reason = "must read NAME=NUMBER" if not sign else "names a limit twice"
            raise InvalidInput("--safety", word, reason, remedy)
        found[key] = as_number(value, remedy)
    return found


def as_number(word: str, remedy: str) -> float:
    """The word as a number."""
    try:
        return float(word)
    except ValueError:
        raise InvalidInput("--safety", word, "is not a number", remedy) from None
