"""Pulls until certainty on many worlds, against Safe-LinGapE with the same guarantee and against the lower bound.

The lower bound is (T9) for methods that lean on no norm, as SafeGap: the expected pulls, up to the first unsafe one,
that no method with both promises does without as both deltas go to 0. Beside it pulls.json has the bound for methods
that are told the norms, the strict bounds at the deltas of the suite, and the gap of each.

python benchmarks/pulls.py [--runs 200] [--only "paper, d = 3"] [--show] [--engine dask --scheduler tcp://head:8786]
python benchmarks/pulls.py --field

Prints the table, writes it to pulls.json and puts it into the README, and then likewise the table of the field's
methods where there are no limits (pulls_field.py), which is all that --field does. --show prints what pulls.json holds
and measures nothing; --only measures the worlds whose names contain the text, and writes nothing. --engine, --workers,
--scheduler and --out are as for `surefoot sweep`.
"""

import argparse
import json
import sys
from math import exp, log
from pathlib import Path
from typing import Any

import pulls_field
from pull_worlds import DELTA, suite
from readme import put_into_readme
from rich.console import Console
from rich.table import Table
from swept import add_options, summaries

import surefoot as sf
from surefoot import theory
from surefoot.errors import counted
from surefoot.policies import Policy
from surefoot.sweeping import Cell
from surefoot.worlds import Linear

RESULTS = Path(__file__).parent / "pulls.json"
SEED = 4
BUDGET = 1_000_000
EXPLORED = 200  # rounds per arm
HEAD = (
    "world", "lower bound", "LinGapE, unsafe", f"Safe-LinGapE, {EXPLORED} per arm", "Safe-LinGapE", "SafeGap",
    "of the better", "of the bound",
)  # fmt: skip


def policies(arms: int) -> dict[str, Policy]:
    """What is compared: the same for every world. Safe-LinGapE has the paper's radii and the same guarantee."""
    return {
        "lingape": sf.LinGapE(),
        "explored": sf.SafeLinGapE(
            selection="optimistic", null_pull=True, explore=sf.UniformRandom(rounds=EXPLORED * arms)
        ),
        "unexplored": sf.SafeLinGapE(selection="optimistic", null_pull=True),
        "safe-gap": sf.SafeGap(),
    }


def bounds(world: Linear, problem: sf.Problem) -> dict[str, Any]:
    """(T9) without norms, which the table quotes, and its relatives."""
    free = theory.lower_bound(world, problem)
    others = {
        "with_norms": theory.lower_bound(world, problem, norms=True),
        "strict": theory.lower_bound(world, problem, strict=True),
        "strict_with_norms": theory.lower_bound(world, problem, strict=True, norms=True),
    }
    return {
        "lower_bound": free.pulls,
        "lower_bound_gap": free.gap,
        "other_bounds": {name: {"pulls": bound.pulls, "gap": bound.gap} for name, bound in others.items()},
    }


def measured(worlds: dict[str, tuple[Linear, sf.Problem]], wishes: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """The row of each world."""
    runs = [
        # LinGapE and SafeGap stop long before the budget; it is there for whoever does not.
        Cell(world, problem, policy, BUDGET, settings={"name": name, "label": label})
        for name, (world, problem) in worlds.items()
        for label, policy in policies(world.size).items()
    ]
    found = summaries(runs, wishes, SEED)
    rows: dict[str, dict[str, Any]] = {name: bounds(*posed) for name, posed in worlds.items()}
    for cell, summary in zip(runs, found, strict=True):
        rows[cell.settings["name"]][cell.settings["label"]] = counts(summary)
    return rows


def counts(found: dict[str, Any]) -> dict[str, Any]:
    """What the runs of one policy in one world say."""
    return {
        "pulls": found["pulls_mean"],
        "error": None if found["pulls_sd"] is None else found["pulls_sd"] / found["certified_runs"] ** 0.5,
        "stopped": found["certified_runs"],
        "wrong": found["wrong_runs"],
        "unsafe": found["unsafe_runs"],
        "runs": found["runs"],
    }


def ratios(row: dict[str, Any]) -> tuple[float | None, float]:
    """SafeGap's pulls as a share of the better Safe-LinGapE's, and as a multiple of the lower bound."""
    others = [row[name]["pulls"] for name in ("explored", "unexplored") if row[name]["stopped"] == row[name]["runs"]]
    ours = row["safe-gap"]["pulls"]
    return (ours / min(others) if others else None), ours / row["lower_bound"]


def cells(name: str, row: dict[str, Any]) -> tuple[str, ...]:
    """One line of the table; a policy that did not always stop is left out of the ratios and says so."""

    def pulls(cell: dict[str, Any]) -> str:
        if cell["stopped"] < cell["runs"]:
            return f"{cell['runs'] - cell['stopped']} of {cell['runs']} at the budget"
        return f"{cell['pulls']:,.0f} ± {cell['error']:,.0f}"

    share, multiple = ratios(row)
    compared = ("lingape", "explored", "unexplored", "safe-gap")
    return (
        name, f"{row['lower_bound']:,.0f}", *(pulls(row[policy]) for policy in compared),
        "" if share is None else f"{share:.2f}", f"{multiple:.2f}x",
    )  # fmt: skip


def geometric_mean(values: list[float]) -> float:
    """The mean that suits ratios."""
    return exp(sum(log(value) for value in values) / len(values))


def total(rows: dict[str, dict[str, Any]]) -> tuple[str, ...]:
    """The last line of the table."""
    shares = [share for share, _ in map(ratios, rows.values()) if share is not None]
    multiples = [multiple for _, multiple in map(ratios, rows.values())]
    return (
        "geometric mean", "", "", "", "", "", f"{geometric_mean(shares):.2f}", f"{geometric_mean(multiples):.2f}x",
    )  # fmt: skip


def note(rows: dict[str, dict[str, Any]]) -> str:
    """What the reader must know of the table."""
    ours = [row["safe-gap"] for row in rows.values()]
    runs = sum(cell["runs"] for cell in ours)
    return (
        f"Mean pulls ± standard error over {ours[0]['runs']:,} runs each, delta = delta_safety = {DELTA}, seed {SEED}. "
        f"SafeGap: {counted(sum(cell['wrong'] for cell in ours), 'wrong answer')} and "
        f"{counted(sum(cell['unsafe'] for cell in ours), 'run')} with an unsafe pull in {runs:,}; "
        f"{sum(cell['stopped'] for cell in ours):,} of them stopped by themselves. "
        "The lower bound is for the expected pulls, up to the first unsafe one, of methods that keep both promises and "
        "lean on no norm, with Gaussian noise, as both deltas go to 0."
    )


def show(rows: dict[str, dict[str, Any]]) -> None:
    """The table for people."""
    table = Table(*HEAD, caption=note(rows), show_footer=False)
    for column in table.columns[1:]:
        column.justify = "right"
    for name, row in rows.items():
        table.add_row(*cells(name, row))
    table.add_section()
    table.add_row(*total(rows))
    Console(width=None if sys.stdout.isatty() else 180).print(table)


def markdown(rows: dict[str, dict[str, Any]]) -> str:
    """The table for the README."""
    lines = [HEAD, ("---", *["---:"] * (len(HEAD) - 1)), *(cells(*item) for item in rows.items()), total(rows)]
    return "\n".join([*(f"| {' | '.join(line)} |" for line in lines), "", note(rows)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--only", default="")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--field", action="store_true")
    parser.add_argument("--methods", default="", help="of the field: only these, with commas between")
    add_options(parser)
    wishes = parser.parse_args()
    if wishes.show:
        show(json.loads(RESULTS.read_text()))
        return
    if not wishes.field:
        rows = measured({name: posed for name, posed in suite().items() if wishes.only in name}, wishes)
        show(rows)
        if not wishes.only:
            RESULTS.write_text(json.dumps(rows, indent=1) + "\n")
            put_into_readme("pulls", markdown(rows))
    place = pulls_field.RESULTS
    stored = json.loads(place.read_text()) if place.exists() and wishes.methods else {"without_limits": {}}
    free = pulls_field.measured(wishes, SEED)
    if not wishes.only:
        free = pulls_field.beside(stored["without_limits"], free)
        found = {"without_limits": free, "with_limits": pulls_field.with_limits(wishes.runs, SEED)}
        place.write_text(json.dumps(found, indent=1) + "\n")
        put_into_readme("pulls-field", pulls_field.markdown(found, SEED))
    print(json.dumps(free, indent=1))


if __name__ == "__main__":
    main()
