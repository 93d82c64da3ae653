"""Read and write the bytes of arrays eight at a time, at any byte: words of 64 bits.

No function here checks bounds. Callers leave spare bytes after the data that they read and write.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core.cgutils import get_or_insert_function

from fastcrf.simd.lanes import DOUBLE, INT32, INT64, instruction
from fastcrf.simd.prefetch import DATA, SOON, TO_READ

INT8 = ir.IntType(8)


def place_of(context, builder, array_type, array, at):
    """Return the address of byte `at` of a C-contiguous array."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.gep(builder.bitcast(data, INT8.as_pointer()), [at])


@instruction
def load_word(typing_context, array, at):
    """Return the eight bytes of an array from byte `at` on as uint64."""

    def generate(context, builder, signature, args):
        place = place_of(context, builder, signature.args[0], *args)
        return builder.load(builder.bitcast(place, INT64.as_pointer()), align=1)

    return types.uint64(array, types.int64), generate


@instruction
def store_word(typing_context, array, at, word):
    """Write the eight bytes of a uint64 to byte `at` and the following ones."""

    def generate(context, builder, signature, args):
        place = place_of(context, builder, signature.args[0], *args[:2])
        builder.store(args[2], builder.bitcast(place, INT64.as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(array, types.int64, types.uint64), generate


@instruction
def load_byte(typing_context, array, at):
    """Return byte `at` of an array as int64."""

    def generate(context, builder, signature, args):
        return builder.zext(builder.load(place_of(context, builder, signature.args[0], *args)), INT64)

    return types.int64(array, types.int64), generate


@instruction
def double_of_word(typing_context, word):
    """Return the double with the bits of a uint64."""
    return types.float64(types.uint64), lambda context, builder, signature, args: builder.bitcast(args[0], DOUBLE)


@instruction
def prefetch_byte(typing_context, array, at):
    """Prefetch the cache line of byte `at` of an array."""

    def generate(context, builder, signature, args):
        place = place_of(context, builder, signature.args[0], *args)
        kind = ir.FunctionType(ir.VoidType(), [place.type, INT32, INT32, INT32])
        ask = get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(ask, [place, INT32(TO_READ), INT32(SOON), INT32(DATA)])
        return context.get_dummy_value()

    return types.void(array, types.int64), generate
