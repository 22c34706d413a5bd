"""Many runs on a GPU beside the CPU of the same machine: seconds of device time, rounds a second, and equal records.

python benchmarks/device.py [--runs 1000000] [--out benchmarks/device.json]
python benchmarks/device.py --table                  what was measured, into docs/gpu.md

Needs an NVIDIA GPU and `surefoot[cuda]`. Device time is measured between events around the kernels; compilation and
copying to and fro are not in it, and `wall_s` has the copying too. Records are compared field by field with the CPU's.
"""

import argparse
import json
import os
import platform
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from readme import put_into

import surefoot as sf
from surefoot.core.device import toolkit
from surefoot.devices import device_chunks, device_play
from surefoot.live.model_checks import simulated_watch
from surefoot.policies import Policy
from surefoot.policies.bound import faced
from surefoot.progress import compiling
from surefoot.worlds import Linear

HERE = Path(__file__).parent
SEED, MAX_PULLS = 11, 200_000
COMPARED = ("pulls", "outcome", "arm", "level", "gap", "unsafe_pulls", "first_unsafe", "pulls_per_arm", "levels")


class Case(NamedTuple):
    """What is played, and how many runs of it beside the CPU."""

    name: str
    world: Linear
    policy: Policy
    share: float  # of the runs that are asked for
    beside: int


def cases() -> list[Case]:
    """The paper's experiment, and as many arms as a thread's memory should hold at least."""
    paper, many = sf.worlds.hard(), sf.worlds.sphere(arms=64, dim=5)
    return [
        Case("paper, SafeLinGapE", paper, sf.SafeLinGapE(), 1.0, 20_000),
        Case("paper, SafeGap", paper, sf.SafeGap(), 1.0, 20_000),
        Case("64 random arms, SafeLinGapE", many, sf.SafeLinGapE(), 0.02, 500),
        Case("64 random arms, SafeGap", many, sf.SafeGap(), 0.02, 500),
    ]


def measured(case: Case, runs: int) -> dict[str, Any]:
    """The speed of both, and how many runs differ."""
    problem, begin = case.world.default_problem(), time.perf_counter()
    guarantee, found = case.policy.guarantee(problem), faced(case.policy, problem)
    play = device_play(found, case.world.response(), simulated_watch(problem, guarantee, None), compiling)
    ready = time.perf_counter() - begin
    play(SEED, 0, 64, MAX_PULLS)  # loaded before the clock starts
    play.seconds, begin, rounds = 0.0, time.perf_counter(), 0
    for _, records in device_chunks(play, SEED, MAX_PULLS, 0, runs):
        rounds += int(records.pulls.sum())
    wall = time.perf_counter() - begin
    cpu, cpu_rate = on_cpu(case, problem)
    gpu = sf.simulate(case.world, problem, case.policy, runs=case.beside, seed=SEED, device="cuda")
    return {
        "case": case.name, "arms": len(problem.features), "runs": runs, "rounds": rounds, "ready_s": round(ready, 2),
        "device_s": round(play.seconds, 4), "wall_s": round(wall, 3), "rounds_per_s": round(rounds / play.seconds),
        "cpu_rounds_per_s": round(cpu_rate), "ratio_to_cpu": round(rounds / play.seconds / cpu_rate, 1),
        "compared_runs": case.beside, "differing_runs": differing(cpu, gpu),
    }  # fmt: skip


def on_cpu(case: Case, problem: sf.Problem) -> tuple[sf.Runs, float]:
    """The runs on all cores, and their rounds a second."""
    sf.simulate(case.world, problem, case.policy, runs=2, seed=SEED)  # compiled before the clock starts
    begin = time.perf_counter()
    runs = sf.simulate(case.world, problem, case.policy, runs=case.beside, seed=SEED)
    return runs, float(runs.pulls.sum()) / (time.perf_counter() - begin)


def differing(cpu: sf.Runs, gpu: sf.Runs) -> dict[str, int]:
    """In how many runs a field is not the same to the last digit."""
    found = {}
    for name in COMPARED:
        one, other = getattr(cpu, name), getattr(gpu, name)
        found[name] = int((one != other).reshape(len(one), -1).any(axis=1).sum())
    return found


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    gpu = toolkit().get_current_device().name
    tools = {package: version(package) for package in ("numba", "numba-cuda", "numpy")}
    return {"gpu": gpu if isinstance(gpu, str) else gpu.decode(), "cores": os.cpu_count(), "cpu": cpu_name(), **tools}


def cpu_name() -> str:
    """The name of the processor."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def main() -> None:
    """Measures every case and writes the file after each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1_000_000)
    parser.add_argument("--case", type=int, help="only this one, from 0")
    parser.add_argument("--out", type=Path, default=HERE / "device.json")
    parser.add_argument("--table", action="store_true", help="only put the figures of the file into docs/gpu.md")
    wishes = parser.parse_args()
    if wishes.table:
        put_into("device", table(json.loads(wishes.out.read_text())), HERE.parent / "docs" / "gpu.md")
        return
    report: dict[str, Any] = {"machine": machine(), "measured": []}
    for case in cases() if wishes.case is None else [cases()[wishes.case]]:
        report["measured"].append(measured(case, max(1, int(np.ceil(case.share * wishes.runs)))))
        print(json.dumps(report["measured"][-1]), flush=True)
        wishes.out.write_text(json.dumps(report, indent=2) + "\n")


def table(report: dict[str, Any]) -> str:
    """The figures in Markdown."""
    head = (
        "| experiment | runs | rounds | device time | rounds a second | beside the CPU | runs that differ |",
        "|---|---:|---:|---:|---:|---:|---:|",
    )
    rows = [
        f"| {each['case']} | {each['runs']:,} | {each['rounds']:.3g} | {each['device_s']:.2f} s "
        f"| {each['rounds_per_s']:.2g} | {each['ratio_to_cpu']:.3g}x "
        f"| {max(each['differing_runs'].values())} of {each['compared_runs']:,} |"
        for each in report["measured"]
    ]
    where = report["machine"]
    return "\n".join([*head, *rows, "", f"{where['gpu']} beside {where['cores']} cores ({where['cpu']})."])


if __name__ == "__main__":
    main()
