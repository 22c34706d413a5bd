"""What was promised against what was measured, over many runs: prints the table and puts it into the README.

python benchmarks/promise.py [--runs 2000] [--check] [--engine dask --scheduler tcp://head:8786] [--out FOLDER]

--check leaves the README alone; the rest is as for `surefoot sweep`.
"""

import argparse
from typing import Any

from readme import put_into_readme
from swept import add_options, summaries

import surefoot as sf
from surefoot.policies import Policy
from surefoot.sweeping import Cell
from surefoot.worlds import Linear

SEED = 20_261

WORLDS: dict[str, Linear] = {
    "hard": sf.worlds.hard(),
    "limited": sf.worlds.limited(),
    "doses": sf.worlds.doses(),
}
POLICIES: dict[str, Policy] = {
    "SafeGap": sf.SafeGap(),
    "Safe-LinGapE, conservative": sf.SafeLinGapE(selection="conservative"),
    "Safe-LinGapE, optimistic": sf.SafeLinGapE(selection="optimistic"),
    "LinGapE": sf.LinGapE(),
}


def cells() -> list[Cell]:
    """What is run: every policy in every world."""
    problems = {name: world.default_problem().with_(delta=0.05, delta_safety=0.05) for name, world in WORLDS.items()}
    return [
        Cell(WORLDS[world], problems[world], policy, settings={"name": world, "label": label})
        for world in WORLDS
        for label, policy in POLICIES.items()
    ]


def row(cell: Cell, summary: dict[str, Any]) -> str:
    """One row: nominal and measured shares of broken promises and of runs with any unsafe pull."""
    problem, policy = cell.problem, cell.policy
    columns = [
        f"`{cell.settings['name']}`",
        cell.settings["label"],
        f"{summary['pulls_mean']:,.0f}",
        percent(1.0 - policy.guarantee(problem).confidence),
        measured(summary, "broken"),
        measured(summary, "wrong"),
        percent(problem.delta_safety) if policy.guarantee(problem).keeps_limits else "nothing",
        measured(summary, "unsafe"),
        percent(summary["unsafe_share"]),
    ]
    return f"| {' | '.join(columns)} |"


def measured(summary: dict[str, Any], name: str) -> str:
    """How many runs, and the share that they stay below with confidence."""
    events = summary[f"{name}_runs"]
    return "all" if events == summary["runs"] else f"{events:,} (≤ {percent(summary[f'{name}_upper'])})"


def percent(share: float) -> str:
    """The share in percent."""
    return f"{100 * share:.3g} %"


def table(wishes: argparse.Namespace) -> str:
    """The table in Markdown."""
    head = [
        "| world | policy | pulls | broken promises: allowed | measured | wrong answers | unsafe runs: allowed "
        "| measured | unsafe pulls |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|",
    ]  # fmt: skip
    found = cells()
    rows = [row(*each) for each in zip(found, summaries(found, wishes, SEED, confidence=0.99), strict=True)]
    note = (
        f"Over {wishes.runs:,} runs each at delta = delta_safety = 0.05, seed {SEED}; in brackets the upper end of the "
        "exact 99 % interval."
    )
    return "\n".join([*head, *rows, "", note])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--check", action="store_true")
    add_options(parser)
    wishes = parser.parse_args()
    text = table(wishes)
    print(text)
    if not wishes.check:
        put_into_readme("promise", text)
