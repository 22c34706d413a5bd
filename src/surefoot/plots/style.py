"""How every picture looks: colours that colour-blind eyes tell apart, words on the axes, the same bytes every time."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from surefoot.characters import in_one_line
from surefoot.errors import InvalidInput, MissingExtra

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
    "savefig.facecolor": "auto",
}


class Theme(NamedTuple):
    """The colours of a picture, for paper or for a dark screen."""

    ground: str
    ink: str
    quiet: str  # of what explains
    grid: str
    main: str
    second: str
    warning: str


THEMES = {
    "light": Theme("#ffffff", "#1a1a1a", "#5a5a5a", "#e6e6e6", BLUE, "#8a6000", VERMILION),
    "dark": Theme("#16181d", "#e8e8e8", "#a8adb5", "#33373f", SKY, ORANGE, "#ff8a4c"),
}


def theme_named(word: object) -> Theme:
    """The theme of this name."""
    if not isinstance(word, str) or word not in THEMES:
        raise InvalidInput("theme", word, "is no theme of a picture", f"Write one of {', '.join(THEMES)}.")
    return THEMES[word]


def settings_of(theme: Theme) -> dict[Any, Any]:
    """What matplotlib is told for a picture in these colours."""
    inks = ("text.color", "axes.labelcolor", "axes.titlecolor", "xtick.color", "ytick.color")
    grounds = ("figure.facecolor", "axes.facecolor", "savefig.facecolor")
    return {
        **SETTINGS, **dict.fromkeys(inks, theme.ink), **dict.fromkeys(grounds, theme.ground),
        "axes.edgecolor": theme.quiet, "grid.color": theme.grid,
    }  # fmt: skip


@contextmanager
def canvas(
    columns: int, size: tuple[float, float], *, rows: int = 1, theme: Theme | None = None, **layout: Any
) -> Iterator[tuple[Figure, list[Axes]]]:
    """An empty figure with axes side by side, row by row, in the style of the house; drawn without a display."""
    with matplotlib().rc_context(SETTINGS if theme is None else settings_of(theme)):
        figure = drawing_kind()(figsize=size, layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False, **layout)
        yield figure, list(axes.ravel())


def matplotlib() -> Any:
    """The package that draws."""
    try:
        return import_module("matplotlib")
    except ImportError:
        raise MissingExtra("matplotlib", "plots") from None


@cache
def drawing_kind() -> Any:
    """The class of our pictures: a matplotlib figure that a notebook shows by itself, without pyplot."""
    matplotlib()
    figure_kind = import_module("matplotlib.figure").Figure

    class Drawing(figure_kind):  # type: ignore[misc, valid-type]
        """A figure."""

        def _repr_png_(self) -> bytes:
            return rendered(self, "png")

    return Drawing


def plain(text: str) -> str:
    """The text as it is: no dollar in a name begins a formula, and nothing in it acts."""
    return in_one_line(text).replace("$", r"\$")


def shortened(text: str, most: int = 28) -> str:
    """The text, cut in the middle where it is too long for its place: names often differ at their ends."""
    if len(text) <= most:
        return plain(text)
    last = (most - 1) // 2
    return plain(f"{text[: most - 1 - last].rstrip()}…{text[len(text) - last :].lstrip()}")


METADATA: dict[str, dict[str, Any]] = {
    "svg": {"Date": None, "Creator": None}, "png": {"Software": None}, "pdf": {"CreationDate": None},
}  # fmt: skip


def rendered(figure: Figure, kind: str) -> bytes:
    """The figure as the content of a PNG, SVG or PDF file; the same figure gives the same bytes."""
    mpl = matplotlib()
    content = io.BytesIO()
    with mpl.rc_context(SETTINGS), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # a letter that the font does not have is a box in the picture
        settle(figure)
        metadata = METADATA[kind]
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
