"""Simulations on a GPU: whether there is one, and the runs in pieces that fit into its memory."""

from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.core.kernel import is_kernel
from surefoot.core.parts import Response, Watch
from surefoot.core.records import Records, new_records
from surefoot.errors import InvalidInput, MissingExtra
from surefoot.policies.bound import Announce, Faced, played_parts

if TYPE_CHECKING:
    from surefoot.core.device_play import DevicePlay

CPU, CUDA = "cpu", "cuda"
ON_THE_CPU = "Leave device away, and the runs are played on the CPU."


def check_device(device: object, alarm: object = False) -> str:
    """The device, if there is one of that name here that can do what is asked."""
    if device == CPU:
        return CPU
    if device != CUDA:
        raise InvalidInput("device", device, "must be 'cpu' or 'cuda'", "Use 'cuda' for an NVIDIA GPU.")
    if alarm is not None and alarm is not False:
        raise InvalidInput("alarm", alarm, "is not watched on a GPU", "Leave alarm away, or play on the CPU.")
    if find_spec("numba_cuda") is None:
        raise MissingExtra("numba-cuda", "cuda")
    from surefoot.core.device import toolkit

    if not toolkit().is_available():
        raise InvalidInput("device", device, "finds no NVIDIA GPU with a driver on this machine", ON_THE_CPU)
    return CUDA


def device_play(found: Faced, response: Response, watch: Watch, announce: Announce) -> "DevicePlay":
    """The policy in the world, compiled for the GPU."""
    from surefoot.core.device import Trees
    from surefoot.core.device_memory import arrays_in
    from surefoot.core.device_play import MOST_OWN, DevicePlay

    parts = played_parts(found, response, watch)
    foreign = [name for name, part in parts.items() if not is_kernel(part)]
    if foreign:
        reason = f"cannot run {found.name}: {', '.join(foreign)} is plain Python"
        raise InvalidInput("device", CUDA, reason, f"Mark it with @surefoot.kernel. {ON_THE_CPU}")
    none = np.zeros(1, np.int64)
    state = found.new_state()._replace(whole=none)
    own: Any = (state, found.new_work(), response.room, np.zeros(1, np.int64))
    needed = sum(leaf.nbytes for leaf in arrays_in(own))
    if needed > MOST_OWN:
        reason = f"has {MOST_OWN:,} bytes for a run, and {len(found.inst.X):,} arms need {needed:,}"
        raise InvalidInput("device", CUDA, reason, f"Take fewer arms. {ON_THE_CPU}")
    inst = found.inst._replace(X=np.ascontiguousarray(found.inst.X))  # a device reads arm by arm, however many
    trees = Trees((inst, found.plan.rules, response.truth, watch.new()), own, new_records(1, len(inst.X)))
    try:
        return DevicePlay(parts, trees, f"{found.name} for the GPU", announce)
    except (ImportError, OSError, RuntimeError) as error:
        detail = (str(error).strip() or type(error).__name__).splitlines()[0]
        remedy = f"Install what compiles for it: pip install 'surefoot[cuda]'. {ON_THE_CPU}"
        raise InvalidInput("device", CUDA, f"cannot be used ({detail})", remedy) from error


def device_chunks(
    play: "DevicePlay", seed: int, max_pulls: int, first_run: int, runs: int
) -> Iterator[tuple[int, Records]]:
    """The records of one piece after the other; ends early, in peace, on Ctrl-C."""
    done = 0
    try:
        while done < runs:
            count = min(play.largest_piece, runs - done)
            yield first_run + done, play(seed, first_run + done, count, max_pulls)
            done += count
    except KeyboardInterrupt:
        return
