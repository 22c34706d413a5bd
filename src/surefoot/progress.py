"""What is shown on standard error while one waits: a bar, several bars, or a line that changes.

Nothing here knows what is waited for. `rich` is loaded only when something is shown.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from surefoot.characters import in_one_line

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress


@contextmanager
def one_bar(wanted: bool, label: str, total: int) -> Iterator[Callable[[int], None]]:
    """What to call when so many more are done; the bar is gone at the end."""
    if not wanted:
        yield lambda count: None
        return
    from rich.console import Console

    with _bars(console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(label, total=total)
        yield lambda count: bars.update(task, advance=count)


@contextmanager
def many_bars(console: Console) -> Iterator[Callable[[str, int, int], None]]:
    """What to call with a label, how many are done and how many there are; each label has a bar, which stays."""
    with _bars(console=console) as bars:
        tasks: dict[str, Any] = {}

        def show(label: str, done: int, total: int) -> None:
            if label not in tasks:
                tasks[label] = bars.add_task(label, total=total)
            bars.update(tasks[label], completed=done)

        yield show


@contextmanager
def changing_line(wanted: bool, text: str) -> Iterator[Callable[[str], None]]:
    """What to call with the next text of the line; the line is gone at the end."""
    if not wanted:
        yield lambda following: None
        return
    from rich.console import Console
    from rich.status import Status
    from rich.text import Text

    with Status(Text(in_one_line(text)), console=Console(stderr=True)) as status:
        yield lambda following: status.update(Text(in_one_line(following)))


_silent: ContextVar[bool] = ContextVar("silent", default=False)


@contextmanager
def silence() -> Iterator[None]:
    """Inside, nobody is told about compilation."""
    token = _silent.set(True)
    try:
        yield
    finally:
        _silent.reset(token)


@contextmanager
def compiling(label: str, parts: int) -> Iterator[Callable[[], None]]:
    """What to call whenever one of so many parts is compiled: a bar on a terminal, one line elsewhere."""
    if _silent.get():
        yield lambda: None
        return
    if not sys.stderr.isatty():
        print(f"surefoot: compiling {label} for this machine, once; it takes about half a minute.", file=sys.stderr)
        yield lambda: None
        return
    with one_bar(True, f"compiling {label} for this machine, once", parts) as advance:
        yield lambda: advance(1)


def _bars(**settings: Any) -> Progress:
    """Bars that tell what, how many of how many, and how long yet."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    label = TextColumn("{task.description}", markup=False)
    return Progress(label, BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), **settings)
