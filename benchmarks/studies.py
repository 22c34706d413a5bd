"""How long a study of 100 arms and 100,000 pulls takes to open, and then to ask and to tell, on SQLite.

Writes studies.json beside this file. The study is made by a session and stored in one go: only opening, asking and
telling are measured, each against the figure that is asked of it. Medians, because machines are noisy.
"""

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import surefoot as sf
from surefoot.storage.store import open_store
from surefoot.studies import events

HERE = Path(__file__).parent
ARMS, DIMENSION, PULLS = 100, 10, 100_000
OPENINGS, STEPS = 7, 200
ASKED = {"open_s": 2.0, "ask_ms": 5.0, "tell_ms": 10.0}

IN_A_NEW_PROCESS = """
import sys, time
begin = time.perf_counter()
import surefoot as sf
study = sf.load_study("large", sys.argv[1])
print(time.perf_counter() - begin)
"""


def main() -> None:
    """Measures and reports."""
    began_on = machine()
    with tempfile.TemporaryDirectory() as folder:
        storage = f"sqlite:///{Path(folder) / 'large.db'}"
        world = make(storage)
        measured = {
            "arms": ARMS,
            "pulls": PULLS,
            "file_mb": Path(storage.removeprefix("sqlite:///")).stat().st_size / 1e6,
            "open_s": statistics.median(opening(storage) for _ in range(OPENINGS)),
            "open_in_a_new_process_s": statistics.median(new_process(storage) for _ in range(3)),
            **steps(storage, world),
        }
    report = {"machine": began_on, "asked": ASKED, "measured": measured}
    (HERE / "studies.json").write_text(json.dumps(report, indent=2) + "\n")
    print(json.dumps(report, indent=2))


def make(storage: str) -> sf.worlds.Linear:
    """The world of a study of many pulls, stored as one that ran for weeks: each asked for and told before the next."""
    rng = np.random.default_rng(20261)
    arms = rng.standard_normal((ARMS, DIMENSION))
    arms /= np.linalg.norm(arms, axis=1, keepdims=True)
    theta, mu = rng.standard_normal(DIMENSION), rng.standard_normal(DIMENSION)
    world = sf.worlds.Linear(
        arms, theta_star=theta / np.linalg.norm(theta), mu_star=mu / np.linalg.norm(mu), noise=5.0, safety_noise=0.3,
        limit=-0.4,
    )  # fmt: skip
    problem = world.problem(epsilon=0.001, delta=0.05, delta_safety=0.05, safe_level=0.3)
    study = sf.create_study(problem, name="large", storage=storage, seed=1)
    session, index = sf.Session(problem, seed=1), {name: k for k, name in enumerate(problem.names)} | {"(nothing)": -1}
    happened: list[dict[str, Any]] = []
    for number in range(1, PULLS + 1):
        pull = session.ask()
        result = world.measure(pull, seed=1)
        happened.append(events.asked(pull, number, None, index))
        happened.append(events.told(number, pull.level, result["reward"], result["safety"]))
        session.tell(pull, **result)
    at = events.now()
    rows = [{"sequence": i, "at": at, "writer": 1, **event} for i, event in enumerate(happened, start=1)]
    store = open_store(storage)
    store.write(study._identity, "large", lambda stored: stored.append(rows))
    return world


def opening(storage: str) -> float:
    """Seconds to open, replay and audit the study."""
    begin = time.perf_counter()
    study = sf.load_study("large", storage)
    seconds = time.perf_counter() - begin
    status = study.status()
    if status["mismatches"] or status["asked"] < PULLS:
        raise SystemExit("the study does not audit clean")
    return seconds


def new_process(storage: str) -> float:
    """The same from nothing: a new process that imports everything first."""
    done = subprocess.run([sys.executable, "-c", IN_A_NEW_PROCESS, storage], capture_output=True, text=True, check=True)
    return float(done.stdout)


def steps(storage: str, world: sf.worlds.Linear) -> dict[str, float]:
    """Milliseconds to ask and to tell, one after the other, each on the disk when it returns."""
    study = sf.load_study("large", storage)
    asking, telling = [], []
    for _ in range(STEPS):
        begin = time.perf_counter()
        pull = study.ask()
        between = time.perf_counter()
        result = world.measure(pull, seed=1)
        again = time.perf_counter()
        study.tell(pull, **result)
        telling.append(time.perf_counter() - again)
        asking.append(between - begin)
    return {"ask_ms": 1e3 * statistics.median(asking), "tell_ms": 1e3 * statistics.median(telling)}


def machine() -> str:
    """What it ran on, and how busy that was with other things, in words."""
    cores, load = os.cpu_count(), os.getloadavg()[0]
    return f"{cores} cores, {platform.machine()}, Python {platform.python_version()}, load average {load:.1f} before"


if __name__ == "__main__":
    main()
