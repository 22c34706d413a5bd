"""The distribution of a mean of ten runs, from a thousand, and where a printed number lies in it."""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from surefoot.problem.checks import Floats
from surefoot.reproduction import paper

RESAMPLES = 20_000
QUANTILES = (0.005, 0.025, 0.25, 0.5, 0.75, 0.975, 0.995)


@dataclass(frozen=True)
class Position:
    """Where a printed number lies among the means of ten runs."""

    printed: float
    quantiles: dict[float, float]  # of the means of ten
    at_most: float  # share of the means that are the printed number, as it was rounded, or less
    at_least: float

    @property
    def tail(self) -> float:
        """The smaller of the two shares: 0.5 in the middle, 0 beyond both ends."""
        return min(self.at_most, self.at_least)

    def within(self, confidence: float) -> bool:
        """Whether the printed number lies in the central part of the distribution that has this share."""
        return self.tail >= (1.0 - confidence) / 2.0


def means_of_ten(values: Floats) -> Floats:
    """Means of ten runs drawn with replacement; a run that never ended counts as infinitely long."""
    if values.min() == values.max():
        return values[:1]  # whatever is drawn
    means: Floats = values[sets_of_ten(len(values))].mean(axis=1)
    return means


@cache
def sets_of_ten(runs: int) -> NDArray[np.int64]:
    """Sets of ten among so many runs, always the same, so that rows are compared on the same luck."""
    drawn: NDArray[np.int64] = np.random.default_rng(10).integers(0, runs, (RESAMPLES, paper.RUNS))
    return drawn


def position(values: Floats, printed: float, unit: float) -> Position:
    """Where the number, printed to this unit, lies among the means of ten of these values."""
    means = means_of_ten(values)
    slack = 0.5 * unit * (1.0 + 1e-9)  # what rounding may have done, and a little for its own rounding
    quantiles = np.quantile(means, QUANTILES, method="nearest")  # never between a number and infinity
    return Position(
        printed=printed,
        quantiles=dict(zip(QUANTILES, quantiles.tolist(), strict=True)),
        at_most=float((means <= printed + slack).mean()),
        at_least=float((means >= printed - slack).mean()),
    )
