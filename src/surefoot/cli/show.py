"""`surefoot show`: a problem file, checked and explained."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from surefoot.cli import exit_codes
from surefoot.cli.output import Output
from surefoot.cli.posed import in_brief
from surefoot.errors import counted
from surefoot.problem import Dial, Limit, Problem, Reward
from surefoot.problem.knowable import said_of_error
from surefoot.problem.largest import size_in_words
from surefoot.problem.units import level_shortly, reading_in_words, setting_in_words, with_unit
from surefoot.worlds.files import Posed, posed_in

ARMS_SHOWN = 20
ENTRIES_SHOWN = 12  # of a curve


def show_file(output: Output, file: Path, handed_in: str | None) -> int:
    """The exit status, once the file is checked and told."""
    posed = posed_in(file)
    problem, world = posed.problem, None if posed.world is None else posed.world.name
    policy, described = stated_policy(posed, handed_in)
    if output.json:
        output.json_result(
            {
                "fingerprint": problem.fingerprint, "spans": problem.spans, "rank": problem.rank,
                "problem": in_brief(problem), "open": said_of_error(problem), "world": world, "policy": policy,
            }
        )  # fmt: skip
        return exit_codes.OK
    tell_problem(output, problem)
    if policy is not None:
        output.out.print(f"Policy   {described}", soft_wrap=True)
    if world is not None:
        output.out.print(f"World    {world}: surefoot run {file} simulates it", soft_wrap=True)
    return exit_codes.OK


def stated_policy(posed: Posed, handed_in: str | None) -> tuple[dict[str, Any] | None, str]:
    """The policy of the file as a table and in words, if it states one; policies are loaded only then."""
    if posed.policy is None and handed_in is None:
        return None, ""
    from surefoot import policies
    from surefoot.cli.choosing import chosen_policy

    policy = chosen_policy(posed.policy, handed_in, {}, posed.file) or policies.default_policy()
    return policies.to_dict(policy), policies.describe(policy)


def said_error(signal: Reward | Limit) -> str:
    """How closely its mean follows the linear law, where that is stated."""
    return "" if signal.within == 0.0 else f", linear within {with_unit(f'{signal.within:g}', signal.unit)}"


def kept(limit: Limit) -> str:
    """What must be kept, by the mean or by each reading."""
    side = "at least" if limit.sign > 0 else "at most"
    if limit.reading_risk is None:
        return f"{side} {limit.said} on the mean"
    return (
        f"{side} {limit.said} for each reading with probability {1.0 - limit.reading_risk:.6g}, so {side} "
        f"{reading_in_words(limit.mean_limit, limit.unit)} on the mean, which the known safe levels must keep too"
    )


def tell_problem(output: Output, problem: Problem) -> None:
    """Prints what the problem says, in words."""
    from rich.table import Table
    from rich.text import Text

    out = output.out
    size = f"{counted(problem.size, 'arm')} in {counted(problem.rank, 'dimension')}"
    out.print(f"{size}, fingerprint {problem.fingerprint[:12]}")
    at = partial(level_shortly, problem.dial)
    arms = Table(box=None, header_style="dim")
    for title in ("arm", "known safe level", "highest level", "features"):
        arms.add_column(title)
    for k in range(min(problem.size, ARMS_SHOWN)):
        features = ", ".join(f"{value:.4g}" for value in problem.arms[k])
        known = at(problem.safe_level[k]) if problem.safety else "every level"
        known += "" if problem.pullable[k] else ", cannot be tried"
        arms.add_row(Text(problem.names[k]), Text(known), Text(at(problem.max_level[k])), features)
    out.print(arms)
    if problem.size > ARMS_SHOWN:
        out.print(f"  and {problem.size - ARMS_SHOWN:,} more")
    reward = problem.reward
    noise = with_unit(reward.law.short, reward.unit)
    out.print(Text(f"Reward   to be maximised; noise {noise}{size_in_words(reward)}{said_error(reward)}"))
    for limit in problem.safety:
        out.print(
            Text(
                f"Limit    {limit.name} {kept(limit)}, {with_unit(f'{limit.baseline:g}', limit.unit)} when nothing is "
                f"applied; noise {with_unit(limit.law.short, limit.unit)}{size_in_words(limit)}{said_error(limit)}"
            )
        )
    if not problem.safety:
        out.print(Text("Limits   none are stated: every pull is at the top of the dial"))
    best, safely = "best one", ""
    if problem.safety:
        best, safely = "best safe one", f", any unsafe pull or answer {problem.delta_safety:g} at most"
    out.print(
        Text(
            f"Answer   within {with_unit(f'{problem.epsilon:g}', reward.unit)} of the {best}; further off with "
            f"probability {problem.delta:g} at most{safely}"
        )
    )
    for mark in problem.calibrated_by:
        words = f"Pilot    {mark.partition(' ')[0]} rows, by which it was calibrated and which are not taken as data"
        out.print(Text(words), soft_wrap=True)
    for line in told_dial(problem):
        out.print(Text(line), soft_wrap=True)
    for words in said_of_error(problem):
        out.print(Text(f"Open     {words}"), soft_wrap=True)


def told_dial(problem: Problem) -> list[str]:
    """What can be set, and in which steps."""
    dial, grid, found = problem.dial, problem.level_grid, []
    if dial is not None:
        found.append(f"Dial     {curve_in_words(dial)}")
    if grid:
        found.append(f"{'Settings' if dial else 'Dial    '} {', '.join(shortly(dial, level) for level in grid)}")
    if dial is not None and problem.max_setting_step is not None:
        found.append(f"Steps    of {setting_in_words(problem.max_setting_step, dial.unit, 12)} at most")
    elif problem.max_step is not None:
        found.append(f"Steps    of {problem.max_step:g} at most{' in level' if dial else ''}")
    return found


def curve_in_words(dial: Dial) -> str:
    """What full strength is, or the curve, of a long one its ends."""
    if dial.full is not None:
        return f"in {dial.unit}: {setting_in_words(dial.full, dial.unit, 12)} is full strength, level 1"
    entries = list(zip(dial.settings or (), dial.effects or (), strict=True))
    said = [f"{setting_in_words(setting, dial.unit, 12)} has {effect:.4g}" for setting, effect in entries]
    if len(said) > ENTRIES_SHOWN:
        said = [*said[: ENTRIES_SHOWN // 2], f"... {len(said):,} entries ...", *said[-(ENTRIES_SHOWN // 2) :]]
    return f"in {dial.unit}, a curve of effects, which are the levels: {', '.join(said)}"


def shortly(dial: Dial | None, level: float) -> str:
    """A level of the grid: as it is set, or as it is."""
    return f"{level:g}" if dial is None else setting_in_words(dial.setting_of(level), dial.unit, 6)
