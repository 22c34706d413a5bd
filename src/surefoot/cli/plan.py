"""`surefoot plan`: how many trials a problem may take, before the first one."""

from __future__ import annotations

from pathlib import Path

from surefoot import __version__
from surefoot.cli.choosing import chosen_policy
from surefoot.cli.output import Output
from surefoot.cli.policy_options import Wishes
from surefoot.cli.posed import posed_for
from surefoot.cli.study_pictures import ENDINGS, checked_file
from surefoot.files import write_bytes
from surefoot.planning import plan


def plan_file(
    output: Output, file: Path, wished: Wishes, runs: int, budget: int, like: Path | None, seed: int,
    workers: int | None, out: Path | None, force: bool, theme: str, width: float,
) -> int:  # fmt: skip
    """The exit status, once the plan is made, drawn and told. A truth that the file states is not looked at."""
    place = None if out is None else checked_file(out, ENDINGS, force)
    if place is not None:
        check_picture(theme, width)
    posed = posed_for(file, None)
    policy = chosen_policy(posed.policy, wished.policy, wished.options, file)
    found = plan(
        posed.problem, policy, runs=runs, budget=budget, like=like, seed=seed, workers=workers,
        progress=output.shows_progress and output.err.is_terminal,
    )  # fmt: skip
    words = str(found)
    if place is not None:
        from surefoot.plots import rendered

        picture = rendered(found.plot(theme=theme, width=width), place.suffix.lower().removeprefix("."))
        write_bytes("--out", place, picture)
        words += f"\n\nPicture: {place}"
    return output.answer(
        {"surefoot": __version__, **found.to_dict(), "picture": None if place is None else str(place)}, words
    )


def check_picture(theme: str, width: float) -> None:
    """Refuses, before any work, a picture that could not be drawn after it."""
    from surefoot.plots.experiment import checked_width
    from surefoot.plots.style import matplotlib, theme_named

    theme_named(theme)
    checked_width(width)
    matplotlib()
