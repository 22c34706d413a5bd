"""The report of a study as a file: HTML that needs nothing else, or Markdown with its pictures beside it."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np

from surefoot import __version__, plots
from surefoot.characters import in_one_line
from surefoot.errors import InvalidInput, counted
from surefoot.files import as_path, exists_already, write_bytes
from surefoot.live.quantities import level_in_table, short
from surefoot.live.readings import safety_columns
from surefoot.pages import (
    Command,
    Gallery,
    Heading,
    Listing,
    Paragraph,
    Part,
    Picture,
    Points,
    Table,
    as_html,
    as_markdown,
    literal,
)
from surefoot.plots.style import rendered
from surefoot.reports import words
from surefoot.reports.gathering import Gathered, gathered
from surefoot.studies.study import Study

FORMATS = (".html", ".md")
TRIALS = 1_000  # rows of a table; a page with more is no page
LISTED = 20_000  # trials, a short line each
FOLDED = 25  # rows; more are shown when asked for
NARROW = 5.4  # inches: a picture that can be read on a phone
CAPTIONS = {
    "levels": "How high each option may be set: certified safe so far, and the highest that is still possible.",
    "gap": "How much better another option might still be. It is certain when this is at most epsilon.",
    "readings": "Every reading against its limit, and the worst mean that was possible when each trial was made.",
    "rewards": "What each option gives at the level that it may have: the estimate, and what is still possible.",
    "pulls": "How often each option was tried.",
}


def write_report(study: Study, path: str | Path, *, overwrite: bool = False) -> list[Path]:
    """The files that were written: the report, .html or .md by its ending, and the pictures beside one in Markdown."""
    place = as_path("path", path)
    if place.suffix.lower() not in FORMATS:
        raise InvalidInput("path", str(path), "is no report that could be written", "Name a file .html or .md.")
    pictured = (
        [place.with_name(f"{place.stem}-{kind}.svg") for kind in CAPTIONS] if place.suffix.lower() == ".md" else []
    )
    taken = next((each for each in (place, *pictured) if each.exists()), None)
    if taken is not None and not overwrite:
        raise exists_already("path", taken)
    found = gathered(study)
    pictures = pictures_of(found, f"{place.stem}-")
    page, title = report_parts(found, pictures), f"{found.status.name}: report"
    if place.suffix.lower() == ".html":
        files = {place: as_html(title, page).encode()}
    else:
        files = {place: as_markdown(page, images="").encode()}
        files |= {place.with_name(picture.file): picture.svg for picture in pictures}
    for each, content in files.items():
        write_bytes("path", each, content)
    return list(files)


def report_parts(found: Gathered, pictures: list[Picture]) -> list[Part]:
    """The whole report, the answer first."""
    status = found.status
    when = last_moment(found.history)
    asked = f"after {counted(status.pulls, 'result')}{f', last change {when}' if when else ''}"
    gallery: list[Part] = [Heading("In pictures"), Gallery(pictures)] if pictures else []
    return [
        Heading(literal(status.name), 1),
        Paragraph(f"Where the study stands {asked}."),
        words.answer_box(found),
        *words.expectations(found),
        *gallery,
        *words.options(found),
        *words.promise(found),
        *words.corrections(found),
        *trials(found),
        *provenance(found),
    ]


def pictures_of(found: Gathered, prefix: str) -> list[Picture]:
    """Every picture, for light and dark screens; none before the first result, or of a study of another version."""
    if found.trace is None or not len(found.trace):
        return []
    drawn = []
    for kind, caption in CAPTIONS.items():
        if kind in ("levels", "readings") and not found.problem.safety:
            continue
        light, dark = (
            rendered(plots.KINDS[kind](found.trace, theme=theme, width=NARROW), "svg") for theme in ("light", "dark")
        )
        drawn.append(Picture(f"{prefix}{kind}.svg", light, caption, dark))
    return drawn


def trials(found: Gathered) -> list[Part]:
    """The trials, newest last: of many the last in a table and all in short lines, of very many the last alone."""
    count = len(found.history["number"])
    if not count:
        return [Heading("Trials"), Paragraph("None yet.")]
    first, limits = max(0, count - TRIALS), [limit.name for limit in found.problem.safety]
    head = ("trial", "option", "level", "reward", *limits, "state", "remarks")
    rows = [list(map(literal, trial_in_words(found, k))) for k in range(first, count)]
    said = f"All {count:,} trials" if first == 0 else f"The last {len(rows):,} of {count:,} trials"
    table = Table(
        list(map(literal, head)), rows, text_columns=2, text_last=2,
        folded=said if len(rows) > FOLDED else None, stacks=True,
    )  # fmt: skip
    return [Heading("Trials"), table, *([] if first == 0 else the_rest(found, head))]


def the_rest(found: Gathered, head: Sequence[str]) -> list[Part]:
    """What a table is too long for: every trial as a line, where a page can hold them; and how to have them exactly."""
    count = len(found.history["number"])
    lines = [head, *(trial_in_words(found, k) for k in range(count))] if count <= LISTED else []
    all_of_them = Listing(f"All {count:,} trials, a line each, separated by commas", [as_csv(each) for each in lines])
    command = f"surefoot study history {quoted(found.status.name)} --out trials.csv"
    told = Paragraph("All of them, with every digit, as a table for other programs:")
    return [*([all_of_them] if lines else []), told, Command([command])]


def trial_in_words(found: Gathered, k: int) -> list[str]:
    """One trial of the history, cell by cell."""
    history, problem = found.history, found.problem
    readings = (number_in(history[name][k]) for name in safety_columns(problem))
    remark = "; ".join(filter(None, ["imported" if history["imported"][k] else "", history["changes"][k] or ""]))
    level = float(history["level"][k])
    shown = level_in_table(problem, level) if level == level else ""
    return [str(history["number"][k]), str(history["name"][k]), shown, number_in(history["reward"][k]), *readings,
            str(history["state"][k]), remark]  # fmt: skip


def as_csv(cells: Sequence[str]) -> str:
    """The cells as a line of a table whose cells are separated by commas."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(cells)
    return text.getvalue()


def provenance(found: Gathered) -> list[Part]:
    """What made this, and how to check it."""
    name = quoted(found.status.name)
    return [
        Heading("Where this comes from"),
        Points(
            [
                literal(f"surefoot {__version__}, policy {found.policy}, problem {found.problem.fingerprint[:16]}"),
                f"Everything here was computed from the {counted(found.status.events, 'event')} of the study, by the "
                "rules that decided. Whoever has the study can check that nothing was changed since:",
            ]
        ),
        Command([f"surefoot study audit {name} --head {found.status.head}"]),
    ]


def number_in(value: Any) -> str:
    """A number of the history; nothing where it is not known."""
    return short(float(value)) if value == value else ""


def last_moment(history: dict[str, Any]) -> str:
    """When the study was last asked or told, in UTC."""
    moments = np.concatenate([history["asked_at"], history["told_at"]])
    known = moments[~np.isnat(moments)]
    return f"{np.datetime_as_string(known.max(), unit='m').replace('T', ' ')} UTC" if len(known) else ""


def quoted(name: str) -> str:
    """The name as a shell takes it."""
    return quote(in_one_line(name))
