"""How a kernel on a device gets at its arrays: what `device_memory` describes, as instructions.

All sizes are known when a kernel is compiled, so an array that is read at known places becomes registers.
"""

from collections.abc import Callable, Iterator
from importlib import import_module
from math import prod
from typing import Any

from surefoot.core.device_memory import (
    WORD,
    Access,
    arrays_in,
    is_array,
    near_arrays,
    near_constants,
    near_words,
    starts_of,
)

SHARED = 3  # an address space
THREAD, THREADS = (f"llvm.nvvm.read.ptx.sreg.{each}.x" for each in ("tid", "ntid"))  # number in a block, and how many
BARRIER = "llvm.nvvm.barrier0"  # where the threads of a block wait for each other
UNROLLED = 64  # words of an array that are copied one by one: the compiler keeps such an array in registers
LARGEST_CODE = 15  # whole numbers up to this one choose between ways to go, and the compiler may know them
LONGEST_KNOWN = 8  # the compiler would write out every step of a longer loop


def is_known(leaf: Any) -> bool:
    """Whether the compiler knows this number; for another, it compiles anew."""
    return isinstance(leaf, int) and -1 <= leaf <= LARGEST_CODE


def numba_parts() -> tuple[Any, Any, Any, Any]:
    """What numba-cuda has for whoever writes instructions: its types, its tools, the mark, and the type of a value."""
    extending, typing = (import_module(f"numba.cuda.{each}") for each in ("extending", "typing.typeof"))
    return import_module("numba.cuda.types"), import_module("numba.cuda.cgutils"), extending.intrinsic, typing.typeof


def access(shared: Any, own: Any, row: Any) -> Access:
    """The functions for a device, where a block of words is a pointer."""
    from llvmlite import ir

    types, cgutils, intrinsic, typeof = numba_parts()
    whole, pointed = types.int64, types.CPointer(types.int64)
    word = ir.IntType(64)
    near = {id(leaf) for leaf in near_arrays(*own[:2])}
    constants = near_constants(shared, *own[:2])

    def constant(number: int) -> Any:
        return ir.Constant(word, number)

    def hidden(builder: Any, number: int) -> Any:
        """The number, but the compiler does not know it."""
        return builder.call(ir.InlineAsm(ir.FunctionType(word, []), f"mov.u64 $0, {number};", "=l"), [])

    # -- tuples and arrays --------------------------------------------------------------------------------------------

    def made(context: Any, builder: Any, tree: Any, kind: Any, leaf: Callable[[Any, Any], Any]) -> Any:
        """The tuples, with the value that `leaf` makes of each leaf and its type."""
        if not isinstance(tree, tuple):
            return leaf(tree, kind)
        fields = [made(context, builder, *each, leaf) for each in zip(tree, kind.types, strict=True)]
        return context.make_tuple(builder, kind, fields)

    def array_at(context: Any, builder: Any, kind: Any, shape: tuple[int, ...], pointer: Any) -> Any:
        """The array of this shape that begins at the pointer."""
        found = context.make_array(kind)(context, builder)
        context.populate_array(
            found, data=builder.bitcast(pointer, found.data.type), meminfo=None, itemsize=constant(WORD),
            shape=[constant(length) if length <= LONGEST_KNOWN else hidden(builder, length) for length in shape],
            strides=[constant(WORD * prod(shape[axis + 1 :])) for axis in range(len(shape))],
        )  # fmt: skip
        return found._getvalue()

    def number_at(context: Any, builder: Any, kind: Any, pointer: Any) -> Any:
        """The number that the pointer points to."""
        if isinstance(kind, types.Boolean):
            return builder.icmp_signed("!=", builder.load(pointer), constant(0))
        return builder.load(builder.bitcast(pointer, context.get_value_type(kind).as_pointer()))

    def begins_of(context: Any, builder: Any, value: Any, kind: Any) -> Iterator[Any]:
        """Where every array in nested tuples begins, in order."""
        if isinstance(kind, types.BaseTuple):
            for field, each in enumerate(kind.types):
                yield from begins_of(context, builder, builder.extract_value(value, field), each)
        elif isinstance(kind, types.Array):
            yield context.make_array(kind)(context, builder, value=value).data

    def for_each_word(builder: Any, leaf: Any, visit: Callable[[Any], Any]) -> None:
        """Visits every place of an array: one by one where that keeps it in registers, in a loop otherwise."""
        if id(leaf) not in near and leaf.size <= UNROLLED:
            for i in range(leaf.size):
                visit(constant(i))
        else:
            with cgutils.for_range(builder, hidden(builder, leaf.size)) as loop:
                visit(loop.index)

    def fill(builder: Any, leaf: Any, pointer: Any) -> None:
        """Zeros, or what the array holds, at the pointer."""
        kind = pointer.type.pointee
        if leaf.any():
            for i, number in enumerate(leaf.reshape(-1).tolist()):
                builder.store(ir.Constant(kind, number), builder.gep(pointer, [constant(i)]))
        else:
            for_each_word(builder, leaf, lambda i: builder.store(ir.Constant(kind, 0), builder.gep(pointer, [i])))

    def block_memory(builder: Any) -> Any:
        """Where the memory begins that a block shares: first what all runs read, if it is there."""
        name = "surefoot_near"
        block = builder.module.globals.get(name)
        if block is None:
            block = cgutils.add_global_variable(builder.module, ir.ArrayType(word, 0), name, SHARED)
            block.linkage, block.align = "external", 16
        return builder.addrspacecast(builder.bitcast(block, word.as_pointer(SHARED)), word.as_pointer())

    def special(builder: Any, name: str) -> Any:
        """A number that the device knows of a thread."""
        read = cgutils.get_or_insert_function(builder.module, ir.FunctionType(ir.IntType(32), []), name)
        return builder.zext(builder.call(read, []), word)

    def near_memory(builder: Any) -> Any:
        """Where the thread's part of the memory begins that its block shares."""
        before = builder.mul(special(builder, THREAD), constant(near_words(*own[:2])))
        return builder.gep(block_memory(builder), [builder.add(constant(constants), before)])

    # -- what a kernel calls ------------------------------------------------------------------------------------------

    @intrinsic  # type: ignore[untyped-decorator, unused-ignore]
    def bring(typing_context: Any, words: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            if constants == 0:
                return args[0]
            block, first, step = block_memory(builder), special(builder, THREAD), special(builder, THREADS)
            with cgutils.for_range_slice(builder, first, constant(constants), step, word) as (i, _):
                builder.store(builder.load(builder.gep(args[0], [i])), builder.gep(block, [i]))
            wait = cgutils.get_or_insert_function(builder.module, ir.FunctionType(ir.VoidType(), []), BARRIER)
            builder.call(wait, [])
            return block

        return pointed(pointed), build

    @intrinsic  # type: ignore[untyped-decorator, unused-ignore]
    def open_shared(typing_context: Any, words: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            places = iter(starts_of(shared))

            def at(leaf: Any, kind: Any) -> Any:
                pointer = builder.gep(args[0], [constant(next(places))])
                if is_array(leaf):
                    return array_at(context, builder, kind, leaf.shape, pointer)
                return (
                    context.get_constant(kind, leaf) if is_known(leaf) else number_at(context, builder, kind, pointer)
                )

            return made(context, builder, shared, signature.return_type, at)

        return typeof(shared)(pointed), build

    @intrinsic  # type: ignore[untyped-decorator, unused-ignore]
    def make_own(typing_context: Any) -> Any:
        of_state = {id(leaf) for leaf in arrays_in(own[0])}

        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            first, used = near_memory(builder), 0

            def at(leaf: Any, kind: Any) -> Any:
                nonlocal used
                if not is_array(leaf):
                    return context.get_constant(kind, leaf)
                element = context.get_data_type(kind.dtype)
                if id(leaf) in near:
                    room, used = builder.gep(first, [constant(used)]), used + leaf.size
                else:
                    room = cgutils.alloca_once(builder, ir.ArrayType(element, max(leaf.size, 1)))
                if id(leaf) not in of_state:  # a state begins, or is taken up again
                    fill(builder, leaf, builder.bitcast(room, element.as_pointer()))
                return array_at(context, builder, kind, leaf.shape, room)

            return made(context, builder, own, signature.return_type, at)

        return typeof(own)(), build

    @intrinsic  # type: ignore[untyped-decorator, unused-ignore]
    def open_row(typing_context: Any, table: Any, rows: Any, i: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            table, rows, i = args
            places = iter(starts_of(row))

            def at(leaf: Any, kind: Any) -> Any:
                first = builder.add(builder.mul(rows, constant(next(places))), builder.mul(i, constant(leaf.size)))
                return array_at(context, builder, kind, leaf.shape, builder.gep(table, [first]))

            return made(context, builder, row, signature.return_type, at)

        return typeof(row)(pointed, whole, whole), build

    @intrinsic  # type: ignore[untyped-decorator, unused-ignore]
    def empty(typing_context: Any, state: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            begins = begins_of(context, builder, args[0], signature.args[0])
            for pointer, leaf in zip(begins, arrays_in(own[0]), strict=True):
                fill(builder, leaf, pointer)
            return context.get_dummy_value()

        return types.void(state), build

    def copying(stores: bool) -> Any:
        """Copies what is set aside: word j of row i lies at j * rows + i, so threads side by side read side by side."""

        def copy_array(builder: Any, leaf: Any, pointer: Any, saved: Any, rows: Any, first: Any) -> None:
            def visit(j: Any) -> None:
                here = builder.gep(pointer, [j])
                there = builder.gep(saved, [builder.add(builder.mul(rows, j), first)])
                source, target = (here, builder.bitcast(there, here.type))[:: 1 if stores else -1]
                builder.store(builder.load(source), target)

            for_each_word(builder, leaf, visit)

        @intrinsic  # type: ignore[untyped-decorator, unused-ignore]
        def copy(typing_context: Any, saved: Any, rows: Any, i: Any, tree: Any) -> Any:
            def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                saved, rows, i, tree = args
                begins, start = begins_of(context, builder, tree, signature.args[3]), 0
                for pointer, leaf in zip(begins, arrays_in((own[0][:-1], own[2])), strict=True):
                    first = builder.add(builder.mul(rows, constant(start)), i)
                    copy_array(builder, leaf, pointer, saved, rows, first)
                    start += leaf.size
                return context.get_dummy_value()

            return types.void(pointed, whole, whole, tree), build

        return copy

    return Access(bring, open_shared, make_own, open_row, empty, copying(True), copying(False))
