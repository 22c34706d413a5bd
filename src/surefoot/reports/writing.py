"""The report of a study as a file: HTML that needs nothing else, or Markdown with its pictures beside it."""

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
TRIALS = 1_000  # rows; a page with more is no page
FOLDED = 25  # rows; more are shown when asked for
NARROW = 5.4  # inches: a picture that can be read on a phone
CAPTIONS = {
    "levels": "How high each option may be set: certified safe so far, and the highest that is still possible.",
    "gap": "How much better another option might still be. It is certain when this is at most epsilon.",
    "readings": "Every reading against its limit, and the worst mean that was possible when each trial was made.",
    "rewards": "What each option gives at its certified level: the estimate, and what is still possible.",
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
        light, dark = (
            rendered(plots.KINDS[kind](found.trace, theme=theme, width=NARROW), "svg") for theme in ("light", "dark")
        )
        drawn.append(Picture(f"{prefix}{kind}.svg", light, caption, dark))
    return drawn


def trials(found: Gathered) -> list[Part]:
    """The trials, newest last; of very many the last."""
    history, problem = found.history, found.problem
    count, signals = len(history["number"]), safety_columns(problem)
    first = max(0, count - TRIALS)
    limits = (literal(limit.name) for limit in problem.safety)
    head = ("trial", "option", "level", "reward", *limits, "state", "remarks")
    rows = []
    for k in range(first, count):
        readings = (number_in(history[name][k]) for name in signals)
        remark = "; ".join(filter(None, ["imported" if history["imported"][k] else "", history["changes"][k] or ""]))
        level = float(history["level"][k])
        shown = level_in_table(problem, level) if level == level else ""
        rows.append(
            (
                str(history["number"][k]), literal(history["name"][k]), shown,
                number_in(history["reward"][k]), *readings, str(history["state"][k]), literal(remark),
            )
        )  # fmt: skip
    said = f"All {count:,} trials" if first == 0 else f"The last {len(rows):,} of {count:,} trials"
    if not rows:
        return [Heading("Trials"), Paragraph("None yet.")]
    name = found.status.name
    command: list[Part] = (
        [Paragraph("All of them:"), Command([f"surefoot study history {quoted(name)}"])] if first else []
    )
    table = Table(head, rows, text_columns=2, text_last=2, folded=said if len(rows) > FOLDED else None, stacks=True)
    return [Heading("Trials"), table, *command]


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
