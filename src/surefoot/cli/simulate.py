"""`surefoot simulate`: many runs of one or several policies, and a table with exact intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from surefoot import __version__, policies
from surefoot.cli import exit_codes
from surefoot.cli.choosing import Scenario
from surefoot.cli.output import Output
from surefoot.cli.posed import in_brief
from surefoot.errors import InvalidInput, MissingExtra
from surefoot.files import write_bytes
from surefoot.policies.guarantee import WITHIN_EPSILON
from surefoot.results import Runs
from surefoot.simulation import simulate

Cell = Callable[[Runs, dict[str, Any]], str]
NEEDS = {".csv": ["pandas"], ".parquet": ["pandas", "pyarrow"]}


def simulate_many(
    output: Output, scenarios: Sequence[Scenario], runs: int, seed: int, workers: int | None, max_pulls: int,
    confidence: float, out: Path | None, alarm: bool = False, device: str = "cpu",
) -> int:  # fmt: skip
    """The exit status, once the runs are done, written and told; the scenarios differ in their policies alone."""
    if not 0.0 < confidence < 1.0:
        raise InvalidInput("--confidence", confidence, "must lie between 0 and 1", "For example 0.95.")
    if out is not None:
        check_writable(out)
    found: list[Runs] = []
    for scenario in scenarios:
        played = simulate(
            scenario.world, scenario.problem, scenario.policy, runs=runs, seed=seed, workers=workers,
            max_pulls=max_pulls, alarm=alarm, device=device, progress=output.shows_progress and output.err.is_terminal,
        )  # fmt: skip
        if len(played) == 0 and not found:
            raise KeyboardInterrupt("Interrupted before the first run was done.")
        found.append(played)
        if played.interrupted:
            break
    summaries = [each.summary(confidence) for each in found]
    if out is not None:
        write_rows(out, found)
    if output.json:
        output.json_result(told_to_programs(scenarios[0], seed, max_pulls, alarm, found, summaries))
    else:
        tell_summaries(output, scenarios[0], found, summaries)
        if out is not None:
            output.out.print(f"{sum(map(len, found)):,} rows in {out}", soft_wrap=True)
    return exit_codes.INTERRUPTED if found[-1].interrupted else exit_codes.OK


def check_writable(out: Path) -> None:
    """Refuses, before any work, a file that could not be written after it."""
    if out.suffix.lower() not in NEEDS:
        raise InvalidInput("--out", str(out), "is of no known format", "Use a path that ends in .parquet or .csv.")
    if not out.parent.is_dir():
        raise InvalidInput("--out", str(out), "lies in a folder that does not exist", "Make the folder first.")
    for package in NEEDS[out.suffix.lower()]:
        if find_spec(package) is None:
            raise MissingExtra(package, "frames")


def write_rows(out: Path, found: Sequence[Runs]) -> None:
    """Writes one row per run; a column says which policy it is of."""
    import pandas as pd

    frames = [each.to_pandas().assign(policy=policies.describe(each.policy)) for each in found]
    rows = pd.concat(frames, ignore_index=True)
    rows.insert(0, "policy", rows.pop("policy"))
    if out.suffix.lower() == ".csv":
        content = rows.to_csv(index=False).encode()
    else:
        content = rows.to_parquet(None, engine="pyarrow", index=False)
    write_bytes("--out", out, content)


def told_to_programs(
    scenario: Scenario, seed: int, max_pulls: int, alarm: bool, found: Sequence[Runs],
    summaries: Sequence[dict[str, Any]],
) -> dict[str, Any]:  # fmt: skip
    """Everything about the runs, for a program to read."""
    return {
        "surefoot": __version__,
        "world": scenario.world.name,
        "problem": {"fingerprint": scenario.problem.fingerprint, **in_brief(scenario.problem)},
        "seed": seed,
        "max_pulls": max_pulls,
        "alarm": alarm,
        "policies": [
            {"options": policies.to_dict(each.policy), "summary": summary}
            for each, summary in zip(found, summaries, strict=True)
        ],
    }


def tell_summaries(
    output: Output, scenario: Scenario, found: Sequence[Runs], summaries: Sequence[dict[str, Any]]
) -> None:
    """Prints the summaries side by side."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(f"on {scenario.world.name}", header_style="dim", style="dim")
    for summary in summaries:
        table.add_column(summary["policy"], justify="right")
    for label, cell in ROWS.items():
        table.add_row(label, *(cell(each, summary) for each, summary in zip(found, summaries, strict=True)))
    output.out.print(table)
    for each in found:
        output.out.print(Text(policies.describe(each.policy), "dim"), soft_wrap=not output.out.is_terminal)
    share = f"{100 * summaries[0]['confidence']:g} %"
    note = f"Intervals of {share}; rates are exact (Clopper-Pearson) over all runs, pulls are over certified runs."
    if found[-1].interrupted:
        note += " Interrupted: only the finished runs are counted."
    output.out.print(Text(note, "dim"))


def rate(name: str) -> Cell:
    """The cell of a rate: how many runs, and between which bounds their share lies."""

    def cell(runs: Runs, summary: dict[str, Any]) -> str:
        count, low, high = (summary[f"{name}_{part}"] for part in ("runs", "lower", "upper"))
        return f"{count:,} [{percent(low)}, {percent(high)}]"

    return cell


def allowed_wrong(runs: Runs, summary: dict[str, Any]) -> str:
    """The share of broken promises that the certificates allow."""
    if not runs.policy.guarantee(runs.problem).certifies:
        return "nothing"
    return percent(1.0 - runs.policy.guarantee(runs.problem).confidence)


def allowed_both(runs: Runs, summary: dict[str, Any]) -> str:
    """The share of answers that may be too far from the best safe one or unsafe: both errors, where (b) is promised."""
    found = runs.policy.guarantee(runs.problem)
    if found.certifies and not runs.problem.safety:
        return percent(1.0 - found.confidence)
    if found.kind != WITHIN_EPSILON or found.safety is None:
        return "nothing"
    return percent(min(1.0, 2.0 - found.confidence - found.safety))


def allowed_unsafe(runs: Runs, summary: dict[str, Any]) -> str:
    """The share of unsafe runs that the certificates allow."""
    safety = runs.policy.guarantee(runs.problem).safety
    if not runs.problem.safety:
        return "no limits"
    return "nothing" if safety is None else percent(1.0 - safety)


def percent(share: float) -> str:
    """The share in percent."""
    return f"{100 * share:.3g} %"


def mean_pulls(runs: Runs, summary: dict[str, Any]) -> str:
    """The mean number of pulls with its interval."""
    mean, low, high = (summary[f"pulls_{part}"] for part in ("mean", "lower", "upper"))
    if mean is None:
        return "-"
    return f"{mean:,.1f}" if low is None else f"{mean:,.1f} [{low:,.1f}, {high:,.1f}]"


def quantiles(runs: Runs, summary: dict[str, Any]) -> str:
    """The number of pulls that a tenth, a half and nine tenths of the runs stay within."""
    found = summary["pulls_quantiles"]
    return "-" if found is None else " / ".join(f"{each:,.0f}" for each in found.values())


def endings(runs: Runs, summary: dict[str, Any]) -> str:
    """How the runs ended."""
    ways = ("certified", "measured", "undecided", "contradiction", "breakdown", "alarm")
    return ", ".join(f"{summary[f'{way}_runs']:,} {way}" for way in ways if summary[f"{way}_runs"]) or "none"


ROWS: dict[str, Cell] = {
    "runs": lambda runs, summary: f"{summary['runs']:,}",
    "ended": endings,
    "pulls, mean": mean_pulls,
    "pulls, sd": lambda runs, summary: "-" if summary["pulls_sd"] is None else f"{summary['pulls_sd']:,.1f}",
    "pulls, 10/50/90 %": quantiles,
    "broken promises": rate("broken"),
    "  promised at most": allowed_wrong,
    "wrong by (b), or unsafe": rate("wrong"),
    "  promised at most  ": allowed_both,
    "runs with an unsafe pull": rate("unsafe"),
    "  promised at most ": allowed_unsafe,
    "unsafe answers": rate("unsafe_answer"),
    "share of unsafe pulls": lambda runs, summary: percent(summary["unsafe_share"]),
}
