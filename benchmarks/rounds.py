"""Nanoseconds of processor time for one round: every policy on small and large worlds, in this process, as JSON.

`before_after.py` runs this file on two source trees, so it uses only what every version has: `simulate`, worlds by
name and a linear one, and a session's `ask` and `tell`. Seeds and budgets are fixed: every version that decides alike
plays the same rounds.
"""

import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import surefoot as sf

REPEATS = 3  # the best counts: everything that disturbs a measurement makes it longer
MAX_PULLS = 2000
TURNS = 2000  # of a session


def policies() -> dict[str, tuple[Any, int]]:
    """Every policy, and the confidence sets that cost most; with about how many times longer its round takes."""
    return {
        "safe-gap": (sf.SafeGap(), 3),
        "safe-lingape": (sf.SafeLinGapE(), 1),
        "safe-lingape, bias-free": (sf.SafeLinGapE(selection="optimistic", reward_radius="mixture"), 8),
        "safe-lingape, own pulls": (
            sf.SafeLinGapE(selection="optimistic", reward_radius="squared-sum", safety_radius="own-pulls"), 2
        ),
        "lingape": (sf.LinGapE(), 1),
        "uniform": (sf.Uniform(), 1),
    }  # fmt: skip


def worlds() -> dict[str, tuple[sf.worlds.Linear, int]]:
    """Each world with a number of runs that takes the quickest policy some hundredths of a second."""
    return {
        "hard": (sf.worlds.hard(), 200),
        "base-station": (sf.worlds.base_station(), 60),
        "sphere of 20": (sf.worlds.sphere(arms=20), 60),
        "random 100": (random_arms(100, 10), 8),
    }


def random_arms(count: int, dimension: int) -> sf.worlds.Linear:
    """Arms in random directions, one of them the best."""
    rng = np.random.default_rng(7)
    arms = rng.standard_normal((count, dimension))
    arms /= np.linalg.norm(arms, axis=1, keepdims=True)
    theta, mu = np.eye(dimension)[:2]
    return sf.worlds.Linear(arms, theta_star=theta, mu_star=-mu, noise=0.5, limit=-0.4)


def simulated(world: sf.worlds.Linear, policy: Any, runs: int) -> tuple[float, int]:
    """Seconds and rounds of simulated runs that are mostly cut off by the budget."""
    problem = world.default_problem()
    problem = problem.with_(epsilon=problem.epsilon / 10.0)
    begin = time.process_time()
    found = sf.simulate(world, problem, policy, runs=runs, seed=3, workers=1, max_pulls=MAX_PULLS)
    return time.process_time() - begin, int(found.pulls.sum())


def asked_and_told(world: sf.worlds.Linear, policy: Any) -> tuple[float, int]:
    """Seconds and turns of a session, which is always told the same."""
    problem = world.default_problem()
    session = sf.Session(problem, policy, seed=3, max_pulls=TURNS)
    harmless = [limit.baseline for limit in problem.safety]
    begin = time.process_time()
    while not session.stopped:
        session.tell(session.ask(), reward=0.0, safety=harmless)
    return time.process_time() - begin, session.pulls


def measurements() -> Iterator[tuple[str, Callable[[], tuple[float, int]]]]:
    """What is measured, by name; each gives seconds and rounds."""
    for place, (world, runs) in worlds().items():
        for name, (policy, cost) in policies().items():
            yield f"{name} on {place}", partial(simulated, world, policy, max(1, runs // cost))
    for name in ("safe-gap", "safe-lingape"):
        yield f"ask and tell, {name} on hard", partial(asked_and_told, sf.worlds.hard(), policies()[name][0])


def main() -> None:
    """Prints nanoseconds a round and the number of rounds, for whatever has the first argument in its name."""
    warnings.simplefilter("ignore")  # old words are still understood, with a note
    wanted, found = sys.argv[1] if len(sys.argv) > 1 else "", {}
    for name, measure in measurements():
        if wanted in name:
            measure()  # compiled, or loaded, before the clock starts
            taken = [measure() for _ in range(REPEATS)]
            found[name] = {"ns": 1e9 * min(seconds / rounds for seconds, rounds in taken), "rounds": taken[0][1]}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
