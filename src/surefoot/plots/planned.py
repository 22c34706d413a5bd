"""The picture of a plan: how many runs are certain after so many trials, and what better statements would save."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from surefoot.plots.experiment import checked_width, headed
from surefoot.plots.style import Theme, canvas, plain, shortened, theme_named
from surefoot.problem.checks import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DASHES = ("-", "--", "-.", ":")  # never by colour alone
WIDTH = 9.0  # inches
NARROW = 7.0  # inches, below which the panels stand one over the other
LETTERS = 34  # of a statement


class Bar(NamedTuple):
    """What a better statement saves."""

    statement: str
    now: str
    better: str
    share: float
    error: float


def planned(
    curves: Sequence[tuple[str, Floats]], budget: int, bars: Sequence[Bar], *, theme: str = "light",
    width: float = WIDTH,
) -> Figure:  # fmt: skip
    """Curves are names with the trials of each run, infinite where the budget did not suffice."""
    look, wide = theme_named(theme), checked_width(width)
    panels, tall = (2, 2.4 + 0.3 * max(len(bars), 5)) if bars else (1, 3.9)
    beside = wide >= NARROW or not bars
    columns, rows = (panels, 1) if beside else (1, panels)
    with canvas(columns, (wide, tall if beside else 3.2 + tall), rows=rows, theme=look) as (figure, axes):
        certain_panel(axes[0], curves, budget, look)
        if bars:
            savings_panel(axes[1], bars, look)
        headed(
            figure, "How many trials it may take, and what would save some" if bars else "How many trials it may take"
        )
        figure.legend(loc="outside lower left", ncols=4, title="scenario", alignment="left")
    return figure


def certain_panel(axes: Axes, curves: Sequence[tuple[str, Floats]], budget: int, look: Theme) -> None:
    """The share of runs that are certain after so many trials."""
    from matplotlib.ticker import LogLocator, NullFormatter

    known = np.concatenate([trials[np.isfinite(trials)] for _, trials in curves])
    left = max(float(known.min(initial=budget)), 1.0) / 1.5
    enough = all(np.isfinite(trials).all() for _, trials in curves)
    right = min(2.0 * float(known.max()), budget) if enough else float(budget)
    for (name, trials), colour, dash in zip(curves, (look.main, look.second, look.warning), DASHES, strict=False):
        ended = np.sort(trials[np.isfinite(trials)])
        x = np.concatenate([[left], ended, [right]])
        y = np.concatenate([[0.0], np.arange(1, len(ended) + 1), [len(ended)]]) / max(len(trials), 1)
        axes.plot(x, y, dash, color=colour, drawstyle="steps-post", label=plain(name))
    if right == budget:
        axes.axvline(budget, color=look.quiet, lw=1.0, ls=(0, (1, 2)))
        axes.annotate(
            f"budget {budget:,}", (budget, 0.5), (-4, 0), xycoords=("data", "axes fraction"), ha="right", va="center",
            rotation=90, textcoords="offset points", color=look.quiet, fontsize=9,
        )  # fmt: skip
    axes.set_xscale("log")
    axes.set_xlim(left, right * 1.06)
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if right < 150 * left else (1.0,)))
    axes.xaxis.set_major_formatter(lambda value, place: f"{value:,.0f}")
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set(xlabel="trials", ylabel="share of runs that are certain", ylim=(-0.02, 1.04))
    ticks = [0.0, 0.25, 0.5, 0.75, 1.0]
    axes.set_yticks(ticks, [f"{100 * tick:.0f} %" for tick in ticks])


def savings_panel(axes: Axes, bars: Sequence[Bar], look: Theme) -> None:
    """What each better statement would save, with its standard error."""
    for place, bar in enumerate(bars):
        axes.barh(place, bar.share, height=0.55, color=look.main, alpha=0.75)
        axes.plot([bar.share - bar.error, bar.share + bar.error], [place, place], color=look.ink, lw=1.2)
        axes.annotate(
            f"{round(100 * bar.share)} %", (max(bar.share + bar.error, 0.0), place), (4, 0), textcoords="offset points",
            va="center", fontsize=9, color=look.ink,
        )  # fmt: skip
    words = [f"{shortened(bar.statement, LETTERS)}\n{plain(f'{bar.now} → {bar.better}')}" for bar in bars]
    axes.set_yticks(range(len(bars)), words, fontsize=9)
    axes.set_ylim(max(len(bars), 2) - 0.4, -0.6)
    low, high = min(bar.share - bar.error for bar in bars), max(bar.share + bar.error for bar in bars)
    axes.set_xlim(min(low, 0.0) * 1.1, max(high, 0.05) * 1.25)
    axes.xaxis.set_major_formatter(lambda value, place: f"{100 * value:.0f} %")
    axes.grid(axis="y", visible=False)
    axes.set_axisbelow(True)
    axes.axvline(0.0, color=look.quiet, lw=0.8)
    axes.set(xlabel="trials saved, middle scenario")
