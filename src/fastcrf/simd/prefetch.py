"""Prefetch memory for loops that know their next addresses and would otherwise wait for them."""

from __future__ import annotations

import numba
from llvmlite import ir
from numba import types

from fastcrf.simd.lanes import INT32, array_at, instruction, unpack

NAME = "llvm.prefetch.p0"
TO_READ, SOON, DATA = 0, 3, 1  # LLVM's rw, locality and cache type


@instruction
def prefetch(typing_context, matrix, row, column):
    """Prefetch the cache line of matrix[row, column], which is C-contiguous."""

    def generate(context, builder, signature, args):
        array = array_at(context, builder, signature.args[0], args[0])
        offset = builder.add(builder.mul(args[1], unpack(builder, array.shape)[1]), args[2])
        place = builder.bitcast(builder.gep(array.data, [offset]), ir.IntType(8).as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [place.type, INT32, INT32, INT32])
        known = builder.module.globals.get(NAME)
        ask = ir.Function(builder.module, kind, NAME) if known is None else known
        builder.call(ask, [place, INT32(TO_READ), INT32(SOON), INT32(DATA)])
        return context.get_dummy_value()

    return types.void(matrix, types.int64, types.int64), generate


def ask_for_nothing(matrix, row, column):
    """Do nothing: Python cannot prefetch."""


if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
    prefetch = ask_for_nothing
