"""What a largest effect costs beside a norm: pulls of SafeLinGapE and SafeGap by what is stated, on the suite.

python benchmarks/units.py --runs 60        prints the table and writes it into docs/units.md
"""

import argparse
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from pull_worlds import suite

import surefoot as sf
from surefoot.worlds import Linear

PAGE = Path(__file__).parents[1] / "docs" / "units.md"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
MOST = 100_000
PAPER = sf.SafeLinGapE(selection="optimistic", null_pull=True, reward_radius="squared-sum", safety_radius="squared-sum")
HEAD = (
    "| world | SafeLinGapE, norm | norm, mixed | largest | largest, mixed "
    "| SafeGap, norm | largest | 5 times too large | none |"
)


def stated(problem: sf.Problem, world: Linear, factor: float | None) -> sf.Problem:
    """The problem with so many times the true largest effects in place of norms, or with neither."""

    def of(signal: Any, size: float) -> Any:
        return replace(signal, norm=None, largest=None if factor is None else factor * (size or 1.0))

    limits = [of(*each) for each in zip(problem.safety, world.safety_largest.tolist(), strict=True)]
    return problem.with_(reward=of(problem.reward, world.reward_largest), safety=limits)


def mixed(world: Linear, problem: sf.Problem, seed: int) -> tuple[Linear, sf.Problem]:
    """The same with the features mixed by a map of condition 100; norms that are stated are the true ones there."""
    d = world.arms.shape[1]
    rng = np.random.default_rng(seed)
    left, right = (np.linalg.qr(rng.standard_normal((d, d)))[0] for _ in range(2))
    A = left @ np.diag(np.geomspace(1.0, 0.01, d)) @ right
    back = np.linalg.inv(A)
    other = Linear(
        world.arms @ A, theta_star=back @ world.theta_star, mu_star=world.mu_star @ back.T, noise=world.noise,
        safety_noise=world.safety_noise, limit=world.limit, distribution=world.distribution, names=world.names,
    )  # fmt: skip
    posed = problem.with_(arms=dict(zip(problem.names, other.arms, strict=True)))
    if problem.reward.norm is not None:
        limits = zip(problem.safety, other.safety_norm.tolist(), strict=True)
        posed = posed.with_(
            reward=replace(problem.reward, norm=other.reward_norm),
            safety=[replace(limit, norm=norm or 1.0) for limit, norm in limits],
        )
    return other, posed


def main() -> None:
    """The table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    lines, ratios = [HEAD, "|---|" + "---:|" * 8], []
    unsafe = wrong = total = 0
    for name, (world, problem) in suite().items():
        largest = stated(problem, world, 1.0)
        cases: list[tuple[Any, tuple[Linear, sf.Problem]]] = [
            (PAPER, (world, problem)),
            (PAPER, mixed(world, problem, 1)),
            (PAPER, (world, largest)),
            (PAPER, mixed(world, largest, 1)),
            (sf.SafeGap(), (world, problem)),
            (sf.SafeGap(), (world, largest)),
            (sf.SafeGap(), (world, stated(problem, world, 5.0))),
            (sf.SafeGap(), (world, stated(problem, world, None))),
        ]
        means, cut = [], []
        for policy, posed in cases:
            found = sf.simulate(*posed, policy, runs=asked.runs, seed=asked.seed, max_pulls=MOST)
            means.append(float(found.pulls.mean()))
            cut.append(not found.stopped.all())
            unsafe, wrong = unsafe + int((found.unsafe_pulls > 0).sum()), wrong + int(found.wrong.sum())
            total += asked.runs
        base = [means[0]] * 4 + [means[4]] * 4
        ratio = [mean / first for mean, first in zip(means, base, strict=True)]
        ratios.append(ratio)
        cells = [
            f"{mean:,.0f}" if place in (0, 4) else f"{'at least ' if cut[place] else ''}{ratio[place]:.2f}"
            for place, mean in enumerate(means)
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    geometric = [prod(each) ** (1.0 / len(each)) for each in zip(*ratios, strict=True)]
    cells = ["" if place in (0, 4) else f"{each:.2f}" for place, each in enumerate(geometric)]
    lines.append(f"| **geometric mean** | {' | '.join(cells)} |")
    print(lines[-1])
    said = (
        f"{asked.runs} runs each, seed {asked.seed}, up to {MOST:,} pulls: {unsafe} unsafe, {wrong} wrong of {total:,}."
    )
    before, _, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text("\n".join([before + BEGIN, "", *lines, "", said, "", END]) + rest.partition(END)[2])


if __name__ == "__main__":
    main()
