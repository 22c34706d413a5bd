"""What it costs not to know the noise: pulls of SafeGap with unknown against known noise, on the Gaussian worlds.

python benchmarks/unknown_noise.py --runs 60        prints the table and writes it into docs/unknown_noise.md
"""

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
from pull_worlds import suite

import surefoot as sf
from surefoot.worlds import Linear

PAGE = Path(__file__).parents[1] / "docs" / "unknown_noise.md"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
GUESSES = {"guessed right": 1.0, "5 times too large": 5.0, "5 times too small": 0.2}
MOST = 200_000


def unknown(problem: sf.Problem, world: Linear, factor: float) -> sf.Problem:
    """The problem with noise that nobody knows, and a guess that is so many times too large."""
    limits = [
        replace(limit, noise="unknown", guess=factor * float(size))
        for limit, size in zip(problem.safety, world.safety_noise, strict=True)
    ]
    return problem.with_(reward=replace(problem.reward, noise="unknown", guess=factor * world.noise), safety=limits)


def main() -> None:
    """The table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    lines = ["| world | known | " + " | ".join(GUESSES) + " |", "|---|---:|" + "---:|" * len(GUESSES)]
    ratios: dict[str, list[float]] = {name: [] for name in GUESSES}
    total = unsafe = wrong = 0
    for name, (world, problem) in suite().items():
        if world.distribution != "gaussian":
            continue
        known = sf.simulate(world, problem, sf.SafeGap(), runs=asked.runs, seed=asked.seed, max_pulls=MOST)
        cells = []
        for guess, factor in GUESSES.items():
            posed = unknown(problem, world, factor)
            found = sf.simulate(world, posed, sf.SafeGap(), runs=asked.runs, seed=asked.seed, max_pulls=MOST)
            ratios[guess].append(float(found.pulls.mean() / known.pulls.mean()))
            total, unsafe = total + asked.runs, unsafe + int((found.unsafe_pulls > 0).sum())
            wrong += int(found.wrong.sum())
            cells.append(f"{ratios[guess][-1]:.2f}")
        lines.append(f"| {name} | {known.pulls.mean():,.0f} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    means = [f"{np.exp(np.mean(np.log(each))):.2f}" for each in ratios.values()]
    lines.append(f"| **geometric mean** | | {' | '.join(means)} |")
    print(lines[-1])
    said = (
        f"{asked.runs} runs each, seed {asked.seed}: {unsafe} unsafe and {wrong} wrong of {total:,} with unknown noise."
    )
    before, _, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text("\n".join([before + BEGIN, "", *lines, "", said, "", END]) + rest.partition(END)[2])


if __name__ == "__main__":
    main()
