"""What it costs, and saves, to say that means are linear only within an error.

python benchmarks/nearly_linear.py --runs 100        prints two tables and writes them into docs/nearly_linear.md
"""

import argparse
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from pull_worlds import suite

import surefoot as sf
from surefoot.problem.knowable import last_gap
from surefoot.worlds import Linear, NearlyLinear

PAGE = Path(__file__).parents[1] / "docs" / "nearly_linear.md"
MOST = 20_000
BEND = 1.15  # the power of the level that safety effects of the suite grow with
ABOVE = 2.0  # epsilon of the suite, in multiples of what is left open


def main() -> None:
    """Both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    warnings.simplefilter("ignore", sf.errors.WorldBreaksStatement)
    write("pumps", pumps_table(asked.runs, asked.seed))
    write("suite", suite_table(asked.runs, asked.seed))


def pumps(within: float, epsilon: float) -> sf.Problem:
    """The pumps of the README, turned up in steps of 0.05."""
    return sf.Problem(
        arms={"pump A": [1, 0], "pump B": [0, 1], "both": [0.6, 0.4]}, reward=sf.Reward(noise=0.5),
        safety=[sf.Limit("pressure", at_most=8.0, baseline=5.0, noise=0.3, within=within)],
        safe_level=0.2, epsilon=epsilon, delta=0.05, delta_safety=0.05, max_step=0.05,
    )  # fmt: skip


def pumps_table(runs: int, seed: int) -> list[str]:
    """Bent pressures, with and without the statement."""
    lines = [
        "| pressure grows like | stated | epsilon | unsafe runs | alarms | certified | wrong | pulls | level of pump A "
        "| gap left | estimated |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for power in (1.0, 1.3, 2.0):
        world = NearlyLinear.for_problem(
            pumps(0.0, 0.15), theta_star=[1.5, 0.3], mu_star=[[4.0, 2.0]], power=[1.0, power]
        )  # fmt: skip
        least = round(float(world.least_error()[1]) + 5e-4, 3) if power != 1.0 else 0.1
        for within in (0.0, least):
            for epsilon in (0.15, 0.6):
                problem = pumps(within, epsilon)
                found = sf.simulate(world, problem, runs=runs, seed=seed, max_pulls=MOST, alarm=True)
                left = last_gap(problem, world.law.values, world.law.safety_values) if within else 0.0
                estimated = f"{left:.2f}" if within and power == 1.0 else ""
                lines.append(
                    f"| level{'' if power == 1.0 else f'^{power:g}'} | {within:g} | {epsilon:g} | "
                    f"{int((found.unsafe_pulls > 0).sum())} | {found.summary()['alarm_runs']} | "
                    f"{int(found.stopped.sum())} | {int(found.wrong.sum())} | {found.pulls.mean():,.0f} | "
                    f"{found.levels[:, 0].mean():.2f} | {np.median(found.gap):.2f} | {estimated} |"
                )
                print(lines[-1], flush=True)
    return [*lines, "", f"{runs} runs each of at most {MOST:,} pulls, seed {seed}, delta = delta_safety = 0.05."]


def suite_table(runs: int, seed: int) -> list[str]:
    """Pulls on the suite with bent safety effects: nothing stated, half of the error, all of it."""
    lines = [
        "| world | epsilon | pulls, 0 | unsafe | wrong | pulls, half | unsafe | wrong | pulls, all | unsafe | wrong |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    total = np.zeros((3, 2), int)
    for name, (law, problem) in suite().items():
        world = NearlyLinear(law, power=[1.0] + [BEND] * law.signals, name=name)
        errors = world.least_error()[1:]
        room = np.array([-limit.eta0 for limit in problem.safety])
        if (errors >= 0.25 * room).any():  # arms whose effects are far beyond their limits bend by as much
            continue
        stated = [within(problem, share * errors) for share in (0.0, 0.5, 1.0)]
        epsilon = float(f"{max(problem.epsilon, ABOVE * left_open(stated[2], law)):.3g}")
        cells = []
        for place, each in enumerate(stated):
            found = sf.simulate(world, each.with_(epsilon=epsilon), runs=runs, seed=seed, max_pulls=MOST)
            unsafe, wrong = int((found.unsafe_pulls > 0).sum()), int(found.wrong.sum())
            total[place] += unsafe, wrong
            undecided = "" if found.stopped.all() else f" ({int((~found.stopped).sum())} undecided)"
            cells.append(f"{found.pulls.mean():,.0f}{undecided} | {unsafe} | {wrong}")
        lines.append(f"| {name} | {epsilon:g} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    sums = " | ".join(f" | {unsafe} | {wrong}" for unsafe, wrong in total.tolist())
    said = f"{runs} runs each, seed {seed}, delta = delta_safety = 0.001, safety effects growing like level^{BEND:g}."
    return [*lines, f"| **all** | | {sums} |", "", said]


def within(problem: sf.Problem, errors: Any) -> sf.Problem:
    """The problem with these errors of its limits."""
    limits = [replace(limit, within=float(error)) for limit, error in zip(problem.safety, errors, strict=True)]
    return problem.with_(safety=limits)


def left_open(problem: sf.Problem, law: Linear) -> float:
    """About the gap that is left in the end."""
    return last_gap(problem, law.values, law.safety_values)


def write(what: str, lines: list[str]) -> None:
    """The table in its place on the page."""
    begin, end = f"<!-- {what}: begin -->", f"<!-- {what}: end -->"
    before, _, rest = PAGE.read_text().partition(begin)
    PAGE.write_text("\n".join([before + begin, "", *lines, "", end]) + rest.partition(end)[2])


if __name__ == "__main__":
    main()
