"""`surefoot study plot` and `surefoot study report`: a study to look at, and to hand on."""

from __future__ import annotations

from pathlib import Path

from surefoot.cli import exit_codes
from surefoot.cli.help_pages import PICTURES
from surefoot.cli.job import Which
from surefoot.cli.output import Output
from surefoot.cli.study_status import opened
from surefoot.errors import ABSENT, InvalidInput, counted
from surefoot.files import exists_already, write_bytes
from surefoot.problem.checks import did_you_mean

ENDINGS = (".png", ".svg", ".pdf")
A_KIND = "surefoot study plot --list names them all."


def plot(
    output: Output, name: str | None, kind: str | None, storage: str | None, policy: str | None, out: Path | None,
    force: bool, theme: str, width: float, arms: list[str] | None, listing: bool,
) -> int:  # fmt: skip
    """Writes one picture of a study to a file."""
    if listing:
        return list_kinds(output)
    if name is None:
        raise InvalidInput("STUDY", ABSENT, "is needed", "Write surefoot study plot STUDY KIND --out FILE.png.")
    if kind is None:
        raise InvalidInput("KIND", ABSENT, "is needed", f"Write one of {', '.join(PICTURES)}.")
    if kind not in PICTURES:
        raise InvalidInput("KIND", kind, "is no picture of a study", f"{did_you_mean(kind, PICTURES)} {A_KIND}")
    if arms and kind not in ("levels", "rewards"):
        raise InvalidInput("--arm", arms, f"has no meaning for {kind}", "It chooses options for levels and rewards.")
    place = checked_file(out, ENDINGS, force)
    from surefoot import plots

    study = opened(Which(name, storage, policy))
    choice = {"arms": arms} if arms else {}
    figure = plots.KINDS[kind](study, theme=theme, width=width, **choice)
    write_bytes("--out", place, plots.rendered(figure, place.suffix.lower().removeprefix(".")))
    pulls = study.pulls
    table = {"study": name, "picture": kind, "path": str(place), "pulls": pulls}
    return output.answer(table, f"{kind} of {name} after {counted(pulls, 'result')}: {place}")


def list_kinds(output: Output) -> int:
    """Says which pictures there are."""
    if output.json:
        output.json_result({"pictures": PICTURES})
        return exit_codes.OK
    return output.answer({}, "\n".join(f"{kind:<9} {what}" for kind, what in PICTURES.items()))


def report(output: Output, which: Which, out: Path | None, force: bool) -> int:
    """Writes the report of a study."""
    from surefoot.reports.writing import FORMATS, write_report

    place = checked_file(out, FORMATS, force)
    study = opened(which)
    files = write_report(study, place, overwrite=force)
    more = f", with {counted(len(files) - 1, 'picture')} beside it" if len(files) > 1 else ""
    table = {"study": which.name, "path": str(place), "files": [str(each) for each in files]}
    return output.answer(table, f"Report of {which.name}: {place}{more}")


def checked_file(out: Path | None, endings: tuple[str, ...], force: bool) -> Path:
    """The file to write, before anything is done for it: its ending says what it will be."""
    listed = ", ".join(endings)
    if out is None:
        raise InvalidInput("--out", ABSENT, "is needed", f"Name a new file that ends in one of {listed}.")
    if out.suffix.lower() not in endings:
        raise InvalidInput("--out", str(out), "is of no known format", f"Name a file that ends in one of {listed}.")
    if out.exists() and not force:
        raise exists_already("--out", out)
    if not out.absolute().parent.is_dir():
        raise InvalidInput("--out", str(out), "is in a folder that is not there", "Make the folder first.")
    return out
