"""The methods of the field on Soare's instance, beside what was published; the tables of docs/field.md.

python benchmarks/field.py                   measures everything (about forty minutes on two cores)
python benchmarks/field.py frank-wolfe       only rows that begin so; the others stay as they were measured
python benchmarks/field.py --table paper     only the second table, or --table soare the first
"""

import argparse
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from readme import put_into

import surefoot as sf
from surefoot import policies

PAGE, STORED = Path(__file__).parents[1] / "docs" / "field.md", Path(__file__).with_suffix(".json")
DELTAS = (0.1, 0.01, 0.001, 0.0001)
MOST = 1_000_000

# Words of a row, the policy, its runs, and the published means (Wang, Tzeng, Proutiere 2021, 1,000 runs).
ROWS: dict[str, tuple[sf.policies.Policy, int, tuple[int, ...] | None]] = {
    "frank-wolfe, own": (policies.FrankWolfe(), 1000, (1030, 1614, 2229, 2839)),
    "frank-wolfe, theorem": (policies.FrankWolfe(stop="theorem"), 200, None),
    "frank-wolfe, ours": (policies.FrankWolfe(stop="ours"), 200, None),
    "lingame-c, own": (policies.LinGameC(), 1000, (2498, 3501, 4324, 5118)),
    "lingame-c, ours": (policies.LinGameC(stop="ours"), 200, None),
    "lingame, own": (policies.LinGame(), 1000, (2319, 3431, 4326, 5120)),
    "lingame, theorem": (policies.LinGame(stop="theorem"), 200, None),
    "lingame, ours": (policies.LinGame(stop="ours"), 200, None),
    "lazy-track-and-stop, own": (policies.LazyTrackAndStop(), 1000, (7651, 8290, 8952, 9575)),
    "lazy-track-and-stop, heuristic": (policies.LazyTrackAndStop(stop="heuristic"), 1000, (3319, 3907, 4527, 5120)),
    "lazy-track-and-stop, ours": (policies.LazyTrackAndStop(stop="ours"), 200, None),
    "rage, own": (policies.RAGE(), 200, None),
    "rage, ours": (policies.RAGE(stop="ours"), 200, None),
    "peace, own": (policies.Peace(), 200, None),
    "peace, ours": (policies.Peace(stop="ours"), 200, None),
    "alba, own": (policies.ALBA(), 200, None),
    "alba, ours": (policies.ALBA(stop="ours"), 200, None),
    "xy-adaptive, own": (policies.XYAdaptive(), 50, None),
    "xy-adaptive, plain": (policies.XYAdaptive(stop="plain"), 200, (7016, 7779, 9090, 9723)),
    "xy-adaptive, plain, alpha = 0.32": (policies.XYAdaptive(stop="plain", alpha=0.32), 200, None),
    "xy-adaptive, ours": (policies.XYAdaptive(stop="ours"), 200, None),
    "xy-static, own": (policies.XYStatic(), 50, None),
    "xy-static, plain": (policies.XYStatic(stop="plain"), 50, None),
    "xy-static, ours": (policies.XYStatic(stop="ours"), 50, None),
    "safe-gap, one vacuous limit": (sf.SafeGap(), 1000, None),
}
OMEGA, PAPER_DELTA, PAPER_RUNS = 0.1, 0.001, 200
LOOSE = 2.0 * (1.0 - np.cos(OMEGA))  # the gap itself
# The paper's instance without safety, d = 3: words, policy, epsilon, delta, and mean and deviation of public codes.
PAPER: dict[str, tuple[Any, float, float, tuple[int, int] | None]] = {
    "rage, own": (policies.RAGE(), 0.0, PAPER_DELTA, (7620, 1701)),
    "rage, ours": (policies.RAGE(stop="ours"), 0.0, PAPER_DELTA, None),
    "peace, own": (policies.Peace(), 0.0, PAPER_DELTA, None),
    "peace, ours": (policies.Peace(stop="ours"), 0.0, PAPER_DELTA, None),
    "alba, own": (policies.ALBA(), 0.0, PAPER_DELTA, None),
    "alba, ours": (policies.ALBA(stop="ours"), 0.0, PAPER_DELTA, None),
    "xy-adaptive, own": (policies.XYAdaptive(), 0.0, PAPER_DELTA, None),
    "xy-adaptive, plain": (policies.XYAdaptive(stop="plain"), 0.0, PAPER_DELTA, (7381, 3711)),
    "xy-adaptive, plain, alpha = 0.32": (policies.XYAdaptive(stop="plain", alpha=0.32), 0.0, PAPER_DELTA, None),
    "xy-adaptive, ours": (policies.XYAdaptive(stop="ours"), 0.0, PAPER_DELTA, None),
    "xy-static, plain": (policies.XYStatic(stop="plain"), 0.0, PAPER_DELTA, (12642, 4735)),
    "xy-oracle": ("oracle", 0.0, PAPER_DELTA, (4000, 1446)),
    "lazy-track-and-stop, own": (policies.LazyTrackAndStop(), 0.0, PAPER_DELTA, (5399, 971)),
    "lingape, greedy, within the gap": (sf.LinGapE(), LOOSE, PAPER_DELTA / 16, (1705, 527)),
    "lingape, rounding, within the gap": (sf.LinGapE(pull="rounding"), LOOSE, PAPER_DELTA / 16, (1809, 511)),
    "safe-gap, one vacuous limit": (sf.SafeGap(), 0.0, PAPER_DELTA, None),
}


def soare(d: int = 6, phi: float = 0.1) -> sf.worlds.Linear:
    """Unit vectors, and an arm so close to the best that only the second tells the two apart; a limit that nothing
    comes near."""
    arms = np.vstack([np.eye(d), [np.cos(phi), np.sin(phi), *np.zeros(d - 2)]])
    theta = np.zeros(d)
    theta[0] = 2.0
    return sf.worlds.Linear(
        arms, theta_star=theta, mu_star=np.full(d, -1e-3), noise=1.0, safety_noise=1.0, limit=-1.0, name="soare"
    )


def measured(
    policy: Any, runs: int, world: sf.worlds.Linear, deltas: tuple[float, ...], epsilon: float = 0.0
) -> list[dict[str, Any]]:
    """What the runs took at each delta."""
    rows = []
    for delta in deltas:
        problem = world.problem(epsilon=epsilon, delta=delta, delta_safety=0.05, safe_level=1.0)
        who = sf.theory.xy_oracle(world, problem) if policy == "oracle" else policy
        sf.simulate(world, problem, who, runs=1, seed=1, max_pulls=100)  # compiled now, and not while it is timed
        begun = time.perf_counter()
        found = sf.simulate(world, problem, who, runs=runs, seed=1, max_pulls=MOST, workers=1)
        seconds = time.perf_counter() - begun
        table = found.summary()
        rows.append(
            {
                "delta": delta, "runs": runs, "mean": table["pulls_mean"], "error": table["pulls_sd"] / runs**0.5,
                "wrong": table["wrong_runs"], "ended": int(found.stopped.sum()), "promise": table["guarantee"],
                "microseconds": 1e6 * seconds / int(found.pulls.sum()),
            }
        )  # fmt: skip
        print(who.name, rows[-1], flush=True)
    return rows


def markdown(stored: Mapping[str, Any]) -> str:
    """The table."""
    lines = [
        "| method, stop | " + " | ".join(f"delta = {delta:g}" for delta in DELTAS) + " | wrong | promise | us/pull |",
        "|---|" + "---:|" * len(DELTAS) + "---:|---|---:|",
    ]
    for name, (_, _, published) in ROWS.items():
        if name not in stored:
            continue
        rows = stored[name]
        cells = [f"{row['mean']:,.0f} ± {row['error']:,.0f}" for row in rows]
        wrong = f"{sum(row['wrong'] for row in rows)} of {sum(row['runs'] for row in rows):,}"
        pace = f"{min(row['microseconds'] for row in rows):.1f}"
        lines.append(f"| {name} | {' | '.join(cells)} | {wrong} | {rows[0]['promise']} | {pace} |")
        if published:
            lines.append(f"| *published* | {' | '.join(f'*{each:,}*' for each in published)} | | | |")
    return "\n".join(lines)


def markdown_of_paper(stored: Mapping[str, Any]) -> str:
    """The second table."""
    lines = [
        "| method, stop | pulls | sd | public codes (sd) | wrong | promise | us/pull |",
        "|---|---:|---:|---:|---:|---|---:|",
    ]
    for name, (_, _, _, published) in PAPER.items():
        if name not in stored:
            continue
        row = stored[name][0]
        pulls = f"{row['mean']:,.0f} ± {row['error']:,.0f} | {row['error'] * row['runs'] ** 0.5:,.0f}"
        there = f"{published[0]:,} ({published[1]:,})" if published else ""
        wrong = f"{row['wrong']} of {row['runs']:,}"
        lines.append(f"| {name} | {pulls} | {there} | {wrong} | {row['promise']} | {row['microseconds']:.1f} |")
    return "\n".join(lines)


def main() -> None:
    """Measures, stores and writes the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="*", default=[""])
    parser.add_argument("--table", choices=["soare", "paper"])
    asked = parser.parse_args()
    stored = json.loads(STORED.read_text("utf-8")) if STORED.exists() else {}
    of_paper = stored.setdefault("the paper's instance", {})

    def put(rows: dict[str, Any], name: str, found: Any) -> None:
        rows[name] = found
        STORED.write_text(json.dumps(stored, indent=1) + "\n", "utf-8")
        put_into("field", markdown(stored), PAGE)
        put_into("field-paper", markdown_of_paper(of_paper), PAGE)

    for name, (who, epsilon, delta, _) in PAPER.items():
        if asked.table != "soare" and any(name.startswith(each) for each in asked.only):
            put(of_paper, name, measured(who, PAPER_RUNS, soare(3, OMEGA), (delta,), epsilon))
    for name, (policy, runs, _) in ROWS.items():
        if asked.table != "paper" and any(name.startswith(each) for each in asked.only):
            put(stored, name, measured(policy, runs, soare(), DELTAS))


if __name__ == "__main__":
    main()
