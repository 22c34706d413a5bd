"""Frank-Wolfe sampling on Soare's instance in a plain loop of its own, with the true V_x^-1 and with the matrix that
the published code carries along in its place; the table of docs/field.md.

python benchmarks/field_code.py --runs 400
python benchmarks/field_code.py --starts            Lazy Track-and-Stop from each start that chance may draw
"""

import argparse
from pathlib import Path
from typing import Any

import numba as nb
import numpy as np
from field import DELTAS, soare
from readme import put_into

import surefoot as sf
from surefoot.policies import stopping

PAGE = Path(__file__).parents[1] / "docs" / "field.md"
TRUE, CARRIED = 0, 1
FORMS = {
    "true inverse, least squares": (TRUE, 1e-9),
    "true inverse, ridge 1": (TRUE, 1.0),
    "carried matrix, ridge 1": (CARRIED, 1.0),
}


@nb.njit
def pulls_of(X: Any, theta: Any, seed: int, delta: float, form: int, ridge: float) -> int:
    """The pulls of one run."""
    np.random.seed(seed)  # noqa: NPY002  (inside compiled code)
    K, d = X.shape
    S, V, N = np.zeros(d), ridge * np.eye(d), np.ones(K)
    for k in range(K):
        S += (X[k] @ theta + np.random.randn()) * X[k]  # noqa: NPY002
        V += np.outer(X[k], X[k])
    shares, t = np.full(K, 1.0 / K), K
    carried = np.ascontiguousarray(X.T) @ X / K  # as it begins there: not inverted
    while True:
        inverse = np.linalg.inv(V)
        values = X @ (inverse @ S)
        i = np.argmax(values)
        least = np.inf
        for j in range(K):
            y = X[i] - X[j]
            if j != i:
                least = min(least, (values[i] - values[j]) ** 2 / (2.0 * y @ (inverse @ y)))
        if least > np.log((1.0 + np.log(t)) / delta):
            return t
        design = carried
        if form == TRUE:
            design = np.linalg.inv((np.ascontiguousarray(X.T) * shares) @ X)
        root, step = int(np.sqrt(t // K) + 0.5), np.full(K, 1.0 / K)
        if root * root != t // K:
            near, nearest = np.inf, 0
            for j in range(K):
                if j != i:
                    y = design @ (X[i] - X[j])
                    size = (values[i] - values[j]) / (y @ (X[i] - X[j]))
                    worth = 0.5 * size**2 * (shares @ (X @ y) ** 2)
                    near, nearest = (worth, j) if worth < near else (near, nearest)
            step[:] = 0.0
            step[np.argmax((X @ (design @ (X[i] - X[nearest]))) ** 2)] = 1.0
        shares = shares * (t - 1.0) / t + step / t
        carried = carried * (t - 1.0) / t
        for k in range(K):
            u = carried @ (step[k] * X[k] / t)
            carried = carried - np.outer(u, u) / (1.0 + step[k] * X[k] @ u / t)
        k = np.argmax(shares / N)
        S += (X[k] @ theta + np.random.randn()) * X[k]  # noqa: NPY002
        V += np.outer(X[k], X[k])
        N[k] += 1.0
        t += 1


def starts(runs: int) -> None:
    """The pulls of Lazy Track-and-Stop where its spanning arms are not chosen but drawn, each with a third's chance."""
    world, means = soare(), {}
    for words, pair in {"e_1, e_2": [0, 1], "e_2, close arm": [1, 6], "e_1, close arm": [0, 6]}.items():
        stopping.spanning_arms = lambda Z, pair=pair: np.array([*pair, 2, 3, 4, 5])  # type: ignore[misc]
        means[words] = [
            sf.simulate(
                world, world.problem(epsilon=0.0, delta=delta, delta_safety=0.05, safe_level=1.0),
                sf.policies.LazyTrackAndStop(), runs=runs, seed=1, max_pulls=100_000,
            ).pulls.mean()
            for delta in DELTAS
        ]  # fmt: skip
    means["all three"] = list(np.mean(list(means.values()), axis=0))
    lines = [
        "| spanning | " + " | ".join(f"delta = {each:g}" for each in DELTAS) + " |",
        "|---|" + "---:|" * len(DELTAS),
    ]
    lines += [f"| {words} | {' | '.join(f'{each:,.0f}' for each in row)} |" for words, row in means.items()]
    lines.append("| *published* | *7,651* | *8,290* | *8,952* | *9,575* |")
    put_into("lazy-starts", "\n".join(lines), PAGE)


def main() -> None:
    """The table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--starts", action="store_true")
    asked = parser.parse_args()
    if asked.starts:
        starts(asked.runs)
        return
    runs, world = asked.runs, soare()
    lines = ["| | " + " | ".join(f"delta = {delta:g}" for delta in DELTAS) + " |", "|---|" + "---:|" * len(DELTAS)]
    for name, (form, ridge) in FORMS.items():
        cells = []
        for delta in DELTAS:
            found = [pulls_of(world.arms, world.theta_star, seed, delta, form, ridge) for seed in range(runs)]
            cells.append(f"{np.mean(found):,.0f} ± {np.std(found) / runs**0.5:,.0f}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    lines.append("| *published* | *1,030* | *1,614* | *2,229* | *2,839* |")
    put_into("field-code", "\n".join(lines), PAGE)


if __name__ == "__main__":
    main()
