"""The files of a reproduction: every run, the figures, the findings, and the report as a page and as a document."""

from __future__ import annotations

import io
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from surefoot.files import write_whole
from surefoot.pages import as_html, as_markdown
from surefoot.plain_data import json_text
from surefoot.plots.style import rendered
from surefoot.reproduction.figures import picture_of
from surefoot.reproduction.findings import Findings
from surefoot.reproduction.plans import Plan
from surefoot.reproduction.protocols import Played
from surefoot.reproduction.report import TITLE, report_of

if TYPE_CHECKING:
    import pandas as pd


def write_files(folder: Path, plan: Plan, played: Played, found: Findings) -> Iterator[Path]:
    """Writes everything, and tells each path when its file is there."""
    for name, content in contents(plan, played, found):
        write_whole(folder / name, content)
        yield folder / name


def contents(plan: Plan, played: Played, found: Findings) -> Iterator[tuple[str, bytes]]:
    """Name and content of every file; the same runs give the same bytes."""
    svgs = {}
    for experiment, panels in found.figures.items():
        picture = picture_of(experiment, panels)
        svgs[experiment] = rendered(picture, "svg")
        yield f"{experiment}.svg", svgs[experiment]
        yield f"{experiment}.png", rendered(picture, "png")
    numbers = {"command": plan.command, "runs": plan.runs, "seed": plan.seed, **found.to_dict()}
    yield "findings.json", json_text(numbers).encode()
    parts = report_of(plan, found, svgs)
    yield "report.md", as_markdown(parts, images="").encode()
    yield "report.html", as_html(TITLE, parts).encode()
    for experiment in plan.experiments:
        rows = rows_of(plan, experiment, played)
        yield f"runs-{experiment}.csv", comma_separated(rows)
        yield f"runs-{experiment}.parquet", rows.to_parquet(None, engine="pyarrow", index=False)


def rows_of(plan: Plan, experiment: str, played: Played) -> pd.DataFrame:
    """One row per run of an experiment, the setting in the first columns."""
    import pandas as pd

    frames = []
    for cell in plan.cells(experiment):
        frame = played[cell].to_pandas().rename(columns={"level": "answer_level", "name": "answer"})
        setting = pd.DataFrame({key: [value] * len(frame) for key, value in cell.described().items()})
        frames.append(pd.concat([setting, frame], axis=1).astype({"explored_at": "float64"}))
    return pd.concat(frames, ignore_index=True)


def comma_separated(rows: pd.DataFrame) -> bytes:
    """The rows as CSV; pyarrow writes ten times faster than pandas."""
    content = io.BytesIO()
    table = import_module("pyarrow").Table.from_pandas(rows, preserve_index=False)
    import_module("pyarrow.csv").write_csv(table, content)
    return content.getvalue()
