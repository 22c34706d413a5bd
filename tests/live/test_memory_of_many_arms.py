"""A million arms: what a session takes up beside the arms themselves, the alarm included."""

import subprocess
import sys
from pathlib import Path

import pytest

import surefoot as sf
from surefoot.core.kernel import interpreted

K, D = 1_000_000, 16
ARMS = 8 * K * D  # bytes of the arms in float64

SETTINGS = """
import resource, sys
import numpy as np
import surefoot as sf

settings = dict(
    reward=sf.Reward(noise=0.5), safety=[sf.Limit("heat", at_most=8.0, baseline=5.0, noise=0.3)], safe_level=0.2,
    epsilon=0.15, delta=0.05, delta_safety=0.05,
)

def pulled(session, count):
    for _ in range(count):
        pull = session.ask()
        session.tell(pull, reward=0.1 + 0.01 * pull.level, safety=5.0 + 0.1 * pull.level)
    return session

few = pulled(sf.Session(sf.Problem(np.random.default_rng(1).standard_normal((320_000, 16)), **settings)), 20)
"""
MEASURED = """
before = int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()
path, count = sys.argv[1], int(sys.argv[2])
arms = path if path else np.random.default_rng(2).standard_normal((count, 16))
problem = sf.Problem(arms, **settings)
session = pulled(sf.Session(problem), 25)
assert session.status().pulls == session.pulls == 25
assert session.ledger.checks.pulls == 25
assert problem.names[-1] == f"a{count}"
# Not getrusage's maximum: that begins with what the process held which has started this one.
most = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(1024 * int(most.split()[1]) - before)
"""


def run(script: str, *words: object) -> str:
    """What the script prints, run by an interpreter of its own."""
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, words)], check=True, capture_output=True, text=True, timeout=900
    )
    return done.stdout


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it is counted by what Linux says of a process")
@pytest.mark.skipif(interpreted(), reason="interpreted, a round of so many arms takes minutes")
@pytest.mark.parametrize(("mapped", "most"), [(False, 6.0), (True, 5.0)], ids=["in memory", "in a file"])
def test_a_session_takes_up_a_few_times_what_its_arms_do(tmp_path: Path, mapped: bool, most: float) -> None:
    """The most that the process ever held, less what it held before there were arms, once it had pulled few arms and so
    had loaded its compiled code. The caller's own array counts as one of the six; a file that is mapped counts too, as
    far as it is read. Without compiling, which takes up more: that is done by a process before it."""
    path: Path | str = ""
    if mapped:
        path = tmp_path / "arms.npy"
        save(path)
    run(SETTINGS)
    taken = int(run(SETTINGS + MEASURED, path, K))
    assert ARMS < taken <= most * ARMS


def save(path: Path) -> None:
    """Writes the arms, some at a time."""
    import numpy as np

    rng, file = np.random.default_rng(2), np.lib.format.open_memmap(path, "w+", np.float64, (K, D))
    for first in range(0, K, 100_000):
        file[first : first + 100_000] = rng.standard_normal((100_000, D))
    file.flush()


def test_nothing_in_a_session_has_a_row_for_pairs_of_arms() -> None:
    """Every array of a session with more arms than are held whole has K entries a few times over, and never K x K."""
    import numpy as np

    arms = np.random.default_rng(3).standard_normal((600, 4))
    problem = sf.Problem(
        arms, sf.Reward(noise=0.5), sf.Limit("heat", at_least=-1.0, noise=0.2), safe_level=0.2, epsilon=0.1, delta=0.1,
        delta_safety=0.1,
    )  # fmt: skip
    ledger = sf.Session(problem).ledger
    assert ledger.learner.state.whole.nbytes < 8 * 600 * 200
    assert ledger.checks is not None
    assert ledger.checks.remembered()[1].nbytes < 8 * 600 * 40
