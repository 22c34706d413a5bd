"""What the alarm finds, and how much evidence it has, on small worlds that keep or break what is stated.

    python tests/recorded_alarms.py --record tests/live/recorded_evidence.json

records it anew, from whichever surefoot is imported. A change of how the alarm keeps its sums must leave it as it is,
up to rounding; one that means to change a check must say so, and record it anew.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

import surefoot as sf
from surefoot.live.model_checks import ModelChecks

PULLS = 160
KINDS = ("honest", "noisy", "bent", "drifting", "offset", "odd arm", "long")
SHAPES = {"few": (3, 2), "many": (40, 3)}


def stated(K: int, d: int) -> tuple[sf.Problem, Any]:
    """A problem with two limits, and true weights of its reward and its limits."""
    rng = np.random.default_rng(K)
    arms, weights = rng.standard_normal((K, d)) * [1.0, 20.0, 0.1][:d], rng.standard_normal((3, d))
    weights *= 0.5 / np.linalg.norm(weights, axis=1, keepdims=True)
    limits = [sf.Limit(name, at_least=-30.0, noise=0.2, norm=1.0) for name in ("heat", "speed")]
    problem = sf.Problem(
        arms=arms, reward=sf.Reward(noise=0.5, norm=1.0), safety=limits, safe_level=0.2, epsilon=0.1, delta=0.1,
        delta_safety=0.1,
    )  # fmt: skip
    return problem, weights


def told(problem: sf.Problem, weights: Any, kind: str) -> tuple[Any, Any, Any]:
    """Arms, levels and results of some pulls of a world of this kind; of many arms some are never tried."""
    rng = np.random.default_rng(7)
    arms, levels = rng.integers(0, problem.size, PULLS) // 2, rng.uniform(0.1, 1.0, PULLS)
    means = problem.arms[arms] @ (weights * (6.0 if kind == "long" else 1.0)).T
    if kind == "drifting":
        means[PULLS // 2 :] *= 1.6
    if kind == "odd arm":
        means[arms == arms[0]] += 2.0
    applied = levels**1.5 if kind == "bent" else levels
    noise = np.array([0.5, 0.2, 0.2]) * rng.standard_normal((PULLS, 3)) * (2.0 if kind == "noisy" else 1.0)
    return arms, levels, applied[:, None] * means + noise + (1.0 if kind == "offset" else 0.0)


def seen(shape: str, kind: str) -> dict[str, Any]:
    """What the alarm says of such a world, its findings in order."""
    problem, weights = stated(*SHAPES[shape])
    checks = ModelChecks(problem, sf.SafeLinGapE().guarantee(problem))
    arms, levels, observed = told(problem, weights, kind)
    for first in range(0, PULLS, 30):
        some = slice(first, first + 30)
        checks.take_all(arms[some], levels[some], observed[some], [True] * len(arms[some]))
    found = [[each.signal, each.test, each.pulls, each.evidence] for each in checks.findings]
    return {"found": found, "evidence": checks.evidence()}


def main() -> None:
    """Records it anew."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--record", type=Path, required=True)
    everything = {f"{shape}, {kind}": seen(shape, kind) for shape in SHAPES for kind in KINDS}
    text = json.dumps(everything, indent=1).replace("-Infinity", "-1e999")
    parser.parse_args().record.write_text(text + "\n")


if __name__ == "__main__":
    main()
