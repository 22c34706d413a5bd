"""A problem that does not fit into memory is refused by name before anything is begun or written."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import surefoot as sf
from surefoot import memory
from surefoot.errors import NotEnoughMemory
from surefoot.policies.bound import faced

ARMS = 400_000  # a state of some hundred megabytes; a matrix of arms by arms would be a terabyte


@pytest.fixture
def crowded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that has 50 MB left."""
    monkeypatch.setattr(memory, "available", lambda: 50_000_000)


@pytest.fixture(scope="module")
def huge() -> sf.Problem:
    angles = np.linspace(0.1, 1.4, ARMS)
    return sf.Problem(
        np.column_stack([np.cos(angles), np.sin(angles)]), sf.Reward(noise=1.0, norm=1.0),
        sf.Limit("heat", at_most=1.0, noise=0.1, norm=1.0), safe_level=0.5, epsilon=0.1, delta=0.1, delta_safety=0.1,
    )  # fmt: skip


@pytest.mark.usefixtures("crowded")
def test_a_study_that_cannot_fit_leaves_no_file(huge: sf.Problem, tmp_path: Path) -> None:
    with pytest.raises(NotEnoughMemory, match=r"400,000 arms need about .* MB of memory") as refused:
        sf.create_study(huge, name="huge", storage=f"sqlite:///{tmp_path / 'studies.db'}")
    assert refused.value.needed > refused.value.available > 0
    assert os.listdir(tmp_path) == []


@pytest.mark.usefixtures("crowded")
def test_sessions_and_simulations_that_cannot_fit_are_refused(huge: sf.Problem) -> None:
    with pytest.raises(NotEnoughMemory):
        sf.Session(huge)
    world = sf.worlds.Linear.for_problem(huge, theta_star=[0.5, 0.2], mu_star=[[0.5, 0.1]])
    with pytest.raises(NotEnoughMemory, match="fewer workers"):
        sf.simulate(world, huge, runs=1)


def test_the_command_line_says_it_in_one_line_with_status_2(huge: sf.Problem, tmp_path: Path) -> None:
    rows = "\n".join(f"{k},{x:.17g},{y:.17g}" for k, (x, y) in enumerate(huge.arms.tolist()))
    (tmp_path / "arms.csv").write_text(f"name,x,y\n{rows}\n")
    (tmp_path / "huge.toml").write_text(
        'arms_file = "arms.csv"\nsafe_level = 0.5\nepsilon = 0.1\ndelta = 0.1\ndelta_safety = 0.1\n'
        "[reward]\nnoise = 1.0\nnorm = 1.0\n"
        '[[safety]]\nname = "heat"\nat_most = 1.0\nnoise = 0.1\nnorm = 1.0\n'
    )
    code = (
        "import sys\nfrom surefoot import memory\nmemory.available = lambda: 50_000_000\n"
        "from surefoot.cli import main\nsys.exit(main())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "study", "create", "huge", "huge.toml"], cwd=tmp_path, capture_output=True,
        text=True, env={**os.environ, "NO_COLOR": "1"},
    )  # fmt: skip
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "Leave out arms" in done.stderr
    assert sorted(os.listdir(tmp_path)) == ["arms.csv", "huge.toml"]


def test_what_a_state_takes_up_is_known_before_it_is_made() -> None:
    world = sf.worlds.hard()
    found = faced(sf.SafeGap(), world.paper_problem())
    from surefoot.core.state import state_bytes

    told = state_bytes(found.inst, found.plan.sets.memory, found.plan.own)
    made = found.new_state().whole.nbytes
    assert told <= made <= told + 64 * 60  # each array begins at a cache line


def test_a_limit_of_the_process_counts() -> None:
    code = (
        "import resource\nfrom surefoot.memory import available\nbefore = available()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (2_000_000_000, 2_000_000_000))\n"
        "print(before is None or available() < 2_000_000_000)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ)
    assert done.stdout == "True\n", done.stderr
    assert (memory.available() or 1) > 0
