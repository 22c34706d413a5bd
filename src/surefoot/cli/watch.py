"""`surefoot study watch`: a study as it goes, for one who only looks."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from surefoot.cli import exit_codes, live
from surefoot.cli.job import Which
from surefoot.cli.output import Output
from surefoot.cli.study_status import opened
from surefoot.errors import InvalidInput, StorageError, counted
from surefoot.live.pulls import Status
from surefoot.problem.checks import number
from surefoot.studies.past import Past
from surefoot.studies.status import Overview, Waiting, overview_of
from surefoot.studies.study import Study

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table

STATES = {
    "stale": "yellow", "failed": "yellow", "cancelled": "dim", "aborted-unsafe": "red", "held": "red",
    "voided": "yellow", "recalled": "yellow",
}  # fmt: skip


def watch_study(output: Output, which: Which, once: bool, every: float) -> int:
    """The exit status, once the study has ended or nobody looks any more."""
    pause = number("--every", every, "Give seconds, for example 2.", above=0.0, at_most=86_400.0)
    if output.json and not once:
        raise InvalidInput("--json", True, "is one document, and a view has no end", "Add --once.")
    study = opened(which)
    seen = look(study)
    if output.json:
        latest = [{"at": at, "what": what} for at, what in seen.latest]
        past = [{"pulls": each.pulls, "gap": each.gap, "levels": levels_in(each)} for each in past_of(study)]
        output.json_result(
            {"status": seen.status.to_brief_dict(), "waiting": seen.waiting, "latest": latest, "history": past}
        )
        return exit_codes.OK
    try:
        if once:
            history = live.History()
            for each in [*past_of(study), seen.status]:
                history.follow(each)
            output.out.print(picture(study, seen, history))
        elif output.out.is_terminal:
            shown_live(output, study, seen, pause)
        else:
            told_in_lines(output, study, seen, pause)
    except KeyboardInterrupt:
        output.out.print()  # the view ends, the study goes on
    return exit_codes.OK


def levels_in(status: Status) -> dict[str, float]:
    """The levels that a document holds: of many arms, those that matter."""
    found: dict[str, float] = status.to_brief_dict()["levels"]
    return found


def past_of(study: Study) -> list[Status]:
    """How the study came to where it is, at a few moments."""
    return Past(study._handle).moments(live.POINTS)


def look(study: Study) -> Overview:
    """The study as it is now."""
    return overview_of(study._handle)


def shown_live(output: Output, study: Study, seen: Overview, pause: float) -> None:
    """Keeps the picture on the terminal up to date until the study ends."""
    from rich.console import Group
    from rich.live import Live
    from rich.text import Text

    history, past, trouble = live.History(), Past(study._handle), ""
    missed = past.moments(live.POINTS)
    with Live(console=output.out, auto_refresh=False) as view:
        while True:
            for each in [*missed, seen.status]:
                history.follow(each)
            frame = picture(study, seen, history)
            view.update(Group(frame, Text(trouble, "red")) if trouble else frame, refresh=True)
            if seen.status.outcome is not None:
                return
            time.sleep(pause)
            try:
                seen, missed, trouble = look(study), past.moments(live.POINTS), ""
            except StorageError as error:  # a server that is away comes back, or somebody will look into it
                trouble = str(error)


def told_in_lines(output: Output, study: Study, seen: Overview, pause: float) -> None:
    """Writes a line whenever something has happened, until the study ends; what happened unseen has a line before."""
    last = -1
    while True:
        if seen.status.events != last:
            unseen = seen.latest[1 : seen.status.events - last] if last >= 0 else seen.latest[1:]
            for _, what in reversed(unseen):
                output.out.print(f"  {what}", soft_wrap=True, markup=False)
            last = seen.status.events
            output.out.print(summary(seen), soft_wrap=True, markup=False)
        if seen.status.outcome is not None:
            return
        time.sleep(pause)
        seen = look(study)


def summary(seen: Overview) -> str:
    """Where the study stands, in one line."""
    status, gap = seen.status, live.known_gap(seen.status)
    shown_gap = "" if gap is None else f", gap {gap:.4g} (epsilon {status.epsilon:.4g})"
    stands = "frozen" if status.frozen else live.phase(status)
    latest = f"; {seen.latest[0][1]}" if seen.latest else ""
    return f"{stands}, {counted(status.pulls, 'result')}, {status.states['open']} open{shown_gap}{latest}"


def picture(study: Study, seen: Overview, history: live.History) -> Group:
    """One frame."""
    from rich.console import Group
    from rich.text import Text

    status, now = seen.status, time.time_ns() // 1000
    title, keeps_limits = f"{study.name}  {study.storage}", seen.keeps_limits
    parts: list[object] = [live.picture(title, status, keeps_limits, history)]
    if status.frozen:
        parts.insert(0, Text(f" FROZEN by {status.frozen['by']}: {status.frozen['reason']} ", "bold white on red"))
    parts += [Text(f"Alarm: {message}", "red") for message in status.contradictions]
    parts += [Text(f"Held, pull {each.number}: {each.surprises}", "red") for each in status.held]
    counts = [(f"{count:,} {state}", STATES.get(state, "")) for state, count in status.states.items() if count]
    told = Text("\n") + Text(", ").join(Text(words, style) for words, style in counts)
    if status.held_back:
        told.append(f", {counted(status.held_back, 'result')} held back by an earlier pull", "yellow")
    parts.append(told)
    if seen.waiting:
        parts.append(waiting_table(seen, now))
    for at, what in seen.latest:
        parts.append(Text.assemble((f"{age(now - at):>7} ago  ", "dim"), what))
    return Group(*parts)  # type: ignore[arg-type]


def waiting_table(seen: Overview, now: int) -> Table:
    """The pulls that wait for a result, the oldest few, and who has them."""
    from rich.table import Table
    from rich.text import Text

    table = Table("open", "arm", "level", "worker", "asked", box=None, pad_edge=False, header_style="dim")
    for each in seen.waiting:
        asked = f"{age(now - each.asked_at)} ago"
        table.add_row(str(each.number), Text(each.name), Text(shown_level(each)), Text(each.worker or "-"), asked)
    if seen.status.states["open"] > len(seen.waiting):
        table.add_row("", f"and {seen.status.states['open'] - len(seen.waiting):,} more", "", "", "")
    return table


def shown_level(each: Waiting) -> str:
    """The level, rounded down, with its setting if there is a dial."""
    return each.at.removeprefix("level ")


def age(microseconds: int) -> str:
    """How long that is, in one unit; a clock that was set back makes it 0."""
    seconds = max(microseconds, 0) / 1e6
    for size, unit in ((86_400.0, "d"), (3600.0, "h"), (60.0, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
