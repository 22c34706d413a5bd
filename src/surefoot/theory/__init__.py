"""What the theory promises about a problem, computed: (T1) to (T9). docs/math.md states each formula in words.

allocation    how to share out pulls to learn one direction                      (T1, T2, T3)
stopping      complexity, a bound on pulls, the level confidence it allows       (T4, T5, T6)
exploration   how long to explore at the known safe level                        (T7, T8)
lower_bounds  how many pulls no safe method can do without                       (T9)
oracle        how one would pull who knows the truth, and no limits                 (F16)
summary       all of it for one problem, as `surefoot theory` prints it
"""

from surefoot.theory.allocation import (
    Combination,
    RidgeIdentity,
    pull_worth,
    ridge_identity,
    shortest_combination,
    width_bound,
)
from surefoot.theory.exploration import (
    Exploration,
    LevelTarget,
    exploration_length,
    exploration_length_closed_form,
    level_room,
    mean_design,
)
from surefoot.theory.lower_bounds import (
    Evidence,
    LowerBound,
    evidence_needed,
    lower_bound,
    lower_bound_for,
    uncut_evidence,
    uncut_reference,
)
from surefoot.theory.oracle import XYOracle, xy_oracle
from surefoot.theory.stopping import (
    complexity,
    gaps,
    level_confidence,
    stopping_bound,
    uniform_level_confidence,
)
from surefoot.theory.summary import ExplorationNeed, PullsAt, Report, report

__all__ = [
    "Combination",
    "Evidence",
    "Exploration",
    "ExplorationNeed",
    "LevelTarget",
    "LowerBound",
    "PullsAt",
    "Report",
    "RidgeIdentity",
    "XYOracle",
    "complexity",
    "evidence_needed",
    "exploration_length",
    "exploration_length_closed_form",
    "gaps",
    "level_confidence",
    "level_room",
    "lower_bound",
    "lower_bound_for",
    "mean_design",
    "pull_worth",
    "report",
    "ridge_identity",
    "shortest_combination",
    "stopping_bound",
    "uncut_evidence",
    "uncut_reference",
    "uniform_level_confidence",
    "width_bound",
    "xy_oracle",
]
