"""The report of a comparison: one HTML page that needs nothing else, or Markdown with its pictures beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from surefoot import __version__, plots
from surefoot.comparing.matching import OURS, OWN
from surefoot.comparing.words import HEAD, TEXT_COLUMNS, cells_of, headline_of, note_of, once
from surefoot.errors import InvalidInput
from surefoot.files import as_path, exists_already, write_bytes
from surefoot.pages import (
    Command,
    Gallery,
    Heading,
    Paragraph,
    Part,
    Picture,
    Points,
    Table,
    as_html,
    as_markdown,
    literal,
)
from surefoot.plots.style import matplotlib, rendered

if TYPE_CHECKING:
    from surefoot.comparing.comparison import Comparison

FORMATS = (".html", ".md")
PICTURE = 5.4  # inches: a picture that can still be read on a phone
CAPTIONS = {
    "pulls_by_delta": "Mean pulls until certain, with their intervals, as fewer errors are allowed. Dashed and dotted: "
    "what no method can do without, as errors go to 0.",
    "pulls_by_features": "Mean pulls in worlds that differ in the number of features, at the smallest delta.",
    "pulls_by_gap": "Mean pulls in worlds that differ in the lead of the best safe option, at the smallest delta.",
    "shares": "The share of its pulls that each policy gave each option (marks), and an oracle's that knows the truth "
    "(bars), at the smallest delta. An oracle is not the same for those who keep limits and those who know none.",
}
SETS = {
    OURS: "Whoever can has SafeGap's confidence sets, and whoever has a choice of radius the nearest to them "
    "(`bias-free`); the column sets says what each row stops by.",
    OWN: "Each policy has the sets or the threshold that it comes with; the column sets says which.",
}
TITLE = "Methods side by side"


def check_report(path: str | Path, overwrite: bool) -> Path:
    """The file to write, refused before any work where it could not be written after it."""
    place = as_path("path", path)
    if place.suffix.lower() not in FORMATS:
        raise InvalidInput("path", str(path), "is no report that could be written", "Name a file .html or .md.")
    if not place.absolute().parent.is_dir():
        raise InvalidInput("path", str(path), "is in a folder that is not there", "Make the folder first.")
    beside = [place.with_name(f"{place.stem}-{kind}.svg") for kind in CAPTIONS] if is_markdown(place) else []
    taken = next((each for each in (place, *beside) if each.exists()), None)
    if taken is not None and not overwrite:
        raise exists_already("path", taken)
    matplotlib()
    return place


def is_markdown(place: Path) -> bool:
    """Whether pictures are files of their own."""
    return place.suffix.lower() == ".md"


def write_report(
    found: Comparison, path: str | Path, *, overwrite: bool = False, command: Sequence[str] = ()
) -> list[Path]:
    """The files that were written."""
    place = check_report(path, overwrite)
    pictures = pictures_of(found, f"{place.stem}-")
    page = parts_of(found, pictures, command)
    if is_markdown(place):
        files = {place: as_markdown(page, images="").encode()}
        files |= {place.with_name(picture.file): picture.svg for picture in pictures}
    else:
        files = {place: as_html(TITLE, page).encode()}
    for each, content in files.items():
        write_bytes("path", each, content)
    return list(files)


def pictures_of(found: Comparison, prefix: str) -> list[Picture]:
    """The pictures that have something to show, for light and dark screens."""
    drawn = []
    for kind, caption in CAPTIONS.items():
        if len(found.drawn(kind)["policy"]):
            light, dark = (
                rendered(plots.COMPARED[kind](found, theme=theme, width=PICTURE), "svg") for theme in ("light", "dark")
            )
            drawn.append(Picture(f"{prefix}{kind}.svg", light, caption, dark))
    return drawn


def parts_of(found: Comparison, pictures: Sequence[Picture], command: Sequence[str]) -> list[Part]:
    """The page: what came out first, then pictures, then every number, then how it was done."""
    seen: list[Part] = [Heading("Pictures"), Gallery(pictures)] if pictures else []
    again: list[Part] = [Paragraph("The same again:"), Command(list(command))] if command else []
    return [
        Heading(TITLE, 1),
        Paragraph(f"{found.size}, seed {found.seed}. The same noise for all, pull for pull."),
        Heading("Who was quickest"),
        Points(headlines(found)),
        *seen,
        Heading("Every number"),
        *tables_of(found),
        Paragraph(note_of(found.rows, found.runs, found.confidence)),
        Heading("How it was done"),
        Paragraph(SETS.get(found.radius, f"Whoever can has the radius `{found.radius}`.")),
        Paragraph(
            f"A run is given up after {found.max_pulls:,} pulls. Run r meets the same noise at pull t whichever policy "
            "pulls, so differences in the same runs are sharper than those of two means. surefoot " + __version__ + "."
        ),
        *again,
    ]


def headlines(found: Comparison) -> list[str]:
    """Who was quickest in each world, at the smallest delta."""
    said = []
    for world in found.worlds:
        mine = [row for row in found.rows if row.arena.label == world and row.problem.delta == found.deltas[-1]]
        said.append(literal(headline_of(mine) or f"{world}: no policy here stopped in every run."))
    return said


def tables_of(found: Comparison) -> list[Part]:
    """A table for each world; a policy that refuses is a row with its reason."""
    parts: list[Part] = []
    for world in found.worlds:
        rows = [row for row in once(found.rows) if row.arena.label == world]
        shown = []
        for row in rows:
            remark = "" if row.refused is None else f"refuses: {row.refused}"
            shown.append([literal(cell) for cell in (*cells_of(row), remark)])
        remarks = any(row.refused for row in rows)
        head = [*HEAD, *(["remark"] if remarks else [])]
        body = [row if remarks else row[:-1] for row in shown]
        last = 2 if remarks else 1
        parts += [Heading(literal(world), 3), Table(head, body, text_columns=TEXT_COLUMNS, text_last=last, stacks=True)]
    return parts
