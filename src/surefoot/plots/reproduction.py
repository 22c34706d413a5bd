"""The figures a to d of the paper, drawn from runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from surefoot.plots.style import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, canvas
from surefoot.problem.checks import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Line(Protocol):
    """What is drawn: a name and columns of numbers."""

    @property
    def name(self) -> str: ...
    def column(self, field: str) -> Floats: ...


class Look(NamedTuple):
    """How a curve is drawn: never by colour alone."""

    colour: str
    dash: str
    mark: str


BY_LEVELS = {"static": Look(VERMILION, "--", "s"), "dynamic": Look(BLUE, "-", "o")}
BY_ARM = {
    "arm 1": Look(BLUE, "-", "o"), "arm 2": Look(VERMILION, "-", "s"), "arm 3": Look(GREEN, ":", "^"),
    "arm 4": Look(PURPLE, "--", "D"),
}  # fmt: skip
BY_POLICY = {
    "LinGapE": Look(BLACK, "-", "x"),
    "LinGapE, exploration at 0.2 counted": Look(GREY, "--", "+"),
    "conservative, static": Look(VERMILION, "--", "s"),
    "conservative, dynamic": Look(ORANGE, "-", "D"),
    "optimistic, static": Look(SKY, "--", "^"),
    "optimistic, dynamic": Look(BLUE, "-", "o"),
}
SAFE = "Safe-LinGapE, "
WRONG = r"share of runs with  $V^* - \hat z\cdot\theta^* > \varepsilon$"


def draw(axes: Axes, line: Line, look: Look, *, label: str | None = None, spread: bool = False) -> None:
    """Draws a curve with the 95 % interval of its estimate and, if asked for, the range of nine runs in ten."""
    x = line.column("x")
    if spread:
        axes.fill_between(x, line.column("run_low"), line.column("run_high"), color=look.colour, alpha=0.10, lw=0)
    axes.fill_between(x, line.column("lower"), line.column("upper"), color=look.colour, alpha=0.30, lw=0)
    axes.plot(
        x, line.column("estimate"), look.dash, color=look.colour, marker=look.mark, markersize=4.5, label=label
    )  # fmt: skip


def policy_label(name: str) -> str:
    """The curve's name with the algorithm in front."""
    return name if name.startswith("LinGapE") else SAFE + name


def level_by_exploration(lines: Sequence[Line], true_level: float, printed_at: float) -> Figure:
    """Figure a."""
    words = {
        "static": "when exploration ends (static levels stay here)",
        "dynamic": "when the run ends (dynamic levels)",
    }
    with canvas(1, (7.2, 4.6)) as (figure, (axes,)):
        for line in lines:
            draw(axes, line, BY_LEVELS[line.name], label=words[line.name], spread=True)
        axes.axhline(true_level, color=GREY, linewidth=1.1, linestyle=(0, (2, 2)))
        axes.annotate(
            rf"highest safe level $\gamma_2^* = {true_level:g}$", (0.01, true_level), (0, 4),
            xycoords=("axes fraction", "data"), textcoords="offset points", color="#555555", fontsize=9.5,
        )  # fmt: skip
        axes.axvline(printed_at, color=GREY, linewidth=0.9, linestyle=(0, (1, 3)))
        axes.annotate(
            "the paper's default", (printed_at, 0.03), (-5, 0), xycoords=("data", "axes fraction"),
            textcoords="offset points", color="#555555", fontsize=9.5, ha="right",
        )  # fmt: skip
        axes.set(
            xscale="log", ylim=(0.18, 0.55), xlabel=r"forced exploration, rounds per arm  $T_{FE}/K$",
            ylabel=r"certified level of arm 2  $\gamma_2$", title="a   Level of arm 2 by length of exploration",
        )  # fmt: skip
        plain_ticks(axes, [50, 100, 200, 500, 1000, 2000, 5000])
        axes.legend(loc="lower right")
    return figure


def plain_ticks(axes: Axes, ticks: Sequence[int]) -> None:
    """Labels a logarithmic axis with plain numbers."""
    axes.set_xticks(list(ticks), [f"{tick:,}" for tick in ticks])
    axes.minorticks_off()


def levels_by_limit(panels: Mapping[str, Sequence[Line]], true_levels: Mapping[str, tuple[Floats, Floats]]) -> Figure:
    """Figure b, with the share of answers that break (b) beside the levels.

    `true_levels` has x and y of the truth for each arm whose highest level depends on eta0.
    """
    titles = {"static": "when exploration ends (static levels)", "dynamic": "when the run ends (dynamic levels)"}
    with canvas(3, (13.0, 4.6), width_ratios=(1.25, 1.25, 1)) as (figure, columns):
        for axes, name in zip(columns, titles, strict=False):
            for arm, (x, y) in true_levels.items():
                axes.plot(x, y, color=BY_ARM[arm].colour, linewidth=1.1, linestyle=(0, (1, 2)), label=f"{arm}, truth")
            for line in panels[name]:
                draw(axes, line, BY_ARM[line.name], label=line.name, spread=True)
            axes.set(xlabel=r"safety limit on the mean  $\eta_0$", ylim=(0.0, 1.08), title=titles[name])
            axes.set_ylabel(r"certified level  $\gamma_k$")
        columns[0].set_title("b   Levels " + titles["static"])
        columns[1].set_title("Levels " + titles["dynamic"])
        columns[0].legend(loc="lower left")
        for line in panels["wrong"]:
            draw(columns[2], line, BY_LEVELS[line.name])
        columns[2].set(
            xlabel=r"safety limit on the mean  $\eta_0$", ylim=(-0.03, 1.03),
            title="Answers that break (b), dynamic levels", ylabel=WRONG,
        )  # fmt: skip
        percent_ticks(columns[2])
    return figure


def pulls_by_dimension(panels: Mapping[str, Sequence[Line]], printed: Mapping[str, tuple[int, float]]) -> Figure:
    """Figure c, with the share of answers that break (b) beside the pulls, and the share without an answer."""
    with canvas(3, (12.6, 5.2), width_ratios=(1.7, 1, 1)) as (figure, (pulls, wrong, undecided)):
        for axes, what in ((pulls, "pulls"), (wrong, "wrong"), (undecided, "undecided")):
            for line in panels[what]:
                draw(
                    axes, line, BY_POLICY[line.name], label=policy_label(line.name) if what == "pulls" else None,
                    spread=what == "pulls",
                )  # fmt: skip
            dimension_axis(axes, panels[what])
        mark_printed(pulls, printed)
        pulls.set(yscale="log", ylabel=r"pulls until certain  $\tau$, exploration included", title="c   Pulls")
        pulls.set_yticks([1_000, 2_000, 5_000, 10_000, 20_000], ["1,000", "2,000", "5,000", "10,000", "20,000"])
        pulls.minorticks_off()
        for axes, title, words in (
            (wrong, "Answers that break (b)", WRONG),
            (undecided, "Runs without an answer", "share of runs cut off undecided"),
        ):
            axes.set(title=title, ylabel=words, ylim=(-0.03, 1.03))
            percent_ticks(axes)
        figure.legend(loc="outside lower center", ncols=3)
    return figure


def violations_by_dimension(lines: Sequence[Line], printed: Mapping[str, tuple[int, float]]) -> Figure:
    """Figure d."""
    with canvas(1, (8.2, 5.2)) as (figure, (axes,)):
        for line in lines:
            draw(axes, line, BY_POLICY[line.name], label=policy_label(line.name), spread=True)
        mark_printed(axes, printed)
        axes.set(
            ylabel=r"share of pulls with  $z\cdot\mu^* < \eta_0$", ylim=(-0.03, 1.03), title="d   Unsafe pulls"
        )  # fmt: skip
        dimension_axis(axes, lines)
        percent_ticks(axes)
        figure.legend(loc="outside lower center", ncols=2)
    return figure


def dimension_axis(axes: Axes, lines: Sequence[Line]) -> None:
    """Labels the horizontal axis of a sweep over dimensions."""
    x = lines[0].column("x")
    axes.set_xlabel(r"dimension  $d$  (arms: $d + 1$)")
    axes.set_xticks([2, 5, 10, 15, 20])
    axes.set_xlim(x.min() - 0.6, x.max() + 0.6)


def mark_printed(axes: Axes, printed: Mapping[str, tuple[int, float]]) -> None:
    """Marks what the paper prints."""
    for (name, (dim, value)), mark in zip(printed.items(), ("P", "*"), strict=True):
        axes.plot(
            [dim], [value], mark, color="white", markeredgecolor=BLACK, markersize=11, zorder=5,
            label=f"printed, {name} (mean of 10 runs)",
        )  # fmt: skip


def percent_ticks(axes: Axes) -> None:
    """Labels the vertical axis in percent."""
    ticks = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    axes.set_yticks(ticks, [f"{100 * tick:.0f} %" for tick in ticks])
