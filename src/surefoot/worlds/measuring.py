"""What a pull returns in a world: the truth, with the noise of the pull's address on top."""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.errors import InvalidInput
from surefoot.problem import Limit
from surefoot.problem.checks import check_count, check_seed, number
from surefoot.worlds.protocol import Measurement, NumberedPull

if TYPE_CHECKING:
    from surefoot.core.types import Truth


def measured(truth: "Truth", limits: Sequence[Limit] | None, pull: NumberedPull, seed: int, run: int) -> Measurement:
    """What the pull returns in the units of the limits, or in internal ones without them.

    The noise depends on (seed, run, pull.number) alone: the simulator draws the very same for the same address.
    """
    arm, level, place = checked_pull(pull, truth.value.shape[1])
    words, no_block, out = np.empty(4, np.uint64), np.full(1, -1), np.empty(len(truth.scale))
    _nature()(truth, check_seed(seed), check_seed(run, "run"), place, arm, level, words, no_block, out)
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


@cache
def _nature() -> Any:
    """The simulator's own `observe` in a form that Python can call, compiled when first needed."""
    from surefoot.core.kernel import entry
    from surefoot.core.nature import observe

    return entry(observe)
