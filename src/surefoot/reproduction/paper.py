"""What the paper states and prints about its experiments. Everything else on the matter is measured."""

from dataclasses import dataclass

RUNS = 10  # "results are averaged over 10 runs"
DIM = 3
LIMIT = -0.5  # eta0
EXPLORED = 200  # rounds of forced exploration per arm
EXPLORED_AT = 0.2  # the level of forced exploration
DELTA_SAFETY = 0.001
REWARD_NORM = 2.0  # D: not stated; the smallest value for which the paper's own assumption |theta*| <= D holds

PULLS_UNIT = 0.1  # printed to this precision
SHARE_UNIT = 0.001


@dataclass(frozen=True)
class Printed:
    """A row of Table 1."""

    algorithm: str
    pulls: float
    unsafe: float  # share of pulls


LINGAPE = Printed("LinGapE", 1914.7, 0.935)
SAFE_LINGAPE = Printed("Safe-LinGapE", 4254.2, 0.0)
