"""`surefoot study cancel`, `fail`, `expire`, `abort`, `freeze` and `release`: pulls that never come back, and the
emergency stop."""

from __future__ import annotations

import getpass
import re

from surefoot.cli.job import Which
from surefoot.cli.output import Output
from surefoot.cli.study_status import opened, told_status
from surefoot.errors import ABSENT, InvalidInput
from surefoot.studies.inputs import UNDER_WHICH_CONDITION

UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}


def give_up(output: Output, which: Which, kind: str, pull: int, reason: str, confirmed: bool) -> int:
    """Cancels or fails an open pull."""
    study = opened(which)
    check_confirmed(confirmed)
    {"cancel": study.cancel, "fail": study.fail}[kind](pull, reason, not_because_of_result=True, key=which.key)
    state = {"cancel": "cancelled", "fail": "failed"}[kind]
    return told_status(output, study, f"Pull {pull} is {state}", closed=[pull], state=state)


def expire(
    output: Output, which: Which, pull: int | None, older_than: str | None, reason: str, confirmed: bool
) -> int:  # fmt: skip
    """Gives up one pull, or all that are old."""
    study = opened(which)
    age = None if older_than is None else seconds_in(older_than)
    check_confirmed(confirmed)
    closed = study.expire(pull, older_than=age, reason=reason, not_because_of_result=True, key=which.key)
    listed = ", ".join(map(str, closed))
    words = f"Stale: {listed}" if closed else "No open pull is that old"
    return told_status(output, study, words, closed=closed, state="stale")


def abort(output: Output, which: Which, pull: int, reason: str, by: str | None) -> int:
    """Records that a pull looked unsafe and was stopped."""
    study = opened(which)
    study.abort(pull, reason, person(by), key=which.key)
    return told_status(
        output, study, f"Pull {pull} is aborted, the study frozen", closed=[pull], state="aborted-unsafe"
    )


def hold(output: Output, which: Which, kind: str, reason: str, by: str | None) -> int:
    """Freezes or releases the study."""
    study = opened(which)
    {"freeze": study.freeze, "release": study.release}[kind](reason, person(by), key=which.key)
    return told_status(output, study, {"freeze": "Frozen", "release": "Released"}[kind])


def check_confirmed(confirmed: bool) -> None:
    """Refuses to give up a pull unless it is confirmed that its result is not the reason."""
    if not confirmed:
        raise InvalidInput(
            "--not-because-of-result", ABSENT, UNDER_WHICH_CONDITION, "Add the flag once you are sure of it.",
        )  # fmt: skip


def person(by: str | None) -> str:
    """Who does this: as given, or the login name."""
    try:
        return getpass.getuser() if by is None else by
    except (KeyError, OSError):
        raise InvalidInput("--by", ABSENT, "there is no login name here", "Say who does this.") from None


def seconds_in(age: str) -> float:
    """The age in seconds, from words such as 90, 30m, 12h or 7d."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd]?)", age.strip())
    if found is None:
        raise InvalidInput("--older-than", age, "is not an age", "Write seconds, or such as 30m, 12h, 7d.")
    return float(found[1]) * UNITS[found[2]]
