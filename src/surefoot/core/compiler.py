"""Compilation: with `linking` all that knows numba, loaded when something is compiled for the first time.

Kernels are compiled without numba's memory runtime: one that allocates does not compile. Never fastmath, which would
break parity with the interpreter.

Compiled code is kept on disk between processes: the folder is named by our source (`kernel_cache`), and each loop in it
by a digest of what is bound into it, foreign code included (`kernel_content`), so a stale kernel cannot be found.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from surefoot.core.kernel import (
    APART,
    INLINED,
    MACHINE,
    MARK,
    THIN,
    Parts,
    asked_by,
    calls,
    is_kernel,
    part_for,
    with_globals,
)
from surefoot.core.kernel_cache import cache_folder, only_one
from surefoot.core.kernel_content import digest_of
from surefoot.core.locks import Lock

Announce = Callable[[str, int], AbstractContextManager[Callable[[], None]]]
HOW: dict[str, dict[str, Any]] = {INLINED: {"forceinline": True}, APART: {}, THIN: {"inline": "always"}}
OPTIONS = {"nogil": True, "_nrt": False, "error_model": "numpy"}  # division by zero is guarded in the source


class Entry:
    """Compiled code that Python can call. It is compiled, or read from disk, when it is first called."""

    def __init__(self, dispatcher: Any, label: str, parts: int, folder: Path | None, announce: Announce) -> None:
        self.__name__ = dispatcher.py_func.__name__
        self._dispatcher, self._label, self._parts = dispatcher, label, parts
        self._folder, self._announce = folder, announce
        self._ready, self._lock = False, Lock()

    def __call__(self, *args: Any) -> Any:
        if self._ready:
            return self._dispatcher(*args)
        with self._lock:
            result = self._first(*args)
            self._ready = True
        return result

    @property
    def stored(self) -> bool:
        """Whether it is on disk, or compiled already: the first call will not take long."""
        found = self._folder is not None and any(self._folder.rglob(f"*{self.__name__}-*.nbc"))
        return self._ready or found

    def unchecked(self) -> Callable[..., Any]:
        """The same once it was called, for one who always passes what was passed then: nobody looks at types any more.

        Of what a call costs, looking at the types of nested tuples is nine tenths.
        """
        forms = list(self._dispatcher.overloads.values())
        return forms[0].entry_point if len(forms) == 1 else self

    def _first(self, *args: Any) -> Any:
        """The first call, announced if it takes long."""
        try:
            if not self.stored:
                with self._announce(self._label, self._parts) as advance, _linking().counted(advance):
                    self._compile(args)
            return self._dispatcher(*args)
        except OSError:
            raise  # the disk, and not the source
        except Exception as error:  # kernels raise nothing; the compiler raises anything
            detail = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise TypeError(
                f"{self._label} cannot be compiled ({detail}). A function marked @kernel may use numbers, arrays and "
                "other kernels only; leave the mark off and it runs in the interpreter."
            ) from error

    def _compile(self, args: tuple[Any, ...]) -> None:
        """Compiles it for these arguments, or waits for another process that does, and reads what that has stored."""
        types, linking = tuple(self._dispatcher.typeof_pyval(arg) for arg in args), _linking()
        with only_one(self._folder, self.__name__), linking.kept_in(self._folder), linking.seldom_tidied():
            self._dispatcher.compile(types)


def compiled(
    template: Callable[..., Any], parts: Parts, label: str, announce: Announce | None = None, tuples: Any = (),
    short: bool = False,
) -> Entry:  # fmt: skip
    """The template as compiled code with the parts bound in, all of them kernels, to be called with these tuples;
    `short` where its loops go over a few arms only."""
    reached = reachable(template, parts)
    with _binding:
        digest = digest_of(reached, parts, tuples)
        key = (digest, short, *reached)
        if key not in _entries:
            source = _bound(template, parts)
            source.__name__ = source.__qualname__ = f"{template.__name__}_{digest}" + ("_short" if short else "")
            setattr(source, _linking().SHORT, short)
            folder = cache_folder() if digest else None
            _entries[key] = Entry(_entry(source, folder), label, len(reached), folder, announce or _silent)
        return _entries[key]


def mixed(
    template: Callable[..., Any], parts: Parts, label: str, announce: Announce | None = None, tuples: Any = ()
) -> Any:
    """The template for the interpreter, its kernels compiled: not those that ask a part in plain Python, nor thin ones,
    which are short and may return part of an array."""
    done: dict[Callable[..., Any], Callable[..., Any]] = {}

    def bound(function: Callable[..., Any]) -> Any:
        function = part_for(function, parts)
        if not isinstance(function, FunctionType) or hasattr(function, MACHINE):
            return function
        called_apart = getattr(function, MARK, THIN) != THIN
        if called_apart and all(is_kernel(each) for each in asked_for(function, parts)):
            return compiled(function, parts, label, announce, tuples)
        if function not in done:
            copy = done[function] = with_globals(function, {})
            copy.__globals__.update({name: bound(each) for name, each in asked_by(function).items()})
        return done[function]

    return bound(template)


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


def asked_for(function: Callable[..., Any], parts: Parts) -> list[Callable[..., Any]]:
    """What the function calls, and what that calls, each with its part in its place."""
    return [part_for(each, parts) for caller in reachable(function, parts) for each in calls(caller).values()]


# -- parts ------------------------------------------------------------------------------------------------------------


@cache
def _numba() -> Any:
    """Numba, once it is needed."""
    found = import_module("numba")  # its stubs do not know the options used here
    with _unloaded("scipy.linalg.cython_blas"):
        import_module("numba.np.arraymath")
    return found


def _linking() -> Any:
    """How parts are put together, which needs numba."""
    _numba()
    return import_module("surefoot.core.linking")


def _instructions() -> dict[str, Any]:
    """What stands for a machine instruction, which needs numba."""
    _numba()
    found: dict[str, Any] = import_module("surefoot.core.instructions").INSTRUCTIONS
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


_entries: dict[tuple[Any, ...], Entry] = {}
_parts: dict[tuple[Any, ...], Any] = {}  # a part is compiled once for all loops that share it
_binding = Lock()
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
        reached = reachable(function, parts)
        digest = digest_of(reached, parts)
        key = (digest, *reached)
        if key not in _parts:
            options = OPTIONS | HOW[getattr(function, MARK, APART)]
            options |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": _linking().PartCompiler}
            compiled = _numba().njit(**options)(_bound(function, parts))
            compiled.__class__ = _linking().Part
            compiled.made_of(digest)
            _parts[key] = compiled
        return _parts[key]


def _entry(source: FunctionType, folder: Path | None) -> Any:
    """The function as something that Python can call, kept on disk where that is possible."""
    numba, options = _numba(), OPTIONS | {"no_cfunc_wrapper": True, "pipeline_class": _linking().LoopCompiler}
    if folder is None:
        return numba.njit(**options)(source)
    with _one_at_a_time:
        before = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = str(folder)  # read when the cache is attached, that is now
        try:
            return numba.njit(cache=True, **options)(source)
        finally:
            numba.config.CACHE_DIR = before


# -- while it lasts ---------------------------------------------------------------------------------------------------


def _silent(label: str, parts: int) -> AbstractContextManager[Callable[[], None]]:
    """Says nothing."""
    return nullcontext(lambda: None)
