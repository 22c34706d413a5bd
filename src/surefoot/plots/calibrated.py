"""The picture of a calibration: readings against level, arm by arm, with a line through the baseline for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.plots.experiment import checked_width, headed
from surefoot.plots.style import (
    BLUE,
    GREEN,
    ORANGE,
    PURPLE,
    SKY,
    VERMILION,
    Theme,
    canvas,
    plain,
    shortened,
    theme_named,
)
from surefoot.problem import Problem
from surefoot.problem.checks import Floats
from surefoot.problem.units import with_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY)
MARKS = ("o", "s", "^", "D", "v", "P")  # never by colour alone
WIDTH, NARROW = 9.0, 7.0  # inches; below the second one panel stands over the other


class Panel(NamedTuple):
    """One signal, as it is read."""

    name: str
    unit: str | None
    baseline: float
    readings: Floats
    limit: float | None


def calibrated(
    problem: Problem, arm: NDArray[np.intp], level: Floats, panels: Sequence[Panel], *, theme: str = "light",
    width: float = WIDTH,
) -> Figure:  # fmt: skip
    """Of more than six arms, those with most rows."""
    look, wide = theme_named(theme), checked_width(width)
    arms, counts = np.unique(arm, return_counts=True)
    shown = arms[np.argsort(-counts, kind="stable")][: len(COLOURS)]
    columns = min(len(panels), 2 if wide >= NARROW else 1)
    rows = -(-len(panels) // columns)
    with canvas(columns, (wide, 0.8 + 3.0 * rows), rows=rows, theme=look) as (figure, axes):
        for each, panel in zip(axes, panels, strict=False):
            signal_panel(each, problem, arm, level, panel, shown, look)
        for each in axes[len(panels) :]:
            each.set_visible(False)
        more = f" ({len(shown)} options of {len(arms)})" if len(arms) > len(shown) else ""
        headed(figure, f"Pilot rows, and a line for each option{more}")
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower left", ncols=4 if wide > 6 else 2)
    return figure


def signal_panel(
    axes: Axes, problem: Problem, arm: NDArray[np.intp], level: Floats, panel: Panel, shown: NDArray[np.intp],
    look: Theme,
) -> None:  # fmt: skip
    """Readings of one signal."""
    ends = np.array([0.0, float(level.max()) * 1.1 or 1.0])
    for k, colour, mark in zip(shown, COLOURS, MARKS, strict=False):
        mine = arm == k
        axes.plot(
            level[mine], panel.readings[mine], mark, color=colour, ms=4.5, alpha=0.7, mew=0,
            label=shortened(problem.names[int(k)]),
        )  # fmt: skip
        squares = float(level[mine] @ level[mine])
        if squares > 0.0:
            slope = float(level[mine] @ (panel.readings[mine] - panel.baseline)) / squares
            axes.plot(ends, panel.baseline + slope * ends, color=colour, lw=1.3)
    if panel.limit is not None:
        axes.axhline(panel.limit, color=look.warning, ls="--", lw=1.3)
        axes.annotate(
            f"limit {plain(with_unit(f'{panel.limit:g}', panel.unit))}", (0.02, panel.limit), (0, 3),
            xycoords=("axes fraction", "data"), textcoords="offset points", color=look.warning, fontsize=9,
        )  # fmt: skip
    known = float(problem.safe_level[shown].min())
    axes.axvline(known, color=look.quiet, lw=1.0, ls=(0, (1, 2)), label="known to be safe")
    axes.set_xlim(0.0, max(float(ends[1]), known * 1.05))
    axes.locator_params(axis="x", nbins=5)
    dial = problem.dial
    if dial is not None:
        axes.xaxis.set_major_formatter(lambda at, place: "" if (set_ := dial.setting_of(at)) is None else f"{set_:.4g}")
    axes.set(xlabel="level" if dial is None else plain(dial.unit), ylabel=plain(with_unit("", panel.unit).strip()))
    axes.set_title(shortened(panel.name, 40))
