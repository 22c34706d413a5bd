"""An experiment as it goes: phase, pulls, the gap against epsilon, and the certified levels growing arm by arm."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import isfinite, log
from time import monotonic
from typing import TYPE_CHECKING, Protocol

import numpy as np

from surefoot.cli.output import Output
from surefoot.live.pulls import MOST_LISTED, Status
from surefoot.live.session import Session
from surefoot.problem.checks import Floats
from surefoot.problem.dial import Dial
from surefoot.problem.units import UNKNOWN, level_in_words, setting_in_words

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

FRAMES_PER_SECOND = 12
ARMS_SHOWN = 12
BAR = 24  # characters
POINTS = 32  # of a history, at most
BLOCKS = "▁▂▃▄▅▆▇█"


class Watch(Protocol):
    """What follows a session: it is called before the first pull and after each."""

    def __call__(self, session: Session) -> None: ...


def unwatched(session: Session) -> None:
    """Nothing is shown."""


class History:
    """Levels and gap at evenly spaced pulls: when there are too many points, every other one is dropped."""

    def __init__(self) -> None:
        self.stride = 1
        self.points: list[tuple[int, list[float] | Floats, float | None]] = []

    def add(self, session: Session) -> None:
        """Keeps where the session stands, when it is time for a point."""
        if session.pulls % self.stride:
            return
        self.points.append((session.pulls, compact(session.levels), session.gap))
        if len(self.points) >= 2 * POINTS:
            self.stride *= 2
            self.points = [point for point in self.points if point[0] % self.stride == 0]

    def follow(self, status: Status) -> None:
        """Keeps where an experiment stands, if it has moved on: for one who does not see every pull."""
        if self.points and self.points[-1][0] == status.pulls:
            return
        self.points.append((status.pulls, compact(numbers_in(status.levels)), status.gap))
        if len(self.points) >= 2 * POINTS:
            self.points = self.points[::2]

    def levels_of(self, arm: int) -> list[float]:
        """The certified level of one arm so far."""
        return [float(levels[arm]) for _, levels, _ in self.points]

    def gaps(self) -> list[float]:
        """The gap so far, from where the policy began to decide."""
        return [gap for _, _, gap in self.points if gap is not None and isfinite(gap)]


@contextmanager
def watched(output: Output, title: str) -> Iterator[Watch]:
    """What to call after each pull: a live picture on a terminal, lines elsewhere, nothing when nobody wants it."""
    if not output.shows_progress:
        yield unwatched
        return
    if not output.err.is_terminal:
        yield lines(output, title)
        return
    from rich.live import Live

    history, shown = History(), 0.0
    with Live(console=output.err, auto_refresh=False) as live:

        def watch(session: Session) -> None:
            nonlocal shown
            history.add(session)
            if session.stopped or monotonic() - shown > 1.0 / FRAMES_PER_SECOND:
                live.update(picture(title, session.status(), session.guarantee.keeps_limits, history), refresh=True)
                shown = monotonic()

        yield watch


def lines(output: Output, title: str) -> Watch:
    """A line after 1, 2, 4, 8, ... hundred pulls, and at the end."""
    due = 100

    def watch(session: Session) -> None:
        nonlocal due
        if session.pulls == 0:
            output.err.print(title)
        if session.pulls < due and not session.stopped:
            return
        due *= 2
        gap = "" if session.gap is None else f"  gap {session.gap:.4g} (epsilon {session.problem.epsilon:.4g})"
        low, high, stands = session.levels.min(), session.levels.max(), phase(session.status())
        levels, dial = f"levels {low:.2f} to {high:.2f}", session.problem.dial
        if dial is not None:
            low, high = (setting_in_words(dial.setting_of(float(each)), dial.unit, 3) for each in (low, high))
            levels = f"{low} to {high} ({levels})"
        output.err.print(f"{session.pulls:>9,} pulls  {stands:<7} {levels}{gap}", markup=False)

    return watch


def phase(status: Status) -> str:
    """What the experiment is doing, in a word."""
    return status.outcome or status.phase


def known_gap(status: Status) -> float | None:
    """The gap; None while exploring, and where nobody knows it: a study of another version is not recomputed."""
    return status.gap if status.gap is not None and isfinite(status.gap) else None


def busiest(status: Status) -> list[int]:
    """The few arms that were pulled most, in the order of the problem; those that were not only where there is room for
    all, or none was."""
    pulls = numbers_in(status.pulls_per_arm)
    found = np.argsort(-pulls, kind="stable")[:ARMS_SHOWN]
    tried = found[pulls[found] > 0]
    return sorted((tried if len(tried) > 0 and len(pulls) > ARMS_SHOWN else found).tolist())


def compact(levels: Floats) -> list[float] | Floats:
    """The levels as a list, or where they are many as an array, which takes up a quarter of it."""
    return levels.tolist() if len(levels) <= MOST_LISTED else levels


def names_at(status: Status, places: list[int]) -> list[str]:
    """The names of the arms in these places."""
    names: Sequence[str] = getattr(status.levels, "names", None) or tuple(status.levels)
    return [names[k] for k in places]


def numbers_in(table: Mapping[str, float]) -> Floats:
    """The numbers of all arms, in the order of the problem."""
    return np.fromiter(table.values(), np.float64, len(table))


def picture(title: str, status: Status, keeps_limits: bool, history: History) -> Group:
    """One frame."""
    from rich.console import Group
    from rich.text import Text

    gap = known_gap(status)
    head = Text.assemble(
        (f"{title}\n", "bold"), f"{phase(status)}, ", (f"{status.pulls:,}", "bold"),
        " pull" if status.pulls == 1 else " pulls",
        *(() if gap is None else (", gap ", (f"{gap:.4g}", "bold"))),
        f", epsilon {status.epsilon:.4g}",
        (f"  {curve([log(max(each, 1e-12)) for each in history.gaps()])}", "cyan"),
    )  # fmt: skip
    return Group(head, level_table(status, keeps_limits, history))


def level_table(status: Status, keeps_limits: bool, history: History) -> Table:
    """The arms that were pulled most, each with its certified level as a bar and how it grew."""
    from rich.table import Table
    from rich.text import Text

    shown = busiest(status)
    names, hidden = names_at(status, shown), len(status.levels) - len(shown)
    title = "certified level" if keeps_limits else "level"
    table = Table("arm", title, "", "so far", "pulls", box=None, pad_edge=False, header_style="dim")
    table.columns[-1].justify = "right"
    for k, name in zip(shown, names, strict=True):
        level = status.levels[name]
        grown = Text(curve(history.levels_of(k), 0.0, 1.0), "cyan")
        said = Text(shown_level(status.dial, level))
        table.add_row(Text(name), bar(level), said, grown, f"{status.pulls_per_arm[name]:,}")
    if hidden:
        table.add_row(f"and {hidden:,} more", "", "", "", "")
    return table


def shown_level(dial: Dial | None, level: float) -> str:
    """The level as a number that is as wide in every frame, with its setting if there is a dial."""
    if dial is None or not isfinite(level):
        return f"{level:.3f}" if isfinite(level) else UNKNOWN
    return level_in_words(dial, level, 3)


def bar(level: float) -> Text:
    """The level as a bar; empty where nobody knows it."""
    from rich.text import Text

    filled = round(level * BAR) if isfinite(level) else 0
    return Text.assemble(("█" * filled, "green"), ("░" * (BAR - filled), "dim"))


def curve(values: list[float], low: float | None = None, high: float | None = None) -> str:
    """The values as a row of blocks, at most POINTS of them."""
    values = [value for value in values if isfinite(value)]
    if not values:
        return ""
    step = -(-len(values) // POINTS)
    kept = values[::step]
    bottom, top = min(kept) if low is None else low, max(kept) if high is None else high
    scale = (len(BLOCKS) - 1) / (top - bottom) if top > bottom else 0.0
    return "".join(BLOCKS[min(len(BLOCKS) - 1, max(0, round((value - bottom) * scale)))] for value in kept)
