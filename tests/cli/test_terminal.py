"""What is read from a storage or a file never acts on a terminal: seen through a pseudo-terminal, as a person would."""

import os
import pty
import re
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

import surefoot as sf
from surefoot.characters import in_one_line, visible
from surefoot.storage.chain import chained, origin_of
from surefoot.storage.store import open_store

ATTACKS = "\x1b]0;owned\x07", "\x1b[2J", "\x9b31m", "\u202egpj.exe", "\x08\x08\x08", "\r", "\x00", "\u2066", "\x85"
OURS = re.compile(r"\x1b\[(\d+(;\d+)*)?[mAK]|\x1b\[\?25[lh]|\r?\n|\r(?=\x1b|\n)")  # colours, and a picture that redraws
PROGRAM = """
import sys
from surefoot.cli import main
for line in sys.stdin.read().splitlines():
    print("+", main(line.split("\\t")), flush=True)
"""


def shown(commands: Sequence[Sequence[str]], folder: Path) -> str:
    """What a terminal is sent when these commands are typed, one after the other."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "200", "SUREFOOT_STORAGE": "sqlite:///lab.db"}
    environment.pop("NO_COLOR", None)
    read: list[bytes] = []
    words = [sys.executable, "-c", PROGRAM]
    with subprocess.Popen(
        words, cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=theirs, stderr=theirs
    ) as process:  # fmt: skip
        os.close(theirs)
        if process.stdin is not None:
            process.stdin.write("\n".join("\t".join(words) for words in commands).encode())
            process.stdin.close()
        while True:
            try:
                part = os.read(ours, 65_536)
            except OSError:  # the other side is closed
                break
            if not part:
                break
            read.append(part)
    os.close(ours)
    return b"".join(read).decode()


def hostile_study(folder: Path) -> None:
    """A storage whose studies, workers, reasons and people have names that act on terminals, in chains that hold."""
    storage = f"sqlite:///{folder / 'lab.db'}"
    problem = sf.Problem(
        {f"arm \u202e{k}[link=http://evil]x[/link]": [1.0, float(k)] for k in range(3)}, reward=sf.Reward(noise=0.5),
        safety=[sf.Limit("pres\u202esure", at_most=8.0, baseline=5.0, noise=0.3)],
        safe_level=0.2, epsilon=0.3, delta=0.05, delta_safety=0.05,
    )  # fmt: skip
    study = sf.create_study(problem, name="power\u202e", storage=storage)
    first, second, _ = study.ask(3, worker="WORKER")
    study.tell(first, reward=0.1, safety=5.1)
    study.fail(second, "REASON", not_because_of_result=True)
    study.correct(1, reward=0.2, reason="REASON", by="PERSON")
    study.freeze("REASON", "PERSON")
    store = open_store(storage)
    identity, row, arms = store.find(study.name)
    words = {"WORKER": "w" + "".join(ATTACKS), "REASON": "r" + "".join(ATTACKS), "PERSON": "p" + "".join(ATTACKS)}
    events = store.read(identity, study.name, lambda stored: list(stored.all()))
    for event in events:
        event |= {field: words.get(event[field], event[field]) for field in ("worker", "reason", "by")}
        del event["study"], event["hash"]
    sf.delete_study(study.name, storage)
    store.create(row, arms, list(chained(origin_of(row, arms.digest), events)))
    sf.create_study(problem, name="other", storage=storage)
    with closing(sqlite3.connect(folder / "lab.db")) as connection, connection:
        connection.execute("UPDATE surefoot_studies SET name = ? WHERE name = 'other'", ["o\n" + "".join(ATTACKS)])


def test_nothing_from_a_storage_acts_on_a_terminal(tmp_path: Path) -> None:
    hostile_study(tmp_path)
    study, reason = "power\u202e", "--reason=because \x1b[2J"
    commands = [
        ("study", "list"), ("storage", "check"), ("study", "show", study), ("study", "watch", study, "--once"),
        ("study", "audit", study), ("study", "ask", study), ("study", "tell", study, "3", "--reward=1", "--safety=5"),
        ("study", "tell", study, "2", "--reward=1", "--safety=5"), ("study", "cancel", study, "3", reason),
        ("study", "freeze", study, reason), ("study", "release", study, "--reason=mended", "--by=\x1b[2J"),
        ("study", "correct", study, "1", "--reward=0.3", "--reason=again"),
        ("study", "void", study, "1", "--reason=no"),
        ("study", "add", study, "1", "0.1", "--reward=1", "--safety=5", "--not-because-of-result"),
        ("study", "export", study, "out\u202e\x1b[2J.study"), ("study", "import", "out\u202e\x1b[2J.study"),
        ("study", "show", "nobody\x1b[2J"), ("study", "create", "new\x1b[2J", "nothing\x1b[2J.toml"),
        ("study", "show", "[link=http://evil]a[/link]"), ("study", "history", study),
        ("study", "delete", study), ("study", "\x1b[2J"), ("show", "\x1b[2J.toml"),
    ]  # fmt: skip
    seen = shown(commands, tmp_path)
    assert seen.count("+ ") >= len(commands), seen
    left = OURS.sub("", seen)
    odd = sorted({each for each in left if each != visible(each)})
    assert not odd, [left[max(0, place - 60) : place + 60] for place in [left.index(odd[0])]]
    for attack in ATTACKS[:4]:
        assert in_one_line(attack) in seen, attack


@pytest.mark.parametrize("attack", ATTACKS)
def test_characters_that_act_are_spelled_out(attack: str) -> None:
    assert visible(f"a{attack}b\tc\nd").replace("\t", "").replace("\n", "").isprintable()
    assert "\n" not in in_one_line(f"a{attack}\nb")
    assert visible("nörth, 北, 🙂 \tfine\n") == "nörth, 北, 🙂 \tfine\n"
