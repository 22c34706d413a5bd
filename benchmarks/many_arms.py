"""Many arms, side by side in one run: a round of the compiled core, of the textbook's matrix products, and of numpy
code that updates what it can in O(K d).

Runs of the core are whole, from round 0 on until they are certain: every column that is missed and everything that is
computed anew is paid for; only those that would take longer than the budget are cut off, and say so. One thread each.
Three worlds: in `random` all arms are of one length, and while little is known nearly every round pulls another one; in
`settings` a few stand out, as in a table of settings most of which do little; in `rival` two are close to each other,
as in the paper's instance, and nearly all pulls are of the few arms that tell these two apart (no limit comes near).

SafeGap is certain after far fewer rounds than Safe-LinGapE where a race is close, and pays for the columns of its first
pulls in these alone; so it is compared with as many rounds of Safe-LinGapE's run, too.

python benchmarks/many_arms.py [--only 10000x64] [--seconds 100]   measures, into many_arms.json beside this file
python benchmarks/many_arms.py --threads [--only 100000x64]        the same runs with helpers, into the same file
python benchmarks/many_arms.py --table                            what was measured, into README and docs, with a plot
"""

import os

for _library in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_library] = "1"  # before numpy is loaded

import argparse  # noqa: E402
import json  # noqa: E402
import time  # noqa: E402
from itertools import product  # noqa: E402
from pathlib import Path  # noqa: E402
from threading import Timer  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402
from plain_loop import MatrixProducts, RankOne  # noqa: E402
from readme import put_into, put_into_readme  # noqa: E402

import surefoot as sf  # noqa: E402
from surefoot.core.crew import CROWD  # noqa: E402
from surefoot.core.layout import side_by_side  # noqa: E402
from surefoot.core.loop import NEVER  # noqa: E402
from surefoot.core.records import new_records  # noqa: E402
from surefoot.core.types import ROUND  # noqa: E402
from surefoot.live.model_checks import simulated_watch  # noqa: E402
from surefoot.policies import Policy  # noqa: E402
from surefoot.policies.bound import faced, hand_of, play_of  # noqa: E402
from surefoot.policies.threads import helped  # noqa: E402

HERE = Path(__file__).parent
RESULTS = HERE / "many_arms.json"
SECONDS = 4.0  # of each numpy code at each size
NOISE, EPSILON = 1.0, 0.3
ANGLE, RIVAL_NOISE, RIVAL_EPSILON = 0.02, 0.05, 1e-4  # of the two that are close, whose rewards are 0.0002 apart
# K, d, and how many times faster than the matrix products, and than O(K d) numpy, a round is to be.
SIZES: dict[tuple[int, int], tuple[float | None, float | None]] = {
    (1_000, 16): (None, None), (1_000, 64): (None, None), (10_000, 16): (12, 3), (10_000, 64): (80, 8),
    (10_000, 256): (400, 12), (100_000, 64): (50, 8), (100_000, 256): (300, 12), (1_000_000, 16): (15, 3),
}  # fmt: skip
WORLDS = ("random", "settings", "rival")
THREADS, ROUNDS = (1, 2, 4, 8), 400


def world_of(kind: str, K: int, d: int) -> tuple[sf.worlds.Linear, sf.Problem]:
    """Arms in random directions: all of length 1, or four in each dimension and the others up to half as long; or one
    in each dimension, one close to the first of these, and the others up to half as long."""
    rng = np.random.default_rng(K + d)
    arms = rng.standard_normal((K, d))
    arms /= np.linalg.norm(arms, axis=1, keepdims=True)
    if kind == "settings":
        arms[4 * d :] *= rng.uniform(0.1, 0.5, (K - 4 * d, 1))
        arms = rng.permutation(arms)
    if kind == "rival":
        arms[:d], arms[d] = np.eye(d), np.cos(ANGLE) * np.eye(d)[0] + np.sin(ANGLE) * np.eye(d)[1]
        arms[d + 1 :] *= rng.uniform(0.1, 0.5, (K - d - 1, 1))
    theta, mu = np.eye(d)[:2]
    noise, epsilon, limit = (RIVAL_NOISE, RIVAL_EPSILON, -10.0) if kind == "rival" else (NOISE, EPSILON, -0.4)
    world = sf.worlds.Linear(arms, theta_star=theta, mu_star=-mu, noise=noise, safety_noise=noise / 3, limit=limit)
    return world, world.problem(epsilon=epsilon, delta=0.05, delta_safety=0.05, safe_level=0.3)


def core(
    world: sf.worlds.Linear, problem: sf.Problem, policy: Policy, budget: float, rounds: int = NEVER, threads: int = 1
) -> dict[str, Any]:  # fmt: skip
    """Seconds to face the problem, and microseconds a round of a whole run, or of what the budget of seconds allows, or
    of so many rounds."""
    begin = time.perf_counter()
    found, response = faced(policy, problem), world.response()
    facing = time.perf_counter() - begin
    watch = simulated_watch(problem, policy.guarantee(problem), None)
    play = play_of(found, response, watch)
    inst, truth, room = side_by_side((found.inst, response.truth, response.room))[1]
    state, work, cancel = found.new_state(), found.new_work(), np.zeros(1, np.int64)
    records = new_records(1, len(inst.X))

    def play_up_to(rounds: int) -> None:
        play(inst, found.plan.rules, truth, room, watch.new(), 1, 0, rounds, state, work, records, cancel)

    play_up_to(2)  # compiled before the clock starts
    timer = Timer(budget, cancel.__setitem__, (0, 1))
    with helped(hand_of(found) if threads > 1 else None, inst, state, work, threads - 1):
        timer.start()
        begin = time.perf_counter()
        play_up_to(rounds)
        seconds, whole = time.perf_counter() - begin, not cancel[0]
    timer.cancel()
    made, missed = int(state.clock[ROUND]), int(state.estimate.columns.missed.sum())
    return {
        "rounds": made, "whole": whole, "us": 1e6 * seconds / made, "missed_a_round": missed / made,
        "tried": int(state.estimate.tried[0]), "facing_s": facing,
    }  # fmt: skip


def numpy_code(kind: Any, world: sf.worlds.Linear, problem: sf.Problem) -> float:
    """Microseconds a round of numpy code, which are the same in every round."""
    loop = kind(
        world.arms, world.theta_star, world.mu_star[0], NOISE, NOISE / 3, -0.4, 0.3, 0.05, 0.05, 1.0, 1.0, 1.0,
        np.random.default_rng(1),
    )  # fmt: skip
    loop.round()
    begin, rounds = time.perf_counter(), 0
    while rounds < 2 or time.perf_counter() - begin < SECONDS:
        loop.round()
        rounds += 1
    return 1e6 * (time.perf_counter() - begin) / rounds


def measured(kind: str, K: int, d: int, budget: float) -> dict[str, Any]:
    """The row of one world and size."""
    world, problem = world_of(kind, K, d)
    products, rank_one = numpy_code(MatrixProducts, world, problem), numpy_code(RankOne, world, problem)
    lingape, gap = (core(world, problem, policy, budget) for policy in (sf.SafeLinGapE(), sf.SafeGap()))
    as_many = core(world, problem, sf.SafeLinGapE(), budget, rounds=gap["rounds"])
    return {
        "world": kind, "K": K, "d": d, "matrix_products_us": products, "rank_one_us": rank_one,
        "safe_lingape": lingape, "safe_gap": gap,
        "ratio": products / lingape["us"], "ratio_rank_one": rank_one / lingape["us"],
        "safe_gap_ratio": gap["us"] / lingape["us"], "ratio_of_as_many": gap["us"] / as_many["us"],
    }  # fmt: skip


def measured_together(kind: str, K: int, d: int, rounds: int) -> dict[str, Any]:
    """Microseconds a round of so many rounds by one thread, and by more."""
    world, problem = world_of(kind, K, d)
    found = {
        policy.name: [core(world, problem, policy, 60.0, rounds, threads)["us"] for threads in THREADS]
        for policy in (sf.SafeLinGapE(), sf.SafeGap())
    }
    return {"world": kind, "K": K, "d": d, **found}


HEAD = (
    "world", "arms x features", "matrix products, us", "O(K d) numpy, us", "Safe-LinGapE, us", "faster than products",
    "than O(K d)", "missed a round", "SafeGap, us", "of Safe-LinGapE", "of as many rounds",
)  # fmt: skip


def cells(row: dict[str, Any]) -> tuple[str, ...]:
    """The row in words."""
    lingape, gap, asked = row["safe_lingape"], row["safe_gap"], SIZES.get((row["K"], row["d"]), (None, None))
    words = [f" (goal {each:g})" if each else "" for each in asked]

    def time_of(found: dict[str, Any]) -> str:
        return f"{found['us']:,.1f}" + ("" if found["whole"] else " *")

    return (
        row["world"], f"{row['K']:,} x {row['d']}",
        f"{row['matrix_products_us']:,.0f}", f"{row['rank_one_us']:,.0f}",
        time_of(lingape), f"{row['ratio']:.0f}{words[0]}", f"{row['ratio_rank_one']:.1f}{words[1]}",
        f"{lingape['missed_a_round']:.2f}", time_of(gap), f"{row['safe_gap_ratio']:.1f}",
        f"{row['ratio_of_as_many']:.1f}",
    )  # fmt: skip


def markdown(report: dict[str, Any], kinds: tuple[str, ...] = WORLDS) -> str:
    """The table of rounds, for a page."""
    rows = [cells(row) for row in report["rows"] if row["world"] in kinds]
    lines = ["| " + " | ".join(HEAD) + " |", "|" + "---|" * len(HEAD), *("| " + " | ".join(row) + " |" for row in rows)]
    cut_off = any(cell.endswith(" *") for row in rows for cell in row)
    note = "\\* cut off before it was certain. " if cut_off else ""
    how = "`python benchmarks/many_arms.py --seconds 300`; docs/many_arms.md says which runs had less or more"
    return "\n".join([*lines, "", f"{note}One thread of {report['machine']}; {how}."])


def together(report: dict[str, Any]) -> str:
    """The table of threads, for a page."""
    head = ("world", "arms x features", "policy", *(f"{n} thread{'s' if n > 1 else ''}, us" for n in THREADS), "faster")
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for row in report["rows"]:
        for policy in ("safe-lingape", "safe-gap"):
            times = row[policy]
            words = [row["world"], f"{row['K']:,} x {row['d']}", policy, *(f"{us:,.0f}" for us in times)]
            lines.append("| " + " | ".join([*words, f"{times[0] / min(times):.1f}"]) + " |")
    return "\n".join([*lines, "", f"The first {ROUNDS} rounds; {report['machine']}."])


def plotted(rows: list[dict[str, Any]], place: Path) -> None:
    """A round's time against arms times features, of all four."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    kinds = [kind for kind in WORLDS if any(row["world"] == kind for row in rows)]
    size = (5.5 * len(kinds), 4.2)
    figure, grid = pyplot.subplots(1, len(kinds), figsize=size, sharey=True, layout="constrained", squeeze=False)
    axes = grid[0]
    for kind, axis in zip(kinds, axes, strict=True):
        own = sorted((row for row in rows if row["world"] == kind), key=lambda row: row["K"] * row["d"])
        sizes = [row["K"] * row["d"] for row in own]
        axis.plot(sizes, [row["matrix_products_us"] for row in own], "o--", color="0.6", label="matrix products")
        axis.plot(sizes, [row["rank_one_us"] for row in own], "s--", color="0.4", label="O(K d) numpy")
        axis.plot(sizes, [row["safe_gap"]["us"] for row in own], "^-", color="tab:orange", label="SafeGap")
        axis.plot(sizes, [row["safe_lingape"]["us"] for row in own], "v-", color="tab:blue", label="Safe-LinGapE")
        for row, size in zip(own, sizes, strict=True):
            axis.annotate(f"{row['K']:.0e} x {row['d']}".replace("e+0", "e"), (size, row["safe_lingape"]["us"]),
                          xytext=(0, -13), textcoords="offset points", ha="center", fontsize=7)  # fmt: skip
        axis.set(xscale="log", yscale="log", xlabel="arms x features", title=f"world: {kind}")
        axis.margins(x=0.12, y=0.08)  # the names of sizes lie beside their marks
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("microseconds a round, one thread")
    axes[0].legend()
    figure.savefig(place, dpi=110)


def keep(place: Path, row: dict[str, Any], machine: str, table: str = "rounds") -> None:
    """Puts a row in the place of the one that was measured before it; a machine's rows begin a new table."""
    report: dict[str, Any] = json.loads(place.read_text()) if place.exists() else {}
    if report.get(table, {}).get("machine") != machine:
        report[table] = {"machine": machine, "rows": []}
    rows = {(each["world"], each["K"], each["d"]): each for each in report[table]["rows"]}
    rows[row["world"], row["K"], row["d"]] = row
    order = sorted(rows, key=lambda each: (WORLDS.index(each[0]), *each[1:]))
    report[table]["rows"] = [rows[each] for each in order]
    place.write_text(json.dumps(report, indent=2) + "\n")


def main() -> None:
    """Measures every size, or those that are named; or writes what was measured where people look."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", help="sizes such as 10000x64: the rows that are measured again")
    parser.add_argument("--worlds", nargs="*", choices=WORLDS, default=list(WORLDS))
    parser.add_argument("--seconds", type=float, default=40.0, help="after which a run is cut off")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--threads", action="store_true", help="measure what helpers bring, from 1e4 arms on")
    parser.add_argument("--table", action="store_true", help="write what was measured into README and docs")
    options = parser.parse_args()
    if not options.table:
        from bench import machine

        sizes = [tuple(map(int, each.split("x"))) for each in options.only] if options.only else list(SIZES)
        for kind, (K, d) in product(options.worlds, sizes):
            if options.threads and K >= CROWD:
                keep(options.out, measured_together(kind, K, d, ROUNDS), machine(), "threads")
            elif not options.threads:
                row = measured(kind, K, d, options.seconds)
                print("  ".join(cells(row)), flush=True)
                keep(options.out, row, machine())
    if options.table:
        report = json.loads(options.out.read_text())
        put_into_readme("many-arms", markdown(report["rounds"], ("random", "rival")))
        put_into("many-arms", markdown(report["rounds"]), HERE.parent / "docs" / "many_arms.md")
        if "threads" in report:
            put_into("threads", together(report["threads"]), HERE.parent / "docs" / "many_arms.md")
        plotted(report["rounds"]["rows"], HERE.parent / "docs" / "images" / "many_arms.png")


if __name__ == "__main__":
    main()
