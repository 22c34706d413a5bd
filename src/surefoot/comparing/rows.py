"""What one policy did in one world at one delta: pulls, wrong, unsafe, seconds, each with its interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.comparing.asking import Arena, Contender
from surefoot.comparing.matching import stops_by
from surefoot.policies import to_dict
from surefoot.problem import Problem
from surefoot.problem.checks import Floats, frozen
from surefoot.results import MeanInterval, Runs, mean_interval
from surefoot.theory import LowerBound

NOTHING = MeanInterval(None, None, None)


@dataclass(frozen=True, eq=False)
class Row:
    """One line of the comparison; of a policy that refuses the problem there is only the reason."""

    arena: Arena
    contender: Contender
    problem: Problem
    refused: str | None = None
    runs: int = 0
    ended: int = 0  # runs that stopped by themselves
    promise: str = ""
    promised: float | None = None  # the probability of that
    keeps_limits: bool = False
    certifies: bool = False
    summary: dict[str, Any] | None = None  # of `Runs.summary`
    difference: MeanInterval = NOTHING  # of pulls, to the first policy in the same runs
    pairs: int = 0  # runs in which both stopped
    pace: MeanInterval = NOTHING  # seconds per pull on one core
    pulls_of_all: float = 0.0  # on average, those cut off included
    shares: Floats | None = None  # (K,) of the pulls
    bound: LowerBound | None = None

    @property
    def whole(self) -> bool:
        """Whether every run stopped by itself: else its pulls are those of the lucky ones."""
        return self.refused is None and self.ended == self.runs

    @property
    def seconds(self) -> MeanInterval:
        """Of a run on one core: the time of a pull times the mean pulls, with the interval of the time of a pull."""
        return MeanInterval(*(None if each is None else each * self.pulls_of_all for each in self.pace))

    @property
    def of_bound(self) -> float | None:
        """Mean pulls as a multiple of the lower bound."""
        mean = None if self.summary is None else self.summary["pulls_mean"]
        return None if mean is None or self.bound is None or not self.bound.pulls else mean / self.bound.pulls

    def to_dict(self) -> dict[str, Any]:
        """The row as plain columns, the same for every row."""
        found = self.summary or {}
        rates = {
            f"{name}_{part}": found.get(f"{name}_{part}")
            for name in ("wrong", "broken", "unsafe") for part in ("runs", "lower", "upper")
        }  # fmt: skip
        return {
            "world": self.arena.label, "policy": self.contender.label, "delta": self.problem.delta,
            "delta_safety": self.problem.delta_safety, "epsilon": self.problem.epsilon,
            "arms": self.problem.size, "features": self.problem.rank, "sets": stops_by(self.contender.policy),
            "promise": self.promise or None, "promised": self.promised, "runs": self.runs, "ended": self.ended,
            **{f"pulls_{part}": found.get(f"pulls_{part}") for part in ("mean", "lower", "upper", "sd", "median")},
            **dict(zip(("difference", "difference_lower", "difference_upper"), self.difference, strict=True)),
            "pairs": self.pairs, "lower_bound": None if self.bound is None else self.bound.pulls,
            "t_star": None if self.bound is None else self.bound.t_star, "of_bound": self.of_bound, **rates,
            "unsafe_share": found.get("unsafe_share"),
            **dict(zip(("seconds", "seconds_lower", "seconds_upper"), self.seconds, strict=True)),
            "microseconds_per_pull": None if self.pace.estimate is None else 1e6 * self.pace.estimate,
            "options": to_dict(self.contender.policy), "refused": self.refused,
        }  # fmt: skip


def row_of(
    arena: Arena, contender: Contender, runs: Runs, first: Runs | None, pace: MeanInterval, bound: LowerBound | None,
    confidence: float,
) -> Row:  # fmt: skip
    """What these runs say, beside those of the first policy with the same noise."""
    stated = contender.policy.guarantee(runs.problem)
    both = runs.stopped & first.stopped if first is not None else np.zeros(len(runs), bool)
    apart = mean_interval((runs.pulls - first.pulls)[both], confidence) if first is not None else NOTHING
    spent = float(runs.pulls.sum())
    return Row(
        arena=arena, contender=contender, problem=runs.problem, runs=len(runs), ended=int(runs.stopped.sum()),
        promise=stated.kind, promised=stated.confidence, keeps_limits=stated.keeps_limits, certifies=stated.certifies,
        summary=runs.summary(confidence), difference=apart, pairs=int(both.sum()), pace=pace,
        pulls_of_all=spent / max(len(runs), 1), shares=frozen(runs.pulls_per_arm.sum(axis=0) / max(spent, 1.0)),
        bound=bound,
    )  # fmt: skip
