"""The course of an experiment in numbers, round by round, as tables that people and pictures read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from surefoot import frames
from surefoot.errors import InvalidInput, counted
from surefoot.live.certificate import NOTHING
from surefoot.live.outlook import TrialsToGo, trials_to_go
from surefoot.live.readings import safety_columns
from surefoot.problem import Problem
from surefoot.problem.checks import Floats

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

Counts = NDArray[np.int64]
NOBODY = -2  # in the place of an arm; -1 is the null pull
PHASES = ("explore", "decide")
BY_ARM = ("pulls", "certified", "possible", "estimate", "middle", "low", "high")


@dataclass(frozen=True, eq=False, repr=False)
class Trace:
    """What was pulled and returned in each round, and what was known after it. Round 0 is before the first result.

    `to_pandas()` has a row for each round, `arms_to_pandas()` one for each arm that is followed at each round whose
    numbers are kept (`kept`). Rewards and readings are in the user's units. Predictions are of means: `low` and `high`
    are the lowest and the highest that the confidence sets still allow, infinite where nothing is known.
    """

    problem: Problem
    keeps_limits: bool
    # one entry for each round, from 0
    number: Counts  # of the pull; 0 before the first
    arm: Counts
    level: Floats  # really applied
    reward: Floats
    readings: Floats  # (rounds, limits)
    phase: Counts
    leader: Counts
    challenger: Counts
    gap: Floats  # nan while exploring
    mean_low: Floats  # (rounds, 1 + limits) of this round's pull, by all that was known before it; nan if not kept
    mean_high: Floats
    # one row for each kept round, one column for each arm that is followed
    kept: Counts
    arms: Counts
    pulls: Counts
    certified: Floats
    possible: Floats
    estimate: Floats  # of the reward at full level
    middle: Floats  # (kept, arms, 1 + limits) the mean at the certified level: estimated,
    low: Floats  # and the range of what is still possible
    high: Floats

    def __len__(self) -> int:
        """How many rounds there were."""
        return len(self.number) - 1

    def __repr__(self) -> str:
        return f"Trace({counted(len(self), 'round')}, {counted(len(self.arms), 'arm')} of {self.problem.size:,})"

    @property
    def trials_to_go(self) -> TrialsToGo | None:
        """How many trials are still to come, if the gap goes on shrinking as it did; None where that cannot be said."""
        return trials_to_go(self.gap, self.problem.epsilon)

    @property
    def names(self) -> list[str]:
        """The arms that are followed."""
        return [self.problem.names[k] for k in self.arms.tolist()]

    def rounds(self) -> dict[str, Any]:
        """A column for each number of a round: its pull, its result, and the race after it."""
        problem = self.problem
        return {
            "round": np.arange(len(self.number)),
            "number": self.number,
            "name": named(problem, self.arm),
            "level": self.level,
            "reward": self.reward,
            **{name: self.readings[:, i] for i, name in enumerate(safety_columns(problem))},
            "phase": np.array([PHASES[code] for code in self.phase.tolist()], object),
            "leader": named(problem, self.leader),
            "challenger": named(problem, self.challenger),
            "gap": self.gap,
            "epsilon": np.full(len(self.number), problem.epsilon),
        }

    def by_arm(self) -> dict[str, Any]:
        """Columns of what was known of each arm after each kept round: levels, the reward at full level, and reward
        and readings at the certified level with the range of what is still possible."""
        times, arms = len(self.kept), len(self.arms)
        found: dict[str, Any] = {
            "round": np.repeat(self.kept, arms),
            "name": np.array(self.names * times, object),
            "pulls": self.pulls.ravel(),
            "certified": self.certified.ravel(),
            "possible": self.possible.ravel(),
            "known_safe": np.tile(self.problem.safe_level[self.arms], times),
            "estimate": self.estimate.ravel(),
        }
        for s, signal in enumerate(["reward", *safety_columns(self.problem)]):
            for suffix, values in (("", self.middle), ("_low", self.low), ("_high", self.high)):
                found[signal + suffix] = values[:, :, s].ravel()
        return found

    def of_arms(self, arms: Sequence[int | str]) -> Trace:
        """The same, with the numbers of these arms alone, which must be among those that are followed."""
        names, known = self.names, {int(arm): place for place, arm in enumerate(self.arms.tolist())}
        places = [known.get(arm, -1) if isinstance(arm, int) else find(names, arm) for arm in arms]
        if -1 in places:
            reason = "is not among the arms that are followed"
            raise InvalidInput(
                "arms", arms[places.index(-1)], reason, "Name it when the trace is made: trace(arms=[...])."
            )
        some = {name: getattr(self, name)[:, places] for name in BY_ARM}
        return replace(self, arms=self.arms[places], **some)

    def weightiest(self) -> list[int]:
        """The arms that are followed, those in front that lead, challenge or were pulled most."""
        racing = [int(k) for k in (self.leader[-1], self.challenger[-1]) if k in self.arms]
        busiest = self.arms[np.argsort(-self.pulls[-1], kind="stable")].tolist()
        return list(dict.fromkeys([*racing, *busiest]))

    def to_pandas(self) -> pd.DataFrame:
        """One row for each round, with the numbers of each arm in columns such as `certified: NAME`."""
        return frames.to_pandas(self._wide())

    def to_polars(self) -> pl.DataFrame:
        """The same as a polars frame."""
        return frames.to_polars(self._wide())

    def arms_to_pandas(self) -> pd.DataFrame:
        """One row for each arm that is followed at each kept round: the columns of `by_arm`."""
        return frames.to_pandas(self.by_arm())

    def arms_to_polars(self) -> pl.DataFrame:
        """The same as a polars frame."""
        return frames.to_polars(self.by_arm())

    def _wide(self) -> dict[str, Any]:
        """The columns of rounds, and those of each arm beside them; nan where they were not kept."""
        found = self.rounds()
        several = {"certified": self.certified, "possible": self.possible, "estimate": self.estimate}
        several |= {"reward": self.middle[:, :, 0], "low": self.low[:, :, 0], "high": self.high[:, :, 0]}
        for place, name in enumerate(self.names):
            for word, values in several.items():
                column = np.full(len(self.number), np.nan)
                column[self.kept] = values[:, place]
                found[f"{word}: {name}"] = column
        return found


def find(names: Sequence[str], name: str) -> int:
    """The place of the name, -1 where it is not there."""
    return names.index(name) if name in names else -1


def named(problem: Problem, arms: Counts) -> NDArray[Any]:
    """The names of arms; each is made once, however many rounds there are."""
    found, places = np.unique(arms, return_inverse=True)
    words = {NOBODY: None, -1: NOTHING}
    names = [words[k] if k in words else problem.names[k] for k in found.tolist()]
    return np.array(names, object)[places]
