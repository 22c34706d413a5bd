"""The same source for a GPU: a run of `core.loop` in each thread, bound and compiled by numba-cuda.

A thread plays its run up to a round at which all pause; those that have not ended are then taken up by threads that lie
side by side again, so none waits long for the longest run of its neighbours. Products and sums are never fused: the
numbers are the CPU's to the last digit.
"""

import re
import sys
from collections.abc import Callable
from hashlib import sha256
from importlib import import_module
from importlib.metadata import version
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from surefoot.core.compiler import Announce, reachable
from surefoot.core.device_instructions import access, is_known, numba_parts
from surefoot.core.device_memory import WORD, Access, arrays_in, is_small, near_constants, near_words, simulated
from surefoot.core.kernel import APART, INLINED, MACHINE, MARK, THIN, Parts, calls, part_for, plain, with_globals
from surefoot.core.kernel_cache import cache_folder
from surefoot.core.kernel_content import digest_of
from surefoot.core.layout import leaves
from surefoot.core.learn import begin
from surefoot.core.locks import Lock
from surefoot.core.loop import play_on
from surefoot.core.state import empty_state

HOW: dict[str, dict[str, Any]] = {INLINED: {"forceinline": True}, APART: {}, THIN: {"inline": "always"}}
# How many threads of a block, and registers of a thread, where the state of a run is small; and where it is not.
OF_SMALL, OF_OTHERS = (128, 168), (64, 255)
NAME = "play_runs"
GIVEN_UP, ASKS = "row_stack", "numba.cuda.np.arrayobj"  # by numpy 2.5; who asks for it


class Trees(NamedTuple):
    """Tuples that show what a kernel works on; of the arrays of the last two only the shapes and first values count."""

    shared: Any  # (instance, rules, truth, watch)
    own: Any  # (state, work, room, cancel)
    row: Any  # the record of one run


class Code(NamedTuple):
    """A kernel as machine code for one kind of GPU."""

    binary: bytes
    entry: str  # its name in there
    threads: int  # in a block
    near: int  # bytes of shared memory for each
    constants: int  # bytes of it for all of them together


def play_runs(
    words: Any, table: Any, saved: Any, queue: Any, following: Any, rows: int, waiting: int, begins: int, seed: int,
    first_run: int, max_pulls: int, pause: int,
) -> None:  # fmt: skip
    """Every waiting run, up to the round of the pause; those that have not ended are put into the following queue.

    The first word of a queue is the number of rows in it. A first launch has none, and begins all runs.
    """
    place, words = cuda.grid(1), brought(words)
    if place < waiting:
        row = place if begins == 1 else queue[1 + place]
        inst, rules, truth, watch = shared(words)
        state, work, room, cancel = own()
        if begins == 1:
            begin(inst, state, work)
        else:
            load(saved, rows, row, (state.estimate, state.levels, state.sets, state.own, state.clock, room))
        records, run = row_of(table, rows, row), first_run + row
        if not play_on(
            inst, rules, truth, room, watch, seed, run, max_pulls, pause, state, work, records, 0, cancel
        ):  # fmt: skip
            save(saved, rows, row, (state.estimate, state.levels, state.sets, state.own, state.clock, room))
            following[1 + next_place(following)] = row


def unbound(*arguments: Any) -> Any:
    """What the names are bound to that the kernel calls, until they are bound to its own functions."""
    raise TypeError("a kernel runs on a device, with its parts bound in")


cuda: Any = None
brought = shared = own = row_of = save = load = next_place = unbound


def toolkit() -> Any:
    """numba-cuda, loaded. Version 0.30 asks numpy for a name that it has given up."""
    if hasattr(np, GIVEN_UP) or ASKS in sys.modules:
        return import_module("numba.cuda")
    setattr(np, GIVEN_UP, np.vstack)
    try:
        found = import_module("numba.cuda")
        if "simulator" not in found.jit.__module__:
            import_module(ASKS)
        return found
    finally:
        delattr(np, GIVEN_UP)


def is_simulated() -> bool:
    """Whether numba-cuda only simulates a device (NUMBA_ENABLE_CUDASIM=1)."""
    return "simulator" in toolkit().jit.__module__


def simulated_kernel(parts: Parts, trees: Trees) -> Any:
    """The kernel for numba-cuda's simulator, in plain Python."""
    one_at_a_time = Lock()

    def next_place(queue: Any) -> int:
        with one_at_a_time:
            queue[0] += 1
            return int(queue[0]) - 1

    names = {
        "play_on": plain(play_on, parts),
        "begin": plain(begin, parts),
        "cuda": toolkit(),
        "next_place": next_place,
    }
    return toolkit().jit(with_globals(play_runs, names | named(simulated(*trees))))


def named(found: Access) -> dict[str, Any]:
    """The names by which the kernel calls what gets at its arrays."""
    return {
        "brought": found.brought, "shared": found.shared, "own": found.own, "row_of": found.row, "save": found.save,
        "load": found.load,
    }  # fmt: skip


def code_for(parts: Parts, trees: Trees, capability: tuple[int, int], label: str, announce: Announce) -> Code:
    """The kernel for a kind of GPU: compiled, or read from disk."""
    reached = [*reachable(play_on, parts), *reachable(begin, parts)]
    digest, folder = digest_of(reached, parts, trees), cache_folder()
    near, constants = near_words(*trees.own[:2]), WORD * near_constants(trees.shared, *trees.own[:2])
    threads, registers = OF_SMALL if is_small(*trees.own[:2]) else OF_OTHERS
    tools = " ".join(version(package) for package in ("numba-cuda", "cuda-bindings"))
    content = f"{digest} {described(trees)} {capability} {tools} {registers}"
    place = folder / f"gpu-{sha256(content.encode()).hexdigest()[:24]}.cubin" if digest and folder else None
    if place is not None and place.is_file():
        binary = place.read_bytes()
    else:
        with announce(label, len(reached)):
            binary = linked(intermediate(parts, trees, capability), capability, registers)
        if place is not None:
            partial = place.with_suffix(f".{id(binary)}")
            partial.write_bytes(binary)
            partial.replace(place)
    found = re.search(rb"\.text\.(\w*" + NAME.encode() + rb"\w*)", binary)
    if found is None:
        raise RuntimeError("the linker left the kernel out")
    return Code(binary, found[1].decode(), threads, WORD * near, constants)


def described(trees: Trees) -> str:
    """What a kernel knows of the tuples: their types, their shapes, the numbers that choose, and the first values."""
    words = [repr(leaf) if is_known(leaf) else f"{type(leaf).__name__}{np.shape(leaf)}" for leaf in leaves(trees)]
    words += [repr(leaf.tolist()) for leaf in arrays_in(trees.own[1:]) if leaf.any()]
    return " ".join(words)


def intermediate(parts: Parts, trees: Trees, capability: tuple[int, int]) -> bytes:
    """The kernel in the linker's language."""
    numba_cuda = toolkit()
    types = numba_parts()[0]
    found = access(*trees)
    bound = binder(parts, found)
    names = {"play_on": bound(play_on), "begin": bound(begin), "cuda": numba_cuda, "next_place": queueing()}
    source = with_globals(play_runs, names | named(found))
    words, whole = types.CPointer(types.int64), types.int64
    signature = types.void(*[words] * 5, *[whole] * 7)
    code, _ = numba_cuda.compile(source, signature, device=False, abi="numba", cc=capability, output="ltoir")
    return bytes(code)


def linked(code: bytes, capability: tuple[int, int], registers: int) -> bytes:
    """The machine code, optimised as a whole; products and sums stay apart."""
    linker: Any = import_module("cuda.bindings.nvjitlink")
    options = [f"-arch=sm_{capability[0]}{capability[1]}", "-lto", "-fma=0", f"-maxrregcount={registers}"]
    handle = linker.create(len(options), options)
    try:
        linker.add_data(handle, linker.InputType.LTOIR, code, len(code), NAME)
        linker.complete(handle)
        binary = bytearray(linker.get_linked_cubin_size(handle))
        linker.get_linked_cubin(handle, binary)
    finally:
        linker.destroy(handle)
    return bytes(binary)


# -- parts ------------------------------------------------------------------------------------------------------------


def binder(parts: Parts, found: Access) -> Callable[[Callable[..., Any]], Any]:
    """What turns a kernel into a function on the device, with the parts bound in."""
    jit, machine = toolkit().jit, instructions()
    done: dict[Callable[..., Any], Any] = {}
    builtin = {each.__name__.strip("_"): jit(device=True, forceinline=True)(each) for each in (max_, min_)}

    def bound(function: Callable[..., Any]) -> Any:
        function = part_for(function, parts)
        if function is empty_state:
            return found.empty
        if hasattr(function, MACHINE):
            return machine[getattr(function, MACHINE)]
        if function not in done:
            named = {name: bound(each) for name, each in calls(_source(function)).items()}
            copy = with_globals(function, builtin | named)
            done[function] = jit(device=True, **HOW[getattr(function, MARK, APART)])(copy)
        return done[function]

    return bound


def _source(function: Callable[..., Any]) -> FunctionType:
    if not isinstance(function, FunctionType):
        raise TypeError(f"{function!r} is no function that can be compiled")
    return function


def max_(a: Any, b: Any) -> Any:
    """What Python says: the device's own would take any number for larger than one that is not a number."""
    return b if b > a else a


def min_(a: Any, b: Any) -> Any:
    """The same for the smaller one."""
    return b if b < a else a


def instructions() -> dict[str, Any]:
    """What the device has an instruction for and numba-cuda does not offer."""
    from llvmlite import ir

    types, _, intrinsic, _ = numba_parts()
    real, whole, word, bits = types.float64, types.int64, types.uint64, ir.IntType(64)

    @intrinsic  # type: ignore[untyped-decorator, unused-ignore]
    def high_word(typing_context: Any, a: Any, b: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            wide = ir.IntType(128)
            product = builder.mul(builder.zext(args[0], wide), builder.zext(args[1], wide))
            return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), bits)

        return word(word, word), build

    @intrinsic  # type: ignore[untyped-decorator, unused-ignore]
    def float_bits(typing_context: Any, x: Any) -> Any:
        return whole(real), lambda context, builder, signature, args: builder.bitcast(args[0], bits)

    @intrinsic  # type: ignore[untyped-decorator, unused-ignore]
    def float_of_bits(typing_context: Any, x: Any) -> Any:
        return real(whole), lambda context, builder, signature, args: builder.bitcast(args[0], ir.DoubleType())

    return {"u64": np.uint64, "high_word": high_word, "float_bits": float_bits, "float_of_bits": float_of_bits}


def queueing() -> Any:
    """What takes the next free place in a queue, whose first word counts."""
    from llvmlite import ir

    types, _, intrinsic, _ = numba_parts()

    @intrinsic  # type: ignore[untyped-decorator, unused-ignore]
    def next_place(typing_context: Any, queue: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.atomic_rmw("add", args[0], ir.Constant(ir.IntType(64), 1), "monotonic")

        return types.int64(types.CPointer(types.int64)), build

    return next_place
