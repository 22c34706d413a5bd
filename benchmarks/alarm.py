"""What a round costs with the alarm and without, in processor time, one worker.

python benchmarks/alarm.py [RUNS]
"""

import sys
from time import process_time

import surefoot as sf


def nanoseconds(world: sf.worlds.Linear, runs: int, alarm: bool) -> float:
    """Processor time of a round, the best of three."""
    problem = world.default_problem()
    sf.simulate(world, problem, runs=1, seed=1, workers=1, alarm=alarm)  # compiles
    best = float("inf")
    for _ in range(3):
        begun = process_time()
        found = sf.simulate(world, problem, runs=runs, seed=1, workers=1, alarm=alarm)
        best = min(best, (process_time() - begun) / int(found.pulls.sum()))
    return 1e9 * best


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    for place in (sf.worlds.hard(), sf.worlds.limited(), sf.worlds.doses(), sf.worlds.base_station()):
        without, watched = (nanoseconds(place, count, alarm) for alarm in (False, True))
        times = f"{watched / without:.2f} times"
        print(f"{place.name:14} {without:8.0f} ns a round, {watched:8.0f} ns with the alarm: {times}")
