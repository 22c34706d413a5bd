"""What the processor has instructions for and numba does not offer: the compiled form of the words in `core.kernel`."""

# mypy: disable-error-code="no-untyped-call, attr-defined"
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils
from numba.extending import intrinsic
from numba.types import float64, int64, uint64

BITS, BYTE = ir.IntType(64), ir.IntType(8)
MOST_RINGS = 64  # who can be woken by one call


@intrinsic  # type: ignore[untyped-decorator, unused-ignore]
def high_word(typing_context: Any, a: Any, b: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        wide = ir.IntType(128)
        product = builder.mul(builder.zext(args[0], wide), builder.zext(args[1], wide))
        return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), BITS)

    return uint64(uint64, uint64), build


@intrinsic  # type: ignore[untyped-decorator, unused-ignore]
def float_bits(typing_context: Any, x: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], BITS)

    return int64(float64), build


@intrinsic  # type: ignore[untyped-decorator, unused-ignore]
def float_of_bits(typing_context: Any, bits: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.DoubleType())

    return float64(int64), build


# -- words that several threads share ----------------------------------------------------------------------------------


def place_of(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return builder.gep(context.make_array(signature.args[0])(context, builder, args[0]).data, [args[1]])


@intrinsic  # type: ignore[untyped-decorator, unused-ignore]
def add_shared(typing_context: Any, words: Any, i: Any, number: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.atomic_rmw("add", place_of(context, builder, signature, args), args[2], "acq_rel")

    return int64(words, int64, int64), build


@intrinsic  # type: ignore[untyped-decorator, unused-ignore]
def read_shared(typing_context: Any, words: Any, i: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load_atomic(place_of(context, builder, signature, args), "acquire", 8)

    return int64(words, int64), build


@intrinsic  # type: ignore[untyped-decorator, unused-ignore]
def write_shared(typing_context: Any, words: Any, i: Any, value: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store_atomic(args[2], place_of(context, builder, signature, args), "release", 8)
        return args[2]

    return int64(words, int64, int64), build


@intrinsic  # type: ignore[untyped-decorator, unused-ignore]
def ring(typing_context: Any, bell: Any, times: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(BITS, [ir.IntType(32), BYTE.as_pointer(), BITS])
        write = cgutils.get_or_insert_function(builder.module, kind, "write")  # the system's own
        some = cgutils.alloca_once(builder, ir.ArrayType(BYTE, MOST_RINGS))
        file, start = builder.trunc(args[0], ir.IntType(32)), builder.bitcast(some, BYTE.as_pointer())
        return builder.call(write, [file, start, args[1]])

    return int64(int64, int64), build


INSTRUCTIONS: dict[str, Any] = {
    "u64": np.uint64, "high_word": high_word, "float_bits": float_bits, "float_of_bits": float_of_bits,
    "add_shared": add_shared, "read_shared": read_shared, "write_shared": write_shared, "ring": ring,
}  # fmt: skip
