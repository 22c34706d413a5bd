"""How long large studies take to open, with a snapshot and without, and to give their history as a frame and as CSV,
how much memory that takes, and then to ask and to tell, on SQLite.

Writes studies.json beside this file, and the table in docs/storage.md. The studies are made by the policy itself and
stored in bulk: only opening, asking and telling are measured, each against the figure that is asked of it, once
everything is imported and the compiled code is loaded. Medians, because machines are noisy.

    python benchmarks/studies.py               both sizes
    python benchmarks/studies.py 10000x4       so many pulls of so many arms, and no file is written
    python benchmarks/studies.py 2000x4        a minute, to see that all of it works
"""

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from readme import put_into

import surefoot as sf
from surefoot.live.learner import Learner
from surefoot.live.pulls import pull_of
from surefoot.live.readings import packed
from surefoot.storage.chain import chained
from surefoot.studies import events

HERE = Path(__file__).parent
SIZES = {"100000x100": 0.5, "1000000x4": 3.0}  # pulls and arms; seconds to open one with a snapshot
ASKED = {"ask_ms": 5.0, "tell_ms": 10.0, "history_s": 15.0}  # the last for a million pulls
OPENINGS, STEPS, BULK = 5, 3_000, 20_000

IN_A_NEW_PROCESS = """
import resource, sys, time
import surefoot as sf
sf.load_study("small", sys.argv[1])  # imports everything, and loads the compiled code
begin = time.perf_counter()
study = sf.load_study("large", sys.argv[1])
seconds, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert study.status().mismatches == 0 and study.status().pulls >= int(sys.argv[2])
print(seconds, after / 1024)
"""

HISTORY = """
import io, resource, sys, time
import surefoot as sf
from surefoot.studies.history_files import pulls_of, write_csv
import pandas

class Counted(io.TextIOBase):
    size = 0
    def write(self, words):
        self.size += len(words)
        return len(words)

study = sf.load_study("large", sys.argv[1])
if sys.argv[2] == "frame":
    begin = time.perf_counter()
    rows = len(study.history)
else:
    begin, file = time.perf_counter(), Counted()
    write_csv(pulls_of("large", sys.argv[1]), file.write)
print(time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def main() -> None:
    """Measures and reports."""
    began_on, sizes = machine(), sys.argv[1:] or list(SIZES)
    report: dict[str, Any] = {"machine": began_on, "asked": ASKED}
    for size in sizes:
        pulls, arms = map(int, size.split("x"))
        with tempfile.TemporaryDirectory() as folder:
            report[size] = measured(Path(folder) / "large.db", pulls, arms) | {"open_s_asked": SIZES.get(size)}
    if not sys.argv[1:]:
        (HERE / "studies.json").write_text(json.dumps(report, indent=2) + "\n")
        put_into("studies", markdown(report), HERE.parent / "docs" / "storage.md")
    print(json.dumps(report, indent=2))


def measured(path: Path, pulls: int, arms: int) -> dict[str, float]:
    """All figures of one study."""
    storage = f"sqlite:///{path}"
    world = made(storage, pulls, arms)
    kept = Path(os.environ.get("SUREFOOT_CACHE") or Path.home() / ".cache" / "surefoot") / "snapshots"
    snapshot = kept / f"{sf.load_study('large', storage)._handle.origin.hex()}.snapshot"
    whole = []
    for _ in range(2):
        snapshot.unlink(missing_ok=True)
        whole.append(opened(storage, pulls))
    again = [opened(storage, pulls) for _ in range(OPENINGS)]
    told = {form: in_a_new_process(f"history as {form}", HISTORY, storage, form) for form in ("frame", "csv")}
    return {
        "file_mb": path.stat().st_size / 1e6,
        "snapshot_kb": snapshot.stat().st_size / 1e3 if snapshot.exists() else 0.0,
        "open_without_s": min(seconds for seconds, _ in whole),
        "open_without_mb": min(memory for _, memory in whole),
        "open_s": statistics.median(seconds for seconds, _ in again),
        "open_mb": statistics.median(memory for _, memory in again),
        "history_s": told["frame"][0],
        "history_mb": told["frame"][1],
        "history_csv_s": told["csv"][0],
        "history_csv_mb": told["csv"][1],
        **steps(storage, world, min(STEPS, pulls)),
    }


def made(storage: str, pulls: int, arms: int) -> sf.worlds.Linear:
    """The world of a study of many pulls, stored as one that ran for weeks: each asked for and told before the next."""
    rng, dimension = np.random.default_rng(20261), min(arms - 1, 10)
    features = rng.standard_normal((arms, dimension))
    features[1] = features[0] + 0.5 * features[1]
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    theta = features[0] + features[1]  # the first two are equally good, so that it never ends
    theta /= np.linalg.norm(theta)
    world = sf.worlds.Linear(
        features, theta_star=theta, mu_star=-0.8 * theta, noise=5.0, safety_noise=0.3, limit=-0.4
    )  # fmt: skip
    problem = world.problem(epsilon=1e-5, delta=0.05, delta_safety=0.05, safe_level=0.3)
    sf.create_study(problem, name="small", storage=storage, seed=1)
    study = sf.create_study(problem, name="large", storage=storage, seed=1)
    handle, begin = study._handle, time.perf_counter()
    history = chained(handle.origin, happened(study, world, pulls))
    while part := list(islice(history, BULK)):
        handle.store.write(handle.identity, "large", lambda stored, part=part: stored.append(part))  # type: ignore[misc]
    print(f"{pulls:,} pulls of {arms} arms made in {time.perf_counter() - begin:.0f} s", file=sys.stderr)
    return world


def happened(study: sf.Study, world: sf.worlds.Linear, pulls: int) -> Iterator[dict[str, Any]]:
    """The events of the study: what the policy decides, and what the world returns to it."""
    rng, problem = np.random.default_rng(7), study.problem
    learner, (limit,) = Learner(problem, study.policy, study.seed), problem.safety
    rewards, readings = world.arms @ world.theta_star, world.arms @ world.mu_star[0]
    at, sequence = events.now(), 0
    for number in range(1, pulls + 1):
        pull = pull_of(problem, number, learner.decision, learner.margin)
        reward = float(pull.level * rewards[pull.arm] + 5.0 * rng.standard_normal())
        reading = float(pull.level * readings[pull.arm] + 0.3 * rng.standard_normal())
        told = events.told(number, (pull.level, reward, packed([reading])), confirmed=False)
        for event in (events.asked(problem, pull, None), told):
            sequence += 1
            yield {"sequence": sequence, "at": at, "writer": 1, **event}
        learner.take(pull.arm, pull.level, [reward, float(limit.internal(reading))])


def opened(storage: str, pulls: int) -> tuple[float, float]:
    """Seconds to open the study in a new process, and the megabytes that all of that process takes up at most."""
    return in_a_new_process("opened", IN_A_NEW_PROCESS, storage, str(pulls))


def in_a_new_process(what: str, code: str, *words: str) -> tuple[float, float]:
    """The seconds and megabytes that it prints."""
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    seconds, memory = map(float, done.stdout.split())
    print(f"  {what}: {seconds:.2f} s, {memory:.0f} MB", file=sys.stderr, flush=True)
    return seconds, memory


def steps(storage: str, world: sf.worlds.Linear, count: int) -> dict[str, float]:
    """Milliseconds to ask and to tell, one after the other, each on the disk when it returns. On the way a snapshot is
    written."""
    study = sf.load_study("large", storage)
    asking: list[float] = []
    telling: list[float] = []
    for step in range(-10, count):  # the first ones load compiled code
        begin = time.perf_counter()
        pull = study.ask()
        between = time.perf_counter()
        result = world.measure(pull, seed=1)
        again = time.perf_counter()
        study.tell(pull, **result)
        if step >= 0:
            telling.append(time.perf_counter() - again)
            asking.append(between - begin)
    return {
        "ask_ms": 1e3 * statistics.median(asking), "ask_slowest_ms": 1e3 * max(asking),
        "tell_ms": 1e3 * statistics.median(telling), "tell_slowest_ms": 1e3 * max(telling),
    }  # fmt: skip


def markdown(report: dict[str, Any]) -> str:
    """The table of docs/storage.md."""
    lines = [
        "| study | opened with a snapshot | without one | history as a frame | as CSV | ask | tell |",
        "|---|---|---|---|---|---|---|",
    ]
    for size in SIZES:
        pulls, arms = map(int, size.split("x"))
        row = report[size]
        opened = f"{row['open_s']:.2f} s | {row['open_without_s']:.1f} s"
        told = f"{row['history_s']:.1f} s, {row['history_mb']:,.0f} MB | {row['history_csv_s']:.1f} s"
        lines.append(
            f"| {pulls:,} pulls, {arms} arms | {opened} | {told} | {row['ask_ms']:.2f} ms | {row['tell_ms']:.2f} ms |"
        )
    return "\n".join([*lines, "", f"Medians, on {report['machine']}; memory is that of the whole process."])


def machine() -> str:
    """What it ran on, and how busy that was with other things, in words."""
    cores, load = os.cpu_count(), os.getloadavg()[0]
    return f"{cores} cores, {platform.machine()}, Python {platform.python_version()}, load average {load:.1f} before"


if __name__ == "__main__":
    main()
