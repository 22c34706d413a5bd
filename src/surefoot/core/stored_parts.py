"""Parts on disk: what was translated for one loop is taken up by the next, in this process or another.

Most of the time to compile goes into the parts, and loops share nearly all of theirs: a policy's session and its
simulations, one policy in two worlds, an edited policy and its elder. A part is kept as it is before anything is
optimised as a whole, so a loop is the same machine code whoever translated its parts.

A part is named by a digest of what it is made of (`kernel_content`) and of the types that it is called with. Its symbol
bears that name, so that parts of several processes fit together. Whatever cannot be told or read is translated anew.
"""

# mypy: disable-error-code="no-untyped-call, attr-defined, misc"
import hashlib
import os
import pickle
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from secrets import token_hex
from typing import Any

from llvmlite import binding
from numba import _dynfunc
from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompileResult, compile_result
from numba.core.lowering import Environment
from numba.core.serialize import dumps
from numba.core.typing import signature

from surefoot.core.kernel_content import Untold, fields_of, name_of

MADE_OF = "__surefoot_digest__"  # the attribute of a function that holds the digest of what it is made of
SEAL = hashlib.sha256().digest_size  # bytes before a part on disk
MANGLED = "_ZN"  # how numba begins the name of a function that was translated
ADDRESSES = "numba.dynamic.globals"  # a place of this process's memory inside the code

_folder: ContextVar[Path | None] = ContextVar("folder of parts", default=None)
_known: dict[str, "PartLibrary"] = {}


class PartLibrary(JITCodeLibrary):
    """The code of one part, which is never run by itself."""

    key = ""  # its name on disk; empty if it has none

    def finalize(self) -> None:
        """Nothing is optimised yet, and what the part calls stays where it is."""
        self._finalized = True


class StoredParts:
    """Where a part looks for its code before it is translated, in the form in which numba asks."""

    cache_path = None

    def __init__(self, made_of: str) -> None:
        self._made_of = made_of

    def load_overload(self, args: Any, target: Any) -> CompileResult | None:
        """What is kept of the part for arguments of these types."""
        folder, key = _folder.get(), key_of(self._made_of, args)
        if folder is None or not key:
            return None
        try:
            library, described = _read(folder, key, target.codegen())
            fndesc, returned = pickle.loads(described)
        except Exception:  # not there, not whole, of a class that is gone
            return None
        if fndesc.argtypes != tuple(args):
            return None
        environment = Environment.from_fndesc(fndesc)
        result: CompileResult = compile_result(
            target_context=target, typing_context=target.typing_context, library=library, environment=environment,
            entry_point=uncallable(fndesc, environment, library), fndesc=fndesc,
            signature=signature(returned, *fndesc.argtypes), objectmode=False, lifted=(), reload_init=[],
        )  # fmt: skip
        return result

    def save_overload(self, args: Any, result: CompileResult) -> None:
        """Keeps the part for others, where it can be kept; it is only a matter of time."""
        folder, library, fndesc = _folder.get(), result.library, result.fndesc
        if folder is None or not library.key or fndesc.global_dict is not None:
            return
        fndesc.typemap = fndesc.calltypes = None  # of no use any more, and they may hold anything
        with suppress(Untold, OSError):
            returned = result.signature.return_type
            told_of(returned)
            called, code = [each.key for each in _parts_called_by(library)], _code_of(library)
            _write(
                folder / f"{library.key}.part", pickle.dumps((called, library.name, code, dumps((fndesc, returned))))
            )
            _known[library.key] = library


@contextmanager
def kept_in(folder: Path | None) -> Iterator[None]:
    """Inside, parts are looked for in this folder, and kept there."""
    token = _folder.set(folder and folder / "parts")
    try:
        yield
    finally:
        _folder.reset(token)


def key_of(made_of: str, args: Any) -> str:
    """The name of a part for arguments of these types; empty where something cannot be told."""
    try:
        told = [told_of(each) for each in args]
    except Untold:
        return ""
    return hashlib.sha256(repr((made_of, told)).encode()).hexdigest()[:32] if made_of else ""


def told_of(kind: Any) -> Any:
    """A type, told from every other: that of a named tuple has only the last of its names for text."""
    if isinstance(kind, types.BaseTuple):
        named = isinstance(kind, types.BaseNamedTuple)
        name = (name_of(kind.instance_class), fields_of(kind.instance_class)) if named else ()
        return name, [told_of(each) for each in kind]
    if isinstance(kind, types.Array):
        return told_of(kind.dtype), repr(kind.key[1:])
    if isinstance(kind, types.Number | types.Boolean | types.NoneType | types.Omitted):
        return str(kind)
    raise Untold


def uncallable(description: Any, environment: Any, library: Any) -> Any:
    """What stands for the part where numba keeps functions: it has no address, and nobody calls it."""
    name = description.qualname.split(".")[-1]
    return _dynfunc.make_function(description.lookup_module(), name, "", 0, environment, (library,))


# -- files ------------------------------------------------------------------------------------------------------------


def _read(folder: Path, key: str, codegen: Any) -> tuple[PartLibrary, bytes]:
    """The code of the part with all that it calls, and its description."""
    called, name, code, described = pickle.loads(_whole((folder / f"{key}.part").read_bytes()))
    if key not in _known:
        library = PartLibrary(codegen, name)
        library._linking_libraries = [_known.get(each) or _read(folder, each, codegen)[0] for each in called]
        library._final_module = binding.parse_bitcode(code)
        _require_whole(library)
        library._finalized, library.key = True, key
        _known[key] = library
    return _known[key], described


def _require_whole(library: PartLibrary) -> None:
    """What calls something that no part of its own defines would break a process off without a word."""
    called = [each for part in library._linking_libraries for each in part._final_module.functions]
    defined = {each.name for each in called if not each.is_declaration}
    asked = {each.name for each in library._final_module.functions if each.is_declaration}
    if missing := {name for name in asked - defined if name.startswith(MANGLED)}:
        raise LookupError(f"nothing defines {sorted(missing)[0]}")


def _write(path: Path, content: bytes) -> None:
    """Writes the file so that nobody sees half of it."""
    path.parent.mkdir(exist_ok=True)
    draft = path.with_suffix(f".{os.getpid()}-{token_hex(4)}")  # several machines may share the folder
    draft.write_bytes(hashlib.sha256(content).digest() + content)
    draft.replace(path)


def _whole(content: bytes) -> bytes:
    """What was written, if it is still all there: the compiler's library ends the process over code that is not."""
    seal, rest = content[:SEAL], content[SEAL:]
    if hashlib.sha256(rest).digest() != seal:
        raise ValueError("not as it was written")
    return rest


def _parts_called_by(library: PartLibrary) -> list[PartLibrary]:
    """The parts that this one calls, each once."""
    called = dict.fromkeys(each for each in library._linking_libraries if isinstance(each, PartLibrary))
    if not all(each.key for each in called):
        raise Untold
    return list(called)


def _code_of(library: PartLibrary) -> bytes:
    """The part with the functions of numba's own that it calls. These are numbered in the order in which a process met
    them, so they are nobody else's from now on."""
    module = library._final_module.clone()
    mine = {each.name for each in module.functions if not each.is_declaration}
    for each in dict.fromkeys(library._linking_libraries):
        if not isinstance(each, PartLibrary):
            module.link_in(each._get_module_for_linking(), preserve=True)
    for function in module.functions:
        if not function.is_declaration and function.name not in mine:
            function.linkage = "internal"
    if library._reload_init or any(each.name.startswith(ADDRESSES) for each in module.global_variables):
        raise Untold
    return bytes(module.as_bitcode())
