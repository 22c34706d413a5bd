"""The methods of the field that know limits, beside SafeGap and Safe-LinGapE; two tables of docs/field.md.

python benchmarks/field_safe.py              measures everything (a few minutes, most of them to compile)
python benchmarks/field_safe.py safe-game    only rows that begin so; the others stay as they were measured
"""

import argparse
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from readme import put_into

import surefoot as sf
from surefoot import policies

PAGE, STORED = Path(__file__).parents[1] / "docs" / "field.md", Path(__file__).with_suffix(".json")
RUNS, MOST, DELTA = 200, 300_000, 0.05
WORLDS = {
    "hard": sf.worlds.hard, "sphere": sf.worlds.sphere, "clusters": sf.worlds.clusters, "doses": sf.worlds.doses,
    "limited": sf.worlds.limited, "base station": sf.worlds.base_station,
}  # fmt: skip
ROWS: dict[str, sf.policies.Policy] = {
    "safe-gap": sf.SafeGap(),
    "safe-lingape, optimistic": sf.SafeLinGapE(selection="optimistic", null_pull=True),
    "safe-elimination": policies.SafeElimination(),
    "safe-game": policies.SafeGame(),
    "safe-linear": policies.SafeLinear(),
    "beside": policies.Beside(),
}
BENDS = {"straight": (0.0, 0.0), "saturating": (2.0, 2.0), "late harm": (2.0, -2.0)}  # reward, limit
RISING: dict[str, sf.policies.Policy] = {"safe-monotonic": policies.SafeMonotonic(), "safe-gap (rising)": sf.SafeGap()}


def cell(world: sf.worlds.World, problem: sf.Problem, policy: sf.policies.Policy) -> dict[str, Any]:
    """What the runs took."""
    sf.simulate(world, problem, policy, runs=1, seed=1, max_pulls=100)  # compiled now, and not while it is timed
    begun = time.perf_counter()
    found = sf.simulate(world, problem, policy, runs=RUNS, seed=7, max_pulls=MOST, workers=1)
    seconds = time.perf_counter() - begun
    return {
        "runs": RUNS, "mean": float(found.pulls.mean()), "error": float(found.pulls.std(ddof=1)) / RUNS**0.5,
        "ended": int(found.stopped.sum()), "broken": int(found.broken_promise.sum()),
        "unsafe": int((found.unsafe_pulls > 0).sum()), "promise": policy.guarantee(problem).kind,
        "microseconds": 1e6 * seconds / int(found.pulls.sum()),
    }  # fmt: skip


def measured(name: str) -> dict[str, Any]:
    """A row: every world that the policy does not refuse."""
    rows = {}
    for word, make in WORLDS.items() if name in ROWS else ():
        world = make()
        problem = world.default_problem().with_(delta=DELTA, delta_safety=DELTA)
        try:
            ROWS[name].plan(problem)
        except sf.errors.InvalidInput:
            continue
        rows[word] = cell(world, problem, ROWS[name])
        print(name, word, rows[word], flush=True)
    for word, bend in BENDS.items() if name in RISING else ():
        bent = sf.worlds.Monotone(sf.worlds.doses(), bend=bend)
        problem = bent.problem(epsilon=0.1, delta=DELTA, delta_safety=DELTA, safe_level=0.1)
        rows[word] = cell(bent, problem, RISING[name])
        print(name, word, rows[word], flush=True)
    return rows


def markdown(stored: Mapping[str, Any], names: Mapping[str, Any], columns: Mapping[str, Any]) -> str:
    """A table: mean pulls, and in brackets the runs with a broken promise and with an unsafe pull."""
    lines = [f"| policy | {' | '.join(columns)} | promise | us/pull |", "|---|" + "---:|" * len(columns) + "---|---:|"]
    for name in names:
        rows = stored.get(name, {})
        cells = [in_words(rows[word]) if word in rows else "" for word in columns]
        if rows:
            one, pace = next(iter(rows.values())), min(row["microseconds"] for row in rows.values())
            lines.append(f"| {name.removesuffix(' (rising)')} | {' | '.join(cells)} | {one['promise']} | {pace:.1f} |")
    return "\n".join(lines)


def in_words(row: Mapping[str, Any]) -> str:
    """A cell."""
    left = "" if row["ended"] == row["runs"] else f", {row['runs'] - row['ended']} without an answer"
    return f"{row['mean']:,.0f} ± {row['error']:,.0f} ({row['broken']}, {row['unsafe']}{left})"


def main() -> None:
    """Measures, stores and writes the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="*", default=[""])
    asked = parser.parse_args()
    stored = json.loads(STORED.read_text("utf-8")) if STORED.exists() else {}
    for name in {**ROWS, **RISING}:
        if any(name.startswith(each) for each in asked.only):
            stored[name] = measured(name)
            STORED.write_text(json.dumps(stored, indent=1) + "\n", "utf-8")
    put_into("field-safe", markdown(stored, ROWS, WORLDS), PAGE)
    put_into("field-rising", markdown(stored, RISING, BENDS), PAGE)


if __name__ == "__main__":
    main()
