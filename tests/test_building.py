"""What authors build with is there, under names that stay, and costs nothing until it is used."""

import subprocess
import sys

import surefoot as sf
from surefoot import building
from surefoot.core.kernel import is_kernel


def test_every_name_is_there_once() -> None:
    assert all(getattr(building, name) is not None for name in building.__all__)
    assert len(set(building.__all__)) == len(building.__all__)


def test_what_a_decision_calls_can_be_compiled_with_it() -> None:
    asked = [
        "bound_safety", "bound_leads", "certify", "find_leader", "find_race", "verdict", "reachable", "stepped",
        "greedy", "decisive_pull", "column", "diagonal", "squared_norm", "philox", "uniform", "normal",
    ]  # fmt: skip
    assert all(is_kernel(getattr(building, name)) for name in asked)


def test_the_mark_is_one() -> None:
    assert sf.kernel is building.kernel


def test_building_blocks_load_no_compiler() -> None:
    program = "import sys, surefoot.building; print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
