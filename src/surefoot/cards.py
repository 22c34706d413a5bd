"""What a notebook shows of a thing: a title, a line, a small table. It takes its colours from the page around it, and
every word that somebody chose stands on it as it is."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from surefoot.characters import in_one_line

BOX = "border-left: 3px solid currentColor; padding: 0.2em 0.9em; margin: 0.3em 0; max-width: 60em;"
CELL = "text-align: left; padding: 0.1em 1.2em 0.1em 0; vertical-align: top; overflow-wrap: anywhere;"
QUIET = "opacity: 0.65;"


def card(
    title: str, lines: Sequence[str] = (), facts: Sequence[tuple[str, str]] = (), points: Sequence[str] = (),
    table: Sequence[Sequence[str]] = (), before_points: str = "",
) -> str:  # fmt: skip
    """A card as HTML: lines of text, facts with their names, points, and a table whose first row is its head."""
    parts = [f"<strong>{safe(title)}</strong>"]
    parts += [f"<div>{safe(line)}</div>" for line in lines]
    if facts:
        parts.append(rows_of([(name, value) for name, value in facts], quiet_first=True))
    if points:
        parts += [f"<div>{safe(before_points)}</div>"] if before_points else []
        parts.append("<ul>" + "".join(f"<li>{safe(point)}</li>" for point in points) + "</ul>")
    if table:
        parts.append(rows_of(table, head=True))
    return f'<div style="{BOX}">{"".join(parts)}</div>'


def rows_of(rows: Sequence[Sequence[str]], *, head: bool = False, quiet_first: bool = False) -> str:
    """A table without a look of its own."""
    written = []
    for k, row in enumerate(rows):
        tag, cells = ("th" if head and k == 0 else "td"), []
        for place, cell in enumerate(row):
            quiet = QUIET if (head and k == 0) or (quiet_first and place == 0) else ""
            cells.append(f'<{tag} style="{CELL}{quiet}">{safe(cell)}</{tag}>')
        written.append(f"<tr>{''.join(cells)}</tr>")
    return f'<table style="border-collapse: collapse; margin: 0.3em 0; font-size: inherit;">{"".join(written)}</table>'


def safe(words: str) -> str:
    """The words, with nothing in them that a page would act on."""
    return escape(in_one_line(words))
