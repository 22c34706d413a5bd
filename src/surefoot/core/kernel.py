"""Kernels: functions that run as plain Python and, bound into a loop, as compiled code. Nothing here compiles.

`@kernel` and `@rare` only mark a function; what is marked stays plain Python. `@bound_in` marks a name that a policy, a
confidence set or a world fills: its own body only refuses. `plain` binds a loop with its parts for the interpreter,
`core.compiler` does so for the machine, and one process may hold both forms of the same source side by side.
"""

import os
import struct
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dis import get_instructions
from functools import cache
from types import CodeType, FunctionType
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])
Parts = Mapping[str, Callable[..., Any]]

INLINED, APART, THIN = "inlined", "apart", "thin"
MARK, SLOT, MACHINE = "__surefoot_kernel__", "__surefoot_slot__", "__surefoot_machine__"
WORD = (1 << 64) - 1


def kernel(function: Function) -> Function:
    """The function, marked as a part of compiled code: always inlined, since passing its arguments would cost more."""
    setattr(function, MARK, INLINED)
    return function


def rare(function: Function) -> Function:
    """The function, marked as a part of compiled code that seldom runs: kept out of line, so hot loops stay small."""
    setattr(function, MARK, APART)
    return function


def thin(function: Function) -> Function:
    """The function, marked as a kernel of a line or two that is written into its callers before anything is compiled.

    It costs the compiler nothing, and alone may return part of an array: kernels that are called may not.
    """
    setattr(function, MARK, THIN)
    return function


def bound_in(function: Function) -> Function:
    """The function, marked as a name that a part is bound to before anything runs."""
    setattr(function, SLOT, function.__name__)
    return function


def is_kernel(function: object) -> bool:
    """Whether the function can be compiled: it is marked, or stands for a machine instruction."""
    return hasattr(function, MARK) or hasattr(function, MACHINE)


# -- machine words: plain here, single instructions when compiled -----------------------------------------------------


def machine(function: Function) -> Function:
    """The function, marked as one that the compiler has an instruction for."""
    setattr(function, MACHINE, function.__name__)
    return function


@machine
def u64(value: int) -> int:
    """The value as an unsigned 64-bit word, wrapped around."""
    return int(value) & WORD


@machine
def high_word(a: int, b: int) -> int:
    """The upper 64 bits of the 128-bit product a * b."""
    return (int(a) * int(b)) >> 64


@machine
def float_bits(x: float) -> int:
    """The 64 bits of a floating-point number, as a whole number."""
    return int(struct.unpack("<q", struct.pack("<d", x))[0])


@machine
def float_of_bits(bits: int) -> float:
    """The floating-point number with these 64 bits."""
    return float(struct.unpack("<d", struct.pack("<q", bits))[0])


# -- words that several threads share ---------------------------------------------------------------------------------
# Here one thread alone runs: only compiled code lets go of the interpreter's lock.


@machine
def add_shared(words: Any, i: int, number: int) -> int:
    """Adds to words[i] in one go, and returns what it was; what others wrote before their own is seen from then on."""
    before = int(words[i])
    words[i] = before + number
    return before


@machine
def read_shared(words: Any, i: int) -> int:
    """words[i] as it is now; what its writer wrote before is seen from then on."""
    return int(words[i])


@machine
def write_shared(words: Any, i: int, value: int) -> int:
    """The value, in words[i] from now on, and not before all that was written until now."""
    words[i] = value
    return value


@machine
def ring(bell: int, times: int) -> int:
    """Wakes so many who wait at the other end of a pipe; nobody is waited for."""
    try:
        return os.write(bell, bytes(times))
    except BlockingIOError:
        return -1


# -- binding ----------------------------------------------------------------------------------------------------------


def plain(template: Callable[..., Any], parts: Parts) -> Callable[..., Any]:
    """The template for the interpreter, with the parts bound in wherever it, or what it calls, names one."""
    done: dict[Callable[..., Any], Callable[..., Any]] = {}

    def bound(function: Callable[..., Any]) -> Callable[..., Any]:
        function = part_for(function, parts)
        if hasattr(function, MACHINE) or not isinstance(function, FunctionType):
            return function
        if function not in done:
            copy = done[function] = with_globals(function, {})
            copy.__globals__.update({name: bound(each) for name, each in asked_by(function).items()})
        return done[function]

    return bound(template)


def part_for(function: Callable[..., Any], parts: Parts) -> Callable[..., Any]:
    """The part that is bound to this name, or the function itself if it is no name for one."""
    slot = getattr(function, SLOT, None)
    if slot is None:
        return function
    if slot not in parts:
        raise TypeError(f"nothing is bound to {slot!r}: run it through core.loop")
    return parts[slot]


def calls(function: FunctionType) -> dict[str, Callable[..., Any]]:
    """The kernels and slots that the function names, by those names."""
    found = {name: function.__globals__.get(name) for name in names_in(function.__code__)}
    return {name: each for name, each in found.items() if is_kernel(each) or hasattr(each, SLOT)}  # type: ignore[misc]


def asked_by(function: FunctionType) -> dict[str, Callable[..., Any]]:
    """The same and, if the function is plain Python, the plain functions of its own file that it names: what these
    call has to be bound too."""
    if hasattr(function, MARK):
        return calls(function)
    named = {name: function.__globals__.get(name) for name in names_in(function.__code__)}
    own = {name: each for name, each in named.items() if getattr(each, "__globals__", None) is function.__globals__}
    return {**own, **calls(function)}  # type: ignore[dict-item]


@cache
def names_in(code: CodeType) -> frozenset[str]:
    """Every global name that the code, or code inside it, looks up."""
    own = {each.argval for each in get_instructions(code) if each.opname == "LOAD_GLOBAL"}
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    return frozenset(own.union(*(names_in(each) for each in inner)))


def with_globals(function: Any, changed: Mapping[str, Any]) -> Any:
    """A copy of the function that finds these values under these global names; marks stay."""
    copy = FunctionType(
        function.__code__, {**function.__globals__, **changed}, function.__name__, function.__defaults__,
        function.__closure__,
    )  # fmt: skip
    copy.__dict__.update(function.__dict__)
    copy.__qualname__, copy.__module__, copy.__doc__ = function.__qualname__, function.__module__, function.__doc__
    return copy


# -- which form -------------------------------------------------------------------------------------------------------

_interpreting: ContextVar[bool] = ContextVar("interpreting", default=False)


def interpreted() -> bool:
    """Whether loops that are made now are to run in the interpreter: SUREFOOT_INTERPRET=1, or inside `interpreting`."""
    return _interpreting.get() or os.environ.get("SUREFOOT_INTERPRET", "") not in ("", "0")


@contextmanager
def interpreting() -> Iterator[None]:
    """Inside, sessions and simulations are made in plain Python: for debugging, and for parity tests."""
    token = _interpreting.set(True)
    try:
        yield
    finally:
        _interpreting.reset(token)
