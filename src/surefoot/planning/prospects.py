"""A plan: what may be met, how long it may take, and what would make it shorter."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot import policies
from surefoot.cards import card
from surefoot.errors import InvalidInput
from surefoot.plain_data import plain
from surefoot.planning import pilot, scenarios, telling
from surefoot.planning.playing import Played
from surefoot.policies import Policy
from surefoot.problem import Problem
from surefoot.problem.checks import Floats, did_you_mean
from surefoot.problem.norms import is_nearly_linear
from surefoot.results import QUANTILES, Interval, exact_interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class Prospect:
    """What the runs of one scenario say."""

    name: str
    words: str  # what its worlds are like
    trials: Floats  # until certainty, one for each world; infinite where the budget did not suffice
    quantiles: dict[str, float]  # what a tenth, a half and nine tenths of all runs stay within
    undecided: Interval  # the share of runs that ended without certainty, with its exact interval
    unsafe: Interval  # the share of runs that crossed a limit

    @classmethod
    def of(cls, name: str, words: str, found: Played) -> Prospect:
        """The prospect by these runs."""
        runs = len(found.spent)
        return cls(
            name=name, words=words, trials=found.trials,
            quantiles={f"{share:g}": quantile(found.trials, share) for share in QUANTILES},
            undecided=exact_interval(int((~found.certain).sum()), runs),
            unsafe=exact_interval(int(found.unsafe.sum()), runs),
        )  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """The middle scenario with another epsilon or delta."""

    epsilon: float
    delta: float
    median: float  # infinite where the budget does not suffice for half of the runs
    undecided: float  # share of the runs

    @classmethod
    def of(cls, epsilon: float, delta: float, found: Played) -> Cell:
        """The cell by these runs."""
        return cls(epsilon, delta, quantile(found.trials, 0.5), float((~found.certain).mean()))


@dataclass(frozen=True)
class Saving:
    """What one better statement would save in the middle scenario."""

    statement: str
    now: str
    better: str
    worlds: int  # in which the better statement is true
    share: float | None  # of the trials, by the geometric mean of the ratios; None where it holds in too few worlds
    error: float | None  # its standard error
    at_least: bool  # runs without it were cut off by the budget, so that it saves more

    def __str__(self) -> str:
        return f"{self.statement} {self.better} in place of {self.now}"


def quantile(trials: Floats, share: float) -> float:
    """What this share of the runs stays within: the trials of one of them, or infinite."""
    return float(np.quantile(trials, share, method="inverted_cdf"))


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """How many trials an experiment may take. `print(plan)` tells it, `plan.plot()` draws it."""

    problem: Problem
    policy: Policy
    runs: int  # worlds in each scenario
    budget: int
    seed: int
    pilot_rows: int | None  # by which truths were drawn; they are not counted as data
    scenarios: tuple[Prospect, ...]  # from kind to harsh
    grid: tuple[tuple[Cell, ...], ...]  # by epsilon, then by delta
    savings: tuple[Saving, ...]  # the largest first
    floors: dict[str, Floats] = field(default_factory=dict)  # by scenario, the gap left in the end in each world (W6)

    def __getitem__(self, name: str) -> Prospect:
        """The scenario of this name."""
        found = {each.name: each for each in self.scenarios}
        if name not in found:
            raise InvalidInput("scenario", name, "is not one of the plan", did_you_mean(name, found))
        return found[name]

    @property
    def first(self) -> tuple[str, ...]:
        """What is to be known first: scenarios that hardly any run decides within the budget."""
        return telling.said_first(self)

    @property
    def drawn(self) -> str:
        """How the worlds of every scenario were drawn."""
        strays = scenarios.STRAYED if is_nearly_linear(self.problem) else ""
        if self.pilot_rows is not None:
            return pilot.DRAWN + strays
        return (scenarios.DRAWN if self.problem.safety else scenarios.DRAWN_WITHOUT_LIMITS) + strays

    def to_dict(self) -> dict[str, Any]:
        """The plan as plain data; what is infinite is None."""
        table = {
            "policy": policies.to_dict(self.policy),
            "problem": {"fingerprint": self.problem.fingerprint, **self.problem.to_dict_without_arms()},
            "runs": self.runs, "budget": self.budget, "seed": self.seed, "pilot_rows": self.pilot_rows,
            "first": self.first, "drawn": self.drawn, "floors": self.floors,
            "scenarios": self.scenarios,
            "grid": [cell for row in self.grid for cell in row],
            "savings": [{**vars(each), "words": str(each)} for each in self.savings],
            "varied_in": scenarios.MIDDLE,
        }  # fmt: skip
        found: dict[str, Any] = plain(table)
        return found

    def plot(self, *, theme: str = "light", width: float = 9.0) -> Figure:
        """The share of runs that are certain after so many trials, by scenario, and what better statements save."""
        from surefoot.plots.planned import Bar, planned

        curves = [(each.name, each.trials) for each in self.scenarios]
        bars = [
            Bar(each.statement, each.now, each.better, each.share, each.error or 0.0)
            for each in self.savings
            if each.share is not None
        ]
        return planned(curves, self.budget, bars, theme=theme, width=width)

    def __str__(self) -> str:
        return telling.told(self)

    def __repr__(self) -> str:
        medians = ", ".join(
            f"{each.name} {telling.count(each.quantiles['0.5'], self.budget)}" for each in self.scenarios
        )
        return f"Plan({self.policy.name}, {self.runs:,} worlds each; half need at most: {medians})"

    def _repr_html_(self) -> str:
        table = telling.scenario_rows(self)
        points = [f"{each}: {telling.saved(each)}" for each in self.savings]
        return card(
            telling.title(self), [*self.first, *telling.notes(self)], table=table, points=points,
            before_points=telling.SAVINGS,
        )  # fmt: skip
