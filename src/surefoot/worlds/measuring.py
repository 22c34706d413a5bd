"""What a pull returns in a world: the truth, with the noise of the pull's address on top."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.core.kernel import interpreted, is_kernel
from surefoot.errors import InvalidInput
from surefoot.problem import Limit
from surefoot.problem.checks import check_count, check_seed, number
from surefoot.progress import compiling
from surefoot.worlds.protocol import Measurement, NumberedPull

if TYPE_CHECKING:
    from surefoot.core.parts import Response


def measured(
    response: "Response", limits: Sequence[Limit] | None, arms: int, pull: NumberedPull, seed: int, run: int
) -> Measurement:
    """What the pull returns in the units of the limits, or in internal ones without them.

    The noise depends on (seed, run, pull.number) alone: the simulator draws the very same for the same address.
    """
    arm, level, place = checked_pull(pull, arms)
    out = np.empty(response.signals)
    respond = callable_form(response)
    respond(response.truth, response.room, check_seed(seed), check_seed(run, "run"), place, arm, level, out)
    reward, *signals = out.tolist()
    if limits is not None:
        signals = [limit.reading(signal) for limit, signal in zip(limits, signals, strict=True)]
    return {"reward": reward, "safety": signals}


def checked_pull(pull: NumberedPull, arms: int) -> tuple[int, float, int]:
    """The arm, level and number of the pull; what is no pull in a world of so many arms is refused."""
    remedy = "Pass what ask() gave, or anything else with an arm, a level and a number."
    missing = [name for name in ("arm", "level", "number") if not hasattr(pull, name)]
    if missing:
        raise InvalidInput("pull", pull, f"is not a pull: it has no {' and no '.join(missing)}", remedy)
    if isinstance(pull.arm, bool) or not isinstance(pull.arm, int | np.integer) or not 0 <= pull.arm < arms:
        raise InvalidInput("pull.arm", pull.arm, f"must be a position from 0 to {arms - 1}", "Count arms from 0.")
    level = number("pull.level", pull.level, "Levels run from 0 to 1.", at_least=0.0, at_most=1.0)
    return int(pull.arm), level, check_count("pull.number", pull.number)


def callable_form(response: "Response") -> Any:
    """The response as Python calls it: compiled, as in the simulator, unless it is plain Python or everything is."""
    if interpreted() or not is_kernel(response.respond):
        return response.respond
    key = response.respond, type(response.truth), type(response.room)
    if key not in _compiled:
        from surefoot.core.compiler import compiled

        tuples = response.truth, response.room
        _compiled[key] = compiled(response.respond, {}, "the answers of the world", compiling, tuples)
    return _compiled[key]


_compiled: dict[tuple[Any, ...], Any] = {}
