"""Eight workers on one study, killed at random instants and begun anew. A program: ADDRESS FOLDER KILLS SEED.

Each worker writes down what was acknowledged to it, after the acknowledgement, in a file that survives its death.
Workers are forked from one process that has everything loaded, so that they spend their lives asking and telling.
"""

import json
import os
import random
import signal
import sys
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))  # this file is run by itself
sys.path.insert(0, str(Path(__file__).parent))

from small_studies import measured

import surefoot as sf

WORKERS = 8


def work(address: str, name: str, log: Path) -> None:
    """Asks and tells until it is killed, and writes down each acknowledgement."""
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    study = sf.load_study("power", address)
    while True:
        pull = study.ask(worker=name)
        os.write(
            file,
            json.dumps({"asked": pull.number, "arm": pull.arm, "level": pull.level, "worker": name}).encode() + b"\n",
        )
        result = measured(pull)
        study.tell(pull, **result)
        os.write(file, json.dumps({"told": pull.number, **result}).encode() + b"\n")


def started(address: str, name: str, folder: Path) -> int:
    """The process of a new worker."""
    process = os.fork()
    if process:
        return process
    warnings.simplefilter("error")
    try:
        work(address, name, folder / f"{name}.jsonl")
    except BaseException as error:
        (folder / f"{name}.error").write_text(f"{type(error).__name__}: {error}")
    finally:
        os._exit(1)


def wait_for_work(folder: Path, steps: int = 20) -> None:
    """Returns when the workers have made some more steps, however busy the machine is; gives up after a minute."""

    def written() -> int:
        return sum(path.read_bytes().count(b"\n") for path in folder.glob("*.jsonl"))

    wanted, give_up = written() + steps, time.monotonic() + 60.0
    while written() < wanted:
        if time.monotonic() > give_up:
            raise SystemExit("the workers do nothing")
        time.sleep(0.005)


def main(address: str, folder: Path, kills: int, seed: int) -> None:
    """Kills as often as was asked, then everyone."""
    random.seed(seed)
    warm = sf.load_study("power", address)  # everything is compiled and loaded before the first fork
    warm.ask(2, worker="warm")
    del warm
    names = [f"worker-{i}" for i in range(WORKERS)]
    running = {name: started(address, name, folder) for name in names}
    for _ in range(kills):
        wait_for_work(folder)
        time.sleep(random.uniform(0.0, 0.1))
        name = random.choice(names)
        os.kill(running[name], signal.SIGKILL)
        os.waitpid(running[name], 0)
        running[name] = started(address, name, folder)
    wait_for_work(folder)
    for process in running.values():
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
