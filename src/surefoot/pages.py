"""A page of headings, paragraphs, tables, pictures and commands: one content, as Markdown and as HTML.

Texts are in a small part of Markdown: `code`, and a backslash before a sign that is to stand as it is. Words that users
chose, such as names and reasons, go through `literal`. `aligned` is for tables on a terminal.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import TypeAlias

from surefoot.characters import in_one_line


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
    """Rows under a head; the first columns and the last are text, the others numbers that stand to the right."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    text_columns: int = 1
    text_last: int = 0  # columns
    marked: Sequence[int] = ()  # rows that stand out
    folded: str | None = None  # a page hides the table behind these words
    stacks: bool = False  # on a narrow screen each row is a block of its own, and nothing has to be scrolled


@dataclass(frozen=True)
class Picture:
    """An image, its file name, and what it shows."""

    file: str
    svg: bytes
    caption: str
    dark: bytes | None = None  # the same for a dark screen


@dataclass(frozen=True)
class Command:
    """Lines to type."""

    lines: Sequence[str]


@dataclass(frozen=True)
class Listing:
    """Very many lines of plain text, which a page hides behind a few words and does not print."""

    folded: str
    lines: Sequence[str]


@dataclass(frozen=True)
class Box:
    """What is to be read first: a line, and more below it."""

    texts: Sequence[str]
    mood: str = "wait"  # or "good", or "bad"


@dataclass(frozen=True)
class Gallery:
    """Pictures beside each other where there is room."""

    pictures: Sequence[Picture]


Part: TypeAlias = Heading | Paragraph | Points | Table | Picture | Command | Listing | Box | Gallery

COLOURS = {
    "light": "--ground: #fff; --ink: #1a1a1a; --quiet: #555; --line: #d9d9d9; --soft: #f4f5f7; --link: #0072B2; "
    "--marked: #e8f1f8; --good: #00785a; --wait: #8a6000; --bad: #b23c00;",
    "dark": "--ground: #16181d; --ink: #e8e8e8; --quiet: #a8adb5; --line: #3a3f48; --soft: #20242b; --link: #56B4E9; "
    "--marked: #1f3344; --good: #2fc79a; --wait: #e6a93a; --bad: #ff8a4c;",
}
STYLE = f"""
:root {{ color-scheme: light dark; {COLOURS["light"]} }}
img.dark {{ display: none; }}
@media screen and (prefers-color-scheme: dark) {{
  :root {{ {COLOURS["dark"]} }} img.light {{ display: none; }} img.dark {{ display: inline; }}
}}
* {{ box-sizing: border-box; }}
body {{ font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--ground); max-width: 84rem;
  margin: 2rem auto; padding: 0 1.2rem; overflow-wrap: anywhere; }}
h1 {{ font-size: 1.7rem; }} h2 {{ margin-top: 2.4rem; border-bottom: 1px solid var(--line); }}
h3 {{ margin-top: 1.6rem; }}
p, li {{ max-width: 48rem; }}
div.wide {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-size: 0.8rem; margin: 0.8rem 0; font-variant-numeric: tabular-nums;
  overflow-wrap: normal; }}
th, td {{ padding: 0.2rem 0.55rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }}
th {{ border-bottom: 2px solid var(--quiet); vertical-align: bottom; white-space: normal; }}
.text {{ text-align: left; }} tr.marked td {{ background: var(--marked); font-weight: 600; }}
pre {{ background: var(--soft); padding: 0.7rem 1rem; white-space: pre-wrap; overflow-wrap: anywhere; }}
.listing pre {{ overflow: auto; max-height: 70vh; font-size: 0.8rem; }}
figure {{ margin: 1.2rem 0; }} img {{ max-width: 100%; height: auto; }}
figcaption {{ max-width: 48rem; font-size: 0.92rem; color: var(--quiet); }}
summary {{ cursor: pointer; color: var(--link); margin: 0.6rem 0; }}
.box {{ border-left: 0.35rem solid var(--wait); background: var(--soft); padding: 0.8rem 1.1rem; margin: 1rem 0;
  max-width: 52rem; }}
.box p {{ margin: 0.3rem 0; }} .box p:first-child {{ font-size: 1.3rem; font-weight: 650; line-height: 1.3; }}
.box.good {{ border-color: var(--good); }} .box.bad {{ border-color: var(--bad); }}
.gallery {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(min(26rem, 100%), 1fr)); gap: 0 1.6rem; }}
.gallery img {{ width: 100%; }}
.stacked {{ font-size: 0.9rem; }} .stacked td {{ vertical-align: top; }}
.stacked td.text {{ min-width: 6rem; white-space: normal; overflow-wrap: anywhere; }}
@media screen and (max-width: 44rem) {{
  .stacked thead {{ display: none; }} .stacked, .stacked tbody, .stacked tr, .stacked td {{ display: block; }}
  .stacked tr {{ border-bottom: 2px solid var(--line); padding: 0.4rem 0; }}
  .stacked td {{ border: 0; text-align: right; padding: 0.1rem 0; display: flex; gap: 1rem;
    justify-content: space-between; white-space: normal; overflow-wrap: anywhere; }}
  .stacked td::before {{ content: attr(data-head); color: var(--quiet); text-align: left; flex: none; }}
  .stacked td:empty {{ display: none; }}
}}
@media print {{
  body {{ font-size: 10.5pt; margin: 0; max-width: none; }} h2 {{ break-after: avoid; }}
  figure, .box, tr {{ break-inside: avoid; }} .gallery {{ grid-template-columns: 1fr 1fr; }}
  thead {{ display: table-header-group; }} .wide {{ overflow: visible; }} .listing {{ display: none; }}
  details::details-content {{ content-visibility: visible; height: auto; }} summary {{ list-style: none; }}
}}
"""
NO_OTHER_HOST = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"  # whatever a name may try
_SPECIAL = re.compile(r"[\\`*_\[\]<>|&~#!$]")
_MARKS = re.compile(r"\\([!-/:-@\[-`{-~])|`([^`]+)`")


def literal(words: object) -> str:
    """Words that somebody else chose, to stand on a page as they are: nothing in them is markup, or acts."""
    text = _SPECIAL.sub(lambda found: "\\" + found[0], in_one_line(str(words)))
    return re.sub(r"^(\d*)([-+=.)])", r"\1\\\2", text)


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
            numbers = len(head) - text_columns - part.text_last
            rule = [*["---"] * text_columns, *["---:"] * numbers, *["---"] * part.text_last]
            shown = [[bold(cell) for cell in row] if k in part.marked else row for k, row in enumerate(rows)]
            return "\n".join(f"| {' | '.join(cells)} |" for cells in [head, rule, *shown])
        case Picture(file, _, caption):
            return f"![{caption}]({images}{file})\n\n*{caption}*"
        case Command(lines):
            return "\n".join(["```text", *lines, "```"])
        case Listing(folded, lines):
            fence = "`" * max(3, 1 + max((len(run) for line in lines for run in re.findall("`+", line)), default=0))
            return "\n".join([f"{folded}:", "", f"{fence}text", *map(in_one_line, lines), fence])
        case Box(texts):
            return "\n>\n".join(f"> {bold(text) if k == 0 else text}" for k, text in enumerate(texts))
        case Gallery(pictures):
            return "\n\n".join(markdown_of(picture, images) for picture in pictures)


def bold(text: str) -> str:
    """The text in bold, nothing for nothing."""
    return f"**{text}**" if text else text


def as_html(title: str, parts: Sequence[Part]) -> str:
    """The page as one HTML file that needs nothing else: no other file, no other host, no script."""
    body = "\n".join(html_of(part) for part in parts)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{NO_OTHER_HOST}">\n'
        '<meta name="color-scheme" content="light dark">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(in_one_line(title))}</title>\n"
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
            if part.folded is None:
                return table
            return f"<details><summary>{worded(part.folded)}</summary>{table}</details>"
        case Picture():
            return picture_html(part)
        case Box(texts, mood):
            return f'<div class="box {mood}">' + "".join(f"<p>{worded(text)}</p>" for text in texts) + "</div>"
        case Gallery(pictures):
            return '<div class="gallery">' + "".join(map(picture_html, pictures)) + "</div>"
        case Command(lines):
            return f"<pre>{escape(chr(10).join(lines))}</pre>"
        case Listing(folded, lines):
            text = escape("\n".join(map(in_one_line, lines)))
            return f'<details class="listing"><summary>{worded(folded)}</summary><pre>{text}</pre></details>'


def picture_html(picture: Picture) -> str:
    """A picture in HTML, with its dark form for a dark screen."""

    def source(svg: bytes) -> str:
        return f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"

    said = escape(unmarked(picture.caption))
    image = f'<img alt="{said}" src="{source(picture.svg)}">'
    if picture.dark is not None:  # two images, since browsers print that source of a <picture> which the screen had
        image = image.replace("<img", '<img class="light"')
        image += f'<img class="dark" alt="{said}" src="{source(picture.dark)}">'
    return f"<figure>{image}<figcaption>{worded(picture.caption)}</figcaption></figure>"


def table_html(table: Table) -> str:
    """A table in HTML."""
    heads = [escape(unmarked(cell)) for cell in table.head]
    numbers = range(table.text_columns, len(heads) - table.text_last)

    def row(cells: Sequence[str], tag: str, look: str = "") -> str:
        looks = ["" if k in numbers else ' class="text"' for k in range(len(cells))]
        if table.stacks and tag == "td":
            looks = [f'{look} data-head="{head}"' for look, head in zip(looks, heads, strict=True)]
        written = (f"<{tag}{left}>{worded(cell)}</{tag}>" for cell, left in zip(cells, looks, strict=True))
        return f"<tr{look}>{''.join(written)}</tr>"

    rows = [row(cells, "td", ' class="marked"' if k in table.marked else "") for k, cells in enumerate(table.rows)]
    kind = ' class="stacked"' if table.stacks else ""
    return (
        f'<div class="wide"><table{kind}>\n<thead>{row(table.head, "th")}</thead>\n<tbody>'
        + "\n".join(rows) + "</tbody>\n</table></div>"
    )  # fmt: skip


def worded(text: str) -> str:
    """The text for a page: `code` marked as such, a backslash before a sign dropped."""
    pieces, at = [], 0
    for found in _MARKS.finditer(text):
        pieces.append(escape(text[at : found.start()]))
        pieces.append(escape(found[1]) if found[1] else f"<code>{escape(found[2])}</code>")
        at = found.end()
    return "".join([*pieces, escape(text[at:])])


def unmarked(text: str) -> str:
    """The text where nothing can be marked."""
    return _MARKS.sub(lambda found: found[1] or found[2], text)


def aligned(lines: Sequence[Sequence[str]], left: int) -> Iterator[str]:
    """The lines with their columns below each other, so many of them from the left; none is ever cut short."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = [
            word.ljust(width) if place < left else word.rjust(width)
            for place, (word, width) in enumerate(zip(line, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()
