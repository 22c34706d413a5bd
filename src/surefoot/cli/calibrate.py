"""`surefoot calibrate`: what pilot trials say about a problem file, and the file that they suggest."""

from __future__ import annotations

from pathlib import Path

from surefoot import __version__
from surefoot.calibration import calibrate
from surefoot.calibration.suggesting import beside, check
from surefoot.cli.init import in_place
from surefoot.cli.output import Output
from surefoot.cli.plan import check_picture
from surefoot.cli.study_pictures import ENDINGS, checked_file
from surefoot.errors import InvalidInput
from surefoot.files import write_bytes
from surefoot.problem.files import read_table
from surefoot.worlds.files import posed_in


def calibrate_file(
    output: Output, pilot: Path, file: Path, confidence: float | None, out: Path | None, picture: Path | None,
    force: bool, theme: str, width: float,
) -> int:  # fmt: skip
    """The exit status, once the rows are looked at, the file and the picture written, and all is told."""
    check_place(out, force)
    if picture is not None:
        try:
            checked_file(picture, ENDINGS, force)
        except InvalidInput as error:
            remedy = "Name another with --plot, or allow it with --force." if picture.exists() else error.remedy
            raise InvalidInput("--plot", str(picture), error.reason, remedy) from error
        check_picture(theme, width)
    problem = posed_in(file).problem
    try:
        found = calibrate(problem, pilot, confidence=confidence)
    except InvalidInput as error:
        if error.field != "rows":
            raise
        raise InvalidInput("PILOT", error.value, error.reason, error.remedy) from error
    words = str(found)
    content = None
    if out is not None:
        content = found.suggestion(beside(read_table(file), file.parent, out))
        check(content, out.parent)
    if picture is not None:
        from surefoot.plots import rendered

        drawn = rendered(found.plot(theme=theme, width=width), picture.suffix.lower().removeprefix("."))
        write_bytes("--plot", picture, drawn, overwrite=force)
        words += f"\n\nPicture: {picture}"
    if out is not None and content is not None:
        write_bytes("--out", out, content.encode(), overwrite=force)
        words += f"\n\n{out} is written. Read its comments, then: surefoot show {out}, surefoot plan {out}"
    written = {"path": None if out is None else str(out), "picture": None if picture is None else str(picture)}
    return output.answer({"surefoot": __version__, **found.to_dict(), **written}, words)


def check_place(out: Path | None, force: bool) -> None:
    """Refuses, before any work, a file that could not be written after it."""
    if out is None:
        return
    if out.suffix.lower() != ".toml":
        raise InvalidInput("--out", str(out), "must end in .toml", "Comments have no place in other files.")
    if out.exists() and not force:
        raise in_place(out)
    if not out.absolute().parent.is_dir():
        raise InvalidInput("--out", str(out), "is in a folder that is not there", "Make the folder first.")
