"""What is said about a pull that was told: a value that nothing explains, and a level above the certified one."""

import warnings

from surefoot.errors import Implausible, LevelExceeded, outside
from surefoot.live.ledger import Holding
from surefoot.live.pulls import Pull
from surefoot.problem import Dial, Problem
from surefoot.problem.units import level_in_words


def implausible(dial: Dial | None, asked: Pull, found: Holding) -> Implausible:
    """The refusal of a result that is held."""
    level = found.result[0]
    at = None if dial is None else level_in_words(dial, level)
    return Implausible(asked.number, asked.name, level, [found.surprises], found.unsafe, True, at)


def warn_of_level(problem: Problem, asked: Pull, applied: float) -> None:
    """Warns that a pull was applied above its certified level."""
    warnings.warn(
        f"Pull {asked.number} of {asked.name} was applied at {level_in_words(problem.dial, applied, 6)}, above the "
        f"certified {asked.at.removeprefix('level ')}. It is recorded; the promise of safety does not cover it.",
        LevelExceeded,
        stacklevel=outside(),
    )
