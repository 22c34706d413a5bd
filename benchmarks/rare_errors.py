"""How often a promise of one in ten thousand is broken: ten million runs a cell, on a GPU.

python benchmarks/rare_errors.py [--runs 10000000] [--cell 3]     all cells, or one, into the folder rare_errors
python benchmarks/rare_errors.py --table                          these as docs/rare_errors.md

Runs are played and judged a million at a time, so memory stays bounded, and the count goes on where it was left.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import surefoot as sf
from surefoot.policies import Policy
from surefoot.results import exact_interval
from surefoot.worlds import Linear

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "rare_errors.md"
SEED, DELTA, PIECE, CONFIDENCE = 20_262, 1e-4, 1_000_000, 0.99
COUNTED = ("certified", "broken", "wrong", "unsafe", "unsafe_answer")

WORLDS: dict[str, Linear] = {
    "hard": sf.worlds.hard(),
    "limited": sf.worlds.limited(),
    "doses": sf.worlds.doses(),
    "hard, coins": sf.worlds.hard(omega=0.2, distribution="rademacher"),
}
POLICIES: dict[str, Policy] = {"SafeLinGapE": sf.SafeLinGapE(), "SafeGap": sf.SafeGap()}
CELLS = [(world, policy) for world in WORLDS for policy in POLICIES]


def posed(world: Linear) -> sf.Problem:
    """The world's own problem with both errors at one in ten thousand."""
    return world.default_problem().with_(delta=DELTA, delta_safety=DELTA)


def counted(name: str, policy_name: str, runs: int, device: str, place: Path) -> None:
    """Counts what happened in the runs of one cell, and writes the count down after every piece."""
    world, policy = WORLDS[name], POLICIES[policy_name]
    problem, count = posed(world), read(place)
    fresh = {"world": name, "policy": policy_name, "version": policy.version, "runs": 0, "pulls": 0}
    if count.get("version") != policy.version:  # runs of other rules are not counted on
        count = fresh | dict.fromkeys(COUNTED, 0)
    while count["runs"] < runs:
        size = min(PIECE, runs - count["runs"])
        found = sf.simulate(world, problem, policy, runs=size, seed=SEED, first_run=count["runs"], device=device)
        if found.interrupted:
            raise KeyboardInterrupt
        happened = {
            "runs": size, "pulls": found.pulls.sum(), "certified": found.stopped.sum(),
            "broken": found.broken_promise.sum(), "wrong": found.wrong.sum(),
            "unsafe": (found.unsafe_pulls > 0).sum(), "unsafe_answer": found.answer_unsafe.sum(),
        }  # fmt: skip
        count |= {key: count[key] + int(number) for key, number in happened.items()}
        place.write_text(json.dumps(count, indent=2) + "\n")


def read(place: Path) -> dict[str, Any]:
    """What was counted so far."""
    found: dict[str, Any] = json.loads(place.read_text()) if place.exists() else {}
    return found


def table(counts: list[dict[str, Any]]) -> str:
    """The page."""
    rows = [row(count) for count in counts]
    runs = min(count["runs"] for count in counts)
    return f"""# Promises of one in ten thousand

`delta = delta_safety = {DELTA:g}`, {runs:,} runs a row on a GPU, seed {SEED}. A broken promise is an answer that is not
as good as its own certificate says; an unsafe run has a pull beyond a limit. In brackets the exact (Clopper-Pearson)
{100 * CONFIDENCE:g} % interval of the rate, in runs out of ten thousand: both rates are promised to be at most 1.
Wrong by (b) is an answer that is unsafe, or not within epsilon of the best safe one: SafeGap promises that too, at
a rate of 2 at most, and SafeLinGapE does not (Proposition 1 forgives what is unlearned about the levels).

| world | policy, version | runs | ended in certainty | pulls, mean | broken promises | wrong by (b) | unsafe runs |
|---|---|---:|---:|---:|---:|---:|---:|
{chr(10).join(rows)}

`hard` is the paper's instance, `hard, coins` the same with omega = 0.2 and noise of plus or minus one. The page is
generated: `python benchmarks/rare_errors.py` counts, with `--table` it writes the page. A run is the same on every
machine, so any row can be played again, whole or in part; see [many runs on a GPU](gpu.md).
"""


def row(count: dict[str, Any]) -> str:
    """One row of the table."""
    rates = [rate(count[name], count["runs"]) for name in ("broken", "wrong", "unsafe")]
    cells = [
        f"`{count['world']}`", f"{count['policy']} {count['version']}", f"{count['runs']:,}", f"{count['certified']:,}",
        f"{count['pulls'] / count['runs']:,.1f}", *rates,
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def rate(events: int, runs: int) -> str:
    """How many, and the bounds of their rate in runs out of ten thousand."""
    if events > 0.01 * runs:
        return f"{events:,} ({100 * events / runs:.3g} %)"
    found = exact_interval(events, runs, CONFIDENCE)
    return f"{events:,} [{1e4 * found.lower:.2g}, {1e4 * found.upper:.2g}]"


def main() -> None:
    """Counts, or writes the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10_000_000)
    parser.add_argument("--cell", type=int, choices=range(len(CELLS)), help="only this one, from 0")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--out", type=Path, default=HERE / "rare_errors", help="a folder: one file for each cell")
    parser.add_argument("--table", action="store_true")
    wishes = parser.parse_args()
    wishes.out.mkdir(exist_ok=True)
    places = [wishes.out / f"{world.replace(', ', '-')}-{policy}.json" for world, policy in CELLS]
    if wishes.table:
        PAGE.write_text(table([read(place) for place in places]))
        return
    for number, (cell, place) in enumerate(zip(CELLS, places, strict=True)):
        if wishes.cell in (None, number):
            counted(*cell, wishes.runs, wishes.device, place)
            print(json.dumps(read(place)), flush=True)


if __name__ == "__main__":
    main()
