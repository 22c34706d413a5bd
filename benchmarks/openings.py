"""SafeGap that opens its aims late beside SafeGap that opens all at once: trials until certainty on the suite.

python benchmarks/openings.py [--runs 2000] [--workers 2]       measures, and writes openings.json beside this file
python benchmarks/openings.py --table                           what was measured, into docs/many_arms.md

Both meet the same noise, so their ratio is known better than either count.
"""

import argparse
import json
from math import exp, log
from pathlib import Path
from typing import Any

import numpy as np
from pull_worlds import suite
from readme import put_into
from rich.progress import track

import surefoot as sf

HERE = Path(__file__).parent
RESULTS, PAGE = HERE / "openings.json", HERE.parent / "docs" / "many_arms.md"
SEED, BUDGET = 8, 1_000_000


def measured(name: str, runs: int, workers: int | None) -> dict[str, Any]:
    """Mean trials of both, their ratio with its standard error, and how often each broke its promise."""
    world, problem = suite()[name]
    late, at_once = (
        sf.simulate(world, problem, policy, runs=runs, seed=SEED, workers=workers, max_pulls=BUDGET)
        for policy in (sf.SafeGap(), sf.SafeGap(opening="at-once"))
    )
    a, b = late.pulls.astype(float), at_once.pulls.astype(float)
    ratio = a.mean() / b.mean()
    error = float(np.std(a - ratio * b, ddof=1) / (b.mean() * runs**0.5))
    return {
        "world": name, "runs": runs, "late": float(a.mean()), "at_once": float(b.mean()), "ratio": float(ratio),
        "error": error, "unsafe_late": int((late.unsafe_pulls > 0).sum()),
        "unsafe_at_once": int((at_once.unsafe_pulls > 0).sum()), "broken_late": int(late.broken_promise.sum()),
        "broken_at_once": int(at_once.broken_promise.sum()),
    }  # fmt: skip


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as a table, with their geometric mean."""
    lines = ["| world | late | all at once | ratio | unsafe runs, late / at once |", "|---|---|---|---|---|"]
    for row in rows:
        ratio = f"{row['ratio']:.3f} ± {row['error']:.3f}"
        unsafe = f"{row['unsafe_late']} / {row['unsafe_at_once']}"
        lines.append(f"| {row['world']} | {row['late']:,.0f} | {row['at_once']:,.0f} | {ratio} | {unsafe} |")
    lines += [
        "",
        f"Geometric mean of the ratios: **{mean_ratio(rows):.3f}**; {rows[0]['runs']:,} runs of each on every world.",
    ]
    return "\n".join(lines)


def mean_ratio(rows: list[dict[str, Any]]) -> float:
    """The geometric mean over the worlds."""
    return exp(sum(log(row["ratio"]) for row in rows) / len(rows))


def main() -> None:
    """Measures every world, or shows what was measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--table", action="store_true", help="write what was measured into the page")
    options = parser.parse_args()
    if not options.table:
        rows = []
        for name in track(list(suite()), "worlds"):
            rows.append(measured(name, options.runs, options.workers))
            options.out.write_text(json.dumps({"rows": rows}, indent=2) + "\n")
    rows = json.loads(options.out.read_text())["rows"]
    print(table(rows))
    if options.table:
        put_into("openings", table(rows), PAGE)


if __name__ == "__main__":
    main()
