"""XY-Adaptive in a plain loop, with phases as printed and as public codes count them; a table of docs/field.md.

python benchmarks/field_phases.py --runs 100
"""

import argparse
from pathlib import Path
from typing import Any

import numba as nb
import numpy as np
from field import DELTAS, soare
from readme import put_into

PAGE = Path(__file__).parents[1] / "docs" / "field.md"
ALPHA, TIE = 0.1, 1e-9
FORMS = {"as printed": False, "divided once more": True}  # by the pulls: the worst square, when it is compared
PUBLISHED = "| *published* | *7,016* | *7,779* | *9,090* | *9,723* | *7,381* |"


@nb.njit
def worst_after(G: Any, left: Any, k: int) -> float:
    """The worst square of a difference between two arms that are left, after one more pull of arm k."""
    worst = 0.0
    for i in range(len(G)):
        for j in range(i):
            if left[i] and left[j]:
                square = G[i, i] + G[j, j] - 2.0 * G[i, j]
                worst = max(worst, square - (G[k, i] - G[k, j]) ** 2 / (1.0 + G[k, k]))
    return worst


@nb.njit
def pulls_of(X: Any, theta: Any, seed: int, delta: float, twice: bool) -> int:
    """The pulls of one run: the greedy rule, a ridge of 1, and the radius with its smallest constant."""
    np.random.seed(seed)  # noqa: NPY002  (inside compiled code)
    K, d = X.shape
    left, total, phase, means = np.ones(K, np.bool_), 0, 1, X @ theta
    before = 1.0 / (d * (d + 1) + 1)
    while left.sum() > 1:
        G, values, n = X @ X.T, np.zeros(K), 0
        while True:
            best, worst, ties = 0, np.inf, 0
            for k in range(K):  # by lot among equals: where pairs are equally bad, no one pull mends them all
                found = worst_after(G, left, k)
                ties = ties + 1 if abs(found - worst) <= TIE * found else 1 if found < worst else ties
                if found < worst - TIE * found or (abs(found - worst) <= TIE * found and np.random.rand() < 1.0 / ties):  # noqa: NPY002
                    best, worst = k, min(found, worst)
            row, scale = G[best].copy(), 1.0 + G[best, best]
            values += (means[best] + np.random.randn() - values[best]) / scale * row  # noqa: NPY002
            for i in range(K):
                for j in range(K):
                    G[i, j] -= row[i] * row[j] / scale
            n, total = n + 1, total + 1
            now = worst / n if twice else worst
            if now < ALPHA * before:
                break
        before = now
        radius = np.sqrt(2.0 * np.log(np.pi**2 * K**2 * phase**2 / (3.0 * delta)))
        out = np.zeros(K, np.bool_)
        for j in range(K):
            for i in range(K):
                square = max(G[i, i] + G[j, j] - 2.0 * G[i, j], 0.0)
                if i != j and left[i] and left[j] and values[i] - values[j] >= radius * np.sqrt(square):
                    out[j] = True
        left &= ~out
        phase += 1
    return total


def main() -> None:
    """The table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    runs = parser.parse_args().runs
    cases = [(soare(), delta) for delta in DELTAS] + [(soare(3), 0.001)]
    lines = ["| phases | " + " | ".join(f"delta = {delta:g}" for delta in DELTAS) + " | d = 3, delta = 0.001 |"]
    lines.append("|---|" + "---:|" * len(cases))
    for name, twice in FORMS.items():
        cells = []
        for world, delta in cases:
            found = [pulls_of(world.arms, world.theta_star, seed, delta, twice) for seed in range(runs)]
            cells.append(f"{np.mean(found):,.0f} ± {np.std(found) / runs**0.5:,.0f}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    lines.append(PUBLISHED)
    put_into("field-phases", "\n".join(lines), PAGE)


if __name__ == "__main__":
    main()
