"""The figures of the reproduction, from its curves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from surefoot.plots import reproduction as plots
from surefoot.problem.checks import Floats
from surefoot.reproduction import paper
from surefoot.reproduction.cells import posed
from surefoot.reproduction.findings import Panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PRINTED = (paper.LINGAPE, paper.SAFE_LINGAPE)


def picture_of(experiment: str, panels: Panels) -> Figure:
    """The figure of this experiment."""
    if experiment == "fig-a":
        level = float(true_levels(paper.LIMIT)[1])
        return plots.level_by_exploration(panels["level"], level, paper.EXPLORED)
    if experiment == "fig-b":
        limits = np.unique(panels["static"][0].column("x"))
        truth = np.array([true_levels(float(eta0)) for eta0 in limits])
        names = [each.name for each in panels["static"]]
        bounded = {name: (limits, truth[:, k]) for k, name in enumerate(names) if (truth[:, k] < 1.0).any()}
        return plots.levels_by_limit(panels, bounded)
    if experiment == "fig-c":
        return plots.pulls_by_dimension(panels, {row.algorithm: (paper.DIM, row.pulls) for row in PRINTED})
    shares = {row.algorithm: (paper.DIM, row.unsafe) for row in PRINTED}
    return plots.violations_by_dimension(panels["violations"], shares)


def true_levels(limit: float) -> Floats:
    """The highest safe level of each arm of the paper's instance with this limit."""
    return posed(paper.DIM, limit, paper.REWARD_NORM)[0].best_levels()
