"""`surefoot run`: one experiment on a simulated world, the answer with its certificate, and LinGapE beside it."""

from __future__ import annotations

from surefoot import __version__, policies
from surefoot.cli import exit_codes
from surefoot.cli.answers import tell_answer
from surefoot.cli.live import tell_if_compiling, unwatched, watched
from surefoot.cli.output import Output
from surefoot.cli.scenario import Scenario
from surefoot.cli.trial import Trial, carried_out
from surefoot.live.certificate import rounded_down
from surefoot.policies import LinGapE


def run_once(output: Output, scenario: Scenario, seed: int, max_pulls: int, compare: bool) -> int:
    """The exit status of one experiment, once it is carried out and told."""
    tell_if_compiling(output)
    title = f"{scenario.policy.name} on {scenario.world.name}, seed {seed}"
    with watched(output, title) as watch:
        trial = carried_out(scenario, scenario.policy, seed, max_pulls, watch)
    beside = None
    if compare and scenario.policy.keeps_limits:
        beside = carried_out(scenario, LinGapE(), seed, max_pulls, unwatched)
    if output.json:
        output.document(document(scenario, seed, max_pulls, trial, beside))
    else:
        found = trial.session
        tell_answer(output, found.outcome, found.pulls, found.certificate, found.recommendation)
        tell_comparison(output, [trial, beside] if beside else [trial])
    return exit_codes.BY_OUTCOME[trial.session.outcome or "undecided"]


def document(scenario: Scenario, seed: int, max_pulls: int, trial: Trial, beside: Trial | None) -> dict[str, object]:
    """Everything about the experiment, for a program to read."""
    return {
        "surefoot": __version__,
        "world": scenario.world.name,
        "problem": {"fingerprint": scenario.problem.fingerprint, **scenario.problem.to_dict()},
        "seed": seed,
        "max_pulls": max_pulls,
        **trial.to_dict(),
        "beside": beside.to_dict() if beside else None,
    }


def tell_comparison(output: Output, trials: list[Trial]) -> None:
    """Prints how each experiment looks to one who knows the truth."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("policy")
    for title in ("pulls", "unsafe pulls", "answer", "safe", "shortfall"):
        table.add_column(title, justify="right")
    for trial in trials:
        verdict, found = trial.verdict, trial.session.certificate
        safe = {True: Text("yes", "green"), False: Text("no", "red"), None: Text("-")}[verdict.answer_safe]
        unsafe = f"{verdict.unsafe_pulls:,} ({100 * trial.unsafe_share:.1f} %)"
        table.add_row(
            trial.session.policy.name,
            f"{trial.session.pulls:,}",
            Text(unsafe, "red" if verdict.unsafe_pulls else "green"),
            "none" if found is None else found.name + (f" at {rounded_down(found.level)}" if found.arm >= 0 else ""),
            safe,
            "-" if verdict.shortfall is None else f"{verdict.shortfall:.4g}",
        )
    output.out.print()
    output.out.print(Text("Held against the truth of the world", "bold"))
    output.out.print(table)
    for trial in trials:
        output.out.print(Text(policies.describe(trial.session.policy), "dim"), soft_wrap=not output.out.is_terminal)
