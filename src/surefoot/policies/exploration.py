"""Forced exploration as users write it: RoundRobin(800), UniformRandom(800, level=0.2), ...                (S0)"""

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from surefoot.core.design import apportion, e_optimal
from surefoot.core.explore import RANDOM, SCHEDULE, Exploration
from surefoot.core.types import Matrix
from surefoot.errors import InvalidInput
from surefoot.policies.options import option
from surefoot.problem import Problem
from surefoot.problem.units import level_shortly

NEVER_EARLIER = -1.0


@dataclass(frozen=True)
class RoundRobin:
    """So many rounds in total, the arms in turn."""

    kind: ClassVar[str] = "round-robin"
    rounds: int
    level: float | None = None

    def __post_init__(self) -> None:
        check_rounds(self.rounds)


@dataclass(frozen=True)
class UniformRandom:
    """So many rounds in total, each arm drawn uniformly at random."""

    kind: ClassVar[str] = "uniform-random"
    rounds: int
    level: float | None = None

    def __post_init__(self) -> None:
        check_rounds(self.rounds)


@dataclass(frozen=True)
class EOptimal:
    """So many rounds in total, shared out so that the least known direction is known best."""

    kind: ClassVar[str] = "e-optimal"
    rounds: int
    level: float | None = None

    def __post_init__(self) -> None:
        check_rounds(self.rounds)


@dataclass(frozen=True)
class UntilConfident:
    """The arms in turn until what is unlearned about levels costs at most this share of epsilon, or so many rounds."""

    kind: ClassVar[str] = "until-confident"
    share: float = 0.5
    rounds: int = 10_000
    level: float | None = None

    def __post_init__(self) -> None:
        check_rounds(self.rounds)
        if isinstance(self.share, bool) or not isinstance(self.share, int | float) or not 0 < self.share <= 1:
            raise InvalidInput(
                "explore.share", self.share, "must lie in (0, 1]", "0.5 leaves half of epsilon to spend."
            )


Explore: TypeAlias = RoundRobin | UniformRandom | EOptimal | UntilConfident | None
EXPLORE = option(None, "Forced exploration first: KIND:ROUNDS@LEVEL, such as round-robin:800@0.2, or none.")
EXPLORATIONS: dict[str, type[RoundRobin | UniformRandom | EOptimal | UntilConfident]] = {
    kind.kind: kind for kind in (RoundRobin, UniformRandom, EOptimal, UntilConfident)
}


def check_rounds(rounds: object) -> None:
    """Refuses a length of exploration that is not a whole number of at least 0."""
    if isinstance(rounds, bool) or not isinstance(rounds, int | np.integer) or not 0 <= rounds <= 10**12:
        raise InvalidInput(
            "explore.rounds", rounds, "must be a whole number of rounds in total, at least 0", "Try 200 per arm."
        )


def check_explore(explore: object) -> None:
    """Refuses what is not a way to explore."""
    if explore is not None and type(explore) not in EXPLORATIONS.values():
        names = ", ".join(f"sf.{kind.__name__}" for kind in EXPLORATIONS.values())
        raise InvalidInput("explore", explore, f"must be one of {names} or None", "For example sf.RoundRobin(800).")


def planned(
    explore: Explore, problem: Problem, default_level: NDArray[np.float64], highest: NDArray[np.float64],
    features: Matrix | None = None,
) -> Exploration:  # fmt: skip
    """The plan of exploration for this problem, none of whose levels is above `highest`; the arms may be in other
    coordinates than the problem has them."""
    K = len(problem.names)
    if explore is None:
        return Exploration(0, SCHEDULE, np.zeros(1, np.int64), default_level.copy(), NEVER_EARLIER)
    level = default_level.copy() if explore.level is None else np.full(K, dialled(explore.level, problem))
    if (level > highest).any():
        k = int(np.argmax(level > highest))
        raise InvalidInput(
            "explore.level", explore.level,
            f"is above {level_shortly(problem.dial, highest[k])}, the level of {problem.names[k]!r} that is known to "
            "be safe",
            "Explore at the safe level or below it, or leave level out.",
        )  # fmt: skip
    if isinstance(explore, EOptimal):
        shares, Z = np.zeros(K), (problem.features if features is None else features) * level[:, None]
        tried = problem.pullable
        shares[tried] = e_optimal(Z if tried.all() else Z[tried])
        return Exploration(explore.rounds, SCHEDULE, apportion(shares, explore.rounds), level, NEVER_EARLIER)
    turn = np.flatnonzero(problem.pullable).astype(np.int64)
    if isinstance(explore, UntilConfident):
        return Exploration(explore.rounds, SCHEDULE, turn, level, explore.share * problem.epsilon)
    return Exploration(
        explore.rounds, RANDOM if isinstance(explore, UniformRandom) else SCHEDULE, turn, level, NEVER_EARLIER
    )


def dialled(level: object, problem: Problem) -> float:
    """The level of exploration as a number in (0, 1], rounded down to the grid of the dial."""
    if isinstance(level, bool) or not isinstance(level, int | float | np.floating) or not 0 < level <= 1:
        raise InvalidInput("explore.level", level, "must lie in (0, 1]", "Leave it out for the known safe level.")
    if problem.dial is not None and level < problem.dial.lowest_level:
        lowest = f"is below {problem.dial.lowest_level:g}, the level of the lowest setting of the dial"
        raise InvalidInput("explore.level", level, lowest, "Leave it out for the known safe level.")
    if not problem.level_grid:
        return float(level)
    below = [setting for setting in problem.level_grid if setting <= level]
    if not below:
        lowest = f"is below {problem.level_grid[0]:g}, the lowest setting of the dial"
        raise InvalidInput("explore.level", level, lowest, "Leave it out for the known safe level.")
    return below[-1]
