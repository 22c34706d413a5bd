"""Many runs on a GPU: launches, one pause after the other, until every run has ended."""

from importlib import import_module
from typing import Any

import numpy as np

from surefoot.core.compiler import Announce
from surefoot.core.device import Code, Trees, code_for, is_simulated, simulated_kernel, toolkit
from surefoot.core.device_memory import WORD, arrays_in, map_leaves, packed, starts_of
from surefoot.core.kernel import Parts
from surefoot.core.layout import leaves
from surefoot.core.loop import NEVER
from surefoot.core.records import Records
from surefoot.core.types import Indices

FIRST_PAUSE = 100  # its round
LATER, MUCH_LATER = 1.12, 2.0  # when the next pause comes: while runs end, and while less than FEW of them do
FEW = 0.01
MOST_RUNS = 1 << 20  # in one piece
MOST_OWN = 480_000  # bytes that a thread may have of its own; devices allow 512 KiB
SHARE = 0.6  # of the memory that is free on the device


class DevicePlay:
    """A policy in a world on the device. `seconds` is the time that the device has computed for it."""

    def __init__(self, parts: Parts, trees: Trees, label: str, announce: Announce) -> None:
        self._trees, self._cuda = trees, toolkit()
        self._words = self._cuda.to_device(packed(trees.shared))
        self._simulated = is_simulated()
        self.seconds = 0.0
        if self._simulated:
            self._kernel = simulated_kernel(parts, trees)
        else:
            capability = tuple(self._cuda.get_current_device().compute_capability)[:2]
            self._code = code_for(parts, trees, capability, label, announce)
            self._kernel, self._stream = loaded(self._code)

    @property
    def largest_piece(self) -> int:
        """How many runs the device has room for at a time."""
        if self._simulated:
            return MOST_RUNS
        free = int(self._cuda.current_context().get_memory_info()[0])
        return max(1, min(MOST_RUNS, int(SHARE * free) // (WORD * (self._saved + self._kept + 2))))

    @property
    def _saved(self) -> int:
        """Words of a run that is set aside."""
        return sum(leaf.size for leaf in arrays_in((self._trees.own[0][:-1], self._trees.own[2])))

    @property
    def _kept(self) -> int:
        """Words of a record."""
        return sum(leaf.size for leaf in leaves(self._trees.row))

    def __call__(self, seed: int, first_run: int, runs: int, max_pulls: int) -> Records:
        """The records of so many runs."""
        cuda = self._cuda
        table = cuda.to_device(np.zeros(self._kept * runs, np.int64))
        saved = cuda.device_array(self._saved * runs, np.int64)
        queues = [cuda.to_device(np.zeros(runs + 1, np.int64)) for _ in range(2)]
        waiting, pause, begins = runs, float(FIRST_PAUSE), 1
        while waiting > 0:
            queue, following = queues
            following[:1].copy_to_device(np.zeros(1, np.int64))
            last = min(int(pause), NEVER)
            numbers = (runs, waiting, begins, seed, first_run, max_pulls, last)
            self._launch(waiting, (self._words, table, saved, queue, following), numbers)
            left = int(following[:1].copy_to_host()[0])
            pause *= LATER if waiting - left >= FEW * waiting else MUCH_LATER
            waiting, begins = left, 0
            queues.reverse()
        return records_of(table.copy_to_host(), self._trees.row, runs)

    def _launch(self, waiting: int, arrays: tuple[Any, ...], numbers: tuple[int, ...]) -> None:
        """One launch, from its begin to its end."""
        if self._simulated:
            threads = 4  # each is one of the operating system's
            self._kernel[-(-waiting // threads), threads](*arrays, *numbers)
            return
        core: Any = import_module("cuda.core")
        self._cuda.synchronize()
        threads, timed = self._code.threads, core.EventOptions(timing_enabled=True)
        blocks = core.LaunchConfig(grid=-(-waiting // threads), block=threads, shmem_size=near_bytes(self._code))
        pointers = [each.__cuda_array_interface__["data"][0] for each in arrays]
        begun = self._stream.record(options=timed)
        core.launch(self._stream, blocks, self._kernel, *pointers, *(np.int64(number) for number in numbers))
        ended = self._stream.record(options=timed)
        ended.sync()
        self.seconds += (ended - begun) / 1000.0


def loaded(code: Code) -> tuple[Any, Any]:
    """The kernel on the current device, and a stream to launch it in."""
    core: Any = import_module("cuda.core")
    driver: Any = import_module("cuda.bindings.driver")
    device = core.Device()
    device.set_current()
    kernel = core.ObjectCode.from_cubin(code.binary).get_kernel(code.entry)
    most = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    (problem,) = driver.cuKernelSetAttribute(most, near_bytes(code), kernel.handle, driver.CUdevice(0))
    if int(problem) != 0:
        raise RuntimeError(f"the device refuses {near_bytes(code)} bytes of shared memory: {problem}")
    return kernel, device.create_stream()


def near_bytes(code: Code) -> int:
    """The memory that a block shares."""
    return code.constants + code.threads * code.near


def records_of(table: Indices, row: Records, runs: int) -> Records:
    """The table that all runs have filled, as records."""
    places = iter(starts_of(row))

    def column(leaf: Any) -> Any:
        start = next(places) * runs
        return table[start : start + runs * leaf.size].view(leaf.dtype).reshape(runs, *leaf.shape[1:])

    found: Records = map_leaves(row, column)
    return found
