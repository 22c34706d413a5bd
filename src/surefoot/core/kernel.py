"""Compilation: the one file that knows numba.

A function marked `@kernel` is plain Python that becomes part of compiled code; `entry` makes one callable from Python.
With SUREFOOT_INTERPRET=1 in the environment nothing is compiled and the very same source runs in the interpreter,
for debugging and for parity tests. Kernels are compiled without numba's memory runtime: one that allocates does not
compile.

Compiled code is kept on disk between processes. Numba's own cache looks only at the file of the function it stores
and would not notice a changed formula in another file; here the cache folder is named by a digest of every source
file that can hold a kernel, of the versions that compile it, and of the CPU, so a stale kernel cannot be found.
"""

import hashlib
import os
import struct
import sys
import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import LazyLoader, find_spec, module_from_spec
from pathlib import Path
from threading import Lock, get_ident
from types import FunctionType
from typing import Any, TypeVar

INTERPRETED = os.environ.get("SUREFOOT_INTERPRET", "") not in ("", "0")

Function = TypeVar("Function", bound=Callable[..., Any])


def put_off(name: str) -> None:
    """Makes a module load when something in it is first used, and not when it is imported."""
    spec = find_spec(name)
    if name in sys.modules or spec is None or spec.loader is None:
        return
    loader = LazyLoader(spec.loader)
    spec.loader = loader
    module = module_from_spec(spec)
    sys.modules[name] = module
    loader.exec_module(module)
    parent, _, child = name.rpartition(".")
    setattr(sys.modules[parent], child, module)


if INTERPRETED:
    MASK = (1 << 64) - 1

    def u64(value: int) -> int:
        """The value as an unsigned 64-bit word, wrapped around."""
        return int(value) & MASK

    def high_word(a: int, b: int) -> int:
        """The upper 64 bits of the 128-bit product a * b."""
        return (int(a) * int(b)) >> 64

    def float_bits(x: float) -> int:
        """The 64 bits of a floating-point number, as a whole number."""
        return int(struct.unpack("<q", struct.pack("<d", x))[0])

    def float_of_bits(bits: int) -> float:
        """The floating-point number with these 64 bits."""
        return float(struct.unpack("<d", struct.pack("<q", bits))[0])

else:
    import numpy as np
    from llvmlite import binding, ir
    from numba.core.registry import CPUDispatcher
    from numba.extending import intrinsic

    put_off("numpy.f2py")  # a Fortran compiler's front end that numba loads through scipy and never uses: 0.1 s
    numba: Any = import_module("numba")  # its stubs do not know the options used here
    u64 = np.uint64  # type: ignore[assignment]
    # Never fastmath: it would break parity with the interpreter. Division by zero is guarded in the source.
    OPTIONS = {"nogil": True, "_nrt": False, "error_model": "numpy"}

    @intrinsic  # type: ignore[misc, unused-ignore]
    def high_word(typing_context: Any, a: Any, b: Any) -> Any:
        """The upper 64 bits of the 128-bit product a * b: one machine instruction that numba does not offer."""

        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            wide = ir.IntType(128)
            product = builder.mul(builder.zext(args[0], wide), builder.zext(args[1], wide))
            return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), ir.IntType(64))

        return numba.types.uint64(numba.types.uint64, numba.types.uint64), build

    @intrinsic  # type: ignore[misc, unused-ignore]
    def float_bits(typing_context: Any, x: Any) -> Any:
        """The 64 bits of a floating-point number, as a whole number."""

        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.bitcast(args[0], ir.IntType(64))

        return numba.types.int64(numba.types.float64), build

    @intrinsic  # type: ignore[misc, unused-ignore]
    def float_of_bits(typing_context: Any, bits: Any) -> Any:
        """The floating-point number with these 64 bits."""

        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.bitcast(args[0], ir.DoubleType())

        return numba.types.float64(numba.types.int64), build

    class Part(CPUDispatcher):
        """A compiled function without the wrapper that Python would need to call it: half the time to compile."""

        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            raise TypeError(f"{self.py_func.__name__} is a part of compiled code: call entry({self.py_func.__name__})")

    def part(function: Any, **options: Any) -> Any:
        """The function as a part that other compiled functions call."""
        compiled = numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, **options, **OPTIONS)(function)
        compiled.__class__ = Part
        return compiled


def kernel(function: Function) -> Function:
    """The function as a part of compiled code: always inlined, since passing its arguments would cost more."""
    if INTERPRETED:
        return function
    inlined: Function = part(function, forceinline=True)
    return inlined


def rare(function: Function) -> Function:
    """The function as a part of compiled code that seldom runs: kept out of line, so that the hot loop stays small."""
    if INTERPRETED:
        return function
    apart: Function = part(function)
    return apart


def entry(function: Any) -> Any:
    """The kernel as something that Python can call, compiled on first use and kept on disk."""
    if INTERPRETED:
        return function
    source = getattr(function, "py_func", function)
    folder = _cache_folder()
    if folder is None:
        return numba.njit(**OPTIONS)(source)
    with _one_at_a_time:
        before = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = str(folder)  # read when the cache is attached, that is now
        try:
            return numba.njit(cache=True, **OPTIONS)(source)
        finally:
            numba.config.CACHE_DIR = before


def specialise(template: Callable[..., Any], name: str, **parts: Any) -> Any:
    """The template compiled with its global names `parts` bound to other kernels, under a name of its own.

    Numba resolves globals at compile time, so each policy gets one run loop with its own decision inlined, from one
    source. The name keeps the compiled forms apart in the cache.
    """
    bound = FunctionType(template.__code__, {**template.__globals__, **parts}, f"{template.__name__}_{name}")
    bound.__qualname__ = bound.__name__
    bound.__module__ = template.__module__
    bound.__doc__ = template.__doc__
    return entry(bound)


def cache_root() -> Path:
    """The folder that holds compiled code: SUREFOOT_CACHE, or `surefoot` in the user's cache folder."""
    if chosen := os.environ.get("SUREFOOT_CACHE"):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "surefoot"


def source_digest() -> str:
    """A digest of everything that compiled code depends on."""
    digest = hashlib.sha256()
    package = Path(__file__).parent.parent
    for folder in ("core", "sets", "policies"):
        for path in sorted((package / folder).glob("*.py")):
            digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    digest.update(f"{sys.version} {numba.__version__} {np.__version__} {binding.llvm_version_info}".encode())
    digest.update(f"{binding.get_host_cpu_name()} {package}".encode())
    return digest.hexdigest()[:20]


_one_at_a_time = Lock()  # the folder is a setting of the whole process
_digest_at_start = "" if INTERPRETED else source_digest()


def _cache_folder() -> Path | None:
    """The folder for this very source, or None where nothing can be kept, and every process compiles anew.

    Nothing is kept either when a source has changed since this process began: what it has loaded may be the old
    text or the new one.
    """
    if source_digest() != _digest_at_start:
        return None
    folder = cache_root() / f"kernels-{_digest_at_start}"
    try:
        if not folder.is_dir():
            folder.mkdir(parents=True, exist_ok=True)
            _forget_old_folders(folder)
        probe = folder / f".probe-{os.getpid()}-{get_ident()}"
        probe.touch()
        probe.unlink()
    except OSError:
        return None
    return folder


def _forget_old_folders(current: Path, days: float = 30.0) -> None:
    """Removes compiled code of other versions that nobody has touched for a month."""
    import shutil

    for other in current.parent.glob("kernels-*"):
        try:
            if other != current and time.time() - other.stat().st_mtime > days * 86_400:
                shutil.rmtree(other, ignore_errors=True)
        except OSError:
            continue  # another process was faster
