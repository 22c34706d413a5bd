"""Speed, side by side in one run: the compiled core against a textbook loop, complete experiments, and start-up.

Prints a table, writes it to results.json beside this file, and puts it into the README between its markers. Ratios
are what counts: machines are noisy, so rounds of both codes alternate and the median ratio is taken.
"""

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from plain_loop import textbook_run
from readme import put_into_readme
from rich.console import Console
from rich.table import Table

import surefoot as sf
from surefoot.policies import Policy

HERE = Path(__file__).parent
REPEATS = 9
POLICY = sf.SafeLinGapE(explore=sf.UniformRandom(800))

FIRST_ROUND = """
import surefoot as sf
world = sf.worlds.hard(); problem = world.paper_problem()
sf.simulate(world, problem, runs=1, workers=1, max_pulls=1)
"""


def main() -> None:
    """Measures everything and reports it."""
    results = {"small problem": small_problem(), "complete runs": complete_runs(), "start-up": start_up()}
    report = {"machine": machine(), "measured": results}
    (HERE / "results.json").write_text(json.dumps(report, indent=2) + "\n")
    rows = table_rows(results)
    table = Table("measured", "textbook", "surefoot", "ratio")
    for row in rows:
        table.add_row(*row)
    Console().print(table)
    put_into_readme("bench", markdown(rows, report["machine"]))


def small_problem() -> dict[str, float]:
    """Time per round on one core for the paper's instance: textbook, the same compiled, and SafeGap, in turn."""
    world = sf.worlds.hard()
    problem = world.paper_problem()
    for policy in (POLICY, sf.SafeGap()):
        simulated(world, problem, policy, runs=2)  # compiled before the clock starts
    rounds_of = []
    for repeat in range(REPEATS):
        begin = time.perf_counter()
        rounds, _ = textbook_run(
            world.arms, world.theta_star, world.mu_star[0], 1.0, 0.1, -0.5, 0.2, problem.epsilon, 1e-3, 1e-3, 1.0, 2.0,
            1.0, 800, np.random.default_rng(repeat), max_pulls=6000,
        )  # fmt: skip
        times = [(time.perf_counter() - begin) / rounds]
        for policy, runs in ((POLICY, 400), (sf.SafeGap(), 800)):
            begin = time.perf_counter()
            played = simulated(world, problem, policy, runs=runs).pulls.sum()
            times.append((time.perf_counter() - begin) / played)
        rounds_of.append(times)
    textbook, safe_lingape, safe_gap = (1e9 * statistics.median(column) for column in zip(*rounds_of, strict=True))
    return {
        "textbook_ns": textbook,
        "surefoot_ns": safe_lingape,
        "ratio": statistics.median(times[0] / times[1] for times in rounds_of),
        "safe_gap_ns": safe_gap,
        "safe_gap_ratio": statistics.median(times[2] / times[1] for times in rounds_of),
    }


def simulated(world: sf.worlds.Linear, problem: sf.Problem, policy: Policy, runs: int, workers: int = 1) -> sf.Runs:
    """Runs of the paper's experiment."""
    return sf.simulate(world, problem, policy, runs=runs, seed=1, workers=workers)


def complete_runs() -> dict[str, float]:
    """Seconds for 1000 runs of the paper's experiment to their end, on one core and on two."""
    world = sf.worlds.hard()
    problem = world.paper_problem()
    seconds = {}
    for workers in (1, 2):
        times = []
        for _ in range(5):
            begin = time.perf_counter()
            runs = simulated(world, problem, POLICY, runs=1000, workers=workers)
            times.append(time.perf_counter() - begin)
        seconds[f"workers_{workers}_s"] = statistics.median(times)
    return seconds | {"rounds": float(runs.pulls.sum())}


def start_up() -> dict[str, float]:
    """Seconds from the start of a new process to its first round, as a user has it: only the core is installed.

    Nothing compiled yet for the first process, compiled before for those after it.
    """
    uv = Path(sys.executable).with_name("uv")
    with tempfile.TemporaryDirectory() as folder:
        python = f"{folder}/venv/bin/python"
        subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, f"{folder}/venv"], check=True)
        install = [uv, "pip", "install", "--quiet", "--compile-bytecode", "--python", python, HERE.parent]
        subprocess.run(install, check=True)
        environment = os.environ | {"SUREFOOT_CACHE": f"{folder}/kernels"}
        times = [first_round(python, environment) for _ in range(8)]
    return {"cold_s": times[0], "warm_s": statistics.median(times[1:])}


def first_round(python: str, environment: dict[str, str]) -> float:
    """Seconds until a new process has played its first round and ended."""
    begin = time.perf_counter()
    subprocess.run([python, "-c", FIRST_ROUND], env=environment, check=True, capture_output=True)
    return time.perf_counter() - begin


def machine() -> str:
    """The machine in words."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        model = names[0] if names else model
    return f"{os.cpu_count()} cores, {model}, Python {platform.python_version()}"


def table_rows(results: dict[str, dict[str, float]]) -> list[tuple[str, str, str, str]]:
    """The figures as a reader wants them."""
    small, runs, start = results["small problem"], results["complete runs"], results["start-up"]
    textbook_s = runs["rounds"] * small["textbook_ns"] * 1e-9
    return [
        (
            "one round, paper's instance, one core", f"{small['textbook_ns'] / 1000:.1f} µs",
            f"{small['surefoot_ns']:.0f} ns", f"{small['ratio']:.0f}x",
        ),
        (
            "one round of SafeGap there", "", f"{small['safe_gap_ns']:.0f} ns",
            f"takes {small['safe_gap_ratio']:.1f} times Safe-LinGapE's",
        ),
        (
            f"1000 complete runs ({runs['rounds'] / 1e6:.1f} M rounds), one core", f"{textbook_s:.0f} s (by the round)",
            f"{runs['workers_1_s']:.2f} s", f"{textbook_s / runs['workers_1_s']:.0f}x",
        ),
        ("the same on two cores", "", f"{runs['workers_2_s']:.2f} s", ""),
        ("new process to first round, compiled before", "", f"{start['warm_s']:.2f} s", ""),
        ("new process to first round, nothing compiled yet", "", f"{start['cold_s']:.1f} s", ""),
    ]  # fmt: skip


def markdown(rows: list[tuple[str, str, str, str]], where: str) -> str:
    """The table for the README."""
    lines = ["| measured | textbook numpy | surefoot | ratio |", "|---|---|---|---|"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([*lines, "", f"Medians on {where}."])


if __name__ == "__main__":
    main()
