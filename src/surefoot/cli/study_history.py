"""`surefoot study history`: every pull of a study as a row."""

from __future__ import annotations

import sys
from pathlib import Path

from surefoot.characters import visible
from surefoot.cli import exit_codes, interruption
from surefoot.cli.job import Which
from surefoot.cli.output import Output
from surefoot.errors import ABSENT, InvalidInput, counted
from surefoot.files import exists_already, writing
from surefoot.problem.checks import text
from surefoot.storage.addresses import address_of
from surefoot.studies.history_files import Write, pulls_of, write_csv, write_json, write_jsonl, write_parquet
from surefoot.studies.lifecycle import NAME
from surefoot.studies.pull_columns import PullColumns

FORMATS = ("csv", "parquet", "json", "jsonl")
WORDS = f"Write one of {', '.join(FORMATS)}."


def history(output: Output, which: Which, wanted: str | None, out: Path | None, force: bool) -> int:
    """Writes the rows to standard output, or to a file."""
    text("name", which.name, NAME)
    form = format_for(output, wanted, out)
    if out is not None and not force and out.exists():
        raise exists_already("--out", out)
    pulls = pulls_of(which.name, which.storage)
    if out is None:
        interruption.done()
        to_screen(output, which, form, pulls)
        return exit_codes.OK
    with writing("--out", out, overwrite=force) as file:
        if form == "parquet":
            write_parquet(pulls, file)
        else:
            write_words(form, pulls, which, lambda words: file.write(words.encode()))
    table = {"study": which.name, "path": str(out), "format": form, "pulls": len(pulls)}
    return output.answer(table, f"{counted(len(pulls), 'pull')} of {which.name}: {out}")


def format_for(output: Output, wanted: str | None, out: Path | None) -> str:
    """The format that was asked for, by its name, by the ending of the file, or by --json."""
    if wanted is not None and wanted not in FORMATS:
        raise InvalidInput("--format", wanted, "is no known format", WORDS)
    if out is not None:
        form = wanted or out.suffix.lower().removeprefix(".")
        if form not in FORMATS:
            raise InvalidInput("--out", str(out), "is of no known format", f"Add --format. {WORDS}")
        return form
    form = wanted or ("json" if output.json else "csv")
    if form == "parquet":
        raise InvalidInput("--out", ABSENT, "is needed: Parquet is not for a terminal or a pipe", "Name a new file.")
    if output.json and form != "json":
        raise InvalidInput(
            "--json", True, f"is one document, and {form} is none", "Leave one of them out, or add --out."
        )
    return form


def to_screen(output: Output, which: Which, form: str, pulls: PullColumns) -> None:
    """Writes the rows to standard output: exactly, or where a person looks, so that nothing acts on the terminal."""
    terminal = sys.stdout.isatty()
    write_words(form, pulls, which, lambda words: sys.stdout.write(visible(words) if terminal else words), output)


def write_words(form: str, pulls: PullColumns, which: Which, write: Write, output: Output | None = None) -> None:
    """Writes the rows in a format that is text."""
    if form == "csv":
        write_csv(pulls, write)
    elif form == "jsonl":
        write_jsonl(pulls, write)
    else:
        about = {"study": which.name, "storage": str(address_of(which.storage))}
        write_json(pulls, write, **about, **({"warnings": output.warnings} if output else {}))
