"""What happens when a statement is wrong: runs of SafeGap, watched by the alarm, where one is wrong by so much.

python benchmarks/wrong_statements.py [RUNS]    writes wrong_statements.json and the table of docs/stating-a-problem.md
"""

import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from wrong_worlds import Wrong

import surefoot as sf

HERE = Path(__file__).parent
PAGE, STORED = HERE.parent / "docs" / "stating-a-problem.md", HERE / "wrong_statements.json"
START, END = "<!-- wrong:start -->\n", "<!-- wrong:end -->"
BUDGET, SEED, RUNS, WORST = 5_000, 12, 200, 40
NOISE, EFFECTS = np.array([0.5, 0.3]), np.array([[1.5, 0.3, 1.02], [4.0, 2.0, 3.2]])  # of the README's pumps


class Case(NamedTuple):
    """One wrong statement."""

    statement: str
    words: str
    problem: sf.Problem
    world: Wrong


def pumps(noise: Any = 0.3, reward: Any = 0.5, baseline: float = 5.0, **changes: Any) -> sf.Problem:
    """The README's pumps, stated otherwise."""
    stated = {"noise": noise} if not isinstance(noise, dict) else noise
    gains = {"noise": reward} if not isinstance(reward, dict) else reward
    limit = sf.Limit("pressure", at_most=8.0, baseline=baseline, **stated)
    problem = sf.Problem.load(HERE.parent / "examples" / "pumps.toml")
    return problem.with_(reward=sf.Reward(**gains), safety=limit, **changes)


def cases() -> Iterator[Case]:
    """Every statement in turn."""

    def case(
        statement: str, words: str, problem: sf.Problem, effects: Any = EFFECTS, noise: Any = NOISE, **true: Any
    ) -> Case:  # fmt: skip
        return Case(statement, words, problem, Wrong(problem, effects, noise, **true))

    odd = EFFECTS * np.array([[1.0, 1.0, 1.6], [1.0, 1.0, 1.0]])
    unknown = {"noise": "unknown"}
    small, far = {**unknown, "guess": 0.06}, {**unknown, "guess": 0.1}
    yield case("all true", "", pumps())
    yield case("noise of the limit", "1.3 times as stated", pumps(), noise=NOISE * [1.0, 1.3])
    yield case("noise of the limit", "twice as stated", pumps(), noise=NOISE * [1.0, 2.0])
    yield case("noise of the reward", "twice as stated", pumps(), noise=NOISE * [2.0, 1.0])
    yield case("both noises", "half as stated", pumps(), noise=NOISE / 2)
    yield case("noise unknown", "guess a fifth of the truth", pumps(small, far))
    yield case("noise unknown", "grows threefold with the level", pumps(unknown, unknown), growth=2.0)
    yield case("baseline", "0.5 higher than stated", pumps(), offset=[0.0, 0.5])
    yield case("baseline", "0.5 lower than stated", pumps(), offset=[0.0, -0.5])
    yield case("safe level", "0.9, and safe is 0.75", pumps(safe_level=0.9))
    yield case("linear in the level", "pressure like level^0.7", pumps(), power=[1.0, 0.7])
    yield case("linear in the level", "pressure like level^1.3", pumps(), power=[1.0, 1.3])
    yield case("linear in the level", "pressure like level^2", pumps(), power=[1.0, 2.0])
    yield case("the same, max_step = 0.05", "pressure like level^1.3", pumps(max_step=0.05), power=[1.0, 1.3])
    yield case("the same, max_step = 0.05", "pressure like level^2", pumps(max_step=0.05), power=[1.0, 2.0])
    yield case("linear in the features", "one arm has 1.6 times the reward", pumps(), effects=odd)
    hints = [{"noise": size, "norm": norm} for size, norm in ((0.3, 0.45), (0.5, 0.15))]
    yield case("norm, a hint", "a tenth of the truth", pumps(*hints))
    hints = [{"noise": size, "norm": norm} for size, norm in ((0.3, 45.0), (0.5, 15.0))]
    yield case("norm, a hint", "ten times the truth", pumps(*hints))
    yield case("epsilon", "0.02: too fine", pumps(epsilon=0.02))


def measured(case: Case, runs: int) -> dict[str, Any]:
    """What the runs of a case show."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sf.errors.WorldBreaksStatement)  # it is why we are here
        found = sf.simulate(
            case.world, case.problem, runs=runs, seed=SEED, max_pulls=BUDGET, alarm=True, keep="traces"
        )  # fmt: skip
    certain = np.array([outcome == "certified" for outcome in found.outcomes])
    unsafe = np.flatnonzero(found.unsafe_pulls > 0)
    return {
        "statement": case.statement, "words": case.words, "runs": runs,
        "unsafe": len(unsafe), "wrong": int((found.wrong & certain).sum()),
        "alarms": sum(outcome == "alarm" for outcome in found.outcomes),
        "undecided": sum(outcome == "undecided" for outcome in found.outcomes),
        "trials": float(np.median(found.pulls)),
        "furthest": max((furthest(case, found.traces[i]) for i in unsafe[:WORST]), default=None),
    }  # fmt: skip


def furthest(case: Case, trace: Any) -> float:
    """By how much the worst mean of a run lay beyond the limit, in bar."""
    arm, level = trace.arm[1:], trace.level[1:]
    tried = arm >= 0
    means = case.world.means(arm[tried], level[tried])[1]
    return float((case.world.truth.limit[0] - means).max())


def markdown(rows: list[dict[str, Any]]) -> str:
    """The table of the page."""
    lines = [
        "| statement | the truth | unsafe runs | certified and wrong | alarm | undecided | trials | furthest beyond |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        shares = [share(row[key], row["runs"]) for key in ("unsafe", "wrong", "alarms", "undecided")]
        beyond = "" if row["furthest"] is None else f"{row['furthest']:.2g} bar"
        cells = (row["statement"], row["words"] or "as stated", *shares, f"{row['trials']:,.0f}", beyond)
        lines.append("| " + " | ".join(cells) + " |")
    note = (
        f"\nOf {rows[0]['runs']} runs each of at most {BUDGET:,} trials, seed {SEED}: SafeGap on the README's pumps\n"
        "with delta = delta_safety = 0.05, watched by the alarm at level 0.01. Unsafe: a mean was beyond 8 bar at\n"
        f"least once. Trials: median. The last column is the worst mean of the first {WORST} unsafe runs.\n"
    )
    return "\n".join(lines) + "\n" + note


def share(count: int, runs: int) -> str:
    """So many runs, in per cent."""
    return f"{100 * count / runs:.3g} %"


def write(rows: list[dict[str, Any]]) -> None:
    """Stores what was measured, and puts the table into the page."""
    STORED.write_text(json.dumps(rows, indent=1) + "\n")
    before, _, rest = PAGE.read_text("utf-8").partition(START)
    PAGE.write_text(f"{before}{START}{markdown(rows)}{rest[rest.index(END) :]}", "utf-8")


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    found = []
    for each in cases():
        found.append(measured(each, count))
        print(found[-1], flush=True)
    write(found)
