"""The pictures of a comparison, each of what `sf.compare` gives or of the data frame behind it."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from surefoot import frames
from surefoot.errors import InvalidInput
from surefoot.frames import columns_in, frame_from, is_frame
from surefoot.plots.experiment import checked_width, headed
from surefoot.plots.style import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION, Theme, canvas, shortened, theme_named

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Columns = dict[str, Any]
WIDTH = 9.0  # inches
PANEL = 2.6  # inches that a panel needs at least
ARMS = 8  # of a world whose shares are drawn
WIDE_RANGE = 12.0  # times from the least to the most pulls: more is drawn by logarithms
BOUND = "bound"
SOURCE = "Pass what sf.compare gives, or a data frame of the function with _frame in its name."
COLUMNS = {
    "pulls_by_delta": ("world", "policy", "delta", "pulls", "lower", "upper", "kind"),
    "pulls_by_features": ("worlds", "policy", "features", "pulls", "lower", "upper", "kind"),
    "pulls_by_gap": ("worlds", "policy", "gap", "pulls", "lower", "upper", "kind"),
    "shares": ("world", "policy", "arm", "share", "kind"),
}


class Look(NamedTuple):
    """How a policy is drawn: never by colour alone."""

    colour: str
    dash: str
    mark: str


LOOKS = {
    "light": (BLUE, VERMILION, "#8a6000", GREEN, PURPLE, "#5a5a5a", "#3a7ca5"),
    "dark": (SKY, "#ff8a4c", ORANGE, "#2fc79a", PURPLE, "#a8adb5", "#9ad1f5"),
}
DASHES, MARKS = ("-", "--", "-.", ":"), ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">")


@runtime_checkable
class Compared(Protocol):
    """What is drawn."""

    def drawn(self, picture: str) -> Columns:
        """The columns behind a picture."""


# -- pulls ------------------------------------------------------------------------------------------------------------


def pulls_by_delta(source: object, *, theme: str = "light", width: float = WIDTH) -> Figure:
    """Mean pulls against delta in each world, with the lower bound: as delta falls, nobody's pulls rise more slowly.

    The axis is even in log(1/delta), in which the bound is a straight line.
    """
    return along(source, "pulls_by_delta", "world", "delta", "How pulls grow as fewer errors are allowed", theme, width)


def pulls_by_features(source: object, *, theme: str = "light", width: float = WIDTH) -> Figure:
    """Mean pulls against the number of features, in worlds that differ in it alone; at the smallest delta."""
    return along(source, "pulls_by_features", "worlds", "features", "Pulls by number of features", theme, width)


def pulls_by_gap(source: object, *, theme: str = "light", width: float = WIDTH) -> Figure:
    """Mean pulls against the lead of the best safe arm over the next; at the smallest delta."""
    return along(source, "pulls_by_gap", "worlds", "gap", "Pulls by lead of the best safe option", theme, width)


def along(source: object, picture: str, by: str, axis: str, title: str, theme: str, width: float) -> Figure:
    """A panel for each world or family of worlds, a line for each policy along the axis."""
    look, wide, table = theme_named(theme), checked_width(width), columns_for(source, picture)
    names = list(dict.fromkeys(table[by].tolist()))
    looks = looks_of(table, theme)
    columns = max(1, min(len(names), int(wide // PANEL)))
    rows = -(-max(len(names), 1) // columns)
    with canvas(columns, (wide, 1.1 + 0.22 * len(looks) + 2.6 * rows), rows=rows, theme=look) as (figure, panels):
        for axes, name in zip(panels, names, strict=False):
            mine = {key: values[table[by] == name] for key, values in table.items()}
            lines_panel(axes, mine, axis, looks, look)
            axes.set_title(shortened(str(name), int(12 * wide / columns)), fontsize=10)
        for place, axes in enumerate(panels):
            axes.set_visible(place < len(names))
            if place % columns == 0:
                axes.set_ylabel("mean pulls")
        if not names:
            empty(panels[0], f"no two worlds here differ in their {axis} alone", look)
        headed(figure, title)
        legend(figure, panels[: len(names)], wide)
    return figure


def lines_panel(axes: Axes, mine: Columns, axis: str, looks: dict[str, Look], look: Theme) -> None:
    """One world: a line for each policy with its interval, and the bounds below them."""
    x = mine[axis].astype(float)
    x = -np.log(x) if axis == "delta" else x  # even in evidence: there the bounds are straight
    for who in dict.fromkeys(mine["policy"].tolist()):
        rows = np.flatnonzero(mine["policy"] == who)
        rows = rows[np.argsort(x[rows])]
        if mine["kind"][rows[0]] == BOUND:
            dash = (0, (4, 2)) if "kept" in who else (0, (1, 1.5))
            axes.plot(x[rows], mine["pulls"][rows], color=look.quiet, ls=dash, lw=1.6, label=who)
            continue
        one = looks[who]
        low, high = mine["lower"][rows].astype(float), mine["upper"][rows].astype(float)
        axes.fill_between(x[rows], np.maximum(low, 1.0), high, color=one.colour, alpha=0.16, lw=0)
        drawn: dict[str, Any] = {"color": one.colour, "marker": one.mark, "markersize": 5.0, "label": label_of(who)}
        axes.plot(x[rows], mine["pulls"][rows], one.dash, **drawn)
    last = mine["pulls"][x == (x.max() if axis == "delta" else x.min())].astype(float)
    if len(last) and last.max() > WIDE_RANGE * max(last.min(), 1.0):
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0.0)
    thousands(axes)
    if axis == "delta":
        places = sorted(set(x.tolist()))
        axes.set_xticks(places, [f"{exp(-place):.3g}" for place in places])
        axes.set_xlabel("delta")
    else:
        places = sorted(set(x.tolist()))
        axes.set_xticks(places, [f"{each:.3g}" for each in places])
        axes.set_xlabel({"features": "features d", "gap": "lead of the best safe option"}[axis])


def thousands(axes: Axes) -> None:
    """Numbers of pulls as people write them, also where the axis is logarithmic."""
    from matplotlib.ticker import LogLocator, NullFormatter

    if axes.get_yscale() == "log":
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.yaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_formatter(lambda value, place: f"{value:,.0f}")


# -- shares -----------------------------------------------------------------------------------------------------------


def shares(source: object, *, theme: str = "light", width: float = WIDTH) -> Figure:
    """The share of its pulls that each policy gave each option, against the oracle's; at the smallest delta."""
    look, wide, table = theme_named(theme), checked_width(width), columns_for(source, "shares")
    names = list(dict.fromkeys(table["world"].tolist()))
    looks = looks_of(table, theme)
    columns = max(1, min(len(names), int(wide // PANEL)))
    rows = -(-max(len(names), 1) // columns)
    arms = max((len(dict.fromkeys(table["arm"][table["world"] == name].tolist())) for name in names), default=1)
    tall = 1.1 + 0.22 * len(looks) + rows * (1.0 + 0.34 * min(arms, ARMS))
    with canvas(columns, (wide, tall), rows=rows, theme=look) as (figure, panels):
        for axes, name in zip(panels, names, strict=False):
            mine = {key: values[table["world"] == name] for key, values in table.items()}
            shares_panel(axes, mine, looks, look)
            axes.set_title(shortened(str(name), int(12 * wide / columns)), fontsize=10)
        for place, axes in enumerate(panels):
            axes.set_visible(place < len(names))
        if not names:
            empty(panels[0], "nobody has pulled anything", look)
        headed(figure, "Where pulls went, and where an oracle would send them")
        legend(figure, panels[: len(names)], wide)
    return figure


def shares_panel(axes: Axes, mine: Columns, looks: dict[str, Look], look: Theme) -> None:
    """One world: bars of the oracles, marks of the policies, the options with most pulls first."""
    arms = list(dict.fromkeys(mine["arm"].tolist()))
    most = {arm: float(mine["share"][mine["arm"] == arm].max()) for arm in arms}
    if len(arms) > ARMS:
        arms = sorted(arms, key=lambda arm: -most[arm])[:ARMS]
    policies = list(dict.fromkeys(mine["policy"].tolist()))
    bars = [who for who in policies if mine["kind"][np.flatnonzero(mine["policy"] == who)[0]] == BOUND]
    marks = [who for who in policies if who not in bars]
    for who in policies:
        given = [float(mine["share"][(mine["policy"] == who) & (mine["arm"] == arm)].sum()) for arm in arms]
        if who in bars:
            place = bars.index(who)
            high = 0.7 / len(bars)
            y = np.arange(len(arms)) - 0.35 + high * (place + 0.5)
            kept = "kept" in who
            axes.barh(
                y, given, height=high, facecolor=look.quiet if kept else "none", edgecolor=look.quiet,
                alpha=0.35 if kept else 0.8, hatch=None if kept else "////", lw=0.6, label=who, zorder=1,
            )  # fmt: skip
        else:
            one, place = looks[who], marks.index(who)
            y = np.arange(len(arms)) + (place - 0.5 * (len(marks) - 1)) * 0.6 / max(len(marks), 1)
            axes.plot(given, y, one.mark, color=one.colour, markersize=5.0, label=label_of(who), zorder=3, ls="none")
    axes.set_yticks(range(len(arms)), [shortened(str(arm), 18) for arm in arms])
    axes.set_ylim(max(len(arms), 2) - 0.4, -0.6)
    axes.set_xlim(0.0, 1.02)
    axes.set_xticks([0.0, 0.5, 1.0], ["0", "50 %", "100 %"])
    axes.set_xlabel("share of pulls")


# -- frames -----------------------------------------------------------------------------------------------------------


def pulls_by_delta_frame(source: object, *, kind: str = frames.PANDAS) -> Any:
    """Columns world, policy, delta, pulls, lower, upper, kind ("policy", or "bound"); rows that did not always stop are
    left out, here and below. `kind` is "pandas" or "polars"."""
    return frame_from(columns_for(source, "pulls_by_delta"), kind)


def pulls_by_features_frame(source: object, *, kind: str = frames.PANDAS) -> Any:
    """Columns worlds (those that differ in this alone), policy, features, pulls, lower, upper, kind."""
    return frame_from(columns_for(source, "pulls_by_features"), kind)


def pulls_by_gap_frame(source: object, *, kind: str = frames.PANDAS) -> Any:
    """Columns worlds, policy, gap, pulls, lower, upper, kind."""
    return frame_from(columns_for(source, "pulls_by_gap"), kind)


def shares_frame(source: object, *, kind: str = frames.PANDAS) -> Any:
    """Columns world, policy, arm, share, kind ("policy", or "bound" for an oracle)."""
    return frame_from(columns_for(source, "shares"), kind)


COMPARED = {
    "pulls_by_delta": pulls_by_delta, "pulls_by_features": pulls_by_features, "pulls_by_gap": pulls_by_gap,
    "shares": shares,
}  # fmt: skip


# -- parts ------------------------------------------------------------------------------------------------------------


def columns_for(source: object, picture: str) -> Columns:
    """The columns of a picture, from a comparison or from a frame."""
    if is_frame(source):
        return columns_in(
            "source", source, COLUMNS[picture], f"Pass what plots.{picture}_frame gives, or a comparison."
        )
    if not isinstance(source, Compared):
        raise InvalidInput("source", source, "is no comparison that could be drawn", SOURCE)
    return source.drawn(picture)


def looks_of(table: Columns, theme: str) -> dict[str, Look]:
    """A look for each policy, the same in all panels."""
    pairs = zip(table["policy"].tolist(), table["kind"].tolist(), strict=True)
    names = list(dict.fromkeys(who for who, kind in pairs if kind != BOUND))
    colours = LOOKS[theme]
    return {
        name: Look(colours[k % len(colours)], DASHES[k % len(DASHES)], MARKS[k % len(MARKS)])
        for k, name in enumerate(names)
    }


def label_of(who: str) -> str:
    """A policy in the legend."""
    return shortened(str(who), 60)


def legend(figure: Figure, panels: Sequence[Axes], wide: float) -> None:
    """Each line once, whatever panels it is in."""
    found: dict[str, Any] = {}
    for axes in panels:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    order = sorted(found, key=lambda label: label.startswith(("lower bound", "oracle")))
    if found:
        figure.legend([found[label] for label in order], order, loc="outside lower left", ncols=2 if wide > 7 else 1)


def empty(axes: Axes, words: str, look: Theme) -> None:
    """A panel with nothing to show says why."""
    axes.set_visible(True)
    axes.set_axis_off()
    axes.text(0.5, 0.5, words, transform=axes.transAxes, ha="center", color=look.quiet)
