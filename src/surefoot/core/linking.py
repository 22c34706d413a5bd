"""How compiled parts become one piece of machine code: handed on as they are written, optimised once inside a loop.

Numba optimises every function that it meets together with all that this calls, and makes machine code of it, since it
cannot know whether Python will call it. Parts are called by compiled code alone. So here a part is only translated, and
the loop takes up all that it reaches, at any depth, before it is optimised as a whole: half of the time to compile.
"""

# mypy: disable-error-code="no-untyped-call, attr-defined, misc"
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import binding
from numba.core import event
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, Flags
from numba.core.compiler_machinery import register_pass
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import NativeLowering

from surefoot.core.stored_parts import MADE_OF, PartLibrary, StoredParts, kept_in, key_of, uncallable

__all__ = ["SHORT", "LoopCompiler", "Part", "PartCompiler", "counted", "kept_in", "seldom_tidied"]
SHORT = "__surefoot_short__"  # the mark of a loop over a few arms
PLAIN, FULL = 1, 3  # levels of optimisation: for loops over a few arms the others find nothing more than the first
SELDOM = 50_000  # new objects between two looks for those that nobody needs any more


class Part(CPUDispatcher):
    """A compiled function without the wrapper that Python would need to call it."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(f"{self.py_func.__name__} is a part of compiled code")

    def made_of(self, digest: str) -> None:
        """Is kept on disk from now on under a name that tells what it is made of."""
        setattr(self.py_func, MADE_OF, digest)
        self._cache = StoredParts(digest)


class LoopLibrary(JITCodeLibrary):
    """The code of a loop with all parts that it reaches."""

    short = False  # whether its loops go over a few arms only

    def _optimize_final_module(self) -> None:
        """Rounds of a loop are never written side by side: that makes none of them quicker, and was half of what there
        was to compile. Code that takes several arms at once is left out too where there are few: to find out that they
        are too few for it costs more than going over them."""
        tuning = binding.create_pipeline_tuning_options(speed_level=PLAIN if self.short else FULL)
        tuning.loop_vectorization, tuning.slp_vectorization, tuning.loop_unrolling = not self.short, False, False
        if not self.short:  # brings loops into the form in which more of them take several arms at once
            first, settings = self._codegen._module_pass_manager(loop_vectorize=False, opt=0, cost="cheap")
            first.run(self._final_module, settings)
        settings = binding.create_pass_builder(self._codegen._tm, tuning)
        settings.getModulePassManager().run(self._final_module, settings)

    def finalize(self) -> None:
        """Takes up the parts, also those that only other parts call, and makes machine code of the whole."""
        self._linking_libraries = reached(self)
        super().finalize()


def reached(library: Any) -> list[Any]:
    """The libraries that this one needs, each after all that call it: what nobody has called yet is not taken up."""
    found: dict[Any, None] = {}

    def visit(each: Any) -> None:
        if each not in found and each not in under_way:
            under_way.add(each)
            for called in each._linking_libraries if isinstance(each, PartLibrary) else ():
                visit(called)
            found[each] = None

    under_way: set[Any] = set()
    for each in reversed(library._linking_libraries):
        visit(each)
    return list(reversed(found))


@register_pass(mutates_CFG=True, analysis_only=False)
class PartLowering(NativeLowering):
    """Translates a part without making machine code of it."""

    _name = "surefoot_part_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.key = key_of(getattr(state.func_id.func, MADE_OF, ""), state.args)
        if state.library.key:  # a number of this process would be that of another part in the next
            state.func_id.unique_id = state.library.key
        state.flags.no_compile = True
        super().run_pass(state)
        lowered = state["cr"]
        stand_in = uncallable(lowered.fndesc, lowered.env, state.library)
        state.targetctx.insert_user_function(stand_in, lowered.fndesc, [state.library])
        state["cr"] = lowered._replace(cfunc=stand_in)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class LoopLowering(NativeLowering):
    """Translates a loop and makes machine code of it and all its parts."""

    _name = "surefoot_loop_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = LoopLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.short = getattr(state.func_id.func, SHORT, False)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


class Settings(Flags):
    """Numba's settings, compared by what was set. Numba compares them whenever it looks for what an operator does, and
    reads every one each time: a twelfth of the time to compile."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Flags) and self._values == other._values)

    def __hash__(self) -> int:
        return SAME


SAME = hash(Flags())  # numba's own hash is that of the names of the settings, the same for all


class _Compiler(CompilerBase):
    """Numba's own passes, but for the last."""

    lowering: type[NativeLowering]

    def __init__(self, typingctx: Any, targetctx: Any, library: Any, args: Any, returned: Any, flags: Any, known: Any):
        super().__init__(typingctx, targetctx, library, args, returned, Settings(flags), known)

    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [(self.lowering if each is NativeLowering else each, why) for each, why in passes.passes]
        passes.finalize()
        return [passes]


class PartCompiler(_Compiler):
    lowering = PartLowering


class LoopCompiler(_Compiler):
    lowering = LoopLowering


# -- while it lasts ---------------------------------------------------------------------------------------------------


@contextmanager
def seldom_tidied() -> Iterator[None]:
    """Inside, Python seldom looks for objects that only refer to each other: a compiler makes millions that are all in
    use, and a fifth of its time would go into going through them."""
    before = gc.get_threshold()
    gc.set_threshold(max(before[0], SELDOM) if before[0] else 0, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def counted(advance: Callable[[], None]) -> Iterator[None]:
    """Inside, `advance` is called whenever a part is compiled."""

    class Listener(event.Listener):
        def on_start(self, each: Any) -> None:
            pass

        def on_end(self, each: Any) -> None:
            advance()

    with event.install_listener("numba:compile", Listener()):
        yield
