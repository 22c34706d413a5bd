"""Pictures of experiments, and the data frames behind them. matplotlib is imported when the first one is drawn:
pip install 'surefoot[plots]'.

Each picture takes a session, a study, the trace of one, or a data frame, and returns a matplotlib figure; those of a
comparison (`pulls_by_delta`, `pulls_by_features`, `pulls_by_gap`, `shares`) take what `sf.compare` gives. The twin of
each has `_frame` added to the name and returns the numbers that are drawn, as a pandas or polars frame.
"""

from surefoot.plots.compared import (
    COMPARED,
    pulls_by_delta,
    pulls_by_delta_frame,
    pulls_by_features,
    pulls_by_features_frame,
    pulls_by_gap,
    pulls_by_gap_frame,
    shares,
    shares_frame,
)
from surefoot.plots.experiment import KINDS, gap, levels, pulls, readings, rewards
from surefoot.plots.style import rendered
from surefoot.plots.tables import gap_frame, levels_frame, pulls_frame, readings_frame, rewards_frame

__all__ = [
    "COMPARED", "KINDS", "gap", "gap_frame", "levels", "levels_frame", "pulls", "pulls_by_delta",
    "pulls_by_delta_frame", "pulls_by_features", "pulls_by_features_frame", "pulls_by_gap", "pulls_by_gap_frame",
    "pulls_frame", "readings", "readings_frame", "rendered", "rewards", "rewards_frame", "shares", "shares_frame",
]  # fmt: skip
