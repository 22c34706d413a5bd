"""Compilation: the one file that knows numba, loaded when something is compiled for the first time.

Kernels are compiled without numba's memory runtime: one that allocates does not compile. Never fastmath, which would
break parity with the interpreter.

Compiled code is kept on disk between processes: the folder is named by our source (`kernel_cache`), and each loop in it
by a digest of what is bound into it, foreign code included, so a stale kernel cannot be found.
"""

import hashlib
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import Lock, RLock
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from surefoot.core.kernel import (
    APART,
    INLINED,
    MACHINE,
    MARK,
    THIN,
    Parts,
    calls,
    is_kernel,
    names_in,
    part_for,
    with_globals,
)
from surefoot.core.kernel_cache import cache_folder

Announce = Callable[[str, int], AbstractContextManager[Callable[[], None]]]
HOW: dict[str, dict[str, Any]] = {INLINED: {"forceinline": True}, APART: {}, THIN: {"inline": "always"}}
OPTIONS = {"nogil": True, "_nrt": False, "error_model": "numpy"}  # division by zero is guarded in the source


class Entry:
    """Compiled code that Python can call. It is compiled, or read from disk, when it is first called."""

    def __init__(self, dispatcher: Any, label: str, parts: int, stored: Callable[[], bool], announce: Announce) -> None:
        self.__name__ = dispatcher.py_func.__name__
        self._dispatcher, self._label, self._parts = dispatcher, label, parts
        self._stored, self._announce = stored, announce
        self._ready, self._lock = False, RLock()

    def __call__(self, *args: Any) -> Any:
        if self._ready:
            return self._dispatcher(*args)
        with self._lock:
            result = self._first(*args)
            self._ready = True
        return result

    def _first(self, *args: Any) -> Any:
        """The first call, announced if it takes long."""
        numba = _numba()
        known = self._ready or self._stored()
        try:
            if known:
                return self._dispatcher(*args)
            with self._announce(self._label, self._parts) as advance, _counted(advance):
                return self._dispatcher(*args)
        except numba.core.errors.NumbaError as error:
            detail = str(error).strip().splitlines()[0]
            raise TypeError(
                f"{self._label} cannot be compiled ({detail}). A function marked @kernel may use numbers, arrays and "
                "other kernels only; leave the mark off and it runs in the interpreter."
            ) from error


def compiled(template: Callable[..., Any], parts: Parts, label: str, announce: Announce | None = None) -> Entry:
    """The template as compiled code with the parts bound in; all of them must be kernels."""
    reached = reachable(template, parts)
    with _binding:
        key = (label, *reached)
        if key not in _entries:
            source = _bound(template, parts)
            name = source.__name__ = source.__qualname__ = f"{template.__name__}_{slug(label)}_{digest_of(reached)}"
            folder = cache_folder()

            def stored() -> bool:
                return folder is not None and any(folder.rglob(f"*{name}-*.nbi"))

            _entries[key] = Entry(_entry(source, folder), label, len(reached), stored, announce or _silent)
        return _entries[key]


def mixed(template: Callable[..., Any], parts: Parts, label: str, announce: Announce | None = None) -> Any:
    """The template for the interpreter, its kernels compiled: for parts that are plain Python."""
    function = part_for(template, parts)
    if is_kernel(function) and hasattr(function, MARK):
        return compiled(function, parts, label, announce)
    if not isinstance(function, FunctionType):
        return function
    return with_globals(function, {n: mixed(f, parts, label, announce) for n, f in calls(function).items()})


def reachable(function: Callable[..., Any], parts: Parts) -> list[FunctionType]:
    """The function and everything that it calls, each once, in the order of the source."""
    found: dict[FunctionType, None] = {}

    def visit(each: Callable[..., Any]) -> None:
        each = part_for(each, parts)
        if isinstance(each, FunctionType) and each not in found:
            found[each] = None
            for name in sorted(calls(each)):
                visit(calls(each)[name])

    visit(function)
    return list(found)


# -- parts ------------------------------------------------------------------------------------------------------------


@cache
def _numba() -> Any:
    """Numba, once it is needed."""
    found = import_module("numba")  # its stubs do not know the options used here
    with _unloaded("scipy.linalg.cython_blas"):
        import_module("numba.np.arraymath")
    return found


@contextmanager
def _unloaded(name: str) -> Iterator[None]:
    """Inside, who only asks whether there is such a module need not load it.

    Numba asks for BLAS, which our kernels do not use, and scipy.linalg would take as long to load as numba itself.
    Whoever does use it imports it again, and then it is the real one.
    """
    if name in sys.modules or find_spec(name.partition(".")[0]) is None:
        yield
        return
    sys.modules[name] = ModuleType(name)
    try:
        yield
    finally:
        del sys.modules[name]


@cache
def _part_class() -> Any:
    from numba.core.registry import CPUDispatcher

    class Part(CPUDispatcher):  # type: ignore[misc, unused-ignore]
        """A compiled function without the wrapper that Python would need to call it: half the time to compile."""

        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            raise TypeError(f"{self.py_func.__name__} is a part of compiled code")

    return Part


_entries: dict[tuple[Any, ...], Entry] = {}
_parts: dict[tuple[Any, ...], Any] = {}  # a part is compiled once for all loops that share it
_binding = RLock()
_one_at_a_time = Lock()  # the cache folder is a setting of the whole process


def _bound(function: Any, parts: Parts) -> FunctionType:
    """A copy of the function in which every kernel that it names is a compiled part."""
    copy: FunctionType = with_globals(function, {name: _part(each, parts) for name, each in calls(function).items()})
    return copy


def _part(function: Callable[..., Any], parts: Parts) -> Any:
    """The function as a part that other compiled functions call."""
    function = part_for(function, parts)
    if hasattr(function, MACHINE):
        return _instructions()[getattr(function, MACHINE)]
    with _binding:
        key = tuple(reachable(function, parts))
        if key not in _parts:
            options = OPTIONS | HOW[getattr(function, MARK, APART)]
            compiled = _numba().njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, **options)(_bound(function, parts))
            compiled.__class__ = _part_class()
            _parts[key] = compiled
        return _parts[key]


@cache
def _instructions() -> dict[str, Any]:
    """What the compiler has an instruction for and numba does not offer."""
    from llvmlite import ir
    from numba.extending import intrinsic

    numba = _numba()
    real, whole, word = numba.types.float64, numba.types.int64, numba.types.uint64

    @intrinsic  # type: ignore[misc, unused-ignore]
    def high_word(typing_context: Any, a: Any, b: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            wide = ir.IntType(128)
            product = builder.mul(builder.zext(args[0], wide), builder.zext(args[1], wide))
            return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), ir.IntType(64))

        return word(word, word), build

    @intrinsic  # type: ignore[misc, unused-ignore]
    def float_bits(typing_context: Any, x: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.bitcast(args[0], ir.IntType(64))

        return whole(real), build

    @intrinsic  # type: ignore[misc, unused-ignore]
    def float_of_bits(typing_context: Any, bits: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.bitcast(args[0], ir.DoubleType())

        return real(whole), build

    return {"u64": np.uint64, "high_word": high_word, "float_bits": float_bits, "float_of_bits": float_of_bits}


def _entry(source: FunctionType, folder: Path | None) -> Any:
    """The function as something that Python can call, kept on disk where that is possible."""
    numba = _numba()
    if folder is None:
        return numba.njit(**OPTIONS)(source)
    with _one_at_a_time:
        before = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = str(folder)  # read when the cache is attached, that is now
        try:
            return numba.njit(cache=True, **OPTIONS)(source)
        finally:
            numba.config.CACHE_DIR = before


# -- what it is called ------------------------------------------------------------------------------------------------


def slug(label: str) -> str:
    """The label as a part of a function's name."""
    return "".join(each if each.isalnum() else "_" for each in label)


def digest_of(functions: list[FunctionType]) -> str:
    """A digest of what is bound together: our functions by name (their source names the folder), others by content."""
    digest = hashlib.sha256()
    for function in functions:
        digest.update(f"{function.__module__}.{function.__qualname__}\0".encode())
        if not function.__module__.startswith("surefoot."):
            digest.update(content_of(function))
    return digest.hexdigest()[:12]


def content_of(function: FunctionType) -> bytes:
    """Everything that a function's compiled form depends on: its code, and the values that it would freeze."""
    code = function.__code__
    cells = [repr(cell.cell_contents) for cell in function.__closure__ or ()]
    values = {name: function.__globals__.get(name) for name in sorted(names_in(code))}
    frozen = {
        name: value.tobytes() if isinstance(value, np.ndarray) else repr(value)
        for name, value in values.items()
        if isinstance(value, bool | int | float | str | tuple | np.ndarray | np.generic)
    }
    constants = [each for each in code.co_consts if not hasattr(each, "co_code")]
    return repr((code.co_code, constants, code.co_names, code.co_varnames, cells, frozen)).encode()


# -- while it lasts ---------------------------------------------------------------------------------------------------


def _silent(label: str, parts: int) -> AbstractContextManager[Callable[[], None]]:
    """Says nothing."""
    return nullcontext(lambda: None)


def _counted(advance: Callable[[], None]) -> AbstractContextManager[None]:
    """Inside, `advance` is called whenever a part is compiled."""
    from numba.core import event

    class Listener(event.Listener):  # type: ignore[misc, unused-ignore]
        def on_start(self, each: Any) -> None:
            pass

        def on_end(self, each: Any) -> None:
            advance()

    found: AbstractContextManager[None] = event.install_listener("numba:compile", Listener())
    return found
