"""Many arms, side by side in one run: a round of the compiled core, of the textbook's matrix products, and of numpy
code that updates what it can in O(K d).

Runs of the core are whole, from round 0 on: every column that is missed and everything that is computed anew is paid
for. One thread each. Writes many_arms.json beside this file.

python benchmarks/many_arms.py [--only 10000x64] [--show]
"""

import os

for _library in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_library] = "1"  # before numpy is loaded

import argparse  # noqa: E402
import json  # noqa: E402
import time  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402
from plain_loop import MatrixProducts, RankOne  # noqa: E402

import surefoot as sf  # noqa: E402
from surefoot.core.layout import side_by_side  # noqa: E402
from surefoot.core.records import new_records  # noqa: E402
from surefoot.live.model_checks import simulated_watch  # noqa: E402
from surefoot.policies import Policy  # noqa: E402
from surefoot.policies.bound import faced, play_of  # noqa: E402

RESULTS = Path(__file__).parent / "many_arms.json"
SECONDS = 4.0  # of each code at each size
MOST_ROUNDS = 3000
# K, d, and how many times faster than the matrix products, and than O(K d) numpy, a round is to be.
SIZES: dict[tuple[int, int], tuple[float | None, float | None]] = {
    (1_000, 16): (None, None), (1_000, 64): (None, None), (10_000, 16): (12, 3), (10_000, 64): (80, 8),
    (10_000, 256): (400, 12), (100_000, 64): (50, 8), (100_000, 256): (300, 12), (1_000_000, 16): (15, 3),
}  # fmt: skip


def world_of(K: int, d: int) -> tuple[sf.worlds.Linear, sf.Problem]:
    """Arms in random directions, and a problem that takes a while."""
    rng = np.random.default_rng(K + d)
    arms = rng.standard_normal((K, d))
    arms /= np.linalg.norm(arms, axis=1, keepdims=True)
    theta, mu = np.eye(d)[:2]
    world = sf.worlds.Linear(arms, theta_star=theta, mu_star=-mu, noise=0.3, safety_noise=0.1, limit=-0.4)
    return world, world.problem(epsilon=0.05, delta=0.05, delta_safety=0.05, safe_level=0.3)


def core(world: sf.worlds.Linear, problem: sf.Problem, policy: Policy) -> dict[str, float]:
    """Seconds to face the problem, and microseconds a round of a run that is cut off after some seconds."""
    begin = time.perf_counter()
    found, response = faced(policy, problem), world.response()
    facing = time.perf_counter() - begin
    watch = simulated_watch(problem, policy.guarantee(problem), None)
    play = play_of(found, response, watch)
    inst, truth, room = side_by_side((found.inst, response.truth, response.room))[1]
    state, work, cancel = found.new_state(), found.new_work(), np.zeros(1, np.int64)

    def played(rounds: int) -> tuple[int, float]:
        records = new_records(1, len(inst.X))
        begin = time.perf_counter()
        play(inst, found.plan.rules, truth, room, watch.new(), 1, 0, rounds, state, work, records, cancel)
        return int(records.pulls[0]), time.perf_counter() - begin

    played(2)  # compiled before the clock starts
    made, seconds = played(64)
    rounds = min(MOST_ROUNDS, max(64, int(64 * SECONDS / seconds)))
    made, seconds = played(rounds)
    return {"rounds": made, "us": 1e6 * seconds / made, "facing_s": facing}


def numpy_code(kind: Any, world: sf.worlds.Linear, problem: sf.Problem) -> float:
    """Microseconds a round of numpy code."""
    loop = kind(
        world.arms, world.theta_star, world.mu_star[0], 0.3, 0.1, -0.4, 0.3, 0.05, 0.05, 1.0, 1.0, 1.0,
        np.random.default_rng(1),
    )  # fmt: skip
    loop.round()
    begin, rounds = time.perf_counter(), 0
    while rounds < 2 or (time.perf_counter() - begin < SECONDS and rounds < MOST_ROUNDS):
        loop.round()
        rounds += 1
    return 1e6 * (time.perf_counter() - begin) / rounds


def measured(K: int, d: int) -> dict[str, Any]:
    """The row of one size."""
    world, problem = world_of(K, d)
    products, rank_one = numpy_code(MatrixProducts, world, problem), numpy_code(RankOne, world, problem)
    lingape, gap = core(world, problem, sf.SafeLinGapE()), core(world, problem, sf.SafeGap())
    return {
        "K": K, "d": d, "matrix_products_us": products, "rank_one_us": rank_one,
        "safe_lingape": lingape, "safe_gap": gap,
        "ratio": products / lingape["us"], "ratio_rank_one": rank_one / lingape["us"],
        "safe_gap_ratio": gap["us"] / lingape["us"],
    }  # fmt: skip


def shown(row: dict[str, Any]) -> str:
    """The row as a line."""
    asked = SIZES.get((row["K"], row["d"]), (None, None))
    words = [f"(asked {each})" if each else "" for each in asked]
    return (
        f"{row['K']:>9,} x {row['d']:<4} products {row['matrix_products_us']:>11,.0f} us   O(K d) "
        f"{row['rank_one_us']:>9,.0f} us   SafeLinGapE {row['safe_lingape']['us']:>8,.1f} us "
        f"({row['safe_lingape']['rounds']} rounds): {row['ratio']:.0f}x {words[0]}, {row['ratio_rank_one']:.1f}x "
        f"{words[1]}   SafeGap {row['safe_gap']['us']:,.1f} us ({row['safe_gap']['rounds']} rounds): "
        f"{row['safe_gap_ratio']:.1f} of it"
    )


def main() -> None:
    """Measures every size, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", help="sizes such as 10000x64; nothing is written then")
    parser.add_argument("--show", action="store_true", help="show what was measured before")
    options = parser.parse_args()
    if options.show:
        rows = json.loads(RESULTS.read_text())["rows"]
    else:
        sizes = [tuple(map(int, each.split("x"))) for each in options.only] if options.only else list(SIZES)
        rows = []
        for K, d in sizes:
            rows.append(measured(K, d))
            print(shown(rows[-1]), flush=True)
        if not options.only:
            from bench import machine

            RESULTS.write_text(json.dumps({"machine": machine(), "rows": rows}, indent=2) + "\n")
        return
    for row in rows:
        print(shown(row))


if __name__ == "__main__":
    main()
