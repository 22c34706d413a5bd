"""How every picture looks: colours that colour-blind eyes tell apart, words on the axes, the same bytes every time."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from surefoot.errors import MissingExtra

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette, without its yellow, which is faint on white.
BLACK, ORANGE, SKY, GREEN, BLUE, VERMILION, PURPLE = (
    "#000000", "#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00", "#CC79A7"
)  # fmt: skip
GREY = "#777777"
SETTINGS: dict[Any, Any] = {
    "svg.hashsalt": "surefoot",  # the same names inside the file every time
    "svg.fonttype": "path",
    "font.size": 10.5,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.7,
    "lines.linewidth": 1.8,
    "legend.frameon": False,
    "legend.fontsize": 9.5,
    "savefig.facecolor": "white",
}


@contextmanager
def canvas(columns: int, size: tuple[float, float], **layout: Any) -> Iterator[tuple[Figure, list[Axes]]]:
    """An empty figure with axes side by side, in the style of the house; drawn without a display."""
    try:
        mpl = import_module("matplotlib")
        figure_of = import_module("matplotlib.figure").Figure
    except ImportError:
        raise MissingExtra("matplotlib", "plots") from None
    with mpl.rc_context(SETTINGS):
        figure = figure_of(figsize=size, layout="constrained")
        axes = figure.subplots(1, columns, squeeze=False, **layout)
        yield figure, list(axes[0])


def rendered(figure: Figure, kind: str) -> bytes:
    """The figure as the content of a PNG or SVG file; the same figure gives the same bytes."""
    import matplotlib as mpl

    content = io.BytesIO()
    with mpl.rc_context(SETTINGS):
        settle(figure)
        metadata = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
        figure.savefig(content, format=kind, dpi=150, metadata=metadata)
    return content.getvalue()


def settle(figure: Figure) -> None:
    """Fixes the layout to four digits: its solver's last bits vary, and SVG names parts by a hash of all of them."""
    if figure.get_layout_engine() is None:
        return
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for axes in figure.axes:
        left, bottom, width, height = axes.get_position().bounds
        axes.set_position((round(left, 4), round(bottom, 4), round(width, 4), round(height, 4)))
