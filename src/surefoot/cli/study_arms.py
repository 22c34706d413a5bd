"""The arms of a study with their levels: all where there are few, and of many those that matter."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite

from surefoot.cli.live import ARMS_SHOWN
from surefoot.cli.output import Output
from surefoot.errors import counted
from surefoot.problem import Problem
from surefoot.problem.units import UNKNOWN, level_in_words, rounded_down
from surefoot.studies.status import StudyStatus

MOST_SHOWN = 40  # arms that matter
IN_A_TABLE = 500  # arms; more are told line by line, for laying out a long table takes minutes


def tell_arms(
    output: Output, status: StudyStatus, problem: Problem, keeps_limits: bool, answer: str | None, everything: bool,
    rewards: Mapping[str, tuple[str, str]],
) -> None:  # fmt: skip
    """Prints the arms that matter with their levels, or all; a printed level is never above the certified one.

    Beside them stands the reward that is expected there, with what is still possible, as far as it is known. Those
    matter that were tried, that lead, challenge, look best or are the answer; where there are few, all do.
    """
    from rich.table import Table
    from rich.text import Text

    roles = roles_in(status, answer)
    shown = shown_arms(status, list(roles), everything)
    level = "certified level" if keeps_limits else "level"
    for arm in shown:
        if not problem.pullable[problem.index_of(arm)]:
            roles.setdefault(arm, []).append("cannot be tried")
    about = ("reward there", "between") if rewards else ()
    titles = ("arm", level, "pulls", *about, "")
    rows = [
        (
            arm, shown_level(status, status.levels[arm]), f"{status.pulls_per_arm[arm]:,}",
            *(rewards.get(arm, ("", "")) if rewards else ()), ", ".join(roles.get(arm, [])),
        )
        for arm in shown
    ]  # fmt: skip
    if len(rows) > IN_A_TABLE:
        output.out.out("\n".join("  ".join(row).rstrip() for row in [titles, *rows]), highlight=False)
    else:
        table = Table(*titles, box=None, pad_edge=False, header_style="dim")
        table.columns[2].justify = "right"
        for arm, level, *numbers, said in rows:
            table.add_row(Text(arm), Text(level), *numbers, Text(said, "dim"))
        output.out.print(table)
    for words in left_out(status, shown):
        output.out.print(Text(words, "dim"))


def shown_level(status: StudyStatus, level: float) -> str:
    """The level, rounded down, with its setting if there is a dial; nobody knows that of a study of another version."""
    if status.dial is not None:
        return level_in_words(status.dial, level)
    return rounded_down(level) if isfinite(level) else UNKNOWN


def roles_in(status: StudyStatus, answer: str | None) -> dict[str, list[str]]:
    """What there is to say of some arms besides their pulls."""
    roles = ("answer", "leads", "challenges", "best estimate")
    found: dict[str, list[str]] = {}
    for role, arm in zip(roles, (answer, status.leader, status.challenger, status.best_estimate), strict=True):
        if arm is not None and arm in status.levels:
            found.setdefault(arm, []).append(role)
    return found


def shown_arms(status: StudyStatus, first: list[str], everything: bool) -> list[str]:
    """The names of the arms that are listed: all, where there are few or it is wished; else those that matter."""
    if everything or len(status.levels) <= ARMS_SHOWN:
        return list(status.levels)
    return list(dict.fromkeys([*first, *status.names_that_matter()]))[:MOST_SHOWN]


def left_out(status: StudyStatus, shown: list[str]) -> list[str]:
    """How many arms are not listed."""
    tried = sum(1 for pulls in status.pulls_per_arm.values() if pulls)
    here = sum(1 for arm in shown if status.pulls_per_arm[arm])
    never = len(status.levels) - tried - (len(shown) - here)
    rest = {"tried less often": tried - here, "never tried": never}
    return [f"and {counted(count, 'arm')} {words}" for words, count in rest.items() if count]
