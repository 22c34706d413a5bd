"""What is stated about how closely means follow the linear law."""

from __future__ import annotations

from math import inf

from surefoot.errors import InvalidInput
from surefoot.problem.checks import number
from surefoot.problem.noise import NoiseLaw

ERROR = "Give how far the mean may be from the linear law, in the units that are read, or leave it out."
SIZED = "State a size that the noise certainly does not exceed: residuals cannot tell it from such an error."


def checked_error(field: str, value: object, law: NoiseLaw, room: float = inf) -> float:
    """The error of the linear law, less than the room up to a limit, and not beside noise of unknown size."""
    error = number(field, value, ERROR, at_least=0.0)
    if error > 0.0 and law.unknown:
        raise InvalidInput(field, error, "cannot be stated where the size of the noise is unknown", SIZED)
    if not error < room:
        reason = (
            f"must be less than {room:.6g}, the room between baseline and limit: no level could be shown to be safe"
        )
        raise InvalidInput(field, error, reason, "Move the limit away from the baseline, or state a smaller error.")
    return error
