"""The pictures of one experiment, each of a session, a study, a trace or the data frame behind it.

Every function returns a matplotlib figure: `figure.savefig("levels.png")`, and in a notebook it shows by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.plots import tables
from surefoot.plots.style import Theme, canvas, plain, shortened, theme_named
from surefoot.problem.checks import number
from surefoot.problem.units import OFF, rounded_down, with_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from surefoot.problem import Dial

PANELS = 8  # arms whose levels are drawn
BARS = 20  # arms in a picture with a line for each
WIDTH = 7.2  # inches
PANEL = 2.3  # inches that a panel needs at least
STEP = "steps-post"
_WIDTH = "Give the width of the picture in inches, for example 7.2."


def levels(
    source: object, *, arms: Sequence[int | str] | None = None, theme: str = "light", width: float = WIDTH
) -> Figure:
    """The levels of each arm round by round: certified, highest still possible, and the known start.

    Between certified and possible lies what is not known yet. Of more than eight arms those are drawn that matter
    most; `arms` names others.
    """
    look, wide, table = theme_named(theme), checked_width(width), tables.levels_columns(source, arms)
    dial = dial_of(source)
    names = list(dict.fromkeys(table["name"].tolist()))
    shown = names[:PANELS] if arms is None else names
    columns = max(1, min(len(shown), int(wide // PANEL)))
    rows = -(-max(len(shown), 1) // columns)
    with canvas(columns, (wide, 0.7 + 2.0 * rows), rows=rows, theme=look, sharex=True, sharey=True) as (figure, panels):
        for axes, name in zip(panels, shown, strict=False):
            mine = {key: values[table["name"] == name] for key, values in table.items()}
            level_panel(axes, name, mine, look, dial, most=int(10 * wide / columns))
        for axes in panels[len(shown) :]:
            axes.set_visible(False)
        for axes in panels[::columns]:
            axes.set_ylabel("level" if dial is None else dial.unit)
        for place, axes in enumerate(panels[: len(shown)]):
            if place + columns >= len(shown):
                axes.set_xlabel("results taken in")
                axes.tick_params(labelbottom=True)
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower left", ncols=4 if wide > 6 else 2)
        title = "How high each option may go"
        if len(names) > len(shown):
            title += f" ({len(shown)} options of {len(names)})"
        headed(figure, title)
    return figure


def level_panel(
    axes: Axes, name: str, mine: dict[str, Any], look: Theme, dial: Dial | None, most: int
) -> None:  # fmt: skip
    """The levels of one arm; on a dial in real units its settings stand at the side."""
    x, low, high, start = mine["round"], mine["certified"], mine["possible"], float(mine["known_safe"][0])
    axes.fill_between(x, low, high, step="post", color=look.second, alpha=0.16, lw=0, label="not known yet")
    axes.plot(x, high, color=look.second, ls="--", lw=1.3, drawstyle=STEP, label="highest still possible")
    axes.plot(x, low, color=look.main, drawstyle=STEP, lw=2.0, label="certified safe")
    axes.axhline(start, color=look.quiet, lw=1.0, ls=(0, (1, 2)), label="known safe at the start")
    axes.set_ylim(0.0, 1.06)
    if dial is not None:
        axes.yaxis.set_major_formatter(lambda level, place: setting_at(dial, float(level)))
    end = float(low[-1])
    axes.set_title(shortened(name, min(most, 40)), fontsize=10)
    axes.annotate(
        f"certified {shown_level(dial, end)}", (0.97, 0.05), xycoords="axes fraction", ha="right", color=look.main,
        fontsize=9,
    )  # fmt: skip


def gap(source: object, *, theme: str = "light", width: float = WIDTH) -> Figure:
    """The gap against epsilon: by how much another option might still beat the leader. Certain is when it is below."""
    look, wide, table = theme_named(theme), checked_width(width), tables.gap_columns(source)
    x, y = table["round"].astype(float), table["gap"].astype(float)
    epsilon = float(table["epsilon"][0]) if len(table["epsilon"]) else 0.0
    known = np.isfinite(y)
    with canvas(1, (wide, 3.3), theme=look) as (figure, (axes,)):
        if known.any():
            first = float(x[known][0])
            if first > 0:
                axes.axvspan(0, first, color=look.quiet, alpha=0.10, lw=0, label="exploring: no gap yet")
            axes.plot(x[known], np.maximum(y[known], epsilon / 10), color=look.main, drawstyle=STEP, label="gap")
            axes.set_yscale("log")
            plain_logarithm(axes)
            for mark, words in ends_of(x[known], y[known]):
                axes.annotate(
                    words, mark, (-4, 7), textcoords="offset points", ha="right", color=look.quiet, fontsize=9
                )
        else:
            said = "no gap yet: the first rounds explore"
            axes.text(0.5, 0.5, said, transform=axes.transAxes, ha="center", color=look.quiet)
        axes.axhline(epsilon, color=look.warning, ls="--", lw=1.3, label=f"epsilon {epsilon:g}: certain at or below")
        axes.set_xlim(0, max(float(x[-1]) if len(x) else 0.0, 1.0) * 1.02)
        axes.set(xlabel="results taken in", ylabel="gap, in units of the reward")
        headed(figure, "How much better another option might still be")
        figure.legend(loc="outside lower left", ncols=3 if wide > 6 else 2)
    return figure


def ends_of(x: Any, y: Any) -> list[tuple[tuple[float, float], str]]:
    """Where the gap stands now, to be written beside it."""
    return [((float(x[-1]), max(float(y[-1]), 1e-12)), f"{float(y[-1]):.3g}")]


def plain_logarithm(axes: Axes) -> None:
    """Numbers on a logarithmic axis as people write them, a few of them."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, place: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def readings(source: object, *, theme: str = "light", width: float = WIDTH) -> Figure:
    """Every reading against its limit, with what the certificate covers: the mean of each pull, unless the limit is on
    single readings. Marks show the worst mean that was still possible for a pull when it was made."""
    look, wide, table = theme_named(theme), checked_width(width), tables.readings_columns(source)
    limits = list(dict.fromkeys(table["limit"].tolist()))
    rows = max(len(limits), 1)
    with canvas(1, (wide, 0.8 + 2.6 * rows), rows=rows, theme=look, sharex=True) as (figure, panels):
        headed(figure, "Readings against their limits")
        for axes, limit in zip(panels, limits, strict=False):
            mine = {key: values[table["limit"] == limit] for key, values in table.items()}
            reading_panel(axes, limit, mine, look)
        if not limits:
            panels[0].text(
                0.5,
                0.5,
                "no limits were stated, or there is no reading yet",
                transform=panels[0].transAxes,
                ha="center",
                color=look.quiet,
            )
        panels[-1].set_xlabel("result")
        listed = [pair for axes in panels for pair in zip(*axes.get_legend_handles_labels(), strict=True)]
        handles = {label: handle for handle, label in listed}
        figure.legend(handles.values(), handles.keys(), loc="outside lower left", ncols=2)
    return figure


def reading_panel(axes: Axes, limit: str, mine: dict[str, Any], look: Theme) -> None:
    """The readings of one limit."""
    x, y, worst = mine["round"], mine["reading"].astype(float), mine["worst_mean"].astype(float)
    allowed, mean_allowed, below = (
        float(mine["allowed"][0]),
        float(mine["mean_allowed"][0]),
        mine["side"][0] == "at most",
    )
    known = np.isfinite(worst)
    size = 14 if len(x) <= 300 else 6 if len(x) <= 2_000 else 2
    axes.scatter(x, y, s=size, color=look.main, alpha=0.65, lw=0, label="single reading", zorder=2)
    axes.scatter(
        x[known], worst[known], s=26, marker="_", color=look.second, lw=1.2, zorder=5,
        label="worst mean still possible when pulled",
    )  # fmt: skip
    on_readings = mean_allowed != allowed
    word = "limit on readings" if on_readings else "limit on the mean"
    axes.axhline(allowed, color=look.warning, lw=1.6, label=word, zorder=4)
    if on_readings:
        axes.axhline(
            mean_allowed, color=look.warning, lw=1.1, ls="--", label="what the mean keeps, for readings", zorder=4
        )  # fmt: skip
    low, high = axes.get_ylim()
    room = 0.06 * (high - low)
    low, high = (low, max(high, allowed + room)) if below else (min(low, allowed - room), high)
    axes.axhspan(*((allowed, high) if below else (low, allowed)), color=look.warning, alpha=0.10, lw=0)
    axes.set_ylim(low, high)
    covers = "covered, each at its risk" if on_readings else "only means are covered"
    beyond = int(np.sum(y > allowed if below else y < allowed))
    said = f"{beyond:,} of {len(y):,} readings beyond: {covers}"
    axes.set_title(f"{shortened(limit)} {mine['side'][0]} {allowed:g}\n{said}", fontsize=10)
    axes.set_ylabel(shortened(limit, 20))


def pulls(source: object, *, theme: str = "light", width: float = WIDTH) -> Figure:
    """How often each arm was pulled, most often first; of many, the 20 first and the rest together."""
    look, wide, table = theme_named(theme), checked_width(width), tables.pulls_columns(source)
    names, counts = ranked(table)
    with canvas(1, (wide, 0.9 + 0.3 * max(len(names), 2)), theme=look) as (figure, (axes,)):
        axes.set_axisbelow(True)
        axes.barh(range(len(names)), counts, color=look.main, height=0.62)
        for place, count in enumerate(counts):
            axes.annotate(
                f"{count:,}", (count, place), (4, 0), textcoords="offset points", va="center", fontsize=9,
                color=look.quiet,
            )  # fmt: skip
        named_lines(axes, names, most=int(4 * wide))
        axes.margins(x=0.12)
        axes.grid(axis="y", visible=False)
        axes.set(xlabel="results taken in")
        headed(figure, "How often each option was tried")
    return figure


def ranked(table: dict[str, Any]) -> tuple[list[str], list[int]]:
    """Names and counts, the largest first; what does not fit is one line."""
    order = np.argsort(-table["pulls"], kind="stable").tolist()
    names, counts = [str(table["name"][k]) for k in order], [int(table["pulls"][k]) for k in order]
    if len(names) <= BARS:
        return names, counts
    return [*names[: BARS - 1], f"{len(names) - BARS + 1:,} others"], [*counts[: BARS - 1], sum(counts[BARS - 1 :])]


def rewards(
    source: object, *, arms: Sequence[int | str] | None = None, theme: str = "light", width: float = WIDTH
) -> Figure:
    """The estimated reward of each arm at its certified level, with the range of means that are still possible."""
    look, wide, table = theme_named(theme), checked_width(width), tables.rewards_columns(source, arms)
    middle, low, high = (table[name].astype(float) for name in ("reward", "low", "high"))
    order = np.argsort(-np.where(np.isfinite(middle), middle, -np.inf), kind="stable")[:BARS].tolist()
    names = [str(table["name"][k]) for k in order]
    with canvas(1, (wide, 0.95 + 0.34 * max(len(order), 2)), theme=look) as (figure, (axes,)):
        for place, k in enumerate(order):
            colour = look.main if table["role"][k] == "leads" else look.quiet
            if np.isfinite(low[k]) and np.isfinite(high[k]):
                axes.plot([low[k], high[k]], [place, place], color=colour, lw=2.4, alpha=0.75, solid_capstyle="butt")
            if np.isfinite(middle[k]):
                axes.plot([middle[k]], [place], "o", color=colour, ms=7 if table["role"][k] == "leads" else 5)
        unbounded = [place for place, k in enumerate(order) if not (np.isfinite(low[k]) and np.isfinite(high[k]))]
        for place in unbounded:
            axes.annotate(
                "no bound yet", (0.99, place), xycoords=("axes fraction", "data"), ha="right", va="center", fontsize=9,
                color=look.quiet,
            )  # fmt: skip
        roles = [f", {table['role'][k]}" if table["role"][k] else "" for k in order]
        levels_of = [f" at {shown_level(dial_of(source), float(table['level'][k]))}" for k in order]
        named_lines(axes, names, [at + role for at, role in zip(levels_of, roles, strict=True)], most=int(4 * wide))
        axes.grid(axis="y", visible=False)
        axes.set(xlabel="reward at the certified level")
        headed(figure, "What each option gives, and still might")
    return figure


def headed(figure: Figure, title: str) -> None:
    """Writes the title over the whole picture, however little room its names leave to the axes."""
    figure.suptitle(title, x=0.01, ha="left", fontsize=12)


def named_lines(axes: Axes, names: Sequence[str], more: Sequence[str] = (), *, most: int = 28) -> None:
    """A line for each name, the first at the top."""
    said = more or [""] * len(names)
    labels = [shortened(name, most) + plain(rest) for name, rest in zip(names, said, strict=True)]
    axes.set_yticks(range(len(names)), labels)
    axes.set_ylim(max(len(names), 2) - 0.4, -0.6)


def checked_width(width: object) -> float:
    """The width in inches."""
    return number("width", width, _WIDTH, at_least=3.0, at_most=40.0)


def dial_of(source: object) -> Dial | None:
    """The dial of the problem, if it has one; a table has no problem."""
    problem = getattr(source, "problem", None)
    return getattr(problem, "dial", None)


def shown_level(dial: Dial | None, level: float) -> str:
    """The level in few words, never more than it is: its setting where there is one."""
    if dial is None:
        return rounded_down(level, 3)
    setting, unit = dial.set_to(level)
    return OFF if setting is None else with_unit(rounded_down(setting, 3), unit)


def setting_at(dial: Dial, level: float) -> str:
    """What stands at the side of a picture at this level."""
    setting, _ = dial.set_to(min(max(level, 0.0), 1.0))
    return "0" if setting is None else f"{setting:.3g}"


KINDS = {"levels": levels, "gap": gap, "readings": readings, "pulls": pulls, "rewards": rewards}
