"""What compiled code is made of, as a digest that names it on disk.

Our own functions go by name, since their source names the folder (`kernel_cache`). A function of the user's own goes by
its content: its code, and every value that the compiler freezes into it. Each goes by its mark too, which is in the
names that compiled code calls it by, and by what fills the slots that it names. So do the named tuples that it is
called with: compiled code finds a field by its place, and the compiler's own index would take a class with other fields
for the same. Where something's content cannot be told, a module of constants, a function of another compiler, a class
that another process would not find under its name, there is no digest and nothing is kept on disk: that code is
compiled by every process, and is never an old one.
"""

import builtins
import hashlib
import os
import sys
import sysconfig
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from surefoot.core.kernel import MARK, SLOT, Parts, calls, names_in, part_for
from surefoot.core.kernel_cache import HOLDS_KERNELS

OURS = {f"surefoot.{folder}" for folder in HOLDS_KERNELS}
KNOWN = {*sys.stdlib_module_names, "numpy"}  # their versions name the folder
HOMES, NUMPY = (Path(os.__file__).parent, Path(sysconfig.get_path("platstdlib"))), Path(np.__file__).parent
SIMPLE = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis))


class Untold(Exception):
    """A value whose content cannot be told."""


def digest_of(functions: list[FunctionType], parts: Parts, tuples: Any = ()) -> str:
    """A digest of functions with these parts bound in, for calls with these tuples; empty where something cannot be
    told."""
    place = {function: i for i, function in enumerate(functions)}
    try:
        content: list[Any] = []
        for each in functions:
            own = () if is_ours(each) else content_of(each, place)
            content.append((name_of(each), getattr(each, MARK, ""), own, bound_to(each, place, parts)))
        content += fields_in(tuples)
    except Untold:
        return ""
    return hashlib.sha256(repr(content).encode()).hexdigest()[:12]


def bound_to(function: FunctionType, place: dict[FunctionType, int], parts: Parts) -> list[Any]:
    """Which of the functions fills each slot that this one names: two slots may have changed their parts."""
    slots = {name: each for name, each in sorted(calls(function).items()) if hasattr(each, SLOT)}
    return [(name, place[part]) for name, each in slots.items() if (part := part_for(each, parts)) in place]


def name_of(function: Any) -> str:
    """Where the function was written."""
    return f"{function.__module__}.{function.__qualname__}"


def is_ours(thing: Any) -> bool:
    """Whether the source of the function or the class is in the name of the folder."""
    return ".".join((thing.__module__ or "").split(".")[:2]) in OURS  # what was typed in has no module


def fields_in(tuples: Any) -> list[Any]:
    """The names and the fields of every named tuple in these that is not ours, in order."""
    if not isinstance(tuples, tuple):
        return []
    return fields_of(type(tuples)) + [found for each in tuples for found in fields_in(each)]


def fields_of(kind: Any) -> list[Any]:
    """The name and the fields of a named tuple that is not ours."""
    if kind is tuple or is_ours(kind):
        return []
    module = sys.modules.get(kind.__module__)
    if kind.__module__ == "__main__" or getattr(module, kind.__qualname__, None) != kind:
        raise Untold
    return [(name_of(kind), kind._fields)]


def content_of(function: FunctionType, place: dict[FunctionType, int]) -> Any:
    """Everything that the compiled form of the function depends on, but what the functions that it calls do."""
    named = {name: function.__globals__.get(name) for name in sorted(names_in(function.__code__))}
    for name in [name for name in named if name not in function.__globals__ and hasattr(builtins, name)]:
        del named[name]
    closed = [cell.cell_contents for cell in function.__closure__ or ()]
    values = (function.__defaults__, *sorted((function.__kwdefaults__ or {}).items()), *named.items(), *closed)
    return described(function.__code__, place), described(values, place)


def described(value: Any, place: dict[FunctionType, int]) -> Any:
    """The value in a form whose text tells it from every other."""
    if type(value) in SIMPLE:
        return value
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind != "O":
        return repr(value.dtype.descr), value.dtype.isalignedstruct, value.shape, value.tobytes()
    if isinstance(value, tuple):
        fields = getattr(value, "_fields", ())  # compiled code finds a field by its place
        return type(value).__name__, fields, *(described(each, place) for each in value)
    if isinstance(value, frozenset):
        return "set", sorted(repr(described(each, place)) for each in value)
    if isinstance(value, CodeType):
        names = value.co_names, value.co_varnames, value.co_freevars, value.co_cellvars
        counts = value.co_argcount, value.co_posonlyargcount, value.co_kwonlyargcount, value.co_flags
        return value.co_code, names, counts, described(value.co_consts, place)
    return kind_of(value, place)


def is_known(module: ModuleType) -> bool:
    """Whether the module is Python's or numpy's own, and no file of the user's that bears such a name."""
    if module.__name__.partition(".")[0] not in KNOWN:
        return False
    file = getattr(module, "__file__", None)
    if file is None:
        return True
    place = Path(file)
    return place.is_relative_to(NUMPY) or (
        any(place.is_relative_to(home) for home in HOMES) and not {"site-packages", "dist-packages"} & {*place.parts}
    )


def kind_of(value: Any, place: dict[FunctionType, int]) -> Any:
    """What stands for a function, a class or a module that the code names."""
    if isinstance(value, FunctionType):
        if value in place:
            return "kernel", place[value]
        if is_ours(value):
            return "ours", name_of(value), getattr(value, SLOT, "")
    if isinstance(value, ModuleType) and is_known(value):
        return "module", value.__name__
    if isinstance(value, type) and hasattr(value, "_fields"):
        return "tuple", name_of(value), value._fields
    home = str(getattr(value, "__module__", "")).partition(".")[0]
    if isinstance(value, type | BuiltinFunctionType | np.ufunc) and home in {*KNOWN, "builtins"}:
        return "known", str(home), value.__name__
    raise Untold
