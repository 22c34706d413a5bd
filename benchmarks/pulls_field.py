"""Pulls of the methods of the field where there are no limits, which is what they are made for; beside SafeGap.

Each method that knows no limits with each of its stopping rules, at epsilon = 0. The lower bound is (T9) without any.
`python benchmarks/pulls.py --field` measures it, or with --methods frank-wolfe,lingape some of them beside what is
there; its table is in the README, its numbers are in pulls_field.json.
"""

import argparse
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from pull_worlds import DELTA
from swept import summaries

import surefoot as sf
from surefoot.comparing.asking import refusal
from surefoot.comparing.yardsticks import lower_bound_without_limits
from surefoot.policies import POLICIES, Policy
from surefoot.sweeping import Cell
from surefoot.worlds import Linear

RESULTS = Path(__file__).with_suffix(".json")
BUDGET = 1_000_000
OURS = "safe-gap"
LEAVES_OUT = ("uniform",)  # no method
MATCHED = {"name": "safe-lingape", "selection": "optimistic", "null_pull": True}  # with the radius nearest to ours
LIMITED: tuple[Any, ...] = (
    {"name": "hard", "omega": [0.1, 0.2, 0.3], "epsilon": 0.0}, {"name": "hard", "omega": [0.1, 0.2, 0.3]}, "limited",
    "doses",
)  # fmt: skip
HEAD = ("world without limits", "lower bound", "SafeGap", "the field, proved", "the field, no proof", "of the bound")


def suite() -> dict[str, Linear]:
    """Arms and rewards of the other table, and Soare's."""
    turned = np.vstack([np.eye(6), [np.cos(0.1), np.sin(0.1), 0.0, 0.0, 0.0, 0.0]])
    return {
        "Soare, d = 6, angle 0.1": without_limits(turned, 2.0 * np.eye(6)[0], 1.0),
        **{
            name: without_limits(world.arms, world.theta_star, world.noise)
            for name, world in {
                "paper's arms, d = 3": sf.worlds.hard(),
                "paper's arms, d = 10": sf.worlds.hard(dim=10),
                "paper's arms, omega = 0.2": sf.worlds.hard(omega=0.2),
                "orthogonal arms": sf.worlds.doses(),
                "20 random arms": sf.worlds.sphere(),
            }.items()
        },
    }


def without_limits(arms: Any, theta: Any, noise: float) -> Linear:
    """A world in which nothing must keep a limit."""
    return Linear(arms, theta_star=theta, noise=noise, name="no-limits")


def problem_of(world: Linear) -> sf.Problem:
    """The best arm itself."""
    return world.problem(epsilon=0.0, delta=DELTA)


def methods(problem: sf.Problem, only: str = "") -> dict[str, Policy]:
    """SafeGap, and every method that knows no limits with each stopping rule; without those that refuse the problem.

    `only` names some of them, with commas between.
    """
    found: dict[str, Policy] = {OURS: sf.SafeGap()}
    for name, kind in POLICIES.items():
        if only and name not in only.split(","):
            continue
        choices = next((option.metadata["choices"] for option in fields(kind) if option.name == "stop"), None)
        for each in [kind()] if choices is None else [kind(stop=word) for word in choices]:
            if name not in LEAVES_OUT and refusal(each, problem) is None and not each.guarantee(problem).keeps_limits:
                found[name if choices is None else f"{name}, {each.stop}"] = each
    return found


def measured(wishes: argparse.Namespace, seed: int) -> dict[str, dict[str, Any]]:
    """The row of each world."""
    worlds = {name: world for name, world in suite().items() if wishes.only in name}
    cells = [
        Cell(world, problem_of(world), policy, BUDGET, settings={"name": name, "label": label})
        for name, world in worlds.items()
        for label, policy in methods(problem_of(world), wishes.methods).items()
    ]
    rows: dict[str, dict[str, Any]] = {
        name: {"lower_bound": lower_bound_without_limits(world, problem_of(world)).pulls, "methods": {}}
        for name, world in worlds.items()
    }
    for cell, found in zip(cells, summaries(cells, wishes, seed), strict=True):
        runs, ended = found["runs"], found["certified_runs"] + found["measured_runs"]
        rows[cell.settings["name"]]["methods"][cell.settings["label"]] = {
            "pulls": found["pulls_mean"],
            "error": None if found["pulls_sd"] is None else found["pulls_sd"] / ended**0.5,
            "stopped": ended, "wrong": found["wrong_runs"], "runs": runs,
            "proved": cell.policy.guarantee(cell.problem).certifies,
        }  # fmt: skip
    return rows


def with_limits(runs: int, seed: int) -> list[dict[str, Any]]:
    """SafeGap and Safe-LinGapE with the nearest radius, in the same runs where limits matter."""
    found = sf.compare([OURS, MATCHED], LIMITED, delta=DELTA, runs=runs, seed=seed, bounds=False).summary()
    columns = ("world", "policy", "runs", "pulls_mean", "difference", "difference_upper", "wrong_runs", "unsafe_runs")
    return [{name: row[name] for name in columns} for row in found]


def said_of_limits(rows: list[dict[str, Any]]) -> str:
    """Where the matched Safe-LinGapE takes fewer pulls than SafeGap beyond noise, where more, and where neither."""
    told: dict[str, list[str]] = {"fewer": [], "more": [], "as many": []}
    ours = {row["world"]: row["pulls_mean"] for row in rows if row["policy"] == OURS}
    for row in rows:
        if row["policy"] != OURS:
            half = row["difference_upper"] - row["difference"]
            way = "as many" if abs(row["difference"]) <= half else "fewer" if row["difference"] < 0.0 else "more"
            means = f"{row['pulls_mean']:,.0f} against {ours[row['world']]:,.0f}"
            told[way].append(f"{row['world']} ({means}, {row['difference']:+,.0f} ± {half:,.0f})")
    said = "; ".join(f"{way} on {', '.join(worlds)}" for way, worlds in told.items() if worlds)
    return (
        "With limits and the radius `bias-free` in place of the paper's, Safe-LinGapE, whose promise allows both "
        f"errors and not delta alone, takes, in the same {rows[0]['runs']:,} runs as SafeGap: {said}."
    )


def beside(stored: dict[str, Any], rows: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """What was measured now, in the place of the same in what is stored; methods that were not asked for stay."""
    return {name: {**row, "methods": {**stored.get(name, {}).get("methods", {}), **row["methods"]}} for name, row in
            rows.items()}  # fmt: skip


def best_of(row: dict[str, Any], proved: bool) -> tuple[str, dict[str, Any]] | None:
    """The quickest method of the field with a proof, or without one, among those that always stopped."""
    found = {
        name: cell for name, cell in row["methods"].items()
        if name != OURS and cell["proved"] is proved and cell["stopped"] == cell["runs"]
    }  # fmt: skip
    return min(found.items(), key=lambda item: item[1]["pulls"]) if found else None


def shown(cell: dict[str, Any]) -> str:
    """Mean pulls with their standard error."""
    return f"{cell['pulls']:,.0f} ± {cell['error']:,.0f}"


def cells_of(name: str, row: dict[str, Any]) -> tuple[str, ...]:
    """One line of the table."""
    best = [best_of(row, proved) for proved in (True, False)]
    others = ["" if one is None else f"{shown(one[1])} ({one[0]})" for one in best]
    ours = row["methods"][OURS]
    return (
        name, f"{row['lower_bound']:,.0f}", shown(ours), *others, f"{ours['pulls'] / row['lower_bound']:.2f}x",
    )  # fmt: skip


def beaten(rows: dict[str, dict[str, Any]], proved: bool) -> list[str]:
    """Where another method takes fewer pulls than SafeGap, by more than twice the standard error of the difference."""
    found = []
    for name, row in rows.items():
        ours = row["methods"][OURS]
        for other, cell in sorted(row["methods"].items(), key=lambda item: item[1]["pulls"] or BUDGET):
            always = cell["stopped"] == cell["runs"] and other != OURS and cell["proved"] is proved
            if always and ours["pulls"] - cell["pulls"] > 2.0 * float(np.hypot(ours["error"], cell["error"])):
                found.append(f"{other} on {name} (by {1.0 - cell['pulls'] / ours['pulls']:.0%})")
    return found


def took_part(rows: dict[str, dict[str, Any]]) -> list[str]:
    """The methods of the field that were measured."""
    every = (label for row in rows.values() for label in row["methods"] if label != OURS)
    return list(dict.fromkeys(label.partition(",")[0] for label in every))


def note(rows: dict[str, dict[str, Any]], seed: int) -> str:
    """What the reader must know, and who beats SafeGap."""
    every = [cell for row in rows.values() for cell in row["methods"].values()]
    unproved = [cell for cell in every if not cell["proved"]]
    words = [
        f"Mean pulls ± standard error over {every[0]['runs']:,} runs each, epsilon = 0, delta = {DELTA}, seed {seed}; "
        f"in brackets the quickest method and what it stops by (`stop=`), of {', '.join(took_part(rows))}. "
        f"Wrong answers: {sum(cell['wrong'] for cell in every if cell['proved'])} with a proved threshold, "
        f"{sum(cell['wrong'] for cell in unproved)} in {sum(cell['runs'] for cell in unproved):,} runs without."
    ]
    for proved, said in ((True, "with a proof"), (False, "without a proof, which certifies nothing")):
        names = beaten(rows, proved)
        who = "; ".join(names) if names else "nobody"
        words.append(f"Quicker than SafeGap by more than two standard errors, {said}: {who}.")
    return " ".join(words)


def markdown(stored: dict[str, Any], seed: int) -> str:
    """The table for the README."""
    rows = stored["without_limits"]
    lines = [HEAD, ("---", *["---:"] * (len(HEAD) - 1)), *(cells_of(*item) for item in rows.items())]
    table = [f"| {' | '.join(line)} |" for line in lines]
    return "\n".join([*table, "", note(rows, seed), "", said_of_limits(stored["with_limits"])])
