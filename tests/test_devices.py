"""Simulations on a GPU: refused in words where there is none, and in numba-cuda's simulator the runs of the CPU."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.core.columns import MANY
from surefoot.core.device import OF_OTHERS, OF_SMALL
from surefoot.core.device_memory import (
    MOST_CONSTANTS,
    MOST_NEAR,
    NEAR,
    NEAR_OF_SMALL,
    WORD,
    arrays_in,
    is_small,
    near_arrays,
    near_constants,
    near_words,
    packed,
    simulated,
)
from surefoot.core.records import new_records
from surefoot.devices import check_device
from surefoot.errors import InvalidInput, MissingExtra
from surefoot.policies.bound import Faced, faced

INSTALLED = find_spec("numba_cuda") is not None
HAS_GPU = Path("/dev/nvidiactl").exists()


@pytest.fixture(scope="module")
def found() -> Faced:
    return faced(sf.SafeGap(), sf.worlds.hard().default_problem())


@pytest.mark.parametrize("device", ["tpu", "CUDA", "", None, 0])
def test_an_unknown_device_is_refused(device: Any) -> None:
    world = sf.worlds.limited()
    with pytest.raises(InvalidInput, match="'cpu' or 'cuda'"):
        sf.simulate(world, world.default_problem(), runs=1, device=device)


@pytest.mark.parametrize("alarm", [True, 0.01])
def test_an_alarm_on_a_gpu_is_refused_by_name(alarm: bool | float) -> None:
    with pytest.raises(InvalidInput, match="alarm") as refused:
        check_device("cuda", alarm)
    assert refused.value.field == "alarm"


@pytest.mark.skipif(INSTALLED, reason="numba-cuda is installed")
def test_without_the_extra_its_name_is_said() -> None:
    with pytest.raises(MissingExtra, match=r"surefoot\[cuda\]"):
        check_device("cuda")


@pytest.mark.skipif(not INSTALLED or HAS_GPU, reason="needs numba-cuda, and no GPU")
def test_without_a_gpu_the_cpu_is_recommended() -> None:
    with pytest.raises(InvalidInput, match="no NVIDIA GPU") as refused:
        check_device("cuda")
    assert "on the CPU" in refused.value.remedy


@pytest.mark.skipif(not INSTALLED or not HAS_GPU, reason="needs numba-cuda and a GPU")
@pytest.mark.parametrize("policy", [sf.SafeLinGapE(), sf.SafeGap()], ids=lambda policy: policy.name)
@pytest.mark.parametrize("world", [sf.worlds.limited(), sf.worlds.sphere(arms=MANY + 5, dim=3)], ids=["few", "many"])
def test_runs_on_a_gpu_are_those_of_the_cpu(policy: Any, world: Any) -> None:
    cpu = sf.simulate(world, world.default_problem(), policy, runs=300, seed=2, first_run=7)
    gpu = sf.simulate(world, world.default_problem(), policy, runs=300, seed=2, first_run=7, device="cuda")
    assert np.array_equal(cpu.pulls, gpu.pulls)
    assert np.array_equal(cpu.pulls_per_arm, gpu.pulls_per_arm)
    np.testing.assert_allclose(gpu.gap, cpu.gap, rtol=1e-12)
    np.testing.assert_allclose(gpu.levels, cpu.levels, rtol=1e-12)


# -- in the simulator -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def simulation() -> Any:
    if not INSTALLED:
        pytest.skip("numba-cuda is not installed")
    script = Path(__file__).parent / "simulated_device.py"
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("case", ["safe-lingape", "safe-gap"])
def test_runs_on_a_device_are_those_of_the_cpu(simulation: Any, case: str) -> None:
    played = simulation[case]
    assert played["differ"] == []
    assert played["runs"] == 5
    assert max(played["pulls"]) > 12, "no run has paused twice"
    assert set(played["outcomes"]) == {"certified"}


def test_runs_that_are_cut_off_end_undecided_on_a_device_too(simulation: Any) -> None:
    assert simulation["cut off"]["differ"] == []
    assert simulation["cut off"]["pulls"] == [15, 15, 15]


def test_candidates_without_limits_are_not_tried_on_a_device_either(simulation: Any) -> None:
    assert simulation["candidates"]["differ"] == []
    assert simulation["candidates"]["pulls"] == [15, 15]


def test_many_arms_make_the_runs_of_the_cpu_on_a_device_too(simulation: Any) -> None:
    assert simulation["many arms"]["differ"] == []


def test_arrays_that_lie_column_by_column_are_never_read_as_rows() -> None:
    columns = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    with pytest.raises(TypeError, match="row by row"):
        packed((columns,))


def test_a_policy_in_plain_python_is_refused_on_a_device(simulation: Any) -> None:
    assert "decide is plain Python" in simulation["plain"]


def test_arms_that_do_not_fit_into_the_memory_of_a_thread_are_refused(simulation: Any) -> None:
    assert "20,000 arms" in simulation["many"]
    assert "fewer arms" in simulation["many"]


# -- memory -----------------------------------------------------------------------------------------------------------


def test_what_lies_near_is_named_as_the_state_names_it(found: Faced) -> None:
    state = found.new_state()
    for part, names in NEAR.items():
        owner = state.estimate.columns if part == "columns" else getattr(state, part)
        assert set(names) <= set(owner._fields)
    work = found.new_work()
    near = {id(leaf) for leaf in near_arrays(state, work)}
    assert {id(state.estimate.columns.values), id(state.levels.low), id(state.sets.reward.own)} <= near
    assert {id(state.sets.reward.target), id(work.bounds.lead)} <= near, "what is looked up first is waited for longest"
    assert id(state.sets.reward.value) not in near, "it is the first to go where there is no room for all"


@pytest.mark.parametrize("arms", [4, 9, 40])
def test_the_near_memory_of_a_thread_is_bounded_and_odd(arms: int) -> None:
    run = new_run(sf.SafeGap(), sf.worlds.sphere(arms=arms, dim=3))
    assert near_words(*run) % 2 == 1
    assert near_words(*run) <= MOST_NEAR


def test_a_small_state_leaves_most_of_the_near_memory_to_the_cache() -> None:
    """There, and there alone, the cache has room for what all runs read."""
    small, other = new_run(sf.SafeLinGapE(), sf.worlds.hard()), new_run(sf.SafeGap(), sf.worlds.hard())
    assert is_small(*small)
    assert not is_small(*other)
    assert near_words(*small) <= NEAR_OF_SMALL
    constants = (np.zeros(MOST_CONSTANTS - 1), 1.0)
    assert near_constants(constants, *small) == 0
    assert near_constants(constants, *other) == MOST_CONSTANTS
    assert near_constants((*constants, 1.0), *other) == 0, "all of them, or none"


def test_what_lies_near_leaves_room_for_whole_blocks_on_a_multiprocessor() -> None:
    """228 KiB of it, of which the driver takes one for each block."""
    small, others = WORD * OF_SMALL[0] * NEAR_OF_SMALL, WORD * (OF_OTHERS[0] * MOST_NEAR + MOST_CONSTANTS)
    assert 3 * (small + 1024) <= 164 * 1024, "a share that leaves 92 KiB to the cache"
    assert 4 * (others + 1024) <= 228 * 1024


def new_run(policy: sf.policies.Policy, world: sf.worlds.Linear) -> tuple[Any, Any]:
    """State and room of a run of it."""
    run = faced(policy, world.default_problem())
    return run.new_state(), run.new_work()


def test_a_run_that_is_set_aside_comes_back_as_it_was(found: Faced) -> None:
    state, rng = found.new_state(), np.random.default_rng(1)
    own = (state, found.new_work(), sf.worlds.hard().response().room, np.zeros(1, np.int64))
    access = simulated((found.inst,), own, new_records(1, 4))
    held, other = state[:-1], found.new_state()[:-1]
    for array in arrays_in(held):
        array[...] = rng.integers(1, 9, array.shape)
    rows = 3
    saved = np.zeros(rows * sum(array.size for array in arrays_in(held)), np.int64)
    access.save(saved, rows, 1, held)
    access.load(saved, rows, 1, other)
    assert np.array_equal(packed(held), packed(other))
    assert not saved[::rows].any(), "another run's row was written"


def test_what_all_runs_read_is_opened_as_it_was_packed(found: Faced) -> None:
    shared = (found.inst, found.plan.rules)
    own = (found.new_state(), found.new_work(), (), np.zeros(1, np.int64))
    opened = simulated(shared, own, new_records(1, 4)).shared(packed(shared))
    assert np.array_equal(opened[0].X, found.inst.X)
    assert opened[0].epsilon == found.inst.epsilon
    assert opened[1].null_pull == found.plan.rules.null_pull
