"""`surefoot show`: a problem file, checked and explained."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from surefoot.cli import exit_codes
from surefoot.cli.output import Output
from surefoot.errors import counted
from surefoot.problem import Limit, Problem
from surefoot.worlds.files import Posed, posed_in

ARMS_SHOWN = 20


def show_file(output: Output, file: Path, handed_in: str | None) -> int:
    """The exit status, once the file is checked and told."""
    posed = posed_in(file)
    problem, world = posed.problem, None if posed.world is None else posed.world.name
    policy, described = stated_policy(posed, handed_in)
    if output.json:
        output.json_result(
            {
                "fingerprint": problem.fingerprint, "spans": problem.spans, "rank": problem.rank,
                "problem": problem.to_dict(), "world": world, "policy": policy,
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


def said_norm(norm: float | None) -> str:
    """What is stated about the length of the weights, if anything is."""
    return "" if norm is None else f", weights of length at most {norm:g}"


def kept(limit: Limit) -> str:
    """What must be kept, by the mean or by each reading."""
    side = "at least" if limit.sign > 0 else "at most"
    if limit.reading_risk is None:
        return f"{side} {limit.limit:g} on the mean"
    return (
        f"{side} {limit.limit:g} for each reading with probability {1.0 - limit.reading_risk:.6g}, so {side} "
        f"{limit.mean_limit:.6g} on the mean, which the known safe levels must keep too"
    )


def tell_problem(output: Output, problem: Problem) -> None:
    """Prints what the problem says, in words."""
    from rich.table import Table
    from rich.text import Text

    out = output.out
    size = f"{counted(problem.size, 'arm')} in {counted(problem.rank, 'dimension')}"
    out.print(f"{size}, fingerprint {problem.fingerprint[:12]}")
    arms = Table(box=None, header_style="dim")
    for title in ("arm", "known safe level", "highest level", "features"):
        arms.add_column(title)
    for k in range(min(problem.size, ARMS_SHOWN)):
        features = ", ".join(f"{value:.4g}" for value in problem.arms[k])
        arms.add_row(Text(problem.names[k]), f"{problem.safe_level[k]:g}", f"{problem.max_level[k]:g}", features)
    out.print(arms)
    if problem.size > ARMS_SHOWN:
        out.print(f"  and {problem.size - ARMS_SHOWN:,} more")
    reward = problem.reward
    out.print(f"Reward   to be maximised; noise {reward.noise:g}{said_norm(reward.norm)}")
    for limit in problem.safety:
        out.print(
            Text(
                f"Limit    {limit.name} {kept(limit)}, {limit.baseline:g} when nothing is applied; noise "
                f"{limit.noise:g}{said_norm(limit.norm)}"
            )
        )
    out.print(
        f"Answer   within {problem.epsilon:g} of the best safe one; further off with probability {problem.delta:g} at "
        f"most, any unsafe pull or answer {problem.delta_safety:g} at most"
    )
    if problem.level_grid:
        out.print(f"Dial     {', '.join(f'{level:g}' for level in problem.level_grid)}")
    if problem.max_step is not None:
        out.print(f"Steps    of {problem.max_step:g} at most")
