"""How many trials are still to come, as far as that can be said: the course of the gap, drawn on until epsilon.

It is an extrapolation and no promise. Over the last half of the rounds, log gap is fitted by a line in log round, and
the line is followed to epsilon. Where it was tried (docs/seeing.md), the true number lay within a factor of `SPREAD` of
it in about four of five runs, so the range that wide is given with it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log

import numpy as np

from surefoot.errors import counted
from surefoot.problem.checks import Floats

FEWEST = 20  # rounds with a gap in the last half, for a line to be worth drawing
LEAST_SLOPE = 0.1  # of the fall; a gap that hardly falls says nothing of its end
FURTHEST = 100  # times the rounds so far: beyond that nobody should draw a line
SPREAD = 3.0


@dataclass(frozen=True)
class TrialsToGo:
    """An extrapolation: so many trials more, if the gap goes on shrinking as it did."""

    about: int
    low: int
    high: int
    over: int  # the rounds that it was drawn from

    def __str__(self) -> str:
        few = f"about {counted(self.about, 'more trial')} ({self.low:,} to {self.high:,})"
        return f"{few}, if the gap goes on shrinking as in the last {self.over:,}: an extrapolation, no promise"

    def to_dict(self) -> dict[str, int]:
        """As plain data."""
        return {"about": self.about, "low": self.low, "high": self.high, "over": self.over}


def trials_to_go(gap: Floats, epsilon: float) -> TrialsToGo | None:
    """The extrapolation from the gap after each round, from round 0 on; None where it cannot be said: while exploring,
    in the first rounds, where the gap does not shrink, and at the end."""
    return drawn_on(range(len(gap)), gap, epsilon)


def drawn_on(rounds: Sequence[int], gap: Sequence[float] | Floats, epsilon: float) -> TrialsToGo | None:
    """The same from the gap after some rounds, in their order, the last one of which is now."""
    x, y = np.asarray(rounds, np.float64), np.asarray(gap, np.float64)
    last = int(x[-1]) if len(x) else 0
    if last < 1 or not y[-1] > epsilon:
        return None
    counted_in = np.isfinite(y) & (y > 0.0) & (x >= max(1, last // 2))
    x, y = x[counted_in], y[counted_in]
    if len(x) < FEWEST:
        return None
    slope, height = np.polyfit(np.log(x), np.log(y), 1).tolist()
    if slope > -LEAST_SLOPE:
        return None
    end = (log(epsilon) - height) / slope  # the logarithm of the last round
    if end > log(FURTHEST * last):
        return None
    about = max(1, round(exp(end)) - last)
    return TrialsToGo(about, max(1, round(about / SPREAD)), round(about * SPREAD), int(x[-1] - x[0] + 1))
