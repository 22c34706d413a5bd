"""A page of headings, paragraphs, tables, pictures and commands: one content, as Markdown and as HTML."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TypeAlias


@dataclass(frozen=True)
class Heading:
    """A title; level 1 is the page's own."""

    text: str
    level: int = 2


@dataclass(frozen=True)
class Paragraph:
    """Plain text."""

    text: str


@dataclass(frozen=True)
class Points:
    """A list of plain texts."""

    texts: Sequence[str]


@dataclass(frozen=True)
class Table:
    """Rows under a head; the first columns are text, the others numbers that stand to the right."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    text_columns: int = 1
    marked: Sequence[int] = ()  # rows that stand out
    folded: str | None = None  # a page hides the table behind these words


@dataclass(frozen=True)
class Picture:
    """An image, its file name, and what it shows."""

    file: str
    svg: bytes
    caption: str


@dataclass(frozen=True)
class Command:
    """Lines to type."""

    lines: Sequence[str]


Part: TypeAlias = Heading | Paragraph | Points | Table | Picture | Command

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; max-width: 84rem; margin: 2rem auto; padding: 0 1.2rem; }
h1 { font-size: 1.7rem; } h2 { margin-top: 2.4rem; border-bottom: 1px solid #ccc; } h3 { margin-top: 1.6rem; }
p, li { max-width: 48rem; }
div.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.8rem; margin: 0.8rem 0; font-variant-numeric: tabular-nums; }
th, td { padding: 0.2rem 0.55rem; text-align: right; border-bottom: 1px solid #e4e4e4; white-space: nowrap; }
th { border-bottom: 2px solid #888; vertical-align: bottom; white-space: normal; }
.text { text-align: left; } tr.marked td { background: #e8f1f8; font-weight: 600; }
pre { background: #f4f4f4; padding: 0.7rem 1rem; overflow-x: auto; }
figure { margin: 1.2rem 0; } img { max-width: 100%; } figcaption { max-width: 48rem; font-size: 0.92rem; color: #444; }
summary { cursor: pointer; color: #0072B2; margin: 0.6rem 0; }
"""


def as_markdown(parts: Sequence[Part], images: str) -> str:
    """The page in Markdown; `images` is the way from it to the folder of its pictures."""
    return "\n\n".join(markdown_of(part, images) for part in parts) + "\n"


def markdown_of(part: Part, images: str) -> str:
    """One part in Markdown."""
    match part:
        case Heading(text, level):
            return f"{'#' * level} {text}"
        case Paragraph(text):
            return text
        case Points(texts):
            return "\n".join(f"- {text}" for text in texts)
        case Table(head, rows, text_columns):
            rule = ["---"] * text_columns + ["---:"] * (len(head) - text_columns)
            shown = [[bold(cell) for cell in row] if k in part.marked else row for k, row in enumerate(rows)]
            return "\n".join(f"| {' | '.join(cells)} |" for cells in [head, rule, *shown])
        case Picture(file, _, caption):
            return f"![{caption}]({images}{file})\n\n*{caption}*"
        case Command(lines):
            return "\n".join(["```text", *lines, "```"])


def bold(text: str) -> str:
    """The text in bold, nothing for nothing."""
    return f"**{text}**" if text else text


def as_html(title: str, parts: Sequence[Part]) -> str:
    """The page as one HTML file that needs nothing else: no other file, no other host, no script."""
    body = "\n".join(html_of(part) for part in parts)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{escape(title)}</title>\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def html_of(part: Part) -> str:
    """One part in HTML."""
    match part:
        case Heading(text, level):
            return f"<h{level}>{worded(text)}</h{level}>"
        case Paragraph(text):
            return f"<p>{worded(text)}</p>"
        case Points(texts):
            return "<ul>" + "".join(f"<li>{worded(text)}</li>" for text in texts) + "</ul>"
        case Table():
            table = table_html(part)
            return table if part.folded is None else f"<details><summary>{part.folded}</summary>{table}</details>"
        case Picture(_, svg, caption):
            source = f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"
            image = f'<img alt="{escape(caption)}" src="{source}">'
            return f"<figure>{image}<figcaption>{worded(caption)}</figcaption></figure>"
        case Command(lines):
            return f"<pre>{escape(chr(10).join(lines))}</pre>"


def table_html(table: Table) -> str:
    """A table in HTML."""

    def row(cells: Sequence[str], tag: str, look: str = "") -> str:
        looks = [' class="text"' if k < table.text_columns else "" for k in range(len(cells))]
        written = (f"<{tag}{left}>{worded(cell)}</{tag}>" for cell, left in zip(cells, looks, strict=True))
        return f"<tr{look}>{''.join(written)}</tr>"

    rows = [row(cells, "td", ' class="marked"' if k in table.marked else "") for k, cells in enumerate(table.rows)]
    return f'<div class="wide"><table>\n{row(table.head, "th")}\n' + "\n".join(rows) + "\n</table></div>"


def worded(text: str) -> str:
    """The text for a page: `code` marked as such, a backslash before a star dropped."""
    pieces = escape(text.replace("\\*", "*")).split("`")
    return "".join(f"<code>{piece}</code>" if k % 2 else piece for k, piece in enumerate(pieces))
