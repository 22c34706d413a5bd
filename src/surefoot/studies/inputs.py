"""What users hand to the verbs of a study, as the plain values that were meant, or refused by name."""

import numpy as np

from surefoot.errors import InvalidInput
from surefoot.live.pulls import Pull
from surefoot.problem import Problem
from surefoot.problem.checks import text

UNDER_WHICH_CONDITION = (
    "a pull may be given up only if that does not depend on its result, nor on any result with a larger number, nor on "
    "one still open"
)


def pull_number(pull: object) -> int:
    """The number of the pull."""
    found = pull.number if isinstance(pull, Pull) else pull
    if isinstance(found, bool) or not isinstance(found, int | np.integer):
        raise InvalidInput("pull", pull, "must be a pull or its number", "Pass what ask() gave, or its number.")
    return int(found)


def arm_index(problem: Problem, arm: object) -> int:
    """The place of the arm that was given by its place or its name."""
    if isinstance(arm, int | np.integer) and not isinstance(arm, bool):
        if 0 <= arm < problem.size:
            return int(arm)
        reason = f"must be at least 0 and below {problem.size}, the number of arms"
        raise InvalidInput("arm", arm, reason, "Arms count from 0; or give the arm's name.")
    return problem.index_of(arm)  # type: ignore[arg-type]  # it refuses what is no name


def confirm(not_because_of_result: object, rule: str) -> None:
    """Nothing, once it is confirmed that a result is not left out, or taken in, because of what it is."""
    if not_because_of_result is not True:
        remedy = "Pass not_because_of_result=True once you are sure of it."
        raise InvalidInput("not_because_of_result", not_because_of_result, rule, remedy)


def closing_reason(reason: object, not_because_of_result: object) -> str:
    """The reason for giving up a pull, once it is confirmed that its result is not the reason."""
    confirm(not_because_of_result, UNDER_WHICH_CONDITION)
    return said_reason(reason)


def said_reason(reason: object) -> str:
    """What is kept with the study as the reason."""
    return text("reason", reason, "Say in one line why; it is kept with the study.")


def said_name(by: object) -> str:
    """Who does something that is kept under a name."""
    return text("by", by, "Give the name of the person or program that does this.")
