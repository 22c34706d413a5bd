"""A storm over one study: workers that use every verb, fork, share handles between threads, are stopped, killed and
begun anew. A program: ADDRESS FOLDER SECONDS SEED.

Every step has a key. A worker writes down that it begins a step, and after the acknowledgement what was answered, in a
file that survives its death; who is begun anew repeats the step that the dead one left open, with its key. Workers are
forked from one process that has everything loaded, so that they spend their lives at work.
"""

import json
import os
import random
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))  # this file is run by itself
sys.path.insert(0, str(Path(__file__).parent))

from small_studies import measured

import surefoot as sf
from surefoot.errors import (
    AlreadyTold,
    BudgetOpen,
    Frozen,
    Held,
    NotFrozen,
    NotTold,
    PullClosed,
    PullHeld,
    StorageBusy,
    StorageUnavailable,
    SurefootWarning,
)

WORKERS = 6
REFUSED = (AlreadyTold, BudgetOpen, Frozen, Held, NotFrozen, NotTold, PullClosed, PullHeld)  # nothing, or a late result
AWAY = (StorageBusy, StorageUnavailable)  # whether it was kept is not known, or it was not
VERBS = {
    "ask": 30, "ask_three": 4, "tell": 40, "tell_late": 3, "add": 3, "table": 1, "cancel": 3, "expire": 2,
    "correct": 2, "void": 1, "freeze": 1, "release": 2, "look": 6, "fork": 1,
}  # fmt: skip


class Worker:
    """One who works on the study, under a name that outlives its process."""

    def __init__(self, study: sf.Study, name: str, folder: Path, seed: int) -> None:
        self.study, self.name, self.folder = study, name, folder
        self.file = os.open(folder / f"{name}.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self.random = random.Random(f"{name} {seed} {os.getpid()}")
        self.mine: list[int] = []  # pulls that it has open
        self.closed: list[int] = []
        self.told: list[int] = []

    def note(self, **line: Any) -> None:
        """One line in its file, whole or not at all."""
        os.write(self.file, json.dumps(line).encode() + b"\n")

    def step(self, verb: str, words: dict[str, Any], key: str | None = None) -> Any:
        """Takes a step and writes down what was answered; None where it was refused."""
        key = key or f"{self.name} {self.random.getrandbits(64):016x}"
        self.note(begun=key, verb=verb, words=words)
        try:
            answer = self.perform(verb, words, key)
        except REFUSED as error:
            self.note(refused=key, error=type(error).__name__)
            return None
        except AWAY as error:
            self.note(unknown=key, error=f"{type(error).__name__}: {error}")
            return None
        self.note(acknowledged=key, verb=verb, answer=answer)
        return answer

    def perform(self, verb: str, words: dict[str, Any], key: str) -> Any:
        """The answer of the study, as JSON."""
        study, by = self.study, {"reason": "the storm", "by": self.name}
        if verb == "ask":
            return [pull.number for pull in study.ask(words["count"], key=key)]
        if verb == "tell":
            study.tell(words["number"], reward=words["reward"], safety=words["safety"], key=key)
        elif verb == "add":
            return study.add(0, 0.05, words["reward"], words["safety"], not_because_of_result=True, key=key)
        elif verb == "table":
            rows = [{"arm": 0, "level": 0.05, "reward": r, "safety": words["safety"]} for r in words["rewards"]]
            return list(study.add(rows, order="as measured", not_because_of_result=True, confirm=True, key=key))
        elif verb == "cancel":
            study.cancel(words["number"], "the storm", not_because_of_result=True, key=key)
        elif verb == "expire":
            study.expire(words["number"], not_because_of_result=True, key=key)
        elif verb == "correct":
            study.correct(words["number"], reward=words["reward"], **by, confirm=True, key=key)
        elif verb == "void":
            study.void(words["number"], **by, key=key)
        elif verb == "freeze":
            study.freeze("the storm", self.name, key=key)
        elif verb == "release":
            study.release("the storm is over", self.name, key=key)
        return None

    def resume(self) -> None:
        """Repeats the step that a dead one of this name left open, and takes over its pulls."""
        lines = lines_of(self.folder / f"{self.name}.jsonl")
        ended = {line.get("acknowledged") or line.get("refused") or line.get("unknown") for line in lines}
        for line in lines:
            if line.get("verb") == "ask" and "answer" in line:
                self.mine += line["answer"]
            if line.get("verb") in ("tell", "cancel", "expire") and "words" in line:
                self.mine = [number for number in self.mine if number != line["words"]["number"]]
        last = lines[-1] if lines else {}
        if "begun" in last and last["begun"] not in ended:
            answer = self.step(last["verb"], last["words"], last["begun"])
            if last["verb"] == "ask" and answer:
                self.mine += answer

    def act(self) -> None:
        """One thing, at random."""
        verb = self.random.choices(list(VERBS), list(VERBS.values()))[0]
        if verb == "look":
            status = self.study.status()
            assert status.pulls + status.held_back + status.unused == status.states["told"], status
            assert sum(status.states.values()) == status.asked + status.imported, status
        elif verb == "fork":
            self.fork()
        elif verb in ("ask", "ask_three"):
            if len(self.mine) < 6:
                self.mine += self.step("ask", {"count": 1 if verb == "ask" else 3}) or []
        elif verb in ("add", "table"):
            few = [self.random.gauss(0.0, 0.1) for _ in range(3)]
            self.step(verb, {"reward": few[0], "rewards": few, "safety": [0.0, 0.0]})
        elif verb in ("freeze", "release"):
            self.step(verb, {})
            if verb == "freeze":
                self.step("release", {})
        else:
            self.about_a_pull(verb)

    def about_a_pull(self, verb: str) -> None:
        """Tells, gives up or revises one of its own pulls."""
        pulls = {"tell_late": self.closed, "correct": self.told, "void": self.told}.get(verb, self.mine)
        if not pulls:
            return
        number = self.random.choice(pulls[-20:])
        words: dict[str, Any] = {"number": number}
        if verb in ("tell", "tell_late"):
            words |= result_of(number)
        elif verb == "correct":
            words["reward"] = self.random.gauss(0.0, 0.1)
        if pulls is self.mine:
            self.mine.remove(number)
        self.step("tell" if verb == "tell_late" else verb, words)
        (self.told if verb == "tell" else self.closed).append(number)

    def fork(self) -> None:
        """A child with the same handle, which works a little under a name of its own."""
        child = os.fork()
        if child:
            if self.random.random() < 0.3:
                time.sleep(0.01)
                os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return
        name = f"{self.name}+{os.getpid()}"
        lives(lambda: Worker(self.study, name, self.folder, 0).work(10), name, self.folder)

    def work(self, steps: int | None = None) -> None:
        """So many things, or until it is killed."""
        while steps is None or steps > 0:
            self.act()
            steps = None if steps is None else steps - 1


def result_of(number: int) -> dict[str, Any]:
    """What a pull of this number returns, whoever applied it: near what an arm that does nothing would."""
    pull = sf.Pull(number, 0, "", 0.05, "explore", 0.0, None, None, None)
    return dict(measured(pull))


def lines_of(path: Path) -> list[dict[str, Any]]:
    """What was written down; a line that a death cut off was never written."""
    text = path.read_text() if path.exists() else ""
    return [json.loads(line) for line in text.splitlines() if line.endswith("}")]


def lives(work: Callable[[], None], name: str, folder: Path) -> None:
    """The life of a forked process: what goes wrong is written down."""
    try:
        work()
    except BaseException:
        (folder / f"{name}.error").write_text(traceback.format_exc())
    finally:
        os._exit(0)


def started(address: str, name: str, folder: Path, seed: int) -> int:
    """The process of a worker; of every third one two threads share the handle."""
    process = os.fork()
    if process:
        return process

    def life() -> None:
        study = sf.load_study("power", address)
        if int(name.rpartition("-")[2]) % 3 == 0:
            beside = Worker(study, f"{name}b", folder, seed)
            beside.resume()
            threading.Thread(target=lives, args=(beside.work, f"{name}b", folder), daemon=True).start()
        worker = Worker(study, name, folder, seed)
        worker.resume()
        worker.work()

    lives(life, name, folder)
    raise AssertionError("its life has ended")


def main(address: str, folder: Path, seconds: float, seed: int) -> None:
    """Lets them work, stops and kills some now and then, and kills everyone in the end."""
    warnings.simplefilter("ignore", SurefootWarning)
    chance = random.Random(seed)
    warm = sf.load_study("power", address)  # everything is compiled and loaded before the first fork
    warm.tell(warm.ask(worker="warm"), **result_of(1))
    warm.ask(2, worker="warm")
    del warm
    names = [f"worker-{i}" for i in range(WORKERS)]
    running = {name: started(address, name, folder, seed) for name in names}
    end, kills, stops = time.monotonic() + seconds, 0, 0
    while time.monotonic() < end:
        time.sleep(chance.uniform(0.05, 0.5))
        name = chance.choice(names)
        if chance.random() < 0.3:
            os.kill(running[name], signal.SIGSTOP)
            time.sleep(chance.uniform(0.05, 0.8))
            os.kill(running[name], signal.SIGCONT)
            stops += 1
        else:
            os.kill(running[name], signal.SIGKILL)
            os.waitpid(running[name], 0)
            running[name] = started(address, name, folder, seed)
            kills += 1
    for process in running.values():
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
    print(json.dumps({"kills": kills, "stops": stops}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]))
